//! Compacting: what a plan says, or one of its rounds, of that what still is as it was, as one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Plan;
use crate::change::Change;
use crate::compaction::CompactionPlan;
use crate::ids::{RecordId, Version};
use crate::memory::Memory;
use crate::note::Note;
use crate::record::{Body, Record, Standing};
use crate::staged::count;

/// What the caller of a compaction is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionOutcome {
    /// Notes archived, without the folded ones.
    pub archived: Vec<RecordId>,
    /// Notes for which their summaries stand now.
    pub promoted: u32,
    /// Near duplicates folded.
    pub folded: Vec<RecordId>,
    /// Notes that were left alone, since they changed after the plan was made.
    pub skipped: u32,
    /// Tokens of the pool before.
    pub tokens_before: u64,
    /// Tokens of the pool after.
    pub tokens_after: u64,
    /// Long active notes without a summary, the longest first.
    pub wants_summary: Vec<RecordId>,
}

impl CompactionOutcome {
    /// What is no longer active: archived, then folded.
    pub fn set_aside(&self) -> Vec<RecordId> {
        [self.archived.as_slice(), &self.folded].concat()
    }

    /// Whether all was and stays as it is.
    pub fn is_nothing(&self) -> bool {
        self.set_aside().is_empty() && self.promoted + self.skipped == 0
    }

    /// What came of all rounds of a plan: of this one after those before, of which the first comes after none.
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        Self {
            archived: [before.archived.as_slice(), &self.archived].concat(),
            promoted: self.promoted + before.promoted,
            folded: [before.folded.as_slice(), &self.folded].concat(),
            skipped: self.skipped + before.skipped,
            tokens_before: self.tokens_before.max(before.tokens_before),
            ..self
        }
    }
}

impl CompactionPlan {
    /// The changes that do this to a memory which may be newer than the one the plan was made for.
    pub fn apply(&self, memory: &Memory) -> Plan<CompactionOutcome> {
        let mut next = Next { memory, states: BTreeMap::new() };
        let mut outcome = CompactionOutcome::default();
        let planned = self.promote.len() + self.fold.len() + self.archive.len();
        for (id, version) in &self.promote {
            if let Some(note) = unchanged(memory, *id, *version) {
                next.states.insert(*id, State { condensed: true, ..State::active(note) });
                outcome.promoted += 1;
            }
        }
        for (id, fold) in &self.fold {
            let survivor = memory
                .record(fold.survivor)
                .filter(|record| record.version == fold.survivor_version)
                .filter(|record| record.standing.is_active());
            let (Some(note), Some(survivor)) = (unchanged(memory, *id, fold.version), survivor)
            else {
                continue;
            };
            // What is pinned stays as it is.
            if !survivor.pinned
                && let Some(state) = next.of(fold.survivor)
            {
                let repeats = state.repeats.saturating_add(note.repeats).saturating_add(1);
                let survivor = State { repeats, standing: Standing::Active, ..state };
                next.states.insert(fold.survivor, survivor);
            }
            let folded = State { standing: Standing::Archived, ..State::active(note) };
            next.states.insert(*id, folded);
            outcome.folded.push(*id);
        }
        for (id, version) in &self.archive {
            if unchanged(memory, *id, *version).is_none() {
                continue;
            }
            if let Some(state) = next.of(*id) {
                next.states.insert(*id, State { standing: Standing::Archived, ..state });
                outcome.archived.push(*id);
            }
        }
        let done = outcome.promoted + count(outcome.folded.len() + outcome.archived.len());
        outcome.skipped = count(planned) - done;
        outcome.tokens_before = self.pool.used(memory);
        outcome.tokens_after = outcome.tokens_before;
        let mut changes = Vec::with_capacity(next.states.len());
        for (id, state) in &next.states {
            let Some(before) = memory.record(*id) else { continue };
            let Some(record) = state.written(memory, before) else { continue };
            if self.pool.has(before) {
                outcome.tokens_after -= active_tokens(before);
                outcome.tokens_after += active_tokens(&record);
            }
            changes.push(Change::Put(Arc::new(record)));
        }
        let wants = |id: &&RecordId| {
            next.of(**id).is_some_and(|state| state.standing.is_active())
                && memory
                    .record(**id)
                    .and_then(|record| record.note())
                    .is_some_and(|note| note.summary.is_empty())
        };
        outcome.wants_summary = self.wants_summary.iter().filter(wants).copied().collect();
        Plan { changes, outcome }
    }
}

/// What a compaction makes of notes. Each is written once, however often it is touched.
struct Next<'a> {
    memory: &'a Memory,
    states: BTreeMap<RecordId, State>,
}

impl Next<'_> {
    /// A note as it is by now.
    fn of(&self, id: RecordId) -> Option<State> {
        self.states.get(&id).copied().or_else(|| {
            let record = self.memory.record(id)?;
            Some(State { standing: record.standing, ..State::active(record.note()?) })
        })
    }
}

/// All of a note that a compaction may change.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    condensed: bool,
    repeats: u32,
    standing: Standing,
}

impl State {
    fn active(note: &Note) -> Self {
        Self { condensed: note.condensed, repeats: note.repeats, standing: Standing::Active }
    }

    /// The version that has this; none where it is so already. It keeps the time of the last: compaction must not make a
    /// note look freshly written, which would keep what it touched in view longer than what it left alone.
    fn written(self, memory: &Memory, before: &Record) -> Option<Record> {
        let note = before.note()?;
        let Self { condensed, repeats, standing } = self;
        if self == (Self { standing: before.standing, ..Self::active(note) }) {
            return None;
        }
        Some(Record {
            version: before.version.next(),
            revision: memory.revision_with(before),
            standing,
            created: before.created.clone(),
            updated: before.updated.clone(),
            tags: before.tags.clone(),
            body: Body::Note(Note { repeats, condensed, ..note.clone() }),
            ..*before
        })
    }
}

/// Tokens that a record takes of its pool's budget.
fn active_tokens(record: &Record) -> u64 {
    let note = record.note().filter(|_| record.standing.is_active());
    note.map_or(0, |note| u64::from(note.budget_tokens()))
}

/// The note, when it is active and not pinned at the version that was planned with.
fn unchanged(memory: &Memory, id: RecordId, version: Version) -> Option<&Note> {
    let record = memory.record(id)?;
    (record.version == version && record.standing.is_active() && !record.pinned)
        .then(|| record.note())?
}
