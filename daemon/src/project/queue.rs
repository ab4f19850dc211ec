//! A bounded queue that serves sessions in turn, so that none can starve another.
//!
//! Each session has a lane of its own, and so has the daemon. A full lane makes that session wait
//! and, after a while, fails with busy; the other sessions do not notice. The consumer is one
//! thread that takes batches round-robin.

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

/// The part of the queue whose jobs keep their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// The jobs of a session.
    Session(SessionId),
    /// The jobs of the daemon itself.
    Daemon,
}

impl Lane {
    fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session(session) => Some(session),
            Self::Daemon => None,
        }
    }
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
    jobs: HashMap<Lane, VecDeque<T>>,
    /// Lanes with something queued, in the order in which they are served.
    turn: VecDeque<Lane>,
    /// Lanes of the batch that was taken last.
    served: Vec<Lane>,
    /// Whether the consumer has something else to do.
    nudged: bool,
    closed: bool,
}

/// A session whose jobs wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSession {
    /// The session.
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
                jobs: HashMap::new(),
                turn: VecDeque::new(),
                served: Vec::new(),
                nudged: false,
                closed: false,
            }),
            filled: Condvar::new(),
            emptied: Notify::new(),
        })
    }

    /// Queues a job in its lane, waiting while the lane is full.
    pub(crate) async fn push(&self, lane: &Lane, job: T) -> Result<(), NotQueued> {
        let mut job = Some(job);
        let waited = tokio::time::timeout(limits::QUEUE_WAIT_MAX, async {
            loop {
                let emptied = self.emptied.notified();
                tokio::pin!(emptied);
                emptied.as_mut().enable();
                if let Some(result) = self.offer(lane, &mut job) {
                    return result;
                }
                emptied.await;
            }
        })
        .await;
        waited.unwrap_or(Err(NotQueued::Busy))
    }

    fn offer(&self, lane: &Lane, job: &mut Option<T>) -> Option<Result<(), NotQueued>> {
        let mut lanes = self.lanes.lock();
        if lanes.closed {
            return Some(Err(NotQueued::Closed));
        }
        let jobs = lanes.jobs.entry(lane.clone()).or_default();
        if jobs.len() >= limits::QUEUE_LANE_JOBS_MAX {
            return None;
        }
        let was_empty = jobs.is_empty();
        jobs.extend(job.take());
        if was_empty {
            lanes.turn.push_back(lane.clone());
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

    /// Takes up to `jobs_max` jobs, one of each lane in turn. Blocks for up to `idle`.
    pub(crate) fn take(&self, jobs_max: usize, idle: Duration) -> Taken<T> {
        let mut lanes = self.lanes.lock();
        let is_idle =
            |lanes: &mut Lanes<T>| lanes.turn.is_empty() && !lanes.closed && !lanes.nudged;
        self.filled.wait_while_for(&mut lanes, is_idle, idle);
        let mut batch = Vec::new();
        let nudged = std::mem::take(&mut lanes.nudged);
        lanes.served.clear();
        while batch.len() < jobs_max
            && let Some(lane) = lanes.turn.pop_front()
        {
            let Some(jobs) = lanes.jobs.get_mut(&lane) else { continue };
            batch.extend(jobs.pop_front());
            if jobs.is_empty() {
                lanes.jobs.remove(&lane);
            } else {
                lanes.turn.push_back(lane.clone());
            }
            if !lanes.served.contains(&lane) {
                lanes.served.push(lane);
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
        self.lanes.lock().jobs.values().map(VecDeque::len).sum()
    }

    /// Returns the sessions whose jobs wait, in the order in which they are served.
    pub(crate) fn queued(&self) -> Vec<QueuedSession> {
        let lanes = self.lanes.lock();
        let mut behind: Vec<SessionId> =
            lanes.served.iter().filter_map(Lane::session).cloned().collect();
        let mut queued = Vec::with_capacity(lanes.turn.len());
        for lane in &lanes.turn {
            let Some(session) = lane.session() else { continue };
            let jobs = lanes.jobs.get(lane).map_or(0, VecDeque::len);
            let others = behind.iter().filter(|other| *other != session).cloned();
            queued.push(QueuedSession { session: session.clone(), jobs, behind: others.collect() });
            behind.push(session.clone());
        }
        queued
    }
}

#[cfg(test)]
mod tests;
