//! Who reads: everyone sees what the project shares; what a session keeps for itself, it alone and the person whose
//! sessions they are.

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
    /// Nobody in particular: sees what is shared.
    pub fn anyone() -> Self {
        Self { session: None, inherits: BTreeSet::new(), is_owner: false }
    }

    /// The person to whom all of it belongs: sees also what sessions keep for themselves, and has nothing like that.
    pub fn owner() -> Self {
        Self { is_owner: true, ..Self::anyone() }
    }

    /// A session.
    pub fn session(session: SessionId) -> Self {
        Self { session: Some(session), ..Self::anyone() }
    }

    /// A session that goes on where others, which are over, left off.
    #[must_use]
    pub fn inheriting(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.inherits.extend(sessions);
        self
    }

    /// Whether the reader gets to see a record.
    pub fn sees(&self, record: &Record) -> bool {
        self.is_owner || record.owner().is_none_or(|owner| self.owns(owner))
    }

    /// Whether what this session keeps for itself is the reader's.
    pub fn owns(&self, owner: &SessionId) -> bool {
        self.session.as_ref() == Some(owner) || self.inherits.contains(owner)
    }

    /// The sessions whose own notes the reader sees, its own first.
    pub fn own_sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.session.iter().chain(&self.inherits)
    }
}
