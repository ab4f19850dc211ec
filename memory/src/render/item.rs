//! Renders one record for a load: in full, or on a single line if there is no room.

use super::topic;
use crate::fold::{clip, one_line, with_block};
use crate::ids::Timestamp;
use crate::kinds::note::Note;
use crate::limits::{IMPORTANCE, ROW_LINE_CHARS_MAX, TITLE_CHARS_MAX};
use crate::record::{Body, Lesson, Record, SessionRow};
use crate::search::{Query, snippet};
use crate::tokens;

/// The mark at the end of a line that says less than its record.
pub(super) const CUT: &str = " …";

/// Renders the record in full. The first line begins with its id. Further lines are indented, so
/// that no content can pass for the frame around it.
pub(crate) fn full(record: &Record) -> String {
    let id = record.id;
    match &record.body {
        Body::Blueprint(blueprint) => {
            let mutable = if blueprint.immutable { "" } else { ", mutable" };
            let category = blueprint.category.name();
            let head = format!("{id} [{category}{mutable}] {}", blueprint.title);
            with_block(head, &blueprint.content, "  ")
        }
        Body::Anchor(anchor) => {
            format!("{id} [{} -> {} -> {}]", anchor.file, anchor.lines, anchor.concept)
        }
        Body::Lesson(lesson) => {
            let head = format!("{}{}", lesson_head(record, lesson), lesson_files(lesson));
            with_block(head, &lesson.detail, "  ")
        }
        Body::Note(note) if note.condensed => short(record),
        Body::Note(note) if note.summary.is_empty() => {
            let text = without_blank_ends(&note.content);
            match text.split_once('\n') {
                // The relative indentation shows only if all lines are below the head.
                Some((first, _)) if first.starts_with(char::is_whitespace) => {
                    with_block(format!("{}:", head(record, note)), text, "  ")
                }
                Some((first, rest)) => {
                    with_block(format!("{}: {first}", head(record, note)), rest, "  ")
                }
                None => format!("{}: {}", head(record, note), text.trim_start()),
            }
        }
        Body::Note(_) => whole(record),
        Body::Topic(topic) => topic::loaded(record, topic),
        Body::SessionRow(row) => {
            let text = row.trail_text();
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            with_block(format!("{}: {first}", row_head(record, row)), rest, "  ")
        }
    }
}

/// Renders the record with a note's summary, if it has one, in place of the content. A session row
/// is shown by its newest entry, in one line.
pub(crate) fn short(record: &Record) -> String {
    match &record.body {
        Body::Note(note) if !note.summary.is_empty() => {
            format!("{}: {}", head(record, note), one_line(&note.summary)) + CUT
        }
        Body::SessionRow(row) => {
            let line = format!("{}: {}", row_head(record, row), joined(&row.summary));
            row_line(row, &line, ROW_LINE_CHARS_MAX, false)
        }
        _ => full(record),
    }
}

/// Renders everything of a row but its entries: `s3 2026-11-02 claude-code (captured)`.
fn row_head(record: &Record, row: &SessionRow) -> String {
    let client = if row.folded > 0 { "" } else { &*record.created.client };
    let space = if client.is_empty() { "" } else { " " };
    format!("{} {}{space}{client}{}", record.id, row.ended.date(), row_mark(row))
}

/// Renders a row's marks: the parent session of a subagent, and how the row was made if its agent
/// did not save.
fn row_mark(row: &SessionRow) -> String {
    let of = row.session.parent().map(|parent| format!("subagent of {parent}"));
    let made = match (&row.captured, row.on_behalf) {
        (Some(_), _) => Some("captured".to_owned()),
        (None, true) if row.saved_itself() => Some("after its last save".to_owned()),
        (None, true) => Some("ended without saving".to_owned()),
        (None, false) => None,
    };
    let marks: Vec<String> = of.into_iter().chain(made).collect();
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) }
}

/// Joins the lines of a text into one, with a semicolon after a line that does not end in
/// punctuation.
pub(super) fn joined(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(one_line).filter(|part| !part.is_empty()) {
        let is_ended = line.ends_with(['.', '!', '?', ':', ';', ',', '…']);
        line.push_str(if line.is_empty() || is_ended { "" } else { ";" });
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(&part);
    }
    line
}

/// Renders ` (+2 earlier)`, or nothing if the newest entry is the only one.
pub(super) fn earlier(row: &SessionRow) -> String {
    match row.earlier_count() {
        0 => String::new(),
        count => format!(" (+{count} earlier)"),
    }
}

/// Renders a row's line in at most `chars_max` characters. The number of earlier entries comes at
/// the end. It follows [`CUT`] if the line is clipped or the newest entry `has_more` lines.
fn row_line(row: &SessionRow, line: &str, chars_max: usize, has_more: bool) -> String {
    let earlier = earlier(row);
    let chars_max = chars_max - earlier.chars().count();
    if !has_more && line.chars().count() <= chars_max {
        return format!("{line}{earlier}");
    }
    clip(line, chars_max - CUT.chars().count()) + CUT + &earlier
}

/// Renders the record with a note's whole content, even if the note is condensed, and everything of
/// a topic that is in view.
pub(crate) fn whole(record: &Record) -> String {
    let note = match &record.body {
        Body::Note(note) => note,
        Body::Topic(topic) => return topic::whole(record, topic),
        _ => return full(record),
    };
    let head = format!("{}: {}", head(record, note), one_line(&note.summary));
    with_block(head.trim_end().to_owned(), &note.content, "  ")
}

/// Renders the record in full if it has at most `chars_max` characters. Otherwise renders the part
/// of its text with most of the query's words.
pub(crate) fn excerpt(record: &Record, query: &Query, chars_max: usize) -> String {
    let full = full(record);
    if full.chars().count() <= chars_max {
        return full;
    }
    let part = |head: String, text: &str| {
        let room = chars_max.saturating_sub(head.chars().count() + CUT.chars().count()).max(80);
        with_block(head, &snippet(text, query, room), "  ") + CUT
    };
    match &record.body {
        Body::Blueprint(blueprint) => part(
            format!("{} [{}] {}", record.id, blueprint.category.name(), blueprint.title),
            &blueprint.content,
        ),
        Body::Lesson(lesson) => part(lesson_head(record, lesson), &lesson.detail),
        Body::Note(note) => {
            let head = format!("{}: {}", head(record, note), one_line(&note.summary));
            part(clip(head.trim_end(), chars_max / 2), &note.content)
        }
        Body::SessionRow(row) => {
            let head = format!("{} {}{}:", record.id, row.ended.date(), row_mark(row));
            part(head, &row.trail_text())
        }
        Body::Topic(_) => {
            let (first, rest) = full.split_once('\n').unwrap_or((&full, ""));
            let rest: Vec<&str> = rest.lines().map(str::trim_start).collect();
            part(clip(first, chars_max / 2), &rest.join("\n"))
        }
        Body::Anchor(_) => clip(&full, chars_max),
    }
}

/// Renders a lesson's files as ` (src/a.rs, src/b.rs)`. A lesson made by rule names them itself.
pub(super) fn lesson_files(lesson: &Lesson) -> String {
    if lesson.files.is_empty() || lesson.captured.is_some() {
        String::new()
    } else {
        format!(" ({})", lesson.files.join(", "))
    }
}

/// Renders a lesson's id and summary. For a lesson made by rule, when and how often it was seen
/// comes in between.
pub(super) fn lesson_head(record: &Record, lesson: &Lesson) -> String {
    let id = record.id;
    match &lesson.captured {
        None => format!("{id} {}", lesson.summary),
        Some(fixed) if fixed.times > 1 => {
            let (times, day) = (fixed.times, fixed.last.date());
            format!("{id} (captured, {times} times, last {day}) {}", lesson.summary)
        }
        Some(fixed) => format!("{id} (captured {}) {}", fixed.last.date(), lesson.summary),
    }
}

/// Renders everything of a note but its texts: `n12 build command (#rust, importance 8, pinned,
/// expires 2026-12-01)`.
fn head(record: &Record, note: &Note) -> String {
    let mut marks: Vec<String> = record.tags.iter().map(|tag| format!("#{tag}")).collect();
    if note.importance != IMPORTANCE {
        marks.push(format!("importance {}", note.importance));
    }
    if record.pinned {
        marks.push("pinned".to_owned());
    }
    if record.owner().is_some() {
        marks.push("one session's own".to_owned());
    }
    if record.id.is_personal() {
        marks.push("the user's".to_owned());
    }
    if let Some(expires) = note.expires {
        marks.push(format!("expires {}", end(record, expires)));
    }
    let key = note.key.as_ref().map_or_else(String::new, |key| format!(" {key}"));
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    format!("{}{key}{marks}", record.id)
}

/// Renders a record's expiry: the day, and also the minute for a life of a day or less.
pub fn end(record: &Record, expires: Timestamp) -> String {
    let lasts = expires.0.saturating_sub(record.updated.time.0);
    if lasts <= Timestamp::DAY_MILLIS { expires.minute() } else { expires.date() }
}

/// Renders the record on one short line. It ends with [`CUT`] if the full text says more.
pub(crate) fn title(record: &Record) -> String {
    let full = full(record);
    let line = match &record.body {
        Body::Lesson(lesson) if !lesson.detail.is_empty() || full.len() > TITLE_CHARS_MAX => {
            lesson_head(record, lesson)
        }
        Body::Note(note) if !note.summary.is_empty() => {
            format!("{}: {}", head(record, note), note.summary)
        }
        Body::Note(note) => {
            let first = note.content.trim().lines().next().unwrap_or_default();
            format!("{}: {first}", head(record, note))
        }
        Body::Topic(topic) => topic::head(record, topic),
        Body::SessionRow(row) => {
            let first = full.lines().next().unwrap_or_default();
            let has_more = row.summary.trim().contains('\n');
            return row_line(row, &one_line(first), TITLE_CHARS_MAX, has_more);
        }
        _ => full.lines().next().unwrap_or_default().to_owned(),
    };
    if line == full && full.chars().count() <= TITLE_CHARS_MAX {
        return full;
    }
    let line = one_line(&line);
    let beginning: String = line.chars().take(TITLE_CHARS_MAX - CUT.chars().count()).collect();
    beginning.trim_end_matches(['…', ' ']).to_owned() + CUT
}

/// Trims blank lines at the start of a text and white space at its end.
fn without_blank_ends(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let first = text.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    text.get(first..).unwrap_or(text)
}

/// Returns ever shorter forms of the record's line, the last being its id alone. They serve answers
/// without room for more.
pub(super) fn shorter(record: &Record) -> impl Iterator<Item = String> {
    let clipped = [60, 25].into_iter().map(|chars| clip(&title(record), chars));
    clipped.chain(std::iter::once_with(|| record.id.to_string()))
}

/// Clips a text to this many characters and tokens. In some scripts a character is more than one
/// token.
pub(super) fn clip_within(text: &str, chars_max: usize, tokens_max: u32) -> String {
    let mut clipped = clip(text, chars_max);
    while tokens::count(&clipped) > tokens_max && clipped.chars().count() > 1 {
        clipped = clip(&clipped, clipped.chars().count() * 3 / 4);
    }
    clipped
}
