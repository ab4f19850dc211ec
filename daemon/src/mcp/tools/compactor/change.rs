//! What changes one item, or what is kept: `update`, `pin`, `unpin`, `forget`, `configure`.

use anchord_memory::render::compactor as form;
use anchord_memory::{
    Memory, Provenance, Settings, Staged, Update, limits, plan_configure, plan_forget, plan_update,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, item};
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateParams {
    id: String,
    summary: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct IdParams {
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ConfigureParams {
    /// Tokens
    token_budget: Option<u32>,
    /// Whether storing compacts when the budget is nearly used up
    auto_compact: Option<bool>,
    /// The part of the budget above which it does, 0.1 to 1
    auto_compact_threshold: Option<f64>,
}

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec::new(
            "update",
            "Give an item a summary, which is shown in its place when the budget is tight.",
            Effect::Adds,
            update,
        ),
        ToolSpec::new("pin", "Keep an item whatever the budget says.", Effect::Adds, pin),
        ToolSpec::new("unpin", "Let the budget decide about an item again.", Effect::Adds, unpin),
        ToolSpec::new(
            "forget",
            "Remove an item that is wrong or no longer holds. History keeps it.",
            Effect::Removes,
            forget,
        ),
        ToolSpec::new(
            "configure",
            "Set the token budget, and whether and when it compacts by itself. It lasts.",
            Effect::Adds,
            configure,
        ),
    ]
}

async fn update(context: Context, params: UpdateParams) -> Result<String, ToolError> {
    let update = Update { summary: Some(params.summary), ..Update::default() };
    changed(context, "update", params.id, update, form::update).await
}

async fn pin(context: Context, params: IdParams) -> Result<String, ToolError> {
    let update = Update { pinned: Some(true), ..Update::default() };
    changed(context, "pin", params.id, update, |id| form::pin(id, true)).await
}

async fn unpin(context: Context, params: IdParams) -> Result<String, ToolError> {
    let update = Update { pinned: Some(false), ..Update::default() };
    changed(context, "unpin", params.id, update, |id| form::pin(id, false)).await
}

async fn changed(
    context: Context,
    operation: &'static str,
    id: String,
    update: Update,
    reply: fn(&str) -> String,
) -> Result<String, ToolError> {
    let caller = Caller::of(&context);
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let reader = caller.reader(memory);
        let id = item(memory, &reader, &id)?;
        let plan = plan_update(memory, &reader, id, &update, None, by)?;
        Ok((plan.changes, reply(&form::id(id))))
    };
    context.write(operation, Staged::default(), plan).await
}

async fn forget(context: Context, params: IdParams) -> Result<String, ToolError> {
    let caller = Caller::of(&context);
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let reader = caller.reader(memory);
        let id = item(memory, &reader, &params.id)?;
        let plan = plan_forget(memory, &reader, id, None, by)?;
        let usage = caller.usage_after(memory, &plan.changes);
        Ok((plan.changes, form::forget(&form::id(id), &usage)))
    };
    context.write("forget", Staged::default(), plan).await
}

async fn configure(context: Context, params: ConfigureParams) -> Result<String, ToolError> {
    let tokens = limits::BUDGET_TOKENS_MIN..=limits::BUDGET_TOKENS_MAX;
    if let Some(wrong) = params.token_budget.filter(|budget| !tokens.contains(budget)) {
        let (min, max) = (tokens.start(), tokens.end());
        let text = format!("token_budget is {wrong}; give a number from {min} to {max}");
        return Err(ToolError::Caller(text));
    }
    let told = Settings {
        budget_tokens: params.token_budget,
        auto_compact: params.auto_compact,
        compact_above: params.auto_compact_threshold.map(percent).transpose()?,
        ..Settings::default()
    };
    let caller = Caller::of(&context);
    let plan = move |memory: &Memory, _: &Provenance, _| {
        let plan = plan_configure(memory, Some(&caller.holder.client), &told)?;
        let usage = caller.usage_after(memory, &plan.changes);
        Ok((plan.changes, form::configure(&usage)))
    };
    context.write("configure", Staged::default(), plan).await
}

/// A threshold in percent; what is above one is taken as percent already.
fn percent(threshold: f64) -> Result<u8, ToolError> {
    let percent = if threshold > 1.0 { threshold } else { threshold * 100.0 }.round();
    if (10.0..=100.0).contains(&percent) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "10 to 100")]
        return Ok(percent as u8);
    }
    let text = format!("auto_compact_threshold is {threshold}; give a number from 0.1 to 1");
    Err(ToolError::Caller(text))
}
