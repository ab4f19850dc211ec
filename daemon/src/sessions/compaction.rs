//! Keeps notes within their budgets. Each compaction is planned on a snapshot, so that it delays
//! nobody. It is committed as writes that leave alone the records that have changed since.
//!
//! [`Session::write`] is the one place that triggers it, so every write that adds active notes is
//! followed by compaction. The daemon's own writes, which belong to no session, trigger it with
//! [`keep_to_budget`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::render::{FullOfPinned, Tight};
use anchord_memory::{
    Accesses, Budget, Change, CompactionOutcome, CompactionPlan, Memory, NearDuplicates, Plan,
    Pool, Reader, Record, RecordId, Scoring, limits, plan_compaction,
};
use anchord_proto::hello::ToolSet;

use super::Session;
use super::error::BindError;
use crate::blocking::run_blocking;
use crate::budgets::{self, InForce};
use crate::clock;
use crate::daemon::Daemon;
use crate::project::{OpenProject, Reply, Transition, WriteCommand, Written};
use crate::store::Call;

/// The compaction that brought a pool down to its budget.
#[derive(Clone, Debug)]
pub(crate) struct Compacted {
    pub(crate) budget: Budget,
    /// The outcome; the default if there was nothing left to set aside.
    pub(crate) outcome: CompactionOutcome,
    /// Set if pinned notes leave too little room, and the writer should know. Either its write
    /// belongs to this budget, or it caused the shortage.
    pub(crate) full: Option<FullOfPinned>,
    pub(super) append: Option<Duration>,
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

/// The result of compacting.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(crate) outcome: Reply<CompactionOutcome>,
    /// The time that the journal took.
    pub(crate) append: Option<Duration>,
}

/// Brings a project's shared notes down to their budget, after a write that belongs to no session.
/// A failure does not undo the write. The records in its write set are set aside last.
pub(crate) async fn keep_to_budget(
    daemon: &Daemon,
    project: &Arc<OpenProject>,
    written: WriteSet,
) -> Vec<Compacted> {
    let session = Session::of_daemon(project);
    session.keep_to_budget(daemon, project, written).await
}

impl Session {
    /// Compacts the pools that a write has taken above their budgets. A failure does not undo the
    /// write. Its records stay active, as far as there is room.
    pub(super) async fn keep_to_budget(
        &self,
        daemon: &Daemon,
        project: &Arc<OpenProject>,
        written: WriteSet,
    ) -> Vec<Compacted> {
        let WriteSet { before, records: written } = written;
        let mut all = Vec::new();
        for shared in [true, false] {
            let memory = project.memory();
            let pool =
                if shared { Pool::Project } else { Pool::Own(self.own_reader(daemon, &memory)) };
            let budget = self.in_force(daemon, &memory, &pool).budget;
            let is_exceeded = || budget.is_exceeded(pool.used(&project.memory()));
            if !is_exceeded() {
                continue;
            }
            // If several sessions exceed the shared budget at once, one of them compacts for all.
            let (mut turn, mut afresh) = (None, NearDuplicates::default());
            if shared {
                turn = project.compaction_turn().await;
                if turn.is_none() || !is_exceeded() {
                    continue;
                }
            }
            let near = turn.as_deref_mut().unwrap_or(&mut afresh);
            let begins = !self.is_full_of_pinned(daemon, &before, &pool);
            match self.bring_down(daemon, project, pool, &written, begins, near).await {
                Ok(compacted) => {
                    let set_aside = compacted.outcome.set_aside();
                    tracing::info!(project = %project.id, session = %self.id, ?set_aside, "compacted");
                    all.push(compacted);
                }
                Err(error) => {
                    tracing::warn!(%error, "compacting failed; the next write tries again");
                }
            }
        }
        all
    }

    async fn bring_down(
        &self,
        daemon: &Daemon,
        project: &Arc<OpenProject>,
        pool: Pool,
        written: &BTreeSet<RecordId>,
        begins: bool,
        near: &mut NearDuplicates,
    ) -> Result<Compacted, BindError> {
        let memory = project.memory();
        let budget = self.in_force(daemon, &memory, &pool).budget;
        let pinned = pool.pinned(&memory);
        let own = written.iter().filter_map(|id| memory.record(*id));
        let own: Vec<Arc<Record>> =
            own.filter(|record| record.state.is_active() && pool.has(record)).cloned().collect();
        let (accesses, target) = (project.accesses(), budget.share(budget.to));
        let spare = written.clone();
        let plan = plan(daemon, memory, accesses, pool, target, spare, near).await;
        let (outcome, append) = if plan.is_empty() {
            (CompactionOutcome::default(), None)
        } else {
            self.compact_all(daemon, plan).await?
        };
        let full = (pinned > target && (begins || !own.is_empty())).then(|| {
            let others = own.iter().filter(|record| !record.pinned).map(|record| record.id);
            let set_aside: BTreeSet<RecordId> = outcome.set_aside().into_iter().collect();
            let (archived, stays) = others.partition(|id| set_aside.contains(id));
            FullOfPinned { pinned, stays, archived }
        });
        Ok(Compacted { budget, outcome, full, append })
    }

    /// Returns whether pinned notes take more of a budget than a compaction comes down to.
    fn is_full_of_pinned(&self, daemon: &Daemon, memory: &Memory, pool: &Pool) -> bool {
        let budget = self.in_force(daemon, memory, pool).budget;
        pool.pinned(memory) > budget.share(budget.to)
    }

    /// Carries out a plan on those records that have not changed since. This is the daemon's own
    /// work, so it may run twice.
    async fn compact_all(
        &self,
        daemon: &Daemon,
        plan: CompactionPlan,
    ) -> Result<(CompactionOutcome, Option<Duration>), BindError> {
        let memory = self.view(daemon).await?.memory;
        let mut done = (CompactionOutcome::default(), None);
        for round in plan.rounds(&memory, limits::COMPACTION_COMMIT_BYTES_MAX) {
            done = self.compact_round(daemon, round, done).await?;
        }
        Ok(done)
    }

    /// Carries out a plan that a call asked for, on those records that have not changed since. All
    /// rounds but the last may run twice; the last reports the outcome of all.
    pub(crate) async fn compact(
        &self,
        daemon: &Daemon,
        plan: CompactionPlan,
        call: Option<&Call>,
    ) -> Result<Compaction, BindError> {
        let memory = self.view(daemon).await?.memory;
        let mut rounds = plan.rounds(&memory, limits::COMPACTION_COMMIT_BYTES_MAX);
        let last = rounds.pop();
        let mut done = (CompactionOutcome::default(), None);
        for round in rounds {
            done = self.compact_round(daemon, round, done).await?;
        }
        let (before, append) = done;
        let Some(last) = last else {
            return Ok(Compaction { outcome: Reply::Outcome(before), append });
        };
        let command: WriteCommand<Memory, Reply<CompactionOutcome>> = Arc::new(move |memory, _| {
            let Plan { changes, outcome } = last.apply(memory);
            Ok(Transition { changes, outcome: Reply::Outcome(outcome.after(&before)) })
        });
        let written = self.write_alone(daemon, call, "compact", command).await?;
        Ok(Compaction { outcome: written.outcome, append: sum(append, written.append) })
    }

    /// Carries out one round of a plan, and adds its outcome to that of the rounds before.
    async fn compact_round(
        &self,
        daemon: &Daemon,
        round: CompactionPlan,
        (before, append): (CompactionOutcome, Option<Duration>),
    ) -> Result<(CompactionOutcome, Option<Duration>), BindError> {
        let command: WriteCommand<Memory, CompactionOutcome> =
            Arc::new(move |memory, _| Ok(round.apply(memory).into()));
        let written = self.write_alone(daemon, None, "compact", command).await?;
        Ok((written.outcome.after(&before), sum(append, written.append)))
    }

    /// Returns whether a note's budget has room for it: even as the only note, it would not be set
    /// aside again.
    pub(crate) fn has_room_for(&self, daemon: &Daemon, memory: &Memory, record: &Record) -> bool {
        let pool = match record.owner() {
            None => Pool::Project,
            Some(_) => Pool::Own(self.own_reader(daemon, memory)),
        };
        let budget = self.in_force(daemon, memory, &pool).budget;
        let tokens = record.note().map_or(0, |note| u64::from(note.tokens));
        record.pinned || !budget.auto_compact || tokens <= budget.share(budget.to)
    }

    /// Returns which of the budgets that bound the session's view are nearly used up.
    pub(crate) fn tight(&self, daemon: &Daemon, memory: &Memory) -> Tight {
        let tight =
            |pool: Pool| self.in_force(daemon, memory, &pool).budget.is_tight(pool.used(memory));
        let own = Pool::Own(self.own_reader(daemon, memory));
        Tight { project: tight(Pool::Project), own: tight(own) }
    }

    /// Returns the budget of a pool.
    pub(crate) fn in_force(&self, daemon: &Daemon, memory: &Memory, pool: &Pool) -> InForce {
        match pool {
            Pool::Project => budgets::project(memory, &daemon.config),
            Pool::Own(_) => budgets::session(memory, &daemon.config, &self.holder()),
        }
    }

    /// Returns the holder of the budget for the session's own notes.
    pub(crate) fn holder(&self) -> budgets::Holder {
        budgets::Holder { client: self.client().to_string(), flag: self.flags.load().budget }
    }

    /// Returns the reader whose own notes count together. With the compactor's tools, a client
    /// continues with the notes of its ended sessions.
    fn own_reader(&self, daemon: &Daemon, memory: &Memory) -> Reader {
        if self.flags.load().tools != ToolSet::Compactor {
            return self.reader(daemon);
        }
        let live = daemon.sessions().live();
        memory.successor(self.id.clone(), &self.client(), &live)
    }
}

/// Plans how to bring a pool down to `target` tokens while leaving out the records in `spare`.
/// `near` is as for [`plan_compaction`]. It is left empty if the caller stops waiting.
pub(crate) async fn plan(
    daemon: &Daemon,
    memory: Arc<Memory>,
    accesses: Accesses,
    pool: Pool,
    target: u64,
    spare: BTreeSet<RecordId>,
    near: &mut NearDuplicates,
) -> CompactionPlan {
    let half_life_factor = budgets::project_settings(&memory, &daemon.config).half_life_factor();
    let now = clock::now();
    let mut known = std::mem::take(near);
    let (plan, known) = run_blocking(move || {
        let scoring = Scoring { accesses: &accesses, half_life_factor, now };
        let plan = plan_compaction(&memory, &pool, target, scoring, &spare, &mut known);
        (plan, known)
    })
    .await;
    *near = known;
    plan
}

/// Adds the journal times of two writes.
pub(super) fn sum(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
