//! A tool called from outside a session, and the log of what tools were asked and gave.

use anchord_memory::{CompactionPlan, Fold, RecordId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use crate::retrieval_log::Retrieval;

/// Which tool is to be run, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolParams {
    /// A directory, an id or [`USER`](super::USER). A directory becomes a project when the tool
    /// writes.
    pub project: String,
    /// A tool of the set `all` that keeps nothing for a session, such as `memory_search`. Or one
    /// that only commands have: `memory_add`, `memory_rewrite` or `memory_why`.
    pub tool: String,
    /// Its parameters.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// What a tool said and gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    /// What an agent would read.
    pub text: String,
    /// That a secret was taken out of the call, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The records that the text shows, in its order, or that the call wrote.
    pub records: Vec<anchord_memory::Record>,
    /// Whether there is more than the text has.
    #[serde(default)]
    pub truncated: bool,
    /// What fetches the rest, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Records that were found and that the text does not show, this many at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// What a compaction would do, where the call only plans one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlannedCompaction>,
}

/// What a compaction would do, all of it; the text has titles, and only the first of many. By id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCompaction {
    /// Notes that would be shown by their summaries.
    pub promoted: Vec<RecordId>,
    /// Near duplicates.
    pub folded: Vec<PlannedFold>,
    /// Notes that would be archived.
    pub archived: Vec<RecordId>,
}

/// A near duplicate and where it would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFold {
    /// The duplicate.
    pub id: RecordId,
    /// What it would be folded into.
    pub into: RecordId,
}

impl From<&CompactionPlan> for PlannedCompaction {
    fn from(plan: &CompactionPlan) -> Self {
        let fold = |(id, fold): (&RecordId, &Fold)| PlannedFold { id: *id, into: fold.survivor };
        Self {
            promoted: plan.promote.keys().copied().collect(),
            folded: plan.fold.iter().map(fold).collect(),
            archived: plan.archive.keys().copied().collect(),
        }
    }
}

/// Which lines of a project's retrieval log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogQuery {
    /// A directory or an id.
    pub project: String,
    /// The lines after this one, oldest first; without it, the last lines.
    #[serde(default)]
    pub after: Option<u64>,
    /// At most so many; the daemon may give fewer.
    pub limit: u32,
    /// Answer when there is a line, or with none after a while.
    #[serde(default)]
    pub wait: bool,
}
