//! `memory_add`: blueprints, anchors and lessons as a commit of their own. Only commands have it.

use anchord_memory::render::AddReply;
use anchord_memory::{Memory, Provenance, Refusal, Staged, plan_add, render};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{AnchorParams, BlueprintParams, LessonParams, each};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    #[serde(default)]
    blueprints: Vec<BlueprintParams>,
    #[serde(default)]
    anchors: Vec<AnchorParams>,
    #[serde(default)]
    lessons: Vec<LessonParams>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new("memory_add", "Add what a person writes.", Effect::Adds, run)
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let Params { blueprints, anchors, lessons } = params;
    let refused = |refusal: Refusal| ToolError::failed("add", refusal);
    let part = Staged {
        blueprints: each("blueprints", blueprints, BlueprintParams::into_blueprint)
            .map_err(refused)?,
        anchors: anchors.into_iter().map(AnchorParams::into_anchor).collect(),
        lessons: each("lessons", lessons, LessonParams::into_lesson).map_err(refused)?,
        ..Staged::default()
    };
    let plan = |memory: &Memory, by: &Provenance, part: Staged| {
        Ok(plan_add(memory, by, part)?.map(|outcome| AddReply::of(outcome, by.time)))
    };
    context.write("add", part, plan, render::add).await
}
