//! Keeps notes within their budgets. Each compaction is planned on a snapshot, so that it delays
//! nobody. It is committed as writes that leave alone the records that have changed since.
//!
//! [`Session::write`] is the one place that triggers it, so every write that adds active notes is
//! followed by compaction. The daemon's own writes, which belong to no session, trigger it with
//! [`keep_to_budget`].

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anchord_memory::render::{FullOfPinned, Tight};
use anchord_memory::{
    Accesses, Budget, Change, CompactionOutcome, CompactionPlan, Memory, NearDuplicates, Plan,
    Pool, Reader, Record, RecordId, Scoring, Timestamp, limits, plan_compaction,
};
use anchord_proto::hello::ToolSet;

use super::Session;
use super::error::BindError;
use crate::blocking::run_blocking;
use crate::budgets::{self, InForce};
use crate::clock;
use crate::daemon::Daemon;
use crate::project::{OpenProject, Transition, WriteCommand};
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

/// The write set of a write, known once it is decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteSet(Arc<Mutex<Decision>>);

#[derive(Debug, Default)]
struct Decision {
    /// The memory on which the decision was made.
    before: Memory,
    records: BTreeSet<RecordId>,
}

impl WriteSet {
    /// Wraps a decision so that its write set is recorded here.
    pub(crate) fn noted_by(&self, decide: WriteCommand<Memory>) -> WriteCommand<Memory> {
        let touched = self.clone();
        Box::new(move |memory, now| {
            let decided = decide(memory, now)?;
            let records = decided.changes.iter().filter_map(Change::record);
            let records = records.map(|record| record.id).collect();
            *lock(&touched.0) = Decision { before: memory.clone(), records };
            Ok(decided)
        })
    }
}

/// The result of compacting.
#[derive(Debug, Default)]
pub(crate) struct Compaction {
    /// The reply to the caller.
    pub(crate) reply: String,
    pub(crate) outcome: CompactionOutcome,
    /// The time that the journal took.
    pub(crate) append: Option<Duration>,
}

/// Brings a project's shared notes down to their budget, after a write that belongs to no session.
/// A failure does not undo the write. The records in its write set are set aside last.
pub(crate) async fn keep_to_budget(
    daemon: &Daemon,
    project: &Arc<OpenProject>,
    touched: &WriteSet,
) -> Vec<Compacted> {
    let session = Session::of_daemon(project);
    session.keep_to_budget(daemon, project, touched).await
}

impl Session {
    /// Compacts the pools that a write has taken above their budgets. A failure does not undo the
    /// write. Its records stay active, as far as there is room.
    pub(super) async fn keep_to_budget(
        &self,
        daemon: &Daemon,
        project: &Arc<OpenProject>,
        touched: &WriteSet,
    ) -> Vec<Compacted> {
        let Decision { before, records: written } = std::mem::take(&mut *lock(&touched.0));
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
        let Compaction { outcome, append, .. } = if plan.is_empty() {
            Compaction::default()
        } else {
            self.compact(daemon, plan, None, |_, _, _| String::new()).await?
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

    /// Carries out a plan on those records that have not changed since; `reply` words the outcome.
    /// Without a call, this is the daemon's own work and may run twice. The same holds for all
    /// rounds of a plan but the last, which makes the reply.
    pub(crate) async fn compact(
        &self,
        daemon: &Daemon,
        plan: CompactionPlan,
        call: Option<&Call>,
        reply: fn(&Memory, &CompactionOutcome, Timestamp) -> String,
    ) -> Result<Compaction, BindError> {
        let memory = self.view(daemon).await?.memory;
        let mut rounds = plan.rounds(&memory, limits::COMPACTION_COMMIT_BYTES_MAX).into_iter();
        let mut done = Compaction::default();
        while let Some(plan) = rounds.next() {
            let (plan, came) = (Arc::new(plan), Arc::new(Mutex::default()));
            let decide = || -> WriteCommand<Memory> {
                let (plan, came) = (Arc::clone(&plan), Arc::clone(&came));
                let before = done.outcome.clone();
                Box::new(move |memory, now| {
                    let Plan { changes, outcome } = plan.apply(memory);
                    let outcome = outcome.after(&before);
                    let reply = reply(memory, &outcome, now);
                    *lock(&came) = outcome;
                    Ok(Transition { changes, reply })
                })
            };
            let call = call.filter(|_| rounds.len() == 0);
            let written = self.write_alone(daemon, call, "compact", decide).await?;
            done.outcome = lock(&came).clone();
            done.reply = written.reply.to_string();
            done.append = sum(done.append, written.append);
        }
        Ok(done)
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
