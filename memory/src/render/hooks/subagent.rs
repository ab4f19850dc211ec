//! At a subagent's start: what its task would be given as a prompt, then a slice of the memory by title.

use super::prompt::records;
use super::{Page, RenderedContext, pinned};
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{PERSONAL_TOKENS_MAX, SUBAGENT_CHARS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::PromptQuery;
use crate::record::Record;
use crate::render::personal;

/// What a subagent is to be given.
#[derive(Clone, Copy, Debug)]
pub struct SubagentContext<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// What it is asked to do, where the client tells.
    pub task: Option<&'a str>,
    /// The user's own notes.
    pub personal: Option<&'a Memory>,
    /// Tells what has expired.
    pub now: Timestamp,
}

/// Renders what a subagent is given: what its task needs, what is pinned, blueprints and lessons.
pub fn subagent_context(memory: &Memory, view: &SubagentContext<'_>) -> RenderedContext {
    let mut page = Page::of(SUBAGENT_CHARS_MAX);
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
    page.titles("Pinned:", pinned.filter(|record: &&Record| !given.contains(&record.id)));
    if let Some(memory) = view.personal {
        let section = personal(memory, PERSONAL_TOKENS_MAX, view.now);
        // Its first line is a heading.
        for line in section.text.lines().skip(1) {
            page.line("The user's own notes:", line);
        }
    }
    page.titles("Settled:", unpinned(Kind::Blueprint));
    page.titles("Learned from failures, newest first:", unpinned(Kind::Lesson));
    if page.is_empty() {
        return RenderedContext::default();
    }
    page.finished()
}
