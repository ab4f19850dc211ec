//! A factory of strict stores in memory.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use super::{MemJournal, MemStore};
use crate::store::{Opened, RepairPlan, StateMachine, Store, StoreError, Stores, Usage};
use parking_lot::Mutex;

type Wrap<M> = fn(&MemJournal<M>, MemStore<M>) -> Box<dyn Store<M>>;

/// Stores in memory, by name. Files next to a store are beneath a real directory.
pub struct MemStores<M: StateMachine> {
    directory: PathBuf,
    journals: Mutex<HashMap<String, MemJournal<M>>>,
    wrap: Wrap<M>,
}

impl<M: StateMachine> fmt::Debug for MemStores<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemStores").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl<M: StateMachine> MemStores<M> {
    /// Creates a factory of strict stores.
    pub fn new(directory: PathBuf) -> Self {
        Self::wrapping(directory, |_, store| Box::new(store))
    }

    /// Creates a factory that wraps each store when it is opened.
    pub fn wrapping(directory: PathBuf, wrap: Wrap<M>) -> Self {
        Self { directory, journals: Mutex::default(), wrap }
    }

    /// Returns a store's journal, if the store was ever opened.
    pub fn journal(&self, name: &str) -> Option<MemJournal<M>> {
        self.journals.lock().get(name).cloned()
    }
}

impl<M: StateMachine> Stores<M> for MemStores<M> {
    fn open(&self, name: &str) -> Result<Opened<M, Box<dyn Store<M>>>, StoreError> {
        let directory = self.directory(name);
        std::fs::create_dir_all(&directory).map_err(StoreError::io("create", directory))?;
        let journal = self.journals.lock().entry(name.to_owned()).or_default().clone();
        let Opened { store, state, replies, report } = journal.open();
        Ok(Opened { store: (self.wrap)(&journal, store), state, replies, report })
    }

    fn exists(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.journals.lock().contains_key(name))
    }

    fn has_data(&self, name: &str) -> Result<bool, StoreError> {
        self.exists(name)
    }

    fn usage(&self, _: &str) -> Usage {
        Usage::default()
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.journals.lock().remove(name);
        Ok(())
    }

    fn set_aside(&self, name: &str) -> Result<PathBuf, StoreError> {
        let aside = format!("{name}.aside-1");
        let mut journals = self.journals.lock();
        if let Some(journal) = journals.remove(name) {
            journals.insert(aside.clone(), journal);
        }
        Ok(self.directory.join(aside))
    }

    fn asides(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        let aside = format!("{name}.aside-1");
        let is_there = self.journals.lock().contains_key(&aside);
        Ok(is_there.then(|| self.directory.join(aside)).into_iter().collect())
    }

    fn discard_index(&self, _: &str, _: &[String]) -> Result<(), StoreError> {
        Ok(())
    }

    fn plan_repair(&self, _: &str) -> Result<RepairPlan, StoreError> {
        Err(StoreError::ReadOnly { why: "a store in memory is never damaged".to_owned() })
    }

    fn repair(&self, name: &str, _: &RepairPlan) -> Result<(), StoreError> {
        self.plan_repair(name).map(drop)
    }

    fn restore(&self, _: &str, _: &std::path::Path) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly { why: "a store in memory takes no backup".to_owned() })
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}
