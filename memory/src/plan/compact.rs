//! Applies a compaction plan, or one of its rounds, as one commit. Records that have changed since
//! the plan are left alone. So are all if others have made the room since, such as another machine
//! of a team that compacted as well.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::Plan;
use crate::change::Change;
use crate::compaction::CompactionPlan;
use crate::ids::{RecordId, Version};
use crate::kinds::note::Note;
use crate::limits::TAGS_MAX;
use crate::memory::Memory;
use crate::record::{Body, Record, RecordState};
use crate::staged::count;

/// The outcome of a compaction, for the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionOutcome {
    /// The archived notes, without the folded ones.
    pub archived: Vec<RecordId>,
    /// The number of notes that their summaries now represent.
    pub promoted: u32,
    /// The near duplicates that were folded.
    pub folded: Vec<RecordId>,
    /// The number of notes that were left alone, because they changed after the plan was made.
    pub skipped: u32,
    /// The tokens of the pool before.
    pub tokens_before: u64,
    /// The tokens of the pool after.
    pub tokens_after: u64,
    /// The long active notes without a summary, longest first.
    pub wants_summary: Vec<RecordId>,
}

impl CompactionOutcome {
    /// Returns the records that are no longer active: the archived ones, then the folded ones.
    pub fn set_aside(&self) -> Vec<RecordId> {
        [self.archived.as_slice(), &self.folded].concat()
    }

    /// Whether nothing changed.
    pub fn is_nothing(&self) -> bool {
        self.set_aside().is_empty() && self.promoted + self.skipped == 0
    }

    /// Adds this round's outcome to that of the rounds before it. `before` is empty for the first
    /// round.
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
    /// Returns the changes that carry out this plan. The memory may be newer than the plan.
    pub fn apply(&self, memory: &Memory) -> Plan<CompactionOutcome> {
        let had_room = self.tokens_before <= self.target_tokens;
        if !had_room && !self.is_empty() && self.pool.used(memory) <= self.target_tokens {
            return self.without_steps().apply(memory);
        }
        let mut next = Next { memory, states: BTreeMap::new() };
        let mut outcome = CompactionOutcome::default();
        let planned = self.promote.len() + self.fold.len() + self.archive.len();
        for (id, version) in &self.promote {
            if let Some(state) = next.unchanged(*id, *version) {
                state.condensed = true;
                outcome.promoted += 1;
            }
        }
        for (id, fold) in &self.fold {
            let survivor = next.state(fold.survivor).filter(|state| {
                state.before.version == fold.survivor_version && state.before.state.is_active()
            });
            let (Some(mut survivor), Some(folded)) = (survivor, next.unchanged(*id, fold.version))
            else {
                continue;
            };
            folded.record_state = RecordState::Archived;
            // Pinned records stay unchanged.
            if !survivor.before.pinned {
                let repeats = folded.note.repeats.saturating_add(1);
                let tags = folded.before.tags.iter();
                survivor.repeats = survivor.repeats.saturating_add(repeats);
                survivor.add_tags(tags);
                next.states.insert(fold.survivor, survivor);
            }
            outcome.folded.push(*id);
        }
        for (id, version) in &self.archive {
            if let Some(state) = next.unchanged(*id, *version) {
                state.record_state = RecordState::Archived;
                outcome.archived.push(*id);
            }
        }
        let done = outcome.promoted + count(outcome.folded.len() + outcome.archived.len());
        outcome.skipped = count(planned) - done;
        outcome.tokens_before = self.pool.used(memory);
        outcome.tokens_after = outcome.tokens_before;
        let mut changes = Vec::with_capacity(next.states.len());
        for state in next.states.values() {
            let Some(record) = state.written(memory) else { continue };
            if self.pool.has(state.before) {
                outcome.tokens_after -= active_tokens(state.before);
                outcome.tokens_after += active_tokens(&record);
            }
            changes.push(Change::Put(Arc::new(record)));
        }
        let wants = |id: &&RecordId| {
            let state = next.state(**id).filter(|state| state.record_state.is_active());
            state.is_some_and(|state| state.note.summary.is_empty())
        };
        outcome.wants_summary = self.wants_summary.iter().filter(wants).copied().collect();
        Plan { changes, outcome }
    }
}

/// The notes that a compaction changes. Each is written once, however often it changes.
struct Next<'a> {
    memory: &'a Memory,
    states: BTreeMap<RecordId, State<'a>>,
}

impl<'a> Next<'a> {
    /// Returns the current state of a note.
    fn state(&self, id: RecordId) -> Option<State<'a>> {
        self.states.get(&id).cloned().or_else(|| State::of(self.memory.record(id)?))
    }

    /// Returns a note that is active, not pinned, and still at the planned version.
    fn unchanged(&mut self, id: RecordId, version: Version) -> Option<&mut State<'a>> {
        let state = match self.states.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(State::of(self.memory.record(id)?)?),
        };
        let Record { version: now, state: record_state, pinned, .. } = *state.before;
        (now == version && record_state.is_active() && !pinned).then_some(state)
    }
}

/// A note, and everything that a compaction may change about it.
#[derive(Clone)]
struct State<'a> {
    before: &'a Record,
    note: &'a Note,
    condensed: bool,
    repeats: u32,
    record_state: RecordState,
    /// Tags of folded duplicates that the note itself does not have.
    more_tags: Vec<&'a String>,
}

impl<'a> State<'a> {
    fn of(before: &'a Record) -> Option<Self> {
        let note = before.note()?;
        let (condensed, repeats) = (note.condensed, note.repeats);
        let more_tags = Vec::new();
        Some(Self { before, note, condensed, repeats, record_state: before.state, more_tags })
    }

    /// Adds tags that the note lacks, up to [`TAGS_MAX`].
    fn add_tags(&mut self, tags: impl Iterator<Item = &'a String>) {
        for tag in tags {
            let is_known = self.before.tags.contains(tag) || self.more_tags.contains(&tag);
            if !is_known && self.before.tags.len() + self.more_tags.len() < TAGS_MAX {
                self.more_tags.push(tag);
            }
        }
    }

    /// Returns the new version, or `None` if nothing changed. The version keeps the time of the
    /// last one. Otherwise compaction would make notes look freshly written, and those would stay
    /// in view longer than the ones it left alone.
    fn written(&self, memory: &Memory) -> Option<Record> {
        let Self { before, note, condensed, repeats, record_state, .. } = *self;
        let is_same =
            (condensed, repeats, record_state) == (note.condensed, note.repeats, before.state);
        if is_same && self.more_tags.is_empty() {
            return None;
        }
        let tags = before.tags.iter().chain(self.more_tags.iter().copied());
        Some(Record {
            version: before.version.next(),
            revision: memory.revision_with(before),
            content_version: Some(before.content_version()),
            state: record_state,
            created: before.created.clone(),
            updated: before.updated.clone(),
            tags: tags.cloned().collect(),
            body: Body::Note(Note { repeats, condensed, ..note.clone() }),
            share_id: before.share_id.clone(),
            ..*before
        })
    }
}

/// Returns the tokens that a record takes of its pool's budget.
fn active_tokens(record: &Record) -> u64 {
    let note = record.note().filter(|_| record.state.is_active());
    note.map_or(0, |note| u64::from(note.budget_tokens()))
}
