//! Stages a session's pending activity, so that it survives a restart of the daemon.

use super::Plan;
use crate::activity::SessionActivity;
use crate::change::Change;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::staged::Staged;

/// Stages the activity since the last time, privately to the session; `None` if there is none.
/// Anything that was purged from this project is left out. The caller makes the files relative to
/// the project's root.
pub fn plan_capture(
    memory: &Memory,
    origin: &Provenance,
    captured: SessionActivity,
) -> Option<Plan<()>> {
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
