//! The writer of a store: one thread that decides, appends, publishes and replies, in that order.
//!
//! It validates jobs one after the other on a private head and syncs the batch once. Only then do
//! readers see the batch and callers get replies. A job whose call was answered before gets that
//! answer. The index follows when nobody waits, or when it lacks much.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Seq, SessionId};
use arc_swap::ArcSwap;
use tokio::sync::oneshot;

use super::batch::{Batch, Waiting};
use super::queue::{FairQueue, Lane, NotQueued, QueuedSession, Taken};
use super::team_link::{Flights, TeamLink, TeamLook, TeamSignal, TeamStatus};
use super::write::{Operation, Outcome, Typed, Write, WriteCommand, WriteError, Written};
use crate::store::limits::{SETTLE_AFTER, SETTLE_BYTES};
use crate::store::{
    Call, Health, LookUp, PendingFlush, ReadBack, Replies, StateMachine, Store, StoreError,
};
use crate::{clock, limits};

/// A handle to a store's writer. It is cheap to clone. The writer ends when it is closed.
pub struct WriterHandle<M: StateMachine> {
    published: Arc<ArcSwap<M>>,
    health: Arc<ArcSwap<Health>>,
    look_up: LookUp<M>,
    pub(super) read_back: ReadBack<M>,
    queue: Arc<FairQueue<Job<M>>>,
    team: Option<Arc<TeamSignal>>,
    ended: Arc<tokio::sync::watch::Receiver<bool>>,
}

impl<M: StateMachine> Clone for WriterHandle<M> {
    fn clone(&self) -> Self {
        Self {
            published: Arc::clone(&self.published),
            health: Arc::clone(&self.health),
            look_up: Arc::clone(&self.look_up),
            read_back: Arc::clone(&self.read_back),
            queue: Arc::clone(&self.queue),
            team: self.team.clone(),
            ended: Arc::clone(&self.ended),
        }
    }
}

impl<M: StateMachine> std::fmt::Debug for WriterHandle<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterHandle").field("machine", &M::NAME).finish_non_exhaustive()
    }
}

/// One task for the writer.
enum Job<M: StateMachine> {
    Write(Write<M>),
    Ask(Ask<M>),
}

type Ask<M> = Box<dyn FnOnce(&mut dyn Store<M>, &M) + Send>;

impl<M: StateMachine> WriterHandle<M> {
    /// Starts the writer's thread over an open store. With a team, commits go to its journal first.
    pub fn start(
        store: Box<dyn Store<M>>,
        state: M,
        replies: Replies,
        team: Option<TeamLink<M::Change>>,
    ) -> std::io::Result<Self> {
        let published = Arc::new(ArcSwap::from_pointee(state.clone()));
        let queue = FairQueue::new();
        let (ending, ended) = tokio::sync::watch::channel(false);
        let health = Arc::new(ArcSwap::from_pointee(store.health()));
        let (look_up, read_back) = (store.look_up(), store.read_back());
        let signal = team.as_ref().map(|_| Arc::new(TeamSignal::default()));
        let waking = Arc::clone(&queue);
        let wake = move || waking.nudge();
        let worker = Writer {
            store,
            head: state,
            replies,
            published: Arc::clone(&published),
            health: Arc::clone(&health),
            team: team
                .zip(signal.clone())
                .map(|(link, signal)| Flights::new(link, signal, Arc::new(wake))),
        };
        let lane = Arc::clone(&queue);
        std::thread::Builder::new().name(format!("own-{}", M::NAME)).spawn(move || {
            let _closing = CloseOnDrop(&lane);
            worker.run(&lane);
            ending.send_replace(true);
        })?;
        let ended = Arc::new(ended);
        Ok(Self { published, health, look_up, read_back, queue, team: signal, ended })
    }

    /// Returns the newest state that is on disk.
    pub fn snapshot(&self) -> Arc<M> {
        self.published.load_full()
    }

    /// Returns the store's problems, as of the last write.
    pub fn health(&self) -> Arc<Health> {
        self.health.load_full()
    }

    /// Has the writer ask for what others have written. Does nothing without a team.
    pub fn follow_team(&self) {
        if let Some(team) = &self.team {
            team.ask();
            self.queue.nudge();
        }
    }

    /// Returns whether the team's database answers, if a team shares the memory.
    pub fn team(&self) -> Option<Arc<TeamStatus>> {
        self.team.as_ref().map(|team| Arc::clone(&team.status.borrow()))
    }

    /// Returns whether a write of a session waits for the team's database.
    pub fn waits_for_team(&self, session: &SessionId) -> bool {
        self.team.as_ref().is_some_and(|team| team.waiting.load().contains(session))
    }

    /// Remembers a look for a report at whether the team's database answers. After one that was
    /// answered, the link need not wait for its next turn.
    pub fn note_team_look(&self, look: TeamLook) {
        let Some(team) = &self.team else { return };
        let is_back = look.fault.is_none() && team.status.borrow().error.is_some();
        team.status.send_modify(|status| {
            let status = Arc::make_mut(status);
            if let Some(fault) = &look.fault {
                status.note_unread(fault);
            }
            status.look = Some(look);
        });
        if is_back {
            self.follow_team();
        }
    }

    /// Waits until the first call to the team's database has ended, if a team shares the memory.
    pub async fn team_looked(&self) {
        if let Some(team) = &self.team {
            let mut status = team.status.subscribe();
            // The sender is here, so it cannot be gone.
            let _ = status.wait_for(|status| status.ended.is_some()).await;
        }
    }

    /// Finds earlier versions on the caller's thread, without waiting for the queue or the writer.
    pub fn look_up(&self) -> Result<LookUp<M>, WriteError> {
        // The files of a closed store may be rewritten or gone.
        if self.is_closed() {
            return Err(WriteError::Closed);
        }
        Ok(Arc::clone(&self.look_up))
    }

    /// Queues a write and waits until it is on disk. A call that was answered before gets the same
    /// outcome again.
    pub async fn write<O: Outcome>(
        &self,
        session: Option<SessionId>,
        call: Option<Call>,
        operation: impl Into<Operation>,
        command: WriteCommand<M, O>,
    ) -> Result<Written<M, O>, WriteError> {
        let (answer, answered) = oneshot::channel();
        let lane = session.clone().map_or(Lane::Daemon, Lane::Session);
        let command = Box::new(Typed { command, decided: None, answer });
        let operation = operation.into();
        let arrived = clock::start();
        let job = Job::Write(Write { session, call, operation, command, arrived });
        self.push(&lane, job).await?;
        answered.await.unwrap_or(Err(WriteError::Closed))
    }

    /// Runs `question` on the store itself, between writes: history, verification, sizes.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Store<M>, &M) -> T + Send + 'static,
    ) -> Result<T, WriteError> {
        let (answer, answered) = oneshot::channel();
        let job = Job::Ask(Box::new(move |store, state| {
            let found = catch_unwind(AssertUnwindSafe(|| question(store, state)));
            // The caller may have gone; then nobody wants the answer.
            let _ = answer.send(found.map_err(|_panic| WriteError::Internal));
        }));
        self.push(&Lane::Daemon, job).await?;
        answered.await.unwrap_or(Err(WriteError::Closed))
    }

    async fn push(&self, lane: &Lane, job: Job<M>) -> Result<(), WriteError> {
        self.queue.push(lane, job).await.map_err(|refused| match refused {
            NotQueued::Busy => WriteError::Busy,
            NotQueued::Closed => WriteError::Closed,
        })
    }

    /// Returns the number of waiting jobs.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns the sessions whose jobs wait, in the order in which they are served.
    pub fn queued(&self) -> Vec<QueuedSession> {
        self.queue.queued()
    }

    /// Returns whether no more jobs are accepted: the writer was closed, or its thread has died.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// Serves what is queued, closes the store, and returns when that is done.
    pub async fn close(&self) {
        self.queue.close();
        let mut ended = self.ended.as_ref().clone();
        // An error means that the thread has ended, which is the condition awaited.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// A guard that closes the queue however the thread ends, so that nobody waits for a dead writer.
struct CloseOnDrop<'a, T>(&'a FairQueue<T>);

impl<T> Drop for CloseOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.close();
        // Dropping the remaining jobs drops their senders, which answers the callers.
        while let Taken::Batch(_) | Taken::Nudged = self.0.take(usize::MAX, Duration::ZERO) {}
    }
}

pub(super) struct Writer<M: StateMachine> {
    pub(super) store: Box<dyn Store<M>>,
    pub(super) head: M,
    pub(super) replies: Replies,
    published: Arc<ArcSwap<M>>,
    health: Arc<ArcSwap<Health>>,
    pub(super) team: Option<Flights<M>>,
}

impl<M: StateMachine> Writer<M> {
    fn run(mut self, queue: &FairQueue<Job<M>>) {
        // Maintenance of the store's files begins soon after it was opened.
        let (mut dirty, mut left) = (true, PendingFlush::Nothing);
        let mut flushed = clock::start();
        loop {
            let idle = match left {
                PendingFlush::Marks => Duration::ZERO,
                _ if self.store.unsettled_bytes() > 0 => SETTLE_AFTER,
                _ => limits::INDEX_FLUSH_AFTER,
            };
            match queue.take(limits::BATCH_JOBS_MAX, idle) {
                Taken::Batch(jobs) => {
                    self.serve(jobs);
                    if self.store.unsettled_bytes() >= SETTLE_BYTES {
                        self.catch_up();
                    }
                    dirty = true;
                }
                // Marks are written a few at a time, while nobody waits.
                Taken::Idle if left == PendingFlush::Marks => left = self.store.flush(),
                Taken::Idle => self.catch_up_if_due(),
                Taken::Nudged => {}
                Taken::Closed if self.team.as_ref().is_none_or(Flights::is_done) => break,
                // The answer says how the last writes ended.
                Taken::Closed => self.tend_team(limits::TEAM_ANSWER_MAX),
            }
            self.tend_team(Duration::ZERO);
            if dirty && flushed.elapsed() >= limits::INDEX_FLUSH_AFTER {
                self.catch_up_if_due();
                left = self.store.flush();
                dirty = left != PendingFlush::Nothing;
                flushed = clock::start();
            }
            let health = self.store.health();
            if **self.health.load() != health {
                self.health.store(Arc::new(health));
            }
        }
        self.catch_up();
        self.store.close();
    }

    /// Lets the index catch up, unless more of a team's entries are on their way. While a machine
    /// joins a team, the memory comes first.
    fn catch_up_if_due(&mut self) {
        let is_behind = self.team.as_ref().is_some_and(Flights::is_behind);
        if !is_behind || self.store.unsettled_bytes() >= limits::TEAM_UNSETTLED_BYTES_MAX {
            self.catch_up();
        }
    }

    /// Lets the index catch up. Not after each write, because a caller that writes repeatedly would
    /// wait for it each time.
    fn catch_up(&mut self) {
        if self.store.unsettled_bytes() > 0
            && let Err(error) = self.store.advance_index(&self.head, &mut self.replies)
        {
            tracing::warn!(%error, "the index did not follow");
        }
    }

    /// Decides a write. One that needs the team's journal is parked.
    pub(super) fn decide(&mut self, batch: &mut Batch<M>, write: Write<M>) {
        let (replies, store) = (&self.replies, self.store.as_ref());
        match &mut self.team {
            None => batch.decide(write, replies, store),
            Some(team) if team.holds(&write) => team.park([write]),
            Some(team) => {
                team.park(batch.decide_unless(write, replies, store, Write::is_of_team));
            }
        }
    }

    fn serve(&mut self, jobs: Vec<Job<M>>) {
        let mut batch = Batch::new(self.head.clone());
        for job in jobs {
            match job {
                Job::Write(write) => self.decide(&mut batch, write),
                Job::Ask(ask) => {
                    // A question sees everything that was written before it.
                    let next = Batch::new(self.head.clone());
                    self.commit(std::mem::replace(&mut batch, next));
                    batch.head = self.head.clone();
                    self.catch_up();
                    ask(self.store.as_mut(), &self.head);
                }
            }
        }
        self.commit(batch);
    }

    /// Appends a batch and answers its callers. If another writer was faster, follows that one and
    /// decides again.
    pub(super) fn commit(&mut self, mut batch: Batch<M>) {
        let mut tries = 1..=limits::APPEND_TRIES_MAX;
        while !batch.entries.is_empty() {
            tries.next();
            let start = clock::start();
            let moved = match self.store.append(self.head.seq(), &batch.entries) {
                Ok(()) => return self.answer(batch, start.elapsed()),
                Err(moved @ StoreError::HeadMoved { .. }) => moved,
                Err(error) => return batch.fail(error),
            };
            match self.follow() {
                Ok(()) if tries.is_empty() => return batch.fail(moved),
                Ok(()) => batch = batch.again(self.head.clone(), &self.replies, &*self.store),
                Err(error) => return batch.fail(error),
            }
        }
        self.answer(batch, Duration::ZERO);
    }

    /// Applies what another writer has appended.
    fn follow(&mut self) -> Result<(), StoreError> {
        let (head, replies) = (&mut self.head, &mut self.replies);
        self.store.entries(Seq(head.seq().0 + 1), &mut |entry| {
            head.apply(entry.seq, &entry.changes);
            if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                replies.record(call, entry.time, reply.clone());
            }
            true
        })?;
        self.publish();
        Ok(())
    }

    /// Shows readers the newest state that is on disk.
    pub(super) fn publish(&self) {
        self.published.store(Arc::new(self.head.clone()));
    }

    /// Publishes a batch that is on disk, and answers its callers.
    pub(super) fn answer(&mut self, batch: Batch<M>, took: Duration) {
        let Batch { head, mut entries, waiting, .. } = batch;
        if !entries.is_empty() {
            for entry in &entries {
                if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                    self.replies.record(call, entry.time, reply.clone());
                }
            }
            self.head = head;
            self.publish();
        }
        for Waiting { write, repeats, decided } in waiting {
            let command = write.command;
            let entry = match decided {
                Ok(entry) => entry.and_then(|at| entries.get_mut(at)),
                Err(error) => {
                    command.fail(error);
                    continue;
                }
            };
            let stored = entry.as_ref().and_then(|entry| entry.reply.as_ref());
            for Write { command, .. } in repeats {
                match stored {
                    Some(stored) => command.repeat(stored),
                    None => command.fail(WriteError::Internal),
                }
            }
            let append = entry.is_some().then_some(took);
            let changes = entry.map(|entry| std::mem::take(&mut entry.changes));
            command.done(changes.unwrap_or_default(), append);
        }
    }
}

#[cfg(test)]
mod tests;
