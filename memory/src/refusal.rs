//! The reasons why a write is refused, named after what the caller will do about them. Nothing was
//! written. `render/refusal.rs` has the words.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fold::clip;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::record::Record;

/// The refusal of a write. Its `Display` is for agents; [`Refusal::worded`] is for any reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Correct the field and send again.
    Invalid {
        /// The field.
        field: RefusedField,
        /// The mistake, as the rest of a sentence.
        why: String,
        /// Advice for the caller; may be empty.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        advice: Cow<'static, str>,
    },
    /// Correct the notes of a call and send them again.
    NoNoteStored {
        /// The number of notes, which all failed.
        failed: usize,
        /// The refusal of the first.
        first: Box<Refusal>,
    },
    /// Forget the note instead.
    EmptyNote,
    /// Set a field that records of this kind have, or write the record again.
    NotesAlone {
        /// The field that only notes have.
        field: Cow<'static, str>,
        /// The record.
        id: RecordId,
    },
    /// Send less, or do first what `advice` says.
    TooLarge {
        /// The field or the work that is too large.
        what: RefusedField,
        /// Its size.
        bytes: usize,
        /// The largest size allowed.
        bytes_max: usize,
        /// Advice for the caller.
        advice: Cow<'static, str>,
    },
    /// Make room, then send it again.
    Full {
        /// The kind of the records.
        kind: Kind,
        /// The unit: records, or bytes of their text.
        unit: Cow<'static, str>,
        /// The number kept.
        kept: u64,
        /// The number that the write adds.
        more: u64,
        /// The number that is allowed.
        most: u64,
    },
    /// Use another id.
    NotFound {
        /// The requested id.
        id: RecordId,
    },
    /// Leave it: nothing of the record is left.
    Purged {
        /// The record.
        id: RecordId,
        /// The time of the purge.
        time: Timestamp,
    },
    /// Leave the item out.
    PurgedText {
        /// The item or the field.
        field: RefusedField,
        /// The time at which the text was purged.
        time: Timestamp,
    },
    /// Use another key.
    NoSuchKey {
        /// The requested key.
        key: String,
        /// Similar keys.
        nearest: Vec<String>,
    },
    /// Use another name, or write the topic first.
    NoSuchTopic {
        /// The requested name.
        name: String,
        /// Names of existing topics, the last written first.
        known: Vec<String>,
        /// The number of further topics.
        more: usize,
    },
    /// Check what changed, then decide again.
    Conflict {
        /// The conflicting record; `None` for memory as a whole.
        record: Option<RecordId>,
        /// The revision or version that the caller expected.
        expected: u64,
        /// The current one.
        current: u64,
        /// The records that were written in between, the newest first.
        changed: Vec<Arc<Record>>,
        /// The time of the refused write.
        time: Timestamp,
    },
}

/// A field of a call, or of an item in one of its lists: `blueprints[2].title`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedField {
    /// The item: the name of its list, and its index there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<(Cow<'static, str>, usize)>,
    /// The name; empty for an item as a whole.
    name: Cow<'static, str>,
}

impl Refusal {
    /// Creates a refusal of a field.
    pub fn invalid(field: impl Into<RefusedField>, why: impl Into<String>) -> Self {
        let why = clip(&why.into(), 300);
        Self::Invalid { field: field.into(), why, advice: Cow::Borrowed("") }
    }

    /// Creates a refusal of a field that has too many characters.
    pub(crate) fn too_long(field: impl Into<RefusedField>, chars: usize, chars_max: usize) -> Self {
        Self::invalid(field, format!("has {chars} characters, {chars_max} are allowed"))
    }

    /// Adds advice to the refusal of a field.
    #[must_use]
    pub fn advising(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        if let Self::Invalid { advice, .. } = &mut self {
            *advice = text.into();
        }
        self
    }

    /// Adds the item whose field was refused: the name of its list, and its index there.
    #[must_use]
    pub fn of_item(self, list: &'static str, at: usize) -> Self {
        self.with_item(Some((list.into(), at)))
    }

    /// Removes the item, for a caller that knows only one.
    #[must_use]
    pub fn of_call(self) -> Self {
        self.with_item(None)
    }

    fn with_item(mut self, of: Option<(Cow<'static, str>, usize)>) -> Self {
        if let Some(field) = self.field_mut() {
            field.item = of;
        }
        self
    }

    /// Returns the index of the item whose field was refused.
    pub fn item_at(&self) -> Option<usize> {
        self.field()?.item.as_ref().map(|(_, at)| *at)
    }

    /// Returns the name of the refused field; empty for an item as a whole.
    pub fn field_name(&self) -> Option<&str> {
        self.field().map(|field| &*field.name)
    }

    /// Names the refused field as the caller does.
    #[must_use]
    pub fn with_field_name(mut self, name: String) -> Self {
        if let Some(field) = self.field_mut() {
            field.name = name.into();
        }
        self
    }

    fn field(&self) -> Option<&RefusedField> {
        match self {
            Self::Invalid { field, .. }
            | Self::TooLarge { what: field, .. }
            | Self::PurgedText { field, .. } => Some(field),
            _ => None,
        }
    }

    fn field_mut(&mut self) -> Option<&mut RefusedField> {
        match self {
            Self::Invalid { field, .. }
            | Self::TooLarge { what: field, .. }
            | Self::PurgedText { field, .. } => Some(field),
            _ => None,
        }
    }
}

impl RefusedField {
    /// Returns an item of a list as a whole.
    pub(crate) fn item(list: &'static str, at: usize) -> Self {
        Self { item: Some((list.into(), at)), name: Cow::Borrowed("") }
    }

    /// Returns the field of this name in the same item.
    pub(crate) fn named(self, name: &'static str) -> Self {
        if name.is_empty() { self } else { Self { name: name.into(), ..self } }
    }
}

impl From<&'static str> for RefusedField {
    fn from(name: &'static str) -> Self {
        Self { item: None, name: name.into() }
    }
}

impl From<String> for RefusedField {
    fn from(name: String) -> Self {
        Self { item: None, name: name.into() }
    }
}

impl fmt::Display for RefusedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.item {
            None => f.write_str(&self.name),
            Some((list, at)) if self.name.is_empty() => write!(f, "{list}[{at}]"),
            Some((list, at)) => write!(f, "{list}[{at}].{}", self.name),
        }
    }
}
