//! Bringing notes down to their budget: planned on a snapshot where it holds nobody up, committed as one write that
//! leaves alone what changed since.

use std::sync::Arc;

use anchord_memory::{CompactionOutcome, CompactionPlan, Memory, Pool, plan_compaction, render};

use super::context::Context;
use super::tool::ToolError;
use crate::budgets::{self, InForce};
use crate::clock;
use crate::project::{Decide, Decided, unwound};
use crate::sessions::View;
use crate::store::Call;

impl Context {
    /// What it takes to bring a pool down to `percent` of its budget.
    pub(crate) async fn compaction(
        &self,
        view: &View,
        pool: Pool,
        percent: u8,
    ) -> Result<CompactionPlan, ToolError> {
        let target = self.in_force(view, &pool).budget.share(percent);
        let now = clock::now();
        let (memory, ranking) = (Arc::clone(&view.memory), self.ranking(view, now));
        let planning = tokio::task::spawn_blocking(move || {
            plan_compaction(&memory, &pool, target, &ranking.accesses, ranking.factor, now)
        });
        Ok(unwound(planning).await)
    }

    /// Does what a plan says, of that what still is as it was; `reply` words what came of it. Without a call it is
    /// the daemon's own doing and can be done twice.
    pub(crate) async fn compact(
        &self,
        plan: CompactionPlan,
        call: Option<&Call>,
        reply: fn(&Memory, &CompactionOutcome) -> String,
    ) -> Result<String, ToolError> {
        let plan = Arc::new(plan);
        let decide = || -> Decide<Memory> {
            let plan = Arc::clone(&plan);
            Box::new(move |memory, _| {
                let applied = plan.apply(memory);
                let reply = reply(memory, &applied.outcome);
                Ok(Decided { changes: applied.changes, reply })
            })
        };
        let written = self.session.write(&self.daemon, call, "compact", decide).await?;
        Ok(written.reply.to_string())
    }

    /// Compacts what a write has taken above its budget. The write stands, whatever comes of this.
    pub(crate) async fn keep_to_budget(&self) -> Option<String> {
        let view = self.view().await.ok()?;
        for pool in [Pool::Project, Pool::Own(self.reader())] {
            let budget = self.in_force(&view, &pool).budget;
            if !budget.is_exceeded(pool.used(&view.memory)) {
                continue;
            }
            let plan = match self.compaction(&view, pool, budget.to).await {
                Ok(plan) if plan.is_empty() => continue,
                Ok(plan) => plan,
                Err(error) => {
                    tracing::warn!(%error, "planning a compaction failed; the next write tries again");
                    continue;
                }
            };
            match self.compact(plan, None, render::compaction).await {
                Ok(reply) => return Some(reply),
                Err(error) => {
                    tracing::warn!(%error, "compacting failed; the next write tries again");
                }
            }
        }
        None
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
