//! Tool calls from outside a session, and the log of the tools' calls and results.

use anchord_memory::{CompactionPlan, Fold, HistoryView, RecordId, Revision, Timestamp};
use anchord_outline::Outline;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use crate::retrieval_log::{COMMAND_LINE, HookMoment, RULE_CHECK, Retrieval};

/// The tool to run, and the project to run it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolParams {
    /// A directory, an id or [`USER`](super::USER). A directory becomes a project when the tool
    /// writes.
    pub project: String,
    /// A tool of the set `all` that keeps nothing for a session, such as `memory_search`.
    /// Alternatively a tool that only commands have: `memory_add`, `memory_rewrite`, `memory_diff`
    /// or `memory_why`.
    pub tool: String,
    /// The tool's parameters.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The words of the command line that a person typed, without the program. The reply then names
    /// commands. Without any, it names tools, for an agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub typed: Vec<String>,
    /// The moment whose memory is read instead of the current one: a revision or a time. Only
    /// `memory_load` and `memory_search` accept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The commit after which a memory was as the answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsOf {
    /// The number of the commit; 0 means before the first.
    pub revision: Revision,
    /// The time of the commit, if there is one.
    pub committed: Option<Timestamp>,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    /// The text that an agent would read, or a person if the call has what was typed.
    pub text: String,
    /// A remark that a secret was removed from the call, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The records that the text shows, in the text's order, or that the call wrote.
    pub records: Vec<anchord_memory::Record>,
    /// Whether there is more than the text shows.
    #[serde(default)]
    pub truncated: bool,
    /// The cursor that fetches the rest, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The minimum number of records that were found but are not in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// The errors of records that were asked for and cannot be given beside the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The planned compaction, if the call only plans one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlannedCompaction>,
    /// The answer as data, if the call is about history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryView>,
    /// Whether the action may be done, if the call checks one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<bool>,
    /// The outline as data, if the call is about a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<FileOutline>,
    /// The moment of the memory that was read, if it is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A file's outline, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOutline {
    /// The path relative to the project's root.
    pub path: String,
    /// The first 16 bytes of the SHA-256 digest of the file's content, in hexadecimal digits.
    pub digest: String,
    /// Whether the outline was made before, for this session or another.
    pub cached: bool,
    /// Tokens of the text.
    pub tokens_given: u32,
    /// Tokens that the file has more than the text.
    pub tokens_saved: u32,
    /// The items, however much the text was cut.
    #[serde(flatten)]
    pub outline: Outline,
}

/// The complete plan of a compaction, by id. The text has titles, and only the first of many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCompaction {
    /// Notes that would be shown by their summaries.
    pub promoted: Vec<RecordId>,
    /// Near duplicates.
    pub folded: Vec<PlannedFold>,
    /// Notes that would be archived.
    pub archived: Vec<RecordId>,
}

/// A near duplicate and the record it would be folded into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFold {
    /// The duplicate.
    pub id: RecordId,
    /// The record it would be folded into.
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

/// The range of lines of a project's retrieval log to return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogQuery {
    /// A directory or an id.
    pub project: String,
    /// The number of the line after which to start, oldest first. Without it, the last lines are
    /// returned.
    #[serde(default)]
    pub after: Option<u64>,
    /// The maximum number of lines. The daemon may return fewer.
    pub limit: u32,
    /// Whether to wait for a line. The reply is empty if none comes within a while.
    #[serde(default)]
    pub wait: bool,
}

/// Lines of a project's retrieval log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReply {
    /// The lines, oldest first.
    pub lines: Vec<Retrieval>,
    /// The reason why lines are missing; `None` if all are there.
    #[serde(default)]
    pub fault: Option<String>,
}
