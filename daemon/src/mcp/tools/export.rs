//! `memory_export`: what the session sees, as a document, in pages.

use std::sync::Arc;

use anchord_memory::{Memory, Reader, Standing, export, limits, render};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};
use crate::project::unwound;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    format: Format,
    cursor: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Markdown,
    Json,
    Zipmem,
    Compactor,
}

/// The tool.
pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_export",
        "The whole memory as a document, in pages; `anchord export` writes it to a file at once.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<String, ToolError> {
    let view = context.view().await?;
    let name = view.place.name(&context.daemon);
    let (memory, reader, now) = (Arc::clone(&view.memory), context.reader(), clock::now());
    let rendering = tokio::task::spawn_blocking(move || {
        let text = match params.format {
            Format::Markdown => export::markdown(&memory, &name, now),
            Format::Zipmem => export::zipmem_state(&memory, &name, now).to_string(),
            Format::Compactor => {
                export::compactor_state(&memory, |record| reader.sees(record)).to_string()
            }
            Format::Json => lines(&memory, &reader)?,
        };
        page(&text, params.cursor.unwrap_or(0))
    });
    let (text, truncated) = unwound(rendering).await?;
    if truncated {
        context.gave([], true);
    }
    Ok(text)
}

/// A page of a document from a character on, and whether there is more.
fn page(text: &str, from: usize) -> Result<(String, bool), ToolError> {
    let total = text.chars().count();
    if from > 0 && from >= total {
        let text = format!("failed to export: the cursor {from} is past the end; leave it out");
        return Err(ToolError::Caller(text));
    }
    let room = limits::ANSWER_CHARS_MAX - 100;
    if total - from <= room {
        return Ok((text.chars().skip(from).collect(), false));
    }
    let mut page: String = text.chars().skip(from).take(room).collect();
    render::end_with_a_line(&mut page);
    let next = from + page.chars().count();
    let text = format!(
        "{page}\ntruncated: character {next} of {total}; go on with {{\"cursor\":{next}}}\n"
    );
    Ok((text, true))
}

fn lines(memory: &Memory, reader: &Reader) -> Result<String, ToolError> {
    let mut text = String::new();
    for record in memory.records() {
        if record.standing != Standing::Forgotten && reader.sees(record) {
            let line = serde_json::to_string(&**record)
                .map_err(|error| ToolError::Internal(error.to_string()))?;
            text.push_str(&line);
            text.push('\n');
        }
    }
    for (key, bound) in memory.bindings() {
        let line = serde_json::json!({"conversation": key, "topic": bound.topic});
        text.push_str(&line.to_string());
        text.push('\n');
    }
    Ok(text)
}
