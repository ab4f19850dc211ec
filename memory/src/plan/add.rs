//! Adds records as one commit without a session row: people at a shell have no session.

use std::sync::Arc;

use super::{Contradiction, Plan, contradictions};
use crate::change::Change;
use crate::draft::Draft;
use crate::ids::Version;
use crate::intake::WriteLimits;
use crate::kinds::UnseenCode;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::room::check_growth;
use crate::staged::{Staged, accept};

/// The outcome of an addition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddOutcome {
    /// The new records.
    pub added: Vec<Arc<Record>>,
    /// Existing records that an added item was merged into, as they are now.
    pub merged: Vec<Arc<Record>>,
    /// Blueprints that contradict stored ones with the same title.
    pub contradicts: Vec<Contradiction>,
    /// The anchors whose lines could not be read.
    pub unseen: Vec<UnseenCode>,
}

/// Adds blueprints, anchors and lessons, merged by the same rules as in a save.
///
/// # Errors
/// Fails if there is nothing to add, or an item is invalid or was purged. Also fails if the project
/// has no room for it, or if it would change an immutable blueprint.
pub fn plan_add(
    memory: &Memory,
    origin: &Provenance,
    mut part: Staged,
) -> Result<Plan<AddOutcome>, Refusal> {
    let unseen = std::mem::take(&mut part.unseen);
    let mut part = accept(part, &WriteLimits::default())?;
    if part.is_empty() {
        return Err(Refusal::invalid("what to add", "is missing"));
    }
    memory.tombstones().refuse(&part)?;
    (part.first, part.last) = (origin.time, origin.time);
    let mut draft = Draft::new(memory);
    draft.fold(&part, origin);
    check_growth(memory, draft.head(), &part)?;
    let written = draft.finish();
    if let Some((kept, id)) = written.kept.first().and_then(|kept| Some((kept, kept.id?))) {
        let why = format!("\"{}\" is immutable; `anchord edit {id}` changes it", kept.title);
        return Err(Refusal::invalid(id.to_string(), why));
    }
    let contradicts = contradictions(memory, Some(&written.head), &part.blueprints);
    let mut outcome = AddOutcome { contradicts, unseen, ..AddOutcome::default() };
    for record in written.changes.iter().filter_map(Change::record) {
        let records = match record.version {
            Version::FIRST => &mut outcome.added,
            _ => &mut outcome.merged,
        };
        records.push(Arc::clone(record));
    }
    Ok(Plan { changes: written.changes, outcome })
}

#[cfg(test)]
mod tests;
