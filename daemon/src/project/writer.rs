//! The writer of a store: one thread that decides, appends, publishes and replies, in that order.
//!
//! It validates jobs one after the other on a private head and syncs the batch once. Only then do
//! readers see the batch and callers get replies. A job whose call was answered before gets that
//! answer. The index follows when nobody waits, or when it lacks much.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use arc_swap::ArcSwap;
use tokio::sync::oneshot;

use super::queue::{FairQueue, NotQueued, Taken};
use crate::store::limits::{SETTLE_AFTER, SETTLE_BYTES};
use crate::store::{
    Answer, Call, Entry, Health, LookUp, PendingFlush, Replies, StateMachine, Store, StoreError,
};
use crate::{clock, limits};

/// The result of a decision: the changes to make durable, and the reply to send afterwards.
#[derive(Debug)]
pub struct Transition<C> {
    /// The changes. If there are none, no entry is written.
    pub changes: Vec<C>,
    /// The reply. It is stored with the entry and repeated if the same call comes again.
    pub reply: String,
}

/// A command that reads the newest state and the time, and decides. Its error is for the caller to
/// read.
pub type WriteCommand<M> = Box<
    dyn FnOnce(&M, Timestamp) -> Result<Transition<<M as StateMachine>::Change>, String> + Send,
>;

/// A write that is on disk.
#[derive(Clone, Debug)]
pub struct Written {
    /// The reply to the caller.
    pub reply: Arc<str>,
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
    /// A fault in anchord; the log has it.
    #[error("internal error while deciding; nothing was written")]
    Internal,
}

/// A handle to a store's writer. It is cheap to clone. The writer ends when it is closed.
pub struct WriterHandle<M: StateMachine> {
    published: Arc<ArcSwap<M>>,
    health: Arc<ArcSwap<Health>>,
    look_up: LookUp<M>,
    queue: Arc<FairQueue<Job<M>>>,
    ended: Arc<tokio::sync::watch::Receiver<bool>>,
}

impl<M: StateMachine> Clone for WriterHandle<M> {
    fn clone(&self) -> Self {
        Self {
            published: Arc::clone(&self.published),
            health: Arc::clone(&self.health),
            look_up: Arc::clone(&self.look_up),
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
    decide: WriteCommand<M>,
    answer: oneshot::Sender<Result<Written, WriteError>>,
}

impl<M: StateMachine> WriterHandle<M> {
    /// Starts the writer's thread over an open store.
    pub fn start(store: Box<dyn Store<M>>, state: M, replies: Replies) -> std::io::Result<Self> {
        let published = Arc::new(ArcSwap::from_pointee(state.clone()));
        let queue = FairQueue::new();
        let (ending, ended) = tokio::sync::watch::channel(false);
        let health = Arc::new(ArcSwap::from_pointee(store.health()));
        let look_up = store.look_up();
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
        Ok(Self { published, health, look_up, queue, ended: Arc::new(ended) })
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

    /// Queues a write and waits until it is on disk.
    pub async fn write(
        &self,
        session: Option<SessionId>,
        call: Option<Call>,
        operation: &'static str,
        decide: WriteCommand<M>,
    ) -> Result<Written, WriteError> {
        let (answer, answered) = oneshot::channel();
        let lane = session.clone().unwrap_or_else(|| SessionId::new(""));
        let job = Job::Write(Write { session, call, operation, decide, answer });
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

    fn commit(&mut self, batch: Batch<M>) {
        let Batch { head, entries, mut waiting, .. } = batch;
        if !entries.is_empty() {
            let start = clock::start();
            if let Err(error) = self.store.append(&entries) {
                tracing::error!(%error, entries = entries.len(), "append failed; the batch is not saved");
                let error = Arc::new(error);
                for answer in waiting.into_iter().flat_map(|w| w.answers) {
                    let _ = answer.send(Err(WriteError::NotSaved(Arc::clone(&error))));
                }
                return;
            }
            let took = start.elapsed();
            let written = waiting.iter_mut().filter_map(|waiting| waiting.outcome.as_mut().ok());
            for append in written.filter_map(|written| written.append.as_mut()) {
                *append = took;
            }
            for entry in &entries {
                if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                    self.replies.record(call, entry.time, reply.as_str());
                }
            }
            self.head = head;
            self.published.store(Arc::new(self.head.clone()));
        }
        for Waiting { outcome, answers } in waiting {
            for answer in answers {
                // The caller may have gone; the write is valid all the same.
                let _ = answer.send(outcome.clone());
            }
        }
    }
}

/// Writes decided but not yet on disk.
struct Batch<M: StateMachine> {
    head: M,
    entries: Vec<Entry<M::Change>>,
    waiting: Vec<Waiting>,
    by_call: HashMap<(Arc<str>, u64), usize>,
}

/// An outcome that may depend on writes of this batch. It is sent only when they are on disk.
struct Waiting {
    outcome: Result<Written, WriteError>,
    answers: Vec<oneshot::Sender<Result<Written, WriteError>>>,
}

impl<M: StateMachine> Batch<M> {
    fn new(head: M) -> Self {
        Self { head, entries: Vec::new(), waiting: Vec::new(), by_call: HashMap::new() }
    }

    fn decide(&mut self, write: Write<M>, replies: &Replies, store: &dyn Store<M>) {
        let Write { session, call, operation, decide, answer } = write;
        if let Some(call) = &call {
            match replies.lookup(call) {
                Answer::Fresh => {}
                Answer::Answered(reply) => {
                    let _ = answer.send(Ok(Written { reply, append: None }));
                    return;
                }
                Answer::Stale => {
                    let _ = answer.send(Err(WriteError::Stale));
                    return;
                }
            }
            // The same line came twice in one batch: both get the outcome of the one write.
            if let Some(waiting) = self
                .by_call
                .get(&(Arc::clone(&call.instance), call.number))
                .and_then(|&index| self.waiting.get_mut(index))
            {
                waiting.answers.push(answer);
                return;
            }
        }
        let time = clock::now();
        let decided = match catch_unwind(AssertUnwindSafe(|| decide(&self.head, time))) {
            Ok(Ok(decided)) => decided,
            Ok(Err(refusal)) => return self.wait(Err(WriteError::Refused(refusal)), answer),
            Err(_panic) => return self.wait(Err(WriteError::Internal), answer),
        };
        let reply: Arc<str> = decided.reply.as_str().into();
        let append = (!decided.changes.is_empty()).then_some(Duration::ZERO);
        if !decided.changes.is_empty() {
            let entry = Entry {
                seq: Seq(self.head.seq().0 + 1),
                revision: M::is_commit(&decided.changes)
                    .then(|| Revision(self.head.revision().0 + 1)),
                time,
                session,
                reply: call.is_some().then_some(decided.reply),
                call,
                operation: operation.into(),
                changes: decided.changes,
            };
            if let Err(error) = store.admit(&entry) {
                // The entry fails alone. In the batch it would make everyone else's writes fail
                // too.
                return self.wait(Err(WriteError::NotSaved(Arc::new(error))), answer);
            }
            self.head.apply(entry.seq, &entry.changes);
            if let Some(call) = &entry.call {
                self.by_call.insert((Arc::clone(&call.instance), call.number), self.waiting.len());
            }
            self.entries.push(entry);
        }
        self.wait(Ok(Written { reply, append }), answer);
    }

    fn wait(
        &mut self,
        outcome: Result<Written, WriteError>,
        answer: oneshot::Sender<Result<Written, WriteError>>,
    ) {
        self.waiting.push(Waiting { outcome, answers: vec![answer] });
    }
}

#[cfg(test)]
mod tests;
