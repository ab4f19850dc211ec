//! Takes in what changed in the files of a shared memory: new records, edits, deletions.
//!
//! Files come from other people, so each item passes the checks of a write. One that does not is
//! refused alone. An edit is a three-way merge: fields that one side changed merge. A field that
//! both changed is a conflict, which changes nothing.
//!
//! Two clones may create records that merge by the rules of their kind. Which of them stays depends
//! on their files alone, so every clone decides the same. A topic may have a file of each clone; an
//! item then has their combination.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Plan;
use super::undo::rivals;
use crate::draft::{Draft, RecordFields};
use crate::fold::clip;
use crate::ids::{Kind, RecordId, SessionId, ShareId, Timestamp};
use crate::kinds::FoldRule;
use crate::kinds::note::accept_tags;
use crate::limits::PURGE_TITLE_CHARS_MAX;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState};
use crate::refusal::Refusal;
use crate::room::has_room;
use crate::shared::{FileForm, FileNames, SharedContent, merged_topic};
use crate::size::Size;
use crate::staged::Staged;

/// A file that has changed since the memory and the file last agreed.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeItem {
    /// The id in the file's name.
    pub id: ShareId,
    /// The record with this id, if there is one.
    pub record: Option<RecordId>,
    /// The content on which the two last agreed, if they did.
    pub base: Option<SharedContent>,
    /// The file as it is now; `None` if it was deleted.
    pub file: Option<FileForm>,
}

/// The outcome of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeOutcome {
    /// The record has what the file changed.
    Taken(RecordId),
    /// The record is forgotten, as the file was deleted.
    Forgotten(RecordId),
    /// The file was deleted, but the record has changed since. It stays.
    Kept(RecordId),
    /// The file says the same as another record, or merged into it. It is not needed.
    United(RecordId),
    /// Both sides changed the same field. Nothing was written.
    Conflict(RecordId),
    /// The file is not taken in.
    Refused(String),
    /// There is nothing to do.
    Nothing,
}

/// Two records that the same write would merge with and that say different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rivals {
    /// The older record.
    pub first: RecordId,
    /// The other.
    pub second: RecordId,
    /// The key, title or name that both have.
    pub name: String,
    /// Whether the second has another clone's descriptions of the first, which is a topic.
    pub is_set_aside: bool,
}

/// Plans the commit that takes these items in. `name` is that of the memory, from which its own
/// records' ids are derived.
pub fn plan_take_in(
    memory: &Memory,
    name: &str,
    items: &[TakeItem],
    origin: &Provenance,
) -> Plan<Vec<TakeOutcome>> {
    let mut taking = Taking { draft: Draft::new(memory), name, origin };
    let outcome = items.iter().map(|item| taking.item(item)).collect();
    Plan { changes: taking.draft.finish().changes, outcome }
}

/// Returns why a file would not be taken in, if it would not. A topic's files are checked one by
/// one, so that a bad one is left out alone.
pub fn why_refused(memory: &Memory, file: &FileForm) -> Option<String> {
    let nobody = Provenance::new(SessionId::new(""), "".into(), Timestamp::default());
    let taking = Taking { draft: Draft::new(memory), name: "", origin: &nobody };
    taking.accepted(&file.content, None).err()
}

/// Returns the records that say different things under one key, for a person to resolve.
pub fn shared_rivals(memory: &Memory) -> Vec<Rivals> {
    let mut found = Vec::new();
    for record in memory.records().filter(|record| record.is_shared()) {
        let is_later = |rival: &&Arc<Record>| rival.id > record.id && rival.is_shared();
        // Anchors of one file are many, and overlapping ones have been united.
        if record.kind() == Kind::Anchor {
            continue;
        }
        for rival in rivals(memory, record).filter(is_later) {
            found.push(Rivals::new(record, rival, false));
        }
        let Some(topic) = record.topic() else { continue };
        let is_of =
            |other: &Record| other.topic().is_some_and(|it| it.is_set_aside_of(&topic.name));
        for (other, _) in memory.topics().filter(|(other, _)| other.is_shared() && is_of(other)) {
            found.push(Rivals::new(record, other, true));
        }
    }
    found
}

impl Rivals {
    fn new(first: &Record, second: &Record, is_set_aside: bool) -> Self {
        let key = first.note().and_then(|note| note.key.clone());
        let name = clip(&key.unwrap_or_else(|| first.body.fields().name()), PURGE_TITLE_CHARS_MAX);
        Self { first: first.id, second: second.id, name, is_set_aside }
    }
}

struct Taking<'a> {
    draft: Draft<'a>,
    name: &'a str,
    origin: &'a Provenance,
}

impl Taking<'_> {
    fn item(&mut self, item: &TakeItem) -> TakeOutcome {
        let stored = item.record.and_then(|id| self.draft.head().record(id)).cloned();
        let Some(file) = &item.file else { return self.deleted(item, stored.as_deref()) };
        let stored = stored.or_else(|| self.topic_of(file));
        let Some(stored) = stored else { return self.new_record(item, file) };
        if stored.state == RecordState::Forgotten {
            return self.write(&stored, &file.content);
        }
        if !stored.is_shared() {
            return TakeOutcome::Refused(format!("{} is not shared here", stored.id));
        }
        let ours = SharedContent::of(&stored);
        if ours.says_the_same(&file.content) {
            return TakeOutcome::Taken(stored.id);
        }
        let merged = match item.base.as_ref() {
            base if stored.kind() == Kind::Topic => merged_topic(base, &stored, file),
            Some(base) => ours.merged(base, &file.content),
            None => None,
        };
        match merged {
            None => TakeOutcome::Conflict(stored.id),
            Some(merged) if merged == ours => TakeOutcome::Taken(stored.id),
            Some(merged) => self.write(&stored, &merged),
        }
    }

    /// Returns the topic with a file's name. It may have begun since the file was read.
    fn topic_of(&self, file: &FileForm) -> Option<Arc<Record>> {
        self.draft.head().topic(&file.content.topic_name()?).cloned()
    }

    fn deleted(&mut self, item: &TakeItem, stored: Option<&Record>) -> TakeOutcome {
        let Some(stored) = stored.filter(|stored| stored.is_shared()) else {
            return TakeOutcome::Nothing;
        };
        if item.base.as_ref() != Some(&SharedContent::of(stored)) {
            return TakeOutcome::Kept(stored.id);
        }
        self.draft.set_state(stored.id, RecordState::Forgotten, self.origin);
        TakeOutcome::Forgotten(stored.id)
    }

    /// Writes a record's new content, which makes it active.
    fn write(&mut self, stored: &Record, content: &SharedContent) -> TakeOutcome {
        let (body, tags) = match self.accepted(content, Some(stored)) {
            Ok(accepted) => accepted,
            Err(why) => return TakeOutcome::Refused(why),
        };
        if stored.is_head && stored.body == body {
            return TakeOutcome::Refused("it has only the beginning of the record".to_owned());
        }
        let size = |body: &Body| body.fields().text_bytes() as u64;
        let was = if stored.state == RecordState::Forgotten { 0 } else { size(&stored.body) };
        let is_new = u64::from(stored.state == RecordState::Forgotten);
        let more = Size { records: is_new, bytes: size(&body).saturating_sub(was) };
        if let Err(full) = has_room(&self.draft.head().totals().kept, stored.kind(), more) {
            return TakeOutcome::Refused(full.to_string());
        }
        let state = match stored.state {
            RecordState::Forgotten => RecordState::Active,
            state => state,
        };
        let (id, pinned) = (stored.id, content.pinned);
        self.draft.write(RecordFields { id, body, state, tags, pinned }, self.origin);
        TakeOutcome::Taken(id)
    }

    fn new_record(&mut self, item: &TakeItem, file: &FileForm) -> TakeOutcome {
        let (body, tags) = match self.accepted(&file.content, None) {
            Ok(accepted) => accepted,
            Err(why) => return TakeOutcome::Refused(why),
        };
        let more = Size { records: 1, bytes: body.fields().text_bytes() as u64 };
        if let Err(full) = has_room(&self.draft.head().totals().kept, body.kind(), more) {
            return TakeOutcome::Refused(full.to_string());
        }
        let created = file.created.unwrap_or(self.origin.time);
        let id = self.draft.create_shared(item.id.clone(), body, created, self.origin);
        let state = RecordState::Active;
        if let Some(record) = self.draft.head().record(id).cloned() {
            let body = record.body.clone();
            self.draft.write(
                RecordFields { id, body, state, tags, pinned: file.content.pinned },
                self.origin,
            );
        }
        self.unite(id)
    }

    /// Merges a new record with those of other clones that a write would merge with.
    fn unite(&mut self, id: RecordId) -> TakeOutcome {
        let Some(record) = self.draft.head().record(id).cloned() else {
            return TakeOutcome::Nothing;
        };
        let others: Vec<Arc<Record>> =
            rivals(self.draft.head(), &record).filter(|rival| rival.is_shared()).cloned().collect();
        let mut survivor = record;
        for other in others {
            let (first, second) = if self.order(&other) < self.order(&survivor) {
                (other, survivor)
            } else {
                (survivor, other)
            };
            survivor = match united(&first, &second, self.origin) {
                None => return TakeOutcome::Taken(id),
                Some(body) => {
                    self.rewrite(&first, body);
                    self.draft.set_state(second.id, RecordState::Forgotten, self.origin);
                    self.draft.head().record(first.id).cloned().unwrap_or(first)
                }
            };
        }
        if survivor.id == id { TakeOutcome::Taken(id) } else { TakeOutcome::United(survivor.id) }
    }

    /// Replaces a record's fields, which makes it active.
    fn rewrite(&mut self, record: &Record, body: Body) {
        let (id, tags, pinned) = (record.id, record.tags.clone(), record.pinned);
        let state = RecordState::Active;
        self.draft.write(RecordFields { id, body, state, tags, pinned }, self.origin);
    }

    /// Returns what orders records alike in every clone.
    fn order(&self, record: &Record) -> (Timestamp, ShareId) {
        (record.created.time, FileNames::id(record, self.name))
    }

    /// Checks a content like that of a write.
    fn accepted(
        &self,
        content: &SharedContent,
        stored: Option<&Record>,
    ) -> Result<(Body, Vec<String>), String> {
        let body = content.body(stored.map(|stored| &stored.body), self.origin.time)?;
        let accepted = body.fields().accepted().map_err(|refusal| refusal.to_string())?;
        // The accepted form lacks this memory's own bookkeeping.
        let kept = SharedContent::new(&accepted, Vec::new(), false);
        let body = kept.body(Some(&body), self.origin.time)?;
        let tags = accept_tags(&content.tags).map_err(|refusal| refusal.to_string())?;
        let mut record = self.draft.new_record(body, self.origin);
        record.tags.clone_from(&tags);
        let part = Staged::of_record(&record, None, self.origin);
        let refused = self.draft.head().tombstones().refuse(&part);
        refused.map_err(|refusal| purged_text(refusal, &record, stored))?;
        Ok((record.body, tags))
    }
}

/// Words a refusal for a person who has one file, in which no list has a number.
fn purged_text(refusal: Refusal, record: &Record, stored: Option<&Record>) -> String {
    let refusal = refusal.of_call();
    let Refusal::PurgedText { field, time } = &refusal else { return refusal.to_string() };
    let (noun, field) = (record.kind().noun(), field.to_string());
    let mut what = match (stored, record.note().and_then(|note| note.key.as_deref())) {
        (Some(stored), _) => stored.id.to_string(),
        (None, Some(key)) => format!("its {noun} `{key}`"),
        (None, None) => format!("its {noun}"),
    };
    if !field.is_empty() {
        what = format!("{what} ({field})");
    }
    format!("{what} says what was purged on {}; remove the file, or that text from it", time.date())
}

/// Returns what two records of different clones become; `None` if a person has to decide.
fn united(first: &Record, second: &Record, origin: &Provenance) -> Option<Body> {
    if SharedContent::of(first) == SharedContent::of(second) {
        return Some(first.body.clone());
    }
    let part = Staged::of_record(second, None, origin);
    let (_, item) = part.items().into_iter().next()?;
    match (item.rule(), &first.body) {
        (FoldRule::Keyed(item), _) => {
            item.merged(first.body.clone(), first.content_version().revision)
        }
        (FoldRule::Anchor(later), Body::Anchor(earlier)) => {
            let lines = earlier.lines.union(&later.lines);
            Some(Body::Anchor(later.over(lines)))
        }
        // The same content, perhaps with other attributes.
        (FoldRule::Note(note), body) if note.key.is_none() => Some(body.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
