//! The tool `compact`.

use anchord_memory::render::compactor::{self as form, Shown};
use anchord_memory::{Pool, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Caller;
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
    let target = target(params.target_usage);
    let caller = Caller::of(&context);
    let view = context.view().await?;
    let pool = Pool::Own(caller.reader(&view.memory));
    let plan = context.compaction(&view, pool, target).await;
    if view.project.is_none() {
        let outcome = plan.apply(&view.memory).outcome;
        let shown = Shown { ids: view.item_ids(), now: clock::now() };
        return Ok(form::compact(&view.memory, &outcome, shown).into());
    }
    let ids = view.item_ids();
    let words =
        move |memory: &_, outcome: &_, now| form::compact(memory, outcome, Shown { ids, now });
    context.compact(plan, words).await
}

/// Returns the percent to come down to. As in the original, a part out of bounds is the default. A
/// whole number that is too large for a part is taken as percent already.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn target(part: f64) -> u8 {
    let percent_min = f64::from(limits::COMPACT_ABOVE_PERCENT_MIN);
    if part.fract() == 0.0 && (percent_min..=100.0).contains(&part) {
        return part as u8;
    }
    let part = if (0.0..=1.0).contains(&part) { part } else { target_usage() };
    (part * 100.0).round() as u8
}
