//! `memory_outline`: a file's structure instead of its text, or the files of a directory.

use std::fmt::Write as _;
use std::sync::Arc;

use anchord_memory::lines::LineRange;
use anchord_memory::{Audience, Record, find_fact, limits, render, tokens};
use anchord_outline::{self as outline, Form, Rendered, View as Shown};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::tokens_max;
use crate::clock;
use crate::limits::FILE_SUMMARY_CHARS_MAX;
use crate::mcp::answer::{OutlineAnswer, ToolAnswer};
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::outlines::{FileFacts, FilesOf, Outlined, PathContent, SeenVersion};
use crate::projects::{Entry, FileDigest, Listing};
use crate::sessions::View;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// A file or directory
    #[serde(alias = "file", alias = "file_path")]
    path: String,
    /// Only items on these lines, as 120-300
    #[serde(alias = "line_range")]
    lines: Option<String>,
    /// Only what changed since your last look
    #[serde(default)]
    since_last: bool,
    max_tokens: Option<u32>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_outline",
        "A file's items with signatures and lines, its imports, and notes kept under its path. Call \
         it before you read a long file.",
        Effect::Reads,
        run,
    )
}

/// The room kept for the line that states tokens.
const TOTALS_CHARS: usize = 80;
const TOTALS_TOKENS: u32 = 24;

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let failed = |why: &dyn std::fmt::Display| ToolError::failed("outline", why);
    let most = tokens_max(params.max_tokens).map_err(|it| context.refused("outline", &it))?;
    let lines = params.lines.as_deref().map(lines).transpose().map_err(|why| failed(&why))?;
    let view = context.view().await?;
    let Some(root) = view.place.root() else {
        return Err(failed(&"the project's files cannot be seen from here; read the file"));
    };
    let files = FilesOf { root, repository: view.place.repository() };
    let target = context.outlines.target(files, &params.path).await;
    match target.map_err(|error| failed(&error))? {
        PathContent::File(file) => {
            let asked = OutlineRequest { lines, since_last: params.since_last, most };
            Ok(of_file(&context, &view, &file, &asked).await)
        }
        PathContent::Directory(path, listing) => {
            Ok(of_directory(&context, &view, &path, &listing, most))
        }
    }
}

/// The parts of a file that a call asks for.
struct OutlineRequest {
    lines: Option<(u32, u32)>,
    since_last: bool,
    most: Option<u32>,
}

/// Reads a range of lines.
fn lines(text: &str) -> Result<(u32, u32), String> {
    match LineRange::from(text.to_owned()) {
        LineRange::Span { first, last } => Ok((first, last)),
        LineRange::Text(_) => Err(format!("lines is `{text}`; give a range such as 120-300")),
    }
}

async fn of_file(
    context: &Context,
    view: &View,
    file: &Outlined,
    asked: &OutlineRequest,
) -> ToolAnswer {
    let now = clock::now();
    // A command's session ends with the call.
    let is_lasting = !context.session.is_ephemeral();
    let seen = if is_lasting {
        let (session, call) = (&context.session.id, context.call.as_ref());
        context.outlines.record_seen(session, call, file, now).await
    } else {
        None
    };
    let mut text = head(file);
    let summary = summary_of(context, view, &file.path);
    if let Some(summary) = &summary {
        let currency = currency(summary, file.digest.as_str());
        let content = summary.note().map_or("", |note| note.content.as_str());
        let content = outline::clip(content, FILE_SUMMARY_CHARS_MAX);
        let _ = writeln!(text, "Summary ({}, {currency}): {content}", summary.id);
    }
    let room = Shown {
        lines: asked.lines,
        chars_max: limits::ANSWER_CHARS_MAX.saturating_sub(text.chars().count() + TOTALS_CHARS),
        tokens_max: asked
            .most
            .map(|most| most.saturating_sub(tokens::count(&text) + TOTALS_TOKENS)),
        selects: match *context.audience {
            Audience::Person(_) => "--lines",
            Audience::Agent | Audience::Compactor => "lines",
        },
    };
    let rendered = if asked.since_last {
        since(context, file, seen, &room).await
    } else {
        outline::render(&file.outline, &room)
    };
    text.push_str(&rendered.text);
    let given = tokens::count(&text) + TOTALS_TOKENS / 2;
    let saved = file.outline.tokens.saturating_sub(given);
    if file.outline.tokens > 0 {
        let _ = writeln!(text, "Tokens: about {given} given, {saved} saved.");
    }
    if matches!(*context.audience, Audience::Agent | Audience::Compactor) {
        context.outlines.metrics().outline_given(file.is_cached, given, saved);
    }
    let outline = OutlineAnswer {
        path: file.path.clone(),
        digest: file.digest.as_str().to_owned(),
        outline: Arc::clone(&file.outline),
        is_cached: file.is_cached,
        tokens_given: given,
        tokens_saved: saved,
    };
    let answer = ToolAnswer { outline: Some(Box::new(outline)), ..ToolAnswer::from(text) };
    answer.truncated(rendered.is_cut).with_records(summary)
}

/// Returns the line about a file itself.
fn head(file: &Outlined) -> String {
    let Outlined { path, outline, is_cached, fault, .. } = file;
    let form = match &outline.form {
        Form::Code(language) => language.name.to_owned(),
        Form::Text => "text".to_owned(),
        Form::Binary(kind) => format!("binary, {kind}"),
    };
    let bytes = render::bytes(outline.bytes);
    let size = match outline.form {
        Form::Binary(_) => bytes,
        _ if outline.tokens == 0 && outline.bytes > 0 => bytes,
        _ => format!("{} lines, {bytes}, {} tokens", outline.lines, outline.tokens),
    };
    let mut text = format!("{path}: {form}, {size}");
    if *is_cached {
        text.push_str("; outline from the cache");
    }
    if outline.has_gaps {
        text.push_str("; parts do not follow the grammar, so items may be missing");
    }
    if let Some(fault) = fault {
        let _ = write!(text, "; {fault}");
    }
    text.push('\n');
    text
}

/// Renders what changed since a session's last look, or the whole if that is not known.
async fn since(
    context: &Context,
    file: &Outlined,
    seen: Option<SeenVersion>,
    room: &Shown<'_>,
) -> Rendered {
    let whole = |why: &str| {
        let room = Shown { chars_max: room.chars_max.saturating_sub(why.len()), ..*room };
        let Rendered { text, is_cut } = outline::render(&file.outline, &room);
        Rendered { text: format!("{why}{text}"), is_cut }
    };
    let Some(seen) = seen else {
        return whole("This session has not looked at it before; this is the whole outline.\n");
    };
    let time = seen.time.minute();
    if seen.digest == file.digest {
        let text = format!("Unchanged since your last look, {time}.\n");
        return Rendered { text, is_cut: false };
    }
    let Some(before) = context.outlines.seen_outline(&seen).await else {
        return whole("Changed, but the outline you saw is no longer kept; this is the whole.\n");
    };
    let difference = outline::compare(&before, &file.outline);
    if difference.is_empty() {
        let text = format!("Changed since {time}, but no item or import is other than it was.\n");
        return Rendered { text, is_cut: false };
    }
    let head = format!("Changed since your last look, {time} (+ new, ~ changed, - gone):\n");
    let chars_max = match room.tokens_max {
        // A token has three characters or more in such lines.
        Some(tokens) => room.chars_max.min(tokens as usize * 3),
        None => room.chars_max,
    };
    let changes = outline::render_difference(&difference, chars_max.saturating_sub(head.len()));
    Rendered { text: head + &changes.text, is_cut: changes.is_cut }
}

/// Finds the note whose key is a file's path.
fn summary_of(context: &Context, view: &View, path: &str) -> Option<Arc<Record>> {
    let id = find_fact(&view.memory, &context.keeper(), path).ok()?.id;
    view.memory.record(id).filter(|record| record.state.is_active()).cloned()
}

/// Says whether a summary was written for the file as it is.
fn currency(summary: &Record, digest: &str) -> &'static str {
    match summary.note().and_then(|note| note.file_digest.as_deref()) {
        Some(then) if then == digest => "of the file as it is",
        Some(_) => "STALE: the file has changed since; check it, then note it again",
        None => "not known whether the file has changed since",
    }
}

fn of_directory(
    context: &Context,
    view: &View,
    path: &str,
    listing: &Listing<FileFacts>,
    most: Option<u32>,
) -> ToolAnswer {
    let mut lines = Vec::new();
    for (name, entry) in &listing.entries {
        let file = if path == "." { name.clone() } else { format!("{path}/{name}") };
        let about = match entry {
            Entry::Directory => {
                lines.push(format!("{name}/"));
                continue;
            }
            Entry::File(facts) => about(facts),
            Entry::Unread(bytes) => format!("{}, not read", render::bytes(*bytes)),
            Entry::Unreadable(why) => format!("could not be read: {why}"),
            Entry::Secret => "holds secrets, not read".to_owned(),
            Entry::Link => "a link".to_owned(),
            Entry::Special => "not a file".to_owned(),
        };
        let mut line = format!("{name}: {about}");
        if let Some(summary) = summary_of(context, view, &file)
            && let Some(note) = summary.note()
        {
            let is_fresh = crate::outlines::digest_of(entry).map(FileDigest::as_str)
                == note.file_digest.as_deref();
            let mark = if is_fresh { "" } else { "STALE? " };
            let _ = write!(line, " — {mark}{}", outline::clip(&note.content, LINE_SUMMARY_CHARS));
        }
        lines.push(line);
    }
    let entries = |count: usize| match count {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    let mut text = format!("{path}: a directory, {}\n", entries(listing.entries.len()));
    let chars_max = limits::ANSWER_CHARS_MAX - TOTALS_CHARS - REST_CHARS;
    let (mut chars, mut spent) = (text.chars().count(), tokens::count(&text));
    let mut shown = 0;
    for line in &lines {
        chars += line.chars().count() + 1;
        spent += tokens::count(line) + 1;
        if chars > chars_max || most.is_some_and(|most| spent + TOTALS_TOKENS > most) {
            break;
        }
        let _ = writeln!(text, "{line}");
        shown += 1;
    }
    if shown < lines.len() {
        let _ = writeln!(text, "Left out: {} more.", entries(lines.len() - shown));
    }
    if listing.ignored > 0 {
        let _ = writeln!(text, "Ignored by git: {}.", entries(listing.ignored));
    }
    if !listing.is_complete {
        text.push_str("Not all of it could be read in time and size.\n");
    }
    ToolAnswer::from(text).truncated(shown < lines.len() || !listing.is_complete)
}

/// The characters of a summary in the line of a file.
const LINE_SUMMARY_CHARS: usize = 100;

/// The room kept for the lines that count what is missing.
const REST_CHARS: usize = 160;

/// Returns what the line of a file says of it.
fn about(facts: &FileFacts) -> String {
    let bytes = render::bytes(facts.bytes);
    match (&facts.form, facts.text) {
        (Form::Binary(kind), _) => format!("{kind}, {bytes}"),
        (_, None) => format!("{bytes}, too long to be read"),
        (Form::Code(language), Some(text)) => {
            format!("{}, {} lines, {} tokens", language.name, text.lines, text.tokens)
        }
        (Form::Text, Some(text)) => format!("text, {} lines, {} tokens", text.lines, text.tokens),
    }
}
