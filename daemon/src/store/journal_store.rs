//! The store: a journal that is the truth, an index that follows it, and a snapshot for each new
//! segment.
//!
//! Only [`Store::append`] guarantees durability. A fault of the index replaces it with a stand-in
//! in memory. Later writes, the close and the next open try to bring it up to date again. Until
//! then nothing but the journal proves what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::format::{self, FORMAT};
use super::history::History;
use super::index::{
    Index, IndexError, IndexPlace, MARKS, META, MemIndex, REPLIES, STATE, TrackedIndex,
};
use super::journal::{Journal, Position, Segment};
use super::limits::{
    ENTRY_BYTES_MAX, INDEX_BATCH_ROWS_MAX, INDEX_RETRY_CALLS_MAX, MARKS_BATCH_ROWS_MAX,
};
use super::rows::{MetaV1, all_rows, restore, write_parts};
use super::segment::file_name;
use super::upkeep::Tasks;
use super::{
    CheckedSnapshot, Entry, Health, LookUp, PendingFlush, ReadBack, ReadEntries, Replies, Row,
    Sizes, Snapshots, StateMachine, Store, StoreError, Uncheckable, snapshot,
};
use anchord_memory::{Seq, Timestamp};

/// A store in a directory.
#[derive(Debug)]
pub struct JournalStore<M: StateMachine> {
    pub(super) journal: Journal,
    pub(super) snapshots: PathBuf,
    pub(super) index: TrackedIndex,
    pub(super) place: Arc<dyn IndexPlace>,
    /// The reason why `index` is a stand-in.
    pub(super) index_fault: Option<String>,
    pub(super) retry: Retry,
    pub(super) history: Arc<History>,
    pub(super) tasks: Tasks,
    /// Bytes of the index after the last attempt to copy it.
    pub(super) copied_bytes: u64,
    /// Old segments on which a task failed. The list is cleared when the next segment begins.
    pub(super) postponed: BTreeSet<u32>,
    /// Entries that are appended but not yet in the index.
    pub(super) pending: Vec<Pending<M::Change>>,
    /// The bytes of those entries in the journal.
    pub(super) pending_bytes: u64,
    /// The position of the last entry.
    pub(super) at: Option<Position>,
    /// The latest time of any entry that this store has processed. It does not advance while nobody
    /// writes, but then no check of an old segment is due either. If the clock was ahead, the next
    /// open corrects it by taking the last entry's time.
    pub(super) time: Timestamp,
    pub(super) marks: BTreeMap<String, String>,
    pub(super) unwritten_marks: BTreeSet<String>,
    pub(super) segment_bytes_max: u64,
    /// Whether a segment has begun without a snapshot, because the index was far behind.
    pub(super) lacks_snapshot: bool,
}

/// The calls of [`Store::advance_index`] until the index is tried again. Each failure doubles them.
#[derive(Debug)]
pub(super) struct Retry {
    left: u32,
    after: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self { left: 1, after: 1 }
    }
}

impl Retry {
    /// Returns whether it is time to try again.
    pub(super) fn is_due(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    pub(super) fn failed(&mut self) {
        self.after = (self.after * 2).min(INDEX_RETRY_CALLS_MAX);
        self.left = self.after;
    }
}

/// The part of an entry that the index must still apply.
#[derive(Debug)]
pub(super) struct Pending<C> {
    pub(super) changes: Vec<C>,
    pub(super) instance: Option<Arc<str>>,
    pub(super) position: Position,
}

impl<M: StateMachine> Store<M> for JournalStore<M> {
    fn append(&mut self, expected: Seq, batch: &[Entry<M::Change>]) -> Result<(), StoreError> {
        let last = self.journal.last;
        if expected != last {
            return Err(StoreError::HeadMoved { expected, last });
        }
        if let Some(first) = batch.first() {
            self.journal.back_up_before_migration::<M>(first.time)?;
            self.end_full_segment()?;
        }
        let positions = self.journal.append(batch)?;
        self.publish();
        for (entry, position) in batch.iter().zip(positions) {
            self.follow(entry, position);
        }
        Ok(())
    }

    fn admit(&self, entry: &Entry<M::Change>) -> Result<(), StoreError> {
        let bytes = format::entry_bytes(entry);
        if bytes > ENTRY_BYTES_MAX {
            return Err(StoreError::TooLarge { bytes, bytes_max: ENTRY_BYTES_MAX });
        }
        Ok(())
    }

    fn unsettled_bytes(&self) -> u64 {
        self.pending_bytes
    }

    fn advance_index(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        if self.pending.is_empty() && self.journal.read_only.is_some() {
            return Ok(());
        }
        if state.seq() != self.journal.last {
            return Err(StoreError::OutOfOrder { last: self.journal.last, given: state.seq() });
        }
        self.index_pending(state, replies);
        if self.index_fault.is_some() && self.retry.is_due() {
            self.retry_index();
        }
        if (self.is_full() || self.lacks_snapshot) && self.journal.read_only.is_none() {
            self.rotate(state, replies)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> PendingFlush {
        if let Some(outcome) = self.tasks.outcome() {
            self.take(outcome);
            self.tasks.end_turn();
        }
        self.write_marks();
        if !self.unwritten_marks.is_empty() {
            return PendingFlush::Marks;
        }
        if let Err(error) = self.index.flush() {
            self.drop_index(&error);
        }
        if self.tasks.is_free()
            && let Some(work) = self.next_work()
        {
            if self.tasks.take_turn() {
                self.begin(work);
            }
            return PendingFlush::Upkeep;
        }
        if self.tasks.is_busy() { PendingFlush::Upkeep } else { PendingFlush::Nothing }
    }

    fn look_up(&self) -> LookUp<M> {
        let history = Arc::clone(&self.history);
        Arc::new(move |key| history.find::<M>(key))
    }

    fn read_back(&self) -> ReadBack<M> {
        let history = Arc::clone(&self.history);
        Arc::new(move |newest, visitor| history.segments().read_back(newest, visitor))
    }

    fn reading(&self) -> ReadEntries<M> {
        let written = self.journal.written();
        Box::new(move |from, visit| written.replay(from, &mut |placed| visit(&placed.entry)))
    }

    fn snapshots(&self) -> Snapshots<M> {
        let (disk, dir) = (Arc::clone(&self.journal.disk), self.snapshots.clone());
        Box::new(move || {
            let numbers = match snapshot::list(&*disk, &dir) {
                Ok(numbers) => numbers,
                Err(error) => {
                    let state = Err(Uncheckable::Unread(error.to_string()));
                    return vec![CheckedSnapshot { file: "snapshot".to_owned(), state }];
                }
            };
            let read = |number| {
                let state = match snapshot::read_any(&*disk, &dir, number, M::NAME) {
                    Ok(read) => read
                        .and_then(|(_, rows)| restore::<M>(rows))
                        .map(|(state, _)| state)
                        .map_err(Uncheckable::Damaged),
                    // A newer snapshot has replaced it.
                    Err(error) if error.is_missing() => return None,
                    Err(error) => Err(Uncheckable::Unread(error.to_string())),
                };
                Some(CheckedSnapshot { file: format!("snapshot/{}", file_name(number)), state })
            };
            numbers.into_iter().filter_map(read).collect()
        })
    }

    fn mark(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.marks.insert(key.to_owned(), value.to_owned()),
            None => self.marks.remove(key),
        };
        self.unwritten_marks.insert(key.to_owned());
    }

    fn marks(&self) -> &BTreeMap<String, String> {
        &self.marks
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            entries: self.journal.last.0,
            segments: u32::try_from(self.journal.segments.len()).unwrap_or(u32::MAX),
            journal_bytes: self.journal.segments.iter().map(Segment::disk_bytes).sum(),
            snapshot_bytes: snapshot::bytes(&*self.journal.disk, &self.snapshots),
            index_bytes: self.index.bytes(),
            state_bytes: self.index.sum().bytes,
        }
    }

    fn health(&self) -> Health {
        Health {
            read_only: self.journal.read_only.clone(),
            passes: self.journal.read_only.is_some() && self.journal.passes,
            index: self.index_fault.clone(),
        }
    }

    fn rewrite(
        self: Box<Self>,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError> {
        self.rewrite_all(edit, last)
    }

    fn close(mut self: Box<Self>) {
        self.tasks.cancel();
        self.flush_index();
        if self.index_fault.is_some() {
            self.retry_index();
            self.flush_index();
        }
        self.journal.close();
    }
}

impl<M: StateMachine> JournalStore<M> {
    /// Lets look-ups see the entries that are on disk now.
    pub(super) fn publish(&self) {
        self.history.publish(self.journal.written());
    }

    /// Queues an entry of the journal for the index.
    pub(super) fn follow(&mut self, entry: &Entry<M::Change>, position: Position) {
        self.at = Some(position);
        self.time = self.time.max(entry.time);
        self.pending_bytes += position.bytes as u64;
        self.pending.push(Pending {
            changes: entry.changes.clone(),
            instance: entry.call.as_ref().map(|call| Arc::clone(&call.instance)),
            position,
        });
    }

    /// Brings the index up to `state`, whose values its rows then have. Only a few rows are in
    /// memory at a time.
    pub(super) fn index_pending(&mut self, state: &M, replies: &Replies) {
        if self.pending.is_empty() {
            return;
        }
        self.pending_bytes = 0;
        let mut pending = std::mem::take(&mut self.pending).into_iter();
        let parts = std::iter::from_fn(|| {
            let mut rows = BTreeMap::new();
            while rows.len() < INDEX_BATCH_ROWS_MAX
                && let Some(Pending { changes, instance, .. }) = pending.next()
            {
                for row in state.touched_rows(&changes) {
                    rows.insert(format!("{STATE}{}", row.key), row.value);
                }
                if let Some(instance) = instance {
                    let row = replies.row(&instance);
                    rows.insert(format!("{REPLIES}{}", row.key), row.value);
                }
            }
            let part: Vec<Row> = rows.into_iter().map(|(key, value)| Row { key, value }).collect();
            (!part.is_empty()).then_some(part)
        });
        let meta = self.meta(state.seq());
        if let Err(error) = write_parts(&mut self.index, parts, meta) {
            self.drop_index(&error);
        }
    }

    /// Returns the row that names the index's journal and last entry.
    pub(super) fn meta(&self, seq: Seq) -> Row {
        let meta = MetaV1 {
            format: FORMAT,
            machine: M::NAME.to_owned(),
            journal: self.journal.id,
            epoch: self.journal.epoch,
            seq,
            line: self.journal.last_crc,
            at: self.at.map(|at| at.to_string()),
        };
        let text = serde_json::to_string(&meta).expect("numbers and text always serialize");
        Row { key: META.to_owned(), value: Some(text) }
    }

    /// Continues without the index. Its content is also in the journal.
    pub(super) fn drop_index(&mut self, error: &IndexError) {
        tracing::error!(%error, "the index is out of use; it is tried again later");
        self.index = TrackedIndex::new(Box::new(MemIndex::default()));
        self.index_fault = Some(error.to_string());
        self.pending.clear();
        self.pending_bytes = 0;
        // After a passing fault the index only lags behind, and is brought up to date later.
        if !error.passes()
            && let Err(error) = self.place.set_aside()
        {
            tracing::warn!(%error, "the index stays where it is; the next open looks at it again");
        }
    }

    /// Returns whether the last segment is to be followed by a new one.
    fn is_full(&self) -> bool {
        self.journal.last_segment_bytes() >= self.segment_bytes_max
    }

    /// Ends the last segment without a snapshot if it is full and the index has nothing of it. The
    /// index normally ends segments as it follows, but a caller may let it follow much later.
    fn end_full_segment(&mut self) -> Result<(), StoreError> {
        let is_far_behind = self.unsettled_bytes() >= self.segment_bytes_max;
        if is_far_behind && self.is_full() && self.journal.read_only.is_none() {
            self.journal.rotate()?;
            self.lacks_snapshot = true;
        }
        Ok(())
    }

    fn rotate(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        self.journal.rotate()?;
        self.lacks_snapshot = false;
        self.postponed.clear();
        let gone: Vec<Row> = replies
            .prune()
            .iter()
            .map(|instance| Row { key: format!("{REPLIES}{instance}"), value: None })
            .collect();
        if let Err(error) = self.index.apply(&gone) {
            self.drop_index(&error);
        }
        let place = snapshot::SnapshotHeader {
            machine: M::NAME,
            journal: self.journal.id,
            epoch: self.journal.epoch,
            segment: self.journal.last_segment(),
            seq: state.seq(),
            line: self.journal.last_crc,
        };
        // The write is acknowledged and the segment begun, so this is no error. A rebuild reads
        // from an older snapshot, and the next segment gets one again.
        if let Err(error) = self.snapshot(&place, state, replies) {
            tracing::warn!(%error, segment = place.segment, "no snapshot was written");
        }
        Ok(())
    }

    fn snapshot(
        &self,
        place: &snapshot::SnapshotHeader,
        state: &M,
        replies: &Replies,
    ) -> Result<(), StoreError> {
        let encoded = snapshot::encode(place, state.revision(), all_rows(state, replies));
        let bytes = encoded.map_err(|error| StoreError::Io {
            doing: "encode a snapshot for",
            path: self.snapshots.clone(),
            source: error.into(),
        })?;
        self.journal.check_space(bytes.len() as u64)?;
        snapshot::write(&*self.journal.disk, &self.snapshots, place.segment, &bytes)
    }

    /// Writes all soft marks, and hands the index to the operating system.
    fn flush_index(&mut self) {
        while !self.unwritten_marks.is_empty() {
            self.write_marks();
        }
        if let Err(error) = self.index.flush() {
            self.drop_index(&error);
        }
    }

    /// Writes one batch of soft marks.
    fn write_marks(&mut self) {
        let mut rows = Vec::new();
        while rows.len() < MARKS_BATCH_ROWS_MAX
            && let Some(key) = self.unwritten_marks.pop_first()
        {
            let value = self.marks.get(&key).cloned();
            rows.push(Row { key: format!("{MARKS}{key}"), value });
        }
        if rows.is_empty() {
            return;
        }
        if let Err(error) = self.index.apply(&rows) {
            self.drop_index(&error);
        }
    }
}

#[cfg(test)]
mod tests;
