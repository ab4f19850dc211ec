//! Renders records for agents that did not ask for them: the content, without marks for editors.
//!
//! Each form begins with the record's id, by which `memory_get` returns the rest. A text that says
//! less than the record is marked with [`CUT`].

use super::item::{CUT, clip_within, earlier, end, joined, lesson_files, lesson_head};
use super::topic;
use crate::fold::{clip, one_line, with_block};
use crate::gist::{gist, gist_first};
use crate::kinds::note::Note;
use crate::kinds::topic::Topic;
use crate::limits::{LOADED_LINE_CHARS_MAX, TITLE_CHARS_MAX, TOPIC_BRIEF_CHARS_MAX};
use crate::record::{Anchor, Body, Record, SessionRow};
use crate::search::Query;

/// Renders the record in full. Lines after the first are indented, so that content cannot pass for
/// the text around it.
pub(crate) fn whole(record: &Record) -> String {
    let id = record.id;
    match &record.body {
        Body::Blueprint(blueprint) => {
            let head = format!("{id} [{}] {}", blueprint.category.name(), blueprint.title);
            with_block(head, &blueprint.content, "  ")
        }
        Body::Anchor(anchor) => format!("{id} {}", place(anchor)),
        Body::Lesson(lesson) => {
            with_block(lesson_head(record, lesson) + &lesson_files(lesson), &lesson.detail, "  ")
        }
        Body::Note(note) if note.condensed => condensed(record),
        Body::Note(note) => note_text(record, note, &note.content),
        Body::Topic(topic) => topic::loaded(record, topic),
        Body::SessionRow(row) => {
            let trail = row.trail_text();
            let (first, rest) = trail.split_once('\n').unwrap_or((&trail, ""));
            with_block(format!("{} {first}", row_head(record, row)), rest, "  ")
        }
    }
}

/// Renders the record in full, except that a summary replaces a note's content and a session row is
/// one line.
pub(super) fn condensed(record: &Record) -> String {
    match &record.body {
        Body::Note(note) if !note.summary.is_empty() => {
            format!("{}: {}{CUT}", head(record, note), one_line(&note.summary))
        }
        Body::SessionRow(_) => line(record),
        _ => whole(record),
    }
}

/// Renders the record on one line, for a load that has no room for everything. A lesson says what
/// to do, a session what came of it. Other kinds are whole.
pub(super) fn line(record: &Record) -> String {
    line_and_all(record).0
}

/// Reports whether [`line`] says all that the record says. A session of several lines has them
/// joined there, so its line does not count as all.
pub(super) fn line_says_all(record: &Record) -> bool {
    line_and_all(record).1
}

fn line_and_all(record: &Record) -> (String, bool) {
    let id = record.id;
    let (line, is_all) = match &record.body {
        Body::Lesson(lesson) => {
            let advice = one_line(gist(&lesson.detail, None));
            let is_all = advice == one_line(&lesson.detail);
            let head = lesson_head(record, lesson);
            let line = if advice.is_empty() {
                head
            } else {
                format!("{} {advice}", sentence(head.trim_end()))
            };
            (line, is_all)
        }
        Body::SessionRow(row) => {
            let line = format!("{} {}", row_head(record, row), joined(&row.summary));
            (line, row.earlier_count() == 0)
        }
        _ => return (whole(record), true),
    };
    let line = after_id(record, line.trim_end());
    let end = match &record.body {
        Body::Lesson(lesson) => lesson_files(lesson),
        Body::SessionRow(row) => earlier(row),
        _ => String::new(),
    };
    if is_all && line.chars().count() <= LOADED_LINE_CHARS_MAX {
        let is_joined =
            matches!(&record.body, Body::SessionRow(row) if row.summary.trim().contains('\n'));
        return (format!("{id}{line}{end}"), !is_joined);
    }
    (format!("{id}{}{end}", cut(line, LOADED_LINE_CHARS_MAX)), false)
}

/// Returns the text after a record's id. Texts are cut by its length, so that a record's number
/// does not decide how much is shown.
fn after_id<'t>(record: &Record, text: &'t str) -> &'t str {
    text.strip_prefix(&record.id.to_string()).unwrap_or(text)
}

/// Renders the record in one short line.
pub(super) fn title(record: &Record) -> String {
    let id = record.id;
    let whole = whole(record);
    let is_short = after_id(record, &whole).chars().count() <= TITLE_CHARS_MAX;
    if is_short && !whole.contains('\n') {
        return whole;
    }
    let line = match &record.body {
        Body::Blueprint(blueprint) => {
            format!("{id} [{}] {}", blueprint.category.name(), blueprint.title)
        }
        Body::Lesson(lesson) => lesson_head(record, lesson),
        Body::Note(note) if !note.summary.is_empty() => {
            format!("{}: {}", head(record, note), note.summary)
        }
        Body::Note(note) => {
            let head = head(record, note);
            let taken = after_id(record, &head).chars().count() + 4;
            let room = TITLE_CHARS_MAX.saturating_sub(taken).max(40);
            format!("{head}: {}", gist_first(&note.content, None, room))
        }
        Body::Topic(topic) => topic::head(record, topic),
        Body::Anchor(_) | Body::SessionRow(_) => whole,
    };
    let line = one_line(&line);
    format!("{id}{}", cut(after_id(record, &line), TITLE_CHARS_MAX))
}

/// Renders the record for a prompt, a file or a failure, in at most `chars_max` characters. A
/// record that does not fit whole is reduced to its head, the sentence that matters, and as much of
/// the rest as fits. Also returns whether the text is the whole record.
pub(super) fn excerpt(record: &Record, query: &Query, chars_max: usize) -> (String, bool) {
    let whole = whole(record);
    if whole.chars().count() <= chars_max {
        return (whole, true);
    }
    let id = record.id;
    let (head, text) = match &record.body {
        Body::Blueprint(blueprint) => {
            let head = format!("{id} [{}] {}", blueprint.category.name(), blueprint.title);
            (head, blueprint.content.as_str())
        }
        Body::Lesson(lesson) => (lesson_head(record, lesson), lesson.detail.as_str()),
        Body::Note(note) => (format!("{}:", head(record, note)), note.content.as_str()),
        Body::SessionRow(row) => (row_head(record, row), row.summary.as_str()),
        Body::Anchor(_) | Body::Topic(_) => return (cut(&whole, chars_max), false),
    };
    let head = clip(&one_line(&head), chars_max / 2);
    let head = if head.ends_with(':') { head } else { head + ":" };
    let room = chars_max.saturating_sub(head.chars().count() + CUT.chars().count() + 1);
    let text = gist_first(text, Some(query), room);
    let end = if text.ends_with('…') { "" } else { CUT };
    (format!("{head} {text}{end}"), false)
}

/// Cuts a record's full text to at most `chars_max` characters and `tokens_max` tokens.
pub(super) fn part(whole: &str, chars_max: usize, tokens_max: u32) -> String {
    let tokens_max = tokens_max.saturating_sub(2);
    cut(&clip_within(whole, chars_max, tokens_max), chars_max)
}

/// Renders a topic in short: its name, its status, and every open question.
pub(super) fn topic_brief(record: &Record, topic: &Topic) -> String {
    let status = one_line(&topic.status);
    let mut text =
        format!("{} {}: {}", record.id, topic.name, clip(&status, TOPIC_BRIEF_CHARS_MAX));
    for open in topic.pending() {
        text.push_str("\n  open: ");
        text.push_str(&clip(&one_line(&open.question), TITLE_CHARS_MAX));
    }
    let more = topic.decisions.iter().any(|decision| decision.decided.is_some())
        || !(topic.files.is_empty() && topic.history.is_empty())
        || status.chars().count() > TOPIC_BRIEF_CHARS_MAX;
    if more { text + CUT } else { text }
}

/// Renders an anchor as `src/retry.rs:42-67: backoff with jitter`.
pub(super) fn place(anchor: &Anchor) -> String {
    let lines = anchor.lines.to_string();
    let sign = if lines.starts_with(|c: char| c.is_ascii_digit()) { ":" } else { " " };
    let lines = if lines.is_empty() { lines } else { format!("{sign}{lines}") };
    format!("{}{lines}: {}", anchor.file, anchor.concept)
}

/// Renders a note's head: `n12 build.command`, and until when it holds.
fn head(record: &Record, note: &Note) -> String {
    let key = note.key.as_ref().map_or_else(String::new, |key| format!(" {key}"));
    let until = note.expires.map_or_else(String::new, |at| format!(" (until {})", end(record, at)));
    format!("{}{key}{until}", record.id)
}

fn note_text(record: &Record, note: &Note, content: &str) -> String {
    let head = head(record, note);
    if !note.summary.is_empty() {
        return with_block(format!("{head}: {}", one_line(&note.summary)), content, "  ");
    }
    let text = content.trim_end();
    match text.trim_start().split_once('\n') {
        // The relative indentation shows only if all lines are below the head.
        Some(_) if text.trim_start_matches('\n').starts_with(char::is_whitespace) => {
            with_block(format!("{head}:"), text.trim_start_matches('\n'), "  ")
        }
        Some((first, rest)) => with_block(format!("{head}: {first}"), rest, "  "),
        None => format!("{head}: {}", text.trim_start()),
    }
}

/// Renders `s34 2026-11-22 claude-code:`. If its agent did not save, it also says how the row was
/// made.
fn row_head(record: &Record, row: &SessionRow) -> String {
    let client = if row.folded > 0 { "" } else { &*record.created.client };
    let space = if client.is_empty() { "" } else { " " };
    let subagent = row.session.parent().map(|_| "a subagent");
    let unsaved = match (row.captured.is_some() || row.on_behalf, row.saved_itself()) {
        (true, true) => Some("after its last save"),
        (true, false) => Some("not saved by its agent"),
        (false, _) => None,
    };
    let marks: Vec<&str> = subagent.into_iter().chain(unsaved).collect();
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    format!("{} {}{space}{client}{marks}:", record.id, row.ended.date())
}

/// Cuts a text to at most `chars_max` characters, [`CUT`] at its end included.
fn cut(text: &str, chars_max: usize) -> String {
    let kept = clip(text, chars_max.saturating_sub(CUT.chars().count()));
    kept.trim_end_matches('…').trim_end().to_owned() + CUT
}

/// Adds a full stop to a text that does not end like a sentence.
fn sentence(text: &str) -> String {
    let ends = text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
    if ends { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
