//! `compact`, and what storing does by itself when the budget is nearly used up.

use std::sync::Arc;

use anchord_memory::render::compactor as form;
use anchord_memory::{CompactionPlan, Memory, Pool, plan_compaction};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, percent};
use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};
use crate::project::{Decide, Decided, unwound};
use crate::store::Call;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// The part of the budget to come down to, 0 to 1
    #[serde(default = "target_usage")]
    target_usage: f64,
}

fn target_usage() -> f64 {
    0.7
}

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![ToolSpec::new(
        "compact",
        "Bring the items down to a part of the budget: summaries stand for long items, near duplicates become one, \
         the least worth keeping are set aside. Names the items that want a summary.",
        Effect::Removes,
        run,
    )]
}

async fn run(context: Context, params: Params) -> Result<String, ToolError> {
    let target = percent("target_usage", params.target_usage, 0)?;
    let caller = Caller::of(&context);
    let call = context.call.clone();
    compact(&context, &caller, Some(&call), target).await
}

/// Compacts when what was stored has gone above what is configured. Gives the line with the budget as it is then.
pub(super) async fn compact_if_exceeded(
    context: &Context,
    caller: &Caller,
) -> Result<Option<String>, ToolError> {
    let usage = caller.usage(&context.view().await?.memory);
    if !usage.budget.is_exceeded(usage.used) {
        return Ok(None);
    }
    compact(context, caller, None, usage.budget.to).await?;
    Ok(Some(caller.usage(&context.view().await?.memory).line()))
}

/// Plans where it holds nobody up, and does what then still is as it was, as one write.
async fn compact(
    context: &Context,
    caller: &Caller,
    call: Option<&Call>,
    target_percent: u8,
) -> Result<String, ToolError> {
    let view = context.view().await?;
    let memory = Arc::clone(&view.memory);
    let ranking = context.ranking(&view, clock::now());
    let pool = Pool::Own(caller.reader(&memory));
    let target = caller.usage(&memory).budget.share(target_percent);
    let planning = tokio::task::spawn_blocking(move || {
        let (accesses, factor) = (&ranking.accesses, ranking.factor);
        plan_compaction(&memory, &pool, target, accesses, factor, ranking.now)
    });
    let plan: Arc<CompactionPlan> = Arc::new(unwound(planning).await);
    if plan.is_empty() {
        return Ok(form::compact(&view.memory, &plan.apply(&view.memory).outcome));
    }
    let decide = || -> Decide<Memory> {
        let plan = Arc::clone(&plan);
        Box::new(move |memory, _| {
            let plan = plan.apply(memory);
            let reply = form::compact(memory, &plan.outcome);
            Ok(Decided { changes: plan.changes, reply })
        })
    };
    let written = context.session.write(&context.daemon, call, "compact", decide).await?;
    Ok(written.reply.to_string())
}
