//! Access counts: how often and when a project's records were read. They are counted in memory and
//! kept as soft marks.

use std::collections::{BTreeMap, BTreeSet};

use anchord_memory::{Accesses, RecordId, Timestamp};
use parking_lot::Mutex;

use super::Marks;

/// The prefix of soft marks for access counts.
const READ: &str = "read/";

#[derive(Debug, Default)]
pub(super) struct AccessCounts(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    accesses: Accesses,
    unwritten: BTreeSet<RecordId>,
}

impl AccessCounts {
    /// Restores the counts that an earlier daemon kept.
    pub(super) fn of_marks(marks: &Marks) -> Self {
        // A torn mark does not count.
        let read = |(key, value): (&String, &String)| {
            Some((key.strip_prefix(READ)?.parse().ok()?, value.parse().ok()?))
        };
        let accesses = marks.iter().filter_map(read).collect();
        Self(Mutex::new(Counted { accesses, unwritten: BTreeSet::new() }))
    }

    pub(super) fn accesses(&self) -> Accesses {
        self.0.lock().accesses.clone()
    }

    pub(super) fn count(&self, records: &[RecordId], now: Timestamp) {
        let mut counted = self.0.lock();
        for id in records {
            counted.accesses.record(*id, now);
            counted.unwritten.insert(*id);
        }
    }

    /// Returns the marks that changed since the last call.
    pub(super) fn unwritten(&self) -> BTreeMap<String, String> {
        let mut counted = self.0.lock();
        let changed = std::mem::take(&mut counted.unwritten);
        let mark = |id: RecordId| (format!("{READ}{id}"), counted.accesses.of(id).to_string());
        changed.into_iter().map(mark).collect()
    }
}

#[cfg(test)]
mod tests;
