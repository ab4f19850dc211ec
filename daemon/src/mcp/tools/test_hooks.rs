//! Tools that only tests can reach. They need the feature `test-hooks` and are registered if
//! `ANCHORD_TEST_TOOLS` is set.

use std::time::Duration;

use anchord_memory::{Lesson, Staged, WriteLimits};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
struct Delay {
    ms: u64,
}

/// Returns the tools if `ANCHORD_TEST_TOOLS` is set.
pub(super) fn specs() -> Vec<ToolSpec> {
    if std::env::var_os("ANCHORD_TEST_TOOLS").is_none() {
        return Vec::new();
    }
    vec![
        ToolSpec::new("test_panic", "Panics", Effect::Adds, panics),
        ToolSpec::new("test_abort", "Ends the daemon", Effect::Adds, aborts),
        ToolSpec::new("test_delay", "Waits, then stages a lesson", Effect::Adds, delays),
    ]
}

#[expect(clippy::panic, reason = "what the tool is for")]
async fn panics(_context: Context, _params: Nothing) -> Result<String, ToolError> {
    panic!("asked for by a test")
}

async fn aborts(_context: Context, _params: Nothing) -> Result<String, ToolError> {
    std::process::abort()
}

async fn delays(context: Context, params: Delay) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(params.ms)).await;
    let lesson = Lesson {
        summary: format!(
            "waited {} ms in {}",
            params.ms,
            context.call.as_ref().map_or(0, |call| call.number)
        ),
        ..Lesson::default()
    };
    let part = Staged { lessons: vec![lesson], ..Staged::default() };
    Ok(context.checkpoint(part, WriteLimits::default(), |_| "waited".to_owned()).await?.text)
}
