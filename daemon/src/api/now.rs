//! The live sessions: what each staged, saved and was given.

use anchord_memory::RecordId;
use serde::{Deserialize, Serialize};

use super::{Retrieval, SessionSummary};

/// The live sessions, and what waits for a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NowReply {
    /// The sessions, oldest first.
    pub lanes: Vec<Lane>,
    /// The actions that wait for a person's approval, oldest first.
    pub approvals: Vec<WaitingApproval>,
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// The session.
    pub session: SessionSummary,
    /// The first items that it has staged and not saved, as text.
    #[serde(default)]
    pub staged: Vec<String>,
    /// The number of further items.
    #[serde(default)]
    pub staged_more: usize,
    /// The records that it wrote last, the newest first.
    #[serde(default)]
    pub saved: Vec<SavedRecord>,
    /// The last answers that it was given, the newest first. Only those since the daemon's start,
    /// and no more than it keeps.
    #[serde(default)]
    pub given: Vec<Retrieval>,
    /// The thing that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

impl Lane {
    /// Returns whether the session is away and has nothing to show.
    pub fn is_idle(&self) -> bool {
        !self.session.connected
            && self.staged.is_empty()
            && self.saved.is_empty()
            && self.given.is_empty()
    }
}

/// A record that a session wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRecord {
    /// The record.
    pub id: RecordId,
    /// Its title.
    pub title: String,
    /// The time at which it was written.
    pub time: i64,
}

/// Something that a session waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Waits {
    /// The project's writer, which serves the sessions in turn.
    Writer {
        /// The number of the session's waiting writes.
        jobs: usize,
        /// The sessions that are served before it.
        behind: Vec<String>,
    },
    /// A person's approval.
    Approval {
        /// The ids of the actions.
        ids: Vec<String>,
    },
    /// Its agent, which is not connected.
    Agent,
}

/// An action that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingApproval {
    /// The id with which to approve it.
    pub id: String,
    /// The action as people read it.
    pub action: String,
    /// The titles of the rules that ask.
    pub rules: Vec<String>,
    /// The session that asked last.
    pub session: String,
    /// The time at which it last asked.
    pub since: i64,
}

/// The answer whose text to return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenQuery {
    /// The session that was given it.
    pub session: String,
    /// The number of its line in the project's retrieval log.
    pub number: u64,
}

/// An answer's exact text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenReply {
    /// The text.
    pub text: String,
    /// The prompt, the file or the failed command that caused it, if a hook gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its records, in its order.
    pub records: Vec<GivenRecord>,
}

/// A record in an answer, and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRecord {
    /// The record.
    pub id: RecordId,
    /// Its title.
    pub title: String,
    /// The reason why it was given, as a fragment.
    pub why: String,
}
