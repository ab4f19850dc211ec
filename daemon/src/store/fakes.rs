//! Stand-ins for the store and its index, for tests of the code that uses them.
//!
//! [`MemStore`] behaves like the real store, but in memory, and panics if its caller breaks the
//! contract. [`failing`] and [`contested`] wrap a store. [`MemStores`] opens such stores by name. A
//! [`SimIndex`] is an index that survives
//! being closed, loses unflushed rows in a power loss, and fails on request.

mod stores;
mod team;
mod wrapped;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::ThreadId;

use anchord_memory::{Revision, Seq};
use parking_lot::{Mutex, MutexGuard};

pub use stores::MemStores;
pub use team::{MemTeam, Network};
pub use wrapped::{Wrapped, contested, failing, panicking};

use super::format;
use super::index::{Index, IndexError, IndexPlace, MemIndex, RowSum, StoredText, is_counted};
use super::limits::{ENTRY_BYTES_MAX, SETTLE_BYTES};
use super::sim_disk::Random;
use super::{
    Entry, Head, Health, LookUp, OpenReport, Opened, PendingFlush, ReadBack, ReadEntries, Replies,
    Row, Sizes, Snapshots, StateMachine, Store, StoreError,
};

/// The part of a [`MemStore`] that outlives it: another one can be opened on it. Clones share it.
#[derive(Debug)]
pub struct MemJournal<M: StateMachine> {
    kept: Arc<Mutex<Kept<M::Change>>>,
}

#[derive(Debug)]
struct Kept<C> {
    entries: Vec<Entry<C>>,
    marks: BTreeMap<String, String>,
    open: bool,
    entry_bytes_max: usize,
}

/// A strict in-memory store.
#[derive(Debug)]
pub struct MemStore<M: StateMachine> {
    kept: Arc<Mutex<Kept<M::Change>>>,
    state: M,
    replies: Replies,
    unsettled_bytes: u64,
    marks: BTreeMap<String, String>,
}

impl<M: StateMachine> Default for MemJournal<M> {
    fn default() -> Self {
        let kept = Kept {
            entries: Vec::new(),
            marks: BTreeMap::new(),
            open: false,
            entry_bytes_max: ENTRY_BYTES_MAX,
        };
        Self { kept: Arc::new(Mutex::new(kept)) }
    }
}

impl<M: StateMachine> Clone for MemJournal<M> {
    fn clone(&self) -> Self {
        Self { kept: Arc::clone(&self.kept) }
    }
}

impl<M: StateMachine> MemJournal<M> {
    /// Opens the store. Only one may be open on this journal at a time.
    pub fn open(&self) -> Opened<M, MemStore<M>> {
        let mut kept = self.kept.lock();
        assert!(!kept.open, "a store is opened while another has the same journal open");
        kept.open = true;
        let mut state = M::default();
        let mut replies = Replies::default();
        for entry in &kept.entries {
            follow(&mut state, &mut replies, entry);
        }
        let store = MemStore {
            kept: Arc::clone(&self.kept),
            state: state.clone(),
            replies: replies.clone(),
            unsettled_bytes: 0,
            marks: kept.marks.clone(),
        };
        let report = OpenReport {
            created: kept.entries.is_empty(),
            entries: kept.entries.len() as u64,
            ..OpenReport::default()
        };
        Opened { store, state, replies, report }
    }

    /// Refuses entries of more than `bytes_max` bytes. The real limit takes long to reach.
    pub fn limit_entries(&self, bytes_max: usize) {
        self.kept.lock().entry_bytes_max = bytes_max;
    }

    /// Returns all entries acknowledged so far.
    pub fn entries(&self) -> Vec<Entry<M::Change>> {
        self.kept.lock().entries.clone()
    }
}

impl<M: StateMachine> MemStore<M> {
    /// Panics unless the entry follows the last one and its fields agree with its changes.
    fn check(&self, entry: &Entry<M::Change>) {
        let seq = entry.seq.0;
        assert_eq!(seq, self.state.seq().0 + 1, "entries have no gaps");
        let commit = M::is_commit(&entry.changes);
        let next = Revision(self.state.revision().0 + 1);
        let expected = commit.then_some(next);
        assert_eq!(entry.revision, expected, "entry {seq}: commits are numbered, and only they");
        assert_eq!(
            entry.call.is_some(),
            entry.reply.is_some(),
            "entry {seq}: a shim's line has a reply, and nothing else has"
        );
        assert!(!entry.changes.is_empty() || entry.reply.is_some(), "entry {seq} says nothing");
        if let Some(call) = &entry.call {
            assert_eq!(
                self.replies.lookup(call),
                super::LineState::Fresh,
                "entry {seq}: line {} of {} is applied again",
                call.number,
                call.instance
            );
        }
    }
}

impl<M: StateMachine> Store<M> for MemStore<M> {
    fn append(&mut self, expected: Seq, batch: &[Entry<M::Change>]) -> Result<(), StoreError> {
        let last = self.state.seq();
        if expected != last {
            return Err(StoreError::HeadMoved { expected, last });
        }
        assert!(self.unsettled_bytes < SETTLE_BYTES, "the index is left far behind");
        assert!(!batch.is_empty(), "an empty batch costs a sync for nothing");
        batch.iter().try_for_each(|entry| self.admit(entry))?;
        for entry in batch {
            self.check(entry);
            self.unsettled_bytes += format::entry_bytes(entry) as u64;
            follow(&mut self.state, &mut self.replies, entry);
            self.kept.lock().entries.push(entry.clone());
        }
        Ok(())
    }

    fn admit(&self, entry: &Entry<M::Change>) -> Result<(), StoreError> {
        let (bytes, bytes_max) = (format::entry_bytes(entry), self.kept.lock().entry_bytes_max);
        if bytes > bytes_max {
            return Err(StoreError::TooLarge { bytes, bytes_max });
        }
        Ok(())
    }

    fn unsettled_bytes(&self) -> u64 {
        self.unsettled_bytes
    }

    fn advance_index(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        assert_eq!(state.seq(), self.state.seq(), "settled with a state of another entry");
        assert!(state.rows().eq(self.state.rows()), "the state is not what the entries lead to");
        assert!(replies == &self.replies, "the replies are not what the entries lead to");
        self.unsettled_bytes = 0;
        Ok(())
    }

    fn flush(&mut self) -> PendingFlush {
        self.kept.lock().marks.clone_from(&self.marks);
        PendingFlush::Nothing
    }

    fn look_up(&self) -> LookUp<M> {
        let kept = Arc::clone(&self.kept);
        Arc::new(move |key| {
            let has = |entry: &&Entry<M::Change>| {
                entry.changes.iter().flat_map(M::history_keys).any(|found| found == key)
            };
            Ok(kept.lock().entries.iter().rev().find(has).cloned())
        })
    }

    fn read_back(&self) -> ReadBack<M> {
        let kept = Arc::clone(&self.kept);
        Arc::new(move |_, visitor| {
            let entries = kept.lock().entries.clone();
            let commits = entries.into_iter().rev().filter_map(|entry| {
                let head = Head {
                    seq: entry.seq,
                    revision: entry.revision?,
                    time: entry.time,
                    session: entry.session.clone(),
                    op: entry.operation.to_string(),
                };
                Some((head, entry))
            });
            for (head, entry) in commits {
                let goes_on = match visitor.head(&head) {
                    super::Step::Read => visitor.commit(entry),
                    super::Step::Skip => true,
                    super::Step::Stop => false,
                };
                if !goes_on {
                    break;
                }
            }
            Ok(())
        })
    }

    fn reading(&self) -> ReadEntries<M> {
        let entries = self.kept.lock().entries.clone();
        Box::new(move |from, visit| {
            let _all = entries.iter().filter(|entry| entry.seq >= from).all(visit);
            Ok(())
        })
    }

    fn snapshots(&self) -> Snapshots<M> {
        Box::new(Vec::new)
    }

    fn mark(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.marks.insert(key.to_owned(), value.to_owned()),
            None => self.marks.remove(key),
        };
    }

    fn marks(&self) -> &BTreeMap<String, String> {
        &self.marks
    }

    fn sizes(&self) -> Sizes {
        Sizes { entries: self.state.seq().0, ..Sizes::default() }
    }

    fn health(&self) -> Health {
        Health::default()
    }

    fn rewrite(
        self: Box<Self>,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError> {
        self.check(last);
        let mut kept = self.kept.lock();
        for entry in &mut kept.entries {
            edit(entry);
        }
        kept.entries.push(last.clone());
        Ok(())
    }

    fn close(mut self: Box<Self>) {
        assert_eq!(self.unsettled_bytes, 0, "closed before the index followed");
        self.flush();
    }
}

impl<M: StateMachine> Drop for MemStore<M> {
    fn drop(&mut self) {
        self.kept.lock().open = false;
    }
}

/// Returns the number of the entry that a batch follows.
pub fn head_before<C>(batch: &[Entry<C>]) -> Seq {
    Seq(batch.first().map_or(0, |first| first.seq.0 - 1))
}

/// The location of a simulated index. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SimIndex {
    place: Arc<Mutex<SimPlace>>,
}

#[derive(Clone, Debug, Default)]
struct SimPlace {
    rows: MemIndex,
    flushed: MemIndex,
    aside: Option<MemIndex>,
    /// Whether the directory exists, even if it is empty.
    exists: bool,
    copy: MemIndex,
    synced_copy: Option<MemIndex>,
    synced_by: Option<ThreadId>,
    /// Bytes on disk beyond the rows, as after many changes.
    excess_bytes: u64,
    /// Whether a row that every open reads is not as written.
    is_damaged: bool,
    is_refused: bool,
    calls: u64,
    fails_at: Option<u64>,
}

impl SimIndex {
    /// Makes the `n`-th call from now on fail, or no call if `None`. Returns the number of calls so
    /// far.
    pub fn fail(&self, fails_at: Option<u64>) -> u64 {
        let mut place = self.place.lock();
        place.fails_at = fails_at;
        std::mem::take(&mut place.calls)
    }

    /// Makes every open fail, as if no file descriptor were free, or ends that.
    pub fn refuse(&self, is_refused: bool) {
        self.place.lock().is_refused = is_refused;
    }

    /// Simulates a power loss: may lose the unflushed rows, or all rows.
    pub fn power_loss(&self, seed: u64) {
        let mut place = self.place.lock();
        match Random(seed).below(3) {
            0 => place.rows = place.flushed.clone(),
            1 => place.rows = MemIndex::default(),
            _ => {}
        }
    }

    /// Returns another place with the same content.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { place: Arc::new(Mutex::new(self.place.lock().clone())) }
    }

    /// Returns the current value of a row.
    pub fn row(&self, key: &str) -> Option<String> {
        self.place.lock().rows.get(key).ok().flatten()
    }

    /// Changes a row behind the store's back.
    pub fn tamper(&self, key: &str, value: Option<&str>) -> Result<(), IndexError> {
        let value = value.map(str::to_owned);
        let mut place = self.place.lock();
        place.is_damaged |= is_counted(key);
        place.rows.apply(&[Row { key: key.to_owned(), value }])
    }

    /// Adds bytes on disk beyond the rows, as after many changes.
    pub fn outgrow(&self, bytes: u64) {
        self.place.lock().excess_bytes = bytes;
    }

    /// Returns the thread that last synced a copy.
    pub fn synced_by(&self) -> Option<ThreadId> {
        self.place.lock().synced_by
    }

    /// Returns a row of the index that was set aside.
    pub fn row_aside(&self, key: &str) -> Option<String> {
        self.place.lock().aside.as_ref()?.get(key).ok().flatten()
    }

    fn step(&self) -> Result<MutexGuard<'_, SimPlace>, IndexError> {
        let mut place = self.place.lock();
        place.calls += 1;
        if place.fails_at == Some(place.calls) {
            return Err(IndexError::damaged(format!("call {} fails on purpose", place.calls)));
        }
        Ok(place)
    }
}

impl IndexPlace for SimIndex {
    fn open(&self) -> Result<Box<dyn Index>, IndexError> {
        let mut place = self.step()?;
        if place.is_refused {
            return Err(io::Error::from(rustix::io::Errno::MFILE).into());
        }
        place.exists = true;
        Ok(Box::new(self.clone()))
    }

    fn discard(&self) -> Result<(), IndexError> {
        let mut place = self.step()?;
        place.rows = MemIndex::default();
        place.flushed = MemIndex::default();
        place.aside = None;
        place.copy = MemIndex::default();
        place.excess_bytes = 0;
        place.is_damaged = false;
        Ok(())
    }

    fn begin_copy(&self) -> Result<Box<dyn Index>, IndexError> {
        self.step()?.copy = MemIndex::default();
        Ok(Box::new(SimCopy(self.clone())))
    }

    fn take_copy(&self) -> Result<(), IndexError> {
        let mut place = self.step()?;
        let synced = place.synced_copy.take();
        assert_eq!(synced.as_ref(), Some(&place.copy), "a copy is synced before it is taken");
        place.rows = std::mem::take(&mut place.copy);
        place.flushed = place.rows.clone();
        place.excess_bytes = 0;
        Ok(())
    }

    fn sync_copy(&self) -> Result<(), IndexError> {
        let mut place = self.step()?;
        place.synced_copy = Some(place.copy.clone());
        place.synced_by = Some(std::thread::current().id());
        Ok(())
    }

    fn open_copy(&self) -> Result<Box<dyn Index>, IndexError> {
        self.open()
    }

    fn end_copy(&self) -> Result<(), IndexError> {
        self.step().map(|_| ())
    }

    fn set_aside(&self) -> Result<(), IndexError> {
        let mut place = self.step()?;
        if place.exists {
            place.aside = Some(std::mem::take(&mut place.rows));
            place.exists = false;
        }
        place.flushed = MemIndex::default();
        place.is_damaged = false;
        Ok(())
    }
}

impl Index for SimIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        self.step()?.rows.get(key)
    }

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        self.step()?.rows.scan_stored(prefix, visit)
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        self.step()?.rows.apply(rows)
    }

    fn check(&mut self, counted: RowSum) -> Result<(), IndexError> {
        let mut place = self.step()?;
        if place.is_damaged {
            return Err(IndexError::damaged("its rows are not those that were written"));
        }
        place.rows.check(counted)
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        let mut place = self.step()?;
        place.flushed = place.rows.clone();
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let place = self.place.lock();
        place.rows.sum().bytes + place.excess_bytes
    }

    fn sum(&self) -> RowSum {
        self.place.lock().rows.sum()
    }

    fn reader(&self) -> Box<dyn Index> {
        Box::new(self.clone())
    }
}

/// The copy next to a simulated index.
#[derive(Debug)]
struct SimCopy(SimIndex);

impl Index for SimCopy {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        self.0.step()?.copy.get(key)
    }

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        self.0.step()?.copy.scan_stored(prefix, visit)
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        self.0.step()?.copy.apply(rows)
    }

    fn check(&mut self, counted: RowSum) -> Result<(), IndexError> {
        self.0.step()?.copy.check(counted)
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.0.step().map(|_| ())
    }

    fn bytes(&self) -> u64 {
        self.sum().bytes
    }

    fn sum(&self) -> RowSum {
        self.0.place.lock().copy.sum()
    }

    fn reader(&self) -> Box<dyn Index> {
        Box::new(Self(self.0.clone()))
    }
}

fn follow<M: StateMachine>(state: &mut M, replies: &mut Replies, entry: &Entry<M::Change>) {
    state.apply(entry.seq, &entry.changes);
    if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
        replies.record(call, entry.time, reply.clone());
    }
}
