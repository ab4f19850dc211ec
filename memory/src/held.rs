//! Work that waits until the team's database has it.
//!
//! A save writes two journals: this machine's and the team's. It is held here first, under the key
//! that the team's journal will know it by. So it is folded once, whatever dies in between.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::brief::{BriefMerge, MergeEnd};
use crate::ids::{Revision, SessionId, Timestamp};
use crate::kinds::UnseenCode;
use crate::record::Category;
use crate::staged::Staged;

/// The key of an entry in the team's journal. No two entries have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HeldKey {
    /// The shim's random id, the session that ended, or an id of the daemon's own.
    pub instance: Arc<str>,
    /// The number of the line, or of the entry. For an end it is the time in milliseconds.
    pub number: u64,
}

impl HeldKey {
    /// Returns the key for the work of a session that ended without a save at this time.
    pub(crate) fn of_end(session: &SessionId, time: Timestamp) -> Self {
        Self { instance: Arc::clone(&session.0), number: time.0.unsigned_abs() }
    }
}

/// A save that waits, or the staged work of a session that ended without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The key that its entry will have.
    pub key: HeldKey,
    /// The session that wrote it.
    pub session: SessionId,
    /// The client's own name, such as `claude-code`; empty if it sent none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
    /// The time of the save or of the session's end.
    pub time: Timestamp,
    /// The time at which the session began.
    pub started: Timestamp,
    /// The description of the session's work; `None` if the session ended without a save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The revision that the save expects, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Revision>,
    /// The work to fold, without what stays on this machine.
    pub staged: Staged,
    /// A merge of the brief that takes something out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Box<BriefMerge>>,
    /// The end of that merge, for the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_end: Option<MergeEnd>,
    /// The category and the title of each blueprint that was left out, since another one is staged;
    /// for the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<(Category, String)>,
    /// The anchors of the call whose lines could not be read, for the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnseenCode>,
}
