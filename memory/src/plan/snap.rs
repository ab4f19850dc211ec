//! A checkpoint of snap-memory: commits a topic alone, and binds the conversation to it.
//!
//! Any text is a name there. A topic with another name here has the name of its file there as a
//! tag, and is found by it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Plan, plan_bind, plan_topic, plan_use};
use crate::change::Change;
use crate::fold::{fold, one_line};
use crate::kinds::topic::{HistoryLine, Topic, TopicDecision, TopicPart, topic_name};
use crate::limits::SNAP_NAME_CHARS_MAX;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::staged::Staged;
use crate::topic_file::{SNAP_PREFIX, dated, distinct, snap_topic};

/// The first line of a topic's history.
const CREATED: &str = "Context created";

/// A checkpoint, as an agent gives it.
#[derive(Clone, Debug, Default)]
pub struct SnapCheckpoint {
    /// The topic's name, any text.
    pub topic: String,
    /// The new status.
    pub status: Option<String>,
    /// Decisions as sentences, each with its day in front if it has one.
    pub decisions: Vec<String>,
    /// A line of history, likewise.
    pub line: Option<String>,
}

/// The outcome of a checkpoint, for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapOutcome {
    /// The topic's file, as users of that system know it.
    pub file: String,
}

/// Writes a checkpoint into its topic, and binds the conversation with this key to it, also if it
/// was bound to another.
///
/// # Errors
/// Fails if the name is empty or too long, or if the topic refuses the part.
pub fn plan_snap(
    memory: &Memory,
    origin: &Provenance,
    key: &str,
    checkpoint: &SnapCheckpoint,
) -> Result<Plan<SnapOutcome>, Refusal> {
    let given = one_line(&checkpoint.topic);
    let chars = given.chars().count();
    if given.is_empty() || chars > SNAP_NAME_CHARS_MAX {
        let why = format!("has {chars} characters; 1 to {SNAP_NAME_CHARS_MAX} are allowed");
        return Err(Refusal::invalid("topic", why));
    }
    let known = snap_record(memory, &given);
    let name = known.map_or_else(|| free_name(memory, &given), |(_, topic)| topic.name.clone());
    let with_day = |text: &str| {
        let (day, text) = dated(text);
        // The epoch is the time of the write. The beginning of today would be before it.
        (text, day.filter(|day| *day != origin.time.day_start()).unwrap_or_default())
    };
    let mut part = TopicPart {
        name: Some(name.clone()),
        status: checkpoint.status.clone().filter(|status| !status.trim().is_empty()),
        ..TopicPart::default()
    };
    for text in checkpoint.decisions.iter().filter(|text| !text.trim().is_empty()) {
        let (text, time) = with_day(text);
        let same = |it: &&TopicDecision| it.decided.is_some() && fold(&it.question) == fold(&text);
        if known.is_some_and(|(_, topic)| topic.decisions.iter().any(|it| same(&it))) {
            continue;
        }
        part.decisions.push(TopicDecision { time, ..TopicDecision::statement(&text) });
    }
    if known.is_none() {
        // It comes before the other lines of the day.
        let (time, client) = (origin.time.day_start(), origin.client.clone());
        part.history.push(HistoryLine { time, client, ..HistoryLine::new(CREATED) });
    }
    if let Some(line) = checkpoint.line.as_deref().filter(|line| !line.trim().is_empty()) {
        let (text, time) = with_day(line);
        let client = origin.client.clone();
        part.history.push(HistoryLine { time, client, ..HistoryLine::written(text) });
    }
    let mut changes = match known {
        // Only the binding is new.
        Some((record, _)) if part.is_empty() => {
            plan_use(memory, record.id, origin).map(|plan| plan.changes).unwrap_or_default()
        }
        _ => {
            let part = Staged { topics: vec![part], ..Staged::default() };
            plan_topic(memory, origin, part, None)?.changes
        }
    };
    if known.is_none() && name != given {
        for change in &mut changes {
            if let Change::Put(record) = change {
                Arc::make_mut(record).tags = vec![file_of(&given)];
            }
        }
    }
    changes.extend(plan_bind(memory, key, Some(&name))?.changes);
    Ok(Plan { changes, outcome: SnapOutcome { file: file_of(&given) } })
}

/// Finds the topic with a name that snap-memory gave it.
pub fn snap_record<'a>(memory: &'a Memory, given: &str) -> Option<(&'a Record, &'a Topic)> {
    let given = one_line(given);
    let file = file_of(&given);
    let by_tag = |is: &dyn Fn(&str) -> bool| {
        let mut topics = memory.topics();
        topics
            .find(|(record, _)| given_tag(record).is_some_and(is))
            .map(|(record, topic)| (&**record, topic))
    };
    let by_name = || {
        let record = memory.topic(&topic_name(&given).ok()?)?;
        Some((&**record, record.topic()?)).filter(|(record, _)| given_tag(record).is_none())
    };
    by_tag(&|tag| tag == file).or_else(by_name).or_else(|| by_tag(&|tag| fold(tag) == fold(&file)))
}

/// Returns a topic's file as users of snap-memory know it: `context-fix: login.md`.
pub(crate) fn snap_file_of(record: &Record, topic: &Topic) -> String {
    file_of(&snap_name_of(record, topic))
}

/// Returns a topic's name as users of snap-memory know it: `fix: login`.
pub(crate) fn snap_name_of(record: &Record, topic: &Topic) -> String {
    given_tag(record).and_then(name_in).map_or_else(|| topic.name.clone(), str::to_owned)
}

/// Returns the file of a topic with this name.
pub(crate) fn file_of(given: &str) -> String {
    format!("{SNAP_PREFIX}{given}.md")
}

fn given_tag(record: &Record) -> Option<&str> {
    record.tags.iter().map(String::as_str).find(|tag| name_in(tag).is_some())
}

/// Returns the name in a file's name.
fn name_in(file: &str) -> Option<&str> {
    file.strip_prefix(SNAP_PREFIX)?.strip_suffix(".md")
}

/// Returns the name for a new topic. Two names that differ in other signs are two topics.
fn free_name(memory: &Memory, given: &str) -> String {
    let name = snap_topic(given);
    if memory.topic(&name).is_some() { distinct(&name, given) } else { name }
}

#[cfg(test)]
mod tests;
