//! Notices: messages about sessions that did not save, each shown once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{append, loaded};
use crate::change::{Notice, NoticeCause};
use crate::fold::{clip, clip_words, one_line};
use crate::ids::{Kind, NoticeId};
use crate::limits::{
    NOTICE_FILES_MAX, NOTICE_NAMED_MAX, NOTICE_TITLE_CHARS_MAX, NOTICES_SHOWN_MAX,
};
use crate::memory::Memory;
use crate::overtaken::NOT_TAKEN;
use crate::record::{Body, Record, RecordState};
use crate::staged::{Counts, count};

/// Renders the newest unseen notices that fit. Returns the text, the ids of those shown, and the
/// number that wait. A notice ends with its row: after that was forgotten, there is nothing to look
/// at. `print` gets the characters left for one notice, and returns `None` if not even the notice's
/// first line fits.
pub(super) fn notices(
    memory: &Memory,
    seen: &BTreeSet<NoticeId>,
    mut chars: usize,
    print: impl Fn(&Notice, usize) -> Option<String>,
) -> (String, Vec<NoticeId>, usize) {
    let has_row = |notice: &&Notice| {
        memory.record(notice.row).is_some_and(|row| row.state != RecordState::Forgotten)
    };
    let newest = memory.notices().rev().map(|notice| &**notice).filter(has_row);
    let unseen: Vec<&Notice> = newest.filter(|notice| !seen.contains(&notice.id)).collect();
    let mut text = String::new();
    let mut shown = Vec::new();
    for notice in unseen.iter().take(NOTICES_SHOWN_MAX) {
        let Some(printed) = print(notice, chars) else { break };
        chars = chars.saturating_sub(printed.chars().count());
        text.push_str(&printed);
        shown.push(notice.id);
    }
    let waiting = unseen.len() - shown.len();
    (text, shown, waiting)
}

/// Renders one line for a session that ended without saving all its work. Mentions a crash only if
/// a daemon or machine died, or files changed after the last checkpoint. Those files follow, to be
/// read again. The line names what was kept, or counts it if there is no room.
pub(super) fn plain(memory: &Memory, notice: &Notice, chars: usize) -> Option<String> {
    let named = names(memory, notice).map(|names| head(memory, notice, &names));
    let named = named.filter(|head| head.chars().count() <= chars);
    let line = named.unwrap_or_else(|| head(memory, notice, &notice.kept.to_string()));
    let left = chars.checked_sub(line.chars().count())?;
    Some(line + &files(notice, NOTICE_FILES_MAX, left, "- "))
}

/// Names the first records that a session's end wrote, and counts the others that were kept: `l5
/// Flush first and 2 more`. `None` if it is not known which ones they are.
fn names(memory: &Memory, notice: &Notice) -> Option<String> {
    let is_kept = |record: &&Arc<Record>| {
        let by = &record.updated;
        notice.kept.of(record.kind()) > 0
            && record.state.is_active()
            && !record.is_captured()
            && (&by.session, by.time) == (&notice.session, notice.time)
    };
    let title = |record: &Arc<Record>| {
        // A topic's status may be another session's.
        let title = match record.topic() {
            Some(topic) => format!("{} {}", record.id, one_line(&topic.name)),
            None => loaded::title(record),
        };
        clip_words(&title, NOTICE_TITLE_CHARS_MAX)
    };
    let kept = Kind::ALL.into_iter().map(|kind| notice.kept.of(kind)).sum::<u32>();
    // Most notices are about one of the last commits.
    let kept_max = usize::try_from(kept).unwrap_or(usize::MAX);
    let found: Vec<_> = memory.newest(None).filter(is_kept).take(kept_max).collect();
    let named: Vec<String> = found.into_iter().rev().take(NOTICE_NAMED_MAX).map(title).collect();
    let more = match kept.saturating_sub(count(named.len())) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| named.join(", ") + &more)
}

/// Renders the line of a notice. `kept` names or counts what was kept.
fn head(memory: &Memory, notice: &Notice, kept: &str) -> String {
    let record = memory.record(notice.row);
    let client = record.map_or("", |row| &row.created.client);
    let client = clip(&one_line(client), 40);
    let comma = if client.is_empty() { "" } else { ", " };
    let who = format!("session {} ({client}{comma}{})", notice.row, notice.time.date());
    let unseen = if notice.files_unseen {
        " Not all files could be looked at: some may have changed since its last checkpoint."
    } else {
        ""
    };
    let left_out = record.map_or(0, |row| not_taken(row));
    let kept = match notice.kept {
        none if none == Counts::default() && left_out == 0 => "its summary",
        _ => kept,
    };
    let kept = match left_out {
        0 => kept.to_owned(),
        count => format!("{kept}; {count} not taken, as {} says", notice.row),
    };
    // A title that was cut ends a sentence by itself.
    let stop = if kept.ends_with('…') { "" } else { "." };
    let saved = |row: &Record| matches!(&row.body, Body::SessionRow(row) if row.saved_itself());
    match &notice.cause {
        NoticeCause::Ended if record.is_some_and(|row| saved(row)) => {
            format!("Kept for {who}, which ended with work not saved: {kept}{stop}{unseen}\n")
        }
        NoticeCause::Ended => {
            format!("Kept for {who}, which ended without saving: {kept}{stop}{unseen}\n")
        }
        NoticeCause::Crashed { files, .. } => {
            let look = match (files.is_empty(), notice.files_unseen) {
                (true, _) => unseen,
                (false, false) => " Changed since its last checkpoint, so look again:",
                (false, true) => {
                    " Changed since its last checkpoint, so look again (not all files could be looked at):"
                }
            };
            format!("Recovered after a crash from {who}: {kept}{stop}{look}\n")
        }
    }
}

/// Counts the staged texts that a session's row has since they were not taken.
fn not_taken(row: &Record) -> usize {
    let Body::SessionRow(row) = &row.body else { return 0 };
    row.summary.lines().filter(|line| line.starts_with(NOT_TAKEN)).count()
}

/// Renders the files that a crash left changed, one line each. The last line counts those not
/// named.
pub(super) fn files(notice: &Notice, files_max: usize, mut chars: usize, bullet: &str) -> String {
    let NoticeCause::Crashed { files, more } = &notice.cause else { return String::new() };
    let mut text = String::new();
    let mut named = 0;
    // Leaves room for the line that counts the rest.
    chars = chars.saturating_sub(bullet.chars().count() + 20);
    for file in files.iter().take(files_max) {
        let line = format!("{bullet}{}\n", clip(&one_line(file), 200));
        if line.chars().count() > chars {
            break;
        }
        chars -= line.chars().count();
        text.push_str(&line);
        named += 1;
    }
    let rest = (files.len() - named) as u64 + u64::from(*more);
    if rest > 0 {
        append(&mut text, format_args!("{bullet}and {rest} more\n"));
    }
    text
}
