//! The tool `compact`.

use anchord_memory::Pool;
use anchord_memory::render::compactor as form;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, percent};
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

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

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let target = percent("target_usage", params.target_usage, 0)?;
    let caller = Caller::of(&context);
    let view = context.view().await?;
    let pool = Pool::Own(caller.reader(&view.memory));
    let plan = context.compaction(&view, pool, target).await;
    if view.project.is_none() {
        let outcome = plan.apply(&view.memory).outcome;
        return Ok(form::compact(&view.memory, &outcome, clock::now()).into());
    }
    context.compact(plan, form::compact).await
}
