//! `memory_checkpoint`: stages progress. It is durable once answered, and private until saved.

use anchord_memory::guide::which_staged_kind;
use anchord_memory::{WriteLimits, render};

use super::params::CheckpointParams;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_checkpoint",
        format!(
            "Stage progress: after a decision, a finding, a fixed failure, before a risky step. Durable; \
             private until memory_save.\n{}",
            which_staged_kind()
        ),
        Effect::Adds,
        run,
    )
    .needed_first()
}

async fn run(context: Context, params: CheckpointParams) -> Result<ToolAnswer, ToolError> {
    let part = params.into_part(clock::now());
    let part = part.map_err(|refusal| ToolError::failed("checkpoint", refusal))?;
    context.checkpoint(part, WriteLimits::default(), render::checkpoint).await
}
