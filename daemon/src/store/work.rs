//! A store's work on its files while no write waits: choosing the next task and handling its
//! outcome.
//!
//! Tasks run elsewhere (`upkeep.rs`). This is the writer's part, and it is short.

use std::sync::Arc;

use anchord_memory::Timestamp;

use super::format::ARCHIVES_FROM;
use super::index::{Index, IndexError, META, MemIndex, RowSum, TrackedIndex};
use super::journal_store::JournalStore;
use super::limits::{
    CHECK_AGAIN_AFTER_DAYS, INDEX_BATCH_ROWS_MAX, INDEX_BYTES_LEAST, INDEX_TIMES_STATE_MAX,
};
use super::rows::write_rows;
use super::sealed::Sealed;
use super::upkeep::{TaskOutcome, copy_index};
use super::{Row, StateMachine, Store, StoreError, snapshot};

/// A task on the store's files that no write waits for.
#[derive(Debug)]
pub(super) enum Work {
    /// Copy the index into a fresh one, because it takes up too much space.
    Copy,
    Archive(Sealed),
    Check(Sealed),
}

impl<M: StateMachine> JournalStore<M> {
    /// Returns the next task on the store's files.
    pub(super) fn next_work(&self) -> Option<Work> {
        if self.journal.read_only.is_some() {
            return None;
        }
        if self.index_fault.is_none() && self.is_index_outgrown() {
            return Some(Work::Copy);
        }
        let to_archive = self.next_to_archive().map(Work::Archive);
        to_archive.or_else(|| self.next_unchecked().map(Work::Check))
    }

    /// Begins a task, in this store's turn.
    pub(super) fn begin(&mut self, work: Work) {
        match work {
            Work::Copy => {
                self.index.begin_changes();
                let (from, place) = (self.index.reader(), Arc::clone(&self.place));
                self.tasks.begin(move |is_cancelled| {
                    let copy = place.begin_copy();
                    TaskOutcome::Copied(
                        copy.and_then(|copy| copy_index(&*from, copy, is_cancelled)),
                    )
                });
            }
            Work::Archive(sealed) => {
                let reserve_bytes = self.journal.reserve_bytes;
                self.tasks.begin(move |is_cancelled| {
                    let number = sealed.segment.number;
                    let archived = sealed.archive::<M>(reserve_bytes, is_cancelled);
                    TaskOutcome::Archived { number, archived }
                });
            }
            Work::Check(sealed) => self.tasks.begin(move |_| {
                let number = sealed.segment.number;
                TaskOutcome::Checked { number, checked: sealed.check() }
            }),
        }
    }

    /// Returns the oldest segment to archive. A snapshot must cover it, and the index must have its
    /// entries.
    fn next_to_archive(&self) -> Option<Sealed> {
        let last = self.journal.segments.last()?;
        // The last segment must show an older anchord that it is too old.
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

    /// Records that a segment is now an archive.
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

    /// Makes the store read-only, because an old segment is damaged.
    fn take_fault(&mut self, fault: &StoreError) {
        tracing::error!(%fault, "an old segment is damaged; read-only from now on");
        self.journal.read_only.get_or_insert(fault.to_string());
    }

    /// Returns the newest sealed segment that is due for a check of its lines.
    fn next_unchecked(&self) -> Option<Sealed> {
        let is_old = |sealed: &Sealed| {
            if self.postponed.contains(&sealed.segment.number) {
                return false;
            }
            let mark = self.marks.get(&checked_mark(sealed.segment.number));
            let checked = mark.and_then(|time| time.parse::<i64>().ok());
            let again = (CHECK_AGAIN_AFTER_DAYS * Timestamp::DAY_MILLIS).unsigned_abs();
            // A mark may come from a time when the clock was ahead.
            let is_past = |checked: i64| self.time.0 > 0 && self.time.0.abs_diff(checked) >= again;
            checked.is_none_or(is_past)
        };
        self.journal.sealed().into_iter().find(is_old)
    }

    /// Handles the outcome of a task.
    pub(super) fn take(&mut self, outcome: TaskOutcome) {
        match outcome {
            TaskOutcome::Copied(copied) => {
                let changes = self.index.take_changes();
                if self.index_fault.is_some() {
                    return;
                }
                let begun = copied.and_then(|copy| self.sync_copy(copy, &changes));
                if let Err(error) = begun {
                    self.keep_index(&error);
                }
            }
            TaskOutcome::Synced { sum, synced } => {
                let changes = self.index.take_changes();
                if self.index_fault.is_some() {
                    return;
                }
                if let Err(error) = synced.and_then(|()| self.replace_index(sum, &changes)) {
                    self.keep_index(&error);
                }
            }
            TaskOutcome::Tidied(tidied) => {
                if let Err(error) = tidied {
                    tracing::warn!(%error, "what a copy of the index replaced is still there");
                }
            }
            TaskOutcome::Checked { number, checked } => match checked {
                Ok(None) => self.mark_checked(number),
                Ok(Some(fault)) => self.take_fault(&fault),
                Err(error) if error.is_missing() => self.take_fault(&error),
                Err(error) => {
                    tracing::warn!(%error, number, "an old segment was not checked; tried later");
                    self.postponed.insert(number);
                }
            },
            TaskOutcome::Archived { number, archived } => match archived {
                Ok(Ok(bytes)) => self.take_archive(number, bytes),
                Ok(Err(fault)) => self.take_fault(&fault),
                Err(error) => {
                    tracing::warn!(%error, number, "a segment was not archived; tried again later");
                    self.postponed.insert(number);
                }
            },
            TaskOutcome::Panicked => {
                let sealed = self.journal.sealed();
                self.postponed.extend(sealed.iter().map(|sealed| sealed.segment.number));
                self.copied_bytes = self.index.bytes();
                self.index.take_changes();
                tracing::error!("a task on the store's files panicked");
            }
        }
    }

    /// Whether the index takes up too much space. sled never returns space to the disk.
    fn is_index_outgrown(&self) -> bool {
        let state_bytes = self.index.sum().bytes;
        // sled does not count some small files.
        let most = state_bytes.saturating_mul(INDEX_TIMES_STATE_MAX) - state_bytes / 8;
        let bytes_max = INDEX_BYTES_LEAST.max(most);
        // If a copy was no smaller, wait until the index has grown before copying it again.
        self.index.bytes() > bytes_max.max(self.copied_bytes + self.copied_bytes / 4)
    }

    fn keep_index(&mut self, error: &IndexError) {
        tracing::warn!(%error, "the index stays larger than it need be");
        self.copied_bytes = self.index.bytes();
    }

    /// Adds the writes since the copy began, then starts syncing the copy.
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
            TaskOutcome::Synced { sum, synced: closed.and_then(|()| place.sync_copy()) }
        });
        Ok(())
    }

    /// Replaces the index with a synced copy and applies the writes since. As with every write, the
    /// journal still has any that a crash loses.
    fn replace_index(&mut self, sum: RowSum, changes: &[Row]) -> Result<(), IndexError> {
        let newest = self.index.sum();
        // Nothing may hold the index's files open.
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
        self.tasks.begin(move |_| TaskOutcome::Tidied(place.end_copy()));
        Ok(())
    }
}

/// Returns the key of the soft mark with the time of a segment's last check.
fn checked_mark(number: u32) -> String {
    format!("checked/{number:06}")
}

/// Writes the newest value of each changed row to an index in use.
fn write_changes(index: &mut dyn Index, changes: &[Row]) -> Result<(), IndexError> {
    let rows = changes.iter().filter(|row| row.key != META).cloned();
    match changes.iter().find(|row| row.key == META) {
        Some(meta) => write_rows(index, rows, meta.clone()),
        None => changes.chunks(INDEX_BATCH_ROWS_MAX).try_for_each(|rows| index.apply(rows)),
    }
}
