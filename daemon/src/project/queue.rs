//! A bounded queue that serves sessions in turn, so that none can starve another.
//!
//! Each session has a lane of its own. A full lane makes that session wait and, after a while,
//! fails with busy; the other sessions do not notice. The consumer is one thread that takes batches
//! round-robin.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::SessionId;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::limits;

/// The result of taking from the queue.
#[derive(Debug)]
pub(crate) enum Taken<T> {
    /// At least one job.
    Batch(Vec<T>),
    /// No job came within the given time.
    Idle,
    /// There is no job, but the consumer has something else to do.
    Nudged,
    /// The queue is closed and empty.
    Closed,
}

/// The reason a job was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotQueued {
    /// The session's lane stayed full.
    Busy,
    /// The queue is closed.
    Closed,
}

/// The queue; one for each open store.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    lanes: Mutex<Lanes<T>>,
    filled: Condvar,
    emptied: Notify,
}

#[derive(Debug)]
struct Lanes<T> {
    by_session: HashMap<SessionId, VecDeque<T>>,
    /// Sessions with something queued, in the order in which they are served.
    turn: VecDeque<SessionId>,
    /// Sessions of the batch that was taken last.
    served: Vec<SessionId>,
    /// Whether the consumer has something else to do.
    nudged: bool,
    closed: bool,
}

/// A session whose jobs wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSession {
    /// The session; an empty id for the daemon's own jobs.
    pub session: SessionId,
    /// The number of its waiting jobs.
    pub jobs: usize,
    /// The sessions that are served before it: those of the current batch, and those whose turn is
    /// earlier.
    pub behind: Vec<SessionId>,
}

impl<T> FairQueue<T> {
    /// Returns an empty, open queue.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            lanes: Mutex::new(Lanes {
                by_session: HashMap::new(),
                turn: VecDeque::new(),
                served: Vec::new(),
                nudged: false,
                closed: false,
            }),
            filled: Condvar::new(),
            emptied: Notify::new(),
        })
    }

    /// Queues a job in its session's lane, waiting while the lane is full.
    pub(crate) async fn push(&self, session: &SessionId, job: T) -> Result<(), NotQueued> {
        let mut job = Some(job);
        let waited = tokio::time::timeout(limits::QUEUE_WAIT_MAX, async {
            loop {
                let emptied = self.emptied.notified();
                tokio::pin!(emptied);
                emptied.as_mut().enable();
                if let Some(result) = self.offer(session, &mut job) {
                    return result;
                }
                emptied.await;
            }
        })
        .await;
        waited.unwrap_or(Err(NotQueued::Busy))
    }

    fn offer(&self, session: &SessionId, job: &mut Option<T>) -> Option<Result<(), NotQueued>> {
        let mut lanes = self.lanes.lock();
        if lanes.closed {
            return Some(Err(NotQueued::Closed));
        }
        let lane = lanes.by_session.entry(session.clone()).or_default();
        if lane.len() >= limits::QUEUE_LANE_JOBS_MAX {
            return None;
        }
        let was_empty = lane.is_empty();
        lane.extend(job.take());
        if was_empty {
            lanes.turn.push_back(session.clone());
        }
        drop(lanes);
        self.filled.notify_one();
        Some(Ok(()))
    }

    /// Ends the consumer's wait, as if its time were over.
    pub(crate) fn nudge(&self) {
        self.lanes.lock().nudged = true;
        self.filled.notify_one();
    }

    /// Takes up to `jobs_max` jobs, one of each session in turn. Blocks for up to `idle`.
    pub(crate) fn take(&self, jobs_max: usize, idle: Duration) -> Taken<T> {
        let mut lanes = self.lanes.lock();
        let is_idle =
            |lanes: &mut Lanes<T>| lanes.turn.is_empty() && !lanes.closed && !lanes.nudged;
        self.filled.wait_while_for(&mut lanes, is_idle, idle);
        let mut batch = Vec::new();
        let nudged = std::mem::take(&mut lanes.nudged);
        lanes.served.clear();
        while batch.len() < jobs_max
            && let Some(session) = lanes.turn.pop_front()
        {
            let Some(lane) = lanes.by_session.get_mut(&session) else { continue };
            batch.extend(lane.pop_front());
            if lane.is_empty() {
                lanes.by_session.remove(&session);
            } else {
                lanes.turn.push_back(session.clone());
            }
            if !lanes.served.contains(&session) {
                lanes.served.push(session);
            }
        }
        let closed = lanes.closed;
        drop(lanes);
        if !batch.is_empty() {
            self.emptied.notify_waiters();
            Taken::Batch(batch)
        } else if nudged {
            Taken::Nudged
        } else if closed {
            Taken::Closed
        } else {
            Taken::Idle
        }
    }

    /// Stops accepting jobs. Those in the queue are still served.
    pub(crate) fn close(&self) {
        self.lanes.lock().closed = true;
        self.filled.notify_all();
        self.emptied.notify_waiters();
    }

    /// Returns whether no more jobs are accepted.
    pub(crate) fn is_closed(&self) -> bool {
        self.lanes.lock().closed
    }

    /// Returns the number of waiting jobs.
    pub(crate) fn len(&self) -> usize {
        self.lanes.lock().by_session.values().map(VecDeque::len).sum()
    }

    /// Returns the sessions whose jobs wait, in the order in which they are served.
    pub(crate) fn queued(&self) -> Vec<QueuedSession> {
        let lanes = self.lanes.lock();
        let mut behind = lanes.served.clone();
        let mut queued = Vec::with_capacity(lanes.turn.len());
        for session in &lanes.turn {
            let jobs = lanes.by_session.get(session).map_or(0, VecDeque::len);
            let others = behind.iter().filter(|other| *other != session).cloned();
            queued.push(QueuedSession { session: session.clone(), jobs, behind: others.collect() });
            behind.push(session.clone());
        }
        queued
    }
}

#[cfg(test)]
mod tests;
