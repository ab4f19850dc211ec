//! At an action: what is known of a file before it is read or edited, and of a command that failed.

use std::collections::BTreeSet;

use super::{Page, RenderedContext};
use crate::ids::{RecordId, Timestamp};
use crate::limits::{ACTION_CHARS_MAX, ACTION_RECORD_CHARS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::{FileQuery, about_file};
use crate::search::Query;

/// A file that is about to be read or edited.
#[derive(Clone, Copy, Debug)]
pub struct FileContext<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// Relative to the project's root.
    pub file: &'a str,
    /// Records whose text the model has already.
    pub given: &'a BTreeSet<RecordId>,
    /// Tells what has expired.
    pub now: Timestamp,
}

/// A command that failed.
#[derive(Clone, Copy, Debug)]
pub struct FailureContext<'a> {
    /// The command line.
    pub command: &'a str,
    /// What it printed.
    pub output: &'a str,
    /// Records that are about it, the best first.
    pub remedies: &'a [RecordId],
}

/// Renders lessons, blueprints, notes and anchors about a file or its directory.
pub fn file_context(memory: &Memory, view: &FileContext<'_>) -> RenderedContext {
    let FileContext { reader, file, given, now } = *view;
    let records = about_file(memory, &FileQuery { reader, file, given, now });
    let head = format!("Memory has on {}:", crate::fold::clip(file, 120));
    // What it says to do comes first, not what names the file.
    few(memory, &head, &records, &Query::default())
}

/// Renders what was learned of a failure before.
pub fn failure_context(memory: &Memory, view: &FailureContext<'_>) -> RenderedContext {
    let query = Query::told(&format!("{} {}", view.command, view.output));
    few(memory, "Memory has on this failure:", view.remedies, &query)
}

/// The records that fit, the best first. What does not fit here is left for `memory_search`.
fn few(memory: &Memory, head: &str, records: &[RecordId], query: &Query) -> RenderedContext {
    let mut page = Page::of(ACTION_CHARS_MAX);
    for id in records {
        let Some(record) = memory.record(*id) else { continue };
        let room = page.room_under(head).min(ACTION_RECORD_CHARS_MAX);
        if room < ACTION_RECORD_CHARS {
            break;
        }
        page.excerpt(head, record, query, room);
    }
    page.finished()
}

/// A record is not cut to fewer characters.
const ACTION_RECORD_CHARS: usize = 100;
