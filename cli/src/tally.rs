//! Compares acknowledged writes with what is stored. Each write carries a tag: a word that no other
//! write has.

use std::collections::{BTreeMap, BTreeSet};

use anchord_daemon::api::{ExportDocument, JournalLine};
use anchord_memory::{Body, RecordState};
use serde_json::Value;

/// The result of the comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The number of acknowledged writes.
    pub(crate) acknowledged: usize,
    /// Acknowledged writes that are missing.
    pub(crate) lost: Vec<String>,
    /// Writes that are there more than once.
    pub(crate) twice: Vec<String>,
}

impl Tally {
    /// Returns the number of acknowledged writes that are there.
    pub(crate) fn found(&self) -> usize {
        self.acknowledged - self.lost.len()
    }
}

/// Compares the acknowledged tags with the texts in which they should be.
pub(crate) fn tally<'a>(
    acknowledged: &BTreeSet<String>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Tally {
    let mut seen = Seen::default();
    for text in texts {
        seen.note(text);
    }
    Tally {
        acknowledged: acknowledged.len(),
        lost: acknowledged.iter().filter(|tag| seen.times(tag) == 0).cloned().collect(),
        twice: acknowledged.iter().filter(|tag| seen.times(tag) > 1).cloned().collect(),
    }
}

/// Returns what a project remembers, one text for each item: staged items, and records other than
/// topics and session rows. Archived records are included, forgotten ones are not.
pub(crate) fn texts(document: &ExportDocument) -> Vec<String> {
    let mut texts: Vec<String> = document
        .records
        .iter()
        .filter(|record| record.state != RecordState::Forgotten)
        .filter_map(|record| match &record.body {
            Body::Blueprint(blueprint) => {
                Some(format!("{} {}", blueprint.title, blueprint.content))
            }
            Body::Anchor(anchor) => Some(anchor.concept.clone()),
            Body::Lesson(lesson) => Some(format!("{} {}", lesson.summary, lesson.detail)),
            Body::Note(note) => Some(note.content.clone()),
            Body::Topic(_) | Body::SessionRow(_) => None,
        })
        .collect();
    for staged in document.staged.values() {
        let blueprints = staged.blueprints.iter().map(|b| format!("{} {}", b.title, b.content));
        let anchors = staged.anchors.iter().map(|anchor| anchor.concept.clone());
        let lessons = staged.lessons.iter().map(|l| format!("{} {}", l.summary, l.detail));
        let notes = staged.notes.iter().map(|note| note.content.clone());
        texts.extend(blueprints.chain(anchors).chain(lessons).chain(notes));
    }
    texts
}

/// Counts of words seen, once for each text.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeMap<String, u32>);

impl Seen {
    /// Counts the words of a text.
    pub(crate) fn note(&mut self, text: &str) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let words: BTreeSet<&str> =
            text.split(|c| !is_part(c)).filter(|word| word.contains('-')).collect();
        for word in words {
            *self.0.entry(word.to_owned()).or_default() += 1;
        }
    }

    /// Counts what a journal entry applied: the parts that a checkpoint staged, the summary of a
    /// save, notes. A write that was applied twice shows here even if memory merged the two.
    pub(crate) fn note_applied(&mut self, line: &JournalLine) {
        for change in &line.changes {
            match line.op.as_str() {
                "checkpoint" => {
                    if let Some(part) = change.pointer("/stage/part") {
                        self.note(&part.to_string());
                    }
                }
                "save" => {
                    // Rows that are set aside are rewritten unchanged.
                    let active = change.pointer("/put/standing").is_none();
                    let summary = change.pointer("/put/body/session_row/summary");
                    if let Some(summary) = summary.and_then(Value::as_str).filter(|_| active) {
                        self.note(summary);
                    }
                }
                "note" => {
                    let content = change.pointer("/put/body/note/content");
                    if let Some(content) = content.and_then(Value::as_str) {
                        self.note(content);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the tags that were seen more than once.
    pub(crate) fn repeated<'a>(&self, tags: &'a BTreeSet<String>) -> Vec<&'a String> {
        tags.iter().filter(|tag| self.times(tag) > 1).collect()
    }

    /// Returns how often a word was seen.
    pub(crate) fn times(&self, word: &str) -> u32 {
        self.0.get(word).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
