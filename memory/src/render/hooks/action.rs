//! Context at an action: records about a file before it is read or edited, and about a command that
//! failed.

use std::collections::BTreeSet;

use super::{Page, RenderedContext};
use crate::audience::{Audience, Tool};
use crate::ids::{RecordId, Timestamp};
use crate::limits::{
    ACTION_CHARS_MAX, ACTION_NAMED_MAX, ACTION_RECORD_CHARS_MAX, ACTION_RECORDS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::{FileQuery, about_file};
use crate::record::Record;
use crate::render::loaded;
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
    /// Whether the model was told of the file before, so that only an offer is new.
    pub is_known: bool,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
    /// The file's outline, if it is about to be read whole and the outline is much shorter.
    pub offer: Option<OutlineOffer>,
}

/// The outline of a long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineOffer {
    /// The lines of the file.
    pub lines: u32,
    /// The tokens of the file.
    pub tokens: u32,
    /// The tokens of the outline.
    pub outline_tokens: u32,
    /// Whether the agent has the tool. Otherwise it has the command.
    pub has_tool: bool,
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

/// Renders the offer of the file's outline, and lessons, blueprints, notes and anchors about the
/// file or its directory.
pub fn file_context(memory: &Memory, view: &FileContext<'_>) -> RenderedContext {
    let FileContext { reader, file, given, is_known, now, offer } = *view;
    let query = FileQuery { reader, file, given, now };
    let records = if is_known { Vec::new() } else { about_file(memory, &query) };
    let file = crate::fold::clip(file, 120);
    let head = format!("Memory has on {file}:");
    let mut page = page(&records);
    if let Some(offer) = offer {
        page.line("", &offer.worded(&file));
    }
    // An empty query: advice comes first, not the passage that names the file.
    few(page, memory, &head, &records, &Query::default(), |_| false)
}

impl OutlineOffer {
    /// Says in one line that there is an outline and what it costs.
    fn worded(self, file: &str) -> String {
        let Self { lines, tokens, outline_tokens, has_tool } = self;
        let call = if has_tool { "memory_outline gives" } else { "`anchord outline PATH` prints" };
        format!(
            "{file} has {lines} lines, {tokens} tokens. {call} its outline for {outline_tokens} \
             tokens, so that you can read only the lines you need."
        )
    }
}

/// Renders the records about a failure. One that an agent wrote leaves room for a fix by rule,
/// which is short and of this very failure.
pub fn failure_context(memory: &Memory, view: &FailureContext<'_>) -> RenderedContext {
    let query = Query::plain(&format!("{} {}", view.command, view.output));
    let head = "Memory has on this failure:";
    few(page(view.remedies), memory, head, view.remedies, &query, Record::is_captured)
}

/// Creates a page with room for the call that gives all of these records but the first.
fn page(records: &[RecordId]) -> Page {
    match records {
        [] | [_] => Page::of(ACTION_CHARS_MAX),
        [_, others @ ..] => Page::of(ACTION_CHARS_MAX).with_rest(gives(others)),
    }
}

/// Words the call that gives records. Of many, it names the first.
fn gives(records: &[RecordId]) -> String {
    let named: Vec<String> =
        records.iter().take(ACTION_NAMED_MAX).map(ToString::to_string).collect();
    let call = Audience::Agent.call(Tool::Get, &[("id", named.join(",").into())]);
    match named.len() {
        all if all == records.len() => format!("{call} gives them"),
        some => format!("{call} gives the best {some} of them"),
    }
}

/// Adds the records that fit, the best first, at most [`ACTION_RECORDS_MAX`], and counts the
/// others. The first records leave room for those that `is_kept` holds for.
fn few(
    mut page: Page,
    memory: &Memory,
    head: &str,
    all: &[RecordId],
    query: &Query,
    is_kept: impl Fn(&Record) -> bool,
) -> RenderedContext {
    let takes = |id: &RecordId| {
        let kept = memory.record(*id).filter(|record| is_kept(record));
        let text = kept.map(|record| loaded::excerpt(record, query, ACTION_RECORD_CHARS_MAX).0);
        text.map_or(0, |text| text.chars().count() + 1)
    };
    let records = all.get(..ACTION_RECORDS_MAX).unwrap_or(all);
    for (index, id) in records.iter().enumerate() {
        let Some(record) = memory.record(*id) else { continue };
        let room = page.room_under(head);
        if room < ACTION_RECORD_CHARS {
            page.leave_out(records.len() - index);
            break;
        }
        let later = records.iter().skip(index + 1);
        let kept: usize = if is_kept(record) { 0 } else { later.map(&takes).sum() };
        let room = room.saturating_sub(kept).clamp(ACTION_RECORD_CHARS, ACTION_RECORD_CHARS_MAX);
        page.excerpt(head, record, query, room);
    }
    page.leave_out(all.len() - records.len());
    let missing = all.iter().copied().filter(|id| !page.shown.contains(id));
    page.rest = Some(gives(&missing.collect::<Vec<_>>()));
    page.finished()
}

/// The fewest characters to which a record is cut.
const ACTION_RECORD_CHARS: usize = 100;
