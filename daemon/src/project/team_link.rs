//! A writer's link to a team's journal: what waits for it, and what is under way.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anchord_memory::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::watch;
use uuid::Uuid;

use super::batch::{Batch, Waiting};
use super::write::Write;
use crate::limits;
use crate::store::{
    Arrived, Entry, EntryKey, StateMachine, TeamAppended, TeamError, TeamJournal, TeamPoint,
};

/// The journal that a team shares, and the runtime on which calls to it run.
#[derive(Clone, Debug)]
pub struct TeamLink<C> {
    /// The team's journal of this project.
    pub journal: Arc<dyn TeamJournal<C>>,
    /// The daemon's runtime.
    pub runtime: Handle,
}

/// Whether the team's database answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamStatus {
    /// The last time that it answered.
    pub answered: Option<Timestamp>,
    /// The time at which the last call ended, however it did.
    pub ended: Option<Timestamp>,
    /// The reason why the last call failed, if it did.
    pub error: Option<String>,
    /// The reason why the last commit was not taken, if it was not. Reads may work meanwhile.
    pub refused: Option<String>,
    /// Whether the team's journal differs from this machine's copy, after a purge or a loss.
    /// Nothing is exchanged until they agree again.
    pub is_apart: bool,
}

/// The part of a link that other threads see.
#[derive(Debug, Default)]
pub(super) struct TeamSignal {
    /// Whether others may have written.
    due: AtomicBool,
    pub(super) status: watch::Sender<Arc<TeamStatus>>,
}

impl TeamSignal {
    pub(super) fn ask(&self) {
        self.due.store(true, Ordering::SeqCst);
    }

    pub(super) fn take(&self) -> bool {
        self.due.swap(false, Ordering::SeqCst)
    }
}

/// Writes for the team's journal. One call to it is under way at a time.
pub(super) struct Flights<M: StateMachine> {
    pub(super) link: TeamLink<M::Change>,
    pub(super) signal: Arc<TeamSignal>,
    /// Wakes the writer once a call is answered.
    wake: Arc<dyn Fn() + Send + Sync>,
    /// Commits that wait for the next call, and later writes of their sessions.
    pub(super) parked: VecDeque<Write<M>>,
    /// The number of parked commits that are sent one by one, since some of them were refused.
    pub(super) alone: usize,
    pub(super) flying: Option<Flying<M>>,
    /// The number of times that others were faster than the batch that is sent now.
    pub(super) tries: u32,
    /// The number of the newest call. The answers of earlier ones no longer matter.
    calls: u64,
    answers: Sender<(u64, Landed<M::Change>)>,
    landed: Receiver<(u64, Landed<M::Change>)>,
    /// An id that no other opening of a store has, for entries without a key of their own.
    own: Arc<str>,
    last_own: u64,
}

/// A call that is under way.
pub(super) enum Flying<M: StateMachine> {
    /// Others' entries are asked for.
    Following,
    /// More of them are asked for, since some have come. They follow those.
    Continuing,
    /// A batch is being appended.
    Appending(Flight<M>),
    /// Others' entries are asked for, since the batch changes nothing and is to be of the team's
    /// newest commit.
    Checking(Batch<M>),
}

/// A batch that is being appended.
pub(super) struct Flight<M: StateMachine> {
    pub(super) batch: Batch<M>,
    /// The key of each entry of the batch.
    pub(super) keys: Vec<EntryKey>,
    pub(super) start: Instant,
}

/// The answer to a call.
pub(super) enum Landed<C> {
    Appended(Result<TeamAppended<C>, TeamError>),
    Followed(Result<Vec<Arrived<C>>, TeamError>),
}

impl<M: StateMachine> fmt::Debug for Flights<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").field("parked", &self.parked.len()).finish_non_exhaustive()
    }
}

impl<M: StateMachine> Flights<M> {
    pub(super) fn new(
        link: TeamLink<M::Change>,
        signal: Arc<TeamSignal>,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        let (answers, landed) = channel();
        Self {
            link,
            signal,
            wake,
            parked: VecDeque::new(),
            alone: 0,
            flying: None,
            tries: 0,
            calls: 0,
            answers,
            landed,
            own: Uuid::new_v4().to_string().into(),
            last_own: 0,
        }
    }

    /// Takes the parked commits that are sent together.
    pub(super) fn take_parked(&mut self) -> Vec<Write<M>> {
        let count = if self.alone > 0 { 1 } else { self.parked.len() };
        self.alone = self.alone.saturating_sub(count);
        self.parked.drain(..count).collect()
    }

    /// Parks writes before all others, so that they stay before later ones of their sessions.
    pub(super) fn park_first(&mut self, writes: Vec<Write<M>>) {
        for write in writes.into_iter().rev() {
            self.parked.push_front(write);
        }
    }

    /// Counts that others were faster. Returns whether the batch may be sent once more.
    pub(super) fn may_try_again(&mut self) -> bool {
        self.tries += 1;
        let may = self.tries <= limits::TEAM_TRIES_MAX;
        if !may {
            self.tries = 0;
        }
        may
    }

    /// Returns whether a write has to wait, since an earlier one of its session does, or the same
    /// line.
    pub(super) fn holds(&self, later: &Write<M>) -> bool {
        let line = |write: &Write<M>| {
            write.call.as_ref().map(|call| (Arc::clone(&call.instance), call.number))
        };
        let is_of = |write: &Write<M>| {
            write.session == later.session && !write.operation.is_passed()
                || later.call.is_some() && line(write) == line(later)
        };
        let under_way = match &self.flying {
            Some(Flying::Appending(Flight { batch, .. }) | Flying::Checking(batch)) => Some(batch),
            Some(Flying::Following | Flying::Continuing) | None => None,
        };
        let flies = under_way.is_some_and(|batch| {
            batch.waiting.iter().any(|waiting| {
                let Waiting { write, repeats, .. } = waiting;
                is_of(write) || repeats.iter().any(is_of)
            })
        });
        flies || self.parked.iter().any(is_of)
    }

    /// Returns whether a call is under way that others must wait for.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.flying, Some(Flying::Appending(_) | Flying::Checking(_)))
    }

    /// Returns whether no commit is under way or waits.
    pub(super) fn is_done(&self) -> bool {
        !self.is_busy() && self.parked.is_empty()
    }

    /// Returns whether entries are asked for that follow others which have just come.
    pub(super) fn is_behind(&self) -> bool {
        matches!(self.flying, Some(Flying::Continuing))
    }

    /// Asks for the entries after a place that those before it are about to reach.
    pub(super) fn follow_on(&mut self, after: TeamPoint) {
        let entries = self.link.journal.entries(after);
        self.begin(Flying::Continuing, async { Landed::Followed(entries.await) });
    }

    /// Forgets the call that is under way, if it only asks for others' entries.
    pub(super) fn stop_following(&mut self) {
        if !self.is_busy() {
            self.flying = None;
            self.calls += 1;
        }
    }

    /// Returns the answer to the newest call, if it comes in time. Passes over those of others.
    pub(super) fn next(&self, wait: Duration) -> Option<Landed<M::Change>> {
        let mut answer = self.landed.recv_timeout(wait).ok()?;
        while answer.0 != self.calls {
            answer = self.landed.try_recv().ok()?;
        }
        Some(answer.1)
    }

    /// Makes a call on the runtime. A call before it that only asks for others' entries is
    /// forgotten, since commits do not wait for it.
    pub(super) fn begin(
        &mut self,
        flying: Flying<M>,
        call: impl Future<Output = Landed<M::Change>> + Send + 'static,
    ) {
        self.calls += 1;
        self.flying = Some(flying);
        let (number, answers, wake) = (self.calls, self.answers.clone(), Arc::clone(&self.wake));
        self.link.runtime.spawn(async move {
            // The writer may have ended.
            let _ = answers.send((number, call.await));
            wake();
        });
    }

    /// Returns the key by which the team's journal knows an entry.
    pub(super) fn key(&mut self, entry: &Entry<M::Change>) -> EntryKey {
        if let Some(key) = M::team_key(&entry.changes) {
            return key;
        }
        if let Some(call) = &entry.call {
            return EntryKey { instance: Arc::clone(&call.instance), number: call.number };
        }
        self.last_own += 1;
        EntryKey { instance: Arc::clone(&self.own), number: self.last_own }
    }
}
