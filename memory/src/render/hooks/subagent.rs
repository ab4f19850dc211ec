//! Context at a subagent's start: the records that its task would recall as a prompt, then rules
//! and pinned records, then others by title.

use super::prompt::records;
use super::{Page, RenderedContext, pinned};
use crate::audience::Audience;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{PERSONAL_TOKENS_MAX, SUBAGENT_CHARS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::PromptQuery;
use crate::render::{FileRulesView, personal};

/// A subagent that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct SubagentContext<'a> {
    /// The reader.
    pub reader: &'a Reader,
    /// Its task, if the client reports one.
    pub task: Option<&'a str>,
    /// The user's own notes.
    pub personal: Option<&'a Memory>,
    /// The rules of the project's file.
    pub file_rules: FileRulesView<'a>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
}

/// Renders the records that the task recalls, then rules and pinned records, whole where half of
/// the rest has room for them. The user's own notes follow, then blueprints and lessons by title.
pub fn subagent_context(memory: &Memory, view: &SubagentContext<'_>) -> RenderedContext {
    let mut page = Page::of(SUBAGENT_CHARS_MAX).with_sections();
    if let Some(task) = view.task {
        let nothing = std::collections::BTreeSet::new();
        let of = PromptQuery { reader: view.reader, prompt: task, given: &nothing, now: view.now };
        records(&mut page, memory, &of);
    }
    let given: Vec<RecordId> = page.shown.clone();
    let unpinned = |kind: Kind| {
        let active = memory.active_of(kind).rev().map(|record| &**record);
        active.filter(|record| !record.pinned && !given.contains(&record.id))
    };
    let pinned = pinned(memory, view.reader, view.now).into_iter();
    let pinned = pinned.filter(|record| !given.contains(&record.id));
    page.file_rules(&view.file_rules, view.now, page.left / 2);
    page.pinned(pinned, page.left / 2);
    if let Some(memory) = view.personal {
        own_notes(&mut page, memory, view.now);
    }
    page.records("Settled:", unpinned(Kind::Blueprint), 0);
    page.records("Learned from failures, newest first:", unpinned(Kind::Lesson), 0);
    if page.is_empty() {
        return RenderedContext::default();
    }
    page.finished()
}

/// Adds the user's own notes, each as one text that is added whole or not at all.
fn own_notes(page: &mut Page, memory: &Memory, now: Timestamp) {
    const HEAD: &str = "The user's own notes:";
    let notes = personal::notes(memory, PERSONAL_TOKENS_MAX, now);
    for note in notes.shown {
        if page.line(HEAD, note.text.trim_end()) {
            page.gave(note.id, note.is_in_full);
        }
    }
    // If the line that counts notes does not fit, they count among all that does not fit.
    if notes.left_out > 0 && !page.line(HEAD, &personal::rest(notes.left_out, &Audience::Agent)) {
        page.leave_out(notes.left_out - 1);
    }
}
