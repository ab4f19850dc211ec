//! Tools that read: `recall`, `query`, `status`, `list`, `export`.

use std::sync::Arc;

use anchord_memory::render::compactor as form;
use anchord_memory::search::Tuning;
use anchord_memory::{Kind, Recall, Record, RecordId, limits, recall as recall_from};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, Tags};
use crate::blocking::run_blocking;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct RecallParams {
    #[serde(default = "page")]
    limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct QueryParams {
    #[serde(default)]
    query: String,
    /// Comma-separated; with all of them
    #[serde(default)]
    #[schemars(with = "String")]
    tags: Tags,
    #[serde(default = "hits")]
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

fn hits() -> usize {
    limits::HITS
}

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
            "query",
            "Find items by words, \"a phrase\" or -without, and by tags: before you read or run something again.",
            Effect::Reads,
            query,
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

async fn recall(context: Context, params: RecallParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let (memory, caller, now) = (&view.memory, Caller::of(&context), clock::now());
    let reader = caller.reader(memory);
    let ranking = context.ranking(&view, now);
    let mut records = form::ranked(memory, &reader, |record| ranking.parts(record).score());
    records.truncate(params.limit.clamp(1, limits::LIST_RECORDS_MAX));
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let text = form::recall(&caller.usage(memory), &records, now);
    Ok(ToolAnswer::from(text).with_newest(memory, &ids))
}

async fn query(context: Context, params: QueryParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let (memory, caller, now) = (&view.memory, Caller::of(&context), clock::now());
    let reader = caller.reader(memory);
    let ranking = context.ranking(&view, now);
    let limit = params.limit.clamp(1, limits::HITS_MAX);
    let wanted = Recall {
        kinds: &[Kind::Note],
        tags: &params.tags.wanted(),
        prior: &|record| ranking.prior(record),
        ..Recall::new(&reader, &params.query, limit, &Tuning::COMPACTOR)
    };
    let found = recall_from(memory, &wanted);
    let ids: Vec<RecordId> = found.hits.iter().map(|hit| hit.id).collect();
    let records: Vec<&Record> =
        ids.iter().filter_map(|id| memory.record(*id)).map(|record| &**record).collect();
    if let Some(project) = &view.project {
        project.accessed(&ids, now);
    }
    let text = form::query(&caller.usage(memory), &records, now);
    Ok(ToolAnswer::from(text).with_newest(memory, &ids))
}

async fn status(context: Context, _: NoParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    Ok(form::status(&Caller::of(&context).usage(&view.memory)))
}

async fn list(context: Context, params: ListParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let limit = params.limit.clamp(1, limits::LIST_RECORDS_MAX);
    let items = form::items(&view.memory, &reader);
    let page = items.iter().rev().skip(params.offset).take(limit);
    let ids: Vec<RecordId> = page.map(|record| record.id).collect();
    let text = form::list(&items, params.offset, limit, clock::now());
    let answer = ToolAnswer::from(text).with_newest(&view.memory, &ids);
    Ok(answer.truncated(items.len() > params.offset + limit))
}

async fn export(context: Context, params: ExportParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let (memory, now) = (Arc::clone(&view.memory), clock::now());
    let export = move || form::export(&form::items(&memory, &reader), params.summaries_only, now);
    Ok(run_blocking(export).await)
}
