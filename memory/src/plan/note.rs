//! Noting: many at once; a bad one fails alone.

use super::Plan;
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::index::Totals;
use crate::limits::{NOTE_ITEMS_MAX, NOTES_BYTES_MAX, NOTES_MAX};
use crate::memory::Memory;
use crate::note::{ContentType, NewNote, accept_note};
use crate::reader::Reader;
use crate::record::Provenance;
use crate::refusal::Refusal;

/// What the caller of a note is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotesOutcome {
    /// In the order given.
    pub stored: Vec<StoredNote>,
    /// In the order given.
    pub failed: Vec<FailedNote>,
    /// What is kept after them.
    pub totals: Totals,
    /// The session's own active notes after them, and the tokens of its budget that they take.
    pub own: (u64, u64),
}

/// A note that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// Its place in the call, from 0.
    pub at: usize,
    /// The record it went into.
    pub id: RecordId,
    /// The version it made.
    pub version: Version,
    /// Tokens of its content.
    pub tokens: u32,
    /// What its content looks like.
    pub content_type: ContentType,
    /// Given or found.
    pub tags: Vec<String>,
    /// What it means for what was there.
    pub telling: Telling,
    /// The session that alone sees it is the one that wrote it.
    pub private: bool,
}

/// What a note means for what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// There was nothing like it.
    New,
    /// A fact's new version.
    Replaced,
    /// What was kept already, told again.
    Repeated,
}

/// A note that was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedNote {
    /// Its place in the call, from 0.
    pub at: usize,
    /// Why, for the caller.
    pub why: Refusal,
}

/// Stores notes; those that cannot be stored are named, the others are stored all the same.
///
/// # Errors
/// When there is none, when there are too many, and when not one of them can be stored.
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
            has_room(draft.head().totals(), draft.more(&note, origin))?;
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
        None if record.note().is_some_and(|kept| kept.repeats > note.repeats) => Telling::Repeated,
        None => Telling::New,
        Some(stored) if stored.content == note.content => Telling::Repeated,
        Some(_) => Telling::Replaced,
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

/// What a session keeps for itself counts on when it is over, and no other session gets at it.
const FORGET: &str = "memory_forget what no longer holds; a person at a shell can also `anchord forget` what past sessions \
     kept for themselves";

/// Refuses what there is no room for: so many notes more, with so many bytes of text more.
pub(crate) fn has_room(totals: Totals, (notes, bytes): (u64, u64)) -> Result<(), Refusal> {
    if notes > 0 && totals.notes_kept + notes > NOTES_MAX {
        let why = format!("have no room: {NOTES_MAX} are kept; {FORGET}");
        return Err(Refusal::invalid("this project's notes", why));
    }
    let all = totals.note_bytes + bytes;
    if bytes > 0 && all > NOTES_BYTES_MAX {
        return Err(Refusal::TooLarge {
            what: "the text of all notes of this project".to_owned(),
            bytes: usize::try_from(all).unwrap_or(usize::MAX),
            bytes_max: usize::try_from(NOTES_BYTES_MAX).unwrap_or(usize::MAX),
            advice: FORGET,
        });
    }
    Ok(())
}

/// Refuses notes that will be written together where there is no room for all of them.
pub(crate) fn have_room(
    draft: &Draft<'_>,
    notes: &[NewNote],
    origin: &Provenance,
) -> Result<(), Refusal> {
    let more = notes.iter().map(|note| draft.more(note, origin));
    has_room(draft.head().totals(), more.fold((0, 0), |all, more| (all.0 + more.0, all.1 + more.1)))
}

#[cfg(test)]
mod tests;
