//! The store: a journal that is the truth, an index that follows it, a snapshot at each new segment.
//!
//! Only [`Store::append`] promises anything. A fault of the index drops it for this run, with a stand-in
//! in memory; the next open builds it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Seq, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::format::{self, ARCHIVES_FROM, Crc, FORMAT};
use super::history::History;
use super::index::{
    Index, IndexError, IndexPlace, MARKS, META, MemIndex, REPLIES, RowSum, STATE, TrackedIndex,
};
use super::journal::{Journal, Position, Segment};
use super::limits::{
    CHECK_AGAIN_AFTER_DAYS, ENTRY_BYTES_MAX, INDEX_BATCH_ROWS_MAX, INDEX_BYTES_LEAST,
    INDEX_TIMES_STATE_MAX, MARKS_BATCH_ROWS_MAX,
};
use super::open::restore;
use super::sealed::Sealed;
use super::segment::file_name;
use super::sled_index::SledPlace;
use super::upkeep::{Outcome, Tasks, copy_index};
use super::{
    CheckedSnapshot, Entry, Health, Left, LookUp, Machine, Reading, Replies, Row, Sizes, Snapshots,
    Store, StoreError, Uncheckable, snapshot,
};

/// A store in a directory.
#[derive(Debug)]
pub struct JournalStore<M: Machine> {
    pub(super) journal: Journal,
    pub(super) snapshots: PathBuf,
    pub(super) index: TrackedIndex,
    pub(super) place: Arc<dyn IndexPlace>,
    /// Why `index` is a stand-in.
    pub(super) index_fault: Option<String>,
    pub(super) history: Arc<History>,
    pub(super) tasks: Tasks,
    /// Bytes of the index after the last try to copy it.
    pub(super) copied_bytes: u64,
    /// Old segments on which a task failed, until the next segment begins.
    pub(super) postponed: BTreeSet<u32>,
    /// Appended, but not in the index yet.
    pub(super) pending: Vec<Pending<M::Change>>,
    /// Where the last entry is.
    pub(super) at: Option<Position>,
    /// The latest time of an entry that this store has met. It stands still while nobody writes, when
    /// no check of an old segment is due either. After a clock that was ahead it is right again at the
    /// next opening, which takes the last entry's.
    pub(super) time: Timestamp,
    pub(super) marks: BTreeMap<String, String>,
    pub(super) unwritten_marks: BTreeSet<String>,
    pub(super) segment_bytes_max: u64,
}

/// What the index must still take in of an entry.
#[derive(Debug)]
pub(super) struct Pending<C> {
    pub(super) changes: Vec<C>,
    pub(super) instance: Option<Arc<str>>,
    pub(super) position: Position,
}

/// What an index is of, and how far it is: its row `meta`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MetaV1 {
    pub(super) format: u32,
    pub(super) machine: String,
    pub(super) journal: Uuid,
    pub(super) epoch: u32,
    /// The last entry applied, its line's checksum and its place.
    pub(super) seq: Seq,
    pub(super) line: Crc,
    pub(super) at: Option<String>,
}

/// Removes a closed store's index; the next open builds it anew.
pub fn discard_index(dir: &Path) -> Result<(), IndexError> {
    SledPlace::new(dir.join("sled")).discard()
}

impl<M: Machine> Store<M> for JournalStore<M> {
    fn append(&mut self, batch: &[Entry<M::Change>]) -> Result<(), StoreError> {
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
        self.pending.iter().map(|pending| pending.position.bytes as u64).sum()
    }

    fn settle(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        if self.pending.is_empty() && self.journal.read_only.is_some() {
            return Ok(());
        }
        if state.seq() != self.journal.last {
            return Err(StoreError::OutOfOrder { last: self.journal.last, given: state.seq() });
        }
        self.index_pending(state, replies);
        let full = self.journal.last_segment_bytes() >= self.segment_bytes_max;
        if full && self.journal.read_only.is_none() {
            self.rotate(state, replies)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Left {
        if let Some(outcome) = self.tasks.outcome() {
            self.take(outcome);
            self.tasks.end_turn();
        }
        self.write_marks();
        if !self.unwritten_marks.is_empty() {
            return Left::Marks;
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
            return Left::Upkeep;
        }
        if self.tasks.is_busy() { Left::Upkeep } else { Left::Nothing }
    }

    fn look_up(&self) -> LookUp<M> {
        let history = Arc::clone(&self.history);
        Arc::new(move |key| history.find::<M>(key))
    }

    fn reading(&self) -> Reading<M> {
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
                    // A newer one has taken its place.
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

    fn close(mut self: Box<Self>) {
        self.tasks.cancel();
        while !self.unwritten_marks.is_empty() {
            self.write_marks();
        }
        if let Err(error) = self.index.flush() {
            self.drop_index(&error);
        }
        self.journal.close();
    }
}

impl<M: Machine> JournalStore<M> {
    /// Shows look-ups what is on disk now.
    pub(super) fn publish(&self) {
        self.history.publish(self.journal.written());
    }

    /// Notes what the index must take in of an entry that is in the journal.
    pub(super) fn follow(&mut self, entry: &Entry<M::Change>, position: Position) {
        self.at = Some(position);
        self.time = self.time.max(entry.time);
        self.pending.push(Pending {
            changes: entry.changes.clone(),
            instance: entry.call.as_ref().map(|call| Arc::clone(&call.instance)),
            position,
        });
    }

    /// Brings the index up to `state`, as one batch: an entry may not be applied twice to its rows.
    pub(super) fn index_pending(&mut self, state: &M, replies: &Replies) {
        if self.pending.is_empty() {
            return;
        }
        let mut rows = BTreeMap::new();
        for pending in self.pending.drain(..) {
            for row in state.touched_rows(&pending.changes) {
                rows.insert(format!("{STATE}{}", row.key), row.value);
            }
            if let Some(instance) = pending.instance {
                let row = replies.row(&instance);
                rows.insert(format!("{REPLIES}{}", row.key), row.value);
            }
        }
        let rows = rows.into_iter().map(|(key, value)| Row { key, value });
        let meta = self.meta(state.seq());
        if let Err(error) = write_rows(&mut self.index, rows, meta) {
            self.drop_index(&error);
        }
    }

    /// The row that says what the index is of.
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

    /// Goes on without the index. What it held is in the journal.
    pub(super) fn drop_index(&mut self, error: &IndexError) {
        tracing::error!(%error, "the index is out of use until the store is opened again");
        self.index = TrackedIndex::new(Box::new(MemIndex::default()));
        self.index_fault = Some(error.to_string());
        self.pending.clear();
        // After a passing fault it only lags behind, and the next open lets it catch up.
        if !error.passes()
            && let Err(error) = self.place.set_aside()
        {
            tracing::warn!(%error, "the index stays where it is; the next open looks at it again");
        }
    }

    fn rotate(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        self.journal.rotate()?;
        self.postponed.clear();
        let gone: Vec<Row> = replies
            .prune()
            .iter()
            .map(|instance| Row { key: format!("{REPLIES}{instance}"), value: None })
            .collect();
        if let Err(error) = self.index.apply(&gone) {
            self.drop_index(&error);
        }
        let place = snapshot::Place {
            machine: M::NAME,
            journal: self.journal.id,
            epoch: self.journal.epoch,
            segment: self.journal.last_segment(),
            seq: state.seq(),
            line: self.journal.last_crc,
        };
        // The write is acknowledged and the segment begun: a rebuild reads from an older snapshot, and the next segment
        // has one again.
        if let Err(error) = self.snapshot(&place, state, replies) {
            tracing::warn!(%error, segment = place.segment, "no snapshot was written");
        }
        Ok(())
    }

    fn snapshot(
        &self,
        place: &snapshot::Place,
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

    /// Writes some of the soft marks.
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

    /// Returns what is to be done next on the store's files.
    fn next_work(&self) -> Option<Work> {
        if self.journal.read_only.is_some() {
            return None;
        }
        if self.index_fault.is_none() && self.is_index_outgrown() {
            return Some(Work::Copy);
        }
        let to_archive = self.next_to_archive().map(Work::Archive);
        to_archive.or_else(|| self.next_unchecked().map(Work::Check))
    }

    fn begin(&mut self, work: Work) {
        match work {
            Work::Copy => {
                self.index.begin_changes();
                let (from, place) = (self.index.reader(), Arc::clone(&self.place));
                self.tasks.begin(move |is_cancelled| {
                    let copy = place.begin_copy();
                    Outcome::Copied(copy.and_then(|copy| copy_index(&*from, copy, is_cancelled)))
                });
            }
            Work::Archive(sealed) => {
                let reserve_bytes = self.journal.reserve_bytes;
                self.tasks.begin(move |is_cancelled| {
                    let number = sealed.segment.number;
                    let archived = sealed.archive::<M>(reserve_bytes, is_cancelled);
                    Outcome::Archived { number, archived }
                });
            }
            Work::Check(sealed) => self.tasks.begin(move |_| {
                let number = sealed.segment.number;
                Outcome::Checked { number, checked: sealed.check() }
            }),
        }
    }

    /// The oldest segment that is to be archived: a snapshot covers it and the index has it.
    fn next_to_archive(&self) -> Option<Sealed> {
        let last = self.journal.segments.last()?;
        // An older anchord must see by the last segment that it is too old.
        if last.format < ARCHIVES_FROM || self.index_fault.is_some() {
            return None;
        }
        let is_due = |sealed: &Sealed| {
            let segment = &sealed.segment;
            let is_plain = segment.archive_bytes.is_none();
            is_plain && !sealed.is_empty() && !self.postponed.contains(&segment.number)
        };
        let sealed = self.journal.sealed().into_iter().rfind(is_due)?;
        let number = sealed.segment.number;
        let is_indexed = self.pending.iter().all(|pending| pending.position.segment > number);
        let snapshots = snapshot::list(&*self.journal.disk, &self.snapshots).unwrap_or_default();
        let is_covered = snapshots.last().is_some_and(|newest| *newest > number);
        (is_indexed && is_covered).then_some(sealed)
    }

    /// Remembers that a segment is its archive now.
    fn take_archive(&mut self, number: u32, archive_bytes: u64) {
        let segment = self.journal.segments.iter_mut().find(|it| it.number == number);
        if let Some(segment) = segment {
            segment.archive_bytes = Some(archive_bytes);
        }
        self.publish();
        self.history.forget(number);
        self.mark_checked(number);
    }

    fn mark_checked(&mut self, number: u32) {
        let time = self.time.0.to_string();
        Store::<M>::mark(self, &checked_mark(number), Some(&time));
    }

    /// Makes the store read-only: an old segment is not as it was written.
    fn take_fault(&mut self, fault: &StoreError) {
        tracing::error!(%fault, "an old segment is damaged; read-only from now on");
        self.journal.read_only.get_or_insert(fault.to_string());
    }

    /// The newest sealed segment whose lines were not checked for long.
    fn next_unchecked(&self) -> Option<Sealed> {
        let is_old = |sealed: &Sealed| {
            if self.postponed.contains(&sealed.segment.number) {
                return false;
            }
            let mark = self.marks.get(&checked_mark(sealed.segment.number));
            let checked = mark.and_then(|time| time.parse::<i64>().ok());
            let again = (CHECK_AGAIN_AFTER_DAYS * Timestamp::DAY_MILLIS).unsigned_abs();
            // A mark may be from a time at which the clock was ahead.
            let is_past = |checked: i64| self.time.0 > 0 && self.time.0.abs_diff(checked) >= again;
            checked.is_none_or(is_past)
        };
        self.journal.sealed().into_iter().find(is_old)
    }

    /// Takes what came of a task.
    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Copied(copied) => {
                let changes = self.index.take_changes();
                if self.index_fault.is_some() {
                    return;
                }
                let begun = copied.and_then(|copy| self.sync_copy(copy, &changes));
                if let Err(error) = begun {
                    self.keep_index(&error);
                }
            }
            Outcome::Synced { sum, synced } => {
                let changes = self.index.take_changes();
                if self.index_fault.is_some() {
                    return;
                }
                if let Err(error) = synced.and_then(|()| self.replace_index(sum, &changes)) {
                    self.keep_index(&error);
                }
            }
            Outcome::Tidied(tidied) => {
                if let Err(error) = tidied {
                    tracing::warn!(%error, "what a copy of the index replaced is still there");
                }
            }
            Outcome::Checked { number, checked } => match checked {
                Ok(None) => self.mark_checked(number),
                Ok(Some(fault)) => self.take_fault(&fault),
                Err(error) if error.is_missing() => self.take_fault(&error),
                Err(error) => {
                    tracing::warn!(%error, number, "an old segment was not checked; tried later");
                    self.postponed.insert(number);
                }
            },
            Outcome::Archived { number, archived } => match archived {
                Ok(Ok(bytes)) => self.take_archive(number, bytes),
                Ok(Err(fault)) => self.take_fault(&fault),
                Err(error) => {
                    tracing::warn!(%error, number, "a segment was not archived; tried again later");
                    self.postponed.insert(number);
                }
            },
            Outcome::Panicked => {
                let sealed = self.journal.sealed();
                self.postponed.extend(sealed.iter().map(|sealed| sealed.segment.number));
                self.copied_bytes = self.index.bytes();
                self.index.take_changes();
                tracing::error!("a task on the store's files panicked");
            }
        }
    }

    /// Whether the index takes up too much. sled never gives back what it has taken.
    fn is_index_outgrown(&self) -> bool {
        let state_bytes = self.index.sum().bytes;
        // sled has some small files that it does not count.
        let most = state_bytes.saturating_mul(INDEX_TIMES_STATE_MAX) - state_bytes / 8;
        let bytes_max = INDEX_BYTES_LEAST.max(most);
        // A copy that is no smaller is not made again at once.
        self.index.bytes() > bytes_max.max(self.copied_bytes + self.copied_bytes / 4)
    }

    fn keep_index(&mut self, error: &IndexError) {
        tracing::warn!(%error, "the index stays larger than it need be");
        self.copied_bytes = self.index.bytes();
    }

    /// Completes a copy with what was written since it was begun, and begins to sync it.
    fn sync_copy(&mut self, mut copy: Box<dyn Index>, changes: &[Row]) -> Result<(), IndexError> {
        changes.chunks(INDEX_BATCH_ROWS_MAX).try_for_each(|rows| copy.apply(rows))?;
        let sum = self.index.sum();
        if copy.sum() != sum {
            return Err(IndexError::damaged("the copy is not what was copied"));
        }
        self.index.begin_changes();
        let place = Arc::clone(&self.place);
        self.tasks.begin(move |_| {
            let closed = copy.flush();
            drop(copy);
            Outcome::Synced { sum, synced: closed.and_then(|()| place.sync_copy()) }
        });
        Ok(())
    }

    /// Puts a synced copy in the place of the index, and writes to it what was written since. As
    /// with every write, what is lost of that by a crash is in the journal.
    fn replace_index(&mut self, sum: RowSum, changes: &[Row]) -> Result<(), IndexError> {
        let newest = self.index.sum();
        // Nothing may hold its files open.
        self.index = TrackedIndex::new(Box::new(MemIndex::default()));
        let placed = self.place.take_copy();
        let opened = if placed.is_ok() {
            self.place.open_copy().and_then(|mut index| {
                index.check(sum)?;
                write_changes(&mut *index, changes)?;
                Ok(index)
            })
        } else {
            self.place.open().and_then(|mut index| index.check(newest).map(|()| index))
        };
        match opened {
            Ok(index) => self.index = TrackedIndex::new(index),
            Err(error) => self.drop_index(&error),
        }
        placed?;
        self.copied_bytes = self.index.bytes();
        let place = Arc::clone(&self.place);
        self.tasks.begin(move |_| Outcome::Tidied(place.end_copy()));
        Ok(())
    }
}

/// Work on the store's files that no write waits for.
#[derive(Debug)]
enum Work {
    /// The index takes up too much: it is copied into a fresh one.
    Copy,
    Archive(Sealed),
    Check(Sealed),
}

/// The soft mark that says when the lines of a segment were checked.
fn checked_mark(number: u32) -> String {
    format!("checked/{number:06}")
}

/// Writes rows and what they make the index to be. Too many for one batch are written in parts, and the
/// index is of nothing in between.
pub(super) fn write_rows(
    index: &mut dyn Index,
    rows: impl Iterator<Item = Row>,
    meta: Row,
) -> Result<(), IndexError> {
    let mut part = Vec::new();
    let mut invalidated = false;
    for row in rows {
        part.push(row);
        if part.len() == INDEX_BATCH_ROWS_MAX {
            if !invalidated {
                index.apply(&[Row { key: META.to_owned(), value: None }])?;
                invalidated = true;
            }
            index.apply(&part)?;
            part.clear();
        }
    }
    part.push(meta);
    index.apply(&part)
}

/// Writes the newest of each row that was changed to an index in use.
fn write_changes(index: &mut dyn Index, changes: &[Row]) -> Result<(), IndexError> {
    let rows = changes.iter().filter(|row| row.key != META).cloned();
    match changes.iter().find(|row| row.key == META) {
        Some(meta) => write_rows(index, rows, meta.clone()),
        None => changes.chunks(INDEX_BATCH_ROWS_MAX).try_for_each(|rows| index.apply(rows)),
    }
}

/// Everything that a snapshot holds.
pub(super) fn all_rows<'a, M: Machine>(
    state: &'a M,
    replies: &'a Replies,
) -> impl Iterator<Item = Row> + 'a {
    let prefixed =
        |prefix: &str, row: Row| Row { key: format!("{prefix}{}", row.key), value: row.value };
    let state = state.rows().map(move |row| prefixed(STATE, row));
    state.chain(replies.rows().map(move |row| prefixed(REPLIES, row)))
}

#[cfg(test)]
mod tests;
