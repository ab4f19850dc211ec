//! The growth of a memory.

use serde::{Deserialize, Serialize};

/// The growth of a memory in its last days. All days are in UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GrowthReply {
    /// The days, oldest first, without gaps; at most 90.
    pub days: Vec<GrowthDay>,
    /// Active records of all kinds.
    pub active: u64,
    /// Archived records.
    pub archived: u64,
    /// Tokens of the project's active notes.
    pub note_tokens: u64,
    /// The budget for them.
    pub note_budget: u32,
    /// The budget of a load.
    pub load_tokens: u32,
    /// The last compactions, the newest first.
    pub compactions: Vec<CompactionRun>,
    /// Whether there are older compactions.
    pub more: bool,
}

/// A day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthDay {
    /// Its midnight.
    pub day: i64,
    /// The records created on it that are still remembered.
    pub created: u64,
    /// The tokens of those of them that are active notes.
    pub note_tokens: u64,
}

/// A compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRun {
    /// The commit.
    pub revision: u64,
    /// Its time.
    pub time: i64,
    /// The number of records that it archived.
    pub archived: u64,
    /// The number of records that it changed or shows by their summaries.
    pub changed: u64,
    /// The number of duplicates that it folded away.
    pub forgotten: u64,
}
