//! Compacting: what a plan says, of that what still is as it was, as one commit.

use super::Plan;
use crate::compaction::CompactionPlan;
use crate::draft::Draft;
use crate::ids::{RecordId, Version};
use crate::memory::Memory;
use crate::note::Note;
use crate::record::Standing;
use crate::staged::count;

/// What the caller of a compaction is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionOutcome {
    /// Notes archived, without the folded ones.
    pub archived: u32,
    /// Notes for which their summaries stand now.
    pub promoted: u32,
    /// Near duplicates folded.
    pub folded: u32,
    /// Notes that were left alone, since they changed after the plan was made.
    pub skipped: u32,
    /// Tokens of the pool before.
    pub tokens_before: u64,
    /// Tokens of the pool after.
    pub tokens_after: u64,
    /// Long active notes without a summary, the longest first.
    pub wants_summary: Vec<RecordId>,
}

impl CompactionPlan {
    /// The changes that do this to a memory which may be newer than the one the plan was made for.
    pub fn apply(&self, memory: &Memory) -> Plan<CompactionOutcome> {
        let mut draft = Draft::new(memory);
        let mut outcome = CompactionOutcome::default();
        let mut planned = 0;
        for (id, version) in &self.promote {
            planned += 1;
            if let Some(note) = unchanged(memory, *id, *version) {
                draft.settle(*id, Note { condensed: true, ..note.clone() }, Standing::Active);
                outcome.promoted += 1;
            }
        }
        for (id, fold) in &self.fold {
            planned += 1;
            let survivor = memory
                .record(fold.survivor)
                .filter(|record| record.version == fold.survivor_version)
                .filter(|record| record.standing.is_active());
            let (Some(note), Some(survivor)) = (unchanged(memory, *id, fold.version), survivor)
            else {
                continue;
            };
            // It may have been written by this very draft. What is pinned stays as it is.
            let survivor = draft.head().record(survivor.id).filter(|record| !record.pinned);
            if let Some(survivor) = survivor.and_then(|record| record.note()) {
                let repeats = survivor.repeats.saturating_add(note.repeats).saturating_add(1);
                let survivor = Note { repeats, ..survivor.clone() };
                draft.settle(fold.survivor, survivor, Standing::Active);
            }
            draft.settle(*id, note.clone(), Standing::Archived);
            outcome.folded += 1;
        }
        for (id, version) in &self.archive {
            planned += 1;
            if unchanged(memory, *id, *version).is_none() {
                continue;
            }
            if let Some(note) = draft.head().record(*id).and_then(|record| record.note()).cloned() {
                draft.settle(*id, note, Standing::Archived);
                outcome.archived += 1;
            }
        }
        outcome.skipped = count(planned) - outcome.promoted - outcome.folded - outcome.archived;
        let written = draft.finish();
        outcome.tokens_before = self.pool.used(memory);
        outcome.tokens_after = self.pool.used(&written.head);
        let wants = |id: &&RecordId| {
            written.head.record(**id).is_some_and(|record| {
                record.standing.is_active()
                    && record.note().is_some_and(|note| note.summary.is_empty())
            })
        };
        outcome.wants_summary = self.wants_summary.iter().filter(wants).copied().collect();
        Plan { changes: written.changes, outcome }
    }
}

/// The note, when it is active and not pinned at the version that was planned with.
fn unchanged(memory: &Memory, id: RecordId, version: Version) -> Option<&Note> {
    let record = memory.record(id)?;
    (record.version == version && record.standing.is_active() && !record.pinned)
        .then(|| record.note())?
}
