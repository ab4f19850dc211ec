//! Stores notes, many at once; an invalid one fails alone.

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::draft::Draft;
use crate::ids::{Kind, RecordId, Version};
use crate::kinds::note::{NewNote, accept_note};
use crate::limits::NOTE_ITEMS_MAX;
use crate::memory::Memory;
use crate::omit::is_default;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::refusal::Refusal;
use crate::room::has_room;

/// The outcome of storing notes, for the reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NotesOutcome {
    /// The stored notes, in the order given.
    pub stored: Vec<StoredNote>,
    /// The failed notes, in the order given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed: Vec<FailedNote>,
    /// The number of the project's active notes afterwards, and the tokens that they take of its
    /// budget.
    pub shared: (u64, u64),
    /// The number of the session's own active notes afterwards, and the tokens that they take of
    /// its budget.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own: (u64, u64),
}

/// A note that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredNote {
    /// Its index in the call, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: usize,
    /// The record that holds it.
    pub id: RecordId,
    /// The version that it created.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub version: Version,
    /// The tokens of its content.
    pub tokens: u32,
    /// Its tags, given or detected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Vec<String>,
    /// Its effect on what was already stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effect: NoteOutcome,
    /// Whether only the writing session sees it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub private: bool,
}

fn first() -> Version {
    Version::FIRST
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(version: &Version) -> bool {
    *version == Version::FIRST
}

/// The effect of a note on what was already stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteOutcome {
    /// A note with no existing match.
    #[default]
    New,
    /// A new version of a fact.
    Replaced,
    /// A repetition of a note that was already stored.
    Repeated,
}

/// A note that was not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedNote {
    /// Its index in the call, from 0.
    pub at: usize,
    /// The reason.
    pub why: WhyNot,
}

/// The reason why a note was not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WhyNot {
    /// The words of the build that refused it. Journals of format 6 have them.
    Worded(String),
    /// The refusal of the note alone.
    Refused(Refusal),
}

/// Stores notes. Those that cannot be stored are reported; the others are stored regardless.
///
/// # Errors
/// Fails if `items` is empty or too long, or if no item can be stored.
pub fn plan_notes(
    memory: &Memory,
    origin: &Provenance,
    items: Vec<Result<NewNote, Refusal>>,
) -> Result<Plan<NotesOutcome>, Refusal> {
    if items.is_empty() {
        return Err(Refusal::invalid("content", "is missing; give content, or items"));
    }
    if items.len() > NOTE_ITEMS_MAX {
        let why =
            format!("has {} notes, {NOTE_ITEMS_MAX} are allowed; send them in parts", items.len());
        return Err(Refusal::invalid("items", why));
    }
    let alone = items.len() == 1;
    let mut draft = Draft::new(memory);
    let mut outcome = NotesOutcome::default();
    let mut failed: Vec<(usize, Refusal)> = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let stored = item.and_then(accept_note).and_then(|note| {
            has_room(&draft.head().totals().kept, Kind::Note, draft.more(&note, origin))?;
            memory.tombstones().refuse_text("content", &note.content)?;
            memory.tombstones().refuse_text("summary", &note.summary)?;
            Ok((draft.note(&note, origin), note))
        });
        match stored {
            Ok((id, note)) => {
                outcome.stored.extend(stored_note(memory, draft.head(), at, id, &note));
            }
            Err(refusal) => failed.push((at, refusal)),
        }
    }
    if let (true, Some((at, first))) = (outcome.stored.is_empty(), failed.first()) {
        let (at, first) = (*at, first.clone());
        let first = if alone { first } else { first.of_item("items", at) };
        return Err(match failed.len() {
            1 => first,
            failed => Refusal::NoNoteStored { failed, first: Box::new(first) },
        });
    }
    let refused = |(at, refusal): (usize, Refusal)| FailedNote {
        at,
        why: WhyNot::Refused(refusal.of_call()),
    };
    outcome.failed = failed.into_iter().map(refused).collect();
    let written = draft.finish();
    let totals = written.head.totals();
    outcome.shared = (totals.active.notes, totals.note_tokens);
    outcome.own = written.head.own_usage(&Reader::session(origin.session.clone()));
    Ok(Plan { changes: written.changes, outcome })
}

fn stored_note(
    before: &Memory,
    after: &Memory,
    at: usize,
    id: RecordId,
    note: &NewNote,
) -> Option<StoredNote> {
    let record = after.record(id)?;
    let effect = match before.record(id).and_then(|stored| stored.note()) {
        None if record.note().is_some_and(|kept| kept.repeats > note.repeats) => {
            NoteOutcome::Repeated
        }
        None => NoteOutcome::New,
        Some(stored) if stored.content == note.content => NoteOutcome::Repeated,
        Some(_) => NoteOutcome::Replaced,
    };
    let kept = record.note()?;
    Some(StoredNote {
        at,
        id,
        version: record.version,
        tokens: kept.tokens,
        tags: record.tags.clone(),
        effect,
        private: record.owner().is_some(),
    })
}

#[cfg(test)]
mod tests;
