//! Readers of memory. Everyone sees the project's shared records. Only the session itself and the
//! owner of all sessions see a session's own notes.

use std::collections::BTreeSet;

use crate::ids::SessionId;
use crate::record::Record;

/// A reader of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    session: Option<SessionId>,
    inherits: BTreeSet<SessionId>,
    is_owner: bool,
}

impl Reader {
    /// Creates a reader that sees only shared records.
    pub fn anyone() -> Self {
        Self { session: None, inherits: BTreeSet::new(), is_owner: false }
    }

    /// Creates the reader for the owner of all the sessions. It also sees every session's own
    /// notes, and has none itself.
    pub fn owner() -> Self {
        Self { is_owner: true, ..Self::anyone() }
    }

    /// Creates the reader for a session.
    pub fn session(session: SessionId) -> Self {
        Self { session: Some(session), ..Self::anyone() }
    }

    /// Adds ended sessions whose work this session continues.
    #[must_use]
    pub fn inheriting(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.inherits.extend(sessions);
        self
    }

    /// Returns whether the reader may see a record.
    pub fn sees(&self, record: &Record) -> bool {
        self.is_owner || record.owner().is_none_or(|owner| self.owns(owner))
    }

    /// Returns whether a session's own notes belong to the reader.
    pub fn owns(&self, owner: &SessionId) -> bool {
        self.session.as_ref() == Some(owner) || self.inherits.contains(owner)
    }

    /// Returns the sessions whose own notes the reader sees, its own first.
    pub fn own_sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.session.iter().chain(&self.inherits)
    }
}
