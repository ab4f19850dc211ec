//! Compares a copy with the team's journal, commit by commit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use anchord_memory::{Change, CopyMark, Memory, RecordId, Revision, Seq, Version, shared_part};
use anchord_team::FIRST_DIGEST;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{Shared, failed};
use crate::purging::PurgeError;
use crate::store::{Arrived, Entry, ReadEntries, TeamError, TeamJournal, TeamPoint};

/// The reason for which a reading ends before its end.
pub(super) const STOPPING: &str = "this daemon is shutting down; try again in a moment";

/// Reads a team's journal from its beginning, some entries at a time. Blocks its thread, but not
/// once the daemon stops.
pub(super) struct TeamReader {
    journal: Arc<dyn TeamJournal<Change>>,
    runtime: Handle,
    stopping: CancellationToken,
    /// The place up to which entries were returned.
    pub(super) point: TeamPoint,
    buffer: VecDeque<Arrived<Change>>,
}

impl TeamReader {
    pub(super) fn new(shared: &Shared) -> Self {
        let Shared { journal, runtime, stopping, .. } = shared.clone();
        Self::of(Arc::new(journal), runtime, stopping)
    }

    pub(super) fn of(
        journal: Arc<dyn TeamJournal<Change>>,
        runtime: Handle,
        stopping: CancellationToken,
    ) -> Self {
        let first = CopyMark { digest: FIRST_DIGEST.into(), epoch: 0 };
        Self {
            journal,
            runtime,
            stopping,
            point: TeamPoint { revision: Revision(0), mark: Some(first) },
            buffer: VecDeque::new(),
        }
    }

    /// Returns the next entry; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Arrived<Change>>, PurgeError> {
        if self.buffer.is_empty() {
            let entries = self.journal.entries(self.point.clone());
            let read = self.runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = self.stopping.cancelled() => Err(failed(STOPPING)),
                    read = entries => read.map_err(|error| match error {
                        TeamError::Apart(_) => PurgeError::Rewritten,
                        error => failed(&error.to_string()),
                    }),
                }
            });
            self.buffer = read?.into();
        }
        let Some(next) = self.buffer.pop_front() else { return Ok(None) };
        let is_first = self.point.revision == Revision(0);
        let epoch = self.point.mark.as_ref().map_or(0, |mark| mark.epoch);
        if !is_first && epoch != next.mark.epoch {
            return Err(PurgeError::Rewritten);
        }
        self.point = TeamPoint { revision: next.entry.revision, mark: Some(next.mark.clone()) };
        Ok(Some(next))
    }
}

/// The common part of a copy and of the team's journal, and the differences within it.
pub(super) struct Compared {
    /// The last commit that both have.
    pub(super) common: Revision,
    /// The place of that commit in the team's journal.
    pub(super) mark: CopyMark,
    /// The records that are purged there.
    pub(super) purged: BTreeSet<RecordId>,
    /// The team's changes in place of those here, for versions that are purged on one side.
    pub(super) changes: BTreeMap<(RecordId, Version), Change>,
}

/// Compares a copy with the team's journal. Blocks its thread.
///
/// # Errors
/// Fails if one of them cannot be read as a whole.
pub(super) fn compare(
    reading: &ReadEntries<Memory>,
    mut theirs: TeamReader,
) -> Result<Compared, PurgeError> {
    let mut failed = None;
    let mut compared = Compared {
        common: Revision(0),
        mark: CopyMark { digest: FIRST_DIGEST.into(), epoch: 0 },
        purged: BTreeSet::new(),
        changes: BTreeMap::new(),
    };
    reading(Seq(1), &mut |entry| {
        let Some(revision) = entry.revision else { return true };
        let arrived = match theirs.next() {
            Ok(arrived) => arrived,
            Err(error) => {
                failed = Some(error);
                return false;
            }
        };
        let Some(arrived) = arrived.filter(|arrived| is_same(entry, arrived)) else { return false };
        compared.common = revision;
        compared.mark = arrived.mark;
        compared.add(entry, arrived.entry.changes);
        true
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(compared),
    }
}

/// Returns whether an entry is the copy of the team's. A purge changes the digests. It keeps the
/// time, the session and the operation, which two commits hardly share. It also keeps the content
/// of most commits.
fn is_same(copy: &Entry<Change>, arrived: &Arrived<Change>) -> bool {
    let theirs = &arrived.entry;
    let mark = copy.changes.iter().find_map(Change::copied).map(|copied| &copied.mark);
    if let Some(mark) = mark.filter(|mark| mark.epoch == arrived.mark.epoch) {
        return mark.digest == arrived.mark.digest;
    }
    let is_of_same = copy.time == theirs.time
        && copy.session == theirs.session
        && copy.operation == theirs.operation;
    copy.revision == Some(theirs.revision)
        && (is_of_same || shared_part(&copy.changes) == theirs.changes)
}

impl Compared {
    /// Adds the versions that are purged in one of two copies of a commit.
    fn add(&mut self, copy: &Entry<Change>, theirs: Vec<Change>) {
        for change in theirs {
            let Some(version) = version(&change) else { continue };
            let is_purged = matches!(change, Change::Purged(_));
            let mut here = copy.changes.iter();
            let differs = here.any(|here| {
                self::version(here) == Some(version)
                    && matches!(here, Change::Purged(_)) != is_purged
            });
            if is_purged && differs {
                self.purged.insert(version.0);
            }
            if differs {
                self.changes.insert(version, change);
            }
        }
    }

    /// Takes the team's changes of purged versions in an entry of the copy. Returns whether it has
    /// any.
    pub(super) fn mend(&mut self, entry: &mut Entry<Change>) -> bool {
        let mut mended = false;
        for change in &mut entry.changes {
            if let Some(theirs) = version(change).and_then(|it| self.changes.remove(&it)) {
                *change = theirs;
                mended = true;
            }
        }
        mended
    }
}

fn version(change: &Change) -> Option<(RecordId, Version)> {
    match change {
        Change::Put(record) => Some((record.id, record.version)),
        Change::Purged(purged) => Some((purged.id, purged.version)),
        _ => None,
    }
}
