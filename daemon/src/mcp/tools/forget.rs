//! `memory_forget`: removes a record from load and search; history keeps it.

use anchord_memory::render::ForgetReply;
use anchord_memory::{Memory, Provenance, Reader, RecordId, Version, plan_forget, render};
use schemars::JsonSchema;
use serde::Deserialize;

use super::personal::change;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    id: String,
    expected_version: Option<u32>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_forget",
        "Take out what is wrong or obsolete, by id or key; history keeps it.",
        Effect::Removes,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let expected = params.expected_version.map(Version);
    let plan = move |memory: &Memory, reader: &Reader, id: RecordId, by: &Provenance| {
        let plan = plan_forget(memory, reader, id, expected, by)?;
        Ok(plan.map(|outcome| ForgetReply::of(&outcome, by.time)))
    };
    change(&context, "forget", &params.id, Context::keeper, plan, render::forget).await
}
