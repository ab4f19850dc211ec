//! Backups of a memory, and restoring them.

use anchord_memory::{Memory, Revision, Timestamp};
use serde::{Deserialize, Serialize};

use super::ProjectRef;
use crate::store::BackupHeader;

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

impl BackupSummary {
    /// Summarises a backup by its header and the memory that its entries lead to.
    pub fn new(header: BackupHeader, memory: &Memory) -> Self {
        Self {
            project: header.project,
            root: header.root,
            made: header.made,
            entries: memory.seq().0,
            revision: memory.revision(),
            records: memory.records().filter(|record| record.state.is_active()).count() as u64,
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
    /// It is another memory, or has gone another way since the backup.
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
