//! A write on its way: the command that decides it, its outcome, and its caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchord_memory::{Audience, Change, Plan, Refusal, SessionId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::store::{Call, StateMachine, StoreError};

/// The result of a decision: the changes to make durable, and the outcome to report afterwards.
#[derive(Debug)]
pub struct Transition<C, O> {
    /// The changes. If there are none, no entry is written.
    pub changes: Vec<C>,
    /// The outcome. It is stored with the entry and reported again if the same call comes again.
    pub outcome: O,
}

impl<C> Transition<C, ()> {
    /// Creates a transition of which there is nothing to report.
    pub fn silent(changes: Vec<C>) -> Self {
        Self { changes, outcome: () }
    }
}

impl<O> From<Plan<O>> for Transition<Change, O> {
    fn from(plan: Plan<O>) -> Self {
        let Plan { changes, outcome } = plan;
        Self { changes, outcome }
    }
}

/// Data that a write reports. The journal keeps it as JSON.
pub trait Outcome: Serialize + DeserializeOwned + Send + 'static {}

impl<O: Serialize + DeserializeOwned + Send + 'static> Outcome for O {}

/// The answer to a call that is applied once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply<O> {
    /// The words that a journal up to format 5 kept, or those that a purge left.
    Words(String),
    /// The outcome of the write.
    Outcome(O),
}

impl<O> Reply<O> {
    /// Returns the answer in words.
    pub fn in_words(self, words: impl FnOnce(&O) -> String) -> String {
        match self {
            Self::Words(words) => words,
            Self::Outcome(outcome) => words(&outcome),
        }
    }
}

/// The reason for which a command decides to write nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommandError {
    /// The caller made a mistake, or expected another state.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The command only asks for the answer to an earlier call, and there is none.
    #[error("the call was not answered before")]
    NotAnswered,
}

impl CommandError {
    /// Returns the reason in the words for a reader. Those of `Display` are for agents.
    pub fn worded(&self, audience: &Audience) -> String {
        match self {
            Self::Refused(refusal) => refusal.worded(audience),
            Self::NotAnswered => self.to_string(),
        }
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// A command that reads the newest state and the time, and decides. It decides again if another
/// writer was faster.
pub type WriteCommand<M, O = ()> = Arc<
    dyn Fn(&M, Timestamp) -> Result<Transition<<M as StateMachine>::Change, O>, CommandError>
        + Send
        + Sync,
>;

/// A write that is on disk.
#[derive(Clone, Debug)]
pub struct Written<M: StateMachine, O> {
    /// The outcome of the decision.
    pub outcome: O,
    /// The state that was decided on; the default state if the call was answered before.
    pub before: M,
    /// The changes; none if the call was answered before.
    pub changes: Vec<M::Change>,
    /// The time that the append of its batch took; `None` if there was nothing to append.
    pub append: Option<Duration>,
}

/// The reason nothing was written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    /// The command decided to write nothing.
    #[error("{0}")]
    Refused(CommandError),
    /// Too much is queued.
    #[error("busy: too many writes of this session are waiting; try again in a moment")]
    Busy,
    /// The store refused the write; nothing was saved.
    #[error("{0}")]
    NotSaved(Arc<StoreError>),
    /// The store is being closed. Opening it again helps.
    #[error("the memory is being closed; try again in a moment")]
    Closed,
    /// The line was acknowledged before. Its answer was given and is no longer kept.
    #[error("this line was answered before and its answer acknowledged")]
    Stale,
    /// The line was applied before. Another build stored its outcome, which cannot be read.
    #[error("this line was applied before, and its stored answer cannot be read: {0}")]
    Unreadable(String),
    /// A fault in anchord; the log has it.
    #[error("internal error while deciding; nothing was written")]
    Internal,
}

/// The end of a failure's reason where the private part of the write did not wait for the team.
pub(super) const OWN_STORED: &str = "; what is for this session alone was stored";

impl WriteError {
    /// Returns whether nothing at all was written, because a team's journal was busy.
    pub(crate) fn is_repeatable(&self) -> bool {
        let Self::NotSaved(error) = self else { return false };
        matches!(&**error, StoreError::TeamBusy(fault) if !fault.why.ends_with(OWN_STORED))
    }
}

/// The name of a write, as the journal and messages have it, and whether it waits for a team.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    name: &'static str,
    order: Order,
}

/// The place of a write among its session's others, and among a team's commits.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// It needs a team's newest commit.
    Newest,
    /// It mostly stays on this machine, in its session's order.
    Staying,
    /// It stays on this machine, and passes its session's earlier writes that wait.
    Passing,
    /// It needs a team's newest commit, and its session's later writes pass it.
    Passed,
}

impl Operation {
    /// Names a write that mostly stays on this machine. In a team, it never waits to learn whether
    /// others have written.
    pub const fn staying(name: &'static str) -> Self {
        Self { name, order: Order::Staying }
    }

    /// Names a write that brings back a record that was read. As long as it stays on this machine,
    /// it does not wait for the session's earlier ones that wait for a team.
    pub const fn passing(name: &'static str) -> Self {
        Self { name, order: Order::Passing }
    }

    /// Names the fold of what was held. The session's later writes that stay on this machine do not
    /// wait for it, since it reads and changes nothing else of the session's.
    pub const fn releasing(name: &'static str) -> Self {
        Self { name, order: Order::Passed }
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns whether a refusal, or that nothing changes, must be of a team's newest commit.
    const fn needs_newest(self) -> bool {
        matches!(self.order, Order::Newest | Order::Passed)
    }

    /// Returns whether the session's later writes do not wait for it.
    pub(super) const fn is_passed(self) -> bool {
        matches!(self.order, Order::Passed)
    }

    /// Returns whether it does not wait for the session's earlier writes that wait for a team.
    pub(super) const fn passes(self) -> bool {
        matches!(self.order, Order::Passing)
    }
}

/// A name alone is that of a write which needs a team's newest commit.
impl From<&'static str> for Operation {
    fn from(name: &'static str) -> Self {
        Self { name, order: Order::Newest }
    }
}

pub(super) struct Write<M: StateMachine> {
    pub(super) session: Option<SessionId>,
    pub(super) call: Option<Call>,
    pub(super) operation: Operation,
    pub(super) command: Box<dyn Command<M>>,
    /// The time at which it came.
    pub(super) arrived: Instant,
}

impl<M: StateMachine> Write<M> {
    /// Returns whether its decision is for a team's journal, or must be of the newest commit there.
    pub(super) fn is_of_team(&self, changes: &[M::Change]) -> bool {
        M::is_commit(changes) || changes.is_empty() && self.operation.needs_newest()
    }

    /// Returns the time that its caller has waited.
    pub(super) fn waited(&self) -> Duration {
        self.arrived.elapsed()
    }
}

/// A command and its caller, for the writer, which handles outcomes of all types.
pub(super) trait Command<M: StateMachine>: Send {
    /// Decides on a state. The outcome stays here until the changes are on disk.
    fn decide(&mut self, state: &M, now: Timestamp) -> Result<Vec<M::Change>, WriteError>;

    /// Returns the outcome of the decision as the journal keeps it.
    fn stored(&self) -> Result<Value, WriteError>;

    /// Reports a decision that is on disk.
    fn done(self: Box<Self>, changes: Vec<M::Change>, append: Option<Duration>);

    /// Reports the outcome of an earlier decision on the same call.
    fn repeat(self: Box<Self>, stored: &Value);

    /// Reports that nothing was written.
    fn fail(self: Box<Self>, error: WriteError);
}

/// A command with an outcome of one type. If its caller has gone, nobody receives the report.
pub(super) struct Typed<M: StateMachine, O> {
    pub(super) command: WriteCommand<M, O>,
    pub(super) decided: Option<(M, O)>,
    pub(super) answer: oneshot::Sender<Result<Written<M, O>, WriteError>>,
}

impl<M: StateMachine, O: Outcome> Command<M> for Typed<M, O> {
    fn decide(&mut self, state: &M, now: Timestamp) -> Result<Vec<M::Change>, WriteError> {
        match catch_unwind(AssertUnwindSafe(|| (self.command)(state, now))) {
            Ok(Ok(Transition { changes, outcome })) => {
                self.decided = Some((state.clone(), outcome));
                Ok(changes)
            }
            Ok(Err(refusal)) => Err(WriteError::Refused(refusal)),
            Err(_panic) => Err(WriteError::Internal),
        }
    }

    fn stored(&self) -> Result<Value, WriteError> {
        let (_, outcome) = self.decided.as_ref().ok_or(WriteError::Internal)?;
        serde_json::to_value(outcome).map_err(|error| {
            tracing::error!(%error, "an outcome cannot be stored");
            WriteError::Internal
        })
    }

    fn done(self: Box<Self>, changes: Vec<M::Change>, append: Option<Duration>) {
        let written =
            self.decided.map(|(before, outcome)| Written { outcome, before, changes, append });
        let _ = self.answer.send(written.ok_or(WriteError::Internal));
    }

    fn repeat(self: Box<Self>, stored: &Value) {
        let written = O::deserialize(stored).map(|outcome| Written {
            outcome,
            before: M::default(),
            changes: Vec::new(),
            append: None,
        });
        let _ =
            self.answer.send(written.map_err(|error| WriteError::Unreadable(error.to_string())));
    }

    fn fail(self: Box<Self>, error: WriteError) {
        let _ = self.answer.send(Err(error));
    }
}
