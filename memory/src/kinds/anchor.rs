//! Anchors: where some code is and why it matters, never the code itself.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Facts, Fields, MergeKey, Searched, Which};
use crate::ids::Timestamp;
use crate::kinds::note::ContentType;
use crate::limits::{ANCHORS_BYTES_MAX, ANCHORS_MAX};
use crate::lines::LineRange;
use crate::record::Record;

pub(crate) const FACTS: Facts = Facts {
    noun: "anchor",
    plural: "anchors",
    plural_in_full: "anchors",
    heading: "Anchors",
    letter: 'a',
    limit: (ANCHORS_MAX, ANCHORS_BYTES_MAX),
    which: Some(Which {
        place: 2,
        line: "| where some code is and why it matters; never the code itself | **anchor** (file, lines, concept) |",
    }),
    page_place: 1,
    // It is about this file, and short. A blueprint only mentions it.
    file_place: 1,
};

/// The place of some code, and why it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The file, relative to the project's root, with forward slashes.
    pub file: String,
    /// The lines, or the text that was given instead of lines.
    pub lines: LineRange,
    /// The reason why the lines matter, on one line.
    pub concept: String,
}

impl Anchor {
    /// Returns whether one anchor over both is equivalent.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.file == other.file && self.lines.meets(&other.lines)
    }
}

impl Fields for Anchor {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::anchor(&self.file))
    }

    fn text_bytes(&self) -> usize {
        self.file.len() + self.concept.len() + self.lines.text_bytes()
    }

    fn name(&self) -> String {
        format!("{} {}", self.file, self.concept)
    }

    fn order(&self) -> String {
        format!("{}:{}", self.file, self.lines)
    }

    fn searched(&self) -> Searched<'_> {
        Searched { texts: vec![&self.concept], files: vec![&self.file] }
    }

    fn own_texts(&self) -> Vec<&str> {
        vec![&self.concept]
    }

    fn other_texts(&self) -> Vec<&str> {
        vec![&self.file]
    }

    fn tombstone_texts(&self) -> Vec<String> {
        // The file's name is visible in the project anyway.
        if self.is_telling(&self.concept) { vec![whole_text(self)] } else { Vec::new() }
    }

    /// An anchor has nothing but what names it.
    fn shorten(&mut self) -> bool {
        false
    }

    fn prompt_text(&self) -> String {
        self.name()
    }

    fn content_type(&self) -> ContentType {
        ContentType::Code
    }

    fn worth_bytes(&self) -> usize {
        self.file.len() + self.concept.len()
    }

    fn move_files(&mut self, _: &str, within: &dyn Fn(&str) -> Option<String>) -> bool {
        within(&self.file).map(|file| self.file = file).is_some()
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "file_path": self.file,
            "line_range": self.lines.to_string(),
            "concept": self.concept,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, of: &Record, _: &str, _: Timestamp) -> String {
        format!("- {} `{}` {}: {}", of.id, self.file, self.lines, self.concept)
    }
}

/// Returns the text of which a purge keeps a digest.
pub(crate) fn whole_text(anchor: &Anchor) -> String {
    format!("{}\n{}", anchor.file, anchor.concept)
}
