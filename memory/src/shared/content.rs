//! The part of a record that is shared: its fields, tags and pin, without a clone's bookkeeping.

use serde_json::{Map, Value};

use crate::history::apply_change;
use crate::ids::{Kind, Timestamp};
use crate::record::{Body, Record, RecordState};

/// The shared content of a record, as values by field. Equal contents have equal files.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedContent {
    pub(super) kind: Kind,
    /// The fields of the kind that are shared.
    pub(super) fields: Map<String, Value>,
    pub(crate) tags: Vec<String>,
    pub(crate) pinned: bool,
}

impl Record {
    /// Returns whether the record has a file where a memory is shared. That is a record of a kind
    /// that agents write. It is the project's, and neither recorded by rule nor forgotten.
    pub fn is_shared(&self) -> bool {
        self.kind().is_shared()
            && self.state != RecordState::Forgotten
            && self.owner().is_none()
            && !self.is_personal()
            && !self.is_captured()
    }
}

impl SharedContent {
    /// Returns the shared content of a record.
    pub fn of(record: &Record) -> Self {
        Self::new(&record.body, record.tags.clone(), record.pinned)
    }

    pub(crate) fn new(body: &Body, tags: Vec<String>, pinned: bool) -> Self {
        let kind = body.kind();
        let mut fields = fields(body);
        fields.retain(|name, _| !kind.facts().local_fields.contains(&name.as_str()));
        Self { kind, fields, tags, pinned }
    }

    /// Returns the kind of the record.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns all of it as one JSON object, for a filter of texts.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut all = self.fields.clone();
        all.insert(TAGS.to_owned(), self.tags.clone().into());
        all
    }

    /// Returns the content after a filter changed texts of [`Self::to_json`].
    #[must_use]
    pub fn with_json(&self, mut all: Map<String, Value>) -> Self {
        let tags = all.remove(TAGS).and_then(|tags| serde_json::from_value(tags).ok());
        Self { fields: all, tags: tags.unwrap_or_default(), ..self.clone() }
    }

    /// Returns the fields of a record with this content. A record that has it already keeps its own
    /// bookkeeping. `now` dates what has no time.
    ///
    /// # Errors
    /// Fails if a field is missing or has a value that the kind does not take.
    pub(crate) fn body(&self, stored: Option<&Body>, now: Timestamp) -> Result<Body, String> {
        let mut all = self.fields.clone();
        let stored = stored.filter(|stored| stored.kind() == self.kind).map(fields);
        for (name, value) in stored.unwrap_or_default() {
            if self.kind.facts().local_fields.contains(&name.as_str()) {
                all.insert(name, value);
            }
        }
        let mut body = body_of(self.kind, all)?;
        body.fields_mut().complete(now);
        Ok(body)
    }

    /// Applies the change from `base` to `theirs` to this content. Returns `None` if both sides
    /// changed the same field to different values.
    pub(crate) fn merged(&self, base: &Self, theirs: &Self) -> Option<Self> {
        let merged = apply_change(base.whole(), theirs.whole(), self.whole())?;
        let Value::Object(mut all) = merged else { return None };
        let tags = all.remove(TAGS).and_then(|tags| serde_json::from_value(tags).ok());
        let pinned = all.remove(PINNED).and_then(|pinned| pinned.as_bool());
        let (kind, fields) = (self.kind, all);
        Some(Self {
            kind,
            fields,
            tags: tags.unwrap_or_default(),
            pinned: pinned.unwrap_or_default(),
        })
    }

    fn whole(&self) -> Value {
        let mut all = self.to_json();
        all.insert(PINNED.to_owned(), self.pinned.into());
        Value::Object(all)
    }
}

pub(super) const TAGS: &str = "tags";
pub(super) const PINNED: &str = "pinned";

/// Returns the fields of a body by name.
fn fields(body: &Body) -> Map<String, Value> {
    let tagged = serde_json::to_value(body).expect("domain types always serialize");
    match tagged {
        Value::Object(tagged) => match tagged.into_iter().next() {
            Some((_, Value::Object(fields))) => fields,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// Returns the body of a kind with these fields.
pub(super) fn body_of(kind: Kind, fields: Map<String, Value>) -> Result<Body, String> {
    let tag = serde_json::to_value(kind).expect("domain types always serialize");
    let tag = tag.as_str().unwrap_or_default().to_owned();
    let tagged = Map::from_iter([(tag, Value::Object(fields))]);
    serde_json::from_value(Value::Object(tagged)).map_err(|error| error.to_string())
}
