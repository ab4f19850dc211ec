//! A journal of another memory in this one's place. A journal names itself and not its project.
//! Only an index or a snapshot next to it shows that it belongs to another memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use uuid::Uuid;

use super::history::History;
use super::journal_store::JournalStore;
use super::{StateMachine, StoreError, snapshot};

impl<M: StateMachine> JournalStore<M> {
    /// Returns whether a snapshot is of the journal that is here. Then the index alone is another
    /// memory's.
    pub(super) fn has_own_snapshot(&self) -> Result<bool, StoreError> {
        let of = self.journals_of_snapshots()?;
        Ok(of.contains(&self.journal.id))
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
             this memory's journal back, or see what `anchord journal repair` can restore",
            self.journal.dir.display(),
            self.journal.id
        );
        self.journal.set_apart(journal, self.journal.epoch, why);
        self.history = Arc::new(History::of(self.journal.written()));
        Ok(())
    }
}
