//! Tools that change one item or the settings: `update`, `pin`, `unpin`, `forget`, `configure`.

use anchord_memory::render::compactor as form;
use anchord_memory::render::compactor::Usage;
use anchord_memory::render::{ForgetReply, UpdateReply};
use anchord_memory::{
    ItemIds, Memory, Provenance, Settings, Update, limits, plan_configure, plan_forget, plan_update,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, item, percent};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

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
    token_budget: Option<i64>,
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

async fn update(context: Context, params: UpdateParams) -> Result<ToolAnswer, ToolError> {
    let update = Update { summary: Some(params.summary), ..Update::default() };
    changed(context, "update", params.id, update, form::update).await
}

async fn pin(context: Context, params: IdParams) -> Result<ToolAnswer, ToolError> {
    let update = Update { pinned: Some(true), ..Update::default() };
    changed(context, "pin", params.id, update, form::pin).await
}

async fn unpin(context: Context, params: IdParams) -> Result<ToolAnswer, ToolError> {
    let update = Update { pinned: Some(false), ..Update::default() };
    changed(context, "unpin", params.id, update, form::unpin).await
}

async fn changed(
    context: Context,
    operation: &'static str,
    id: String,
    update: Update,
    words: fn(&str) -> String,
) -> Result<ToolAnswer, ToolError> {
    let caller = Caller::of(&context);
    let (keeper, ids) = (caller.clone(), context.view().await?.item_ids());
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let reader = keeper.reader(memory);
        let id = item(memory, &reader, ids, &id)?;
        let plan = plan_update(memory, &reader, id, &update, None, by)?;
        Ok(plan.map(|outcome| UpdateReply::of(&outcome, by.time)))
    };
    let words = |reply: &UpdateReply, _: &Usage, ids: ItemIds| words(&ids.show(reply.id));
    caller.write(&context, operation, plan, words).await
}

async fn forget(context: Context, params: IdParams) -> Result<ToolAnswer, ToolError> {
    let caller = Caller::of(&context);
    let (keeper, ids) = (caller.clone(), context.view().await?.item_ids());
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let reader = keeper.reader(memory);
        let id = item(memory, &reader, ids, &params.id)?;
        let plan = plan_forget(memory, &reader, id, None, by)?;
        Ok(plan.map(|outcome| ForgetReply::of(&outcome, by.time)))
    };
    let words =
        |reply: &ForgetReply, usage: &Usage, ids: ItemIds| form::forget(&ids.show(reply.id), usage);
    caller.write(&context, "forget", plan, words).await
}

async fn configure(context: Context, params: ConfigureParams) -> Result<ToolAnswer, ToolError> {
    // As in the original, a budget of nothing or less changes nothing.
    let budget = params.token_budget.filter(|tokens| *tokens > 0);
    let budget = budget.map(|tokens| {
        let most = limits::BUDGET_TOKENS_MAX;
        u32::try_from(tokens).map_or(most, |tokens| tokens.min(most))
    });
    let threshold = params
        .auto_compact_threshold
        .map(|part| percent("auto_compact_threshold", part, limits::COMPACT_ABOVE_PERCENT_MIN));
    let settings = Settings {
        budget_tokens: budget,
        auto_compact: params.auto_compact,
        compact_above: threshold.transpose()?,
        ..Settings::default()
    };
    let caller = Caller::of(&context);
    let client = context.holder().client;
    let plan =
        move |memory: &Memory, _: &Provenance, _| plan_configure(memory, Some(&client), &settings);
    caller.write(&context, "configure", plan, |_, usage, _| form::configure(usage)).await
}
