//! `memory_checkpoint`: stages progress. It is durable once answered, and private until saved.

use anchord_memory::guide::which_kind;
use anchord_memory::render;
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{AnchorParams, BlueprintParams, LessonParams, NoteParams, TopicParams, part};
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    summary: Option<String>,
    #[serde(default)]
    blueprints: Vec<BlueprintParams>,
    #[serde(default)]
    anchors: Vec<AnchorParams>,
    #[serde(default)]
    lessons: Vec<LessonParams>,
    /// As for noting
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    notes: Vec<NoteParams>,
    /// name, status, decisions: [{question, decision}], files
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    topic: Option<TopicParams>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_checkpoint",
        format!(
            "Stage progress: after a decision, a finding, a fixed failure, before a risky step. Durable; \
             private until memory_save.\n{}",
            which_kind()
        ),
        Effect::Adds,
        run,
    )
    .needed_first()
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let part = part(
        params.summary,
        params.blueprints,
        params.anchors,
        params.lessons,
        params.notes,
        params.topic,
        clock::now(),
    )
    .map_err(|refusal| ToolError::failed("checkpoint", refusal))?;
    context.checkpoint(part, render::checkpoint).await
}
