//! A memory during a write: changes are made on a private head and become one commit.
//!
//! A record yields one new version, however often the write touches it. It yields none if it ends
//! as it began, so a repeated write changes nothing.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::change::Change;
use crate::ids::{Kind, RecordId, Revision, SessionId, ShareId, Timestamp, Version};
use crate::kinds::note::{NewNote, Note, Scope};
use crate::kinds::{FoldRule, Keyed, MergeKey, TopicPart};
use crate::limits::{REPLY_OVERTAKEN_BYTES_MAX, ROW_OVERTAKEN_BYTES_MAX};
use crate::lines::Places;
use crate::memory::Memory;
use crate::overtaken::{Overtaken, concepts_at, concepts_digest, places};
use crate::provenance::Provenance;
use crate::record::{Anchor, Body, Record, RecordState};
use crate::size::Size;
use crate::staged::{Counts, Staged};

#[derive(Clone)]
pub(crate) struct Draft<'a> {
    base: &'a Memory,
    head: Memory,
    touched: BTreeSet<RecordId>,
    merged: u32,
    replaced: u32,
    kept: Vec<KeptBlueprint>,
    overtaken: Vec<Overtaken>,
    /// Staged texts of blueprints that were left unchanged.
    kept_out: Vec<Overtaken>,
    /// The records of shared items of which nothing was taken.
    left_out: BTreeSet<RecordId>,
    /// The anchors' ranges in each file, looked up once for many anchors. Valid only because
    /// [`Draft::anchor`] is their sole writer.
    anchors: BTreeMap<String, Places<RecordId>>,
}

/// All the fields of a record that a write may change.
pub(crate) struct RecordFields {
    pub(crate) id: RecordId,
    pub(crate) body: Body,
    pub(crate) state: RecordState,
    pub(crate) tags: Vec<String>,
    pub(crate) pinned: bool,
}

/// The result of a draft.
pub(crate) struct DraftChanges {
    /// One `Put` for each record that has changed.
    pub(crate) changes: Vec<Change>,
    /// The memory after the changes, except its counters.
    pub(crate) head: Memory,
    /// The numbers of new records.
    pub(crate) added: Counts,
    /// The number of items that were merged into existing records.
    pub(crate) merged: u32,
    /// Facts and blueprints among them whose text another one replaced.
    pub(crate) replaced: u32,
    /// Immutable blueprints that were left unchanged.
    pub(crate) kept: Vec<KeptBlueprint>,
    /// Staged texts that changed nothing, since others wrote later. Long ones are cut.
    pub(crate) overtaken: Vec<Overtaken>,
}

/// A blueprint that was written again and stayed as it was, since it is immutable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBlueprint {
    /// The record, once there is one; a staged one has no id yet.
    pub id: Option<RecordId>,
    /// Its title as it was written this time.
    pub title: String,
}

/// The session that staged work, and the time at which it began to.
struct Stager<'a> {
    session: &'a SessionId,
    first: Timestamp,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(base: &'a Memory) -> Self {
        let head = base.clone();
        Self {
            base,
            head,
            touched: BTreeSet::new(),
            merged: 0,
            replaced: 0,
            kept: Vec::new(),
            overtaken: Vec::new(),
            kept_out: Vec::new(),
            left_out: BTreeSet::new(),
            anchors: BTreeMap::new(),
        }
    }

    pub(crate) fn head(&self) -> &Memory {
        &self.head
    }

    pub(crate) fn fold(&mut self, staged: &Staged, origin: &Provenance) {
        // The time of each note is unknown; it is no earlier than the first checkpoint. An end that
        // was still in the future then stays: a note that lives forever is worse than one marked as
        // ended too soon.
        let sent = staged.first.min(origin.time);
        let by = Stager { session: &origin.session, first: staged.first };
        // The topics are judged as they are stored, before the rest of each part changes them.
        let parts = staged.topics.iter();
        let texts: Vec<Overtaken> = parts.flat_map(|part| self.texts_overtaken(part)).collect();
        for (_, item) in staged.items() {
            if self.base.tombstones().has_item(item) {
                continue; // Its text was purged since it was staged, perhaps on another machine.
            }
            match item.rule() {
                FoldRule::Keyed(item) => match self.written_since(&item.body(), item.staged(), &by)
                {
                    Some(overtaken) => self.leave(overtaken, true),
                    None => {
                        if let Some(id) = self.keyed(item, origin) {
                            self.left_out.insert(id);
                            self.kept_out.extend(Overtaken::of_blueprint(id, &item.body()));
                        }
                    }
                },
                FoldRule::Anchor(anchor) => match self.described_since(anchor) {
                    Some(overtaken) => self.leave(overtaken, true),
                    None => self.anchor(anchor, origin),
                },
                FoldRule::Note(note) => {
                    let body = Body::Note(note.note(&origin.session));
                    match self.written_since(&body, note.staged, &by) {
                        Some(overtaken) => self.leave(overtaken, !note.private),
                        None => {
                            self.note_sent_at(note, origin, sent);
                        }
                    }
                }
            }
        }
        self.overtaken.extend(texts);
    }

    /// Leaves a record as it is, in spite of a staged item.
    fn leave(&mut self, overtaken: Overtaken, is_shared: bool) {
        if is_shared {
            self.left_out.insert(overtaken.id);
        }
        self.overtaken.push(overtaken);
    }

    /// Returns the texts of a part that its topic keeps out. The rest of the part is folded.
    fn texts_overtaken(&mut self, part: &TopicPart) -> Vec<Overtaken> {
        let stored = self.head.topic(part.topic());
        let stored = stored.filter(|_| !self.base.tombstones().has_item(part));
        let Some((record, topic)) = stored.and_then(|it| Some((it, it.topic()?))) else {
            return Vec::new();
        };
        let (id, texts) = (record.id, part.overtaken(topic, record.content_version().revision));
        if !texts.is_empty() && !part.says_more_than(texts.len()) {
            self.left_out.insert(id);
        }
        texts
            .into_iter()
            .map(|(name, text)| Overtaken { id, name, text: text.to_owned() })
            .collect()
    }

    /// Returns the fact or the mutable blueprint that was written anew after an item was staged. It
    /// stays, since who staged the item did not know of it. A session knows what it wrote before it
    /// staged anything, though a save that waited for a team is committed later.
    fn written_since(
        &self,
        item: &Body,
        staged: Option<Revision>,
        by: &Stager<'_>,
    ) -> Option<Overtaken> {
        let staged = staged?;
        let stored = self.base.existing_match(item)?;
        let (name, text, says_same) = match (item, &stored.body) {
            (Body::Note(item), Body::Note(stored)) if item.key.is_some() => {
                let name = item.key.as_deref().unwrap_or_default();
                (name, &item.content, item.content == stored.content)
            }
            (Body::Blueprint(item), Body::Blueprint(stored)) if !stored.immutable => {
                (item.title.as_str(), &item.content, item.content == stored.content)
            }
            _ => return None,
        };
        let is_later = stored.content_version().revision > staged;
        let Provenance { session, time, .. } = &stored.updated;
        let is_known = session == by.session && *time < by.first;
        (is_later && !is_known && !says_same).then(|| Overtaken {
            id: stored.id,
            name: name.to_owned(),
            text: text.clone(),
        })
    }

    /// Returns the anchor at the place of a staged one whose concept others have written since.
    fn described_since(&self, item: &Anchor) -> Option<Overtaken> {
        let before = item.before?;
        let there = concepts_at(self.base, item);
        let (id, _) = there.first()?;
        let says_same = there.iter().any(|(_, concept)| *concept == item.concept);
        (concepts_digest(&there) != before && !says_same).then(|| Overtaken {
            id: *id,
            name: String::new(),
            text: format!("{}:{} {}", item.file, item.lines, item.concept),
        })
    }

    /// Stores an item that merges with the record that has its key. Returns the record if it stays
    /// as it is, since it is immutable.
    pub(crate) fn keyed(&mut self, item: &dyn Keyed, origin: &Provenance) -> Option<RecordId> {
        let body = item.body();
        let Some(stored) = self.head.existing_match(&body).cloned() else {
            self.create(body, origin);
            return None;
        };
        let id = stored.id;
        let merged = item.merged(stored.body.clone(), stored.content_version().revision);
        let Some(body) = merged else {
            self.keep(id, origin);
            return Some(id);
        };
        if let (Body::Blueprint(new), Body::Blueprint(old)) = (&body, &stored.body) {
            self.replaced += u32::from(new.content != old.content);
        }
        self.merge(id, body, origin);
        None
    }

    /// Leaves a blueprint unchanged and reports that to the caller.
    pub(crate) fn keep(&mut self, id: RecordId, origin: &Provenance) {
        self.set_state(id, RecordState::Active, origin);
        if let Some(Body::Blueprint(kept)) = self.head.record(id).map(|record| &record.body) {
            self.kept.push(KeptBlueprint { id: Some(id), title: kept.title.clone() });
        }
    }

    /// Leaves the text of a record that has everything of an item, and counts the item as merged.
    pub(crate) fn meet(&mut self, id: RecordId, origin: &Provenance) {
        self.set_state(id, RecordState::Active, origin);
        self.merged += 1;
    }

    /// Stores an anchor in place of those at the same place. The lowest id survives, pinned if any
    /// of them was.
    pub(crate) fn anchor(&mut self, new: &Anchor, origin: &Provenance) {
        let known = self.anchors.remove(&new.file);
        let mut places = known.unwrap_or_else(|| places(&self.head, &new.file));
        let (lines, mut met) = new.take_same(&mut places);
        met.sort_unstable();
        let mut union = Anchor { unites_adjacent: false, before: None, ..new.over(lines.clone()) };
        // A range that holds the new one keeps what is known of its code.
        let stored = met.iter().filter_map(|id| self.head.record(*id));
        let same = stored.filter_map(|it| it.anchor()).find(|it| it.lines == lines);
        union.print = union.print.or_else(|| same.and_then(|it| it.print.clone()));
        let union = Body::Anchor(union);
        let survivor = match met.split_first() {
            None => self.create(union, origin),
            Some((survivor, swallowed)) => {
                let is_pinned = |id| self.head.record(id).is_some_and(|record| record.pinned);
                let pinned = met.iter().copied().any(is_pinned);
                for id in swallowed {
                    self.set_state(*id, RecordState::Forgotten, origin);
                }
                let id = *survivor;
                let tags = self.head.record(id).map(|record| record.tags.clone());
                let tags = tags.unwrap_or_default();
                self.merged += 1;
                let state = RecordState::Active;
                self.write(RecordFields { id, body: union, state, tags, pinned }, origin);
                id
            }
        };
        places.put(&lines, survivor);
        self.anchors.insert(new.file.clone(), places);
    }

    /// Stores a note. A fact replaces the one with its key; without a key, the same content is one
    /// note.
    pub(crate) fn note(&mut self, new: &NewNote, origin: &Provenance) -> RecordId {
        self.note_sent_at(new, origin, origin.time)
    }

    /// Stores a note like [`Draft::note`], with the time at which it was sent, which may be before
    /// its write.
    fn note_sent_at(&mut self, new: &NewNote, origin: &Provenance, sent: Timestamp) -> RecordId {
        let existing = self.existing_note(new, origin).map(|record| (record.id, record.clone()));
        let Some((id, stored)) = existing else {
            let id = self.create(Body::Note(new.note(&origin.session)), origin);
            self.mark(id, new.tags(), new.pinned, origin);
            return id;
        };
        let Body::Note(mut note) = stored.body else { return id };
        let (mut tags, mut pinned) = (stored.tags, stored.pinned);
        let is_new_text = note.key.is_some() && note.content != new.content;
        note.rewrite(new, &mut tags, &mut pinned, sent);
        self.merged += 1;
        self.replaced += u32::from(is_new_text);
        let body = Body::Note(note);
        self.write(RecordFields { id, body, state: RecordState::Active, tags, pinned }, origin);
        id
    }

    /// Stores a note from another memory like [`Draft::note`], with its total number of repeats.
    /// Takes the larger of the two counts, since either memory may have received the note from the
    /// other.
    pub(crate) fn note_from_elsewhere(&mut self, new: &NewNote, origin: &Provenance) {
        let here = self
            .existing_note(new, origin)
            .and_then(|existing| existing.note())
            .map(|note| note.repeats);
        let id = self.note(new, origin);
        let merged = self.head.record(id).and_then(|record| record.note());
        if let (Some(here), Some(merged)) = (here, merged) {
            let note = Note { repeats: here.max(new.repeats), ..merged.clone() };
            self.put_note(id, note, RecordState::Active);
        }
    }

    /// Moves a note to another session. If that session already has the same fact or text, the
    /// version written last stays, and the other is forgotten. A pin on either stays.
    pub(crate) fn take_over(&mut self, record: &Record, note: Note, origin: &Provenance) {
        let existing = self.matching_note(&note.scope, note.key.as_deref(), &note.content);
        let existing = existing.filter(|existing| existing.id != record.id).cloned();
        let Some(existing) = existing else {
            self.put_note(record.id, note, record.state);
            return;
        };
        let last = if record.updated.time > existing.updated.time { record } else { &existing };
        let fields = RecordFields {
            id: existing.id,
            body: if last.id == existing.id { existing.body.clone() } else { Body::Note(note) },
            state: last.state,
            tags: last.tags.clone(),
            pinned: existing.pinned || record.pinned,
        };
        self.put(fields, last.updated.clone());
        self.set_state(record.id, RecordState::Forgotten, origin);
    }

    /// Returns the size that a note adds to the stored notes. A note that merges adds no record.
    pub(crate) fn more(&self, new: &NewNote, origin: &Provenance) -> Size {
        let bytes = new.record_bytes() as u64;
        match self.existing_note(new, origin) {
            None => Size { records: 1, bytes },
            Some(existing) => {
                Size { records: 0, bytes: bytes.saturating_sub(existing.text_bytes() as u64) }
            }
        }
    }

    /// Returns the note that a new one would merge into, if there is one.
    pub(crate) fn existing_note(&self, new: &NewNote, origin: &Provenance) -> Option<&Record> {
        self.matching_note(&new.scope(&origin.session), new.key.as_deref(), &new.content)
    }

    fn matching_note(&self, scope: &Scope, key: Option<&str>, content: &str) -> Option<&Record> {
        let same = |record: &&Arc<Record>| {
            key.is_some() || record.note().is_some_and(|kept| kept.content == content)
        };
        let key = MergeKey::note(scope, key, content);
        self.head.keyed(&key).find(same).map(|record| &**record)
    }

    pub(crate) fn create(&mut self, body: Body, origin: &Provenance) -> RecordId {
        let record = self.new_record(body, origin);
        self.insert(record)
    }

    /// Creates a record that another clone created at this time, under the id of its file.
    pub(crate) fn create_shared(
        &mut self,
        share_id: ShareId,
        body: Body,
        created: Timestamp,
        origin: &Provenance,
    ) -> RecordId {
        let mut record = self.new_record(body, origin);
        record.created.time = created;
        record.share_id = Some(share_id);
        self.insert(record)
    }

    fn insert(&mut self, record: Record) -> RecordId {
        let id = record.id;
        if let Body::Anchor(anchor) = &record.body {
            self.anchors.remove(&anchor.file);
        }
        self.head.put(Arc::new(record));
        self.touched.insert(id);
        id
    }

    /// Returns the record that a body becomes, without storing it.
    pub(crate) fn new_record(&self, body: Body, origin: &Provenance) -> Record {
        let id = match &body {
            Body::Note(note) if note.scope == Scope::User => {
                RecordId::personal(self.head.last_number() + 1)
            }
            body if self.head.team().is_some() && body.stays_here() => {
                RecordId::private(body.kind(), self.head.last_private() + 1)
            }
            body => RecordId::new(body.kind(), self.head.last_number() + 1),
        };
        let mut record = Record {
            id,
            version: Version::FIRST,
            revision: Revision(0),
            content_version: None,
            created: self.by(origin),
            updated: self.by(origin),
            state: RecordState::Active,
            tags: Vec::new(),
            pinned: false,
            share_id: None,
            is_head: false,
            private: self.head.team().is_some() && body.stays_here(),
            body,
        };
        record.revision = self.base.revision_with(&record);
        record
    }

    /// Writes a record's body and state, unless both are unchanged.
    pub(crate) fn change(
        &mut self,
        id: RecordId,
        body: Body,
        state: RecordState,
        origin: &Provenance,
    ) {
        let Some(stored) = self.head.record(id) else { return };
        let (tags, pinned) = (stored.tags.clone(), stored.pinned);
        self.write(RecordFields { id, body, state, tags, pinned }, origin);
    }

    /// Writes a record's tags and pin, unless both are unchanged.
    pub(crate) fn mark(
        &mut self,
        id: RecordId,
        tags: Vec<String>,
        pinned: bool,
        origin: &Provenance,
    ) {
        let Some(stored) = self.head.record(id) else { return };
        let (body, state) = (stored.body.clone(), stored.state);
        self.write(RecordFields { id, body, state, tags, pinned }, origin);
    }

    /// Writes a record, unless nothing in it changes.
    pub(crate) fn write(&mut self, fields: RecordFields, origin: &Provenance) {
        let Some(stored) = self.head.record(fields.id) else { return };
        // An imported record may be older than the one it merges into.
        let time = origin.time.max(stored.updated.time);
        self.put(fields, Provenance { time, ..self.by(origin) });
    }

    /// Returns the origin of a write, with the member of this machine. Outside of a team, what was
    /// imported keeps the one that it had.
    pub(crate) fn by(&self, origin: &Provenance) -> Provenance {
        let member = self.head.member().or(origin.member.as_ref()).cloned();
        Provenance { member, ..origin.clone() }
    }

    /// Writes a note or its state without making it look freshly written. A fresh date would keep
    /// the notes that compaction touched in view longer than those it left alone.
    pub(crate) fn put_note(&mut self, id: RecordId, note: Note, state: RecordState) {
        let Some(stored) = self.head.record(id) else { return };
        let (tags, pinned, updated) = (stored.tags.clone(), stored.pinned, stored.updated.clone());
        self.put(RecordFields { id, body: Body::Note(note), state, tags, pinned }, updated);
    }

    /// Writes a record with this provenance, unless nothing in it changes.
    pub(crate) fn put(&mut self, fields: RecordFields, updated: Provenance) {
        let RecordFields { id, body, state, tags, pinned } = fields;
        let Some(stored) = self.head.record(id) else { return };
        let is_same = stored.body == body
            && stored.state == state
            && stored.tags == tags
            && stored.pinned == pinned;
        if is_same {
            return;
        }
        if stored.is_head && stored.body == body {
            debug_assert!(false, "{id} is brought back without its text");
            return;
        }
        if let (Body::Anchor(before), Body::Anchor(after)) = (&stored.body, &body) {
            self.anchors.remove(&before.file);
            self.anchors.remove(&after.file);
        }
        let mut record = Record {
            id,
            version: self.base.record(id).map_or(Version::FIRST, |before| before.version.next()),
            revision: Revision(0),
            content_version: None,
            created: stored.created.clone(),
            updated,
            state,
            tags,
            pinned,
            share_id: stored.share_id.clone(),
            is_head: false,
            private: stored.private || self.head.team().is_some() && body.stays_here(),
            body,
        };
        record.revision = self.base.revision_with(&record);
        if let Some(before) = self.base.record(id) {
            record.follow(before);
        }
        self.head.put(Arc::new(record));
        self.touched.insert(id);
    }

    pub(crate) fn set_state(&mut self, id: RecordId, state: RecordState, origin: &Provenance) {
        if let Some(body) = self.head.record(id).map(|record| record.body.clone()) {
            self.change(id, body, state, origin);
        }
    }

    /// Counts the new records so far, except those recorded by rule, which nobody wrote.
    pub(crate) fn added(&self) -> Counts {
        self.counted_if(|record| !record.is_captured())
    }

    fn counted_if(&self, counts: impl Fn(&Record) -> bool) -> Counts {
        let mut added = Counts::default();
        let new = self.changed().filter(|record| record.version == Version::FIRST);
        for record in new.filter(|it| it.kind() != Kind::SessionRow && counts(it)) {
            *added.of_mut(record.kind()) += 1;
        }
        added
    }

    /// Words the staged texts so far that were not taken, and why. Each is whole, unless there is
    /// no room for all. A session's private notes are left out.
    pub(crate) fn not_taken(&self) -> Vec<String> {
        let is_shared = |it: &&Overtaken| {
            let record = self.head.record(it.id);
            record.is_none_or(|record| record.owner().is_none())
        };
        let texts = self.overtaken.iter().filter(is_shared);
        let mut texts: Vec<Overtaken> = texts.cloned().collect();
        let whys = std::iter::repeat_n("was written later", texts.len());
        let whys = whys.chain(std::iter::repeat("is immutable"));
        texts.extend(self.kept_out.iter().cloned());
        let line = |(it, why): (Overtaken, &str)| it.not_taken(why);
        let texts = Overtaken::within(texts, ROW_OVERTAKEN_BYTES_MAX);
        texts.into_iter().zip(whys).map(line).collect()
    }

    /// Counts the records of shared items so far of which nothing was taken.
    pub(crate) fn left_out(&self) -> Counts {
        let mut counts = Counts::default();
        for id in &self.left_out {
            *counts.of_mut(id.kind) += 1;
        }
        counts
    }

    pub(crate) fn finish(self) -> DraftChanges {
        let changes = self.changed().cloned().map(Change::Put).collect();
        DraftChanges {
            changes,
            added: self.counted_if(|_| true),
            head: self.head,
            merged: self.merged,
            replaced: self.replaced,
            kept: self.kept,
            overtaken: Overtaken::within(self.overtaken, REPLY_OVERTAKEN_BYTES_MAX),
        }
    }

    /// Returns the changed records. One that the same write created and merged away is not among
    /// them.
    fn changed(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.touched.iter().filter_map(|id| {
            let record = self.head.record(*id)?;
            let changed = match self.base.record(*id) {
                None => record.state != RecordState::Forgotten,
                Some(before) => {
                    (&before.body, before.state, &before.tags, before.pinned)
                        != (&record.body, record.state, &record.tags, record.pinned)
                }
            };
            changed.then_some(record)
        })
    }

    fn merge(&mut self, id: RecordId, body: Body, origin: &Provenance) {
        self.merged += 1;
        self.change(id, body, RecordState::Active, origin);
    }
}
