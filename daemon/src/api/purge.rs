//! What must not stay: looking for it, and taking it off the disk.

use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// What to purge: records by id or key, and those in which a text stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeParams {
    /// A directory or an id.
    pub project: String,
    /// Ids, or keys of facts: `n12`, `b3`, `test.command`.
    #[serde(default)]
    pub ids: Vec<String>,
    /// Literally, as it was written.
    #[serde(default)]
    pub query: Option<String>,
    /// Show what would go, change nothing.
    pub dry_run: bool,
}

/// What a purge takes, or took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeReply {
    /// Whose memory.
    pub project: ProjectRef,
    /// Whether it was done; false for a plan, and when there was nothing to do.
    pub applied: bool,
    /// The commit that it became.
    #[serde(default)]
    pub revision: Option<u64>,
    /// By kind and number.
    pub records: Vec<PurgedStatus>,
    /// Checkpoints that lose what they held of it.
    #[serde(default)]
    pub checkpoints: u32,
    /// Replies kept for shims, which lose their text.
    #[serde(default)]
    pub replies: u32,
    /// Other records in which a text of these stands; they stay.
    #[serde(default)]
    pub elsewhere: Vec<String>,
    /// Other files that hold it, such as logs, or held it and were blackened.
    #[serde(default)]
    pub files: u32,
    /// Other files that may hold it still: they could not be read or written.
    #[serde(default)]
    pub failed: Vec<String>,
}

impl PurgeReply {
    /// Whether there is nothing to purge.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.checkpoints == 0 && self.replies == 0 && self.files == 0
    }
}

/// A record that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgedStatus {
    /// Its id.
    pub id: String,
    /// Its versions, all of which go.
    pub versions: u32,
    /// The newest in one line, clipped, without secrets.
    pub title: String,
}

/// What looks like a secret in what is stored. Never the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsReply {
    /// Whose memory.
    pub project: ProjectRef,
    /// Entries that were looked at.
    pub entries: u64,
    /// Records, by kind and number.
    pub records: Vec<SecretRecord>,
    /// Entries that hold one beside records: in a checkpoint, or in a reply that is kept.
    #[serde(default)]
    pub others: Vec<SecretEntry>,
}

impl SecretsReply {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.records.is_empty() && self.others.is_empty()
    }
}

/// A record with secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretRecord {
    /// Its id.
    pub id: String,
    /// The versions that hold one.
    pub versions: Vec<u32>,
    /// What they look like: `GitHub token`.
    pub kinds: Vec<String>,
}

/// An entry with secrets that are in no record of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEntry {
    /// Its number.
    pub seq: u64,
    /// `checkpoint` or `reply`.
    pub place: String,
    /// What they look like.
    pub kinds: Vec<String>,
}
