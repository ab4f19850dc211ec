//! Context that anchord adds to a conversation unasked: at its start, at a prompt, at an action,
//! around a compaction, and for a subagent.
//!
//! Every text is framed as reference that holds no instructions. The frame lets anchord recognise
//! the text, so that it is never stored because it was shown. Each text has a limit, frame
//! included, and says what it left out.
//!
//! The part that changes least comes first, and the same memory begins with the same bytes, because
//! clients cache an unchanged beginning. The text is empty if there is nothing to say.

mod action;
mod compaction;
mod prompt;
mod repeated;
mod resume;
mod subagent;

use std::collections::BTreeSet;

use super::load::{self, FileRulesView, LoadText, LoadView};
use super::room::Room;
use super::{append, changes, loaded};
use crate::audience::{Audience, Tool};
use crate::fold::{clip, clip_words, one_line};
use crate::ids::{Kind, RecordId, SessionId, Timestamp};
use crate::injected::{FRAME_CHARS, frame};
use crate::limits::{CHANGE_CHARS_MAX, READ_ONLY_CHARS_MAX, SESSION_START_CHARS_MAX};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record};
use crate::search::Query;

pub use action::{FailureContext, FileContext, OutlineOffer, failure_context, file_context};
pub(in crate::render) use compaction::held_at_load;
pub use compaction::{CompactionView, compaction_instructions, restored, staged_work};
pub use prompt::{PromptContext, prompt_context};
pub use repeated::{LoadedBefore, already_loaded};
pub use resume::{last_seen, resumed};
pub use subagent::{SubagentContext, subagent_context};

/// A text for a model's context, and the records in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedContext {
    /// The text, framed; empty if there is nothing to say.
    pub text: String,
    /// The records that it shows, in its order.
    pub shown: Vec<RecordId>,
    /// The records that it shows whole.
    pub whole: Vec<RecordId>,
    /// Whether there was more to say than it has room for.
    pub truncated: bool,
}

/// Renders a session's start: the load, framed, in at most [`SESSION_START_CHARS_MAX`] characters,
/// even if the view allows more. Ignores the view's cursor.
pub fn session_start(memory: &Memory, view: &LoadView<'_>) -> LoadText {
    let mut load = load_within(memory, view, SESSION_START_CHARS_MAX);
    let chars_max = view.chars_max.unwrap_or(usize::MAX).min(SESSION_START_CHARS_MAX);
    load.text = framed(&load.text, chars_max);
    load
}

/// Says that a memory could not be opened or rendered in time, framed.
pub fn not_shown() -> String {
    framed(
        "The project's memory could not be read in time, so none of it is shown. \
         Call memory_load {} before you continue.\n",
        SESSION_START_CHARS_MAX,
    )
}

/// Says why a memory cannot be read, framed. The reason may name a directory, which may have line
/// breaks.
pub fn unreadable(why: &str) -> String {
    let why = clip(&one_line(why), READ_ONLY_CHARS_MAX);
    framed(
        &format!(
            "The project's memory cannot be shown: {why}\n\
             This does not mean that nothing is recorded. Tell the person: until it is put right, \
             nothing can be stored either.\n"
        ),
        SESSION_START_CHARS_MAX,
    )
}

/// Renders a load without a cursor. With its frame it has at most `chars_max` characters.
fn load_within(memory: &Memory, view: &LoadView<'_>, chars_max: usize) -> LoadText {
    let outer = Room {
        chars: view.chars_max.unwrap_or(usize::MAX).min(chars_max),
        tokens: view.tokens_max.map_or(usize::MAX, |tokens| tokens as usize),
    };
    let view = LoadView { cursor: None, ..*view };
    // `fitted` refuses only cursors.
    load::fitted(memory, &view, outer.without(Room::of(&frame("", 0)))).unwrap_or_default()
}

/// Lists the pinned records that are shared or the reader's own, oldest first.
fn pinned<'a>(memory: &'a Memory, reader: &'a Reader, now: Timestamp) -> Vec<&'a Record> {
    let own = memory.own_notes(reader).filter(|record| record.state.is_active());
    let mut pinned: Vec<&Record> = memory
        .active()
        .chain(own)
        .map(|record| &**record)
        .filter(|record| record.pinned)
        .filter(|record| !record.note().is_some_and(|note| note.is_expired(now)))
        .collect();
    pinned.sort_by_key(|record| record.id);
    pinned
}

/// Returns whether it is the row of a subagent of this session.
fn is_row_of_subagent(record: &Record, session: &SessionId) -> bool {
    match &record.body {
        Body::SessionRow(row) => row.session.parent().as_ref() == Some(session),
        _ => false,
    }
}

/// Frames a text, in at most `chars_max` characters with its frame. A blank text becomes empty.
fn framed(text: &str, chars_max: usize) -> String {
    if text.trim().is_empty() { String::new() } else { frame(text, chars_max) }
}

/// Lines under headings, as long as there is room. After the first line that does not fit, no other
/// is added; the missing lines are counted.
struct Page {
    text: String,
    chars_max: usize,
    left: usize,
    head: String,
    missing: usize,
    /// The kinds of the missing records.
    missing_kinds: BTreeSet<Kind>,
    /// The call that returns the missing lines, as the end of a sentence. Without it, the missing
    /// records are named by their sections.
    rest: Option<String>,
    shown: Vec<RecordId>,
    whole: Vec<RecordId>,
}

/// The heading of rules.
const RULES: &str = "Rules in force:";

/// The room for the line that counts the missing ones, with a call.
const REST_CHARS: usize = 60;
/// The part of that room for the call.
const CALL_CHARS: usize = 22;

/// Words the call that shows all records of some kinds, page by page.
fn sections(kinds: &BTreeSet<Kind>) -> String {
    let sections: Vec<&str> = kinds.iter().map(|kind| kind.plural()).collect();
    let call = Audience::Agent.call(Tool::Load, &[("sections", sections.into())]);
    format!("{call} shows them")
}

impl Page {
    /// Creates a page of at most `chars_max` characters, frame included.
    fn of(chars_max: usize) -> Self {
        let left = chars_max.saturating_sub(FRAME_CHARS + REST_CHARS);
        Self {
            text: String::new(),
            chars_max,
            left,
            head: String::new(),
            missing: 0,
            missing_kinds: BTreeSet::new(),
            rest: None,
            shown: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Names the call that returns the missing lines, and keeps room for it.
    fn with_rest(mut self, rest: String) -> Self {
        self.keep_room_for(&rest);
        self.rest = Some(rest);
        self
    }

    /// Keeps room for the call that returns records of any kind.
    fn with_sections(mut self) -> Self {
        self.keep_room_for(&sections(&Kind::ALL.into()));
        self
    }

    fn keep_room_for(&mut self, rest: &str) {
        self.left = self.left.saturating_sub(rest.chars().count().saturating_sub(CALL_CHARS));
    }

    /// Adds a line, and before the first line under a heading the heading itself. Returns whether
    /// the line fitted.
    fn line(&mut self, head: &str, line: &str) -> bool {
        let mut text = String::new();
        if !head.is_empty() && self.head != head {
            append(&mut text, format_args!("{head}\n"));
        }
        append(&mut text, format_args!("{line}\n"));
        let chars = text.chars().count();
        if self.missing > 0 || chars > self.left {
            self.missing += 1;
            return false;
        }
        self.left -= chars;
        self.text.push_str(&text);
        if !head.is_empty() {
            head.clone_into(&mut self.head);
        }
        true
    }

    /// Adds records, whole as long as their texts take at most `whole_max` characters together, and
    /// otherwise by their titles. Only counts those after the first that does not fit, because
    /// there may be many. Returns the characters that are left for whole texts.
    fn records<'a>(
        &mut self,
        head: &str,
        records: impl IntoIterator<Item = &'a Record>,
        mut whole_max: usize,
    ) -> usize {
        for record in records {
            if self.missing > 0 {
                self.leave_out(1);
                self.missing_kinds.insert(record.kind());
                continue;
            }
            let (title, whole) = (loaded::title(record), loaded::whole(record));
            let takes = whole.chars().count();
            let is_whole = takes <= whole_max || title == whole;
            if self.line(head, if is_whole { &whole } else { &title }) {
                self.gave(record.id, is_whole);
                whole_max = whole_max.saturating_sub(takes);
            } else {
                self.missing_kinds.insert(record.kind());
            }
        }
        whole_max
    }

    /// Adds pinned records as [`Self::records`] does. Nobody pinned the rules in force, so they
    /// have a heading of their own, as in a load.
    fn pinned<'a>(&mut self, pinned: impl Iterator<Item = &'a Record>, whole_max: usize) {
        let (rules, others): (Vec<&Record>, Vec<&Record>) =
            pinned.partition(|record| record.kind() == Kind::Rule);
        let whole_left = self.records(RULES, rules, whole_max);
        self.records("Pinned:", others, whole_left);
    }

    /// Adds the rules of the project's file, or its fault, in at most `chars_max` characters. They
    /// come before [`Self::pinned`], so that many records of memory do not displace a fault.
    fn file_rules(&mut self, file: &FileRulesView<'_>, now: Timestamp, chars_max: usize) {
        let room = Room { chars: chars_max, tokens: usize::MAX };
        let text = file.text(now, room);
        if !text.is_empty() && !self.line(RULES, text.trim_end()) {
            self.missing_kinds.insert(Kind::Rule);
        }
    }

    /// Adds a record that others wrote, in one line. `session` is the reader's.
    fn change(&mut self, head: &str, record: &Record, session: &SessionId, now: Timestamp) {
        let mut change = changes::change(record, now);
        if is_row_of_subagent(record, session) {
            // A conversation does not know itself by its id.
            change = change.replacen(
                &format!("(subagent of {session}"),
                "(a subagent of this session",
                1,
            );
        }
        let change = clip_words(&change, CHANGE_CHARS_MAX);
        if self.line(head, &format!("- {change}")) {
            self.gave(record.id, false);
        }
    }

    /// Adds an excerpt of a record for a query, in at most `chars_max` characters. Returns whether
    /// it fitted.
    fn excerpt(&mut self, head: &str, record: &Record, query: &Query, chars_max: usize) -> bool {
        let (text, is_whole) = loaded::excerpt(record, query, chars_max);
        let fits = self.line(head, &text);
        if fits {
            self.gave(record.id, is_whole);
        }
        fits
    }

    /// Counts omitted lines without rendering them.
    fn leave_out(&mut self, count: usize) {
        self.missing += count;
    }

    fn gave(&mut self, id: RecordId, is_whole: bool) {
        self.shown.push(id);
        if is_whole {
            self.whole.push(id);
        }
    }

    /// Returns the characters left for lines under a heading.
    fn room_under(&self, head: &str) -> usize {
        let heading = if self.head == head { 0 } else { head.chars().count() + 1 };
        self.left.saturating_sub(heading + 1)
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn finished(mut self) -> RenderedContext {
        let truncated = self.missing > 0;
        if truncated {
            let kinds = Some(&self.missing_kinds).filter(|kinds| !kinds.is_empty());
            let rest = self.rest.or_else(|| kinds.map(sections));
            let rest = rest.map_or_else(String::new, |rest| format!("; {rest}"));
            append(&mut self.text, format_args!("{} more did not fit{rest}.\n", self.missing));
        }
        let Self { text, chars_max, shown, whole, .. } = self;
        RenderedContext { text: framed(&text, chars_max), shown, whole, truncated }
    }
}

#[cfg(test)]
mod tests;
