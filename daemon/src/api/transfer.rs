//! What a memory is exported as and imported from.

use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// Which document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportQuery {
    /// A directory or an id.
    pub project: String,
    /// Its form.
    pub format: ExportFormat,
}

/// The forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Everything active, for people.
    Markdown,
    /// [`ExportDocument`].
    Json,
    /// A zipmem `state.json`.
    Zipmem,
    /// A `state.json` of the compactor.
    Compactor,
}

/// Everything a project remembers, as JSON: records at their newest version whatever their standing,
/// what sessions have staged, and which conversation has which topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportDocument {
    /// 1.
    pub format: u32,
    /// Whose memory.
    pub project: ProjectRef,
    /// Commits so far.
    pub revision: u64,
    /// By kind and number.
    pub records: Vec<anchord_memory::Record>,
    /// By session.
    pub staged: std::collections::BTreeMap<anchord_memory::SessionId, anchord_memory::Staged>,
    /// Names of topics by the keys of the conversations that are bound to them.
    #[serde(default)]
    pub bindings: std::collections::BTreeMap<String, String>,
}

/// Another system's or another project's memory, read by the caller: the daemon opens no file it is merely told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportParams {
    /// A directory or an id; a directory becomes a project when it is none.
    pub project: String,
    /// Whose form it is.
    pub source: ImportSource,
    /// Where it was read, for the reply and the journal.
    pub path: String,
    /// The state file's text.
    pub state: String,
    /// The session file's text, if there is one: staged work.
    #[serde(default)]
    pub session: Option<String>,
    /// Plan alone, change nothing.
    pub dry_run: bool,
}

/// The systems that can be imported from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// `.zipmem/state.json` and `.zipmem/session.json`.
    Zipmem,
    /// The compactor's `state.json`.
    Compactor,
    /// An [`ExportDocument`].
    Anchord,
}

/// What an import does, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReply {
    /// Into which project; absent in a plan for a directory that is not one yet.
    #[serde(default)]
    pub project: Option<ProjectRef>,
    /// Whether it was done; false for a plan, and when there was nothing to do.
    pub applied: bool,
    /// Whether exactly this was imported before.
    pub already: bool,
    /// Whether there is nothing to write, since all of it is here or left out; nothing is remembered of it then.
    #[serde(default)]
    pub nothing: bool,
    /// The commit that it became.
    #[serde(default)]
    pub revision: Option<u64>,
    /// Blueprints.
    pub blueprints: ImportCounts,
    /// Anchors.
    pub anchors: ImportCounts,
    /// Lessons.
    pub lessons: ImportCounts,
    /// Session rows.
    pub sessions: ImportCounts,
    /// Notes.
    #[serde(default)]
    pub notes: ImportCounts,
    /// Topics.
    #[serde(default)]
    pub topics: ImportCounts,
    /// Items that are here already, or go into records that are.
    #[serde(default)]
    pub merged: u32,
    /// What was left out or changed on the way, and why; one sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// What becomes of one kind's items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportCounts {
    /// In the source, staged work included.
    pub found: u32,
    /// Of those, how many become records.
    pub new: u32,
}
