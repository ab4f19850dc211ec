//! A page of records, newest first, one line each.

use std::cmp::Reverse;

use super::{append, item};
use crate::audience::Audience;
use crate::fold::clip;
use crate::ids::{Kind, RecordId, Revision, Timestamp};
use crate::limits::{ANSWER_CHARS_MAX, HITS_NAMED_MAX, LIST_RECORDS_MAX};
use crate::memories::Memories;
use crate::memory::Memory;
use crate::plan::is_expired;
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::refusal::Refusal;
use crate::tokens;

/// The arguments of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a> {
    /// The reader; records that it may not see are left out.
    pub reader: &'a Reader,
    /// Only these kinds; all if empty.
    pub kinds: &'a [Kind],
    /// Only records with all of these tags.
    pub tags: &'a [String],
    /// Only private records (`true`), or only shared ones (`false`).
    pub own: Option<bool>,
    /// The number of records on a page, at most [`LIST_RECORDS_MAX`].
    pub limit: usize,
    /// The maximum number of tokens of the answer.
    pub tokens_max: Option<u32>,
    /// The cursor of an earlier page: the number of its last record, and after a `u` that of the
    /// last of the user's notes.
    pub cursor: Option<&'a str>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
    /// The reader of the page.
    pub audience: &'a Audience,
}

/// A page, and the records on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListText {
    /// The text, ending with a line break.
    pub text: String,
    /// The records of the page, in its order.
    pub shown: Vec<RecordId>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// The number of records after the page.
    pub left_out: usize,
}

/// The characters and tokens reserved for the text before and after the lines.
const FRAME_CHARS: usize = 500;
const FRAME_TOKENS: u32 = 140;

/// The end of a page: the numbers of the last project record and of the last note of the user.
#[derive(Clone, Copy)]
struct Position {
    project: u64,
    personal: u64,
}

impl Position {
    const START: Self = Self { project: u64::MAX, personal: u64::MAX };

    /// Parses `12`, or `12u3` if the user's notes are listed too. A missing number means that its
    /// list has not begun.
    fn parse(cursor: &str) -> Option<Self> {
        let number = |text: &str| if text.is_empty() { Some(u64::MAX) } else { text.parse().ok() };
        match cursor.split_once('u') {
            None => Some(Self { project: cursor.parse().ok()?, ..Self::START }),
            Some((project, personal)) => {
                Some(Self { project: number(project)?, personal: number(personal)? })
            }
        }
    }

    fn print(self) -> String {
        let number =
            |number: u64| if number == u64::MAX { String::new() } else { number.to_string() };
        match self.personal {
            u64::MAX => number(self.project),
            personal => format!("{}u{personal}", number(self.project)),
        }
    }

    fn is_before(self, id: RecordId) -> bool {
        id.number < if id.is_personal() { self.personal } else { self.project }
    }

    fn pass(&mut self, id: RecordId) {
        *if id.is_personal() { &mut self.personal } else { &mut self.project } = id.number;
    }
}

/// Lists the records that the reader sees and that are not forgotten, newest first.
///
/// # Errors
/// Fails if the cursor is not valid.
pub fn list<'a>(memory: impl Into<Memories<'a>>, view: &ListView<'_>) -> Result<ListText, Refusal> {
    let memory = memory.into();
    let mut position = match view.cursor.map(|cursor| (cursor, Position::parse(cursor.trim()))) {
        None => Position::START,
        Some((_, Some(place))) => place,
        Some((cursor, None)) => {
            let cursor = clip(cursor, 40);
            let why = format!("`{cursor}` is not a cursor of a list; list without one");
            return Err(Refusal::invalid("cursor", why));
        }
    };
    let mut records = matching(memory, view);
    let total = records.len();
    records.retain(|record| position.is_before(record.id));
    let limit = view.limit.clamp(1, LIST_RECORDS_MAX);
    if records.is_empty() {
        let is_all = view.kinds.is_empty() && view.tags.is_empty() && view.own.is_none();
        let was_written = memory.revision() > Revision(0);
        let text = match (total, is_all) {
            (0, true) if was_written => nothing_active(view.audience),
            (0, true) => "Nothing is recorded yet.\n".to_owned(),
            (0, false) => "Nothing matches.\n".to_owned(),
            _ => "Nothing more.\n".to_owned(),
        };
        return Ok(ListText { text, ..ListText::default() });
    }
    let mut list = ListText::default();
    let mut lines = String::new();
    let mut tokens_left = view.tokens_max.map_or(u32::MAX, |max| max.saturating_sub(FRAME_TOKENS));
    for record in records.iter().take(limit) {
        let tokens = |line: &str| view.tokens_max.map_or(0, |_| tokens::count(line));
        let chars_left = ANSWER_CHARS_MAX - FRAME_CHARS - lines.chars().count();
        let fits =
            |line: &String| line.chars().count() <= chars_left && tokens(line) <= tokens_left;
        let shorter = item::shorter(record).filter(|_| list.shown.is_empty());
        let forms = std::iter::once_with(|| item::title(record)).chain(shorter);
        let Some(line) = forms.map(|line| line + marks(record, view.now) + "\n").find(fits) else {
            break;
        };
        tokens_left -= tokens(&line);
        lines.push_str(&line);
        list.shown.push(record.id);
        position.pass(record.id);
    }
    let shown = list.shown.len();
    append(&mut list.text, format_args!("{shown} of {total}, newest first\n{lines}"));
    if shown > 0 && shown < records.len() {
        let left = records.get(shown..).unwrap_or_default();
        let named = left.iter().take(HITS_NAMED_MAX).map(|record| record.id.to_string());
        let named: Vec<String> = named.collect();
        let (count, cursor) = (left.len(), position.print());
        let more = if count > named.len() { ", …" } else { "" };
        list.left_out = count;
        append(
            &mut list.text,
            format_args!(
                "truncated: true; {count} left out: {}{more}; go on with {}\n",
                named.join(", "),
                view.audience.again(&cursor)
            ),
        );
        list.next = Some(cursor);
    }
    Ok(list)
}

/// Says that everything was forgotten, and where it is.
fn nothing_active(audience: &Audience) -> String {
    match audience {
        Audience::Agent | Audience::Compactor => {
            "No record is active; what was forgotten is in history.\n".to_owned()
        }
        Audience::Person(_) => format!(
            "No record is active. {} lists what was forgotten, and {} brings back what was not purged.\n",
            audience.command(&["history"]),
            audience.command(&["undo"])
        ),
    }
}

/// Returns the records of both memories, newest first. Each memory's records keep the order of
/// their numbers, so that a cursor of two numbers marks where a page ends. Between two records of
/// different memories, the time of the first write decides.
fn matching<'a>(memory: Memories<'a>, view: &ListView<'_>) -> Vec<&'a Record> {
    let newest_first = |memory: &'a Memory| {
        let mut records: Vec<&'a Record> = memory
            .records()
            .map(|record| &**record)
            .filter(|record| record.state != RecordState::Forgotten && view.reader.sees(record))
            .filter(|record| view.kinds.is_empty() || view.kinds.contains(&record.kind()))
            .filter(|record| view.tags.iter().all(|tag| record.tags.contains(tag)))
            .filter(|record| view.own.is_none_or(|own| own == record.owner().is_some()))
            .collect();
        records.sort_by_key(|record| Reverse(record.id.number));
        records.into_iter().peekable()
    };
    let mut first = newest_first(memory.first);
    let Some(mut personal) = memory.personal.map(newest_first) else { return first.collect() };
    let mut all = Vec::new();
    while let (Some(one), Some(other)) = (first.peek(), personal.peek()) {
        let is_newer = other.created.time > one.created.time;
        all.extend(if is_newer { personal.next() } else { first.next() });
    }
    all.extend(first.chain(personal));
    all
}

/// Returns the marks that a reader must see before relying on a record.
pub(crate) fn marks(record: &Record, now: Timestamp) -> &'static str {
    match (record.state, is_expired(record, now)) {
        (RecordState::Archived, false) => " [archived]",
        (RecordState::Archived, true) => " [archived, EXPIRED]",
        _ => expired(record, now),
    }
}

/// Returns the mark of an expired record, which a reader must see before relying on it.
pub(crate) fn expired(record: &Record, now: Timestamp) -> &'static str {
    if is_expired(record, now) { EXPIRED } else { "" }
}

/// The mark of an expired item, also of one that is not in memory yet.
pub(super) const EXPIRED: &str = " [EXPIRED]";

#[cfg(test)]
mod tests;
