//! Past sessions, which the caller reads from their clients' transcripts.

use anchord_memory::SessionActivity;
use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// Sessions to import, at most a few hundred at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsParams {
    /// The sessions, in any order.
    pub sessions: Vec<PastSessionParams>,
    /// Whether to plan only, and change nothing.
    pub dry_run: bool,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionParams {
    /// The session's client, such as `codex`.
    pub client: String,
    /// The absolute directory in which the session worked. The project there gets the row.
    pub cwd: String,
    /// The session's activity. Its key identifies the conversation.
    pub captured: SessionActivity,
}

/// The plan for the imported sessions, or the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PastSessionsReply {
    /// The projects, ordered by their roots.
    pub projects: Vec<PastSessionsProject>,
    /// Directories whose sessions have no project, in order.
    pub left_out: Vec<PastSessionsLeftOut>,
    /// Remarks about what was removed from the texts, one sentence each.
    pub remarks: Vec<String>,
}

/// The result for one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsProject {
    /// The project. Absent in a plan for a directory that is not a project yet.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// The project's directory.
    pub root: String,
    /// The number of new rows.
    pub added: u32,
    /// The number of updated rows: their sessions continued after the last import.
    #[serde(default)]
    pub updated: u32,
    /// The number of sessions that already have a row, or had one that was deliberately removed.
    pub known: u32,
    /// The number of sessions without any request and without any write.
    pub empty: u32,
}

/// A directory that has no project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsLeftOut {
    /// The directory.
    pub cwd: String,
    /// The reason, as a lower-case fragment.
    pub why: String,
    /// The number of sessions that worked there.
    pub sessions: u32,
}
