//! `memory_rewrite`: changes a blueprint, lesson or anchor in place. Only commands have it.

use anchord_memory::render::UpdateReply;
use anchord_memory::{
    Memory, Provenance, RecordId, Rewrite, Staged, Version, plan_rewrite, render,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::CategoryParams;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    id: String,
    title: Option<String>,
    #[schemars(with = "Option<String>")]
    category: Option<CategoryParams>,
    content: Option<String>,
    summary: Option<String>,
    detail: Option<String>,
    files: Option<Vec<String>>,
    file: Option<String>,
    lines: Option<String>,
    concept: Option<String>,
    tags: Option<Vec<String>>,
    expected_version: Option<u32>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new("memory_rewrite", "Change what a person corrects.", Effect::Adds, run)
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let id: RecordId = params.id.parse().map_err(|error| ToolError::failed("edit", error))?;
    let view = context.view().await?;
    let named = |file: String| view.place.relative(&file);
    let rewrite = Rewrite {
        title: params.title,
        category: params.category.map(|CategoryParams(category)| category),
        content: params.content,
        summary: params.summary,
        detail: params.detail,
        files: params.files.map(|files| files.into_iter().map(named).collect()),
        file: params.file.map(named),
        lines: params.lines,
        concept: params.concept,
        tags: params.tags,
    };
    let expected = params.expected_version.map(Version);
    let reader = context.keeper();
    let plan = move |memory: &Memory, by: &Provenance, _| {
        let plan = plan_rewrite(memory, &reader, id, &rewrite, expected, by)?;
        Ok(plan.map(|outcome| UpdateReply::of(&outcome, by.time)))
    };
    context.write("edit", Staged::default(), plan, render::update).await
}
