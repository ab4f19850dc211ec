//! `memory_save`: folds staged work and the call's own part into shared memory, as one commit.

use anchord_memory::{Revision, render};
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
    /// What was done and what is open
    session_summary: String,
    /// These five as in memory_checkpoint
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    blueprints: Vec<BlueprintParams>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    anchors: Vec<AnchorParams>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    lessons: Vec<LessonParams>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    notes: Vec<NoteParams>,
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    topic: Option<TopicParams>,
    expected_revision: Option<u64>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_save",
        "Fold what is staged, and this, into shared memory: when a piece of work is done, and before you end.",
        Effect::Adds,
        run,
    )
    .needed_first()
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let part = part(
        None,
        params.blueprints,
        params.anchors,
        params.lessons,
        params.notes,
        params.topic,
        clock::now(),
    )
    .map_err(|refusal| ToolError::failed("save", refusal))?;
    let expected_revision = params.expected_revision.map(Revision);
    context.save(params.session_summary, part, expected_revision, render::save).await
}
