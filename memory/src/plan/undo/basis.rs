//! The evidence for an undo: the commits that are taken back, and the versions that it compares.
//!
//! It is read in two steps, since reading the journal is not the domain's work. The first names the
//! versions that are needed, the second receives them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::UndoTarget;
use crate::change::Change;
use crate::history::{StoredCommit, StoredVersion, VersionContent, Versions, WantedVersions};
use crate::ids::{RecordId, Revision, Version};
use crate::limits::CONFLICT_COMMITS_NAMED_MAX;
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::Record;

/// Consecutive versions of a record, all of which are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: Version,
    pub(super) last: Version,
}

impl Run {
    /// Returns the version before the run; `None` if the run created the record.
    pub(super) fn before(self) -> Option<Version> {
        (self.first > Version::FIRST).then(|| Version(self.first.0 - 1))
    }
}

/// The commits that an undo takes back, and the versions around them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UndoBasis {
    pub(super) target: UndoTarget,
    pub(super) revisions: Vec<Revision>,
    touched: BTreeMap<RecordId, BTreeSet<Version>>,
    /// Each import, with the number of its records if it was there before the commits.
    imports: BTreeMap<(String, String), Option<u32>>,
    /// The newest versions when the basis was read.
    newest: BTreeMap<RecordId, Version>,
    versions: Versions,
    /// The number of the commits that are purges.
    purges: usize,
    /// The newest commit that can be taken back, if these are purges alone.
    pub(super) instead: Option<Revision>,
}

impl UndoBasis {
    /// Creates an empty basis. Commits are added newest first.
    pub fn new(target: UndoTarget) -> Self {
        Self { target, ..Self::default() }
    }

    /// Adds a commit, as far as the reader sees it.
    pub fn add(&mut self, commit: &StoredCommit, reader: &Reader) {
        for change in &commit.changes {
            match change {
                Change::Put(record) if reader.sees(record) => {
                    self.add_version(record.id, record.version);
                }
                Change::Purged(purged) if !purged.private => {
                    self.add_version(purged.id, purged.version);
                }
                Change::Imported { source, digest, records, undone } => {
                    let before = undone.then_some(*records);
                    self.imports.insert((source.clone(), digest.clone()), before);
                }
                _ => {}
            }
        }
        let is_tombstones = |change: &Change| matches!(change, Change::Tombstones { .. });
        self.purges += usize::from(commit.changes.iter().any(is_tombstones));
        self.revisions.push(commit.head.revision);
    }

    /// Returns whether the commits are purges alone, which cannot be taken back.
    pub fn is_purges_alone(&self) -> bool {
        self.is_empty() && self.purges > 0 && self.purges == self.revisions.len()
    }

    /// Names the newest commit that can be taken back in place of purges.
    pub fn offer(&mut self, instead: Option<Revision>) {
        self.instead = instead;
    }

    /// Adds one version of a record, for a rollback of that record alone.
    pub fn add_version(&mut self, id: RecordId, version: Version) {
        self.touched.entry(id).or_default().insert(version);
    }

    /// Returns whether the commits have nothing that can be taken back.
    pub fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.imports.is_empty()
    }

    /// Returns the versions that the plan needs. A memory at a later revision may need others.
    pub fn wanted(&self, memory: &Memory) -> WantedVersions {
        let mut wanted = WantedVersions::new();
        for id in self.ids() {
            let Some(record) = memory.record(id) else { continue };
            if record.is_head {
                wanted.insert((id, record.version));
            }
            for run in self.runs(id) {
                wanted.extend(run.before().map(|version| (id, version)));
                if run.last < record.version {
                    wanted.insert((id, run.last));
                }
                wanted.extend(self.later_versions(record, run.last).map(|version| (id, version)));
            }
        }
        wanted
    }

    /// Adds the versions that were wanted from this memory.
    pub fn complete(&mut self, memory: &Memory, versions: Versions) {
        let newest = |id| memory.record(id).map(|record| (id, record.version));
        self.newest = self.ids().filter_map(newest).collect();
        self.versions = versions;
    }

    /// Returns whether the records are as they were when the basis was completed.
    pub(super) fn is_current(&self, memory: &Memory) -> bool {
        self.ids().all(|id| {
            self.newest.get(&id) == memory.record(id).map(|record| record.version).as_ref()
        })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = RecordId> {
        self.touched.keys().copied()
    }

    /// Returns each import, with the number of its records if it was there before the commits.
    pub(super) fn imports(&self) -> impl Iterator<Item = (&str, &str, Option<u32>)> {
        let imports = self.imports.iter();
        imports.map(|((source, digest), before)| (source.as_str(), digest.as_str(), *before))
    }

    /// Returns the runs of a record's versions that are taken back, newest first.
    pub(super) fn runs(&self, id: RecordId) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for version in self.touched.get(&id).into_iter().flatten().rev() {
            match runs.last_mut() {
                Some(run) if version.next() == run.first => run.first = *version,
                _ => runs.push(Run { first: *version, last: *version }),
            }
        }
        runs
    }

    pub(super) fn version(&self, id: RecordId, version: Version) -> Option<&StoredVersion> {
        self.versions.get(&(id, version))
    }

    /// Returns the whole record as it is now. Memory keeps the head alone of a forgotten one.
    pub(super) fn now(&self, memory: &Memory, id: RecordId) -> Option<Record> {
        let record = memory.record(id)?;
        if !record.is_head {
            return Some(Record::clone(record));
        }
        let whole = self.version(id, record.version).map(|stored| &stored.content);
        let whole = whole.and_then(VersionContent::record).map(|whole| Record::clone(whole));
        Some(whole.unwrap_or_else(|| Record::clone(record)))
    }

    /// Returns the first commits that wrote a record after a version and are not taken back.
    pub(super) fn later(&self, memory: &Memory, id: RecordId, after: Version) -> Vec<Revision> {
        let Some(now) = memory.record(id) else { return Vec::new() };
        let stored = |version| match version {
            version if version == now.version => Some((now.revision, now.content_version)),
            version => {
                let stored = self.version(id, version)?;
                let content = stored.content.record().and_then(|record| record.content_version);
                Some((stored.revision?, content))
            }
        };
        let later: Vec<_> = self.later_versions(now, after).filter_map(stored).collect();
        // A version that only archives a record is not in the way.
        let content = later.iter().filter(|(_, content)| content.is_none());
        let content: Vec<Revision> = content.map(|(revision, _)| *revision).collect();
        if content.is_empty() { later.into_iter().map(|it| it.0).collect() } else { content }
    }

    /// Returns the first versions after this one that are not taken back.
    fn later_versions(
        &self,
        now: &Arc<Record>,
        after: Version,
    ) -> impl Iterator<Item = Version> + use<> {
        let touched = self.touched.get(&now.id).cloned().unwrap_or_default();
        let newest = now.version;
        (after.0 + 1..=newest.0)
            .map(Version)
            .filter(move |version| !touched.contains(version))
            .take(CONFLICT_COMMITS_NAMED_MAX)
    }
}
