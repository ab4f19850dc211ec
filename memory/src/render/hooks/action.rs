//! Context at an action: records about a file before it is read or edited, and about a command that
//! failed.

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
    /// The reader.
    pub reader: &'a Reader,
    /// The file's path, relative to the project's root.
    pub file: &'a str,
    /// Records whose text the model already has.
    pub given: &'a BTreeSet<RecordId>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
}

/// A command that failed.
#[derive(Clone, Copy, Debug)]
pub struct FailureContext<'a> {
    /// The command line.
    pub command: &'a str,
    /// The command's output.
    pub output: &'a str,
    /// Records about the failure, the best first.
    pub remedies: &'a [RecordId],
}

/// Renders lessons, blueprints, notes and anchors about a file or its directory.
pub fn file_context(memory: &Memory, view: &FileContext<'_>) -> RenderedContext {
    let FileContext { reader, file, given, now } = *view;
    let records = about_file(memory, &FileQuery { reader, file, given, now });
    let head = format!("Memory has on {}:", crate::fold::clip(file, 120));
    // An empty query: advice comes first, not the passage that names the file.
    few(memory, &head, &records, &Query::default())
}

/// Renders the records about a failure.
pub fn failure_context(memory: &Memory, view: &FailureContext<'_>) -> RenderedContext {
    let query = Query::told(&format!("{} {}", view.command, view.output));
    few(memory, "Memory has on this failure:", view.remedies, &query)
}

/// Renders the records that fit, the best first, and counts the others.
fn few(memory: &Memory, head: &str, records: &[RecordId], query: &Query) -> RenderedContext {
    let mut page = Page { rest: "memory_search finds them", ..Page::of(ACTION_CHARS_MAX) };
    for (index, id) in records.iter().enumerate() {
        let Some(record) = memory.record(*id) else { continue };
        let room = page.room_under(head).min(ACTION_RECORD_CHARS_MAX);
        if room < ACTION_RECORD_CHARS {
            page.leave_out(records.len() - index);
            break;
        }
        page.excerpt(head, record, query, room);
    }
    page.finished()
}

/// The fewest characters to which a record is cut.
const ACTION_RECORD_CHARS: usize = 100;
