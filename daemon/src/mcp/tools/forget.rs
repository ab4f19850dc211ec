//! `memory_forget`: out of load and search, kept in history.

use anchord_memory::{RecordId, Staged, Version, plan_forget, render};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    id: String,
    expected_version: Option<u32>,
}

/// The tool.
pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_forget",
        "Take out what is wrong or obsolete; history keeps it.",
        Effect::Removes,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<String, ToolError> {
    let id: RecordId = params
        .id
        .parse()
        .map_err(|error| ToolError::Caller(format!("failed to forget: {error}")))?;
    let expected = params.expected_version.map(Version);
    let reader = context.keeper();
    context
        .write("forget", Staged::default(), move |memory, by, _| {
            let plan = plan_forget(memory, &reader, id, expected, by)?;
            let reply = render::forget(&plan.outcome);
            Ok((plan.changes, reply))
        })
        .await
}
