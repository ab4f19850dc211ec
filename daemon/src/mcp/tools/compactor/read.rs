//! Tools that read: `recall`, `query`, `status`, `list`, `export`.

use std::sync::Arc;

use anchord_memory::render::compactor::{self as form, Shown};
use anchord_memory::search::Tuning;
use anchord_memory::{Kind, Recall, Record, RecordId, limits, recall as recall_from};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Caller, Tags, count};
use crate::blocking::run_blocking;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct RecallParams {
    #[serde(default = "page")]
    limit: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct QueryParams {
    #[serde(default)]
    query: String,
    /// Comma-separated; with one of them
    #[serde(default)]
    #[schemars(with = "String")]
    tags: Tags,
    #[serde(default = "hits")]
    limit: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListParams {
    #[serde(default)]
    offset: i64,
    #[serde(default = "page")]
    limit: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ExportParams {
    #[serde(default)]
    summaries_only: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NoParams {}

fn hits() -> i64 {
    10
}

fn page() -> i64 {
    20
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
    let (ranking, formula) = (context.ranking(&view, now), caller.formula(memory));
    let mut records = form::ranked(memory, &reader, |record| ranking.score_by(record, formula));
    // As in the original, none are shown if none or fewer are wanted.
    records.truncate(usize::try_from(params.limit).unwrap_or(0).min(limits::LIST_RECORDS_MAX));
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let text = form::recall(&caller.usage(memory), &records, Shown { ids: view.item_ids(), now });
    Ok(ToolAnswer::from(text).with_newest(memory, &ids))
}

async fn query(context: Context, params: QueryParams) -> Result<ToolAnswer, ToolError> {
    let view = context.searchable_view().await?;
    let (memory, caller, now) = (&view.memory, Caller::of(&context), clock::now());
    let reader = caller.reader(memory);
    let (ranking, formula) = (context.ranking(&view, now), caller.formula(memory));
    let limit = count(params.limit, limits::HITS, limits::HITS_MAX);
    let wanted = Recall {
        kinds: &[Kind::Note],
        tags: &params.tags.wanted(),
        any_tag: true,
        prior: &|record| ranking.prior_by(record, formula),
        ..Recall::new(&reader, &params.query, limit, &Tuning::COMPACTOR)
    };
    let found = recall_from(memory, &wanted);
    let ids: Vec<RecordId> = found.hits.iter().map(|hit| hit.id).collect();
    let records: Vec<&Record> =
        ids.iter().filter_map(|id| memory.record(*id)).map(|record| &**record).collect();
    if let Some(project) = &view.project {
        project.accessed(&ids, now);
    }
    let text = form::query(&caller.usage(memory), &records, Shown { ids: view.item_ids(), now });
    Ok(ToolAnswer::from(text).with_newest(memory, &ids))
}

async fn status(context: Context, _: NoParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    Ok(form::status(&Caller::of(&context).usage(&view.memory)))
}

async fn list(context: Context, params: ListParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let limit = count(params.limit, limits::LIST_RECORDS, limits::LIST_RECORDS_MAX);
    let offset = usize::try_from(params.offset).unwrap_or(0);
    let items = form::items(&view.memory, &reader);
    let page = items.iter().rev().skip(offset).take(limit);
    let ids: Vec<RecordId> = page.map(|record| record.id).collect();
    let text = form::list(&items, offset, limit, Shown { ids: view.item_ids(), now: clock::now() });
    let answer = ToolAnswer::from(text).with_newest(&view.memory, &ids);
    Ok(answer.truncated(items.len() > offset.saturating_add(limit)))
}

async fn export(context: Context, params: ExportParams) -> Result<String, ToolError> {
    let view = context.view().await?;
    let reader = Caller::of(&context).reader(&view.memory);
    let (memory, shown) =
        (Arc::clone(&view.memory), Shown { ids: view.item_ids(), now: clock::now() });
    let export = move || form::export(&form::items(&memory, &reader), params.summaries_only, shown);
    Ok(run_blocking(export).await)
}
