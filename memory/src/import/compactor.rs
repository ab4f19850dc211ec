//! Imports the compactor's `state.json`. Its items become notes of the project, so an agent finds
//! them with any set of tools. Reading is as lenient as for zipmem. The access times and counts are
//! not imported.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::judged::EarlierTexts;
use super::notes::{Meeting, plan_items};
use super::source::{ImportError, ImportStep, NamedText, Parts, Source};
use super::zipmem::{object, text, time};
use super::{Dated, ImportOutcome};
use crate::ids::Kind;
use crate::kinds::note::{NewNote, accept_note};
use crate::limits::{IMPORTANCE_MAX, TAGS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;

/// The source name under which imports of the compactor's file are remembered. It is also the
/// client of their notes.
pub const COMPACTOR: &str = "compactor";

/// The content of the compactor's file, in anchord's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compactor {
    /// The items, in the order of the file.
    pub items: Vec<Dated<NewNote>>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
    earlier: Arc<EarlierTexts>,
}

/// The compactor.
pub(super) const SOURCE: Source = Source {
    name: COMPACTOR,
    takes: "the compactor's state.json",
    files: &["state.json"],
    recognises: |candidate| candidate.has_field("items"),
    read: |texts| Ok(vec![Box::new(parse_compactor(texts)?)]),
    kinds: &[Kind::Note],
    parts: Parts::One,
    tables: &[],
};

impl ImportStep for Compactor {
    fn found(&self) -> PerKind<usize> {
        PerKind { notes: self.items.len(), ..PerKind::default() }
    }

    fn set_earlier(&mut self, earlier: &Arc<EarlierTexts>) {
        self.earlier = Arc::clone(earlier);
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        plan_import_compactor(memory, self, digest, by)
    }
}

/// Reads the compactor's file.
///
/// # Errors
/// Fails if the text is not a JSON object, or if its version is unknown.
pub fn parse_compactor(texts: &[NamedText]) -> Result<Compactor, ImportError> {
    let state = object(texts.first().ok_or(ImportError::Empty)?)?;
    if let Some(version) = state.get("version").and_then(Value::as_u64).filter(|v| *v != 1) {
        return Err(ImportError::Version(version));
    }
    let listed: Vec<&Value> = match state.get("items") {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(Value::Object(by_id)) => by_id.values().collect(),
        _ => Vec::new(),
    };
    let mut compactor = Compactor::default();
    for (at, value) in listed.into_iter().enumerate() {
        let mut tags_left_out = 0;
        match item(value, &mut tags_left_out) {
            Ok(item) => {
                compactor.items.push(item);
                if tags_left_out > 0 {
                    let note = format!("items[{at}]: the first {TAGS_MAX} tags are kept");
                    compactor.notes.push(note);
                }
            }
            Err(why) => compactor.notes.push(format!("items[{at}]: {why}; left out")),
        }
    }
    Ok(compactor)
}

fn item(value: &Value, tags_left_out: &mut usize) -> Result<Dated<NewNote>, String> {
    let fields = value.as_object().ok_or("is not an object")?;
    let importance = fields.get("importance").and_then(Value::as_u64);
    let importance = importance.and_then(|n| u8::try_from(n.min(IMPORTANCE_MAX.into())).ok());
    let mut tags = tags(fields);
    *tags_left_out = tags.len().saturating_sub(TAGS_MAX);
    tags.truncate(TAGS_MAX);
    let note = NewNote {
        content: text(fields, "content").ok_or("content is empty")?,
        summary: text(fields, "summary").unwrap_or_default(),
        tags,
        importance: importance.filter(|n| *n > 0),
        pinned: fields.get("pinned").and_then(Value::as_bool).unwrap_or(false),
        ..NewNote::default()
    };
    let item = accept_note(note).map_err(|refusal| refusal.to_string())?;
    Ok(Dated { time: time(fields, "created_at"), item })
}

fn tags(fields: &Map<String, Value>) -> Vec<String> {
    match fields.get("tags") {
        Some(Value::Array(tags)) => {
            tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(tags)) => tags.split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Plans an import of the compactor's items. Notes keep the times of their originals; newer content
/// here stays. `digest` identifies the source.
///
/// The text of a fact, or of a session's own note, is not new: an export of this memory comes back.
pub fn plan_import_compactor(
    memory: &Memory,
    source: &Compactor,
    digest: &str,
    origin: &Provenance,
) -> Plan<ImportOutcome> {
    let read = (source.found(), source.notes.as_slice());
    plan_items(memory, (COMPACTOR, digest), read, origin, |import| {
        import.set_earlier(&source.earlier);
        // An item has no key, so it never meets another one.
        let items = import.without_placed(&source.items);
        import.put_notes(items.into_iter().map(|it| (it, Vec::new())), Meeting::Replace);
    })
}

#[cfg(test)]
mod tests;
