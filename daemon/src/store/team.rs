//! The journal that a team's daemons share, as the writer sees it.
//!
//! It is the truth of what the team shares, and decides the order of commits. This machine's own
//! journal has a copy of it, between the entries that stay here, so readers need no network.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{CopyMark, Revision, SessionId, Timestamp};
use futures::future::BoxFuture;
use serde_json::Value;

/// The key of an entry in a team's journal. It is unique there, so a repeated append does no harm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryKey {
    /// A shim's random id, or one that only this daemon uses.
    pub instance: Arc<str>,
    /// The number of the shim's line, or of the daemon's entry.
    pub number: u64,
}

/// An entry of a team's journal.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamEntry<C> {
    /// The commit that it is on every machine.
    pub revision: Revision,
    /// The key.
    pub key: EntryKey,
    /// Whether this machine wrote it.
    pub is_own: bool,
    /// The time at which its daemon accepted it.
    pub time: Timestamp,
    /// The session that wrote it, if any.
    pub session: Option<SessionId>,
    /// The requested operation.
    pub operation: String,
    /// The shared changes, in order.
    pub changes: Vec<C>,
    /// The outcome that was reported to the caller, if a shim asked for the entry.
    pub reply: Option<Value>,
}

/// A place in a team's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamPoint {
    /// The commit.
    pub revision: Revision,
    /// The digest of the journal up to it, and the number of purges; `None` if this machine has not
    /// kept them. Then they are not compared.
    pub mark: Option<CopyMark>,
}

/// An entry that comes from a team's journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrived<C> {
    /// The entry.
    pub entry: TeamEntry<C>,
    /// The place that a copy with it reaches.
    pub mark: CopyMark,
    /// The name of the member who wrote it on another machine.
    pub member: Option<Arc<str>>,
}

/// The end of an append that the team's journal answered.
#[derive(Clone, Debug, PartialEq)]
pub enum TeamAppended<C> {
    /// The entries are committed, as given. Each has the place that a copy with it reaches.
    Committed(Vec<CopyMark>),
    /// Nothing was written: these entries came first, in order. Some may have a key of the batch,
    /// if an earlier append was committed after all. Those may be older than the expected one.
    Moved(Vec<Arrived<C>>),
}

/// A team's database after a failed call, as far as callers tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Away {
    /// Nothing answered. That is past once the database answers another call.
    Unreached,
    /// It did not answer in time. Another call may be answered meanwhile.
    Slow,
    /// It answered and did not do it, or was not asked. Something has to change first.
    Refused,
    /// It cannot be used until a person mends that: a member who was removed, or a password.
    Barred,
}

impl Away {
    /// Returns whether the call got no answer. Then the database is only waited for.
    pub fn is_unanswered(self) -> bool {
        matches!(self, Self::Unreached | Self::Slow)
    }
}

/// A failed call to a team's database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct TeamFault {
    /// The database, as the call found it.
    pub away: Away,
    /// The reason, in words.
    pub why: String,
}

impl TeamFault {
    /// Returns the fault of a call that got an answer, or was not made.
    pub fn refused(why: String) -> Self {
        Self { away: Away::Refused, why }
    }
}

/// The reasons for which a team's journal did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// Nothing was written, and nothing will be. A later try may work.
    #[error("{0}")]
    NotWritten(TeamFault),
    /// Nothing was written, since this machine's member has no right to it.
    #[error("{0}")]
    Refused(String),
    /// Nothing was written, since the journal did not answer in time. A later try may work.
    #[error("the database does not answer in time")]
    Slow,
    /// Whether the batch is committed is unknown. The same keys must be used again.
    #[error("{0}")]
    Unknown(TeamFault),
    /// Nothing was written: the journal does not contain the place that this machine's copy has
    /// reached. The copy must be compared with it as a whole.
    #[error("{0}")]
    Apart(String),
}

impl TeamError {
    /// Returns the fault that it stands for.
    pub fn fault(&self) -> TeamFault {
        let away = match self {
            Self::NotWritten(fault) | Self::Unknown(fault) => fault.away,
            Self::Slow => Away::Slow,
            Self::Refused(_) | Self::Apart(_) => Away::Refused,
        };
        TeamFault { away, why: self.to_string() }
    }
}

/// A team's journal of one project. A call returns within seconds, whatever the network does.
pub trait TeamJournal<C>: fmt::Debug + Send + Sync {
    /// Appends entries after a place, if it is the last one. `time_max` is the time until COMMIT is
    /// sent.
    fn append(
        &self,
        expected: TeamPoint,
        batch: Vec<TeamEntry<C>>,
        time_max: Duration,
    ) -> BoxFuture<'static, Result<TeamAppended<C>, TeamError>>;

    /// Returns the entries after a place, in order, but not more than fit a reply.
    fn entries(&self, after: TeamPoint) -> BoxFuture<'static, Result<Vec<Arrived<C>>, TeamError>>;
}
