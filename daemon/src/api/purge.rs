//! Finding secrets in what is stored, and purging content from disk.

use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// The records to purge: by id or key, or because they contain a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeParams {
    /// A directory or an id.
    pub project: String,
    /// Ids, or keys of facts, such as `n12`, `b3` or `test.command`.
    #[serde(default)]
    pub ids: Vec<String>,
    /// A literal text, exactly as it was written.
    #[serde(default)]
    pub query: Option<String>,
    /// Whether to show what would be purged, and change nothing.
    pub dry_run: bool,
    /// The options that name the memory, for what a refusal advises.
    #[serde(default)]
    pub typed: Vec<String>,
}

/// The plan of a purge, or its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeReply {
    /// The project, or the user's own memory.
    pub project: ProjectRef,
    /// Whether the purge was carried out. False for a plan, and if there was nothing to do.
    pub applied: bool,
    /// The revision of the purge's commit.
    #[serde(default)]
    pub revision: Option<u64>,
    /// Whether a team shares any of the records. Its database and other machines lose those, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub team: bool,
    /// The purged records, ordered by kind and number.
    pub records: Vec<PurgedStatus>,
    /// The number of checkpoints that lose the purged content.
    #[serde(default)]
    pub checkpoints: u32,
    /// The number of replies kept for shims that lose their text.
    #[serde(default)]
    pub replies: u32,
    /// Other records that contain one of the purged texts. They stay.
    #[serde(default)]
    pub elsewhere: Vec<String>,
    /// The number of other files, such as logs, that hold a purged text. Once applied, it is
    /// redacted there.
    #[serde(default)]
    pub files: u32,
    /// Files of records in the project that go, relative to its directory. git may still have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
    /// Other files that could not be read or written, and so may still hold a purged text.
    #[serde(default)]
    pub failed: Vec<String>,
    /// Directories of earlier memories of the project that were set aside. They are not looked
    /// through, and so may still hold a purged text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<String>,
    /// The named records that were purged before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub already: Vec<String>,
}

impl PurgeReply {
    /// Returns whether there is nothing to purge.
    pub fn is_empty(&self) -> bool {
        let numbers = [self.checkpoints, self.replies, self.files];
        self.records.is_empty() && self.shared.is_empty() && numbers == [0; 3]
    }
}

/// A purged record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgedStatus {
    /// The record's id.
    pub id: String,
    /// The number of versions; all of them are purged.
    pub versions: u32,
    /// The newest version in one line, clipped and without secrets.
    pub title: String,
}

/// Possible secrets in what is stored. It never contains the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsReply {
    /// The project, or the user's own memory.
    pub project: ProjectRef,
    /// The number of entries scanned.
    pub entries: u64,
    /// Records with a secret, ordered by kind and number.
    pub records: Vec<SecretRecord>,
    /// Entries with a secret outside of records: in a checkpoint or in a kept reply.
    #[serde(default)]
    pub others: Vec<SecretEntry>,
}

impl SecretsReply {
    /// Returns whether no secret was found.
    pub fn is_clean(&self) -> bool {
        self.records.is_empty() && self.others.is_empty()
    }
}

/// A record with secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretRecord {
    /// The record's id.
    pub id: String,
    /// The versions with a secret.
    pub versions: Vec<u32>,
    /// The apparent kinds of the secrets, such as `GitHub token`.
    pub kinds: Vec<String>,
}

/// An entry with a secret that is in none of its records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEntry {
    /// The entry's number.
    pub seq: u64,
    /// `checkpoint` or `reply`.
    pub place: String,
    /// The apparent kinds of the secrets.
    pub kinds: Vec<String>,
}
