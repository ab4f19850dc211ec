//! The origin of a write: its session, client, member and time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, Timestamp};

/// The author of a write: session, client and member, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session.
    pub session: SessionId,
    /// The client's own name, such as `claude-code`; empty if it sent none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
    /// The member of the team on whose machine it was written. A draft adds it, where a team shares
    /// the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Arc<str>>,
    /// The time at which the write was accepted.
    pub time: Timestamp,
}

impl Provenance {
    /// Returns the origin of a write on this machine.
    pub fn new(session: SessionId, client: Arc<str>, time: Timestamp) -> Self {
        Self { session, client, member: None, time }
    }

    /// Renders the client and the member, as in `claude-code of ada`. Empty if neither is known.
    pub(crate) fn who(&self) -> String {
        match (&*self.client, &self.member) {
            (client, None) => client.to_owned(),
            ("", Some(member)) => member.to_string(),
            (client, Some(member)) => format!("{client} of {member}"),
        }
    }

    /// Shares the names that are equal in `other`, to save memory.
    pub(crate) fn share(&mut self, other: &Self) {
        if self.session == other.session {
            self.session = other.session.clone();
        }
        if self.client == other.client {
            self.client = Arc::clone(&other.client);
        }
        if self.member == other.member {
            self.member.clone_from(&other.member);
        }
    }
}
