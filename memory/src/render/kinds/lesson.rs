//! Lessons: a summary with its files, and the detail. A load's line says what to do.

use super::{Line, Worded, WordedItem, since};
use crate::fold::{one_line, with_block};
use crate::gist::gist;
use crate::limits::TITLE_CHARS_MAX;
use crate::record::{Lesson, Record};

impl Worded for Lesson {
    fn full(&self, of: &Record) -> String {
        with_block(head(of, self) + &files(self), &self.detail, "  ")
    }

    fn title_line(&self, of: &Record) -> String {
        let full = self.full(of);
        let is_more = !self.detail.is_empty() || full.len() > TITLE_CHARS_MAX;
        if is_more { head(of, self) } else { full }
    }

    fn excerpt(&self, of: &Record, _: usize) -> Option<(String, String)> {
        Some((head(of, self), self.detail.clone()))
    }

    fn line(&self, of: &Record) -> Option<Line> {
        let advice = one_line(gist(&self.detail, None));
        let is_all = advice == one_line(&self.detail);
        let head = head(of, self);
        let text = if advice.is_empty() {
            head
        } else {
            format!("{} {advice}", sentence(head.trim_end()))
        };
        Some(Line { text, end: files(self), is_all, is_joined: false })
    }

    fn loaded_title(&self, of: &Record) -> String {
        head(of, self)
    }

    fn loaded_excerpt(&self, of: &Record) -> Option<(String, &str)> {
        Some((head(of, self), self.detail.as_str()))
    }
}

impl WordedItem for Lesson {
    fn ended(&self) -> (String, String) {
        (format!("lesson: {}{}", self.summary, files(self)), self.detail.clone())
    }

    fn resumed(&self) -> String {
        with_block(format!("- lesson {}{}", self.summary, files(self)), &self.detail, "  ")
    }
}

/// Renders a lesson's files as ` (src/a.rs, src/b.rs)`. A lesson made by rule names them itself.
fn files(lesson: &Lesson) -> String {
    if lesson.files.is_empty() || lesson.captured.is_some() {
        String::new()
    } else {
        format!(" ({})", lesson.files.join(", "))
    }
}

/// Renders a lesson's id and summary, and whether its files changed since. For a lesson made by
/// rule, when and how often it was seen comes in between.
fn head(record: &Record, lesson: &Lesson) -> String {
    let id = record.id;
    match &lesson.captured {
        None => format!("{id} {}{}", lesson.summary, since(&lesson.seen)),
        Some(fixed) if fixed.times > 1 => {
            let (times, day) = (fixed.times, fixed.last.date());
            format!("{id} (captured, {times} times, last {day}) {}", lesson.summary)
        }
        Some(fixed) => format!("{id} (captured {}) {}", fixed.last.date(), lesson.summary),
    }
}

/// Adds a full stop to a text that does not end like a sentence.
fn sentence(text: &str) -> String {
    let ends = text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
    if ends { text.to_owned() } else { format!("{text}.") }
}
