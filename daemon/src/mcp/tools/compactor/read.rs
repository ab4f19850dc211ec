//! What looks: `recall`, `status`, `list`, `export`.

use anchord_memory::render::compactor as form;
use anchord_memory::{Accesses, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Caller;
use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct RecallParams {
    #[serde(default = "page")]
    limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListParams {
    #[serde(default)]
    offset: usize,
    #[serde(default = "page")]
    limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ExportParams {
    #[serde(default)]
    summaries_only: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NoParams {}

fn page() -> usize {
    limits::LIST_RECORDS
}

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec::new(
            "recall",
            "Call first in every session and after your context was compacted: what is stored that is most \
             worth having now, and how much of the budget is used.",
            Effect::Reads,
            recall,
        )
        .needed_first(),
        ToolSpec::new(
            "status",
            "How much of the budget is used, how many items there are, when it compacts by itself.",
            Effect::Reads,
            status,
        ),
        ToolSpec::new("list", "Page through all items, newest first.", Effect::Reads, list),
        ToolSpec::new(
            "export",
            "All items with their whole texts, oldest first. Long: for a handover, not for looking something up.",
            Effect::Reads,
            export,
        ),
    ]
}

async fn recall(context: Context, params: RecallParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    let (memory, caller, now) = (&view.memory, Caller::of(&context), clock::now());
    let reader = caller.reader(memory);
    let factor = limits::PROJECT_HALF_LIFE_FACTOR;
    let mut records = form::ranked(memory, &reader, &Accesses::default(), now, factor);
    records.truncate(params.limit.clamp(1, limits::LIST_RECORDS_MAX));
    Ok(form::recall(&caller.usage(memory), &records, now))
}

async fn status(context: Context, _: NoParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    Ok(form::status(&Caller::of(&context).usage(&view.memory)))
}

async fn list(context: Context, params: ListParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let limit = params.limit.clamp(1, limits::LIST_RECORDS_MAX);
    Ok(form::list(&form::items(&view.memory, &reader), params.offset, limit, clock::now()))
}

async fn export(context: Context, params: ExportParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let items = form::items(&view.memory, &reader);
    Ok(form::export(&items, params.summaries_only, clock::now()))
}
