//! The brief: a topic in the form of infinite-context's state, and the ways in which a free text
//! gets into it.
//!
//! A text is always appended first, as it is ([`Append`]). What its headings and labels name goes
//! into the brief with it. An agent or a model may then work the rest in: it is shown the brief as
//! a state, and sends back another. [`Brief::merge`] takes that one only if nothing was dropped.

mod append;
mod form;
mod merge;
mod state;

use std::collections::BTreeSet;

use crate::ids::{Timestamp, Version};
use crate::kinds::topic::{HistoryLine, Topic};
use crate::limits::BRIEF_CHANGES_MAX;
use crate::record::Record;

pub use append::{Append, CHECKPOINT_TAG};
pub use merge::{BriefMerge, Loss, MergeEnd, MergedText};
pub use state::{DecisionState, StateForm};

/// A brief at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// The id of the project.
    pub project: String,
    /// The version of the record; 0 if there is none yet.
    pub version: Version,
    /// The time of that version.
    pub written: Timestamp,
    /// The topic.
    pub topic: Topic,
    /// The active files that do not exist now. They stay in the topic and are not shown.
    pub gone: BTreeSet<String>,
}

impl Brief {
    /// Returns the brief that a topic's record holds. Without one, it is empty.
    pub fn of(project: &str, record: Option<&Record>, gone: BTreeSet<String>) -> Self {
        Self {
            project: project.to_owned(),
            version: record.map_or(Version(0), |record| record.version),
            written: record.map_or(Timestamp::default(), |record| record.updated.time),
            topic: record.and_then(Record::topic).cloned().unwrap_or_default(),
            gone,
        }
    }

    /// Returns the active files that exist, the last mentioned last.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.topic.files.iter().map(String::as_str).filter(|file| !self.gone.contains(*file))
    }

    /// Returns the last changes that agents wrote down, oldest first.
    pub fn changes(&self) -> Vec<&HistoryLine> {
        let by_agents = self.topic.history.iter().rev().filter(|line| !line.by_rule);
        let mut changes: Vec<&HistoryLine> = by_agents.take(BRIEF_CHANGES_MAX).collect();
        changes.reverse();
        changes
    }
}

#[cfg(test)]
mod tests;
