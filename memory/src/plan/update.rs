//! Updates one record; only the given fields change. A record that is used becomes active again.

use super::{Plan, at_version, find};
use crate::draft::{Draft, RecordFields};
use crate::ids::{RecordId, Timestamp, Version};
use crate::kinds::MergeKey;
use crate::kinds::note::{
    Expires, Note, Scope, accept_tags, content_fits, summary_text, valid_importance,
};
use crate::limits::TAGS_MAX;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Body, Record, RecordState};
use crate::refusal::Refusal;
use crate::room::has_room;
use std::sync::Arc;

/// The fields to change. A field that is `None` keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The summary of a note; empty removes it.
    pub summary: Option<String>,
    /// The content of a note.
    pub content: Option<String>,
    /// The tags of any record; an empty list removes them. Without them a record keeps its own.
    pub tags: Option<Vec<String>>,
    /// The importance of a note, from 1 to 10.
    pub importance: Option<u8>,
    /// Whether to pin the record, of any kind.
    pub pinned: Option<bool>,
    /// The expiry of a note.
    pub expires: Option<Expires>,
    /// Whether to share a session's own note with the project.
    pub share: bool,
}

/// The outcome of an update.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateOutcome {
    /// The record as it is now. It is a different record if a note was shared and the project
    /// already had the same.
    pub record: Arc<Record>,
    /// Whether nothing had to change.
    pub unchanged: bool,
}

/// Updates a record.
///
/// # Errors
/// Fails if there is no such record, or it is forgotten or at another version. Also fails if a
/// field does not fit its kind, or the project has no room for a longer text.
pub fn plan_update(
    memory: &Memory,
    reader: &Reader,
    id: RecordId,
    update: &Update,
    expected_version: Option<Version>,
    origin: &Provenance,
) -> Result<Plan<UpdateOutcome>, Refusal> {
    let record = find(memory, reader, id)?;
    at_version(record, expected_version, origin)?;
    if record.state == RecordState::Forgotten {
        return Err(Refusal::invalid(id.to_string(), "is forgotten; write it again to restore it"));
    }
    if *update == Update::default() {
        let why = "is missing; give summary, content, tags, importance, pinned, expires or scope";
        return Err(Refusal::invalid("what to update", why));
    }
    let mut fields = RecordFields {
        id,
        body: record.body.clone(),
        state: RecordState::Active,
        tags: record.tags.clone(),
        pinned: update.pinned.unwrap_or(record.pinned),
    };
    if let Some(tags) = &update.tags {
        fields.tags = accept_tags(tags)?;
    }
    for (field, text) in [("content", &update.content), ("summary", &update.summary)] {
        memory.tombstones().refuse_text(field, text.as_deref().unwrap_or_default())?;
    }
    match &mut fields.body {
        Body::Note(note) => change_note(note, update)?,
        _ => only_marks(record, update)?,
    }

    let mut draft = Draft::new(memory);
    let mut target = id;
    if let Some(existing) = shared_match(memory, record, &fields.body, update)? {
        target = existing;
        draft.set_state(id, RecordState::Forgotten, origin);
        repeat(&mut draft, existing, &fields, update, origin)?;
    } else if update.share && record.private {
        // The id is this machine's own, so the team gets the note under another.
        target = draft.create(fields.body, origin);
        draft.mark(target, fields.tags, fields.pinned, origin);
        draft.set_state(id, RecordState::Forgotten, origin);
    } else {
        draft.write(fields, origin);
        let (before, after) = (memory.totals().kept, draft.head().totals().kept);
        has_room(&before, id.kind, after.of(id.kind).minus(before.of(id.kind)))?;
    }
    let written = draft.finish();
    let record = Arc::clone(written.head.record(target).unwrap_or(record));
    let outcome = UpdateOutcome { record, unchanged: written.changes.is_empty() };
    Ok(Plan { changes: written.changes, outcome })
}

fn change_note(note: &mut Note, update: &Update) -> Result<(), Refusal> {
    if let Some(content) = &update.content {
        if content.trim().is_empty() {
            return Err(Refusal::EmptyNote);
        }
        content_fits(content)?;
        if *content != note.content && update.summary.is_none() {
            // The old summary was of another text.
            note.set_summary(String::new());
        }
        note.set_content(content.clone());
    }
    if let Some(summary) = &update.summary {
        note.set_summary(summary_text(summary)?);
    }
    if let Some(importance) = update.importance {
        note.importance = valid_importance(importance)?;
    }
    if let Some(expires) = update.expires {
        note.expires = expires.moment();
    }
    if update.share {
        note.scope = Scope::Project;
    }
    // A pinned note is always shown whole.
    note.condensed &= update.pinned != Some(true);
    Ok(())
}

/// Refuses fields that only notes have. Other kinds take tags and a pin; checkpoint and save write
/// their texts.
fn only_marks(record: &Record, update: &Update) -> Result<(), Refusal> {
    let given = [
        ("summary", update.summary.is_some()),
        ("content", update.content.is_some()),
        ("importance", update.importance.is_some()),
        ("expires", update.expires.is_some()),
        ("scope", update.share),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((field, _)) => Err(Refusal::NotesAlone { field: field.into(), id: record.id }),
    }
}

/// Finds the project's note that a session's own one would repeat once it is shared.
fn shared_match(
    memory: &Memory,
    record: &Record,
    body: &Body,
    update: &Update,
) -> Result<Option<RecordId>, Refusal> {
    let (true, Some(_), Body::Note(note)) = (update.share, record.owner(), body) else {
        return Ok(None);
    };
    let key = MergeKey::note(&Scope::Project, note.key.as_deref(), &note.content);
    let Some(existing) = memory.keyed(&key).find(|existing| {
        note.key.is_some() || existing.note().is_some_and(|kept| kept.content == note.content)
    }) else {
        return Ok(None);
    };
    let same = existing.note().is_some_and(|kept| kept.content == note.content);
    if same {
        return Ok(Some(existing.id));
    }
    let key = note.key.as_deref().unwrap_or_default();
    let why = format!(
        "cannot be project: the project has {} with the key `{key}`; update that one",
        existing.id
    );
    Err(Refusal::invalid("scope", why))
}

/// Counts a repetition of the project's note, and adds the marks of the session's own note and of
/// the update.
fn repeat(
    draft: &mut Draft<'_>,
    id: RecordId,
    own: &RecordFields,
    update: &Update,
    origin: &Provenance,
) -> Result<(), Refusal> {
    let Some(existing) = draft.head().record(id).cloned() else { return Ok(()) };
    let (Body::Note(note), Body::Note(told)) = (&existing.body, &own.body) else { return Ok(()) };
    let mut note = Note { repeats: note.repeats.saturating_add(1), ..note.clone() };
    if note.summary.is_empty() {
        note.set_summary(told.summary.clone());
    }
    note.importance = note.importance.max(told.importance);
    if note.is_expired(origin.time) {
        note.expires = told.expires;
    }
    let mut tags = existing.tags.clone();
    if update.tags.is_some() {
        tags.clone_from(&own.tags);
    } else {
        tags.extend(own.tags.iter().filter(|tag| !existing.tags.contains(tag)).cloned());
        tags.truncate(TAGS_MAX);
    }
    let pinned = update.pinned.unwrap_or(existing.pinned || own.pinned);
    // The content is the same, and the note is already shared.
    let rest = Update { content: None, share: false, pinned: Some(pinned), ..update.clone() };
    change_note(&mut note, &rest)?;
    let body = Body::Note(note);
    draft.write(RecordFields { id, body, state: RecordState::Active, tags, pinned }, origin);
    Ok(())
}

/// Reactivates a record that is used, and restores the full text of a note that was shown by its
/// summary. Returns `None` if it is neither archived nor condensed.
pub fn plan_use(memory: &Memory, id: RecordId, origin: &Provenance) -> Option<Plan<()>> {
    let record = memory.record(id)?;
    let condensed = record.note().is_some_and(|note| note.condensed);
    if record.state != RecordState::Archived && !(condensed && record.state.is_active()) {
        return None;
    }
    let mut draft = Draft::new(memory);
    match &record.body {
        // It was read, not written.
        Body::Note(note) => {
            draft.put_note(id, Note { condensed: false, ..note.clone() }, RecordState::Active);
        }
        body => draft.change(id, body.clone(), RecordState::Active, origin),
    }
    Some(Plan { changes: draft.finish().changes, outcome: () })
}

/// Whether a note has expired.
pub fn is_expired(record: &Record, now: Timestamp) -> bool {
    record.note().is_some_and(|note| note.is_expired(now))
}

#[cfg(test)]
mod tests;
