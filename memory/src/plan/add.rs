//! Adds records as one commit without a session row: people at a shell have no session.

use super::{Contradiction, Plan, contradictions};
use crate::change::Change;
use crate::draft::Draft;
use crate::ids::Version;
use crate::intake::accept;
use crate::memory::Memory;
use crate::record::Provenance;
use crate::refusal::Refusal;
use crate::render::title;
use crate::staged::Staged;

/// What the caller of an addition is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddOutcome {
    /// New records, in one line each.
    pub added: Vec<String>,
    /// Records that took in what was added, in one line each.
    pub merged: Vec<String>,
    /// Blueprints that say otherwise than stored ones with their titles.
    pub contradicts: Vec<Contradiction>,
}

/// Adds blueprints, anchors and lessons by the rules by which a save merges them.
///
/// # Errors
/// If there is nothing to add, an item is not usable, or a stored blueprint is immutable and would
/// stay as it is.
pub fn plan_add(
    memory: &Memory,
    origin: &Provenance,
    part: Staged,
) -> Result<Plan<AddOutcome>, Refusal> {
    let mut part = accept(part)?;
    if part.is_empty() {
        return Err(Refusal::invalid("what to add", "is missing"));
    }
    memory.tombstones().refuse(&part)?;
    (part.first, part.last) = (origin.time, origin.time);
    let mut draft = Draft::new(memory);
    draft.fold(&part, origin);
    let written = draft.finish();
    if let Some((kept, id)) = written.kept.first().and_then(|kept| Some((kept, kept.id?))) {
        let why = format!("\"{}\" is immutable; `anchord edit {id}` changes it", kept.title);
        return Err(Refusal::invalid(id.to_string(), why));
    }
    let contradicts = contradictions(memory, Some(&written.head), &part.blueprints);
    let mut outcome = AddOutcome { contradicts, ..AddOutcome::default() };
    for record in written.changes.iter().filter_map(Change::record) {
        let lines = match record.version {
            Version::FIRST => &mut outcome.added,
            _ => &mut outcome.merged,
        };
        lines.push(title(record, origin.time));
    }
    Ok(Plan { changes: written.changes, outcome })
}

#[cfg(test)]
mod tests;
