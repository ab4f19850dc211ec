//! Notes: the key, the summary and the content.

use super::{Worded, WordedItem};
use crate::fold::{clip, one_line, with_block};
use crate::gist::gist_first;
use crate::ids::Timestamp;
use crate::kinds::NewNote;
use crate::limits::{IMPORTANCE, TITLE_CHARS_MAX};
use crate::record::{Note, Record};
use crate::render::cut::CUT;

impl Worded for Note {
    fn full(&self, of: &Record) -> String {
        if self.condensed {
            return format!("{}: {}", head(of, self), one_line(&self.summary)) + CUT;
        }
        if !self.summary.is_empty() {
            return self.whole(of);
        }
        let text = without_blank_ends(&self.content);
        match text.split_once('\n') {
            // The relative indentation shows only if all lines are below the head.
            Some((first, _)) if first.starts_with(char::is_whitespace) => {
                with_block(format!("{}:", head(of, self)), text, "  ")
            }
            Some((first, rest)) => with_block(format!("{}: {first}", head(of, self)), rest, "  "),
            None => format!("{}: {}", head(of, self), text.trim_start()),
        }
    }

    fn whole(&self, of: &Record) -> String {
        let head = format!("{}: {}", head(of, self), one_line(&self.summary));
        with_block(head.trim_end().to_owned(), after_summary(self), "  ")
    }

    fn title_line(&self, of: &Record) -> String {
        let first = self.content.trim().lines().next().unwrap_or_default();
        let text = if self.summary.is_empty() { first } else { &self.summary };
        format!("{}: {text}", head(of, self))
    }

    fn excerpt(&self, of: &Record, chars_max: usize) -> Option<(String, String)> {
        let head = format!("{}: {}", head(of, self), one_line(&self.summary));
        Some((clip(head.trim_end(), chars_max / 2), self.content.clone()))
    }

    fn loaded(&self, of: &Record) -> String {
        if self.condensed { self.condensed(of) } else { loaded_text(of, self) }
    }

    fn condensed(&self, of: &Record) -> String {
        if self.summary.is_empty() {
            return self.loaded(of);
        }
        format!("{}: {}{CUT}", loaded_head(of, self), one_line(&self.summary))
    }

    fn loaded_title(&self, of: &Record) -> String {
        let head = loaded_head(of, self);
        if !self.summary.is_empty() {
            return format!("{head}: {}", self.summary);
        }
        let after_id = head.strip_prefix(&of.id.to_string()).unwrap_or(&head);
        let taken = after_id.chars().count() + 4;
        let room = TITLE_CHARS_MAX.saturating_sub(taken).max(40);
        format!("{head}: {}", gist_first(&self.content, None, room))
    }

    fn loaded_excerpt(&self, of: &Record) -> Option<(String, &str)> {
        Some((format!("{}:", loaded_head(of, self)), self.content.as_str()))
    }
}

impl WordedItem for NewNote {
    fn is_for_others(&self) -> bool {
        !self.private
    }

    fn ended(&self) -> (String, String) {
        let label = label(self);
        if !self.summary.is_empty() {
            return (format!("{label}: {}", one_line(&self.summary)), self.content.clone());
        }
        let text = self.content.trim();
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        (format!("{label}: {first}"), rest.to_owned())
    }

    fn resumed(&self) -> String {
        let head = format!("- {}: {}", label(self), one_line(&self.summary));
        with_block(head.trim_end().to_owned(), &self.content, "  ")
    }
}

/// Renders `note build.command`.
fn label(note: &NewNote) -> String {
    format!("note{}", note.key.as_ref().map_or_else(String::new, |key| format!(" {key}")))
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

/// Renders a note's head: `n12 build.command`, and until when it holds.
fn loaded_head(record: &Record, note: &Note) -> String {
    let key = note.key.as_ref().map_or_else(String::new, |key| format!(" {key}"));
    let until = note.expires.map_or_else(String::new, |at| format!(" (until {})", end(record, at)));
    format!("{}{key}{until}", record.id)
}

fn loaded_text(record: &Record, note: &Note) -> String {
    let head = loaded_head(record, note);
    if !note.summary.is_empty() {
        return with_block(
            format!("{head}: {}", one_line(&note.summary)),
            after_summary(note),
            "  ",
        );
    }
    let text = note.content.trim_end();
    match text.trim_start().split_once('\n') {
        // The relative indentation shows only if all lines are below the head.
        Some(_) if text.trim_start_matches('\n').starts_with(char::is_whitespace) => {
            with_block(format!("{head}:"), text.trim_start_matches('\n'), "  ")
        }
        Some((first, rest)) => with_block(format!("{head}: {first}"), rest, "  "),
        None => format!("{head}: {}", text.trim_start()),
    }
}

/// Returns the content without its first line if that is the summary, which is shown before it.
fn after_summary(note: &Note) -> &str {
    let (first, rest) = note.content.split_once('\n').unwrap_or((&note.content, ""));
    if !note.summary.is_empty() && one_line(first) == one_line(&note.summary) {
        rest
    } else {
        &note.content
    }
}

/// Trims blank lines at the start of a text and white space at its end.
fn without_blank_ends(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let first = text.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    text.get(first..).unwrap_or(text)
}
