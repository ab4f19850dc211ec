//! Bringing notes down to their budget: planned on a snapshot where it holds nobody up, committed as one write that
//! leaves alone what changed since.

use std::collections::BTreeSet;
use std::sync::Arc;

use anchord_memory::{
    Budget, CompactionOutcome, CompactionPlan, Memory, Pool, RecordId, Timestamp, plan_compaction,
    render,
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
    /// the daemon's own doing and can be done twice.
    pub(crate) async fn compact(
        &self,
        plan: CompactionPlan,
        call: Option<&Call>,
        reply: fn(&Memory, &CompactionOutcome, Timestamp) -> String,
    ) -> Result<String, ToolError> {
        let plan = Arc::new(plan);
        let decide = || -> Decide<Memory> {
            let plan = Arc::clone(&plan);
            Box::new(move |memory, now| {
                let applied = plan.apply(memory);
                let reply = reply(memory, &applied.outcome, now);
                Ok(Decided { changes: applied.changes, reply })
            })
        };
        let written = self.session.write(&self.daemon, call, "compact", decide).await?;
        self.wrote(&written);
        Ok(written.reply.to_string())
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
