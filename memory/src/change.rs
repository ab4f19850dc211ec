//! Changes: what a journal entry says happened. Applying them in order gives the memory.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{NoticeId, RecordId, Revision, SessionId, Timestamp, Version};
use crate::record::Record;
use crate::settings::Settings;
use crate::staged::{Counts, Staged};

/// One change of a project's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A record's new version, whole. The version before it stays readable by (id, version). Shared with
    /// the memory that it is applied to.
    Put(Arc<Record>),
    /// A session staged something more.
    Stage {
        /// The session that staged.
        session: SessionId,
        /// What came with this checkpoint.
        part: Box<Staged>,
    },
    /// A session's staged work was folded into memory, or was empty: it is no longer staged.
    Unstage {
        /// The session whose staged work is gone from the stage.
        session: SessionId,
    },
    /// A session took over the staged work of its dead predecessor.
    Adopt {
        /// The predecessor.
        from: SessionId,
        /// The session that goes on.
        to: SessionId,
    },
    /// What is configured for the project, or for one client's own notes, whole.
    Configure {
        /// The client; the project when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// Replaces what was configured.
        settings: Settings,
    },
    /// A thread of an agent's has a topic, and has it again tomorrow.
    Bind {
        /// The agent's client and its own name for the conversation, or the session's id.
        key: String,
        /// The topic's name; none when the thread has no topic any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<String>,
    },
    /// Stands where a record's version stood whose content was purged.
    Purged(Box<Purged>),
    /// Digests of what was purged: the same text is not taken in again.
    Tombstones {
        /// The project's, with which they were made.
        salt: String,
        /// In hexadecimal digits.
        digests: Vec<String>,
        /// When the purge was.
        time: Timestamp,
    },
    /// Something the next load should say once.
    Notify(Box<Notice>),
    /// A source was imported; the same source again changes nothing.
    Imported {
        /// What it was, `zipmem`.
        source: String,
        /// A digest of what was read.
        digest: String,
        /// How many records came of it.
        records: u32,
    },
}

impl Change {
    /// Whether this changes shared memory, which makes its entry a commit. What a session keeps for itself
    /// does not, and neither do settings.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Put(record) => record.owner().is_none(),
            Self::Purged(purged) => !purged.private,
            Self::Notify(_) | Self::Imported { .. } | Self::Tombstones { .. } => true,
            Self::Stage { .. }
            | Self::Unstage { .. }
            | Self::Adopt { .. }
            | Self::Configure { .. }
            | Self::Bind { .. } => false,
        }
    }

    /// The record this writes, if it writes one.
    pub fn record(&self) -> Option<&Arc<Record>> {
        match self {
            Self::Put(record) => Some(record),
            _ => None,
        }
    }
}

/// A version of a record whose content is gone from disk: its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// The record.
    pub id: RecordId,
    /// The version that stood here.
    pub version: Version,
    /// The commit that wrote it.
    pub revision: Revision,
    /// When it was purged.
    pub time: Timestamp,
    /// A session kept it for itself, so its entry need be no commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// The number of a session row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
}

/// Something the next load says once, last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Counts the project's notices.
    pub id: NoticeId,
    /// When it was written.
    pub time: Timestamp,
    /// The session it is about.
    pub session: SessionId,
    /// That session's row, to get the rest.
    pub row: RecordId,
    /// Why its work was kept.
    pub cause: NoticeCause,
    /// What was kept.
    pub kept: Counts,
    /// Not all of the project's files could be looked at, so that more may have changed than `cause` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files_unseen: bool,
}

/// Why a session's staged work was folded without its own save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeCause {
    /// The session ended without saving, which is normal.
    Ended,
    /// The daemon or the machine died, or files changed after the last checkpoint.
    Crashed {
        /// Changed since the last checkpoint, relative to the project's root; at most 50.
        files: Vec<String>,
        /// How many more changed than are named.
        more: u32,
    },
}

#[cfg(test)]
mod tests;
