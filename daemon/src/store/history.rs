//! Looks up earlier versions in the journal by their history keys, on any thread.
//!
//! The writer publishes which segments there are and how far they go. A look-up takes the newest of
//! that and waits for nobody.
//!
//! The keys of a plain segment are read once, when one of them is looked up, and what was appended
//! since then is read by the next look-up. Blocks of an archive name their keys themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::journal::{Position, Segments};
use super::{Entry, Machine, StoreError};

/// The segments as they were last published, and the positions of entries in plain ones, as far as
/// look-ups have read them.
#[derive(Debug)]
pub(super) struct History {
    written: ArcSwap<Segments>,
    located: Mutex<BTreeMap<u32, Located>>,
}

/// The entries of a segment, by their history keys.
#[derive(Debug, Default)]
struct Located {
    /// The length of what was read of the segment.
    bytes: u64,
    positions: BTreeMap<String, Position>,
}

impl History {
    pub(super) fn of(written: Segments) -> Self {
        Self { written: ArcSwap::from_pointee(written), located: Mutex::default() }
    }

    /// Shows look-ups that begin from now on what is written.
    pub(super) fn publish(&self, written: Segments) {
        self.written.store(Arc::new(written));
    }

    /// Finds the newest entry with this history key in the segments as they stand now.
    pub(super) fn find<M: Machine>(
        &self,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        let written = &*self.written.load_full();
        let mut fault = None;
        for segment in written.newest_first() {
            let found = if segment.archive_bytes.is_some() {
                written.find_archived::<M>(segment, key)
            } else {
                let read = self.read_to::<M>(written, segment.number, segment.bytes);
                read.and_then(|()| match self.position(segment.number, key) {
                    Some(position) => Ok(Some(written.entry_at(position)?.entry)),
                    None => Ok(None),
                })
            };
            match found {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                // It may be in another segment.
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault.map_or(Ok(None), Err)
    }

    /// Drops what is known of a segment that has become an archive.
    pub(super) fn forget(&self, number: u32) {
        self.lock().remove(&number);
    }

    /// Reads what is not known of a segment yet, up to a length. No lock is held meanwhile.
    fn read_to<M: Machine>(
        &self,
        written: &Segments,
        number: u32,
        bytes: u64,
    ) -> Result<(), StoreError> {
        loop {
            let known = self.lock().get(&number).map_or(0, |located| located.bytes);
            if known >= bytes {
                return Ok(());
            }
            let positions = written.locate::<M>(number, known)?;
            let mut segments = self.lock();
            let located = segments.entry(number).or_default();
            // Else another look-up was quicker. It may have read less.
            if located.bytes == known {
                located.bytes = bytes;
                located.positions.extend(positions);
            }
        }
    }

    fn position(&self, number: u32, key: &str) -> Option<Position> {
        self.lock().get(&number)?.positions.get(key).copied()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Located>> {
        self.located.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
