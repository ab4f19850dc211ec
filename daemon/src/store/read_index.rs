//! Reads the state and the reply ledger from an index, on several threads.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, available_parallelism};

use parking_lot::Mutex;

use super::index::{Index, IndexError, REPLIES, RowSum, STATE, StoredText};
use super::limits::{RESTORE_BATCH_BYTES, RESTORE_BATCHES_QUEUED_MAX, RESTORE_READERS_MAX};
use super::packing::Unpacker;
use super::rows::MetaV1;
use super::{Replies, Row, StateMachine};

/// Reads the state and the reply ledger from an index, if the index is complete.
pub(super) fn read_index<M: StateMachine>(
    index: &mut dyn Index,
    meta: &MetaV1,
) -> Result<(M, Replies), IndexError> {
    let (state, state_rows) = restore_from::<M>(index)?;
    let (mut reply_rows, mut replies_sum) = (Vec::new(), RowSum::default());
    let mut collect = |key: &str, value: &str| {
        replies_sum.add(REPLIES, key, value);
        reply_rows.push(Row::of(key, value));
    };
    index.scan(REPLIES, &mut collect)?;
    index.check(state_rows.join(replies_sum))?;
    let state = state.map_err(IndexError::damaged)?;
    if state.seq() != meta.seq {
        let why = format!("its rows are of entry {}, not {}", state.seq().0, meta.seq.0);
        return Err(IndexError::damaged(why));
    }
    let mut replies = Replies::default();
    for row in &reply_rows {
        replies.restore(row).map_err(|error| IndexError::damaged(error.to_string()))?;
    }
    Ok((state, replies))
}

/// Restores the state from an index's rows, and sums them. This thread reads the rows, others
/// unpack and parse them, and one more takes them in. They pass on batches, so that none waits for
/// another at each row, and only a few batches are in memory at a time.
fn restore_from<M: StateMachine>(
    index: &dyn Index,
) -> Result<(Result<M, String>, RowSum), IndexError> {
    let readers = available_parallelism().map_or(1, |count| count.get() / 2);
    thread::scope(|scope| {
        let (give, taken) = sync_channel(RESTORE_BATCHES_QUEUED_MAX);
        let (give_parts, parts) = sync_channel::<Vec<M::Part>>(RESTORE_BATCHES_QUEUED_MAX);
        let taken = Arc::new(Mutex::new(taken));
        let reading: Vec<_> = (0..readers.clamp(1, RESTORE_READERS_MAX))
            .map(|_| (Arc::clone(&taken), give_parts.clone()))
            .map(|(taken, give)| scope.spawn(move || read_texts::<M>(&taken, &give)))
            .collect();
        // The readers alone hold these ends. So nobody waits for one that has ended.
        drop((taken, give_parts));
        let restoring = scope.spawn(move || M::restore(&mut parts.into_iter().flatten()));
        let mut texts = Texts::default();
        let scanned = index.scan_stored(STATE, &mut |key, stored| {
            texts.push(key, &stored);
            if texts.values.len() >= RESTORE_BATCH_BYTES {
                // After a row that cannot be read nobody receives; the reader's error is returned.
                let _ = give.send(std::mem::take(&mut texts));
            }
        });
        let _ = give.send(texts);
        drop(give);
        let read: Vec<_> = reading.into_iter().map(joined).collect();
        let state = joined(restoring);
        scanned?;
        let sums = read.into_iter().collect::<Result<Vec<RowSum>, _>>()?;
        Ok((state, sums.into_iter().fold(RowSum::default(), RowSum::join)))
    })
}

/// Waits for a thread and resumes its panic.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Unpacks and parses batches of rows until no more come, and returns the rows' sum.
fn read_texts<M: StateMachine>(
    taken: &Mutex<Receiver<Texts>>,
    give: &SyncSender<Vec<M::Part>>,
) -> Result<RowSum, IndexError> {
    let (mut sum, mut unpacker) = (RowSum::default(), Unpacker::new());
    loop {
        // A reader that waits for the lock would wait for the next batch in any case. The lock is
        // released with the batch, so readers work on theirs at the same time.
        let Ok(texts) = taken.lock().recv() else { return Ok(sum) };
        let mut parts = Vec::with_capacity(texts.ends.len());
        for (key, stored) in texts.rows() {
            let text = stored.text(key, &mut unpacker)?;
            sum.add(STATE, key, text);
            parts.push(M::part(key, text).map_err(IndexError::damaged)?);
        }
        // Nobody receives after an error, which is returned.
        let _ = give.send(parts);
    }
}

/// The keys and values of some rows. Allocating row by row on one thread and freeing on another
/// would cost both more than reading does.
#[derive(Default)]
struct Texts {
    keys: String,
    values: Vec<u8>,
    /// The end of each key and of its value, and whether the value is packed.
    ends: Vec<(usize, usize, bool)>,
}

impl Texts {
    fn push(&mut self, key: &str, stored: &StoredText<'_>) {
        let (StoredText::Plain(bytes) | StoredText::Packed(bytes)) = stored;
        self.keys.push_str(key);
        self.values.extend_from_slice(bytes);
        let is_packed = matches!(stored, StoredText::Packed(_));
        self.ends.push((self.keys.len(), self.values.len(), is_packed));
    }

    fn rows(&self) -> impl Iterator<Item = (&str, StoredText<'_>)> {
        let (mut key_start, mut start) = (0, 0);
        self.ends.iter().map(move |(key_end, end, is_packed)| {
            let key = self.keys.get(key_start..*key_end).unwrap_or_default();
            let bytes = Cow::Borrowed(self.values.get(start..*end).unwrap_or_default());
            (key_start, start) = (*key_end, *end);
            (key, if *is_packed { StoredText::Packed(bytes) } else { StoredText::Plain(bytes) })
        })
    }
}
