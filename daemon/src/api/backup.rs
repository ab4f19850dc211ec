//! Backups of a memory, and restoring them.

use std::collections::HashMap;

use anchord_memory::{Change, RecordId, Revision, Timestamp};
use serde::{Deserialize, Serialize};

use super::ProjectRef;
use crate::store::{BackupHeader, Entry};

/// A range of entries to back up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupQuery {
    /// A directory, an id or [`USER`](super::USER).
    pub project: String,
    /// The number of the first entry.
    pub from: u64,
    /// The number of the last entry. The reply may end earlier.
    pub until: u64,
}

/// The backup to restore, and the memory that takes its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreParams {
    /// A directory, an id or [`USER`](super::USER). A directory becomes a project.
    pub project: String,
    /// The absolute path of the backup.
    pub file: String,
    /// The plan to carry out, from an earlier reply. Without it, one is made and nothing is
    /// changed.
    #[serde(default)]
    pub plan: Option<RestorePlan>,
}

/// The result of a restore, or its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreReply {
    /// The project; absent if the plan would create it.
    pub project: Option<ProjectRef>,
    /// The plan.
    pub plan: RestorePlan,
    /// Whether it was carried out.
    pub applied: bool,
    /// The number of records that were purged again: they were purged here after the backup.
    #[serde(default)]
    pub purged_again: u64,
}

/// A plan to restore a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestorePlan {
    /// The content of the backup.
    pub backup: BackupSummary,
    /// The memory that is there now.
    pub here: MemoryHere,
}

/// The content of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupSummary {
    /// The id of the project that it was made of, or [`USER`](super::USER). Empty if it was made
    /// before a change of format.
    pub project: String,
    /// The directory of that project.
    pub root: String,
    /// The time at which it was made.
    pub made: Timestamp,
    /// The number of its entries.
    pub entries: u64,
    /// The number of its last commit.
    pub revision: Revision,
    /// The number of its active records.
    pub records: u64,
}

/// Sums up a backup while its entries are read.
#[derive(Debug, Default)]
pub struct BackupContent {
    entries: u64,
    revision: Revision,
    /// The records, and whether they are active.
    records: HashMap<RecordId, bool>,
}

impl BackupContent {
    /// Takes the next entry.
    pub fn take(&mut self, entry: &Entry<Change>) {
        self.entries = entry.seq.0;
        self.revision = entry.revision.unwrap_or(self.revision);
        for change in &entry.changes {
            match change {
                Change::Put(record) => {
                    self.records.insert(record.id, record.state.is_active());
                }
                Change::Purged(purged) => {
                    self.records.remove(&purged.id);
                }
                _ => {}
            }
        }
    }

    /// Returns whether a record is in the backup and was not purged.
    pub fn has(&self, id: RecordId) -> bool {
        self.records.contains_key(&id)
    }

    /// Returns the summary of a backup with this header.
    pub fn summary(&self, header: BackupHeader) -> BackupSummary {
        BackupSummary {
            project: header.project,
            root: header.root,
            made: header.made,
            entries: self.entries,
            revision: self.revision,
            records: self.records.values().filter(|is_active| **is_active).count() as u64,
        }
    }
}

/// The memory in whose place a backup comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum MemoryHere {
    /// There is none.
    Missing,
    /// It continues the backup. An undo of its later commits restores the backup, and can be undone
    /// itself.
    Later {
        /// The number of its last commit.
        revision: Revision,
    },
    /// It is an earlier state of the backup, which has all of its entries.
    Earlier {
        /// The number of its entries.
        entries: u64,
    },
    /// It is another memory, or has diverged since the backup.
    Other {
        /// The number of its entries.
        entries: u64,
        /// The number of its active records.
        records: u64,
        /// The number of sessions with staged work.
        staged: u64,
    },
    /// It is damaged.
    Damaged {
        /// The kind of damage.
        why: String,
        /// The number of its entries.
        entries: u64,
    },
}
