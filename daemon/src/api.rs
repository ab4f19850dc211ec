//! The admin API: what the command line asks over the socket in the role `http`, and what it gets.
//!
//! JSON both ways, except [`EXPORT`] (the document itself), [`JOURNAL`] and [`LOG`] (a line for
//! each entry). Readers ignore fields they do not know and give those they miss a default, so that
//! a client and a daemon one build apart understand each other. A `project` argument is an absolute
//! directory in the project, the project's id, or [`USER`]. Requests that link, split, forget or
//! delete a project do not take [`USER`]. Paths are text: a name that is not UTF-8 is shown with
//! replacement characters and cannot be asked for. Times are milliseconds since the Unix epoch.

mod connections;
mod hooks;
mod purge;
mod sessions;
mod split;
mod tool;
mod transfer;

use serde::{Deserialize, Serialize};

pub use connections::ConnectionStatus;
pub use hooks::{HookEventsStatus, HookFailureStatus, HooksStatus};
pub use purge::{PurgeParams, PurgeReply, PurgedStatus, SecretEntry, SecretRecord, SecretsReply};
pub use sessions::{
    PastSessionParams, PastSessionsLeftOut, PastSessionsParams, PastSessionsProject,
    PastSessionsReply,
};
pub use split::{SplitParams, SplitPart, SplitReply};
pub use tool::{LogQuery, PlannedCompaction, PlannedFold, Retrieval, ToolParams, ToolReply};
pub use transfer::{
    ExportDocument, ExportFormat, ExportQuery, ImportCounts, ImportParams, ImportReply,
    ImportSource,
};

pub use crate::store::{RepairPlan, RepairRange};

/// The `project` argument that names the user's own memory, which is not a project.
pub const USER: &str = "user";

/// `GET`: [`StatusReply`].
pub const STATUS: &str = "/v1/status";
/// `GET`: [`ProjectsReply`], every project the daemon knows.
pub const PROJECTS: &str = "/v1/projects";
/// `GET` with [`ProjectQuery`]: [`ProjectStatus`] of one project, opened so that its records are counted.
pub const PROJECT: &str = "/v1/project";
/// `POST` [`LinkParams`]: [`ProjectStatus`] of the project that the directory belongs to from now on.
pub const PROJECT_LINK: &str = "/v1/projects/link";
/// `POST` [`ForgetParams`]: [`RemovedReply`]; the registry's row goes, the data stays.
pub const PROJECT_FORGET: &str = "/v1/projects/forget";
/// `POST` [`DeleteParams`]: [`RemovedReply`]; row and data go.
pub const PROJECT_DELETE: &str = "/v1/projects/delete";
/// `POST` [`SplitParams`]: [`SplitReply`].
pub const PROJECT_SPLIT: &str = "/v1/projects/split";
/// `GET` with [`JournalQuery`]: [`JournalLine`]s, oldest first, as [`JSON_LINES`].
pub const JOURNAL: &str = "/v1/journal";
/// `POST` [`ProjectParams`]: [`VerifyReply`]. Damage that was found is part of the reply, not an error.
pub const JOURNAL_VERIFY: &str = "/v1/journal/verify";
/// `POST` [`ProjectParams`]: [`RebuildReply`].
pub const JOURNAL_REBUILD: &str = "/v1/journal/rebuild";
/// `POST` [`RepairParams`]: [`RepairReply`].
pub const JOURNAL_REPAIR: &str = "/v1/journal/repair";
/// `GET` with [`ExportQuery`]: the document.
pub const EXPORT: &str = "/v1/export";
/// `POST` [`ImportParams`]: [`ImportReply`].
pub const IMPORT: &str = "/v1/import";
/// `POST` [`PastSessionsParams`]: [`PastSessionsReply`].
pub const SESSIONS: &str = "/v1/sessions";
/// `POST` [`PurgeParams`]: [`PurgeReply`]; content goes off the disk for good.
pub const PURGE: &str = "/v1/purge";
/// `GET` with [`ProjectQuery`]: [`SecretsReply`].
pub const SECRETS: &str = "/v1/secrets";
/// `POST` [`ToolParams`]: [`ToolReply`], what an agent would be told and the records it is about.
pub const TOOL: &str = "/v1/tool";
/// `GET` with [`LogQuery`]: [`Retrieval`]s, oldest first, as [`JSON_LINES`].
pub const LOG: &str = "/v1/log";
/// `POST` an empty object: [`StopReply`], after which the daemon drains and exits.
pub const STOP: &str = "/v1/stop";

/// The content type of [`JOURNAL`]'s and [`LOG`]'s replies.
pub const JSON_LINES: &str = "application/x-ndjson";

/// Why a request failed: the body of every reply that is not 2xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReply {
    /// What the caller can do about it, for programs.
    pub code: ErrorCode,
    /// What is wrong, a lower-case fragment that fits after "error: ".
    pub error: String,
    /// What to do next, a sentence; absent when there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// The ways a request fails, named after what the caller will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Ask differently.
    BadRequest,
    /// There is no such project, entry or path.
    NotFound,
    /// The daemon will not do this as things stand: a live session, a missing confirmation, another machine's lock.
    Refused,
    /// The project is damaged, or of a newer format, and open for reading alone.
    Damaged,
    /// Read the message: a tool was asked for what it cannot do.
    Failed,
    /// Try again: a queue is full, or the daemon drains.
    Busy,
    /// Our fault; the log has the id that the message names. Also what a reader makes of a code it does not know.
    #[serde(other)]
    Internal,
}

impl ErrorCode {
    /// The HTTP status that goes with the code.
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

/// Which project a `GET` is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectQuery {
    /// A directory or an id.
    pub project: String,
}

/// Which project a `POST` is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectParams {
    /// A directory or an id.
    pub project: String,
}

/// The daemon as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReply {
    /// The daemon's version.
    pub build: String,
    /// Its process.
    pub pid: u32,
    /// The inode of its PID namespace, where the system tells: in another one `pid` means nothing.
    #[serde(default)]
    pub pid_namespace: Option<u64>,
    /// When it was ready.
    pub started: i64,
    /// How long ago that is, by a clock that nobody sets.
    pub uptime_ms: u64,
    /// Where everything is.
    pub instance: InstanceStatus,
    /// The status port on loopback.
    pub http: HttpState,
    /// Sessions that are live: connected, or inside their grace. Oldest first.
    pub sessions: Vec<SessionStatus>,
    /// Shims that are connected, by process.
    #[serde(default)]
    pub connections: Vec<ConnectionStatus>,
    /// Every project the daemon knows, last used first.
    pub projects: Vec<ProjectStatus>,
    /// The user's own memory. Absent until something is written to it.
    #[serde(default)]
    pub personal: Option<ProjectStatus>,
    /// What happened since `started`.
    #[serde(default)]
    pub counters: CountersStatus,
    /// What agents' hooks told since `started`.
    #[serde(default)]
    pub hooks: HooksStatus,
    /// Why what the daemon knows of projects and sessions takes no writes: no session that is new can write then.
    #[serde(default)]
    pub read_only: Option<String>,
}

/// The instance's id and directories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceStatus {
    /// A UUID, made with the instance.
    pub id: String,
    /// The instance directory: lock, socket, key.
    pub directory: String,
    /// Journals, snapshots, indexes.
    pub data: String,
    /// `config.toml`.
    pub config: String,
    /// Logs.
    pub logs: String,
}

/// The status port's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum HttpState {
    /// Serving.
    Listening {
        /// Address and port.
        address: String,
    },
    /// Switched off by configuration or `ANCHORD_HTTP=off`.
    Off,
    /// It should serve, but cannot.
    Taken {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        reason: String,
    },
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// The daemon's id for it.
    pub id: String,
    /// The client's own name and version, `claude-code 2.1.330`; empty before it gave one.
    #[serde(default)]
    pub client: String,
    /// The agent's process, where it can be seen.
    #[serde(default)]
    pub pid: Option<u32>,
    /// Its project, once a call has bound it.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// When it began.
    pub since: i64,
    /// Its last call; `since` when it made none.
    pub last_call: i64,
    /// False while the daemon waits whether it comes back.
    pub connected: bool,
    /// What it has checkpointed but not saved.
    #[serde(default)]
    pub staged: StagedStatus,
    /// How sure it is that hooks' events are this session's: `by id`, `by process`, or `alone` where no connection is
    /// known; absent where there were none.
    #[serde(default)]
    pub joined: Option<String>,
}

/// A project's id and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRef {
    /// A UUID that survives moves.
    pub id: String,
    /// The directory it was last seen in.
    pub root: String,
}

/// Counts of what is staged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StagedStatus {
    /// Blueprints.
    pub blueprints: u32,
    /// Anchors.
    pub anchors: u32,
    /// Lessons.
    pub lessons: u32,
    /// Notes.
    pub notes: u32,
    /// Whether a checkpoint left a summary.
    pub summary: bool,
}

/// A project as the daemon knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectStatus {
    /// A UUID that survives moves.
    pub id: String,
    /// The directory it was last seen in.
    pub root: String,
    /// The root's last component, or what the project was named.
    pub name: String,
    /// Whether `root` is there now; not, when its disk does not answer.
    pub exists: bool,
    /// Whether its store is open.
    pub open: bool,
    /// Active records by kind; absent while the store is closed, since nothing is opened for a list.
    #[serde(default)]
    pub records: Option<RecordsStatus>,
    /// Commits so far, as last seen.
    pub revision: u64,
    /// Journal entries so far, as last seen.
    pub entries: u64,
    /// What it takes on disk.
    pub bytes: u64,
    /// Its last call.
    #[serde(default)]
    pub last_used: Option<i64>,
    /// Why it cannot be written, if it cannot.
    #[serde(default)]
    pub read_only: Option<String>,
}

/// Active records by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordsStatus {
    /// Blueprints.
    pub blueprints: u64,
    /// Anchors.
    pub anchors: u64,
    /// Lessons.
    pub lessons: u64,
    /// Notes of the project.
    pub notes: u64,
    /// Topics.
    #[serde(default)]
    pub topics: u64,
    /// Session rows.
    pub sessions: u64,
}

impl RecordsStatus {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.blueprints + self.anchors + self.lessons + self.notes + self.topics + self.sessions
    }
}

/// What happened since the daemon started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountersStatus {
    /// Connections welcomed.
    pub connections: u64,
    /// Tool calls answered.
    pub calls: u64,
    /// Tool calls answered with an error.
    pub calls_failed: u64,
    /// Panics caught.
    pub panics: u64,
}

/// Every project the daemon knows, last used first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectsReply {
    /// The projects.
    pub projects: Vec<ProjectStatus>,
}

/// Makes a directory part of a project that the daemon knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkParams {
    /// The directory.
    pub path: String,
    /// A directory of the project, or its id.
    pub project: String,
}

/// Takes a project out of the registry; its data stays on disk and comes back with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetParams {
    /// A directory or an id.
    pub project: String,
}

/// Takes a project out of the registry and off the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteParams {
    /// A directory or an id.
    pub project: String,
    /// The project's id: what was shown is what is deleted.
    pub confirm: String,
}

/// What was taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedReply {
    /// Which project.
    pub project: ProjectRef,
    /// Bytes freed; 0 when the data stays.
    pub bytes: u64,
}

/// Which entries of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalQuery {
    /// A directory or an id.
    pub project: String,
    /// The first entry; without it, 1.
    #[serde(default)]
    pub from: Option<u64>,
    /// At most so many; the daemon may give fewer, and gives none only at the end.
    pub limit: u32,
}

/// The part of a journal line that people want to see; the line itself has more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// The entry's number.
    pub seq: u64,
    /// The commit's number, if it is one.
    #[serde(default)]
    pub revision: Option<u64>,
    /// When it was accepted.
    pub time: i64,
    /// The session that wrote.
    #[serde(default)]
    pub session: Option<String>,
    /// What was asked.
    pub op: String,
    /// What changed.
    #[serde(default)]
    pub changes: Vec<serde_json::Value>,
}

/// What reading a whole journal found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReply {
    /// The project that the journal belongs to.
    pub project: ProjectRef,
    /// Segment files read.
    pub segments: u32,
    /// Good entries.
    pub entries: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Whether the index follows the journal.
    pub index: IndexState,
    /// What is wrong with the journal, in its order.
    pub problems: Vec<Problem>,
}

impl VerifyReply {
    /// Whether there is nothing to repair. An index that is merely behind catches up by itself.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// How the index stands to the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum IndexState {
    /// It follows every write.
    InUse,
    /// It failed and waits for the next opening, which builds it anew. Nothing is lost by it.
    OutOfUse {
        /// Why.
        reason: String,
    },
}

/// A bad place in a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The segment's file name; empty where it is no place in a file.
    pub file: String,
    /// The line, from 1; 0 where it is no line.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

impl Problem {
    /// Whether it is a snapshot's, which the journal has all of.
    pub fn is_of_snapshot(&self) -> bool {
        self.file.starts_with("snapshot/")
    }
}

/// An index was made anew from snapshot and journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildReply {
    /// Whose index.
    pub project: ProjectRef,
    /// Entries read.
    pub entries: u64,
    /// Rows written.
    pub rows: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// Which journal to repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairParams {
    /// Its project.
    pub project: String,
    /// The plan to carry out; without one, a plan is made and nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<RepairPlan>,
}

/// A plan to repair a journal, or that it was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairReply {
    /// The project that the journal belongs to.
    pub project: ProjectRef,
    /// Why nothing can be written, if that is so.
    pub read_only: Option<String>,
    /// The parts to restore, and their sources.
    pub plan: RepairPlan,
    /// Whether there is anything to repair.
    pub is_needed: bool,
    /// Whether it was repaired.
    pub is_done: bool,
}

/// The daemon heard and will drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReply {
    /// The process that ends.
    pub pid: u32,
    /// Sessions it still has; their shims start a daemon again when they need one.
    pub sessions: u32,
}

#[cfg(test)]
mod tests;
