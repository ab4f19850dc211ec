//! Work on a store's files that no write waits for: one task at a time in the whole process, on a
//! thread of its own.
//!
//! A task reads the store's files and writes files beside them. Its outcome is taken by the writer,
//! which alone changes the store. Each task may hold a whole segment, or a second index, so stores
//! take turns: what they hold together does not grow with their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::index::{Index, IndexError, MARKS, META, REPLIES, RowSum, STATE};
use super::limits::INDEX_COPY_ROWS_MAX;
use super::{Row, StoreError};

/// The way to run tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Nowhere.
    Off,
    /// In the call that begins them.
    Inline,
    /// On a thread.
    Thread,
}

/// The result of a task.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A copy of the index, all but what was written since.
    Copied(Result<Box<dyn Index>, IndexError>),
    /// A copy that was complete is closed, and its files are synced.
    Synced { sum: RowSum, synced: Result<(), IndexError> },
    /// What the copy has replaced is gone.
    Tidied(Result<(), IndexError>),
    /// A sealed segment was read: the fault that was found, if one was.
    Checked { number: u32, checked: Result<Option<StoreError>, StoreError> },
    /// A segment was archived: the archive's bytes, or the fault that was found in the segment.
    Archived { number: u32, archived: Result<Result<u64, StoreError>, StoreError> },
    /// The task panicked, which the log has.
    Panicked,
}

/// The right to run tasks on a thread; there is one.
#[derive(Debug)]
struct Turn;

static IS_TURN_TAKEN: AtomicBool = AtomicBool::new(false);

impl Turn {
    fn take() -> Option<Self> {
        // Made only if it is taken: dropping it gives it back.
        (!IS_TURN_TAKEN.swap(true, Ordering::Acquire)).then(|| Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_TURN_TAKEN.store(false, Ordering::Release);
    }
}

/// The one task of a store that runs, if one does.
#[derive(Debug)]
pub(super) struct Tasks {
    upkeep: Upkeep,
    running: Option<Running>,
    /// Held from before a task begins until its outcome was taken and led to no other one.
    turn: Option<Turn>,
    /// Another store may go first.
    is_to_yield: bool,
    is_cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Running {
    Thread(JoinHandle<Outcome>),
    Over(Outcome),
}

impl Tasks {
    pub(super) fn new(upkeep: Upkeep) -> Self {
        let is_cancelled = Arc::default();
        Self { upkeep, running: None, turn: None, is_to_yield: false, is_cancelled }
    }

    /// Whether a task can be begun.
    pub(super) fn is_free(&self) -> bool {
        self.running.is_none() && self.upkeep != Upkeep::Off
    }

    /// Whether there is an outcome to wait for or to take.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Takes the turn if no other store has it. Whoever had it last lets others go first, once.
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

    /// Begins a task, in this store's turn. It is handed a flag that is set once nobody wants its outcome any more.
    pub(super) fn begin(&mut self, task: impl FnOnce(&AtomicBool) -> Outcome + Send + 'static) {
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

    /// Takes the outcome of a task that is over.
    pub(super) fn outcome(&mut self) -> Option<Outcome> {
        match self.running.take()? {
            Running::Over(outcome) => Some(outcome),
            Running::Thread(thread) if thread.is_finished() => {
                Some(thread.join().unwrap_or(Outcome::Panicked))
            }
            running @ Running::Thread(_) => {
                self.running = Some(running);
                None
            }
        }
    }

    /// Ends the task that runs, and waits for it.
    pub(super) fn cancel(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(Running::Thread(thread)) = self.running.take() {
            // A panic was logged, and nobody waits for the outcome.
            let _ = thread.join();
        }
        self.turn = None;
        self.upkeep = Upkeep::Off;
    }

    /// Keeps every store from running tasks on threads until it is dropped, once nobody else does.
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

/// Copies the rows of an index into an empty one. Rows that are written meanwhile may be there or
/// not, as before or after.
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
