//! Renders what readers see, as text. It is terse, since tokens are the user's money, and readable
//! for people.
//!
//! The same memory gives the same bytes.

mod brief;
mod budget;
mod changes;
mod compact;
pub mod compactor;
mod cursor;
mod cut;
mod ended;
mod history;
pub mod hooks;
pub mod infinite_context;
pub(crate) mod item;
mod kinds;
mod list;
mod load;
mod loaded;
mod notice;
mod page;
mod personal;
mod reason;
mod record;
mod refusal;
mod replies;
mod room;
mod rules;
mod search;
mod shares;
mod size;
pub mod snap_memory;
mod team;
mod time;
mod topic;
mod why;
mod written;
pub mod zipmem;

pub use brief::{Rest, StateCall, TextEnd, ask_for_state, state_refused, text_end};
pub use budget::{Tight, budget, percent};
pub use changes::changes_since;
pub use compact::{FullOfPinned, compaction, compaction_plan, full_of_pinned, made_room};
pub use cursor::{PageCursor, ParseCursorError};
pub use ended::{EndedSession, EndedText, ended};
pub use history::{Style, StyledLine, history, joined, plain_name, planned_rollback, rollback};
pub use kinds::end;
pub use list::{ListText, ListView, list};
pub use load::{FileRulesView, LoadText, LoadView, load};
pub use personal::{PersonalText, personal};
pub use reason::{Cause, reasons};
pub use record::{currency, end_with_a_line, headed, page_of, record, record_page};
pub use replies::{
    SAVE_WAITS_HERE, SharedOnce, add, checkpoint, commits_lost, forget, import, notes, save,
    save_later, save_refused_later, save_waits, told_more, update,
};
pub use rules::{
    RuleVerdict, WaitingAction, approvals, approved, file_rules, rule_check, rule_ids, rule_set,
    rule_stop, rules, rules_unreadable,
};
pub use search::{SearchText, SearchView, search};
pub use team::team;
pub use time::{ago, duration};
pub use topic::{BoundSession, bind, decided, topic, topic_written, topics};
pub use why::{why_file, why_prompt, why_start};
pub use written::{AddReply, ForgetReply, UpdateReply};

use std::cmp::Reverse;
use std::fmt::{self, Write as _};

use crate::fold::clip;
use crate::ids::{Kind, Timestamp};
use crate::limits::{CAPTURED_ROWS_SHOWN_MAX, PURGE_TITLE_CHARS_MAX};
use crate::memory::Memory;
use crate::record::{Body, Record};
use crate::secrets::scrub;

/// Renders a record on one line, with a mark if it has expired at `now`.
pub fn title(record: &Record, now: Timestamp) -> String {
    item::title(record) + list::expired(record, now)
}

/// Renders a size in bytes: `312 B`, kilobytes of 1,024 with one decimal, `3.2 KB`, or `256 MiB`.
pub fn bytes(bytes: u64) -> String {
    size::bytes(bytes)
}

/// Returns the newest session rows, newest first. Rows made by rule are limited to the newest few,
/// unless there are too few others.
pub(crate) fn newest_rows(memory: &Memory, rows_max: usize) -> Vec<&Record> {
    let mut rows: Vec<&Record> = memory.active_of(Kind::SessionRow).map(|row| &**row).collect();
    rows.sort_by_key(|record| newest_row(record));
    let written = rows.iter().filter(|row| !row.is_captured()).count();
    let mut captured_max = CAPTURED_ROWS_SHOWN_MAX.max(rows_max.saturating_sub(written));
    rows.retain(|row| {
        let counts = row.is_captured();
        let stays = !counts || captured_max > 0;
        captured_max -= usize::from(counts && stays);
        stays
    });
    rows.truncate(rows_max);
    rows
}

/// Returns the sort key of a session's row: pinned rows first, then the most recently ended.
fn newest_row(record: &Record) -> (bool, Reverse<i64>, Reverse<u64>) {
    let ended = match &record.body {
        Body::SessionRow(row) => row.ended.0,
        _ => 0,
    };
    (!record.pinned, Reverse(ended), Reverse(record.id.number))
}

/// Returns a record that is about to be purged on one line, clipped and without secrets.
pub fn purged_title(record: &Record) -> String {
    clip(&scrub(&item::title(record)).text, PURGE_TITLE_CHARS_MAX)
}

/// Appends to a text.
fn append(text: &mut String, what: fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a String takes all that is written to it");
}
