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

use super::journal::{Position, Prefix, Segment, Segments};
use super::{Entry, StateMachine, StoreError};

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
    /// What was read of the segment: the length and the number of its lines.
    read: Prefix,
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
    pub(super) fn find<M: StateMachine>(
        &self,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        self.find_in::<M>(&self.written.load_full(), key)
    }

    /// Finds it in the segments as they stood at one moment, which may be over.
    pub(super) fn find_in<M: StateMachine>(
        &self,
        written: &Segments,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        let mut fault = None;
        for segment in written.newest_first() {
            let found = match segment.archive_bytes {
                Some(_) => written.find_archived::<M>(segment.number, key),
                None => self.find_plain::<M>(written, segment, key),
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

    /// Finds the newest entry with this history key in a segment, and reads what is not known of it
    /// yet. No lock is held meanwhile.
    fn find_plain<M: StateMachine>(
        &self,
        written: &Segments,
        segment: &Segment,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        loop {
            let known = {
                let segments = self.lock();
                let located = segments.get(&segment.number);
                if let Some(located) = located.filter(|it| it.read.bytes >= segment.bytes) {
                    let position = located.positions.get(key).copied();
                    drop(segments);
                    return position
                        .map(|position| Ok(written.entry_at(position)?.entry))
                        .transpose();
                }
                located.map(|located| located.read).unwrap_or_default()
            };
            let (read, positions) = written.locate::<M>(segment, known)?;
            if !self.keep(segment.number, known, read, positions) {
                // It has become an archive since this look-up began.
                return self.written.load().find_archived::<M>(segment.number, key);
            }
        }
    }

    /// Keeps what was read of a segment, unless it has become an archive, which says so itself.
    fn keep(
        &self,
        number: u32,
        known: Prefix,
        read: Prefix,
        positions: Vec<(String, Position)>,
    ) -> bool {
        let mut segments = self.lock();
        // Published before it is forgotten: what is kept here while it is still plain goes then.
        if !self.written.load().is_plain(number) {
            return false;
        }
        let located = segments.entry(number).or_default();
        // Else another look-up was quicker. It may have read less.
        if located.read == known {
            located.read = read;
            located.positions.extend(positions);
        }
        true
    }

    /// Drops what is known of a segment that was published as an archive.
    pub(super) fn forget(&self, number: u32) {
        self.lock().remove(&number);
    }

    /// Returns the segments of which positions are known.
    #[cfg(test)]
    pub(super) fn known(&self) -> Vec<u32> {
        self.lock().keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Located>> {
        self.located.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
