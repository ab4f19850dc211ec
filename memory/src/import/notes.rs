//! Plans imports whose items become notes of the project, blueprints that may be replaced, lessons,
//! or entries of session rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::judged::{EarlierTexts, Forgotten, has_place, is_corrected};
use super::{Dated, ImportOutcome, SourceRow, not_again, remembered, word_refusal};
use crate::draft::Draft;
use crate::fold::{clip, fold};
use crate::ids::{Kind, SessionId, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::MergeKey;
use crate::kinds::note::{NewNote, Scope};
use crate::limits::{KEY_CHARS_MAX, PURGE_TITLE_CHARS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::{Plan, Row, put_row, stored_row};
use crate::provenance::Provenance;
use crate::record::{Blueprint, Body, Category, Lesson, Record, RecordState};
use crate::refusal::Refusal;
use crate::room::{check_items, has_room};
use crate::size::Size;
use crate::staged::{Staged, accept, count};

/// The result if a note with the same key is here and its content differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// Its list gets the items that it lacks.
    Unite,
    /// A note that is as it was imported gets the new content. One that was changed here stays.
    Replace,
}

/// An item with the marks that tell it from others of its name. The first one that is free follows
/// the name of an item that may not have it alone.
pub(super) type Marked<'b, T> = (&'b Dated<T>, Vec<String>);

/// The name that an item has in its source, where others may have it as well.
struct Wanted {
    name: String,
    marks: Vec<String>,
    text: String,
    /// The category of a blueprint; `None` for the key of a note.
    category: Option<Category>,
    /// The item's time, if that is one of its marks: an item of another time is another one.
    time: Option<Timestamp>,
}

impl Wanted {
    /// Returns the names that the item may get: its own, those with a mark, then with a number.
    fn names(&self) -> impl Iterator<Item = String> {
        let marked = self.marks.iter().map(move |mark| format!("{} ({mark})", self.name));
        let numbered = (2_u64..).map(move |number| format!("{} ({number})", self.name));
        std::iter::once(self.name.clone()).chain(marked).chain(numbered)
    }

    fn key_of(&self, name: &str) -> MergeKey {
        match self.category {
            Some(category) => MergeKey::Blueprint(category, fold(name).into()),
            None => MergeKey::note(&Scope::Project, Some(name), ""),
        }
    }
}

/// An import under way. Its records keep the times of their originals.
pub(super) struct Import<'a> {
    /// The memory before the import.
    memory: &'a Memory,
    draft: Draft<'a>,
    /// The name under which the import is remembered, and the client of its records.
    name: &'static str,
    origin: Provenance,
    /// One line for each item that could not be used as it was.
    remarks: Vec<String>,
    forgotten: Forgotten,
    earlier: Arc<EarlierTexts>,
    /// The text of each item so far that has a name, by its key.
    texts: BTreeMap<MergeKey, String>,
    stayed: u32,
    sessions: u32,
    is_whole: bool,
}

/// Plans an import of what was found: `put` stores its items. `digest` identifies the source, and
/// the same source again changes nothing.
pub(super) fn plan_items(
    memory: &Memory,
    (name, digest): (&'static str, &str),
    (found, remarks): (PerKind<usize>, &[String]),
    origin: &Provenance,
    put: impl FnOnce(&mut Import<'_>),
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(name, digest) {
        let outcome = ImportOutcome::known(before, &found);
        return Plan { changes: Vec::new(), outcome };
    }
    let mut import = Import {
        memory,
        draft: Draft::new(memory),
        name,
        origin: origin.clone(),
        remarks: remarks.to_vec(),
        forgotten: Forgotten::of(memory),
        earlier: Arc::default(),
        texts: BTreeMap::new(),
        stayed: 0,
        sessions: 0,
        is_whole: true,
    };
    put(&mut import);
    let written = import.draft.finish();
    let outcome = ImportOutcome {
        added: written.added,
        merged: written.merged + import.stayed,
        sessions: import.sessions,
        kept: written.kept,
        notes: import.remarks,
        ..ImportOutcome::default()
    };
    let changes = remembered(memory, written.changes, None, (name, digest), import.is_whole);
    Plan { changes, outcome }
}

impl Import<'_> {
    /// Tells the import the earlier texts of notes that were corrected here.
    pub(super) fn set_earlier(&mut self, earlier: &Arc<EarlierTexts>) {
        self.earlier = Arc::clone(earlier);
    }

    /// Returns the items whose text never was under a key here, nor a session's own note. Counts
    /// the others. A form without keys and sessions has them if it was exported here.
    pub(super) fn without_placed<'b>(
        &mut self,
        items: &'b [Dated<NewNote>],
    ) -> Vec<&'b Dated<NewNote>> {
        let (memory, now) = (self.memory, self.origin.time);
        let is_placed =
            |record: &&Arc<Record>| record.state != RecordState::Forgotten && has_place(record);
        let placed = memory.records_of(Kind::Note).filter(is_placed);
        let here: BTreeSet<&str> =
            placed.filter_map(|record| record.note()).map(|note| note.content.as_str()).collect();
        let is_new = |Dated { time, item }: &&Dated<NewNote>| {
            let time = time.filter(|time| *time < now);
            !here.contains(item.content.as_str()) && !self.earlier.has_placed(&item.content, time)
        };
        let new: Vec<&Dated<NewNote>> = items.iter().filter(is_new).collect();
        self.stayed += count(items.len() - new.len());
        new
    }

    /// Stores notes, until there is no room.
    pub(super) fn put_notes<'b>(
        &mut self,
        items: impl IntoIterator<Item = Marked<'b, NewNote>>,
        on_meeting: Meeting,
    ) {
        let items: Vec<Marked<'b, NewNote>> = items.into_iter().collect();
        let keyed = |(Dated { item, .. }, marks): &Marked<'b, NewNote>| {
            let (name, text) = (item.key.clone()?, item.content.clone());
            Some(Wanted { name, marks: marks.clone(), text, category: None, time: None })
        };
        let wanted: Vec<Wanted> = items.iter().filter_map(keyed).collect();
        let mut keys = self.own_names(&wanted).into_iter();
        for (Dated { time, item }, _) in items {
            let key = item.key.as_ref().and_then(|_| keys.next());
            let key = key.filter(|key| key.chars().count() <= KEY_CHARS_MAX);
            let item = Dated { time: *time, item: NewNote { key, ..item.clone() } };
            if !self.forgotten.is_empty() {
                let key = item.item.key.clone().unwrap_or_else(|| "a note".to_owned());
                let body = Body::Note(item.item.note(&self.origin.session));
                if self.stays_forgotten(&key, &body, *time) {
                    continue;
                }
            }
            let at = (self.name, on_meeting);
            match put(&mut self.draft, at, &self.earlier, &item, &self.origin) {
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

    /// Stores blueprints that may be replaced. One that was changed here stays, with a remark. One
    /// that is newer here stays without a remark.
    pub(super) fn put_blueprints<'b>(
        &mut self,
        blueprints: impl IntoIterator<Item = Marked<'b, Blueprint>>,
    ) {
        let blueprints: Vec<Marked<'b, Blueprint>> = blueprints.into_iter().collect();
        let titled = |(Dated { time, item }, marks): &Marked<'b, Blueprint>| Wanted {
            name: item.title.clone(),
            marks: marks.clone(),
            text: item.content.clone(),
            category: Some(item.category),
            time: time.filter(|time| marks.contains(&time.second())),
        };
        let wanted: Vec<Wanted> = blueprints.iter().map(titled).collect();
        let titles = self.own_names(&wanted);
        for ((Dated { time, item }, _), own) in blueprints.into_iter().zip(titles) {
            let origin = self.origin_at(*time);
            let title = clip(&own, PURGE_TITLE_CHARS_MAX);
            let named = Blueprint { title: own, ..item.clone() };
            let part = Staged { blueprints: vec![named], ..Staged::default() };
            let Some(part) = self.fitting(&title, part, &origin) else { continue };
            let Some(blueprint) = part.blueprints.first().cloned() else { continue };
            let body = Body::Blueprint(blueprint);
            let here = self.draft.head().existing_match(&body).cloned();
            if here.is_none() && self.stays_forgotten(&title, &body, *time) {
                continue;
            }
            match here {
                Some(here) if here.body == body => self.stayed += 1,
                Some(here) if time.is_some() && here.updated.time > origin.time => self.stayed += 1,
                Some(here) if *here.updated.client != *self.name => {
                    self.remarks.push(format!("{title} was changed here and stays as it is"));
                }
                _ => self.draft.fold(&part, &origin),
            }
        }
    }

    /// Stores lessons. One that was written here at the same time or later has what the original
    /// says, or was changed. Two of this import that are the same lesson are united.
    pub(super) fn put_lessons(&mut self, lessons: &[Dated<Lesson>]) {
        for Dated { time, item } in lessons {
            let origin = self.origin_at(*time);
            let title = clip(&item.summary, PURGE_TITLE_CHARS_MAX);
            let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
            let Some(part) = self.fitting(&title, part, &origin) else { continue };
            let Some(body) = part.lessons.first().cloned().map(Body::Lesson) else { continue };
            let here = self.memory.existing_match(&body);
            if here.is_none() && self.stays_forgotten(&title, &body, *time) {
                continue;
            }
            match here {
                Some(here) if here.updated.time >= origin.time => self.stayed += 1,
                Some(here) if time.is_none() && is_corrected(here, self.name) => self.stayed += 1,
                _ => self.draft.fold(&part, &origin),
            }
        }
    }

    /// Adds an entry to the row of each session, unless the row has an entry that is as new.
    pub(super) fn put_sessions(&mut self, rows: &[SourceRow]) {
        // A session counts once, however many entries it has.
        let mut here: BTreeSet<&SessionId> = rows.iter().map(|row| &row.session).collect();
        for row in rows {
            let origin = Provenance { session: row.session.clone(), ..self.origin_at(row.ended) };
            let part = Staged { summary: Some(row.summary.clone()), ..Staged::default() };
            let part = self.fitting(&row.session.0, part, &origin);
            let Some(summary) = part.and_then(|part| part.summary) else {
                here.remove(&row.session);
                continue;
            };
            let stored = stored_row(&self.draft, &row.session);
            let is_known = match &stored {
                Some((_, here)) => here.ended >= origin.time,
                None => self.forgotten.has_row(&row.session, row.ended),
            };
            if is_known {
                continue;
            }
            let more = Size { records: u64::from(stored.is_none()), bytes: summary.len() as u64 };
            if let Err(refusal) = has_room(&self.draft.head().totals().kept, Kind::SessionRow, more)
            {
                self.leave_out(&row.session.0, &refusal);
                here.remove(&row.session);
                continue;
            }
            if stored.is_none() {
                self.sessions += 1;
                here.remove(&row.session);
            }
            let row = Row {
                session: row.session.clone(),
                started: row.started.unwrap_or(origin.time),
                ended: origin.time,
                summary,
                on_behalf: false,
                captured: None,
                earlier: Vec::new(),
                rewrites: false,
                added: row.added,
            };
            put_row(&mut self.draft, row, &origin);
        }
        self.stayed += count(here.len());
    }

    /// Returns a name for each item. Two items that say different things never share one.
    ///
    /// An item keeps the name under which its text is here, whatever else came or went. So a source
    /// that has grown moves no text to another record.
    fn own_names(&mut self, wanted: &[Wanted]) -> Vec<String> {
        let mut named: Vec<(&Wanted, Option<String>)> = Vec::with_capacity(wanted.len());
        for item in wanted {
            let name = self.name_here(item);
            named.push((item, name));
        }
        // An item without a mark has nothing but its name, so it comes before the others.
        for has_marks in [false, true] {
            for (item, name) in &mut named {
                if name.is_none() && has_marks != item.marks.is_empty() {
                    *name = Some(self.free_name(item));
                }
            }
        }
        named.into_iter().filter_map(|(_, name)| name).collect()
    }

    /// Takes the name under which an item's text is here, unless another item has it.
    fn name_here(&mut self, item: &Wanted) -> Option<String> {
        for (at, name) in item.names().enumerate() {
            let key = item.key_of(&name);
            let is_known = self.is_known(&key);
            if !is_known && at > item.marks.len() {
                return None;
            }
            let says = |record: &Arc<Record>| match &record.body {
                Body::Blueprint(blueprint) => blueprint.content == item.text,
                Body::Note(note) => note.content == item.text,
                _ => false,
            };
            let is_it = is_known
                && !self.texts.contains_key(&key)
                && (self.draft.head().keyed(&key).any(says)
                    || self.forgotten.has_text(&key, &item.text));
            if is_it {
                self.texts.insert(key, item.text.clone());
                return Some(name);
            }
        }
        None
    }

    /// Takes the first name that no other item has. A marked name that is here comes first, since
    /// the item had it before.
    fn free_name(&mut self, item: &Wanted) -> String {
        let marked = item.names().skip(1).take(item.marks.len());
        let known = marked.filter(|name| self.is_known(&item.key_of(name)));
        let is_free = |name: &String| {
            let key = item.key_of(name);
            let is_own = self.texts.get(&key).is_none_or(|text| *text == item.text);
            is_own && !self.is_of_another(item, &key)
        };
        let own = known.chain(item.names()).find(is_free).unwrap_or_else(|| item.name.clone());
        self.texts.insert(item.key_of(&own), item.text.clone());
        own
    }

    /// Returns whether the record with this key came of another item of the source, such as one of
    /// an earlier part.
    fn is_of_another(&self, item: &Wanted, key: &MergeKey) -> bool {
        let Some(time) = item.time.map(|time| self.origin_at(Some(time)).time) else {
            return false;
        };
        let is_other = |record: &Arc<Record>| {
            *record.created.client == *self.name && record.created.time != time
        };
        self.draft.head().keyed(key).any(is_other)
    }

    /// Returns whether a record with this key is here, or was forgotten here.
    fn is_known(&self, key: &MergeKey) -> bool {
        self.draft.head().keyed(key).next().is_some() || self.forgotten.has_key(key)
    }

    /// Returns whether an item was forgotten here and stays so. Counts it, or names it if its text
    /// is another one and no time tells which is newer.
    fn stays_forgotten(&mut self, what: &str, item: &Body, time: Option<Timestamp>) -> bool {
        let stays = match time {
            Some(_) => self.forgotten.has(item, time),
            None => self.forgotten.keeps_out(self.draft.head(), item, time),
        };
        if stays && time.is_none() && self.forgotten.differs(item) {
            self.remarks.push(format!("{what} was forgotten here and stays so"));
        } else {
            self.stayed += u32::from(stays);
        }
        stays
    }

    /// Returns the origin of an item with this time, which is not after the import's own.
    fn origin_at(&self, time: Option<Timestamp>) -> Provenance {
        let time = time.map_or(self.origin.time, |time| time.min(self.origin.time));
        Provenance { client: self.name.into(), time, ..self.origin.clone() }
    }

    /// Returns a part in its stored form, if it may be stored. Else names it.
    fn fitting(&mut self, title: &str, part: Staged, origin: &Provenance) -> Option<Staged> {
        let head = self.draft.head();
        let fitting = head
            .tombstones()
            .refuse(&part)
            .and_then(|()| accept(part, &WriteLimits::WIDE))
            .and_then(|part| check_items(head, &part, &part, origin).map(|()| part));
        match fitting {
            Ok(part) => Some(part),
            Err(refusal) => {
                self.leave_out(title, &refusal);
                None
            }
        }
    }

    fn leave_out(&mut self, what: &str, refusal: &Refusal) {
        self.is_whole &= !matches!(refusal, Refusal::Full { .. });
        self.remarks.push(word_refusal(what, refusal));
    }
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
    (name, on_meeting): (&'static str, Meeting),
    earlier: &EarlierTexts,
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
            if is_here || earlier.has(&item.content, made) {
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
