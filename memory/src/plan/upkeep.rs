//! Updates anchors whose code is elsewhere now.

use anchord_fingerprint::Fingerprint;

use super::Plan;
use crate::draft::{Draft, RecordFields};
use crate::ids::{RecordId, Version};
use crate::lines::LineRange;
use crate::memory::Memory;
use crate::record::{Anchor, Body, RecordState};

/// The place at which an anchor's code was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorMove {
    /// The anchor.
    pub id: RecordId,
    /// The version that was looked for.
    pub version: Version,
    /// The file, relative to the project's root.
    pub file: String,
    /// The lines.
    pub lines: LineRange,
    /// Their fingerprint at the new place.
    pub print: Fingerprint,
}

/// Moves anchors to the places at which their code was found. One that was written meanwhile stays
/// as it is. Returns those that move.
pub fn plan_upkeep(memory: &Memory, moves: &[AnchorMove]) -> Plan<Vec<RecordId>> {
    let mut draft = Draft::new(memory);
    for it in moves {
        let Some(record) = memory.record(it.id) else { continue };
        let Some(anchor) = record.anchor() else { continue };
        if record.version != it.version || record.state == RecordState::Forgotten {
            continue;
        }
        let body = Body::Anchor(Anchor {
            file: it.file.clone(),
            lines: it.lines.clone(),
            print: Some(it.print.clone()),
            ..anchor.clone()
        });
        let (id, state) = (record.id, record.state);
        let (tags, pinned) = (record.tags.clone(), record.pinned);
        // Nobody wrote anything, so its age stays.
        draft.put(RecordFields { id, body, state, tags, pinned }, record.updated.clone());
    }
    let changes = draft.finish().changes;
    let outcome = changes.iter().filter_map(|change| change.record()).map(|it| it.id).collect();
    Plan { changes, outcome }
}

#[cfg(test)]
mod tests;
