//! The admin API: the requests that the command line sends over the socket in the role `http`, and
//! their replies.
//!
//! Both directions are JSON, with three exceptions. [`EXPORT`] replies with the document itself;
//! [`JOURNAL`] and [`BACKUP`] reply with one line for each entry. Readers ignore unknown
//! fields and give missing ones a default. A client and a daemon that are one build apart therefore
//! understand each other.
//!
//! A `project` argument is an absolute directory in the project, the project's id, or [`USER`].
//! Requests that link, split, forget or delete a project do not accept [`USER`]. Paths are text: a
//! name that is not UTF-8 is shown with replacement characters and cannot be requested. Times are
//! milliseconds since the Unix epoch.

mod anchors;
mod backup;
mod by_kind;
mod connections;
mod growth;
mod hooks;
mod merge;
mod now;
mod purge;
mod records;
mod sessions;
mod shared;
mod split;
mod team;
mod tool;
mod transfer;

use serde::{Deserialize, Serialize};

pub use anchors::{AnchorPlace, AnchorsParams, AnchorsReply, CheckedAnchor, CodeState};
pub use backup::{
    BackupContent, BackupQuery, BackupSummary, MemoryHere, RestoreParams, RestorePlan, RestoreReply,
};
pub use by_kind::ByKind;
pub use connections::ConnectionStatus;
pub use growth::{CompactionRun, GrowthDay, GrowthReply};
pub use hooks::{HookEventsStatus, HookFailureStatus, HooksStatus};
pub use merge::{MergeParams, MergeQuery, MergeReply, MergeTask};
pub use now::{
    GivenQuery, GivenRecord, GivenReply, Lane, NowReply, SavedRecord, WaitingApproval, Waits,
};
pub use purge::{PurgeParams, PurgeReply, PurgedStatus, SecretEntry, SecretRecord, SecretsReply};
pub use records::{RecordPick, RecordsParams, RecordsReply, ShownRecord};
pub use sessions::{
    PastSessionParams, PastSessionsLeftOut, PastSessionsParams, PastSessionsProject,
    PastSessionsReply,
};
pub use shared::{SharedAction, SharedParams, SharedRemark, SharedReply, SharedStatus};
pub use split::{SplitParams, SplitPart, SplitReply};
pub use team::{
    LostCommits, Role, Secret, TeamAction, TeamMember, TeamParams, TeamPlace, TeamProjectsReply,
    TeamReply, TeamState, TeamSummary,
};
pub use tool::{
    AsOf, COMMAND_LINE, FileOutline, HookMoment, LogQuery, LogReply, PlannedCompaction,
    PlannedFold, RULE_CHECK, Retrieval, ToolParams, ToolReply,
};
pub use transfer::{
    ExportDocument, ExportFormat, ExportQuery, ImportCounts, ImportParams, ImportReply,
};

pub use crate::store::{RepairPlan, RepairRange, ReplacedContent};

/// The `project` argument that names the user's own memory, which is not a project.
pub const USER: &str = "user";

/// `GET`: [`StatusReply`].
pub const STATUS: &str = "/v1/status";
/// `GET`: [`ProjectsReply`], every project that the daemon knows.
pub const PROJECTS: &str = "/v1/projects";
/// `GET` with [`ProjectQuery`]: [`ProjectStatus`] of one project, opened to count its records.
pub const PROJECT: &str = "/v1/project";
/// `POST` [`LinkParams`]: [`ProjectStatus`] of the project that the directory now belongs to.
pub const PROJECT_LINK: &str = "/v1/projects/link";
/// `POST` [`ForgetParams`]: [`RemovedReply`]. Removes the registry's row; the data stays.
pub const PROJECT_FORGET: &str = "/v1/projects/forget";
/// `POST` [`DeleteParams`]: [`RemovedReply`]. Removes the registry's row and the data.
pub const PROJECT_DELETE: &str = "/v1/projects/delete";
/// `POST` [`SplitParams`]: [`SplitReply`].
pub const PROJECT_SPLIT: &str = "/v1/projects/split";
/// The state of a memory's shared files, and changes of it.
pub const PROJECT_SHARED: &str = "/v1/projects/shared";
/// `POST` [`TeamParams`]: [`TeamReply`]. Shares a memory with a team, or ends that.
pub const PROJECT_TEAM: &str = "/v1/projects/team";
/// `POST` [`TeamPlace`], whose name is not used: [`TeamProjectsReply`].
pub const TEAM_PROJECTS: &str = "/v1/team/projects";
/// `POST` [`AnchorsParams`]: [`AnchorsReply`], where the code of anchors is.
pub const ANCHORS: &str = "/v1/anchors";
/// `GET` with [`JournalQuery`]: [`JournalLine`]s, oldest first, as [`JSON_LINES`].
pub const JOURNAL: &str = "/v1/journal";
/// `POST` [`ProjectParams`]: [`VerifyReply`]. Damage is reported in the reply, not as an error.
pub const JOURNAL_VERIFY: &str = "/v1/journal/verify";
/// `POST` [`ProjectParams`]: [`RebuildReply`].
pub const JOURNAL_REBUILD: &str = "/v1/journal/rebuild";
/// `POST` [`RepairParams`]: [`RepairReply`].
pub const JOURNAL_REPAIR: &str = "/v1/journal/repair";
/// `GET` with [`BackupQuery`]: entries as the lines of a backup, as [`JSON_LINES`].
pub const BACKUP: &str = "/v1/backup";
/// `POST` [`RestoreParams`]: [`RestoreReply`].
pub const RESTORE: &str = "/v1/restore";
/// `GET` with [`ExportQuery`]: the document.
pub const EXPORT: &str = "/v1/export";
/// `POST` [`ImportParams`]: [`ImportReply`].
pub const IMPORT: &str = "/v1/import";
/// `POST` [`PastSessionsParams`]: [`PastSessionsReply`].
pub const SESSIONS: &str = "/v1/sessions";
/// `POST` [`MergeQuery`]: [`MergeTask`], what a model gets.
pub const MERGE: &str = "/v1/merge";
/// `POST` [`MergeParams`]: [`MergeReply`], what became of what a model gave.
pub const MERGE_END: &str = "/v1/merge/end";
/// `POST` [`PurgeParams`]: [`PurgeReply`]. Removes content from disk for good.
pub const PURGE: &str = "/v1/purge";
/// `GET` with [`ProjectQuery`]: [`SecretsReply`].
pub const SECRETS: &str = "/v1/secrets";
/// `POST` [`ToolParams`]: [`ToolReply`], the text that a reader gets and the records it is about.
pub const TOOL: &str = "/v1/tool";
/// `GET`: [`NowReply`], the live sessions.
pub const NOW: &str = "/v1/now";
/// `GET` with [`GivenQuery`]: [`GivenReply`], the text of an answer that is still in memory.
pub const GIVEN: &str = "/v1/given";
/// `POST` [`RecordsParams`]: [`RecordsReply`], records for a view.
pub const RECORDS: &str = "/v1/records";
/// `GET` with [`ProjectQuery`]: [`GrowthReply`].
pub const GROWTH: &str = "/v1/growth";
/// `GET` with [`LogQuery`]: [`LogReply`].
pub const LOG: &str = "/v1/log";
/// `POST` [`StopParams`]: [`StopReply`]. The daemon then drains and exits.
pub const STOP: &str = "/v1/stop";

/// The content type of [`JOURNAL`]'s replies.
pub const JSON_LINES: &str = "application/x-ndjson";

/// The reason a request failed: the body of every reply that is not 2xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReply {
    /// The kind of failure, named after what the caller can do about it; for programs.
    pub code: ErrorCode,
    /// The message, a lower-case fragment that fits after "error: ".
    pub error: String,
    /// The next step, as a sentence. Absent when there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// The ways in which a request fails, named after what the caller will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is malformed; change it.
    BadRequest,
    /// There is no such project, entry or path.
    NotFound,
    /// The daemon refuses in the present state: a live session, a missing confirmation, another
    /// machine's lock.
    Refused,
    /// The project is damaged or has a newer format, and is open only for reading.
    Damaged,
    /// The tool cannot do what was requested; read the message.
    Failed,
    /// The request can be tried again: a queue is full, or the daemon is draining.
    Busy,
    /// A fault in anchord. The message has an id that is also in the log. Readers also use this
    /// code in place of codes that they do not know.
    #[serde(other)]
    Internal,
}

impl ErrorCode {
    /// Returns the HTTP status for the code.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::NotFound => 404,
            Self::Refused => 409,
            Self::Damaged | Self::Failed => 422,
            Self::Busy => 503,
            Self::Internal => 500,
        }
    }
}

/// Parameters of a `GET` about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectQuery {
    /// A directory or an id.
    pub project: String,
}

/// Parameters of a `POST` about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectParams {
    /// A directory or an id.
    pub project: String,
}

/// The daemon's current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReply {
    /// The daemon's version.
    pub build: String,
    /// The daemon's process id.
    pub pid: u32,
    /// The inode of the daemon's PID namespace, if the system reports it. In another namespace
    /// `pid` means nothing.
    #[serde(default)]
    pub pid_namespace: Option<u64>,
    /// The time at which the daemon was ready.
    pub started: i64,
    /// Milliseconds since then, by the monotonic clock.
    pub uptime_ms: u64,
    /// The instance's id and directories.
    pub instance: InstanceStatus,
    /// The state of the status port on loopback.
    pub http: HttpState,
    /// Live sessions: connected, or within their grace period. Oldest first.
    pub sessions: Vec<SessionSummary>,
    /// Connected shims, one for each process.
    #[serde(default)]
    pub connections: Vec<ConnectionStatus>,
    /// Every project that the daemon knows, the last used first.
    pub projects: Vec<ProjectStatus>,
    /// The user's own memory. Absent until something is written to it.
    #[serde(default)]
    pub personal: Option<ProjectStatus>,
    /// Counts of events since `started`.
    #[serde(default)]
    pub counters: CountersStatus,
    /// Outlines of files since `started`.
    #[serde(default)]
    pub outlines: OutlinesStatus,
    /// Actions that wait for a person's approval.
    #[serde(default)]
    pub approvals_waiting: u64,
    /// Hook events since `started`.
    #[serde(default)]
    pub hooks: HooksStatus,
    /// The reason the registry of projects and sessions accepts no writes. No new session can write
    /// then.
    #[serde(default)]
    pub read_only: Option<String>,
    /// The reasons why settings are ignored and the defaults apply, as fragments after "cannot".
    #[serde(default)]
    pub config_ignored: Vec<String>,
    /// The reason why this machine has not joined the team of its environment yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joining: Option<String>,
}

/// Outlines of files that agents got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutlinesStatus {
    /// Outlines given.
    pub given: u64,
    /// Those of them that were made before.
    pub cached: u64,
    /// Files that could not be parsed in their language.
    pub failed: u64,
    /// Files of which hooks offered the outline.
    pub offered: u64,
    /// Tokens of the outlines given.
    pub tokens_given: u64,
    /// Tokens that their files have more than these.
    pub tokens_saved: u64,
}

/// The instance's id and directories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceStatus {
    /// A UUID that is created with the instance.
    pub id: String,
    /// The instance directory with the lock, the socket and the key.
    pub directory: String,
    /// The directory of journals, snapshots and indexes.
    pub data: String,
    /// The directory of `config.toml`.
    pub config: String,
    /// The directory of logs.
    pub logs: String,
}

/// The status port's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum HttpState {
    /// The port is served.
    Listening {
        /// The address and port.
        address: String,
    },
    /// The port is switched off by configuration or by `ANCHORD_HTTP=off`.
    Off,
    /// The port should be served but cannot be.
    Taken {
        /// The configured port.
        port: u16,
        /// The system's error.
        reason: String,
    },
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The session's id.
    pub id: String,
    /// The client's own name and version, such as `claude-code 2.1.330`. Empty until it sends one.
    #[serde(default)]
    pub client: String,
    /// The agent's process, if it is visible.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The project, once a call has bound the session to it.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// The time at which the session began.
    pub since: i64,
    /// The time of the last call; `since` if there was none.
    pub last_call: i64,
    /// Whether the session is connected. False while the daemon waits for it to come back.
    pub connected: bool,
    /// Counts of what the session has checkpointed but not saved.
    #[serde(default)]
    pub staged: StagedStatus,
    /// Whether `staged` is not known, because the memory that has it is not open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub staged_unknown: bool,
    /// The confidence with which hook events are matched to this session: `by id`, `by process`, or
    /// `alone` where no connection is known. Absent if there were no events.
    #[serde(default)]
    pub joined: Option<String>,
}

/// A project's id and directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRef {
    /// A UUID that survives moves.
    pub id: String,
    /// The directory in which the project was last seen.
    pub root: String,
}

/// Counts of what is staged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StagedStatus {
    /// Items by kind.
    #[serde(flatten)]
    pub items: ByKind<u32>,
    /// Whether a checkpoint left a summary.
    pub summary: bool,
}

/// A project as the daemon knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectStatus {
    /// A UUID that survives moves.
    pub id: String,
    /// The directory in which the project was last seen.
    pub root: String,
    /// The project's given name, or else the root's last component.
    pub name: String,
    /// Whether `root` exists. False if its disk does not respond.
    pub exists: bool,
    /// Whether the project's store is open.
    pub open: bool,
    /// Active records by kind. Absent while the store is closed, since a list opens no store.
    #[serde(default)]
    pub records: Option<ByKind<u64>>,
    /// The number of commits, as last seen.
    pub revision: u64,
    /// The number of journal entries, as last seen.
    pub entries: u64,
    /// The size on disk, in bytes.
    pub bytes: u64,
    /// The time of the last call.
    #[serde(default)]
    pub last_used: Option<i64>,
    /// The reason the project cannot be written to, if it cannot.
    #[serde(default)]
    pub read_only: Option<String>,
    /// Whether files cannot be read, so that `bytes` and `last_used` are not known.
    #[serde(default)]
    pub unread: bool,
    /// The state of its shared files, if the user shares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedStatus>,
    /// The team that shares it, if one does and the project is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamSummary>,
}

/// Counts of events since the daemon started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountersStatus {
    /// Connections accepted.
    pub connections: u64,
    /// Tool calls answered.
    pub calls: u64,
    /// Tool calls answered with an error.
    pub calls_failed: u64,
    /// Panics caught.
    pub panics: u64,
}

/// Every project that the daemon knows, the last used first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectsReply {
    /// The projects.
    pub projects: Vec<ProjectStatus>,
}

/// Parameters to make a directory part of a project that the daemon knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkParams {
    /// The directory.
    pub path: String,
    /// A directory of the project, or the project's id.
    pub project: String,
}

/// Parameters to remove a project from the registry. Its data stays on disk and comes back with its
/// id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetParams {
    /// A directory or an id.
    pub project: String,
}

/// Parameters to remove a project from the registry and from disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteParams {
    /// A directory or an id.
    pub project: String,
    /// The project's id, as confirmation that the project shown is the one deleted.
    pub confirm: String,
}

/// The project that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedReply {
    /// The project.
    pub project: ProjectRef,
    /// The number of bytes freed; 0 if the data stays.
    pub bytes: u64,
}

/// The range of journal entries to return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalQuery {
    /// A directory or an id.
    pub project: String,
    /// The first entry; 1 if absent.
    #[serde(default)]
    pub from: Option<u64>,
    /// The maximum number of entries. The daemon may return fewer, and returns none only at the
    /// end.
    pub limit: u32,
}

/// The fields of a journal line that are useful to people. The line itself has more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// The entry's number.
    pub seq: u64,
    /// The commit's number, if the entry is a commit.
    #[serde(default)]
    pub revision: Option<u64>,
    /// The time at which the entry was accepted.
    pub time: i64,
    /// The session that wrote the entry.
    #[serde(default)]
    pub session: Option<String>,
    /// The requested operation.
    pub op: String,
    /// The changes that the entry made.
    #[serde(default)]
    pub changes: Vec<serde_json::Value>,
}

/// The result of reading a whole journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReply {
    /// The project to which the journal belongs.
    pub project: ProjectRef,
    /// Segment files read.
    pub segments: u32,
    /// The number of good entries, before the first bad place if there is one in the journal.
    pub entries: u64,
    /// Whether there is such a place, so that the entries after it were not read.
    #[serde(default)]
    pub is_cut: bool,
    /// Bytes read.
    pub bytes: u64,
    /// Whether the index follows the journal.
    pub index: IndexState,
    /// The journal's problems, in the order of the journal.
    pub problems: Vec<Problem>,
}

impl VerifyReply {
    /// Returns whether there is nothing to repair. An index that is merely behind catches up by
    /// itself.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The state of the index in relation to the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum IndexState {
    /// The index follows every write.
    InUse,
    /// The index failed. It is tried again after later writes, and nothing is lost meanwhile.
    OutOfUse {
        /// The reason.
        reason: String,
    },
}

/// A problem in a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The segment's file name; empty if the problem has no file.
    pub file: String,
    /// The line, counted from 1; 0 if the problem has no line.
    pub line: u64,
    /// A description of the problem.
    pub what: String,
    /// Whether the file could not be read, which says nothing about its content. Another try may
    /// succeed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unread: bool,
}

impl Problem {
    /// Returns whether a snapshot is damaged. The journal has all that it holds.
    pub fn is_of_snapshot(&self) -> bool {
        self.file.starts_with("snapshot/") && !self.is_unread
    }
}

/// The result of rebuilding an index from snapshot and journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildReply {
    /// The project to which the index belongs.
    pub project: ProjectRef,
    /// Entries read.
    pub entries: u64,
    /// Rows written.
    pub rows: u64,
    /// The duration, in milliseconds.
    pub took_ms: u64,
}

/// The journal to repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairParams {
    /// A directory of the project, or its id.
    pub project: String,
    /// The plan to carry out. Without one, the daemon makes a plan and changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<RepairPlan>,
}

/// A plan to repair a journal, or the plan that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairReply {
    /// The project to which the journal belongs.
    pub project: ProjectRef,
    /// The reason the project cannot be written to, if it cannot.
    pub read_only: Option<String>,
    /// The parts to restore, and their sources.
    pub plan: RepairPlan,
    /// Whether there is anything to repair.
    pub is_needed: bool,
    /// Whether the journal was repaired.
    pub is_done: bool,
}

/// An empty object: proof that the whole request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopParams {}

/// The acknowledgement that the daemon will drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReply {
    /// The process that ends.
    pub pid: u32,
    /// The number of open sessions. Their shims start a daemon again when they need one.
    pub sessions: u32,
}

#[cfg(test)]
mod tests;
