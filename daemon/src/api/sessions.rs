//! Past sessions, read from their clients' transcripts by the caller.

use anchord_memory::Captured;
use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// Sessions to take in; at most a few hundred at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsParams {
    /// In any order.
    pub sessions: Vec<PastSessionParams>,
    /// Plan alone, change nothing.
    pub dry_run: bool,
}

/// A session that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionParams {
    /// Its client, `codex`.
    pub client: String,
    /// Where it worked, absolute; the project there gets the row.
    pub cwd: String,
    /// What was noted of it; its key says which conversation it was.
    pub captured: Captured,
}

/// What becomes of them, or became.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PastSessionsReply {
    /// By project, in the order of their roots.
    pub projects: Vec<PastSessionsProject>,
    /// Directories whose sessions have no project, in order.
    pub left_out: Vec<PastSessionsLeftOut>,
    /// What was taken out of the texts, one sentence each.
    pub remarks: Vec<String>,
}

/// One project's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsProject {
    /// Absent in a plan for a directory that is no project yet.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// Its directory.
    pub root: String,
    /// New rows.
    pub added: u32,
    /// Rows of sessions that went on since they were brought over, brought up to date.
    #[serde(default)]
    pub updated: u32,
    /// Sessions that have a row, or had one that is gone on purpose.
    pub known: u32,
    /// Sessions in which nobody asked for anything and nothing was written.
    pub empty: u32,
}

/// A directory that has no project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessionsLeftOut {
    /// The directory.
    pub cwd: String,
    /// Why: a lower-case fragment.
    pub why: String,
    /// Sessions that worked there.
    pub sessions: u32,
}
