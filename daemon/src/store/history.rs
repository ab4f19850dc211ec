//! Looks up earlier versions in the journal by their history keys, on any thread.
//!
//! The writer publishes the segments and their lengths. A look-up uses the newest published list
//! and waits for nobody.
//!
//! The keys of a plain segment are read once, at the first look-up that needs them. The next
//! look-up reads the entries appended since. Blocks of an archive name their keys themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::journal::{Position, Prefix, Segment, Segments};
use super::{Entry, StateMachine, StoreError};

/// The segments as last published, and the positions in plain ones that look-ups have read so far.
#[derive(Debug)]
pub(super) struct History {
    written: ArcSwap<Segments>,
    located: Mutex<BTreeMap<u32, Located>>,
}

/// The entries of a segment, by their history keys.
#[derive(Debug, Default)]
struct Located {
    /// The part of the segment that was read, in bytes and lines.
    read: Prefix,
    positions: BTreeMap<String, Position>,
}

impl History {
    pub(super) fn of(written: Segments) -> Self {
        Self { written: ArcSwap::from_pointee(written), located: Mutex::default() }
    }

    /// Makes look-ups that begin from now on use these segments.
    pub(super) fn publish(&self, written: Segments) {
        self.written.store(Arc::new(written));
    }

    /// Returns the current segments.
    pub(super) fn segments(&self) -> Arc<Segments> {
        self.written.load_full()
    }

    /// Finds the newest entry with this history key in the current segments.
    pub(super) fn find<M: StateMachine>(
        &self,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        self.find_in::<M>(&self.written.load_full(), key)
    }

    /// Finds the entry in the segments of one moment, which may have passed.
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
                // Continue: the entry may be in another segment.
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault.map_or(Ok(None), Err)
    }

    /// Finds the newest entry with this history key in a segment, and reads the part that is not
    /// known yet. Holds no lock while reading.
    fn find_plain<M: StateMachine>(
        &self,
        written: &Segments,
        segment: &Segment,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        loop {
            let known = {
                let segments = self.located.lock();
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
                // The segment has become an archive since this look-up began.
                return self.written.load().find_archived::<M>(segment.number, key);
            }
        }
    }

    /// Stores what was read of a segment. Returns false if the segment has become an archive, which
    /// names its own keys.
    fn keep(
        &self,
        number: u32,
        known: Prefix,
        read: Prefix,
        positions: Vec<(String, Position)>,
    ) -> bool {
        let mut segments = self.located.lock();
        // An archive is published before `forget` is called, so anything stored here before that is
        // removed.
        if !self.written.load().is_plain(number) {
            return false;
        }
        let located = segments.entry(number).or_default();
        // Otherwise another look-up was faster. It may have read less.
        if located.read == known {
            located.read = read;
            located.positions.extend(positions);
        }
        true
    }

    /// Forgets the positions of a segment that was published as an archive.
    pub(super) fn forget(&self, number: u32) {
        self.located.lock().remove(&number);
    }

    /// Returns the segments with known positions.
    #[cfg(test)]
    pub(super) fn known(&self) -> Vec<u32> {
        self.located.lock().keys().copied().collect()
    }
}
