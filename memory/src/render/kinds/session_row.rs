//! Session rows: the day and the client, and the trail of entries.

use super::{Line, Worded};
use crate::activity::{ASKED, LAST_MESSAGE};
use crate::fold::{clip_words, cut_after_word, join_lines, one_line, with_block};
use crate::limits::{LOADED_LINE_CHARS_MAX, TITLE_CHARS_MAX};
use crate::overtaken::NOT_TAKEN;
use crate::record::{Record, SessionRow, TrailEntry};
use crate::render::cut::{CUT, cut};
use crate::render::loaded;

/// The beginnings of entries that are made by rule, from activity or from staged work.
const BY_RULE: [&str; 6] =
    ["Asked: ", "Edited: ", "Failed, then passed: ", "Said last: ", "Staged ", NOT_TAKEN];

impl Worded for SessionRow {
    fn full(&self, of: &Record) -> String {
        let text = self.trail_text();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        with_block(format!("{}: {first}", head(of, self)), rest, "  ")
    }

    /// The number of earlier entries comes at the end. It follows [`CUT`] if the line is clipped or
    /// the newest entry has more lines.
    fn title(&self, of: &Record) -> String {
        let line = one_line(&self.title_line(of));
        let earlier = earlier(self);
        let chars_max = TITLE_CHARS_MAX - earlier.chars().count();
        let has_more = self.summary.trim().contains('\n');
        if !has_more && line.chars().count() <= chars_max {
            return format!("{line}{earlier}");
        }
        cut(&line, chars_max) + &earlier
    }

    fn excerpt(&self, of: &Record, _: usize) -> Option<(String, String)> {
        let head = format!("{} {}{}:", of.id, self.ended.date(), row_mark(self));
        Some((head, self.trail_text()))
    }

    fn loaded(&self, of: &Record) -> String {
        let trail = self.trail_text();
        let (first, rest) = trail.split_once('\n').unwrap_or((&trail, ""));
        with_block(format!("{} {first}", loaded_head(of, self, self.on_behalf)), rest, "  ")
    }

    /// Its line.
    fn condensed(&self, of: &Record) -> String {
        loaded::line(of)
    }

    fn line(&self, of: &Record) -> Option<Line> {
        Some(line(of, self))
    }

    /// Its line, cut after a word. Only a whole line is followed by the number of earlier entries.
    fn loaded_title(&self, of: &Record) -> String {
        let Line { text, end, .. } = line(of, self);
        let chars_max = TITLE_CHARS_MAX + of.id.to_string().chars().count() - CUT.chars().count();
        if text.chars().count() + end.chars().count() <= chars_max {
            return text + &end;
        }
        cut_after_word(&text, chars_max).to_owned()
    }

    fn loaded_excerpt(&self, of: &Record) -> Option<(String, &str)> {
        Some((loaded_head(of, self, self.on_behalf), self.summary.as_str()))
    }
}

/// Renders a row's line, before it is cut. It begins with the newest entry that the agent wrote,
/// since an entry made by rule after it may say little. The newest entry follows then.
fn line(of: &Record, row: &SessionRow) -> Line {
    let newest = row.newest();
    let by_agent = row.earlier.iter().rev().find(|entry| is_by_agent(entry));
    let by_agent = by_agent.filter(|_| row.captured.is_none() && !is_by_agent(&newest));
    let Some(first) = by_agent else {
        let head = loaded_head(of, row, row.on_behalf);
        let id_chars = of.id.to_string().chars().count();
        let taken = head.chars().count() + CUT.chars().count() + 1;
        let room = (LOADED_LINE_CHARS_MAX + id_chars).saturating_sub(taken);
        let shortened = with_last_message(&row.summary, room);
        return Line {
            text: format!("{head} {}", join_lines(shortened.as_deref().unwrap_or(&row.summary))),
            end: earlier(row),
            is_all: row.earlier_count() == 0 && shortened.is_none(),
            is_joined: row.summary.trim().contains('\n'),
        };
    };
    let later = if first.on_behalf { "Later" } else { "After its last save" };
    let both = format!("{}\n{later}: {}", first.summary.trim(), row.summary.trim());
    let more = row.earlier_count().saturating_sub(1);
    Line {
        text: format!("{} {}", loaded_head(of, row, first.on_behalf), join_lines(&both)),
        end: count_earlier(more),
        is_all: more == 0,
        is_joined: true,
    }
}

/// Shortens a prompt that leaves no room for what was said last, which tells more about the work.
/// `None` if a text fits into `room` characters on one line, or is no such entry.
fn with_last_message(text: &str, room: usize) -> Option<String> {
    let over = join_lines(text).chars().count().saturating_sub(room);
    let (asked, rest) = text.trim().split_once('\n')?;
    let has_said = || rest.lines().any(|line| line.starts_with(LAST_MESSAGE));
    if over == 0 || !asked.starts_with(ASKED) || !has_said() {
        return None;
    }
    let chars_max = asked.chars().count().saturating_sub(over).max(ASKED_CHARS_MIN);
    Some(format!("{}\n{rest}", clip_words(asked, chars_max)))
}

/// The fewest characters to which a prompt is shortened for that.
const ASKED_CHARS_MIN: usize = 60;

/// Returns whether an entry has words of the agent: those of a save, or of its last checkpoint. An
/// entry that is made by rule begins with a label.
fn is_by_agent(entry: &TrailEntry) -> bool {
    let is_labelled = || BY_RULE.iter().any(|label| entry.summary.starts_with(label));
    entry.folded == 0 && (!entry.on_behalf || !is_labelled())
}

/// Renders everything of a row but its entries: `s3 2026-11-02 claude-code (captured)`.
fn head(record: &Record, row: &SessionRow) -> String {
    let who = who(record, row);
    format!("{} {}{who}{}", record.id, row.ended.date(), row_mark(row))
}

/// Renders ` claude-code`, or ` claude-code of ada` in a team. Nothing if the row covers several
/// sessions.
fn who(record: &Record, row: &SessionRow) -> String {
    match record.created.who() {
        who if row.folded > 0 || who.is_empty() => String::new(),
        who => format!(" {}", one_line(&who)),
    }
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

/// Renders ` (+2 earlier)`, or nothing if the newest entry is the only one.
pub(in crate::render) fn earlier(row: &SessionRow) -> String {
    count_earlier(row.earlier_count())
}

fn count_earlier(count: u32) -> String {
    match count {
        0 => String::new(),
        count => format!(" (+{count} earlier)"),
    }
}

/// Renders `s34 2026-11-22 claude-code of ada:`. If its agent did not save the entry that follows,
/// it also says how that was made.
fn loaded_head(record: &Record, row: &SessionRow, on_behalf: bool) -> String {
    let who = who(record, row);
    let subagent = row.session.parent().map(|_| "a subagent");
    let unsaved = match (row.captured.is_some() || on_behalf, row.saved_itself()) {
        (true, true) => Some("after its last save"),
        (true, false) => Some("not saved by its agent"),
        (false, _) => None,
    };
    let marks: Vec<&str> = subagent.into_iter().chain(unsaved).collect();
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    format!("{} {}{who}{marks}:", record.id, row.ended.date())
}
