//! Forgets a record: it leaves load and search, and stays in history.

use std::sync::Arc;

use super::{Plan, at_version, find};
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::refusal::Refusal;

/// The outcome of a forget.
#[derive(Clone, Debug, PartialEq)]
pub struct ForgetOutcome {
    /// The record as it was before.
    pub record: Arc<Record>,
    /// Whether it was already forgotten, so that nothing changes.
    pub already: bool,
}

/// Forgets a record. If it is already forgotten, nothing is written.
///
/// # Errors
/// Fails if there is no such record, or it is not at the expected version.
pub fn plan_forget(
    memory: &Memory,
    reader: &Reader,
    id: RecordId,
    expected_version: Option<Version>,
    origin: &Provenance,
) -> Result<Plan<ForgetOutcome>, Refusal> {
    let record = find(memory, reader, id)?;
    at_version(record, expected_version, origin)?;
    let already = record.state == RecordState::Forgotten;
    let outcome = ForgetOutcome { record: Arc::clone(record), already };
    let mut draft = Draft::new(memory);
    draft.set_state(id, RecordState::Forgotten, origin);
    Ok(Plan { changes: draft.finish().changes, outcome })
}
