//! `memory_get`: one record by id, at its newest or an earlier version; an anchor's code as it is now.

use std::fmt::Write as _;
use std::sync::Arc;

use anchord_memory::lines::LineRange;
use anchord_memory::{
    Anchor, Body, Record, RecordId, Version, find, find_fact, is_expired, limits, plan_use, render,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock;
use crate::mcp::context::Context;
use crate::mcp::tool::{Effect, ToolError, ToolSpec};
use crate::sessions::{Place, View};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// As b12
    id: Option<String>,
    /// A fact's
    key: Option<String>,
    version: Option<u32>,
    #[serde(default)]
    expand: bool,
    cursor: Option<String>,
}

/// The tool.
pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_get",
        "One record in full, by id or key; expand: an anchor's code now.",
        Effect::Reads,
        run,
    )
}

/// Characters kept for what is said of a version after its text.
const MARKS_CHARS: usize = 400;

/// The same for what makes room for a record that was archived.
const ROOM_CHARS: usize = 1_000;

async fn run(context: Context, params: Params) -> Result<String, ToolError> {
    let caller =
        |error: &dyn std::fmt::Display| ToolError::Caller(format!("failed to get: {error}"));
    let view = context.view().await?;
    let reader = context.keeper();
    let found = match (&params.id, &params.key) {
        (Some(id), _) => {
            let id: RecordId = id.parse().map_err(|error| caller(&error))?;
            find(&view.memory, &reader, id)
        }
        (None, Some(key)) => find_fact(&view.memory, &reader, key),
        (None, None) => return Err(caller(&"give an id, or a fact's key")),
    };
    let newest = found.map_err(|refusal| caller(&refusal))?.clone();
    let id = newest.id;
    let wanted = params.version.map_or(newest.version, Version);
    let record = if wanted == newest.version {
        newest.clone()
    } else {
        // What was a session's own when it was written stays so after it was shared.
        let owned = |record: &Record| reader.sees(record) || newest.owner().is_some();
        let earlier = earlier(&view, id, wanted).await?.filter(owned);
        let missing = || {
            let newest = newest.version.0;
            caller(&format!("{id} has no version {}; versions go from 1 to {newest}", wanted.0))
        };
        earlier.ok_or_else(missing)?
    };
    let by = context.session.provenance(clock::now());
    let wakes = plan_use(&view.memory, id, &by).is_some()
        && context.session.has_room_for(&context.daemon, &view.memory, &newest);
    let marks = if wakes { MARKS_CHARS + ROOM_CHARS } else { MARKS_CHARS };
    let cursor = params.cursor.as_deref();
    let (mut text, next) = render::record_page(&record, cursor, limits::ANSWER_CHARS_MAX - marks)
        .map_err(|refusal| caller(&refusal))?;
    context.gave_newest(&view.memory, &[id], next.is_some());
    if record.version != newest.version && !render::says_the_same(&record, &newest) {
        context.gave([Arc::new(record.clone())], next.is_some());
    }
    let asked = params.version.is_some();
    if let Some(line) =
        render::currency(&view.memory, &reader, &record, &newest, asked, clock::now())
    {
        text.push_str(&line);
    }
    if let Some(expires) = record.note().and_then(|note| note.expires)
        && is_expired(&record, clock::now())
    {
        let _ = writeln!(text, "EXPIRED on {}: check it before you rely on it.", expires.date());
    }
    if let Some(project) = &view.project {
        project.accessed(&[id], clock::now());
    }
    if wakes {
        text.push_str(&context.used(id).await);
    }
    if params.expand {
        let Body::Anchor(anchor) = &record.body else {
            return Err(caller(&format!("{id} is no anchor; only anchors can be expanded")));
        };
        let room = limits::ANSWER_CHARS_MAX.saturating_sub(text.chars().count());
        text.push_str(&expand(&view.place, anchor.clone(), record.updated.time, room).await?);
    }
    Ok(text)
}

async fn earlier(view: &View, id: RecordId, version: Version) -> Result<Option<Record>, ToolError> {
    let Some(project) = &view.project else { return Ok(None) };
    let found =
        project.owner.ask(move |store, _| store.history(&format!("{id}@{}", version.0))).await?;
    let entry = found.map_err(|error| ToolError::Internal(error.to_string()))?;
    Ok(entry.and_then(|entry| {
        entry
            .changes
            .iter()
            .filter_map(|change| change.record())
            .find(|record| record.id == id && record.version == version)
            .map(|record| Record::clone(record))
    }))
}

/// The anchor's lines as they are now, within `chars_max` characters.
async fn expand(
    place: &Arc<Place>,
    anchor: Anchor,
    written: anchord_memory::Timestamp,
    chars_max: usize,
) -> Result<String, ToolError> {
    let LineRange::Span { first, last } = anchor.lines else {
        let text = format!("failed to expand: `{}` is no line range; read the file", anchor.lines);
        return Err(ToolError::Caller(text));
    };
    let place = Arc::clone(place);
    let file = anchor.file.clone();
    let read = tokio::task::spawn_blocking(move || {
        place.files().map(|files| files.read_lines(file.as_ref(), first, last))
    })
    .await
    .map_err(|error| ToolError::Internal(error.to_string()))?;
    let excerpt = match read {
        Some(Ok(excerpt)) => excerpt,
        Some(Err(refusal)) => {
            return Err(ToolError::Caller(format!("failed to expand {}: {refusal}", anchor.file)));
        }
        None => {
            let text =
                "failed to expand: the project's files cannot be seen from here; read the file";
            return Err(ToolError::Caller(text.to_owned()));
        }
    };
    let mut text = format!("\n{} lines {first}-{last} now:\n", anchor.file);
    if excerpt.modified > written {
        text.push_str("(the file changed after this anchor was written; check the lines)\n");
    }
    for (number, line) in (first..).zip(&excerpt.lines) {
        let line = format!("{number}\t{line}\n");
        if text.chars().count() + line.chars().count() + 80 > chars_max {
            let _ = writeln!(text, "… cut at line {number}; read the file from there");
            break;
        }
        text.push_str(&line);
    }
    Ok(text)
}
