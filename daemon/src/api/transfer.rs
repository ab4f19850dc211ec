//! Exports and imports of a memory.

use anchord_memory::import::NamedText;
use serde::{Deserialize, Serialize};

use super::{ByKind, ProjectRef};

/// The document to export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportQuery {
    /// A directory or an id.
    pub project: String,
    /// The document's format.
    pub format: ExportFormat,
}

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// All active records, for people.
    Markdown,
    /// [`ExportDocument`].
    Json,
    /// A `state.json` of zipmem.
    Zipmem,
    /// A `state.json` of the compactor.
    Compactor,
    /// The brief as a state of infinite-context.
    InfiniteContext,
    /// The files of snap-memory's folder: a JSON object with their texts by name.
    SnapMemory,
}

/// The whole memory of a project as JSON. It holds the newest version of every record in any state,
/// the staged work of sessions, and which conversation has which topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportDocument {
    /// The format's version, 1.
    pub format: u32,
    /// The project, or the user's own memory.
    pub project: ProjectRef,
    /// The number of commits.
    pub revision: u64,
    /// The records, ordered by kind and number.
    pub records: Vec<anchord_memory::Record>,
    /// Staged work by session.
    pub staged: std::collections::BTreeMap<anchord_memory::SessionId, anchord_memory::Staged>,
    /// Names of topics by the keys of the conversations that are bound to them.
    #[serde(default)]
    pub bindings: std::collections::BTreeMap<String, String>,
}

/// The memory of another system or project. The caller reads it, because the daemon opens no file
/// that is merely named to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportParams {
    /// A directory or an id. A directory that is not a project becomes one.
    pub project: String,
    /// Whether a directory in a repository is imported into as a project of its own, marked or not.
    #[serde(default)]
    pub part: bool,
    /// The name of the system whose format it has, as in
    /// [`SOURCES`](anchord_memory::import::SOURCES).
    pub source: String,
    /// The path that was read, for the reply and the journal.
    pub path: String,
    /// The files' texts, in the order in which the system lists its files.
    pub texts: Vec<NamedText>,
    /// Whether to plan only, and change nothing.
    pub dry_run: bool,
}

/// The plan of an import, or its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReply {
    /// The target project. Absent in a plan for a directory that is not a project yet.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// Whether the import was carried out. False for a plan, and if there was nothing to do.
    pub applied: bool,
    /// Whether exactly this was imported before.
    pub already: bool,
    /// Whether there is nothing to write, because everything is here already or left out. Such an
    /// import is not remembered.
    #[serde(default)]
    pub nothing: bool,
    /// The revision of the import's commit, or of its last one.
    #[serde(default)]
    pub revision: Option<u64>,
    /// The revisions of all its commits, oldest first, if it has several. Others may have written
    /// between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<u64>,
    /// Counts by kind.
    #[serde(flatten)]
    pub counts: ByKind<ImportCounts>,
    /// The number of items that are here already, or are merged into records that are.
    #[serde(default)]
    pub merged: u32,
    /// Remarks about what was left out or changed, and why; one sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// The counts of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportCounts {
    /// Items in the source, staged work included.
    pub found: u32,
    /// Items that become new records.
    pub new: u32,
}
