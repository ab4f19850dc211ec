//! The origin of a write: its session, client and time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, Timestamp};

/// Who wrote something, with which client, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session that wrote.
    pub session: SessionId,
    /// The client's own name, `claude-code`; empty when it gave none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
    /// When the write was accepted.
    pub time: Timestamp,
}

impl Provenance {
    /// Holds equal names where another holds them.
    pub(crate) fn share(&mut self, other: &Self) {
        if self.session == other.session {
            self.session = other.session.clone();
        }
        if self.client == other.client {
            self.client = Arc::clone(&other.client);
        }
    }
}
