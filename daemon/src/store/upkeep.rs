//! Work on a store's files that no write waits for. Only one task runs at a time in the whole
//! process, on a thread of its own.
//!
//! A task reads the store's files and writes new files next to them. The writer takes its outcome;
//! only the writer changes the store. A task may hold a whole segment or a second index in memory.
//! So stores take turns, and the total does not grow with the number of stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::index::{Index, IndexError, MARKS, META, REPLIES, RowSum, STATE};
use super::limits::INDEX_COPY_ROWS_MAX;
use super::{Row, StoreError};

/// The way to run tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Never.
    Off,
    /// In the call that begins them.
    Inline,
    /// On a thread.
    Thread,
}

/// The result of a task.
#[derive(Debug)]
pub(super) enum TaskOutcome {
    /// The index was copied, except for later writes.
    Copied(Result<Box<dyn Index>, IndexError>),
    /// A complete copy was closed and its files synced.
    Synced { sum: RowSum, synced: Result<(), IndexError> },
    /// The index that the copy replaced was removed.
    Tidied(Result<(), IndexError>),
    /// A sealed segment was read. Holds the fault, if one was found.
    Checked { number: u32, checked: Result<Option<StoreError>, StoreError> },
    /// A segment was archived. Holds the archive's size, or the fault found in the segment.
    Archived { number: u32, archived: Result<Result<u64, StoreError>, StoreError> },
    /// The task panicked; the log has the panic.
    Panicked,
}

/// The right to run tasks on a thread. Only one exists.
#[derive(Debug)]
struct Turn;

static IS_TURN_TAKEN: AtomicBool = AtomicBool::new(false);

impl Turn {
    fn take() -> Option<Self> {
        // Create it only if it is taken, because dropping it gives it back.
        (!IS_TURN_TAKEN.swap(true, Ordering::Acquire)).then(|| Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_TURN_TAKEN.store(false, Ordering::Release);
    }
}

/// The running task of a store, if there is one.
#[derive(Debug)]
pub(super) struct Tasks {
    upkeep: Upkeep,
    running: Option<Running>,
    /// Held from before a task begins until its outcome is taken and leads to no other task.
    turn: Option<Turn>,
    /// Whether another store may go first.
    is_to_yield: bool,
    is_cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Running {
    Thread(JoinHandle<TaskOutcome>),
    Over(TaskOutcome),
}

impl Tasks {
    pub(super) fn new(upkeep: Upkeep) -> Self {
        let is_cancelled = Arc::default();
        Self { upkeep, running: None, turn: None, is_to_yield: false, is_cancelled }
    }

    /// Whether a task can begin.
    pub(super) fn is_free(&self) -> bool {
        self.running.is_none() && self.upkeep != Upkeep::Off
    }

    /// Whether an outcome is pending or ready.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Takes the turn if no other store has it. The store that had it last lets others go first,
    /// once.
    pub(super) fn take_turn(&mut self) -> bool {
        if self.upkeep == Upkeep::Inline || self.turn.is_some() {
            return true;
        }
        if !std::mem::take(&mut self.is_to_yield) {
            self.turn = Turn::take();
        }
        self.turn.is_some()
    }

    /// Gives the turn back, unless a task runs.
    pub(super) fn end_turn(&mut self) {
        if self.running.is_none() && self.turn.take().is_some() {
            self.is_to_yield = true;
        }
    }

    /// Begins a task, in this store's turn. The task receives a flag that is set once its outcome
    /// is no longer needed.
    pub(super) fn begin(&mut self, task: impl FnOnce(&AtomicBool) -> TaskOutcome + Send + 'static) {
        let is_cancelled = Arc::clone(&self.is_cancelled);
        self.running = Some(if self.upkeep == Upkeep::Inline {
            Running::Over(task(&is_cancelled))
        } else {
            let builder = thread::Builder::new().name("upkeep".to_owned());
            match builder.spawn(move || task(&is_cancelled)) {
                Ok(thread) => Running::Thread(thread),
                Err(error) => {
                    tracing::warn!(%error, "cannot start a thread for upkeep; it is tried again");
                    self.end_turn();
                    return;
                }
            }
        });
    }

    /// Returns the outcome of a finished task.
    pub(super) fn outcome(&mut self) -> Option<TaskOutcome> {
        match self.running.take()? {
            Running::Over(outcome) => Some(outcome),
            Running::Thread(thread) if thread.is_finished() => {
                Some(thread.join().unwrap_or(TaskOutcome::Panicked))
            }
            running @ Running::Thread(_) => {
                self.running = Some(running);
                None
            }
        }
    }

    /// Cancels the running task and waits for it to end.
    pub(super) fn cancel(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(Running::Thread(thread)) = self.running.take() {
            // A panic was logged, and the outcome is not needed.
            let _ = thread.join();
        }
        self.turn = None;
        self.upkeep = Upkeep::Off;
    }

    /// Waits until no store runs a task on a thread. Then keeps all of them from doing so until the
    /// result is dropped.
    #[cfg(test)]
    pub(super) fn hold_all() -> impl Sized {
        loop {
            match Turn::take() {
                Some(turn) => return turn,
                None => thread::yield_now(),
            }
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Copies the rows of an index into an empty one. Rows written meanwhile may be missing, old or
/// new.
pub(super) fn copy_index(
    from: &dyn Index,
    mut copy: Box<dyn Index>,
    is_cancelled: &AtomicBool,
) -> Result<Box<dyn Index>, IndexError> {
    let mut rows = Vec::with_capacity(INDEX_COPY_ROWS_MAX);
    for prefix in [STATE, REPLIES, MARKS, META] {
        let mut outcome = Ok(());
        from.scan(prefix, &mut |key, text| {
            if outcome.is_err() {
                return;
            }
            rows.push(Row::of(&format!("{prefix}{key}"), text));
            if rows.len() == INDEX_COPY_ROWS_MAX {
                outcome = copy.apply(&rows);
                rows.clear();
            }
            if is_cancelled.load(Ordering::Relaxed) {
                outcome = Err(IndexError::damaged("the copy was cancelled"));
            }
        })?;
        outcome?;
    }
    copy.apply(&rows)?;
    Ok(copy)
}

#[cfg(test)]
mod tests;
