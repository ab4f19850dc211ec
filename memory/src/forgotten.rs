//! Forgotten records in memory: their heads alone.
//!
//! A forgotten record is looked up by its id, named in lists of changes and told apart from others.
//! A head has all that this takes: numbers, provenance, key, tags, and the beginning of each text.
//! The texts are in the journal, under the record's id and version.

use crate::fold::{clip, one_line};
use crate::limits::{FORGOTTEN_BYTES_MAX, TITLE_CHARS_MAX};
use crate::record::{Record, RecordState};

/// Stands for the part of a text that a head leaves out.
pub(crate) const LEFT_OUT: &str = "…";

impl Record {
    /// Returns the head of a forgotten record. `None` if the record is not forgotten, is a head
    /// already, has no more than [`FORGOTTEN_BYTES_MAX`] bytes of text, or has no long one.
    pub fn head(&self) -> Option<Self> {
        let is_whole = self.state == RecordState::Forgotten && !self.is_head;
        if !is_whole || self.text_bytes() <= FORGOTTEN_BYTES_MAX {
            return None;
        }
        let mut head = self.clone();
        head.is_head = true;
        // Several short texts may be long together. A record with all its text is no head: it could
        // not be told from one that is brought back.
        (head.body.fields_mut().shorten() && head.body != self.body).then_some(head)
    }
}

/// Keeps the first line of a long text, as much of it as a title shows.
pub(crate) fn shorten(text: &mut String) {
    if text.len() > FORGOTTEN_BYTES_MAX {
        let first = text.trim().lines().next().unwrap_or_default();
        // Not `truncate`, which would keep what was allocated.
        *text = format!("{}\n{LEFT_OUT}", beginning(first));
    }
}

/// Returns as much of a text as a title shows.
pub(crate) fn beginning(text: &str) -> String {
    clip(&one_line(text), TITLE_CHARS_MAX)
}

#[cfg(test)]
mod tests;
