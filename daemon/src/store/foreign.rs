//! A journal of another memory in this one's place. Its segments name their store, except those of
//! earlier builds. An index or a snapshot next to it shows it too, unless they moved with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use uuid::Uuid;

use super::history::History;
use super::journal_store::JournalStore;
use super::{StateMachine, StoreError, snapshot};

impl<M: StateMachine> JournalStore<M> {
    /// Fails if the journal names another store than this one.
    pub(super) fn refuse_another(&self) -> Result<(), StoreError> {
        let Some(store) = self.journal.other_store.clone() else { return Ok(()) };
        let path = self.journal.dir.parent().unwrap_or(&self.journal.dir).to_owned();
        Err(StoreError::OfAnother { path, store })
    }

    /// Returns whether the journal is another memory's than the index, and the index is this
    /// store's. If a snapshot is of the journal, the index is the one from elsewhere, unless the
    /// journal names another store.
    pub(super) fn is_apart(&self) -> Result<bool, StoreError> {
        let is_other = self.journal.other_store.is_some();
        Ok(is_other || !self.journals_of_snapshots()?.contains(&self.journal.id))
    }

    /// Returns the journals that the snapshots are of.
    fn journals_of_snapshots(&self) -> Result<BTreeSet<Uuid>, StoreError> {
        let disk = &*self.journal.disk;
        let mut found = BTreeSet::new();
        for number in snapshot::list(disk, &self.snapshots)? {
            let read = snapshot::read_any(disk, &self.snapshots, number, M::NAME)?;
            found.extend(read.map(|(place, _)| place.journal));
        }
        Ok(found)
    }

    /// Sets the journal apart if all snapshots belong to another one. Without an index, only they
    /// show that it belongs to another memory.
    pub(super) fn compare_with_snapshots(&mut self) -> Result<(), StoreError> {
        let of = self.journals_of_snapshots()?;
        let Some(journal) = of.first().copied().filter(|_| !of.contains(&self.journal.id)) else {
            return Ok(());
        };
        let why = format!(
            "{} is another memory's journal: its id is {}, the snapshots are of {journal}; put \
             this memory's journal back, or see what a repair can restore",
            self.journal.dir.display(),
            self.journal.id
        );
        self.journal.set_apart(journal, self.journal.epoch, why);
        self.history = Arc::new(History::of(self.journal.written()));
        Ok(())
    }
}
