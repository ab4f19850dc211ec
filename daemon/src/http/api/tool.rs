//! A tool called from outside a session, and the log of what tools were asked and gave.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use crate::retrieval_log::Retrieval;

/// Which tool is to be run, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolParams {
    /// A directory or an id; a directory becomes a project when the tool writes.
    pub project: String,
    /// One of the set `all` that keeps nothing for a session: `memory_search`.
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
