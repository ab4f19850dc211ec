//! One record on its own, with where it came from; long ones in pages.

use super::list::line;
use super::{append, item, title};
use crate::fold::clip;
use crate::ids::Timestamp;
use crate::limits::ANSWER_CHARS_MIN;
use crate::memory::Memory;
use crate::plan::find_fact;
use crate::reader::Reader;
use crate::record::{Provenance, Record, Standing};
use crate::refusal::Refusal;

/// Characters kept for the line that says how to go on.
const FRAME_CHARS: usize = 200;

/// A record in full: what a load prints, its text without the indentation, and a line on its version.
pub fn record(record: &Record) -> String {
    let id = record.id;
    let mut lines = item::whole(record)
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned())
        .collect::<Vec<_>>()
        .join("\n");
    append(&mut lines, format_args!("\n\n{id} version {}", record.version.0));
    match record.standing {
        Standing::Active => {}
        Standing::Archived => {
            lines.push_str(", was archived: out of load until it was looked at now");
        }
        Standing::Forgotten => lines.push_str(", forgotten: kept in history alone"),
    }
    append(&mut lines, format_args!("; written {}", by(&record.created)));
    if record.version.0 > 1 {
        append(&mut lines, format_args!(", changed {}", by(&record.updated)));
    }
    lines.push_str(".\n");
    lines
}

/// A page of [`record`], of at most `chars_max` characters (at least [`ANSWER_CHARS_MIN`]), from the character that
/// the cursor names; and the next page's cursor. The next page is of the same version, whatever becomes of the record.
///
/// # Errors
/// When the cursor is none of this record.
pub fn record_page(
    of: &Record,
    cursor: Option<&str>,
    chars_max: usize,
) -> Result<(String, Option<String>), Refusal> {
    let whole = record(of);
    let chars = whole.chars().count();
    let from = match cursor.map(|cursor| (cursor, cursor.trim().parse::<usize>())) {
        None => 0,
        Some((_, Ok(from))) if from < chars => from,
        Some((cursor, _)) => {
            let why = format!("is no cursor of {}: `{}`; leave it out", of.id, clip(cursor, 40));
            return Err(Refusal::invalid("cursor", why));
        }
    };
    if chars - from <= chars_max.max(ANSWER_CHARS_MIN) {
        return Ok((whole.chars().skip(from).collect(), None));
    }
    let size = chars_max.max(ANSWER_CHARS_MIN) - FRAME_CHARS;
    let mut page: String = whole.chars().skip(from).take(size).collect();
    end_with_a_line(&mut page);
    let next = from + page.chars().count();
    let (id, version) = (of.id, of.version.0);
    append(
        &mut page,
        format_args!(
            "\nCut at character {next} of {chars}. The rest: memory_get \
             {{\"id\":\"{id}\",\"version\":{version},\"cursor\":\"{next}\"}}.\n"
        ),
    );
    Ok((page, Some(next.to_string())))
}

/// What there is to say of a version beside the newest one of the same record: what took its place, or that it is
/// current, which is said when a version was `asked` for. A record that was forgotten has no current version.
pub fn currency(
    memory: &Memory,
    reader: &Reader,
    shown: &Record,
    newest: &Record,
    asked: bool,
    now: Timestamp,
) -> Option<String> {
    let (day, version) = (newest.updated.time.date(), newest.version.0);
    if newest.standing == Standing::Forgotten {
        let said = if says_the_same(shown, newest) {
            String::new()
        } else {
            format!("; it said last: {}", title(newest, now))
        };
        let key = newest.note().and_then(|note| note.key.as_deref());
        let heir = key.and_then(|key| Some((key, find_fact(memory, reader, key).ok()?)));
        let heir = heir.map(|(key, heir)| format!("; `{key}` is {} now", heir.id));
        return Some(format!(
            "NOT CURRENT: forgotten on {day}{said}{}\n",
            heir.unwrap_or_default()
        ));
    }
    if !says_the_same(shown, newest) {
        let line = line(newest, now);
        return Some(format!("NOT CURRENT: replaced on {day} by version {version}: {line}\n"));
    }
    asked.then(|| "This version is current.\n".to_owned())
}

/// Whether two versions differ in their standing alone, as after a record that was archived was looked at.
pub fn says_the_same(one: &Record, other: &Record) -> bool {
    (&one.body, &one.tags, one.pinned) == (&other.body, &other.tags, other.pinned)
}

/// Takes off a page the beginning of a line that does not fit, unless that is most of the page.
pub fn end_with_a_line(page: &mut String) {
    if let Some((lines, _)) =
        page.rsplit_once('\n').filter(|(lines, _)| lines.len() >= page.len() / 2)
    {
        page.truncate(lines.len() + 1);
    }
}

fn by(provenance: &Provenance) -> String {
    let day = provenance.time.date();
    match &*provenance.client {
        "" => format!("{day} in session {}", provenance.session),
        client => format!("{day} by {client} in session {}", provenance.session),
    }
}

#[cfg(test)]
mod tests;
