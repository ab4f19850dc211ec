//! Renders a topic: in a load, in full, or in a list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::append;
use crate::fold::{clip, clip_words, one_line};
use crate::ids::RecordId;
use crate::kinds::topic::{HistoryLine, MAIN, Topic, TopicDecision, topic_key};
use crate::limits::{
    ANSWER_CHARS_MAX, TITLE_CHARS_MAX, TOPIC_ARCHITECTURE_LOADED_CHARS_MAX,
    TOPIC_DECISIONS_SHOWN_MAX, TOPIC_HISTORY_LOADED_MAX, TOPIC_HISTORY_SHOWN_MAX,
    TOPIC_LINE_CHARS_MAX, TOPIC_OVERVIEW_LOADED_CHARS_MAX,
};
use crate::memory::Memory;
use crate::plan::{BindOutcome, TopicOutcome};
use crate::record::{Record, RecordState};

/// The remark at the end of a topic that is shown with the reader's staged work.
pub(super) const STAGED: &str = "\n  (with what you staged; not saved yet)";
/// The placeholder for a missing status.
const NO_STATUS: &str = "(no status yet)";

/// The extent to which a topic is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The extent that a load has room for.
    Loaded,
    /// Everything in view.
    All,
}

/// Renders a topic that is read on its own: everything in view, with active files that are `gone`
/// marked. `id` is its record's id, if it has one. The text has at most 9,000 characters.
pub fn topic(id: Option<RecordId>, topic: &Topic, gone: &BTreeSet<String>) -> String {
    let text = full(id, topic, gone, Detail::All) + "\n";
    if text.chars().count() <= ANSWER_CHARS_MAX {
        return text;
    }
    let rest = match id {
        Some(id) => format!("\nCut. The rest: memory_get {{\"id\":\"{id}\"}}.\n"),
        None => "\nCut.\n".to_owned(),
    };
    clip(&text, ANSWER_CHARS_MAX - rest.chars().count()) + &rest
}

/// Renders `t5 cache: warmed at start` and, indented, the rest of the topic.
pub(super) fn full(
    id: Option<RecordId>,
    topic: &Topic,
    gone: &BTreeSet<String>,
    detail: Detail,
) -> String {
    let mut status = topic.status.trim().lines();
    let first = status.next().unwrap_or(NO_STATUS);
    let mut lines: Vec<String> = status.map(|line| format!("  {line}")).collect();
    let line = |text: &str| match detail {
        Detail::Loaded => clip_words(text, TOPIC_LINE_CHARS_MAX),
        Detail::All => text.to_owned(),
    };
    for (name, text, chars_max) in [
        ("overview", &topic.overview, TOPIC_OVERVIEW_LOADED_CHARS_MAX),
        ("architecture", &topic.architecture, TOPIC_ARCHITECTURE_LOADED_CHARS_MAX),
    ] {
        let text = match detail {
            Detail::Loaded => clip_words(&one_line(text), chars_max),
            Detail::All => text.trim().to_owned(),
        };
        let mut text = text.lines();
        lines.extend(text.next().map(|first| format!("  {name}: {first}")));
        lines.extend(text.map(|line| format!("    {line}")));
    }
    // Open questions matter more than settled ones.
    let pending: Vec<&TopicDecision> = topic.pending().collect();
    let open = last(&pending, TOPIC_DECISIONS_SHOWN_MAX);
    lines.extend(open.iter().map(|it| format!("  open: {}", line(&it.question))));
    let closed: Vec<&TopicDecision> =
        topic.decisions.iter().filter(|it| it.decided.is_some()).collect();
    let settled = last(&closed, TOPIC_DECISIONS_SHOWN_MAX - open.len());
    lines.extend(settled.iter().map(|it| {
        let decision = line(&decided(it));
        format!("  decided: {decision} ({})", it.time.date())
    }));
    let left_out = topic.decisions.len() - open.len() - settled.len();
    if left_out > 0 {
        lines.push(format!("  ({left_out} earlier decisions)"));
    }
    if !topic.files.is_empty() {
        let file = |file: &String| {
            let mark = if gone.contains(file) { " (gone)" } else { "" };
            format!("{file}{mark}")
        };
        let files: Vec<String> = topic.files.iter().rev().map(file).collect();
        lines.push(format!("  files: {}", files.join(", ")));
    }
    let history = topic.distinct_history();
    let shown = match detail {
        Detail::Loaded => last(&history, TOPIC_HISTORY_LOADED_MAX),
        Detail::All => last(&history, TOPIC_HISTORY_SHOWN_MAX),
    };
    if !shown.is_empty() {
        let earlier = match history.len() - shown.len() {
            0 => String::new(),
            earlier => format!(" ({earlier} earlier)"),
        };
        lines.push(format!("  history{earlier}:"));
        lines.extend(shown.iter().map(|history| format!("  - {}", line(&history_line(history)))));
    }
    let id = id.map_or_else(String::new, |id| format!("{id} "));
    let mut text = format!("{id}{}: {first}", topic.name);
    for line in lines {
        text.push('\n');
        text.push_str(line.trim_end());
    }
    text
}

/// Renders the record on one line: its name and the first line of its status. Without a status, the
/// last line of its history is shown.
pub(super) fn head(record: &Record, topic: &Topic) -> String {
    let status = topic.status.trim().lines().next().map(one_line);
    let says = status.unwrap_or_else(|| without_status(topic));
    format!("{} {}: {says}", record.id, topic.name)
}

/// Renders the last line of the history, in place of a missing status.
pub(super) fn without_status(topic: &Topic) -> String {
    let told = topic.history.last().map(|line| one_line(&history_line(line)));
    told.unwrap_or_else(|| NO_STATUS.to_owned())
}

fn history_line(line: &HistoryLine) -> String {
    let client = if line.client.is_empty() { String::new() } else { format!(" {}", line.client) };
    let files = match line.files.as_slice() {
        [] => String::new(),
        files => format!(" ({})", files.join(", ")),
    };
    format!("{}{client}: {}{files}", line.time.date(), line.text)
}

/// Renders a decided question with its answer, and a statement once.
pub fn decided(decision: &TopicDecision) -> String {
    match &decision.decided {
        Some(answer) if !decision.is_statement() => {
            format!("{} -> {answer}", decision.question)
        }
        Some(statement) => statement.clone(),
        None => decision.question.clone(),
    }
}

fn last<T>(items: &[T], items_max: usize) -> &[T] {
    items.get(items.len().saturating_sub(items_max)..).unwrap_or_default()
}

/// A live session, with its conversation's key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundSession {
    /// The key of its binding.
    pub key: String,
    /// The client's own name.
    pub client: String,
    /// Whether it is the caller's session.
    pub own: bool,
}

/// Renders the topics, most recently written first and archived ones last, one line each. A line
/// has the name, the status, open questions, and the live sessions bound to the topic. Topics that
/// are bound but have nothing saved are named too. The text has at most 9,000 characters.
pub fn topics(memory: &Memory, live: &[BoundSession]) -> String {
    // The saved topic may be spelled differently from the binding.
    let mut bound: BTreeMap<String, (&str, Vec<&BoundSession>)> = BTreeMap::new();
    for session in live {
        if let Some(name) = memory.bound(&session.key) {
            let (_, here) = bound.entry(topic_key(name)).or_insert((name, Vec::new()));
            here.push(session);
        }
    }
    let mut known: Vec<(&Record, &Topic)> =
        memory.topics().map(|(record, topic)| (&**record, topic)).collect();
    // Archived topics come last.
    known.sort_by_key(|(record, _)| {
        (record.state == RecordState::Archived, Reverse((record.updated.time, record.id)))
    });
    let mut lines: Vec<String> = known
        .iter()
        .map(|(record, topic)| {
            let (_, here) = bound.remove(&topic_key(&topic.name)).unwrap_or_default();
            listed(record, topic, &here)
        })
        .collect();
    for (name, sessions) in bound.into_values() {
        lines.push(format!("- {name}: nothing saved yet; {}", clients(&sessions)));
    }
    if lines.is_empty() {
        return format!(
            "No topics yet: memory_checkpoint with a topic begins one; without a name it is `{MAIN}`.\n"
        );
    }
    let mut text = String::new();
    let total = lines.len();
    for (at, line) in lines.iter().enumerate() {
        if text.chars().count() + line.chars().count() > ANSWER_CHARS_MAX - 100 {
            append(
                &mut text,
                format_args!("truncated: {} more; memory_list has them\n", total - at),
            );
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn listed(record: &Record, topic: &Topic, here: &[&BoundSession]) -> String {
    let mut line = format!("- {}", clip_words(&head(record, topic), TITLE_CHARS_MAX));
    let open = topic.pending().count();
    if open > 0 {
        append(&mut line, format_args!(" [{open} open]"));
    }
    if record.state == RecordState::Archived {
        line.push_str(" [archived]");
    }
    append(&mut line, format_args!(" ({})", record.updated.time.date()));
    if !here.is_empty() {
        append(&mut line, format_args!("; {}", clients(here)));
    }
    line
}

/// Renders `here now: claude-code (you), codex`.
fn clients(sessions: &[&BoundSession]) -> String {
    let name = |session: &&BoundSession| {
        let client = if session.client.is_empty() { "an agent" } else { &session.client };
        let you = if session.own { " (you)" } else { "" };
        format!("{}{you}", clip(&one_line(client), 40))
    };
    let names: Vec<String> = sessions.iter().map(name).collect();
    format!("here now: {}", names.join(", "))
}

/// Renders the reply to a binding.
pub fn bind(memory: &Memory, outcome: &BindOutcome) -> String {
    let BindOutcome { topic, before, .. } = outcome;
    match (topic, before) {
        (None, None) => "Not bound to a topic.\n".to_owned(),
        (None, Some(before)) => format!("No longer bound to `{before}`.\n"),
        (Some(name), _) => {
            let again = if topic == before { "already " } else { "" };
            let mut text = format!("This session is {again}bound to `{name}`");
            let newest = memory.topic(name).and_then(|record| Some((record, record.topic()?)));
            match newest {
                Some((record, topic)) => {
                    let head = clip_words(&head(record, topic), TITLE_CHARS_MAX);
                    append(&mut text, format_args!(": {head}\n"));
                }
                None => text.push_str("; nothing is saved under it yet.\n"),
            }
            text
        }
    }
}

/// Renders the reply to a topic that was written at once.
pub fn topic_written(outcome: &TopicOutcome) -> String {
    let TopicOutcome { id, name, version, changed } = outcome;
    if !changed {
        return format!("Nothing new: {id} {name} stays at version {}.\n", version.0);
    }
    format!("Wrote {id} {name}, version {}; all sessions see it now.\n", version.0)
}

/// Renders the topic like [`full`] in a load, without knowledge of files.
pub(super) fn loaded(record: &Record, topic: &Topic) -> String {
    full(Some(record.id), topic, &BTreeSet::new(), Detail::Loaded)
}

/// Renders the topic like [`full`] on its own, without knowledge of files.
pub(super) fn whole(record: &Record, topic: &Topic) -> String {
    full(Some(record.id), topic, &BTreeSet::new(), Detail::All)
}

#[cfg(test)]
mod tests;
