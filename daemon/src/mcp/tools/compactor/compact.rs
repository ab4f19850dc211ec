//! `compact`, and what storing does by itself when the budget is nearly used up.

use std::collections::BTreeSet;

use anchord_memory::render::compactor as form;
use anchord_memory::{Pool, RecordId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, percent};
use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};
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
    compact(&context, &caller, context.call.as_ref(), target, BTreeSet::new()).await
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
    compact(context, caller, None, usage.budget.to, context.written()).await?;
    Ok(Some(caller.usage(&context.view().await?.memory).line()))
}

async fn compact(
    context: &Context,
    caller: &Caller,
    call: Option<&Call>,
    target_percent: u8,
    spare: BTreeSet<RecordId>,
) -> Result<String, ToolError> {
    let view = context.view().await?;
    let pool = Pool::Own(caller.reader(&view.memory));
    let plan = context.compaction(&view, pool, target_percent, spare).await?;
    if view.project.is_none() {
        let outcome = plan.apply(&view.memory).outcome;
        return Ok(form::compact(&view.memory, &outcome, clock::now()));
    }
    context.compact(plan, call, form::compact).await
}
