//! Counts in the journal how often a write was applied.

use std::collections::BTreeSet;

use anchord::tally::WordCounts;
use anchord_daemon::api::JournalLine;
use serde_json::Value;

/// Counts what a journal entry applied: the parts that a checkpoint staged, the summary of a
/// save, notes. A write that was applied twice shows here even if memory merged the two.
pub(crate) fn note_applied(seen: &mut WordCounts, line: &JournalLine) {
    for change in &line.changes {
        match line.op.as_str() {
            "checkpoint" => {
                if let Some(part) = change.pointer("/stage/part") {
                    seen.note(&part.to_string());
                }
            }
            "save" => {
                // Rows that are set aside are rewritten unchanged.
                let active = change.pointer("/put/standing").is_none();
                let summary = change.pointer("/put/body/session_row/summary");
                if let Some(summary) = summary.and_then(Value::as_str).filter(|_| active) {
                    seen.note(summary);
                }
            }
            "note" => {
                let content = change.pointer("/put/body/note/content");
                if let Some(content) = content.and_then(Value::as_str) {
                    seen.note(content);
                }
            }
            _ => {}
        }
    }
}

/// Returns the tags that were seen more than once.
pub(crate) fn repeated<'a>(seen: &WordCounts, tags: &'a BTreeSet<String>) -> Vec<&'a String> {
    tags.iter().filter(|tag| seen.times(tag) > 1).collect()
}
