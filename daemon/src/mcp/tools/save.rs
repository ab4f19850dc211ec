//! `memory_save`: fold staged work and what comes with the call into shared memory, as one commit.

use anchord_memory::{Revision, render};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{AnchorParams, BlueprintParams, LessonParams, NoteParams, part};
use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// What this session did and what is open, for whoever comes next
    session_summary: String,
    /// Settled and lasting; kept verbatim
    #[serde(default)]
    blueprints: Vec<BlueprintParams>,
    /// Where code is and why it matters
    #[serde(default)]
    anchors: Vec<AnchorParams>,
    /// Learned from a failure
    #[serde(default)]
    lessons: Vec<LessonParams>,
    #[serde(default)]
    notes: Vec<NoteParams>,
    /// Refuse, and show what changed, when memory is at another revision
    expected_revision: Option<u64>,
}

/// The tool.
pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_save",
        "Fold what is staged, and this, into shared memory. Call when a piece of work is done and \
         before the session ends. May be called again; the session keeps one row.",
        Effect::Adds,
        run,
    )
    .needed_first()
}

async fn run(context: Context, params: Params) -> Result<String, ToolError> {
    let part =
        part(None, params.blueprints, params.anchors, params.lessons, params.notes, clock::now())
            .map_err(|refusal| ToolError::Caller(format!("failed to save: {refusal}")))?;
    let expected_revision = params.expected_revision.map(Revision);
    context.save(params.session_summary, part, expected_revision, render::save).await
}
