//! Forgotten records in memory: their heads alone.
//!
//! A forgotten record is looked up by its id, named in lists of changes and told apart from others.
//! A head has all that this takes: numbers, provenance, key, tags, and the beginning of each text.
//! The texts are in the journal, under the record's id and version.

use crate::activity::SessionActivity;
use crate::fold::{clip, one_line};
use crate::limits::{FORGOTTEN_BYTES_MAX, TITLE_CHARS_MAX};
use crate::record::{Body, Lesson, Record, RecordState, SessionRow};
use crate::topic::Topic;

/// Stands for the part of a text that a head leaves out.
const LEFT_OUT: &str = "…";

impl Record {
    /// Returns the head of a forgotten record. `None` if the record is not forgotten, is a head
    /// already, or has no more than [`FORGOTTEN_BYTES_MAX`] bytes of text.
    pub fn head(&self) -> Option<Self> {
        let is_whole = self.state == RecordState::Forgotten && !self.is_head;
        if !is_whole || self.text_bytes() <= FORGOTTEN_BYTES_MAX {
            return None;
        }
        let mut head = self.clone();
        head.is_head = true;
        match &mut head.body {
            Body::Blueprint(blueprint) => shorten(&mut blueprint.content),
            // An anchor has nothing but what names it.
            Body::Anchor(_) => return None,
            Body::Lesson(lesson) => shorten_lesson(lesson),
            Body::Note(note) => {
                shorten(&mut note.content);
                if note.summary.len() > FORGOTTEN_BYTES_MAX {
                    note.summary = beginning(&note.summary);
                }
            }
            Body::Topic(topic) => shorten_topic(topic),
            Body::SessionRow(row) => shorten_row(row),
        }
        Some(head)
    }
}

/// Keeps the first line of a long text, as much of it as a title shows.
fn shorten(text: &mut String) {
    if text.len() > FORGOTTEN_BYTES_MAX {
        let first = text.trim().lines().next().unwrap_or_default();
        // Not `truncate`, which would keep what was allocated.
        *text = format!("{}\n{LEFT_OUT}", beginning(first));
    }
}

fn beginning(text: &str) -> String {
    clip(&one_line(text), TITLE_CHARS_MAX)
}

/// A lesson made by rule is told by its failure, which is short and stays.
fn shorten_lesson(lesson: &mut Lesson) {
    shorten(&mut lesson.detail);
    let is_long = lesson.files.iter().map(String::len).sum::<usize>() > FORGOTTEN_BYTES_MAX;
    if is_long && lesson.captured.is_none() {
        lesson.files = Vec::new();
        if lesson.detail.is_empty() {
            LEFT_OUT.clone_into(&mut lesson.detail);
        }
    }
}

/// A topic without a status is named by its last line of history.
fn shorten_topic(topic: &mut Topic) {
    let last = topic.history.pop();
    topic.decisions = Vec::new();
    topic.files = Vec::new();
    topic.history = Vec::new();
    match topic.status.trim().lines().next().map(beginning) {
        Some(first) => topic.status = format!("{first}\n{LEFT_OUT}"),
        None => topic.history = last.into_iter().collect(),
    }
}

fn shorten_row(row: &mut SessionRow) {
    shorten(&mut row.summary);
    for entry in &mut row.earlier {
        entry.summary = String::new();
    }
    row.captured = row.captured.as_deref().map(SessionActivity::head).map(Box::new);
}

#[cfg(test)]
mod tests;
