//! Forgetting: out of load and search, in history.

use super::Plan;
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::limits::NEAREST_MAX;
use crate::memory::Memory;
use crate::record::{Provenance, Record, Standing};
use crate::refusal::Refusal;
use crate::render::title;

/// What the caller of a forget is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetOutcome {
    /// The record.
    pub id: RecordId,
    /// The record in one line, as it was.
    pub title: String,
    /// It had been forgotten before; nothing changes.
    pub already: bool,
}

/// Forgets a record. One that is forgotten stays so and nothing is written.
///
/// # Errors
/// When there is no such record, or it is not at the expected version.
pub fn plan_forget(
    memory: &Memory,
    id: RecordId,
    expected_version: Option<Version>,
    origin: &Provenance,
) -> Result<Plan<ForgetOutcome>, Refusal> {
    let record = find(memory, id)?;
    if let Some(expected) = expected_version.filter(|version| *version != record.version) {
        return Err(Refusal::Conflict {
            what: id.to_string(),
            expected: expected.0.into(),
            current: record.version.0.into(),
            changed: vec![title(record)],
        });
    }
    let outcome =
        ForgetOutcome { id, title: title(record), already: record.standing == Standing::Forgotten };
    let mut draft = Draft::new(memory);
    draft.stand(id, Standing::Forgotten, origin);
    Ok(Plan { changes: draft.finish().changes, outcome })
}

/// The record with this id, or a refusal that names those near it.
///
/// # Errors
/// When there is no such record.
pub fn find(memory: &Memory, id: RecordId) -> Result<&Record, Refusal> {
    if let Some(record) = memory.record(id) {
        return Ok(record);
    }
    let mut nearest: Vec<RecordId> = memory.active_of(id.kind).map(|record| record.id).collect();
    nearest.sort_by_key(|near| near.number.abs_diff(id.number));
    nearest.truncate(NEAREST_MAX);
    Err(Refusal::NotFound { id, nearest })
}
