//! A single record with its provenance. Long ones come in pages.

use super::cut::clip_within;
use super::list::marks;
use super::{append, item, plain_name, title};
use crate::audience::{Audience, Tool};
use crate::fold::{clip, one_line};
use crate::ids::Timestamp;
use crate::limits::ANSWER_CHARS_MIN;
use crate::memory::Memory;
use crate::plan::find_fact;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Body, Record, RecordState};
use crate::refusal::Refusal;
use crate::tokens;

/// The characters and tokens reserved for the line that says how to continue.
const FRAME_CHARS: usize = 200;
const FRAME_TOKENS: u32 = 60;
/// The minimum number of tokens on a page for the text.
const PAGE_TOKENS_MIN: u32 = 30;
/// The characters and tokens of the remark on another version, and the tokens of a key in it. The
/// remark fits into every answer.
const CURRENCY_CHARS: usize = 120;
const CURRENCY_TOKENS: u32 = 60;
const CURRENCY_KEY_TOKENS: u32 = 30;

/// Renders a record in full: the text of a load without its indentation, and a line on its version.
pub fn record(record: &Record) -> String {
    let id = record.id;
    let mut lines = record_text(record);
    append(&mut lines, format_args!("\n\n{id} version {}", record.version.0));
    match record.state {
        RecordState::Active => {}
        RecordState::Archived => {
            lines.push_str(", was archived: out of load until it was looked at now");
        }
        RecordState::Forgotten if record.is_head => {
            lines.push_str(", forgotten: the journal does not have the rest of it");
        }
        RecordState::Forgotten => lines.push_str(", forgotten: kept in history alone"),
    }
    append(&mut lines, format_args!("; written {}", by(&record.created)));
    if record.version.0 > 1 {
        append(&mut lines, format_args!(", changed {}", by(&record.updated)));
    }
    lines.push_str(".\n");
    lines
}

/// Renders a record in full, without its version and state.
fn record_text(record: &Record) -> String {
    let whole = item::whole(record);
    let lines: Vec<&str> =
        whole.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// Renders a record as a heading of one line, without its id, and the text below it. The text is
/// empty if the heading says everything.
pub fn headed(record: &Record) -> (String, String) {
    let heading = plain_name(record);
    let whole = record_text(record);
    let text = match (&record.body, whole.split_once('\n')) {
        (Body::Note(note), _) => note.content.trim_end().to_owned(),
        (Body::Anchor(anchor), _) => format!("{}:{}", anchor.file, anchor.lines),
        (_, Some((_, rest))) => rest.to_owned(),
        (_, None) if heading.ends_with('…') => whole,
        (_, None) => String::new(),
    };
    // The heading of a fact begins with its key.
    let says_all = heading == text.trim() || heading.ends_with(&format!(": {}", text.trim()));
    (heading, if says_all { String::new() } else { text })
}

/// Renders a page of [`record`] from the character that the cursor names, and returns the next
/// page's cursor. The page has at most `chars_max` characters (at least [`ANSWER_CHARS_MIN`]) and
/// `tokens_max` tokens. The next page shows the same version, even if the record changes.
///
/// # Errors
/// Fails if the cursor does not belong to this record.
pub fn record_page(
    of: &Record,
    cursor: Option<&str>,
    chars_max: usize,
    tokens_max: Option<u32>,
    audience: &Audience,
) -> Result<(String, Option<String>), Refusal> {
    let whole = record(of);
    let chars = whole.chars().count();
    let from = match cursor.map(|cursor| (cursor, cursor.trim().parse::<usize>())) {
        None => 0,
        Some((_, Ok(from))) if from < chars => from,
        Some((cursor, _)) => {
            let why =
                format!("is not a cursor for {}: `{}`; leave it out", of.id, clip(cursor, 40));
            return Err(Refusal::invalid("cursor", why));
        }
    };
    let rest: String = whole.chars().skip(from).collect();
    if chars - from <= chars_max.max(ANSWER_CHARS_MIN)
        && tokens_max.is_none_or(|max| tokens::count(&rest) <= max)
    {
        return Ok((rest, None));
    }
    let size = chars_max.max(ANSWER_CHARS_MIN) - FRAME_CHARS;
    let tokens_max = tokens_max.map(|max| max.saturating_sub(FRAME_TOKENS).max(PAGE_TOKENS_MIN));
    let mut page = page_of(&rest, size, tokens_max);
    end_with_a_line(&mut page);
    let next = from + page.chars().count();
    let cursor = next.to_string();
    let call = [
        ("id", of.id.to_string().into()),
        ("version", of.version.0.into()),
        ("cursor", cursor.as_str().into()),
    ];
    let rest = audience.call(Tool::Get, &call);
    append(&mut page, format_args!("\nCut at character {next} of {chars}. The rest: {rest}.\n"));
    Ok((page, Some(cursor)))
}

/// Returns the beginning of a text, limited in characters and tokens.
pub fn page_of(text: &str, chars_max: usize, tokens_max: Option<u32>) -> String {
    let page: String = text.chars().take(chars_max).collect();
    let Some(tokens_max) = tokens_max.filter(|max| tokens::count(&page) > *max) else {
        return page;
    };
    let beginning = |chars: usize| page.chars().take(chars).collect::<String>();
    // Finds the longest that fits by bisection: a longer text never has fewer tokens.
    let (mut fits, mut too_long) = (0, page.chars().count());
    while fits + 1 < too_long {
        let middle = usize::midpoint(fits, too_long);
        if tokens::count(&beginning(middle)) <= tokens_max {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    beginning(fits)
}

/// Renders the remark on the shown version: its record was forgotten, or a newer version replaced
/// its content. If a version was `asked` for, the remark may also be that it is current. A
/// forgotten record has no current version.
pub fn currency(
    memory: &Memory,
    reader: &Reader,
    shown: &Record,
    newest: &Record,
    asked: bool,
    now: Timestamp,
) -> Option<String> {
    let (day, version) = (newest.updated.time.date(), newest.version.0);
    let clipped = |line: &str| clip_within(line, CURRENCY_CHARS, CURRENCY_TOKENS);
    if newest.state == RecordState::Forgotten {
        let last = if shown.content_eq(newest) {
            String::new()
        } else {
            format!("; it said last: {}", clipped(&title(newest, now)))
        };
        let key = newest.note().and_then(|note| note.key.as_deref());
        let heir = key.and_then(|key| Some((key, find_fact(memory, reader, key).ok()?)));
        let heir = heir.map(|(key, heir)| {
            let key = clip_within(key, CURRENCY_CHARS, CURRENCY_KEY_TOKENS);
            format!("; `{key}` is {} now", heir.id)
        });
        return Some(format!(
            "NOT CURRENT: forgotten on {day}{last}{}\n",
            heir.unwrap_or_default()
        ));
    }
    if !shown.content_eq(newest) {
        let line = clipped(&item::title(newest)) + marks(newest, now);
        return Some(format!("NOT CURRENT: replaced on {day} by version {version}: {line}\n"));
    }
    asked.then(|| "This version is current.\n".to_owned())
}

/// Removes an incomplete last line from a page, unless that is most of the page.
pub fn end_with_a_line(page: &mut String) {
    if let Some((lines, _)) =
        page.rsplit_once('\n').filter(|(lines, _)| lines.len() >= page.len() / 2)
    {
        page.truncate(lines.len() + 1);
    }
}

fn by(provenance: &Provenance) -> String {
    let day = provenance.time.date();
    match &*one_line(&provenance.who()) {
        "" => format!("{day} in session {}", provenance.session),
        who => format!("{day} by {who} in session {}", provenance.session),
    }
}

#[cfg(test)]
mod tests;
