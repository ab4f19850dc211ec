//! A project's memory as a value. Cloning it is cheap, so a reader's snapshot costs nothing.

mod restore;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use crate::change::{Change, CopyMark, Notice, Purged, Team};
use crate::held::{Held, HeldKey};
use crate::ids::{Kind, NoticeId, RecordId, Revision, Seq, SessionId};
use crate::index::{Index, Totals};
use crate::kinds::note::Scope;
use crate::kinds::topic::{Topic, topic_key};
use crate::kinds::{MergeKey, Searched, topic};
use crate::limits::NOTICES_MAX;
use crate::purge::Tombstones;
use crate::reader::Reader;
use crate::record::{Body, Record, RecordState};
use crate::search::{Document, LazyIndex, SearchIndex};
use crate::settings::Settings;
use crate::staged::Staged;

pub use restore::{Counters, Restore};

/// Everything that a project remembers, at one journal entry. Maps share structure between clones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    seq: Seq,
    revision: Revision,
    last_number: u64,
    last_notice: NoticeId,
    session_rows: u64,
    last_private: u64,
    team: Option<Arc<str>>,
    member: OwnMember,
    copied: Option<CopyMark>,
    held: OrdMap<HeldKey, Arc<Held>>,
    records: OrdMap<RecordId, Arc<Record>>,
    staged: OrdMap<SessionId, Arc<Staged>>,
    notices: OrdMap<NoticeId, Arc<Notice>>,
    imports: OrdMap<(String, String), u32>,
    settings: OrdMap<Option<String>, Arc<Settings>>,
    bindings: OrdMap<String, Bound>,
    purged: OrdMap<RecordId, Arc<Purged>>,
    tombstones: Arc<Tombstones>,
    index: Index,
    /// The search index over everything that is not forgotten. It follows entries, not drafts.
    search: LazyIndex,
}

/// This machine's member of the team. No entry has it, so two memories of the same entries are
/// equal whatever it is.
#[derive(Clone, Debug, Default)]
struct OwnMember(Option<Arc<str>>);

impl PartialEq for OwnMember {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The topic that a conversation is bound to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// The topic's name. Nothing need be saved under it yet.
    pub topic: String,
    /// The entry that bound it.
    pub seq: Seq,
}

impl Memory {
    /// Returns the last entry applied.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Returns the number of commits applied.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the revision after a write of this record. A session's own record makes no commit.
    pub(crate) fn revision_with(&self, record: &Record) -> Revision {
        Revision(self.revision.0 + u64::from(!record.is_private()))
    }

    /// Returns the number of the last record created, without those that stay on this machine.
    pub fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Returns the count of the last record that stays on this machine. Only in a team are such
    /// records counted apart.
    pub(crate) fn last_private(&self) -> u64 {
        self.last_private
    }

    /// Returns the id of the team's project, if a team shares this memory.
    pub fn team(&self) -> Option<&str> {
        self.team.as_deref()
    }

    /// Returns this machine's member of the team, if that is known.
    pub fn member(&self) -> Option<&Arc<str>> {
        self.member.0.as_ref()
    }

    /// Names this machine's member of the team. Writes from here on have it in their provenance.
    pub fn set_member(&mut self, name: Option<&str>) {
        self.member = OwnMember(name.map(Arc::from));
    }

    /// Returns the place in the team's journal that this copy reaches, if it is known.
    pub fn copied(&self) -> Option<&CopyMark> {
        self.copied.as_ref()
    }

    /// Returns the change by which a team's project, or none, takes this memory over.
    pub fn team_change(&self, project: Option<&str>) -> Team {
        Team {
            project: project.map(str::to_owned),
            last_number: self.last_number,
            session_rows: self.session_rows,
        }
    }

    /// Returns what waits for the team's database, by key.
    pub fn held(&self) -> impl Iterator<Item = &Arc<Held>> {
        self.held.values()
    }

    /// Returns the saves of a session that wait for the team's database, by key.
    pub fn held_of<'a>(&'a self, session: &SessionId) -> impl Iterator<Item = &'a Arc<Held>> {
        self.held.values().filter(move |held| held.session == *session)
    }

    /// Returns what waits under a key.
    pub fn held_as(&self, key: &HeldKey) -> Option<&Arc<Held>> {
        self.held.get(key)
    }

    /// Returns every record, including archived and forgotten ones, by kind and number. Most
    /// forgotten ones are heads (see [`Record::head`]).
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.records.values()
    }

    /// Returns a record at its newest version, in any state. Most forgotten records are heads.
    pub fn record(&self, id: RecordId) -> Option<&Arc<Record>> {
        self.records.get(&id)
    }

    /// Returns a copy in which some records are shown with the state of their code or files now. It
    /// is for reading alone.
    #[must_use]
    pub fn showing(&self, bodies: impl IntoIterator<Item = (RecordId, Body)>) -> Self {
        let mut shown = self.clone();
        for (id, body) in bodies {
            if let Some(record) = self.records.get(&id) {
                let record = Record { body, ..Record::clone(record) };
                shown.records.insert(id, Arc::new(record));
            }
        }
        shown
    }

    /// Returns the numbers that remain of a purged record.
    pub fn purged(&self, id: RecordId) -> Option<&Arc<Purged>> {
        self.purged.get(&id)
    }

    /// Returns all purged records, for a snapshot.
    pub fn all_purged(&self) -> impl Iterator<Item = &Arc<Purged>> {
        self.purged.values()
    }

    /// Returns the digests of texts that must not be stored again.
    pub fn tombstones(&self) -> &Arc<Tombstones> {
        &self.tombstones
    }

    /// Returns the records that are loaded and counted for everyone, by kind and number.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.index.active().filter_map(|id| self.records.get(&id))
    }

    /// Returns the active records of one kind, oldest first.
    pub fn active_of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.index.active_of(kind).filter_map(|id| self.records.get(&id))
    }

    /// Returns one session's own notes, active or archived, oldest first.
    pub fn private_of(&self, session: &SessionId) -> impl Iterator<Item = &Arc<Record>> {
        self.index.private_of(session).filter_map(|id| self.records.get(&id))
    }

    /// Returns a reader's own notes, active or archived.
    pub fn own_notes<'a>(&'a self, reader: &'a Reader) -> impl Iterator<Item = &'a Arc<Record>> {
        reader.own_sessions().flat_map(|session| self.private_of(session))
    }

    /// Returns the number of a reader's own active notes, and the budget tokens that they take.
    pub fn own_usage(&self, reader: &Reader) -> (u64, u64) {
        let usage = reader.own_sessions().map(|session| self.index.private_usage(session));
        usage.fold((0, 0), |all, more| (all.0 + more.0, all.1 + more.1))
    }

    /// Returns the sessions that have notes of their own, each with the clients that wrote them.
    pub fn private_sessions(&self) -> impl Iterator<Item = (&SessionId, &str)> {
        self.index.private_sessions()
    }

    /// Returns the reader for a session that continues all earlier sessions of a client.
    /// Sessions in `live` may still continue themselves, so they are left out.
    pub fn successor(
        &self,
        session: SessionId,
        is_client: impl Fn(&str) -> bool,
        live: &BTreeSet<SessionId>,
    ) -> Reader {
        let is_earlier = |id: &SessionId| *id != session && !live.contains(id);
        let earlier: Vec<SessionId> = self
            .private_sessions()
            .filter(|(earlier, by)| is_client(by) && is_earlier(earlier))
            .map(|(earlier, _)| earlier.clone())
            .collect();
        Reader::session(session).inheriting(earlier)
    }

    /// Returns the reader for a session that shares the notes of all sessions, whichever client
    /// they have and whether or not they are live.
    pub fn sharing(&self, session: SessionId) -> Reader {
        let others = self.private_sessions().filter(|(other, _)| **other != session);
        let others: BTreeSet<SessionId> = others.map(|(other, _)| other.clone()).collect();
        Reader::session(session).inheriting(others)
    }

    /// Returns the search index. The first call builds it: about 10 ms for each thousand records.
    pub fn search(&self) -> &SearchIndex {
        self.search.get(self.records.values().filter_map(|record| document(record)))
    }

    /// Whether the search index is built, or there is nothing to build it from.
    pub fn is_searchable(&self) -> bool {
        self.search.is_built() || self.records.is_empty()
    }

    /// Drops the search index, which is then built when it is next needed. Before many changes this
    /// costs less than following each.
    pub fn drop_search_index(&mut self) {
        self.search = LazyIndex::default();
    }

    /// Returns the facts of a scope by key, active or archived.
    pub fn facts(&self, scope: &Scope) -> impl Iterator<Item = (&str, RecordId)> {
        self.index.facts(scope)
    }

    /// Returns the settings of the project, or of a client's own notes.
    pub fn settings(&self, client: Option<&str>) -> Option<&Arc<Settings>> {
        self.settings.get(&client.map(str::to_owned))
    }

    /// Returns all settings, for a snapshot.
    pub fn all_settings(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Settings>)> {
        self.settings.iter().map(|(client, settings)| (client.as_deref(), settings))
    }

    /// Returns the topic with this name, active or archived.
    pub fn topic(&self, name: &str) -> Option<&Arc<Record>> {
        self.keyed(&topic::merge_key(name)).next()
    }

    /// Returns a topic as it will be when this session saves. Returns `None` if the topic does not
    /// exist and no part of it is staged.
    pub fn topic_as_staged(&self, name: &str, session: &SessionId) -> Option<Topic> {
        let key = topic_key(name);
        let stored = self.topic(name).and_then(|record| record.topic()).cloned();
        let staged = self.staged_by(session).into_iter().flat_map(|staged| &staged.topics);
        staged.filter(|part| topic_key(part.topic()) == key).fold(stored, |topic, part| {
            let mut topic = topic
                .unwrap_or_else(|| Topic { name: part.topic().to_owned(), ..Topic::default() });
            topic.take_in(part);
            Some(topic)
        })
    }

    /// Returns all topics that are not forgotten, oldest first.
    pub fn topics(&self) -> impl DoubleEndedIterator<Item = (&Arc<Record>, &Topic)> {
        self.records_of(Kind::Topic).filter_map(|record| match &record.body {
            Body::Topic(topic) if record.state != RecordState::Forgotten => Some((record, topic)),
            _ => None,
        })
    }

    /// Returns the name of the topic that the conversation with this key is bound to.
    pub fn bound(&self, key: &str) -> Option<&str> {
        self.bindings.get(key).map(|bound| bound.topic.as_str())
    }

    /// Returns all bindings, by key.
    pub fn bindings(&self) -> impl Iterator<Item = (&str, &Bound)> {
        self.bindings.iter().map(|(key, bound)| (key.as_str(), bound))
    }

    /// Returns one conversation's binding, for a snapshot.
    pub fn binding(&self, key: &str) -> Option<&Bound> {
        self.bindings.get(key)
    }

    /// Returns the records of one kind in any state, oldest first.
    pub(crate) fn records_of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        let (first, last) = (RecordId::new(kind, 0), RecordId::new(kind, u64::MAX));
        self.records.range(first..=last).map(|(_, record)| record)
    }

    /// Returns the active records of the kinds that name code or files, by kind and number.
    pub fn active_with_code(&self) -> impl Iterator<Item = &Arc<Record>> {
        let kinds = [Kind::Anchor, Kind::Blueprint, Kind::Lesson].into_iter();
        kinds
            .flat_map(|kind| self.records_of(kind))
            .filter(|record| record.state == RecordState::Active)
    }

    /// Returns the shared records whose content changed after this revision, in that order. A
    /// version that only archives a record or restores it does not count.
    pub fn written_since(&self, since: Revision) -> impl Iterator<Item = &Arc<Record>> {
        self.index.written_since(since).filter_map(|id| self.records.get(&id))
    }

    /// Returns the shared records, the last written first. With `before`, begins after the record
    /// whose content has that id and came with that revision.
    pub fn newest(
        &self,
        before: Option<(Revision, RecordId)>,
    ) -> impl Iterator<Item = &Arc<Record>> {
        self.index.written_before(before).filter_map(|id| self.records.get(&id))
    }

    /// Returns the shared record that was written last, in any state.
    pub fn last_written(&self) -> Option<&Arc<Record>> {
        self.index.last_written().and_then(|id| self.records.get(&id))
    }

    /// Returns counts and the rendered size, kept up to date with each change.
    pub fn totals(&self) -> Totals {
        self.index.totals()
    }

    /// Returns the records that a write with this key merges with: not forgotten, lowest id first.
    pub(crate) fn keyed(&self, key: &MergeKey) -> impl Iterator<Item = &Arc<Record>> {
        self.index.keyed(key).filter_map(|id| self.records.get(&id))
    }

    /// Returns the stored record that a body merges with, if its key and its title decide that.
    pub(crate) fn existing_match(&self, body: &Body) -> Option<&Arc<Record>> {
        let key = body.key()?;
        let is_private = body.stays_here();
        let mut same_key = self
            .keyed(&key)
            .filter(|record| self.team.is_none() || record.is_private() == is_private);
        match body {
            Body::Blueprint(blueprint) => blueprint.existing_match(same_key),
            _ => same_key.next(),
        }
    }

    /// Returns staged work, by session.
    pub fn staged(&self) -> impl Iterator<Item = (&SessionId, &Arc<Staged>)> {
        self.staged.iter()
    }

    /// Returns one session's staged work.
    pub fn staged_by(&self, session: &SessionId) -> Option<&Arc<Staged>> {
        self.staged.get(session)
    }

    /// Returns the notice with this number, while it is among the newest.
    pub fn notice(&self, id: NoticeId) -> Option<&Arc<Notice>> {
        self.notices.get(&id)
    }

    /// Returns the newest notices, oldest first.
    pub fn notices(&self) -> impl DoubleEndedIterator<Item = &Arc<Notice>> {
        self.notices.values()
    }

    /// Returns the highest number given to a session row.
    pub fn session_rows(&self) -> u64 {
        self.session_rows
    }

    /// Returns the number of records that an import of this source and digest created, if there was
    /// one.
    pub fn imported(&self, source: &str, digest: &str) -> Option<u32> {
        self.imports.get(&(source.to_owned(), digest.to_owned())).copied()
    }

    /// Returns all imports, for a snapshot.
    pub fn imports(&self) -> impl Iterator<Item = (&(String, String), &u32)> {
        self.imports.iter()
    }

    /// Returns the id that the next notice gets.
    pub fn next_notice(&self) -> NoticeId {
        NoticeId(self.last_notice.0 + 1)
    }

    /// Applies one entry: its changes, in order. The entry is a commit if one of them is shared.
    pub fn apply(&mut self, seq: Seq, changes: &[Change]) {
        for change in changes {
            if let Change::Put(record) = change {
                self.index_text(record);
            }
            self.apply_one(seq, change);
        }
        self.count(seq, changes);
    }

    /// Counts an entry whose changes were applied.
    fn count(&mut self, seq: Seq, changes: &[Change]) {
        self.seq = seq;
        if changes.iter().any(Change::is_shared) {
            self.revision = Revision(self.revision.0 + 1);
        }
    }

    /// Replaces a record by its new version.
    pub(crate) fn put(&mut self, record: Arc<Record>) {
        self.count_id(record.id);
        if let Body::SessionRow(row) = &record.body {
            self.session_rows = self.session_rows.max(row.number);
        }
        match self.records.get(&record.id) {
            Some(before) => self.index.replace(before, &record),
            None => self.index.insert(&record),
        }
        self.records.insert(record.id, record);
    }

    /// Keeps a record's number from being used again.
    fn count_id(&mut self, id: RecordId) {
        let last = if id.is_private() { &mut self.last_private } else { &mut self.last_number };
        *last = (*last).max(id.count());
    }

    /// Keeps a notice among the newest. Which notices are dropped depends on nothing else, so every
    /// way of building the memory drops the same ones.
    fn keep_notice(&mut self, notice: Notice) {
        self.notices.insert(notice.id, Arc::new(notice));
        while self.notices.len() > NOTICES_MAX {
            self.notices = self.notices.without_min().1;
        }
    }

    /// Keeps the numbers of a purged version.
    fn put_purged(&mut self, purged: Purged) {
        self.count_id(purged.id);
        self.session_rows = self.session_rows.max(purged.row.unwrap_or(0));
        self.purged.insert(purged.id, Arc::new(purged));
    }

    /// Updates the search index for a record that is about to be put. Reading a text is the most
    /// expensive step, and many writes leave the text unchanged. Archived notes stay findable by
    /// the same words.
    fn index_text(&mut self, record: &Record) {
        if self.search.is_to_be_built() {
            return;
        }
        let before = self.records.get(&record.id);
        if before.is_some_and(|before| is_same_note_to_search(before, record)) {
            return;
        }
        let new = document(record);
        let old = before.and_then(|before| document(before));
        if new == old {
            return;
        }
        let documents = self.records.values().filter_map(|record| document(record));
        let Some(search) = self.search.get_mut(documents) else { return };
        match new {
            Some(new) => search.insert(&new),
            None => search.remove(record.id),
        }
    }

    /// Applies a change of an entry, but does not index its text.
    fn apply_one(&mut self, seq: Seq, change: &Change) {
        match change {
            Change::Put(record) => {
                self.put(record.head().map_or_else(|| Arc::clone(record), Arc::new));
            }
            Change::Stage { session, part } => {
                let mut staged =
                    self.staged.get(session).map(|s| Staged::clone(s)).unwrap_or_default();
                staged.absorb(part);
                self.staged.insert(session.clone(), Arc::new(staged));
            }
            Change::Unstage { session } => {
                self.staged.remove(session);
            }
            Change::Adopt { from, to } => {
                if let Some(left) = self.staged.remove(from) {
                    let mut staged = Staged::clone(&left);
                    if let Some(own) = self.staged.get(to) {
                        staged.absorb(own);
                    }
                    self.staged.insert(to.clone(), Arc::new(staged));
                }
            }
            Change::Team(Team { project, last_number, session_rows }) => {
                self.team = project.as_deref().map(Arc::from);
                if self.team.is_none() {
                    self.copied = None;
                }
                self.last_number = self.last_number.max(*last_number);
                self.session_rows = self.session_rows.max(*session_rows);
            }
            Change::Hold(held) => {
                self.held.insert(held.key.clone(), Arc::new(Held::clone(held)));
            }
            Change::Release(key) => {
                self.held.remove(key);
            }
            Change::Copied(copied) => self.copied = Some(copied.mark.clone()),
            Change::Configure { client, settings, .. } => {
                self.settings.insert(client.clone(), Arc::new(settings.clone()));
            }
            Change::Bind { key, topic: Some(topic) } => {
                let bound = Bound { topic: topic.clone(), seq };
                self.bindings.insert(key.clone(), bound);
            }
            Change::Bind { key, topic: None } => {
                self.bindings.remove(key);
            }
            Change::Purged(purged) => self.put_purged(Purged::clone(purged)),
            Change::Tombstones { salt, digests, time } => {
                Arc::make_mut(&mut self.tombstones).add(salt, digests, *time);
            }
            Change::Notify(notice) => {
                self.last_notice = self.last_notice.max(notice.id);
                self.keep_notice(Notice::clone(notice));
            }
            Change::Imported { source, digest, undone: true, .. } => {
                self.imports.remove(&(source.clone(), digest.clone()));
            }
            Change::Imported { source, digest, records, undone: false } => {
                self.imports.insert((source.clone(), digest.clone()), *records);
            }
        }
    }
}

/// The distance in time that the search index puts between a session's own notes and its shared
/// ones. At a thousand years, neither boosts the other: nobody finds a shared note by the words of
/// a private one.
const OWN_APART_MS: i64 = 1_000 * 365 * 24 * 60 * 60 * 1_000;

/// Returns whether two versions of a note surely have the same [`document`], without building it.
/// This is true for most writes of a compaction.
fn is_same_note_to_search(before: &Record, record: &Record) -> bool {
    let kept = |record: &Record| record.state != RecordState::Forgotten;
    let (Some(one), Some(other)) = (before.note(), record.note()) else { return false };
    kept(before)
        && kept(record)
        && (before.id, &before.created, &before.tags) == (record.id, &record.created, &record.tags)
        && (&one.key, &one.scope, &one.summary) == (&other.key, &other.scope, &other.summary)
        && one.content == other.content
}

/// Returns the searchable content of a record; `None` if it is forgotten.
pub(crate) fn document(record: &Record) -> Option<Document<'_>> {
    if record.state == RecordState::Forgotten {
        return None;
    }
    let Searched { texts, files } = record.body.fields().searched();
    Some(Document {
        id: record.id,
        session: &record.created.session.0,
        time: record.created.time.0 + if record.owner().is_some() { OWN_APART_MS } else { 0 },
        texts,
        tags: record.tags.iter().map(String::as_str).collect(),
        files,
    })
}

#[cfg(test)]
mod tests;
