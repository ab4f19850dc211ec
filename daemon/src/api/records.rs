//! Records for views. Reading them is no use of them: it is not logged and counts no access.

use anchord_memory::{Kind, Record, RecordId};
use serde::{Deserialize, Serialize};

/// The records to return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsParams {
    /// A directory or an id.
    pub project: String,
    /// The choice of records.
    pub pick: RecordPick,
    /// The maximum number of records. The daemon may return fewer.
    pub limit: u32,
    /// The cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A choice of records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum RecordPick {
    /// The active and archived records that are shared in the project, the last written first.
    Newest {
        /// Only these kinds; all if there are none.
        #[serde(default)]
        kinds: Vec<Kind>,
        /// Only records written since this time.
        #[serde(default)]
        since: Option<i64>,
    },
    /// These records, also private and forgotten ones.
    Ids {
        /// The records.
        ids: Vec<RecordId>,
    },
    /// Active notes that were written before a time, and that nobody found or fetched since.
    NeverRead {
        /// The time.
        written_before: i64,
    },
    /// Pairs of active blueprints that contradict each other. The second follows the first.
    Contradicting,
    /// Rules that an agent proposed.
    ProposedRules,
}

/// A page of records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordsReply {
    /// The newest commit; 0 if nothing is remembered there yet.
    pub revision: u64,
    /// The records.
    pub records: Vec<ShownRecord>,
    /// The number of records that were chosen, if all were counted.
    pub total: Option<u64>,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<String>,
}

/// A record as people read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownRecord {
    /// The record.
    pub record: Record,
    /// The words that name it, on one line.
    pub title: String,
    /// The rest of its text; empty if the title says everything.
    pub text: String,
    /// The number of times that it was found or fetched.
    pub reads: u64,
    /// The time of the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_read: Option<i64>,
}
