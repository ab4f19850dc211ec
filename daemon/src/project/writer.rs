//! The writer of a store: one thread that decides, appends, publishes and replies, in that order.
//!
//! It validates jobs one after the other on a private head and syncs the batch once. Only then do
//! readers see the batch and callers get replies. A job whose call was answered before gets that
//! answer. The index follows when nobody waits, or when it lacks much.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Change, Plan, Revision, Seq, SessionId, Timestamp};
use arc_swap::ArcSwap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use super::queue::{FairQueue, NotQueued, QueuedSession, Taken};
use crate::store::limits::{SETTLE_AFTER, SETTLE_BYTES};
use crate::store::{
    Answer, Call, Entry, Health, LookUp, PendingFlush, ReadBack, Replies, StateMachine, Store,
    StoreError,
};
use crate::{clock, limits};

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

/// A command that reads the newest state and the time, and decides. It decides again if another
/// writer was faster. Its error is for the caller to read.
pub type WriteCommand<M, O = ()> = Arc<
    dyn Fn(&M, Timestamp) -> Result<Transition<<M as StateMachine>::Change, O>, String>
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
    /// The caller made a mistake; the text explains it.
    #[error("{0}")]
    Refused(String),
    /// Too much is queued.
    #[error("busy: too many writes of this session are waiting; try again in a moment")]
    Busy,
    /// The store refused the write; nothing was saved.
    #[error("{0}")]
    NotSaved(Arc<StoreError>),
    /// The store is being closed. Opening it again helps.
    #[error("the store is closing")]
    Closed,
    /// The line was acknowledged before. Its answer was given and is no longer kept.
    #[error("this line was answered before and its answer acknowledged")]
    Stale,
    /// The line was applied before. Its stored outcome is of another build and cannot be read.
    #[error("this line was applied before, and its stored answer cannot be read: {0}")]
    Unreadable(String),
    /// A fault in anchord; the log has it.
    #[error("internal error while deciding; nothing was written")]
    Internal,
}

/// A handle to a store's writer. It is cheap to clone. The writer ends when it is closed.
pub struct WriterHandle<M: StateMachine> {
    published: Arc<ArcSwap<M>>,
    health: Arc<ArcSwap<Health>>,
    look_up: LookUp<M>,
    pub(super) read_back: ReadBack<M>,
    queue: Arc<FairQueue<Job<M>>>,
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

struct Write<M: StateMachine> {
    session: Option<SessionId>,
    call: Option<Call>,
    operation: &'static str,
    command: Box<dyn Command<M>>,
}

/// A command and its caller, for the writer, which handles outcomes of all types.
trait Command<M: StateMachine>: Send {
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
struct Typed<M: StateMachine, O> {
    command: WriteCommand<M, O>,
    decided: Option<(M, O)>,
    answer: oneshot::Sender<Result<Written<M, O>, WriteError>>,
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

impl<M: StateMachine> WriterHandle<M> {
    /// Starts the writer's thread over an open store.
    pub fn start(store: Box<dyn Store<M>>, state: M, replies: Replies) -> std::io::Result<Self> {
        let published = Arc::new(ArcSwap::from_pointee(state.clone()));
        let queue = FairQueue::new();
        let (ending, ended) = tokio::sync::watch::channel(false);
        let health = Arc::new(ArcSwap::from_pointee(store.health()));
        let (look_up, read_back) = (store.look_up(), store.read_back());
        let worker = Writer {
            store,
            head: state,
            replies,
            published: Arc::clone(&published),
            health: Arc::clone(&health),
        };
        let lane = Arc::clone(&queue);
        std::thread::Builder::new().name(format!("own-{}", M::NAME)).spawn(move || {
            let _closing = CloseOnDrop(&lane);
            worker.run(&lane);
            ending.send_replace(true);
        })?;
        Ok(Self { published, health, look_up, read_back, queue, ended: Arc::new(ended) })
    }

    /// Returns the newest state that is on disk.
    pub fn snapshot(&self) -> Arc<M> {
        self.published.load_full()
    }

    /// Returns the store's problems, as of the last write.
    pub fn health(&self) -> Arc<Health> {
        self.health.load_full()
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
        operation: &'static str,
        command: WriteCommand<M, O>,
    ) -> Result<Written<M, O>, WriteError> {
        let (answer, answered) = oneshot::channel();
        let lane = session.clone().unwrap_or_else(|| SessionId::new(""));
        let command = Box::new(Typed { command, decided: None, answer });
        let job = Job::Write(Write { session, call, operation, command });
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
        self.push(&SessionId::new(""), job).await?;
        answered.await.unwrap_or(Err(WriteError::Closed))
    }

    async fn push(&self, lane: &SessionId, job: Job<M>) -> Result<(), WriteError> {
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
        while let Taken::Batch(_) = self.0.take(usize::MAX, Duration::ZERO) {}
    }
}

struct Writer<M: StateMachine> {
    store: Box<dyn Store<M>>,
    head: M,
    replies: Replies,
    published: Arc<ArcSwap<M>>,
    health: Arc<ArcSwap<Health>>,
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
                Taken::Idle => self.catch_up(),
                Taken::Closed => break,
            }
            if dirty && flushed.elapsed() >= limits::INDEX_FLUSH_AFTER {
                self.catch_up();
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

    /// Lets the index catch up. Not after each write, because a caller that writes repeatedly would
    /// wait for it each time.
    fn catch_up(&mut self) {
        if self.store.unsettled_bytes() > 0
            && let Err(error) = self.store.advance_index(&self.head, &mut self.replies)
        {
            tracing::warn!(%error, "the index did not follow");
        }
    }

    fn serve(&mut self, jobs: Vec<Job<M>>) {
        let mut batch = Batch::new(self.head.clone());
        for job in jobs {
            match job {
                Job::Write(write) => batch.decide(write, &self.replies, self.store.as_ref()),
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
    fn commit(&mut self, mut batch: Batch<M>) {
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
        self.published.store(Arc::new(self.head.clone()));
        Ok(())
    }

    /// Publishes a batch that is on disk, and answers its callers.
    fn answer(&mut self, batch: Batch<M>, took: Duration) {
        let Batch { head, mut entries, waiting, .. } = batch;
        if !entries.is_empty() {
            for entry in &entries {
                if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                    self.replies.record(call, entry.time, reply.clone());
                }
            }
            self.head = head;
            self.published.store(Arc::new(self.head.clone()));
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

/// Writes decided but not yet on disk.
struct Batch<M: StateMachine> {
    head: M,
    entries: Vec<Entry<M::Change>>,
    waiting: Vec<Waiting<M>>,
    by_call: HashMap<(Arc<str>, u64), usize>,
}

/// A decision that may depend on writes of this batch. It is reported only when they are on disk,
/// a refusal too.
struct Waiting<M: StateMachine> {
    write: Write<M>,
    /// Repetitions of the call in this batch.
    repeats: Vec<Write<M>>,
    /// The index of its entry, which is `None` if it changes nothing.
    decided: Result<Option<usize>, WriteError>,
}

impl<M: StateMachine> Waiting<M> {
    fn all(self) -> impl Iterator<Item = Write<M>> {
        std::iter::once(self.write).chain(self.repeats)
    }
}

impl<M: StateMachine> Batch<M> {
    fn new(head: M) -> Self {
        Self { head, entries: Vec::new(), waiting: Vec::new(), by_call: HashMap::new() }
    }

    /// Reports that nothing of the batch was written.
    fn fail(self, error: StoreError) {
        tracing::error!(%error, entries = self.entries.len(), "append failed; the batch is not saved");
        let error = Arc::new(error);
        for write in self.waiting.into_iter().flat_map(Waiting::all) {
            write.command.fail(WriteError::NotSaved(Arc::clone(&error)));
        }
    }

    /// Makes the decisions again, in the same order, on a later state.
    fn again(self, head: M, replies: &Replies, store: &dyn Store<M>) -> Self {
        let mut batch = Self::new(head);
        for write in self.waiting.into_iter().flat_map(Waiting::all) {
            batch.decide(write, replies, store);
        }
        batch
    }

    fn decide(&mut self, mut write: Write<M>, replies: &Replies, store: &dyn Store<M>) {
        if let Some(call) = &write.call {
            match replies.lookup(call) {
                Answer::Fresh => {}
                Answer::Answered(stored) => return write.command.repeat(&stored),
                Answer::Stale => return write.command.fail(WriteError::Stale),
            }
            // The same line came twice in one batch: both get the outcome of the one write.
            if let Some(waiting) = self
                .by_call
                .get(&(Arc::clone(&call.instance), call.number))
                .and_then(|&index| self.waiting.get_mut(index))
            {
                return waiting.repeats.push(write);
            }
        }
        let time = clock::now();
        let decided = write.command.decide(&self.head, time).and_then(|changes| {
            let reply = write.call.is_some().then(|| write.command.stored()).transpose()?;
            Ok((changes, reply))
        });
        let (changes, reply) = match decided {
            Ok(decided) => decided,
            Err(error) => return self.wait(write, Err(error)),
        };
        if changes.is_empty() {
            return self.wait(write, Ok(None));
        }
        let entry = Entry {
            seq: Seq(self.head.seq().0 + 1),
            revision: M::is_commit(&changes).then(|| Revision(self.head.revision().0 + 1)),
            time,
            session: write.session.clone(),
            call: write.call.clone(),
            operation: write.operation.into(),
            changes,
            reply,
        };
        if let Err(error) = store.admit(&entry) {
            // The entry fails alone. In the batch it would make everyone else's writes fail too.
            return self.wait(write, Err(WriteError::NotSaved(Arc::new(error))));
        }
        self.head.apply(entry.seq, &entry.changes);
        if let Some(call) = &entry.call {
            self.by_call.insert((Arc::clone(&call.instance), call.number), self.waiting.len());
        }
        let at = self.entries.len();
        self.entries.push(entry);
        self.wait(write, Ok(Some(at)));
    }

    fn wait(&mut self, write: Write<M>, decided: Result<Option<usize>, WriteError>) {
        self.waiting.push(Waiting { write, repeats: Vec::new(), decided });
    }
}

#[cfg(test)]
mod tests;
