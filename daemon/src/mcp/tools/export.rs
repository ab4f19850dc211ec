//! `memory_export`: the records that the session sees, as a document in pages.

use std::sync::Arc;

use anchord_memory::render::{self, PageCursor};
use anchord_memory::{Memory, Reader, RecordState, Revision, export, limits, tokens};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{ScopeParams, tokens_max};
use crate::blocking::run_blocking;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    #[serde(default)]
    format: Format,
    /// user: the user's own notes alone, which no project's export has
    scope: Option<ScopeParams>,
    max_tokens: Option<u32>,
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Markdown,
    Json,
    Zipmem,
    Compactor,
    InfiniteContext,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_export",
        "The whole memory as a document, in pages; `anchord export` writes it to a file at once.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let tokens_max =
        tokens_max(params.max_tokens).map_err(|refusal| ToolError::failed("export", refusal))?;
    let context = match params.scope {
        Some(ScopeParams::User) => context.personal(),
        Some(ScopeParams::Project | ScopeParams::Session) | None => context,
    };
    let view = context.view().await?;
    let name = view.place.name(&context.sessions);
    let id = view.project.as_ref().map(|project| project.id.to_string()).unwrap_or_default();
    let (memory, reader, now) = (Arc::clone(&view.memory), context.reader(), clock::now());
    let ids = view.item_ids();
    let format = params.format;
    let rendering = run_blocking(move || {
        let text = match format {
            Format::Markdown => export::markdown(&memory, &name, now),
            Format::Zipmem => export::zipmem_state(&memory, &name, now).to_string(),
            Format::Compactor => {
                let sees = |record: &_| reader.sees(record);
                export::compactor_state(&memory, ids, now, sees).to_string()
            }
            Format::InfiniteContext => {
                export::infinite_context_state(&memory, &id, now).to_string()
            }
            Format::Json => lines(&memory, &reader)?,
        };
        page(&text, params.cursor.as_deref(), tokens_max, memory.revision())
    });
    let (text, truncated) = rendering.await?;
    let is_json = format != Format::Markdown && !text.is_empty();
    Ok(ToolAnswer { is_json, ..ToolAnswer::from(text).truncated(truncated) })
}

/// The room kept for the line that says how to continue, in characters and in tokens.
const FRAME_CHARS: usize = 100;
const FRAME_TOKENS: u32 = 60;

/// Returns the page of a document at a cursor, and whether there is more. If the document has
/// changed since the page before, there is no next page: the two would not fit together.
fn page(
    text: &str,
    cursor: Option<&str>,
    tokens_max: Option<u32>,
    revision: Revision,
) -> Result<(String, bool), ToolError> {
    let refused = |why: String| ToolError::failed("export", why);
    let from = match cursor.map(|cursor| (cursor, cursor.parse::<PageCursor>())) {
        None => 0,
        Some((_, Ok(cursor))) if cursor.revision == revision => cursor.from,
        Some((_, Ok(_))) => {
            let why = "memory changed since the page before; begin again without the cursor, or write it to a file at \
                       once with `anchord export`";
            return Err(refused(why.to_owned()));
        }
        Some((cursor, Err(why))) => return Err(refused(format!("`{cursor}` {why}"))),
    };
    let total = text.chars().count();
    if from > 0 && from >= total {
        return Err(refused(format!("the cursor {from} is past the end; leave it out")));
    }
    let room = limits::ANSWER_CHARS_MAX - FRAME_CHARS;
    let rest: String = text.chars().skip(from).take(room + 1).collect();
    if total - from <= room && tokens_max.is_none_or(|max| tokens::count(&rest) <= max) {
        return Ok((rest, false));
    }
    let tokens_max = tokens_max.map(|max| max.saturating_sub(FRAME_TOKENS));
    let mut page = render::page_of(&rest, room, tokens_max);
    render::end_with_a_line(&mut page);
    let next = from + page.chars().count();
    let cursor = PageCursor { from: next, revision };
    let text = format!(
        "{page}\ntruncated: character {next} of {total}; go on with {{\"cursor\":\"{cursor}\"}}\n"
    );
    Ok((text, true))
}

fn lines(memory: &Memory, reader: &Reader) -> Result<String, ToolError> {
    let mut text = String::new();
    for record in memory.records() {
        if record.state != RecordState::Forgotten && reader.sees(record) {
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
