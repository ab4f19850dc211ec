//! Bringing notes down to their budget: planned on a snapshot where it holds nobody up, committed as one write that
//! leaves alone what changed since.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anchord_memory::{
    Budget, CompactionOutcome, CompactionPlan, Memory, Plan, Pool, RecordId, Timestamp, limits,
    plan_compaction, render,
};

use super::context::{Context, Ranking};
use super::tool::ToolError;
use crate::budgets::{self, InForce};
use crate::clock;
use crate::project::{Decide, Decided, unwound};
use crate::sessions::View;
use crate::store::Call;

impl Context {
    /// What it takes to bring a pool down to `percent` of its budget, without what `spare` names.
    pub(crate) async fn compaction(
        &self,
        view: &View,
        pool: Pool,
        percent: u8,
        spare: BTreeSet<RecordId>,
    ) -> Result<CompactionPlan, ToolError> {
        let target = self.in_force(view, &pool).budget.share(percent);
        let now = clock::now();
        let (memory, ranking) = (Arc::clone(&view.memory), self.ranking(view, now));
        let planning = tokio::task::spawn_blocking(move || {
            let Ranking { accesses, factor, .. } = ranking;
            plan_compaction(&memory, &pool, target, &accesses, factor, now, &spare)
        });
        Ok(unwound(planning).await)
    }

    /// Does what a plan says, of that what still is as it was; `reply` words what came of it. Without a call it is
    /// the daemon's own doing and can be done twice; so are all rounds of a plan but the last, which makes the reply.
    pub(crate) async fn compact(
        &self,
        plan: CompactionPlan,
        call: Option<&Call>,
        reply: fn(&Memory, &CompactionOutcome, Timestamp) -> String,
    ) -> Result<String, ToolError> {
        let view = self.view().await?;
        let mut rounds = plan.rounds(&view.memory, limits::COMPACTION_COMMIT_BYTES_MAX).into_iter();
        let mut before = CompactionOutcome::default();
        let mut said = String::new();
        while let Some(plan) = rounds.next() {
            let (plan, came) = (Arc::new(plan), Arc::new(Mutex::default()));
            let decide = || -> Decide<Memory> {
                let (plan, came) = (Arc::clone(&plan), Arc::clone(&came));
                let before = before.clone();
                Box::new(move |memory, now| {
                    let Plan { changes, outcome } = plan.apply(memory);
                    let outcome = outcome.after(&before);
                    let reply = reply(memory, &outcome, now);
                    *lock(&came) = outcome;
                    Ok(Decided { changes, reply })
                })
            };
            let call = call.filter(|_| rounds.len() == 0);
            let written = self.session.write(&self.daemon, call, "compact", decide).await?;
            self.wrote(&written);
            before = lock(&came).clone();
            said = written.reply.to_string();
        }
        Ok(said)
    }

    /// Compacts what a write has taken above its budget, and says so. The write stands, whatever comes of this, and what
    /// it wrote stays active.
    pub(crate) async fn keep_to_budget(&self) -> Option<String> {
        let mut said = String::new();
        for pool in [Pool::Project, Pool::Own(self.reader())] {
            let Ok(view) = self.view().await else { break };
            let budget = self.in_force(&view, &pool).budget;
            if !budget.is_exceeded(pool.used(&view.memory)) {
                continue;
            }
            match self.bring_down(&view, pool, &budget).await {
                Ok(reply) => said.push_str(&reply),
                Err(error) => {
                    tracing::warn!(%error, "compacting failed; the next write tries again");
                }
            }
        }
        (!said.is_empty()).then_some(said)
    }

    async fn bring_down(
        &self,
        view: &View,
        pool: Pool,
        budget: &Budget,
    ) -> Result<String, ToolError> {
        let pinned = pool.pinned(&view.memory);
        let plan = self.compaction(view, pool, budget.to, self.written()).await?;
        let mut said = if plan.is_empty() {
            String::new()
        } else {
            self.compact(plan, None, render::compaction).await?
        };
        if pinned > budget.share(budget.to) {
            said.push_str(&render::full_of_pinned(pinned, budget));
        }
        Ok(said)
    }

    /// The budget of a pool.
    pub(crate) fn in_force(&self, view: &View, pool: &Pool) -> InForce {
        let config = &self.daemon.config;
        match pool {
            Pool::Project => budgets::project(&view.memory, config),
            Pool::Own(_) => budgets::session(&view.memory, config, &self.holder()),
        }
    }
}

fn lock(came: &Mutex<CompactionOutcome>) -> MutexGuard<'_, CompactionOutcome> {
    came.lock().unwrap_or_else(PoisonError::into_inner)
}
