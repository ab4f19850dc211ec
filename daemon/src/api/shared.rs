//! Memories that are shared through git: their state, and requests about them.

use anchord_memory::{RecordId, Rivals};
use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// The state of a memory that is shared through git.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedStatus {
    /// The number of shared records.
    pub records: usize,
    /// The number of files.
    pub files: usize,
    /// The number of records and files for which a person has to decide.
    pub conflicts: usize,
    /// Remarks for a person, conflicts first.
    pub remarks: Vec<SharedRemark>,
    /// The number of further remarks.
    #[serde(default)]
    pub more: usize,
    /// Whether nothing was compared yet, since the memory is not open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unseen: bool,
    /// The reason why nothing is exchanged now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
}

/// Something about one record or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRemark {
    /// The record, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// The file, relative to the shared directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The remark.
    pub what: String,
    /// Whether a person has to decide.
    #[serde(default)]
    pub is_conflict: bool,
}

impl SharedRemark {
    pub(crate) fn file(path: &str, what: &str) -> Self {
        let file = Some(path.to_owned());
        Self { record: None, file, what: what.to_owned(), is_conflict: false }
    }

    pub(crate) fn conflict_in(path: &str, what: &str) -> Self {
        Self { is_conflict: true, ..Self::file(path, what) }
    }

    pub(crate) fn record(record: RecordId, what: &str) -> Self {
        let what = what.to_owned();
        Self { record: Some(record), file: None, what, is_conflict: false }
    }

    /// Words two records of one name that say different things.
    pub(crate) fn rivals(rivals: &Rivals) -> Self {
        let Rivals { first, second, name, is_set_aside } = rivals;
        let what = if *is_set_aside {
            format!(
                "{second} has another clone's description of topic `{name}` ({first}); put what is \
                 to stay into `{name}`, then forget {second}"
            )
        } else {
            format!(
                "{first} and {second} say different things under one name, `{name}`; forget one, \
                 or change its name"
            )
        };
        Self { is_conflict: true, ..Self::record(*second, &what) }
    }

    /// Words the remark with its file, if it is about one. The name of a file may have any
    /// characters, so it stays on one line.
    pub(crate) fn in_full(&self) -> String {
        match &self.file {
            Some(file) => format!("{}: {}", file.escape_debug(), self.what),
            None => self.what.clone(),
        }
    }
}

/// An action on a memory's shared files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedAction {
    /// Report the state.
    #[default]
    Look,
    /// Share from now on.
    Share,
    /// Stop sharing. All files and records stay.
    Unshare,
    /// Decide a conflict for the record's side.
    KeepMemory(RecordId),
    /// Decide a conflict for the file's side.
    KeepFile(RecordId),
}

/// A request about a memory's shared files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedParams {
    /// A directory of the project, or its id.
    pub project: String,
    /// The action.
    #[serde(default)]
    pub action: SharedAction,
}

/// The state of a memory's shared files after a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedReply {
    /// The project, once it has a memory.
    pub project: Option<ProjectRef>,
    /// The root of the project.
    pub root: String,
    /// The directory of shared files, relative to the root.
    pub directory: String,
    /// Whether the user shares the memory.
    pub is_on: bool,
    /// Whether the user has stopped sharing it, so that the files there are from before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_on: bool,
    /// The worktree that had the files and is gone. Sharing again in the one that was asked about
    /// uses the files there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Whether the project has shared files. Without sharing, nothing of them is read.
    pub has_files: bool,
    /// The number of records that have a file while the memory is shared.
    pub records: usize,
    /// The number of files.
    pub files: usize,
    /// The state, if the memory is shared.
    pub status: Option<SharedStatus>,
    /// A remark about the request.
    pub remark: Option<String>,
}
