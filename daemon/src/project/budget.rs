//! Keeps notes within their budgets. Each compaction is planned on a snapshot, so that it delays
//! nobody. It is committed as writes that leave alone the records that have changed since.
//!
//! Knows no sessions. The caller says which pools its write may have filled.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::render::FullOfPinned;
use anchord_memory::{
    Accesses, Budget, Change, CompactionOutcome, CompactionPlan, Formula, Memory, NearDuplicates,
    Pool, Reader, RecordId, Scoring, SessionId, limits, plan_compaction,
};

use super::{OpenProject, Operation, WriteCommand, WriteError, Written};
use crate::blocking::run_blocking;
use crate::budgets::{self, Holder, InForce};
use crate::clock;
use crate::config::Config;

/// The compaction that brought a pool down to its budget.
#[derive(Clone, Debug)]
pub(crate) struct Compacted {
    pub(crate) budget: Budget,
    /// The outcome; the default if there was nothing left to set aside.
    pub(crate) outcome: CompactionOutcome,
    /// Set if pinned notes leave too little room, and the writer should know. Either its write
    /// belongs to this budget, or it caused the shortage.
    pub(crate) full: Option<FullOfPinned>,
    /// The time that the journal took.
    pub(crate) append: Option<Duration>,
}

/// The records that a write wrote, and the memory that it was decided on.
#[derive(Debug, Default)]
pub(crate) struct WriteSet {
    before: Memory,
    records: BTreeSet<RecordId>,
}

impl WriteSet {
    /// Separates the write set of a write from its outcome and the time that the journal took.
    pub(crate) fn split<O>(written: Written<Memory, O>) -> (Self, O, Option<Duration>) {
        let Written { outcome, before, changes, append } = written;
        let records = changes.iter().filter_map(Change::record).map(|record| record.id).collect();
        (Self { before, records }, outcome, append)
    }
}

/// The private notes that a write may have filled.
#[derive(Debug)]
pub(crate) struct OwnNotes {
    /// The reader whose own notes count together.
    pub(crate) reader: Reader,
    pub(crate) holder: Holder,
}

/// Brings pools of notes down to their budgets after a write.
#[derive(Debug)]
pub(crate) struct BudgetKeeper<'a> {
    config: &'a Config,
    /// The session that the journal names for a compaction.
    session: SessionId,
    own: Option<OwnNotes>,
}

impl<'a> BudgetKeeper<'a> {
    /// Creates the keeper for a session's writes.
    pub(crate) fn of_session(config: &'a Config, session: SessionId, own: OwnNotes) -> Self {
        Self { config, session, own: Some(own) }
    }

    /// Creates the keeper for a write of the daemon, which fills no private notes.
    pub(crate) fn of_daemon(config: &'a Config) -> Self {
        let session = SessionId::new(format!("daemon-{}", uuid::Uuid::now_v7()));
        Self { config, session, own: None }
    }

    /// Compacts the pools that a write has taken above their budgets. A failure does not undo the
    /// write. Its records stay active, as far as there is room.
    pub(crate) async fn keep(&self, project: &OpenProject, written: WriteSet) -> Vec<Compacted> {
        let own = self.own.as_ref().map(|own| Pool::Own(own.reader.clone()));
        let mut all = Vec::new();
        for pool in [Pool::Project].into_iter().chain(own) {
            match self.keep_pool(project, pool, &written).await {
                Ok(None) => {}
                Ok(Some(compacted)) => {
                    let set_aside = compacted.outcome.set_aside();
                    tracing::info!(project = %project.id, session = %self.session, ?set_aside, "compacted");
                    all.push(compacted);
                }
                Err(error) => {
                    tracing::warn!(%error, "compacting failed; the next write tries again");
                }
            }
        }
        all
    }

    /// Compacts one pool. Returns `None` if it is within its budget, or if another session compacts
    /// it.
    async fn keep_pool(
        &self,
        project: &OpenProject,
        pool: Pool,
        written: &WriteSet,
    ) -> Result<Option<Compacted>, WriteError> {
        if !self.is_exceeded(project, &pool) {
            return Ok(None);
        }
        if matches!(pool, Pool::Own(_)) {
            let mut afresh = NearDuplicates::default();
            return self.bring_down(project, pool, written, &mut afresh).await.map(Some);
        }
        // If several sessions exceed the shared budget at once, one of them compacts for all.
        let Some(mut turn) = project.compaction_turn().await else { return Ok(None) };
        if !self.is_exceeded(project, &pool) {
            return Ok(None);
        }
        self.bring_down(project, pool, written, &mut turn).await.map(Some)
    }

    /// Plans and carries out the compaction of a pool. `near` is as for [`plan`].
    async fn bring_down(
        &self,
        project: &OpenProject,
        pool: Pool,
        written: &WriteSet,
        near: &mut NearDuplicates,
    ) -> Result<Compacted, WriteError> {
        let memory = project.memory();
        let budget = self.in_force(&memory, &pool).budget;
        let shortage = self.shortage(&memory, &pool, written);
        let formula = formula(&pool, budget, self.own.as_ref().map(|own| &own.holder));
        let (tokens, spare) = (budget.share(budget.to), written.records.clone());
        let target = PoolTarget { pool, tokens, spare, formula };
        let plan = plan(self.config, memory, project.accesses(), target, near).await;
        let (outcome, append) = self.commit(project, plan).await?;
        let full = shortage.map(|shortage| shortage.after(&outcome));
        Ok(Compacted { budget, outcome, full, append })
    }

    /// Carries out a plan in the session's name. Returns the outcome, and the time that the journal
    /// took.
    async fn commit(
        &self,
        project: &OpenProject,
        plan: CompactionPlan,
    ) -> Result<(CompactionOutcome, Option<Duration>), WriteError> {
        if plan.is_empty() {
            return Ok((CompactionOutcome::default(), None));
        }
        let rounds = plan.rounds(&project.memory(), limits::COMPACTION_COMMIT_BYTES_MAX);
        let operation = Operation::staying("compact");
        let write =
            |command| project.owner.write(Some(self.session.clone()), None, operation, command);
        carry_out(rounds, write).await
    }

    /// Returns the shortage that pinned notes cause in a pool, if the writer should know of it.
    fn shortage(&self, memory: &Memory, pool: &Pool, written: &WriteSet) -> Option<Shortage> {
        let pinned = self.pinned_above_target(memory, pool)?;
        let begins = self.pinned_above_target(&written.before, pool).is_none();
        let records = written.records.iter().filter_map(|id| memory.record(*id));
        let of_pool: Vec<_> =
            records.filter(|record| record.state.is_active() && pool.has(record)).collect();
        if !begins && of_pool.is_empty() {
            return None;
        }
        let unpinned = of_pool.into_iter().filter(|record| !record.pinned);
        Some(Shortage { pinned, unpinned: unpinned.map(|record| record.id).collect() })
    }

    /// Returns the tokens of a pool's pinned notes if they take more than a compaction comes down
    /// to.
    fn pinned_above_target(&self, memory: &Memory, pool: &Pool) -> Option<u64> {
        let budget = self.in_force(memory, pool).budget;
        Some(pool.pinned(memory)).filter(|pinned| *pinned > budget.share(budget.to))
    }

    fn is_exceeded(&self, project: &OpenProject, pool: &Pool) -> bool {
        let memory = project.memory();
        self.in_force(&memory, pool).budget.is_exceeded(pool.used(&memory))
    }

    fn in_force(&self, memory: &Memory, pool: &Pool) -> InForce {
        match (pool, &self.own) {
            (Pool::Own(_), Some(own)) => budgets::session(memory, self.config, &own.holder),
            _ => budgets::project(memory, self.config),
        }
    }
}

/// Pinned notes that leave too little room in a pool.
#[derive(Debug)]
struct Shortage {
    /// The tokens of the pinned notes.
    pinned: u64,
    /// The notes of the write in this pool that are not pinned.
    unpinned: Vec<RecordId>,
}

impl Shortage {
    /// Returns what the writer should know once the pool is compacted.
    fn after(self, outcome: &CompactionOutcome) -> FullOfPinned {
        let set_aside: BTreeSet<RecordId> = outcome.set_aside().into_iter().collect();
        let (archived, stays) = self.unpinned.into_iter().partition(|id| set_aside.contains(id));
        FullOfPinned { pinned: self.pinned, stays, archived }
    }
}

/// Carries out rounds of a compaction on those records that have not changed since the plan.
/// Returns the outcome of all, and the time that the journal took. A round may run twice.
pub(crate) async fn carry_out<E, W>(
    rounds: Vec<CompactionPlan>,
    write: impl Fn(WriteCommand<Memory, CompactionOutcome>) -> W,
) -> Result<(CompactionOutcome, Option<Duration>), E>
where
    W: Future<Output = Result<Written<Memory, CompactionOutcome>, E>>,
{
    let mut done = (CompactionOutcome::default(), None);
    for round in rounds {
        let written = write(Arc::new(move |memory, _| Ok(round.apply(memory).into()))).await?;
        done = (written.outcome.after(&done.0), add_append_times(done.1, written.append));
    }
    Ok(done)
}

/// Returns the formula by which a pool's records are scored.
pub(crate) fn formula(pool: &Pool, budget: Budget, holder: Option<&Holder>) -> Formula {
    match (pool, holder) {
        (Pool::Own(_), Some(holder)) => holder.formula(budget),
        _ => Formula::Own,
    }
}

/// A pool, and what a compaction must bring it down to.
#[derive(Debug)]
pub(crate) struct PoolTarget {
    pub(crate) pool: Pool,
    pub(crate) tokens: u64,
    /// The records to leave out.
    pub(crate) spare: BTreeSet<RecordId>,
    pub(crate) formula: Formula,
}

/// Plans how to bring a pool down to its target. `near` is as for [`plan_compaction`]. It is left
/// empty if the caller stops waiting.
pub(crate) async fn plan(
    config: &Config,
    memory: Arc<Memory>,
    accesses: Accesses,
    target: PoolTarget,
    near: &mut NearDuplicates,
) -> CompactionPlan {
    let half_life_factor = budgets::project_settings(&memory, config).half_life_factor();
    let PoolTarget { pool, tokens, spare, formula } = target;
    let now = clock::now();
    let mut known = std::mem::take(near);
    let (plan, known) = run_blocking(move || {
        let scoring = Scoring { accesses: &accesses, half_life_factor, formula, now };
        let plan = plan_compaction(&memory, &pool, tokens, scoring, &spare, &mut known);
        (plan, known)
    })
    .await;
    *near = known;
    plan
}

/// Adds the journal times of two writes.
pub(crate) fn add_append_times(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
