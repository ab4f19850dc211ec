//! Changes, which journal entries hold. Applying them in order gives the memory.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::held::{Held, HeldKey};
use crate::ids::{NoticeId, RecordId, Revision, SessionId, Timestamp, Version};
use crate::record::Record;
use crate::settings::Settings;
use crate::staged::{Counts, Staged};

/// One change of a project's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A record's new version, complete. The previous version stays readable by (id, version). The
    /// record is shared with the memory that the change is applied to, unless that keeps its head
    /// alone.
    Put(Arc<Record>),
    /// A session staged more work.
    Stage {
        /// The session that staged.
        session: SessionId,
        /// The work of this checkpoint.
        part: Box<Staged>,
    },
    /// A session's staged work was folded into memory, or was empty, and is no longer staged.
    Unstage {
        /// The session whose staged work is removed.
        session: SessionId,
    },
    /// A session took over the staged work of its dead predecessor.
    Adopt {
        /// The predecessor.
        from: SessionId,
        /// The session that continues.
        to: SessionId,
    },
    /// The complete settings of the project, or of one client's own notes.
    Configure {
        /// The client; absent for the project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The settings that replace the earlier ones.
        settings: Settings,
        /// Whether a team shares them, which makes the change a commit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        shared: bool,
    },
    /// A conversation is bound to a topic, and the binding outlives the session.
    Bind {
        /// The agent's client and its own name for the conversation, or the session's id.
        key: String,
        /// The topic's name; `None` if the conversation no longer has a topic.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<String>,
    },
    /// Replaces a record's version whose content was purged.
    Purged(Box<Purged>),
    /// Digests of purged texts. The same text is not stored again.
    Tombstones {
        /// The project's salt for the digests.
        salt: String,
        /// The digests in hexadecimal.
        digests: Vec<String>,
        /// The time of the purge.
        time: Timestamp,
    },
    /// A team shares the memory from here on, or no longer does.
    Team(Team),
    /// A save, or the work of an ended session, waits until the team's database has it.
    Hold(Box<Held>),
    /// The database has what waited under this key.
    Release(HeldKey),
    /// This machine's copy of the team's journal reaches this place.
    Copied(Copied),
    /// A message that the next load shows once.
    Notify(Box<Notice>),
    /// A source was imported. Importing the same source again changes nothing.
    Imported {
        /// The kind of source, such as `zipmem`.
        source: String,
        /// A digest of the source's content.
        digest: String,
        /// The number of records that it yielded.
        records: u32,
        /// Whether the import was taken back, so that the source can be imported again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        undone: bool,
    },
}

impl Change {
    /// Returns whether this changes shared memory, which makes its entry a commit. A session's own
    /// notes and settings are not shared.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Put(record) => !record.is_private(),
            Self::Purged(purged) => !purged.private,
            Self::Notify(notice) => !notice.private,
            Self::Configure { shared, .. } => *shared,
            Self::Imported { .. } | Self::Tombstones { .. } | Self::Team(_) => true,
            Self::Stage { .. }
            | Self::Unstage { .. }
            | Self::Adopt { .. }
            | Self::Hold(_)
            | Self::Release(_)
            | Self::Copied(_)
            | Self::Bind { .. } => false,
        }
    }

    /// Returns the end of an entry that is the copy of a team's, if this is it.
    pub fn copied(&self) -> Option<&Copied> {
        match self {
            Self::Copied(copied) => Some(copied),
            _ => None,
        }
    }

    /// Returns the record that this writes, if it writes one.
    pub fn record(&self) -> Option<&Arc<Record>> {
        match self {
            Self::Put(record) => Some(record),
            _ => None,
        }
    }
}

/// The team that shares a memory, and the counters of the memory when that began.
///
/// Whoever joins has seen fewer records than the machine that created the team's project, whose
/// private ones stay there. The counters keep everyone from using their numbers again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// The project's id in the database; `None` once the memory is one machine's own again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The number of the last record.
    pub last_number: u64,
    /// The number of the last session row.
    pub session_rows: u64,
}

/// The place in a team's journal that a machine's copy of it reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyMark {
    /// The digest of the team's journal up to here, in hexadecimal. Two journals with the same
    /// digest have the same entries.
    pub digest: Arc<str>,
    /// The number of purges that the copy has followed.
    pub epoch: u64,
}

/// The end of an entry that is the copy of a team's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// The place that the copy reaches.
    #[serde(flatten)]
    pub mark: CopyMark,
    /// The name of the member who wrote the entry; `None` if this machine did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Arc<str>>,
}

impl From<CopyMark> for Copied {
    fn from(mark: CopyMark) -> Self {
        Self { mark, member: None }
    }
}

/// The numbers of a record's version whose content is gone from disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// The record.
    pub id: RecordId,
    /// The version.
    pub version: Version,
    /// The commit that wrote it.
    pub revision: Revision,
    /// The time of the purge.
    pub time: Timestamp,
    /// Whether a session kept it private, so that its entry need not be a commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// The number of a session row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
}

/// A message that the next load shows once, at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A running number among the project's notices.
    pub id: NoticeId,
    /// The time at which it was written.
    pub time: Timestamp,
    /// The session that it is about.
    pub session: SessionId,
    /// The session's row, which has the rest.
    pub row: RecordId,
    /// The reason why the session's work was folded.
    pub cause: NoticeCause,
    /// The numbers of records that were kept.
    pub kept: Counts,
    /// Whether some of the project's files could not be checked, so that more may have changed than
    /// `cause` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files_unseen: bool,
    /// Whether it stays on this machine, though a team shares the memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// The reason why a session's staged work was folded without its own save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeCause {
    /// The session ended without saving, which is normal.
    Ended,
    /// The daemon or the machine died, or files changed after the last checkpoint.
    Crashed {
        /// The files changed since the last checkpoint, relative to the project's root; at most 50.
        files: Vec<String>,
        /// The number of changed files beyond those named.
        more: u32,
    },
}

#[cfg(test)]
mod tests;
