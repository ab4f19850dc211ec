//! A writer's link to a team's journal: what waits for it, and what is under way.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anchord_memory::{SessionId, Timestamp};
use arc_swap::ArcSwap;
use futures::FutureExt as _;
use tokio::runtime::Handle;
use tokio::sync::watch;
use uuid::Uuid;

use super::batch::{Batch, Waiting};
use super::write::Write;
use crate::store::{
    Arrived, Away, Entry, EntryKey, StateMachine, TeamAppended, TeamEntry, TeamError, TeamFault,
    TeamJournal, TeamPoint,
};
use crate::{clock, limits};

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
    /// The fault of the last call, if it failed.
    pub error: Option<TeamFault>,
    /// The last commit, if it was not taken. Reads may work meanwhile.
    pub refused: Option<Untaken>,
    /// Whether the team's journal differs from this machine's copy, after a purge or a loss.
    /// Nothing is exchanged until they agree again.
    pub is_apart: bool,
    /// The last look for a report, beside the link's own calls.
    pub look: Option<TeamLook>,
}

/// Commits that a team's database did not take, with none between them that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// The fault of the last one.
    pub fault: TeamFault,
    /// The time at which the first one with a fault of this kind failed.
    pub since: Timestamp,
    /// The time at which the last one failed.
    pub last: Timestamp,
}

impl Untaken {
    /// Returns the commits after one more has failed.
    pub(super) fn after(earlier: Option<Self>, fault: TeamFault, now: Timestamp) -> Self {
        let earlier = earlier.filter(|earlier| earlier.fault.away == fault.away);
        Self { fault, since: earlier.map_or(now, |earlier| earlier.since), last: now }
    }
}

/// A look at whether the team's database answers. It fetches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamLook {
    /// The time at which it ended.
    pub ended: Timestamp,
    /// The fault, if it failed.
    pub fault: Option<TeamFault>,
}

impl TeamStatus {
    /// Returns the fault of the newest call or look, if it failed. After a look that was answered,
    /// the refusal of a call remains: only the link's next call says whether it is past.
    pub(crate) fn fault(&self) -> Option<&TeamFault> {
        let is_newest = |look: &&TeamLook| self.ended.is_none_or(|ended| look.ended >= ended);
        match self.look.as_ref().filter(is_newest) {
            Some(TeamLook { fault: Some(fault), .. }) => Some(fault),
            Some(TeamLook { fault: None, .. }) => {
                self.error.as_ref().filter(|fault| fault.away == Away::Refused)
            }
            None => self.error.as_ref(),
        }
    }

    /// Returns the time of the last call, if a person has to mend its fault. After a look that was
    /// answered, that may have happened.
    pub(crate) fn barred(&self) -> Option<Timestamp> {
        let ended = self.ended?;
        let is_barred = self.error.as_ref().is_some_and(|fault| fault.away == Away::Barred);
        let is_seen = self.seen().is_some_and(|seen| seen > ended);
        (is_barred && !is_seen).then_some(ended)
    }

    /// Returns the fault for which the database cannot be used now, if there is one. A commit that
    /// is too slow is not: reads may be answered meanwhile, as behind a lock.
    pub(crate) fn outage(&self) -> Option<&TeamFault> {
        let slow = self.slow().map(|untaken| &untaken.fault);
        self.fault().filter(|fault| slow != Some(*fault))
    }

    fn slow(&self) -> Option<&Untaken> {
        self.refused.as_ref().filter(|untaken| untaken.fault.away == Away::Slow)
    }

    /// Returns the commits that the database was too slow to take, while reports say so. If none
    /// waits, nobody tries again, and after a while they no longer say it.
    pub(crate) fn slow_commits(&self, waiting: usize, now: Timestamp) -> Option<&Untaken> {
        let is_recent =
            |slow: &Untaken| now.0.saturating_sub(slow.last.0) < limits::TEAM_SLOW_SHOWN_MILLIS;
        self.slow().filter(|slow| self.fault().is_some() || waiting > 0 || is_recent(slow))
    }

    /// Remembers that a call which only reads has failed. Without an answer, the database was
    /// silent as a whole, so commits that were too slow are past once it answers again.
    pub(super) fn note_unread(&mut self, fault: &TeamFault) {
        if let Some(untaken) = &mut self.refused
            && untaken.fault.away == Away::Slow
            && fault.away.is_unanswered()
        {
            untaken.fault.away = Away::Unreached;
        }
    }

    /// Returns the last time at which a call or a look was answered.
    pub(crate) fn seen(&self) -> Option<Timestamp> {
        let look = self.look.as_ref().filter(|look| look.fault.is_none());
        self.answered.max(look.map(|look| look.ended))
    }
}

/// The part of a link that other threads see.
#[derive(Debug, Default)]
pub(super) struct TeamSignal {
    /// Whether others may have written.
    due: AtomicBool,
    pub(super) status: watch::Sender<Arc<TeamStatus>>,
    /// The sessions with a write that waits for the team's journal.
    pub(super) waiting: ArcSwap<BTreeSet<SessionId>>,
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
    link: TeamLink<M::Change>,
    signal: Arc<TeamSignal>,
    /// Wakes the writer once a call is answered.
    wake: Arc<dyn Fn() + Send + Sync>,
    /// Commits that wait for the next call, and later writes of their sessions.
    parked: VecDeque<Write<M>>,
    /// The number of parked commits that are sent one by one, since some of them were refused.
    alone: usize,
    flying: Option<Flying<M>>,
    /// The number of times that others were faster than the batch that is sent now.
    tries: u32,
    /// The number of the newest call. The answers of earlier ones no longer matter.
    calls: u64,
    answers: Sender<(u64, Landed<M::Change>)>,
    landed: Receiver<(u64, Landed<M::Change>)>,
    /// An id that no other opening of a store has, for entries without a key of their own.
    own: Arc<str>,
    last_own: u64,
}

/// A call that is under way.
enum Flying<M: StateMachine> {
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

impl<M: StateMachine> Flying<M> {
    /// Returns the answer that stands for a panic of the call.
    fn panicked(&self) -> Landed<M::Change> {
        let fault = TeamFault::refused("the call panicked; the log says where".to_owned());
        match self {
            // It may have been committed before.
            Self::Appending(_) => Landed::Appended(Err(TeamError::Unknown(fault))),
            Self::Following | Self::Continuing | Self::Checking(_) => {
                Landed::Followed(Err(TeamError::NotWritten(fault)))
            }
        }
    }
}

/// A batch that is being appended.
pub(super) struct Flight<M: StateMachine> {
    pub(super) batch: Batch<M>,
    /// The key of each entry of the batch.
    pub(super) keys: Vec<EntryKey>,
    pub(super) start: Instant,
    /// Whether the call before it failed.
    pub(super) is_trial: bool,
}

/// The answer to a call as it comes.
enum Landed<C> {
    Appended(Appended<C>),
    Followed(Followed<C>),
}

pub(super) type Appended<C> = Result<TeamAppended<C>, TeamError>;
pub(super) type Followed<C> = Result<Vec<Arrived<C>>, TeamError>;

/// The answer to a call, with what the call was made for.
pub(super) enum Answer<M: StateMachine> {
    Appended(Flight<M>, Appended<M::Change>),
    Checked(Batch<M>, Followed<M::Change>),
    Followed(Followed<M::Change>),
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

    /// Changes what other threads see of the link.
    pub(super) fn note(&self, change: impl FnOnce(&mut TeamStatus)) {
        self.signal.status.send_modify(|status| change(Arc::make_mut(status)));
    }

    /// Parks writes after all others.
    pub(super) fn park(&mut self, writes: impl IntoIterator<Item = Write<M>>) {
        self.parked.extend(writes);
    }

    /// Parks writes before all others, so that they stay before later ones of their sessions.
    pub(super) fn park_first(&mut self, writes: Vec<Write<M>>) {
        for write in writes.into_iter().rev() {
            self.parked.push_front(write);
        }
    }

    /// Parks writes like [`Self::park_first`], and sends each by itself.
    pub(super) fn park_alone(&mut self, writes: Vec<Write<M>>) {
        self.alone = writes.len();
        self.park_first(writes);
    }

    /// Takes the parked commits that are sent together; `None` if none are, or a call is under way
    /// that they must wait for.
    pub(super) fn take_parked(&mut self) -> Option<Vec<Write<M>>> {
        if self.is_busy() || self.parked.is_empty() {
            return None;
        }
        let count = if self.alone > 0 { 1 } else { self.parked.len() };
        self.alone = self.alone.saturating_sub(count);
        Some(self.parked.drain(..count).collect())
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

    /// Begins to count anew, since the batch is done with.
    pub(super) fn end_tries(&mut self) {
        self.tries = 0;
    }

    /// Returns whether a write has to wait, since an earlier one of its session does, or the same
    /// line.
    pub(super) fn holds(&self, later: &Write<M>) -> bool {
        let line = |write: &Write<M>| {
            write.call.as_ref().map(|call| (Arc::clone(&call.instance), call.number))
        };
        let passes = later.operation.passes();
        let is_of = |write: &Write<M>| {
            write.session == later.session && !write.operation.is_passed() && !passes
                || later.call.is_some() && line(write) == line(later)
        };
        self.waiting().any(is_of)
    }

    /// Returns the writes that wait for the team's journal.
    fn waiting(&self) -> impl Iterator<Item = &Write<M>> {
        let under_way = match &self.flying {
            Some(Flying::Appending(Flight { batch, .. }) | Flying::Checking(batch)) => Some(batch),
            Some(Flying::Following | Flying::Continuing) | None => None,
        };
        let flies = under_way.into_iter().flat_map(|batch| &batch.waiting).flat_map(|waiting| {
            let Waiting { write, repeats, .. } = waiting;
            std::iter::once(write).chain(repeats)
        });
        flies.chain(&self.parked)
    }

    /// Shows other threads which sessions have writes that wait for the team's journal.
    pub(super) fn note_waiting(&self) {
        let waiting: BTreeSet<SessionId> =
            self.waiting().filter_map(|write| write.session.clone()).collect();
        if **self.signal.waiting.load() != waiting {
            self.signal.waiting.store(Arc::new(waiting));
        }
    }

    /// Returns whether the last call failed.
    pub(super) fn is_failing(&self) -> bool {
        self.signal.status.borrow().error.is_some()
    }

    /// Returns whether a call is under way that others must wait for.
    fn is_busy(&self) -> bool {
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

    /// Appends entries to the team's journal.
    pub(super) fn append(
        &mut self,
        at: TeamPoint,
        entries: Vec<TeamEntry<M::Change>>,
        flight: Flight<M>,
    ) {
        let append = self.link.journal.append(at, entries, self.time_left(&flight.batch));
        self.begin(Flying::Appending(flight), async { Landed::Appended(append.await) });
    }

    /// Looks for others' entries before a batch is answered that changes nothing.
    pub(super) fn check(&mut self, at: TeamPoint, batch: Batch<M>) {
        let entries = self.link.journal.entries(at);
        let time_max = self.time_left(&batch);
        self.begin(Flying::Checking(batch), async move {
            // The limit needs the runtime, which the writer's thread does not run on.
            let arrived = tokio::time::timeout(time_max, entries).await;
            Landed::Followed(arrived.unwrap_or(Err(TeamError::Slow)))
        });
    }

    /// Returns the time that a batch's callers still wait, but enough for a try. After a call that
    /// failed, another try would most likely only keep them longer, so it is short.
    fn time_left(&self, batch: &Batch<M>) -> Duration {
        if self.is_failing() {
            return batch.time_left(Duration::ZERO).min(limits::TEAM_TRY_MIN);
        }
        batch.time_left(limits::TEAM_TRY_MIN)
    }

    /// Asks for others' entries, if somebody wants them and no call is under way.
    pub(super) fn follow_if_asked(&mut self, at: TeamPoint) {
        if self.flying.is_none() && self.signal.take() {
            let entries = self.link.journal.entries(at);
            self.begin(Flying::Following, async { Landed::Followed(entries.await) });
        }
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

    /// Takes the answer to the newest call, if it comes in time. Passes over those of others.
    pub(super) fn answered(&mut self, wait: Duration) -> Option<Answer<M>> {
        let (mut number, mut landed) = self.landed.recv_timeout(wait).ok()?;
        while number != self.calls {
            // Nobody waits for its entries, but the database answers.
            if matches!(landed, Landed::Followed(Ok(_))) {
                let now = Some(clock::now());
                self.note(|status| {
                    (status.answered, status.ended) = (now, now);
                    status.error.take_if(|fault| fault.away.is_unanswered());
                });
            }
            (number, landed) = self.landed.try_recv().ok()?;
        }
        Some(match (landed, self.flying.take()?) {
            (Landed::Appended(end), Flying::Appending(flight)) => Answer::Appended(flight, end),
            (Landed::Followed(end), Flying::Checking(batch)) => Answer::Checked(batch, end),
            (Landed::Followed(end), Flying::Following | Flying::Continuing) => {
                Answer::Followed(end)
            }
            (Landed::Appended(_), Flying::Following | Flying::Continuing | Flying::Checking(_))
            | (Landed::Followed(_), Flying::Appending(_)) => {
                tracing::error!("an answer is not of the call that is under way");
                return None;
            }
        })
    }

    /// Makes a call on the runtime. A call before it that only asks for others' entries is
    /// forgotten, since commits do not wait for it. A call that panics has failed: without an
    /// answer, nothing would ever be sent again.
    fn begin(
        &mut self,
        flying: Flying<M>,
        call: impl Future<Output = Landed<M::Change>> + Send + 'static,
    ) {
        self.calls += 1;
        let panicked = flying.panicked();
        self.flying = Some(flying);
        let (number, answers, wake) = (self.calls, self.answers.clone(), Arc::clone(&self.wake));
        self.link.runtime.spawn(async move {
            let landed = AssertUnwindSafe(call).catch_unwind().await.unwrap_or(panicked);
            // The writer may have ended.
            let _ = answers.send((number, landed));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(why: &str) -> TeamFault {
        TeamFault { away: Away::Unreached, why: why.to_owned() }
    }

    fn look(ended: i64, fault: Option<TeamFault>) -> TeamLook {
        TeamLook { ended: Timestamp(ended), fault }
    }

    fn failed_at(ended: i64) -> TeamStatus {
        let ended = Some(Timestamp(ended));
        TeamStatus { ended, error: Some(fault("call")), ..TeamStatus::default() }
    }

    #[test]
    fn commits_are_not_taken_since_the_first_that_failed_in_this_way() {
        let slow = || TeamError::Slow.fault();
        let away = Untaken::after(None, fault("away"), Timestamp(10));
        let first = Untaken::after(Some(away), slow(), Timestamp(20));
        assert_eq!((first.since, first.last), (Timestamp(20), Timestamp(20)));
        let second = Untaken::after(Some(first), slow(), Timestamp(30));
        assert_eq!((second.since, second.last), (Timestamp(20), Timestamp(30)));
    }

    #[test]
    fn the_newest_of_calls_and_looks_says_whether_the_database_answers() {
        let mut status = failed_at(20);
        status.answered = Some(Timestamp(10));
        assert_eq!(status.fault(), Some(&fault("call")));
        assert_eq!(status.seen(), Some(Timestamp(10)));
        status.look = Some(look(30, None));
        assert_eq!((status.fault(), status.seen()), (None, Some(Timestamp(30))));
        status.look = Some(look(30, Some(fault("look"))));
        assert_eq!(status.fault(), Some(&fault("look")));
        assert_eq!(status.seen(), Some(Timestamp(10)));
        // An older look says nothing.
        status.look = Some(look(19, None));
        assert_eq!(status.fault(), Some(&fault("call")));
        status.error = None;
        status.look = Some(look(19, Some(fault("look"))));
        assert_eq!(status.fault(), None);
    }

    #[test]
    fn a_commit_that_was_too_slow_is_no_outage_and_reports_say_it_for_a_while() {
        let slow = || TeamError::Slow.fault();
        let refused = Some(Untaken::after(None, slow(), Timestamp(10)));
        let mut status = TeamStatus { error: Some(slow()), refused, ..failed_at(10) };
        let later = Timestamp(10 + limits::TEAM_SLOW_SHOWN_MILLIS);
        assert_eq!(status.outage(), None);
        assert!(status.slow_commits(0, later).is_some());
        status.error = None;
        assert!(status.slow_commits(0, Timestamp(11)).is_some());
        assert!(status.slow_commits(1, later).is_some());
        assert_eq!(status.slow_commits(0, later), None);
        status.error = Some(fault("reads fail as well"));
        assert!(status.outage().is_some());
    }

    #[test]
    fn a_commit_that_was_too_slow_is_past_with_a_silence_of_the_whole_database() {
        let refused = Some(Untaken::after(None, TeamError::Slow.fault(), Timestamp(10)));
        let mut status = TeamStatus { refused, ..TeamStatus::default() };
        status.note_unread(&TeamFault::refused("apart".to_owned()));
        assert!(status.slow_commits(1, Timestamp(11)).is_some(), "that was an answer");
        status.note_unread(&fault("reads fail as well"));
        assert_eq!(status.slow_commits(1, Timestamp(11)), None);
    }

    #[test]
    fn a_look_that_is_answered_does_not_end_the_fault_of_an_answer() {
        let apart = TeamFault::refused("apart".to_owned());
        let error = Some(apart.clone());
        let status = TeamStatus { error, look: Some(look(30, None)), ..failed_at(20) };
        assert_eq!(status.fault(), Some(&apart));
    }
}
