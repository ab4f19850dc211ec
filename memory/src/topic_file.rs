//! A topic as a Markdown file, in the form of snap-memory: a title, and the sections Meta, Current
//! Status, Key Decisions and History. A topic's running descriptions are the sections Overview and
//! Architecture, which only the mirror writes.
//!
//! There is one renderer and one parser, for a tool that reads a topic, for exports, imports and
//! the mirror. [`TopicFile::parse`] gives back exactly the [`TopicFile`] that was rendered. Text
//! that would be read as something else gets a backslash, as in Markdown. Files that people or
//! snap-memory wrote lose nothing: a text that has no place in the form is in `others`.
//!
//! A topic's files, the clients of its lines, and times of day have no place in the form.

mod additions;
mod name;
mod parse;
mod render;

use crate::ids::Timestamp;
use crate::kinds::topic::{HistoryLine, Topic, TopicDecision};
use crate::record::Record;

pub use name::{SNAP_PREFIX, distinct, file_stem, given_name, snap_file, snap_topic};

/// The placeholder for a missing status.
pub const NO_STATUS: &str = "(no status yet)";
/// The placeholder for an empty list.
const NONE_YET: &str = "(none yet)";
/// The heading under which snap-memory put a topic's file into a prompt. It ends the text that
/// quotes it.
const INJECTED: &str = "## Topic Context (auto-injected by snap-memory)";

const META: &str = "Meta";
const OVERVIEW: &str = "Overview";
const ARCHITECTURE: &str = "Architecture";
const STATUS: &str = "Current Status";
const DECISIONS: &str = "Key Decisions";
const HISTORY: &str = "History";

/// A topic's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicFile {
    /// The title, on one line.
    pub title: String,
    /// The day on which the topic began.
    pub created: Option<Timestamp>,
    /// The day on which it was last written.
    pub updated: Option<Timestamp>,
    /// Other entries of Meta, in order.
    pub meta: Vec<(String, String)>,
    /// The overview, if the file has one.
    pub overview: Option<String>,
    /// The description of the architecture, if the file has one.
    pub architecture: Option<String>,
    /// The status; `None` if there is none yet.
    pub status: Option<String>,
    /// The decisions, in order.
    pub decisions: Vec<DecisionItem>,
    /// The lines of history, in order.
    pub history: Vec<HistoryItem>,
    /// Other sections, in order.
    pub others: Vec<Section>,
}

/// An item of Key Decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionItem {
    /// The day, in front of the text.
    pub day: Option<Timestamp>,
    /// The decision.
    pub decision: Decision,
}

/// A decision, in the ways in which a file has one. Each text is on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A decision as a sentence.
    Statement(String),
    /// A question that is open: `(open) Which cache?`.
    Open(String),
    /// A question and its answer: `(decided) Which cache? -> LRU`.
    Decided(String, String),
}

/// An item of History.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryItem {
    /// The day, in front of the text.
    pub day: Option<Timestamp>,
    /// The text, on one line.
    pub text: String,
}

/// A section of a person's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading; empty for a text before the first section.
    pub heading: String,
    /// The text.
    pub text: String,
}

/// Whether the texts of a topic were written since its file was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenHere {
    /// The status.
    pub status: WrittenSince,
    /// The overview.
    pub overview: WrittenSince,
    /// The architecture.
    pub architecture: WrittenSince,
}

/// Whether a text of a topic was written since its file was, by another than the file's editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrittenSince {
    /// It was not.
    #[default]
    Not,
    /// It was, before the file was edited.
    BeforeTheEdit,
    /// It was, after the file was edited.
    AfterTheEdit,
}

impl WrittenHere {
    /// Returns that each text may have been written, all before the edit or all after it.
    pub fn all(is_newer: bool) -> Self {
        let text = WrittenSince::of(true, is_newer);
        Self { status: text, overview: text, architecture: text }
    }
}

impl WrittenSince {
    /// Returns it for a text of a topic that was written after the edit, or not.
    pub fn of(is_written: bool, is_newer: bool) -> Self {
        match (is_written, is_newer) {
            (false, _) => Self::Not,
            (true, false) => Self::BeforeTheEdit,
            (true, true) => Self::AfterTheEdit,
        }
    }
}

/// The number of items that a file shows, the last ones of each list.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Decisions.
    pub decisions: usize,
    /// Lines of history.
    pub history: usize,
}

impl Shown {
    /// Shows every item.
    pub const ALL: Self = Self { decisions: usize::MAX, history: usize::MAX };
}

impl TopicFile {
    /// Returns a topic's file. Leaves out the line of history that repeats the status.
    pub fn of(record: &Record, topic: &Topic, shown: Shown) -> Self {
        let decisions = topic.decisions.iter().map(DecisionItem::of).collect::<Vec<_>>();
        let history = topic.distinct_history().into_iter().map(HistoryItem::of).collect::<Vec<_>>();
        Self {
            title: topic.name.clone(),
            created: Some(record.created.time.day_start()),
            updated: Some(record.updated.time.day_start()),
            meta: Vec::new(),
            overview: None,
            architecture: None,
            status: Some(topic.status.trim().to_owned()).filter(|status| !status.is_empty()),
            decisions: last(decisions, shown.decisions),
            history: last(history, shown.history),
            others: Vec::new(),
        }
    }

    /// Adds a topic's running descriptions.
    #[must_use]
    pub fn with_descriptions(self, topic: &Topic) -> Self {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Self { overview: text(&topic.overview), architecture: text(&topic.architecture), ..self }
    }
}

impl DecisionItem {
    fn of(decision: &TopicDecision) -> Self {
        let question = decision.question.clone();
        let day = Some(decision.time.day_start());
        let decision = match &decision.decided {
            None => Decision::Open(question),
            Some(answer) if decision.is_statement() => Decision::Statement(answer.clone()),
            Some(answer) => Decision::Decided(question, answer.clone()),
        };
        Self { day, decision }
    }

    /// Returns the decision of a part, with this time for one without a day.
    pub fn decision(&self, otherwise: Timestamp) -> TopicDecision {
        let time = self.day.unwrap_or(otherwise);
        let (question, decided) = match &self.decision {
            Decision::Statement(text) => {
                return TopicDecision { time, ..TopicDecision::statement(text) };
            }
            Decision::Open(question) => (question.clone(), None),
            Decision::Decided(question, answer) => (question.clone(), Some(answer.clone())),
        };
        TopicDecision { question, decided, time }
    }
}

impl HistoryItem {
    fn of(line: &HistoryLine) -> Self {
        Self { day: Some(line.time.day_start()), text: line.text.clone() }
    }
}

/// Reads an item as an agent gives it: `2026-11-22: text`, or a text alone. The text is put on one
/// line. Returns `None` for the day if there is none.
pub fn dated(text: &str) -> (Option<Timestamp>, String) {
    let text = crate::fold::one_line(text);
    match parse::day_before(&text) {
        Some((day, rest)) => (Some(day), rest.to_owned()),
        None => (None, text),
    }
}

fn last<T>(mut items: Vec<T>, items_max: usize) -> Vec<T> {
    items.drain(..items.len().saturating_sub(items_max));
    items
}

#[cfg(test)]
mod tests;
