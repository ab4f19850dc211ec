//! The origin of a write: its session, client and time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, Timestamp};

/// The author of a write: session, client and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session.
    pub session: SessionId,
    /// The client's own name, such as `claude-code`; empty if it sent none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
    /// The time at which the write was accepted.
    pub time: Timestamp,
}

impl Provenance {
    /// Shares the names that are equal in `other`, to save memory.
    pub(crate) fn share(&mut self, other: &Self) {
        if self.session == other.session {
            self.session = other.session.clone();
        }
        if self.client == other.client {
            self.client = Arc::clone(&other.client);
        }
    }
}
