//! Work on a store's files that no write waits for: one task at a time, on a thread of its own.
//!
//! A task reads the store's files and writes files beside them. Its outcome is taken by the writer,
//! which alone changes the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::index::{Index, IndexError, MARKS, META, REPLIES, STATE};
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
    /// A sealed segment was read: the fault that was found, if one was.
    Checked { number: u32, checked: Result<Option<StoreError>, StoreError> },
    /// A segment was archived: the archive's bytes, or the fault that was found in the segment.
    Archived { number: u32, archived: Result<Result<u64, StoreError>, StoreError> },
    /// The task panicked, which the log has.
    Panicked,
}

/// The one task that runs, if one does.
#[derive(Debug)]
pub(super) struct Tasks {
    upkeep: Upkeep,
    running: Option<Running>,
    is_cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Running {
    Thread(JoinHandle<Outcome>),
    Over(Outcome),
}

impl Tasks {
    pub(super) fn new(upkeep: Upkeep) -> Self {
        Self { upkeep, running: None, is_cancelled: Arc::default() }
    }

    /// Whether a task can be begun.
    pub(super) fn is_free(&self) -> bool {
        self.running.is_none() && self.upkeep != Upkeep::Off
    }

    /// Whether there is an outcome to wait for or to take.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Begins a task. It is handed a flag that is set once nobody wants its outcome any more.
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
        self.upkeep = Upkeep::Off;
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
