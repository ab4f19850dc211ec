//! Plans how to bring notes that exceed their budget back to a target. The plan is a value that can
//! be shown. One write applies it, or several if it is very large.
//!
//! Expired notes are archived first. Three phases follow, each only as far as the target requires.
//! What the last note to go made needless is taken back.
//! Notes are shown by their summaries, then near duplicates are folded into one, and then the notes
//! least worth keeping are archived. Each phase takes the lowest scores first. A note shown by its
//! summary is scored by the size of the summary, so it outlasts an equal note that is shown in
//! full.
//!
//! Pinned notes stay in full. Nothing is deleted: search still finds a folded or archived note, and
//! a condensed one gives its full text by id. Each becomes active again when it is used.

mod duplicates;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use duplicates::NearDuplicates;

use crate::ids::{RecordId, Timestamp, Version};
use crate::kinds::note::Note;
use crate::limits::SUMMARY_WANTED_ABOVE_TOKENS;
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::Record;
use crate::retention::{Accesses, Formula, RetentionParts};

/// The notes that share a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pool {
    /// The project's shared notes.
    Project,
    /// A session's private notes, including those that it inherited.
    Own(Reader),
}

impl Pool {
    /// Returns the tokens that the pool's active notes take of its budget.
    pub fn used(&self, memory: &Memory) -> u64 {
        match self {
            Self::Project => memory.totals().note_tokens,
            Self::Own(reader) => memory.own_usage(reader).1,
        }
    }

    /// Returns the tokens of pinned notes, which no compaction frees.
    pub fn pinned(&self, memory: &Memory) -> u64 {
        if let Self::Project = self {
            return memory.totals().pinned_tokens;
        }
        let pinned = self.active(memory).into_iter().filter(|(record, _)| record.pinned);
        pinned.map(|(_, note)| u64::from(note.budget_tokens())).sum()
    }

    /// Whether a note counts against this pool's budget while it is active.
    pub fn has(&self, note: &Record) -> bool {
        match (self, note.owner()) {
            (Self::Project, owner) => owner.is_none(),
            (Self::Own(reader), Some(owner)) => reader.own_sessions().any(|own| own == owner),
            (Self::Own(_), None) => false,
        }
    }

    /// Returns the pool's active notes.
    fn active<'a>(&'a self, memory: &'a Memory) -> Vec<(&'a Record, &'a Note)> {
        let note = |record: &'a Arc<Record>| record.note().map(|note| (&**record, note));
        match self {
            // Walks all notes. If there are too many, most are active, and looking each up takes
            // longer.
            Self::Project => memory
                .records_of(crate::Kind::Note)
                .filter(|record| record.state.is_active() && record.owner().is_none())
                .filter_map(note)
                .collect(),
            Self::Own(reader) => memory
                .own_notes(reader)
                .filter(|record| record.state.is_active())
                .filter_map(note)
                .collect(),
        }
    }
}

/// The target of a near duplicate's fold, with the versions that were planned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The duplicate's version.
    pub version: Version,
    /// The note that it is folded into, which is more worth keeping.
    pub survivor: RecordId,
    /// The survivor's version.
    pub survivor_version: Version,
}

/// A compaction plan: each note with the version that was planned with. A note that has changed
/// since stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionPlan {
    /// The pool to compact.
    pub pool: Pool,
    /// The tokens to come down to.
    pub target_tokens: u64,
    /// Notes to show by their summaries.
    pub promote: BTreeMap<RecordId, Version>,
    /// Near duplicates to fold.
    pub fold: BTreeMap<RecordId, Fold>,
    /// Notes to archive: expired ones, and those least worth keeping.
    pub archive: BTreeMap<RecordId, Version>,
    /// The tokens of the pool now.
    pub tokens_before: u64,
    /// The tokens of the pool once the plan is applied to the memory it was made for.
    pub tokens_after: u64,
    /// The long remaining notes without a summary that could save room, longest first.
    pub wants_summary: Vec<RecordId>,
}

impl CompactionPlan {
    /// Returns the plan without any step.
    pub(crate) fn without_steps(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            target_tokens: self.target_tokens,
            promote: BTreeMap::new(),
            fold: BTreeMap::new(),
            archive: BTreeMap::new(),
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_after,
            wants_summary: self.wants_summary.clone(),
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.promote.is_empty() && self.fold.is_empty() && self.archive.is_empty()
    }
}

/// A note and its fate. It copies the values that are read over and over in the order of scores,
/// because the notes themselves are scattered over the memory.
struct Candidate<'a> {
    record: &'a Record,
    note: &'a Note,
    id: RecordId,
    score: f64,
    /// The tokens that it takes under the plan so far.
    tokens: u64,
    /// Its size and score once it is shown by its summary, if that saves tokens.
    promoted: Option<Promoted>,
    is_expired: bool,
    stays: bool,
    /// Whether it is pinned or was just written.
    spared: bool,
}

/// The size and score of a note that is shown by its summary.
#[derive(Clone, Copy)]
struct Promoted {
    tokens: u64,
    score: f64,
}

impl<'a> Candidate<'a> {
    fn new(
        record: &'a Record,
        note: &'a Note,
        parts: RetentionParts,
        scoring: Scoring<'_>,
    ) -> Self {
        let Scoring { formula, now, .. } = scoring;
        let tokens = u64::from(note.budget_tokens());
        let summary = Some(note.summary_tokens).filter(|_| !note.condensed);
        let promoted = summary
            .map(|summary| Promoted {
                tokens: u64::from(summary),
                score: parts.with_size(summary).score_by(formula),
            })
            .filter(|promoted| (1..tokens).contains(&promoted.tokens));
        Self {
            record,
            note,
            id: record.id,
            score: parts.score_by(formula),
            tokens,
            promoted,
            is_expired: note.is_expired(now),
            stays: true,
            spared: record.pinned,
        }
    }
}

/// The inputs of a retention score that are not part of the record.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'a> {
    /// The number and time of each record's reads.
    pub accesses: &'a Accesses,
    /// The factor on the half-lives of shared records, as in [`RetentionParts::of`].
    pub half_life_factor: u32,
    /// The formula of the score.
    pub formula: Formula,
    /// The time of the plan.
    pub now: Timestamp,
}

/// Plans how to bring a pool's active notes down to `target_tokens`. The plan is empty if they
/// already fit. Notes in `spare` stay unchanged while there is room. `near` caches what the last
/// plan for this pool of this memory compared. An empty cache takes longer and gives the same plan.
pub fn plan_compaction(
    memory: &Memory,
    pool: &Pool,
    target_tokens: u64,
    scoring: Scoring<'_>,
    spare: &BTreeSet<RecordId>,
    near: &mut NearDuplicates,
) -> CompactionPlan {
    let Scoring { accesses, half_life_factor, now, .. } = scoring;
    let mut candidates: Vec<Candidate<'_>> = pool
        .active(memory)
        .into_iter()
        .map(|(record, note)| {
            let parts = RetentionParts::of(record, accesses, now, half_life_factor);
            Candidate::new(record, note, parts, scoring)
        })
        .collect();
    sort_by_score(&mut candidates);

    let tokens_before = candidates.iter().map(|candidate| candidate.tokens).sum();
    let mut plan = CompactionPlan {
        pool: pool.clone(),
        target_tokens,
        promote: BTreeMap::new(),
        fold: BTreeMap::new(),
        archive: BTreeMap::new(),
        tokens_before,
        tokens_after: tokens_before,
        wants_summary: Vec::new(),
    };
    spared(&mut candidates, spare, target_tokens);
    plan.archive(&mut candidates, |candidate| candidate.is_expired);
    plan.promote(&mut candidates);
    plan.fold(&mut candidates, near);
    // A note larger than the whole target would push out everything else and then be archived too.
    plan.archive(&mut candidates, |candidate| candidate.tokens > target_tokens);
    plan.archive(&mut candidates, |_| true);
    plan.give_back(&mut candidates);
    plan.wants_summary = wants_summary(&candidates);
    plan
}

impl CompactionPlan {
    fn is_reached(&self) -> bool {
        self.tokens_after <= self.target_tokens
    }

    fn archive(&mut self, candidates: &mut [Candidate<'_>], is: impl Fn(&Candidate<'_>) -> bool) {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.may_leave()) {
            if self.is_reached() {
                return;
            }
            if is(candidate) {
                self.archive.insert(candidate.id, candidate.record.version);
                self.promote.remove(&candidate.id);
                self.tokens_after -= candidate.leave();
            }
        }
    }

    fn promote(&mut self, candidates: &mut [Candidate<'_>]) {
        let may_leave = candidates.iter_mut().filter(|candidate| candidate.may_leave());
        let mut with_summaries: Vec<(Promoted, &mut Candidate<'_>)> =
            may_leave.filter_map(|candidate| Some((candidate.promoted?, candidate))).collect();
        with_summaries
            .sort_unstable_by(|(a, x), (b, y)| a.score.total_cmp(&b.score).then(x.id.cmp(&y.id)));
        for (promoted, candidate) in with_summaries {
            if self.is_reached() {
                break;
            }
            self.promote.insert(candidate.id, candidate.record.version);
            self.tokens_after -= candidate.tokens - promoted.tokens;
            (candidate.tokens, candidate.score) = (promoted.tokens, promoted.score);
        }
        sort_by_score(candidates);
    }

    /// Takes back what turned out needless once a large note had to go as well: the notes most
    /// worth keeping that still fit.
    fn give_back(&mut self, candidates: &mut [Candidate<'_>]) {
        for candidate in candidates.iter_mut().rev() {
            let room = self.target_tokens.saturating_sub(self.tokens_after);
            let goes = self.archive.contains_key(&candidate.id) && !candidate.is_expired;
            if goes && candidate.tokens <= room {
                self.archive.remove(&candidate.id);
                if candidate.tokens < u64::from(candidate.note.budget_tokens()) {
                    self.promote.insert(candidate.id, candidate.record.version);
                }
                self.tokens_after += candidate.tokens;
                candidate.stays = true;
            }
        }
        for candidate in candidates.iter_mut().rev() {
            let room = self.target_tokens.saturating_sub(self.tokens_after);
            let full = u64::from(candidate.note.budget_tokens());
            let more = full - candidate.tokens;
            if self.promote.contains_key(&candidate.id) && more <= room {
                self.promote.remove(&candidate.id);
                self.tokens_after += more;
                candidate.tokens = full;
            }
        }
    }

    fn fold(&mut self, candidates: &mut [Candidate<'_>], near: &mut NearDuplicates) {
        if self.is_reached() {
            return;
        }
        // A fact is looked up by its key, so it is never folded into another note.
        let best_first: Vec<duplicates::Text<'_>> = candidates
            .iter()
            .rev()
            .filter(|candidate| candidate.stays)
            .map(|candidate| duplicates::Text {
                record: candidate.record,
                content: &candidate.note.content,
                may_fold: candidate.may_leave() && candidate.note.key.is_none(),
                is_fact: candidate.note.key.is_some(),
            })
            .collect();
        let found = near.find(&best_first);
        for candidate in candidates.iter_mut() {
            if self.is_reached() {
                return;
            }
            let Some(survivor) = found.get(&candidate.id) else { continue };
            let fold = Fold {
                version: candidate.record.version,
                survivor: survivor.id,
                survivor_version: survivor.version,
            };
            self.fold.insert(candidate.id, fold);
            self.promote.remove(&candidate.id);
            self.tokens_after -= candidate.leave();
        }
    }
}

/// Sorts the notes least worth keeping first, and older ones first among equals.
fn sort_by_score(candidates: &mut [Candidate<'_>]) {
    candidates.sort_unstable_by(|a, b| a.score.total_cmp(&b.score).then(a.id.cmp(&b.id)));
}

impl Candidate<'_> {
    fn may_leave(&self) -> bool {
        self.stays && !self.spared
    }

    /// Marks the note as leaving, and returns the tokens that this frees.
    fn leave(&mut self) -> u64 {
        self.stays = false;
        self.tokens
    }
}

/// Spares the best of the named notes, as far as there is room. The room is what pinned notes leave
/// of the target, but at least a quarter of it. Of many notes written at once, some must go. The
/// best one is spared even beyond that, unless it alone exceeds the target.
fn spared(candidates: &mut [Candidate<'_>], spare: &BTreeSet<RecordId>, target_tokens: u64) {
    let pinned = candidates.iter().filter(|candidate| candidate.spared);
    let pinned: u64 = pinned.map(|candidate| candidate.tokens).sum();
    let room = target_tokens.saturating_sub(pinned).max(target_tokens / 4);
    let mut taken = 0;
    let named = |candidate: &&mut Candidate<'_>| !candidate.spared && spare.contains(&candidate.id);
    for candidate in candidates.iter_mut().rev().filter(named) {
        let room = if taken == 0 { target_tokens } else { room };
        if taken + candidate.tokens <= room {
            taken += candidate.tokens;
            candidate.spared = true;
        }
    }
}

fn wants_summary(candidates: &[Candidate<'_>]) -> Vec<RecordId> {
    let mut long: Vec<&Candidate<'_>> = candidates
        .iter()
        .filter(|candidate| candidate.stays && candidate.note.summary.is_empty())
        .filter(|candidate| candidate.note.tokens > SUMMARY_WANTED_ABOVE_TOKENS)
        .collect();
    long.sort_by(|a, b| b.tokens.cmp(&a.tokens).then(a.id.cmp(&b.id)));
    long.iter().map(|candidate| candidate.id).collect()
}

#[cfg(test)]
mod tests;
