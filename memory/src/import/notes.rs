//! Plans imports whose items become notes of the project, or blueprints that may be replaced.

use super::{Dated, ImportOutcome, left_out, not_again, remembered};
use crate::draft::Draft;
use crate::fold::clip;
use crate::ids::Kind;
use crate::intake::WriteLimits;
use crate::kinds::MergeKey;
use crate::kinds::note::{NewNote, Scope};
use crate::limits::PURGE_TITLE_CHARS_MAX;
use crate::memory::Memory;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Blueprint, Body, Record};
use crate::refusal::Refusal;
use crate::room::{check_items, has_room};
use crate::staged::{Staged, accept};

/// The result if a note with the same key is here and has another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// Its list gets the items that it lacks.
    Unite,
    /// A note that is as it was imported gets the new content. One that was changed here stays.
    Replace,
}

/// An import under way. Its records keep the times of their originals.
pub(super) struct Import<'a> {
    draft: Draft<'a>,
    /// The name under which the import is remembered, and the client of its records.
    name: &'static str,
    origin: Provenance,
    /// One line for each item that could not be used as it was.
    remarks: Vec<String>,
    stayed: u32,
    is_whole: bool,
}

/// Plans an import: `put` stores its items. `digest` identifies the source, and the same source
/// again changes nothing.
pub(super) fn plan_items(
    memory: &Memory,
    (name, digest): (&'static str, &str),
    remarks: &[String],
    origin: &Provenance,
    put: impl FnOnce(&mut Import<'_>),
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(name, digest) {
        let outcome = ImportOutcome { before: Some(before), ..ImportOutcome::default() };
        return Plan { changes: Vec::new(), outcome };
    }
    let mut import = Import {
        draft: Draft::new(memory),
        name,
        origin: origin.clone(),
        remarks: remarks.to_vec(),
        stayed: 0,
        is_whole: true,
    };
    put(&mut import);
    let written = import.draft.finish();
    let outcome = ImportOutcome {
        added: written.added,
        merged: written.merged + import.stayed,
        kept: written.kept,
        notes: import.remarks,
        ..ImportOutcome::default()
    };
    let changes = remembered(memory, written.changes, None, (name, digest), import.is_whole);
    Plan { changes, outcome }
}

impl Import<'_> {
    /// Stores notes, until there is no room.
    pub(super) fn put_notes(&mut self, items: &[Dated<NewNote>], on_meeting: Meeting) {
        for item in items {
            match put(&mut self.draft, self.name, on_meeting, item, &self.origin) {
                Ok(Put::Written) => {}
                Ok(Put::Here) => self.stayed += 1,
                Ok(Put::Said(remark)) => self.remarks.push(remark),
                Err(refusal) => {
                    self.remarks.push(format!("{refusal}; what follows is left out"));
                    self.is_whole = false;
                    return;
                }
            }
        }
    }

    /// Stores blueprints that may be replaced. One that was changed here stays, with a remark.
    pub(super) fn put_blueprints(&mut self, blueprints: &[Blueprint]) {
        let origin = Provenance { client: self.name.into(), ..self.origin.clone() };
        for new in blueprints {
            let title = clip(&new.title, PURGE_TITLE_CHARS_MAX);
            let part = Staged { blueprints: vec![new.clone()], ..Staged::default() };
            let part = match fitting(&self.draft, part, &origin) {
                Ok(part) => part,
                Err(refusal) => {
                    self.is_whole &= !matches!(refusal, Refusal::Full { .. });
                    self.remarks.push(left_out(&title, &refusal));
                    continue;
                }
            };
            let body = part.blueprints.first().cloned().map(Body::Blueprint);
            let here = body.as_ref().and_then(|it| self.draft.head().existing_match(it).cloned());
            match here {
                Some(here) if Some(&here.body) == body.as_ref() => self.stayed += 1,
                Some(here) if *here.updated.client != *self.name => {
                    self.remarks.push(format!("{title} was changed here and stays as it is"));
                }
                _ => self.draft.fold(&part, &origin),
            }
        }
    }
}

/// Returns a part in its stored form, if it may be stored.
fn fitting(draft: &Draft<'_>, part: Staged, origin: &Provenance) -> Result<Staged, Refusal> {
    draft.head().tombstones().refuse(&part)?;
    let part = accept(part, &WriteLimits::WIDE)?;
    check_items(draft.head(), &part, &part, origin)?;
    Ok(part)
}

/// The result for one note.
enum Put {
    Written,
    /// It is here already.
    Here,
    /// It is left out, with a remark.
    Said(String),
}

fn put(
    draft: &mut Draft<'_>,
    name: &'static str,
    on_meeting: Meeting,
    Dated { time, item }: &Dated<NewNote>,
    origin: &Provenance,
) -> Result<Put, Refusal> {
    let tombstones = draft.head().tombstones();
    if let Some(purged) = tombstones.of(&item.content).or_else(|| tombstones.of(&item.summary)) {
        return Ok(Put::Said(not_again("a note", purged)));
    }
    let made = time.filter(|time| *time < origin.time);
    let time = made.unwrap_or(origin.time);
    let origin = Provenance { client: name.into(), time, ..origin.clone() };
    let merge_key = MergeKey::note(&Scope::Project, item.key.as_deref(), &item.content);
    let here: Vec<&Record> = draft.head().keyed(&merge_key).map(|record| &**record).collect();
    let new = match (&item.key, here.first()) {
        (None, _) => {
            // An item without a time may have been imported before.
            let is_here = here.iter().any(|record| {
                made.is_none_or(|made| record.updated.time >= made)
                    && record.note().is_some_and(|kept| kept.content == item.content)
            });
            if is_here {
                return Ok(Put::Here);
            }
            item.clone()
        }
        (Some(_), None) => item.clone(),
        (Some(key), Some(record)) => {
            let kept = record.note().map(|note| note.content.as_str()).unwrap_or_default();
            if kept == item.content {
                return Ok(Put::Here);
            }
            match on_meeting {
                Meeting::Unite => match united(kept, &item.content) {
                    None => return Ok(Put::Here),
                    Some(content) => NewNote { content, ..item.clone() },
                },
                Meeting::Replace if *record.updated.client == *name => item.clone(),
                Meeting::Replace => {
                    return Ok(Put::Said(format!("{key} was changed here and stays as it is")));
                }
            }
        }
    };
    has_room(&draft.head().totals().kept, Kind::Note, draft.more(&new, &origin))?;
    draft.note(&new, &origin);
    Ok(Put::Written)
}

/// Returns the list `here` with the items of `new` that it lacks, or nothing if it lacks none.
fn united(here: &str, new: &str) -> Option<String> {
    let items = |text: &str| -> Vec<String> {
        text.split("\n- ").skip(1).map(|item| item.trim_end().to_owned()).collect()
    };
    let known = items(here);
    let missing: Vec<String> =
        items(new).into_iter().filter(|item| !known.contains(item)).collect();
    if missing.is_empty() {
        return None;
    }
    let more = missing.iter().map(|item| format!("\n- {item}"));
    Some(here.trim_end().to_owned() + &more.collect::<String>())
}
