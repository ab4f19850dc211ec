//! Takes an index into use again that failed while the store was open.

use super::index::{MemIndex, TrackedIndex};
use super::journal_store::{JournalStore, Retry};
use super::{StateMachine, StoreError};

impl<M: StateMachine> JournalStore<M> {
    /// Takes the index into use again after a fault, and brings it up to date from the journal.
    pub(super) fn retry_index(&mut self) {
        let is_free = self.journal.read_only.is_none() && !self.tasks.is_busy();
        if self.index_fault.is_none() || !is_free {
            return;
        }
        // Neither the journal's end nor the marks are taken from the index: those here are newer.
        let (last, last_crc) = (self.journal.last, self.journal.last_crc);
        let marks = std::mem::take(&mut self.marks);
        let tried = self.reopen_index();
        let in_index = std::mem::replace(&mut self.marks, marks);
        (self.journal.last, self.journal.last_crc) = (last, last_crc);
        match (tried, &self.index_fault) {
            (Ok(()), None) => {
                tracing::info!("the index is in use again");
                // A mark that was removed meanwhile is still in the index.
                self.unwritten_marks.extend(in_index.into_keys());
                self.unwritten_marks.extend(self.marks.keys().cloned());
                self.retry = Retry::default();
            }
            (Ok(()), Some(_)) => self.retry.failed(),
            (Err(error), _) => {
                self.index = TrackedIndex::new(Box::new(MemIndex::default()));
                self.index_fault = Some(error.to_string());
                self.retry.failed();
            }
        }
    }

    /// Opens the index as the store's opening does. If it cannot be used yet, the fault says why.
    fn reopen_index(&mut self) -> Result<(), StoreError> {
        self.index_fault = None;
        self.pending.clear();
        let (loaded, _) = self.open_index(None)?;
        match loaded {
            Some(base) => self.catch_up(base).map(drop),
            None if self.index_fault.is_none() => self.rebuild().map(drop),
            None => Ok(()),
        }
    }
}
