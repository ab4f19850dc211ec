//! Staging what was noted of a session by rule, so that it outlives the daemon that noted it.

use super::Plan;
use crate::captured::Captured;
use crate::change::Change;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::staged::Staged;

/// Stages what was noted since the last time, privately to the session; nothing when that is nothing. What was purged
/// from this project is not taken in again. Relative to the project's root are the files for the caller to make.
pub fn plan_capture(memory: &Memory, origin: &Provenance, captured: Captured) -> Option<Plan<()>> {
    let captured = captured.without(|text| memory.tombstones().of(text).is_some());
    if captured.is_empty() {
        return None;
    }
    let (first, last) = captured.times();
    let part = Staged {
        captured: Some(Box::new(captured)),
        first,
        last,
        client: origin.client.clone(),
        ..Staged::default()
    };
    let stage = Change::Stage { session: origin.session.clone(), part: Box::new(part) };
    Some(Plan { changes: vec![stage], outcome: () })
}
