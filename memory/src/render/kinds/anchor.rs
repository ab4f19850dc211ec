//! Anchors: a place, and why it matters.

use super::{Worded, WordedItem};
use crate::kinds::AnchorState;
use crate::record::{Anchor, Record};

impl Worded for Anchor {
    fn full(&self, of: &Record) -> String {
        let state = state(self);
        format!("{} [{} -> {} -> {}]{state}", of.id, self.file, self.lines, self.concept)
    }

    fn loaded(&self, of: &Record) -> String {
        format!("{} {}", of.id, place(self))
    }
}

impl WordedItem for Anchor {
    fn ended(&self) -> (String, String) {
        let head = format!("anchor: {} -> {} -> {}", self.file, self.lines, self.concept);
        (head, String::new())
    }

    fn resumed(&self) -> String {
        format!("- anchor {}", place(self))
    }
}

/// Renders an anchor as `src/retry.rs:42-67: backoff with jitter`.
fn place(anchor: &Anchor) -> String {
    let lines = anchor.lines.to_string();
    let sign = if lines.starts_with(|c: char| c.is_ascii_digit()) { ":" } else { " " };
    let lines = if lines.is_empty() { lines } else { format!("{sign}{lines}") };
    format!("{}{lines}: {}{}", anchor.file, anchor.concept, state(anchor))
}

/// Words the state of an anchor's lines. Lines that are where it says cost no words.
fn state(anchor: &Anchor) -> String {
    match &anchor.state {
        None | Some(AnchorState::Fresh) => String::new(),
        Some(AnchorState::Moved { from: (file, lines) }) if *file == anchor.file => {
            format!(" (moved from {lines})")
        }
        Some(AnchorState::Moved { from: (file, lines) }) => format!(" (moved from {file}:{lines})"),
        Some(AnchorState::Changed { percent }) => format!(" (code changed {percent} %)"),
        Some(AnchorState::Gone) => " (code is gone)".to_owned(),
        Some(AnchorState::Unchecked) => " (unchecked)".to_owned(),
    }
}
