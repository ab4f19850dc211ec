//! `memory_diff`: the difference between two revisions. Only commands have it.

use anchord_memory::{HistoryView, Revision};
use schemars::JsonSchema;
use serde::Deserialize;

use super::history::{answer, read_journal};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    from: u64,
    to: Option<u64>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new("memory_diff", "Compare two revisions.", Effect::Reads, run)
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let newest = view.memory.revision();
    let (from, to) = (Revision(params.from), params.to.map_or(newest, Revision));
    if let Some(missing) = [from, to].into_iter().find(|revision| *revision > newest) {
        return Err(ToolError::no_revision("compare", missing, newest));
    }
    let (from, to) = (from.min(to), from.max(to));
    let reader = context.keeper();
    let read =
        read_journal(&view, move |history| Ok(history.difference(from, to, &reader)?)).await?;
    let none = || ToolError::failed("compare", "nothing is recorded yet");
    Ok(answer(&context, HistoryView::Diff(read.ok_or_else(none)?)))
}
