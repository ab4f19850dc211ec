//! Stores notes, many at once; an invalid one fails alone.

use super::Plan;
use crate::draft::Draft;
use crate::ids::{Kind, RecordId, Version};
use crate::index::Totals;
use crate::limits::NOTE_ITEMS_MAX;
use crate::memory::Memory;
use crate::note::{ContentType, NewNote, accept_note};
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::refusal::Refusal;
use crate::room::has_room;

/// The outcome of storing notes, for the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotesOutcome {
    /// The stored notes, in the order given.
    pub stored: Vec<StoredNote>,
    /// The failed notes, in the order given.
    pub failed: Vec<FailedNote>,
    /// The totals of memory afterwards.
    pub totals: Totals,
    /// The number of the session's own active notes afterwards, and the tokens that they take of
    /// its budget.
    pub own: (u64, u64),
}

/// A note that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// Its index in the call, from 0.
    pub at: usize,
    /// The record that holds it.
    pub id: RecordId,
    /// The version that it created.
    pub version: Version,
    /// The tokens of its content.
    pub tokens: u32,
    /// The detected type of its content.
    pub content_type: ContentType,
    /// Its tags, given or detected.
    pub tags: Vec<String>,
    /// Its effect on what was already stored.
    pub telling: NoteOutcome,
    /// Whether only the writing session sees it.
    pub private: bool,
}

/// The effect of a note on what was already stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteOutcome {
    /// A note with no existing match.
    New,
    /// A new version of a fact.
    Replaced,
    /// A repetition of a note that was already stored.
    Repeated,
}

/// A note that was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedNote {
    /// Its index in the call, from 0.
    pub at: usize,
    /// The reason, for the caller.
    pub why: Refusal,
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
    for (at, item) in items.into_iter().enumerate() {
        let field = if alone { String::new() } else { format!("items[{at}].") };
        let accepted = item.and_then(|note| accept_note(note, &field));
        let stored = accepted.and_then(|note| {
            has_room(&draft.head().totals().kept, Kind::Note, draft.more(&note, origin))?;
            memory.tombstones().refuse_text(format!("{field}content"), &note.content)?;
            memory.tombstones().refuse_text(format!("{field}summary"), &note.summary)?;
            Ok((draft.note(&note, origin), note))
        });
        match stored {
            Ok((id, note)) => {
                outcome.stored.extend(told(memory, draft.head(), at, id, &note));
            }
            Err(why) => outcome.failed.push(FailedNote { at, why }),
        }
    }
    if let (true, Some(first)) = (outcome.stored.is_empty(), outcome.failed.first()) {
        return Err(match outcome.failed.len() {
            1 => first.why.clone(),
            failed => Refusal::invalid(
                "items",
                format!("cannot be stored, not one of {failed}; the first: {}", first.why),
            ),
        });
    }
    let written = draft.finish();
    outcome.totals = written.head.totals();
    outcome.own = written.head.own_usage(&Reader::session(origin.session.clone()));
    Ok(Plan { changes: written.changes, outcome })
}

fn told(
    before: &Memory,
    after: &Memory,
    at: usize,
    id: RecordId,
    note: &NewNote,
) -> Option<StoredNote> {
    let record = after.record(id)?;
    let telling = match before.record(id).and_then(|stored| stored.note()) {
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
        content_type: kept.content_type,
        tags: record.tags.clone(),
        telling,
        private: record.owner().is_some(),
    })
}

#[cfg(test)]
mod tests;
