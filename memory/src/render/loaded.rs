//! Renders records for agents that did not ask for them: the content, without marks for editors.
//!
//! Each form begins with the record's id, by which `memory_get` returns the rest. A text that says
//! less than the record is marked with [`CUT`].

use super::cut::{CUT, clip_within, cut};
use super::kinds::{Line, words};
use crate::fold::{clip, one_line};
use crate::gist::gist_first;
use crate::limits::{LOADED_LINE_CHARS_MAX, TITLE_CHARS_MAX};
use crate::record::Record;
use crate::search::Query;

/// Renders the record in full. Lines after the first are indented, so that content cannot pass for
/// the text around it.
pub(crate) fn whole(record: &Record) -> String {
    words(record).loaded(record)
}

/// Renders the record in full, except that a summary replaces a note's content and a session row is
/// one line.
pub(super) fn condensed(record: &Record) -> String {
    words(record).condensed(record)
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
    let Some(line) = words(record).line(record) else { return (whole(record), true) };
    let (id, end) = (record.id, line.end);
    let text = after_id(record, line.text.trim_end());
    if line.is_all && text.chars().count() <= LOADED_LINE_CHARS_MAX {
        return (format!("{id}{text}{end}"), !line.is_joined);
    }
    (format!("{id}{}{end}", cut(text, LOADED_LINE_CHARS_MAX)), false)
}

/// Returns the text after a record's id. Texts are cut by its length, so that a record's number
/// does not decide how much is shown.
fn after_id<'t>(record: &Record, text: &'t str) -> &'t str {
    text.strip_prefix(&record.id.to_string()).unwrap_or(text)
}

/// Renders the record in one short line. It ends with [`CUT`] unless it says all.
pub(super) fn title(record: &Record) -> String {
    let whole = whole(record);
    let is_short = after_id(record, &whole).chars().count() <= TITLE_CHARS_MAX;
    if is_short && !whole.contains('\n') {
        return whole;
    }
    let line = one_line(&words(record).loaded_title(record));
    // Joined lines say the same as those of the whole text.
    let is_all = |all: Line| all.is_all && one_line(&format!("{}{}", all.text, all.end)) == line;
    let fits = after_id(record, &line).chars().count() <= TITLE_CHARS_MAX;
    if fits && words(record).line(record).is_some_and(is_all) {
        return line;
    }
    format!("{}{}", record.id, cut(after_id(record, &line), TITLE_CHARS_MAX))
}

/// Renders the record for a prompt, a file or a failure, in at most `chars_max` characters. A
/// record that does not fit whole is reduced to its head, the sentence that matters, and as much of
/// the rest as fits. Also returns whether the text is the whole record.
pub(super) fn excerpt(record: &Record, query: &Query, chars_max: usize) -> (String, bool) {
    let whole = whole(record);
    if whole.chars().count() <= chars_max {
        return (whole, true);
    }
    let Some((head, text)) = words(record).loaded_excerpt(record) else {
        return (cut(&whole, chars_max), false);
    };
    if text.trim().is_empty() {
        return (cut(&one_line(&head), chars_max), false);
    }
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

#[cfg(test)]
mod tests;
