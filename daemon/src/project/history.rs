//! Reads the journal of a project for history and undo. Everything here blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use anchord_memory::{
    Change, CommitDetail, CommitHead, Kind, Memory, Reader, Record, RecordDiff, RecordId,
    RecordState, Revision, RevisionDiff, Seq, SessionId, StoredCommit, StoredVersion, Timestamp,
    UndoBasis, UndoTarget, Version, VersionContent, Versions, WantedVersions, diff, limits,
};

use super::{OpenProject, WriteError};
use crate::blocking::run_blocking;
use crate::limits::{HISTORY_COMMITS_READ_MAX, RECORD_VERSIONS_PAGE, RECORD_VERSIONS_READ_MAX};
use crate::store::{
    Entry, Head, LookUp, ReadBack, ReadEntries, Snapshots, Step, StoreError, Visitor,
};

/// A reader of a project's journal.
#[derive(Clone)]
pub(crate) struct HistoryReader {
    look_up: LookUp<Memory>,
    read_back: ReadBack<Memory>,
    memory: Arc<Memory>,
}

/// The reason why history cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    /// The caller asked for something that is not there.
    #[error("{0}")]
    Refused(String),
    /// The journal cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The project's writer does not answer.
    #[error(transparent)]
    Writer(#[from] WriteError),
}

/// The commits that a caller wants to see.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitQuery {
    /// The newest of interest.
    pub(crate) newest: Option<Revision>,
    /// The beginning of a session's id.
    pub(crate) session: Option<String>,
    /// Only commits that wrote one of these kinds; all if empty.
    pub(crate) kinds: Vec<Kind>,
    /// Only commits that wrote a record about this file.
    pub(crate) file: Option<String>,
    /// Only commits of this operation.
    pub(crate) operation: Option<&'static str>,
    /// Only commits from this time on.
    pub(crate) since: Option<Timestamp>,
    /// Only commits before this time.
    pub(crate) until: Option<Timestamp>,
    /// The number of commits.
    pub(crate) limit: usize,
}

/// An earlier moment of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Directly after this commit; 0 is before the first one.
    Revision(Revision),
    /// After the last commit that is not later than this time.
    Time(Timestamp),
}

/// A memory as it was after an earlier commit.
#[derive(Clone, Debug)]
pub(crate) struct PastMemory {
    pub(crate) memory: Arc<Memory>,
    /// The time of the commit, if there is one.
    pub(crate) committed: Option<Timestamp>,
    /// The time that was asked for, or else that of the commit. Ages are counted from here.
    pub(crate) now: Timestamp,
}

impl OpenProject {
    /// Returns a reader of the journal. It serves as long as the project is open.
    pub(crate) fn history(&self) -> Result<HistoryReader, WriteError> {
        let look_up = self.owner.look_up()?;
        let read_back = Arc::clone(&self.owner.read_back);
        Ok(HistoryReader { look_up, read_back, memory: self.memory() })
    }

    /// Returns the memory as it was: the newest snapshot before the moment, and the entries after
    /// it.
    pub(crate) async fn past(&self, moment: Moment) -> Result<PastMemory, HistoryError> {
        let (history, newest) = (self.history()?, self.memory().revision());
        let asked = self.owner.ask(|store, _| (store.reading(), store.snapshots()));
        let (reading, snapshots) = asked.await?;
        run_blocking(move || {
            let revision = match moment {
                Moment::Revision(revision) => revision,
                Moment::Time(time) => history.at(time)?,
            };
            if revision > newest {
                let why =
                    format!("there is no revision {} yet; the newest is {}", revision.0, newest.0);
                return Err(HistoryError::Refused(why));
            }
            let memory = replayed(&reading, &snapshots, revision)?;
            let committed = (revision > Revision(0)).then(|| history.commit(revision));
            let committed = committed.transpose()?.map(|commit| commit.head.time);
            let now = match moment {
                Moment::Revision(_) => committed.unwrap_or_default(),
                Moment::Time(time) => time,
            };
            Ok(PastMemory { memory: Arc::new(memory), committed, now })
        })
        .await
    }
}

/// Applies entries up to a commit to the newest snapshot before it. A damaged snapshot costs only
/// time.
fn replayed(
    reading: &ReadEntries<Memory>,
    snapshots: &Snapshots<Memory>,
    revision: Revision,
) -> Result<Memory, StoreError> {
    let earlier = snapshots().into_iter().filter_map(|snapshot| snapshot.state.ok());
    let earlier = earlier.filter(|memory| memory.revision() <= revision);
    let mut memory = earlier.max_by_key(Memory::seq).unwrap_or_default();
    if memory.revision() < revision {
        reading(Seq(memory.seq().0 + 1), &mut |entry| {
            memory.apply(entry.seq, &entry.changes);
            memory.revision() < revision
        })?;
    }
    Ok(memory)
}

/// Shows commits to two functions: one decides by the head, the other takes what was read.
struct Visit<H, C>(H, C);

impl<H, C> Visitor<Memory> for Visit<H, C>
where
    H: FnMut(&Head) -> Step,
    C: FnMut(StoredCommit) -> ControlFlow<()>,
{
    fn head(&mut self, head: &Head) -> Step {
        (self.0)(head)
    }

    fn commit(&mut self, entry: Entry<Change>) -> bool {
        (self.1)(stored(entry)).is_continue()
    }
}

fn stored(entry: Entry<Change>) -> StoredCommit {
    let head = CommitHead {
        revision: entry.revision.unwrap_or_default(),
        time: entry.time,
        session: entry.session,
        operation: entry.operation.into_owned(),
    };
    StoredCommit { head, changes: entry.changes }
}

impl HistoryReader {
    /// Returns this machine's member of the team, if that is known.
    pub(crate) fn member(&self) -> Option<&Arc<str>> {
        self.memory.member()
    }

    fn visit(
        &self,
        newest: Option<Revision>,
        head: impl FnMut(&Head) -> Step,
        commit: impl FnMut(StoredCommit) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        (self.read_back)(newest, &mut Visit(head, commit))
    }

    /// Returns a page of commits, newest first, and the revision at which the next page begins. A
    /// page may have fewer commits than its limit, if many had to be read to find them.
    pub(crate) fn commits(
        &self,
        query: &CommitQuery,
        reader: &Reader,
    ) -> Result<(Vec<StoredCommit>, Option<Revision>), StoreError> {
        let is_wanted = |head: &Head| {
            let by = |session: &String| {
                head.session.as_ref().is_some_and(|id| id.0.starts_with(session.as_str()))
            };
            query.newest.is_none_or(|newest| head.revision <= newest)
                && query.session.as_ref().is_none_or(by)
                && query.operation.is_none_or(|operation| head.op == operation)
                && query.since.is_none_or(|since| head.time >= since)
                && query.until.is_none_or(|until| head.time < until)
        };
        let full = std::cell::Cell::new(false);
        let (mut next, mut found, mut read) = (None, Vec::new(), 0);
        let head = |head: &Head| match (is_wanted(head), full.get()) {
            (false, _) => Step::Skip,
            (true, false) => Step::Read,
            (true, true) => {
                next = Some(head.revision);
                Step::Stop
            }
        };
        self.visit(query.newest, head, |commit| {
            read += 1;
            if commit.concerns(reader, &query.kinds, query.file.as_deref()) {
                found.push(commit);
            }
            full.set(found.len() >= query.limit || read >= HISTORY_COMMITS_READ_MAX);
            ControlFlow::Continue(())
        })?;
        Ok((found, next))
    }

    /// Returns the commits after a revision and up to another, newest first.
    fn between(
        &self,
        after: Revision,
        newest: Option<Revision>,
        mut take: impl FnMut(StoredCommit),
    ) -> Result<(), StoreError> {
        let head = |head: &Head| match head.revision {
            revision if revision <= after => Step::Stop,
            revision if newest.is_some_and(|newest| revision > newest) => Step::Skip,
            _ => Step::Read,
        };
        self.visit(newest, head, |commit| {
            take(commit);
            ControlFlow::Continue(())
        })
    }

    /// Returns one commit.
    pub(crate) fn commit(&self, revision: Revision) -> Result<StoredCommit, HistoryError> {
        let mut found = None;
        let after = Revision(revision.0.saturating_sub(1));
        self.between(after, Some(revision), |commit| found = Some(commit))?;
        found.ok_or_else(|| HistoryError::Refused(format!("there is no commit {}", revision.0)))
    }

    /// Returns the newest commit that is not after a time; 0 if there is none.
    pub(crate) fn at(&self, time: Timestamp) -> Result<Revision, StoreError> {
        let mut found = Revision(0);
        let head = |head: &Head| {
            if head.time > time {
                return Step::Skip;
            }
            found = head.revision;
            Step::Stop
        };
        self.visit(None, head, |_| ControlFlow::Continue(()))?;
        Ok(found)
    }

    /// Reads versions. An entry is read once for all versions that it has.
    pub(crate) fn versions(&self, mut wanted: WantedVersions) -> Result<Versions, StoreError> {
        let mut versions = Versions::new();
        while let Some((id, version)) = wanted.pop_first() {
            let Some(entry) = (self.look_up)(&format!("{id}@{}", version.0))? else { continue };
            for change in &entry.changes {
                let (key, content) = match change {
                    Change::Put(record) => {
                        let content = VersionContent::Whole(Arc::clone(record));
                        ((record.id, record.version), content)
                    }
                    Change::Purged(purged) => {
                        ((purged.id, purged.version), VersionContent::Purged(purged.time))
                    }
                    _ => continue,
                };
                if key == (id, version) || wanted.remove(&key) {
                    let stored = StoredVersion {
                        revision: entry.revision,
                        time: entry.time,
                        session: entry.session.clone(),
                        operation: entry.operation.to_string(),
                        copied: entry.changes.iter().find_map(Change::copied).cloned(),
                        content,
                    };
                    versions.insert(key, stored);
                }
            }
        }
        Ok(versions)
    }

    /// Adds the differences of their records to commits.
    pub(crate) fn details(
        &self,
        commits: &[StoredCommit],
        reader: &Reader,
        with_diff: bool,
    ) -> Result<Vec<CommitDetail>, StoreError> {
        let records = |commit: &StoredCommit| -> Vec<Arc<Record>> {
            let records = commit.records(reader).filter(|_| with_diff);
            records.take(limits::DIFF_RECORDS_MAX).cloned().collect()
        };
        let wanted: WantedVersions =
            commits.iter().flat_map(records).filter_map(|record| before(&record)).collect();
        let versions = self.versions(wanted)?;
        let detail = |stored: &StoredCommit| {
            let shown = records(stored);
            let diffs = shown.iter().filter_map(|after| compared(&versions, after, reader));
            let all = if with_diff { stored.records(reader).count() } else { 0 };
            let described = stored.described_in_team(reader, self.member());
            CommitDetail {
                commit: described.with_purged(stored.purged(&self.memory)),
                records: diffs.collect(),
                more: all.saturating_sub(shown.len()) as u64,
            }
        };
        Ok(commits.iter().map(detail).collect())
    }

    /// Compares two revisions.
    pub(crate) fn difference(
        &self,
        from: Revision,
        to: Revision,
        reader: &Reader,
    ) -> Result<RevisionDiff, StoreError> {
        // The newest version of each record, and its first after `from`.
        let mut changed: BTreeMap<RecordId, (Arc<Record>, Version)> = BTreeMap::new();
        self.between(from, Some(to), |commit| {
            for record in commit.records(reader).filter(|record| record.owner().is_none()) {
                let newest = || (Arc::clone(record), record.version);
                changed.entry(record.id).or_insert_with(newest).1 = record.version;
            }
        })?;
        let first = |(id, (_, first)): (&RecordId, &(Arc<Record>, Version))| {
            (first.0 > 1).then(|| (*id, Version(first.0 - 1)))
        };
        let versions = self.versions(changed.iter().filter_map(first).collect())?;
        let differs = |(id, (after, first)): (&RecordId, &(Arc<Record>, Version))| {
            let before = (first.0 > 1).then(|| (*id, Version(first.0 - 1)));
            let diff = against(&versions, before, after, reader)?;
            // One that came and went in between is on neither side.
            let is_seen = diff.before.is_some() || after.state != RecordState::Forgotten;
            (is_seen && (diff.unknown || !diff.fields.is_empty())).then_some(diff)
        };
        let mut records: Vec<RecordDiff> = changed.iter().filter_map(differs).collect();
        let more = records.len().saturating_sub(limits::DIFF_RECORDS_MAX) as u64;
        records.truncate(limits::DIFF_RECORDS_MAX);
        Ok(RevisionDiff { from, to, records, more })
    }

    /// Reads what an undo needs.
    pub(crate) fn basis(
        &self,
        memory: &Memory,
        target: UndoTarget,
        reader: &Reader,
    ) -> Result<UndoBasis, HistoryError> {
        let mut basis = UndoBasis::new(target.clone());
        let newest = memory.revision();
        let last = |last: u64| Revision(newest.0.saturating_sub(last));
        match target {
            UndoTarget::Last(number) => {
                self.add_after(&mut basis, last(number), newest, reader)?;
            }
            UndoTarget::Project(to) => self.add_after(&mut basis, to, newest, reader)?,
            UndoTarget::Commit(revision) => basis.add(&self.commit(revision)?, reader),
            UndoTarget::Session(session) => {
                basis = self.session_basis(&session, newest, reader)?;
            }
            UndoTarget::Record(id, to) => {
                self.walk(memory, id, |record| {
                    if record.revision <= to {
                        return ControlFlow::Break(());
                    }
                    basis.add_version(id, record.version);
                    ControlFlow::Continue(())
                })?;
            }
            UndoTarget::Steps(id, steps) => {
                let (mut left, mut is_whole) = (steps, true);
                // The content of the last step, and whether the record was forgotten before it.
                let (mut content, mut was_forgotten) = (None, false);
                self.walk(memory, id, |record| {
                    let is_forgotten = record.state == RecordState::Forgotten;
                    if !is_forgotten && was_forgotten && content.as_ref() == Some(&record.body) {
                        left += 1; // That step only brought the record back.
                    }
                    if left == 0 && !is_forgotten {
                        is_whole = false;
                        return ControlFlow::Break(());
                    }
                    basis.add_version(id, record.version);
                    if left > 0 && record.content_version.is_none() {
                        left -= 1;
                        (content, was_forgotten) = (Some(record.body.clone()), false);
                    }
                    was_forgotten |= is_forgotten;
                    ControlFlow::Continue(())
                })?;
                if is_whole {
                    let why = format!("{id} has fewer than {steps} earlier versions");
                    return Err(HistoryError::Refused(why));
                }
            }
        }
        if basis.is_purges_alone() {
            basis.offer(self.newest_with_records(newest, reader)?);
        }
        let versions = self.versions(basis.wanted(memory))?;
        basis.complete(memory, versions);
        Ok(basis)
    }

    /// Returns the newest commit of those read that wrote a record which was not purged since.
    fn newest_with_records(
        &self,
        newest: Revision,
        reader: &Reader,
    ) -> Result<Option<Revision>, StoreError> {
        let (mut found, mut read) = (None, 0);
        self.visit(
            Some(newest),
            |_| Step::Read,
            |commit| {
                read += 1;
                if commit.records(reader).next().is_some() {
                    found = Some(commit.head.revision);
                }
                if found.is_some() || read >= HISTORY_COMMITS_READ_MAX {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(found)
    }

    fn add_after(
        &self,
        basis: &mut UndoBasis,
        after: Revision,
        newest: Revision,
        reader: &Reader,
    ) -> Result<(), StoreError> {
        self.between(after, Some(newest), |commit| basis.add(&commit, reader))
    }

    /// Finds the commits of the session whose id begins with `prefix`.
    fn session_basis(
        &self,
        prefix: &SessionId,
        newest: Revision,
        reader: &Reader,
    ) -> Result<UndoBasis, HistoryError> {
        let (mut commits, mut sessions) = (Vec::new(), BTreeSet::new());
        let head = |head: &Head| {
            let is_of_it = head.session.as_ref().is_some_and(|id| id.0.starts_with(&*prefix.0));
            if is_of_it && head.revision <= newest { Step::Read } else { Step::Skip }
        };
        self.visit(Some(newest), head, |commit| {
            sessions.extend(commit.head.session.clone());
            commits.push(commit);
            ControlFlow::Continue(())
        })?;
        let exact = sessions.contains(prefix).then(|| prefix.clone());
        let session = match (exact, sessions.len()) {
            (Some(session), _) => session,
            (None, 0) => {
                return Err(HistoryError::Refused(format!("no commit is by a session {prefix}")));
            }
            (None, 1) => sessions.pop_first().unwrap_or_else(|| prefix.clone()),
            (None, number) => {
                let why = format!("{number} sessions have ids that begin with {prefix}");
                return Err(HistoryError::Refused(why));
            }
        };
        let mut basis = UndoBasis::new(UndoTarget::Session(session.clone()));
        commits.retain(|commit| commit.head.session.as_ref() == Some(&session));
        for commit in &commits {
            basis.add(commit, reader);
        }
        Ok(basis)
    }

    /// Shows the stored versions of a record, newest first, with the operations that wrote them.
    /// Reads at most [`RECORD_VERSIONS_READ_MAX`]; those that the journal does not have are left
    /// out.
    pub(crate) fn each_version(
        &self,
        memory: &Memory,
        id: RecordId,
        mut visit: impl FnMut(&StoredVersion) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let newest = memory.record(id).map_or(0, |record| record.version.0);
        let mut numbers = (1..=newest).rev().take(RECORD_VERSIONS_READ_MAX).peekable();
        while numbers.peek().is_some() {
            let page: WantedVersions =
                numbers.by_ref().take(RECORD_VERSIONS_PAGE).map(|it| (id, Version(it))).collect();
            for stored in self.versions(page)?.values().rev() {
                if visit(stored).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Shows the versions of a record, newest first, as far as the journal has them.
    fn walk(
        &self,
        memory: &Memory,
        id: RecordId,
        mut visit: impl FnMut(&Record) -> ControlFlow<()>,
    ) -> Result<(), HistoryError> {
        let Some(newest) = memory.record(id) else { return Ok(()) };
        let mut record = Arc::clone(newest);
        loop {
            if visit(&record).is_break() || record.version == Version::FIRST {
                return Ok(());
            }
            let key = (id, Version(record.version.0 - 1));
            let mut versions = self.versions(WantedVersions::from([key]))?;
            let earlier = versions.remove(&key);
            let earlier = earlier.and_then(|stored| stored.content.record().cloned());
            record = earlier.ok_or_else(|| {
                HistoryError::Refused(format!("version {} of {id} is not in the journal", key.1.0))
            })?;
        }
    }
}

fn before(record: &Record) -> Option<(RecordId, Version)> {
    (record.version > Version::FIRST).then(|| (record.id, Version(record.version.0 - 1)))
}

/// Compares a version with the one before it.
pub(crate) fn compared(versions: &Versions, after: &Record, reader: &Reader) -> Option<RecordDiff> {
    against(versions, before(after), after, reader)
}

/// Compares a version with an earlier one. One that was private to others is not shown.
fn against(
    versions: &Versions,
    before: Option<(RecordId, Version)>,
    after: &Record,
    reader: &Reader,
) -> Option<RecordDiff> {
    let Some(key) = before else { return diff(None, Some(after)) };
    match versions.get(&key).and_then(|stored| stored.content.record()) {
        Some(before) => diff(Some(&**before).filter(|before| reader.sees(before)), Some(after)),
        None => diff(Some(after), Some(after)).map(|same| RecordDiff {
            before: Some(key.1),
            unknown: true,
            ..same
        }),
    }
}

#[cfg(test)]
mod tests;
