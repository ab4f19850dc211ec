//! Texts of `--tools snap-memory`, in the forms that users of that system know.

use std::collections::BTreeMap;

use crate::fold::one_line;
use crate::kinds::topic::topic_key;
use crate::limits::{SNAP_DECISIONS_SHOWN_MAX, SNAP_HISTORY_SHOWN_MAX};
use crate::memory::Memory;
use crate::plan::{SnapOutcome, file_of, snap_file_of, snap_record};
use crate::topic_file::{Shown, TopicFile};

/// Renders the reply to a checkpoint.
pub fn saved(outcome: &SnapOutcome) -> String {
    format!("✅ Context saved: {}", outcome.file)
}

/// Renders the list of topics, by their files' names, with the number of conversations that are
/// bound to each.
pub fn list(memory: &Memory) -> String {
    let mut bound: BTreeMap<String, usize> = BTreeMap::new();
    for (_, binding) in memory.bindings() {
        *bound.entry(topic_key(&binding.topic)).or_default() += 1;
    }
    let mut lines: Vec<String> = memory
        .topics()
        .map(|(record, topic)| {
            let file = snap_file_of(record, topic);
            match bound.get(&topic_key(&topic.name)) {
                None => format!("- {file}"),
                Some(1) => format!("- {file} (bound: 1 session)"),
                Some(sessions) => format!("- {file} (bound: {sessions} sessions)"),
            }
        })
        .collect();
    if lines.is_empty() {
        return "No context snap files found.".to_owned();
    }
    lines.sort();
    format!("Context snaps:\n{}", lines.join("\n"))
}

/// Renders a topic as its file; `None` if there is no such topic.
pub fn read(memory: &Memory, given: &str) -> Option<String> {
    let (record, topic) = snap_record(memory, given)?;
    let shown = Shown { decisions: SNAP_DECISIONS_SHOWN_MAX, history: SNAP_HISTORY_SHOWN_MAX };
    let title = one_line(given);
    Some(TopicFile { title, ..TopicFile::of(record, topic, shown) }.render())
}

/// Renders the failure to read a topic that does not exist.
pub fn not_found(given: &str) -> String {
    format!("Not found: {}", file_of(&one_line(given)))
}
