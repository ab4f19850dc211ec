//! The parts of a free text that are stored at once: the whole text as a note, and the fields that
//! its form names. A line of the topic's history stands for the rest.

use super::form::{self, Form};
use crate::fold::{clip, one_line};
use crate::kinds::NewNote;
use crate::kinds::topic::{HistoryLine, TopicPart};
use crate::limits::{
    CHECKPOINT_IMPORTANCE, NOTE_BYTES_MAX, TITLE_CHARS_MAX, TOPIC_LINE_WRITTEN_CHARS_MAX,
};
use crate::refusal::Refusal;
use crate::staged::Staged;

/// The tag of a note that is the text of a checkpoint.
pub const CHECKPOINT_TAG: &str = "checkpoint";

/// The parts of a free text that are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Append {
    /// The part of the topic: the fields that the form names, and a line of history for the rest.
    pub part: TopicPart,
    /// The text, in several notes if it is longer than one may be.
    pub notes: Vec<NewNote>,
    /// The fields that the form names, in their order.
    pub fields: Vec<&'static str>,
    /// Whether the text says more than the form names.
    pub has_more: bool,
}

impl Append {
    /// Reads a text for a topic; `None` is the caller's.
    ///
    /// # Errors
    /// Fails if the text is empty.
    pub fn of(topic: Option<&str>, text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let Some(first) = first_line(text) else {
            return Err(Refusal::invalid(
                "context",
                "is empty; say what was done and what is open",
            ));
        };
        let form = form::parse(text);
        let line = own_line(&form, first);
        let mut part = form.part;
        part.name = topic.map(str::to_owned);
        if let Some(line) = line {
            part.history.insert(0, HistoryLine::written(clip(&line, TOPIC_LINE_WRITTEN_CHARS_MAX)));
        }
        let notes = pieces(text).into_iter().map(|piece| NewNote {
            content: piece.to_owned(),
            summary: first_line(piece).map_or_else(String::new, |it| clip(&it, TITLE_CHARS_MAX)),
            tags: vec![CHECKPOINT_TAG.to_owned()],
            importance: Some(CHECKPOINT_IMPORTANCE),
            ..NewNote::default()
        });
        Ok(Self { part, notes: notes.collect(), fields: form.fields, has_more: form.has_more })
    }

    /// Adds it to a part of a write.
    pub fn add_to(self, staged: &mut Staged) {
        staged.topics.push(self.part);
        staged.notes.extend(self.notes);
    }
}

/// Returns the line of history that stands for a text. A line that its form puts into a field is
/// not said again. Where the text begins with fields and names what was done, that is enough.
fn own_line(form: &Form, first: String) -> Option<String> {
    if form.fields.is_empty() {
        return Some(first);
    }
    if form.has_first && !form.part.history.is_empty() {
        return None;
    }
    first_line(&form.rest)
}

/// Returns the first line that has words, without the marks of a heading or a list.
fn first_line(text: &str) -> Option<String> {
    let marks = |c: char| matches!(c, '#' | '*' | '-' | '>' | '_' | '`') || c.is_whitespace();
    let lines = || text.lines().filter(|line| line.chars().any(char::is_alphanumeric));
    // The bare name of a field says nothing of what was done.
    let line = lines().find(|line| !form::only_names_field(line)).or_else(|| lines().next());
    let line = line.map(|line| one_line(line.trim_matches(marks)));
    line.or_else(|| Some(one_line(text)).filter(|line| !line.is_empty()))
}

/// Splits a text that is too long for one note, at the end of a line if there is one.
fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > NOTE_BYTES_MAX {
        let end = text.floor_char_boundary(NOTE_BYTES_MAX);
        let (beginning, _) = text.split_at(end);
        let end = beginning.rfind('\n').map_or(end, |at| at + 1);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece.trim());
        text = rest.trim_start();
    }
    pieces.push(text);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
