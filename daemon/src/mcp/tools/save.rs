//! `memory_save`: folds staged work and the call's own part into shared memory, as one commit.

use anchord_memory::{Revision, render};

use super::params::SaveParams;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_save",
        "Fold what is staged, and this, into shared memory: when a piece of work is done, and before you end.",
        Effect::Adds,
        run,
    )
    .needed_first()
}

async fn run(context: Context, mut params: SaveParams) -> Result<ToolAnswer, ToolError> {
    let part = params.items().into_part(clock::now());
    let part = part.map_err(|refusal| ToolError::failed("save", refusal))?;
    let expected_revision = params.expected_revision.map(Revision);
    context.save(params.session_summary, part, expected_revision, render::save).await
}
