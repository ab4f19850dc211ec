//! Notices: messages about sessions that did not save, each shown once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{append, loaded};
use crate::change::{Notice, NoticeCause};
use crate::fold::{clip, clip_words, one_line};
use crate::ids::{Kind, NoticeId, RecordId};
use crate::limits::{
    NOTICE_FILES_MAX, NOTICE_NAMED_MAX, NOTICE_TITLE_CHARS_MAX, NOTICES_SHOWN_MAX,
};
use crate::memory::Memory;
use crate::overtaken::NOT_TAKEN;
use crate::record::{Body, Record, RecordState};
use crate::staged::{Counts, count};

/// Renders the newest unseen notices that fit. Returns the text, the ids of those shown, and the
/// number that wait. A notice ends with its row: after that was forgotten, there is nothing to look
/// at. The notices of one session's subagents count as one. `print` gets the characters left, and
/// returns `None` if not even the first line fits.
pub(super) fn notices(
    memory: &Memory,
    seen: &BTreeSet<NoticeId>,
    mut chars: usize,
    print: impl Fn(&[&Notice], usize) -> Option<String>,
) -> (String, Vec<NoticeId>, usize) {
    let has_row = |notice: &&Notice| {
        memory.record(notice.row).is_some_and(|row| row.state != RecordState::Forgotten)
    };
    let newest = memory.notices().rev().map(|notice| &**notice).filter(has_row);
    let unseen: Vec<&Notice> = newest.filter(|notice| !seen.contains(&notice.id)).collect();
    let mut text = String::new();
    let mut shown = Vec::new();
    for group in groups(&unseen).iter().take(NOTICES_SHOWN_MAX) {
        let Some(printed) = print(group, chars) else { break };
        chars = chars.saturating_sub(printed.chars().count());
        text.push_str(&printed);
        shown.extend(group.iter().map(|notice| notice.id));
    }
    let waiting = unseen.len() - shown.len();
    (text, shown, waiting)
}

/// Joins the notices of one session's subagents that ended in the same way. Any other notice stands
/// alone. Each group has the place of its newest.
fn groups<'a>(notices: &[&'a Notice]) -> Vec<Vec<&'a Notice>> {
    let key = |notice: &Notice| {
        let is_crash = match &notice.cause {
            NoticeCause::Ended => false,
            NoticeCause::Crashed { files, more } if files.is_empty() && *more == 0 => true,
            NoticeCause::Crashed { .. } => return None,
        };
        Some((notice.session.parent().filter(|_| !notice.files_unseen)?, is_crash))
    };
    let mut places = BTreeMap::new();
    let mut groups: Vec<Vec<&Notice>> = Vec::new();
    for notice in notices {
        let place = key(notice).map(|key| *places.entry(key).or_insert(groups.len()));
        match place.and_then(|place| groups.get_mut(place)) {
            Some(group) => group.push(notice),
            None => groups.push(vec![notice]),
        }
    }
    groups
}

/// Renders one line for a session that ended without saving all its work, or for several subagents
/// of one. Mentions a crash only if a daemon or machine died, or files changed after the last
/// checkpoint. Those files follow, to be read again. The line names what was kept, or counts it if
/// there is no room.
pub(super) fn plain(memory: &Memory, group: &[&Notice], chars: usize) -> Option<String> {
    let [notice] = group else {
        return Some(several(memory, group)).filter(|line| line.chars().count() <= chars);
    };
    let named = names(memory, notice).map(|names| head(memory, notice, &names));
    let named = named.filter(|head| head.chars().count() <= chars);
    let line = named.unwrap_or_else(|| head(memory, notice, &notice.kept.to_string()));
    let left = chars.checked_sub(line.chars().count())?;
    Some(line + &files(notice, NOTICE_FILES_MAX, left, "- "))
}

/// Renders the line of several subagents' notices, the newest first.
fn several(memory: &Memory, group: &[&Notice]) -> String {
    let Some(newest) = group.first() else { return String::new() };
    let client = memory.record(newest.row).map_or("", |row| &row.created.client);
    let client = clip(&one_line(client), 40);
    let comma = if client.is_empty() { "" } else { ", " };
    let (subagents, day) = (group.len(), newest.time.date());
    let who = format!("{subagents} subagents of one session ({client}{comma}{day})");
    let kept = match kept_by(group) {
        none if none == Counts::default() => "their summaries".to_owned(),
        kept => kept.to_string(),
    };
    let rows: BTreeSet<RecordId> = group.iter().map(|notice| notice.row).collect();
    let named: Vec<String> =
        rows.iter().rev().take(NOTICE_NAMED_MAX).map(ToString::to_string).collect();
    let more = match rows.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = named.join(", ");
    match newest.cause {
        NoticeCause::Ended => {
            format!("Kept for {who}, which ended with work not saved: {kept}. See {named}{more}.\n")
        }
        NoticeCause::Crashed { .. } => {
            format!("Recovered after a crash from {who}: {kept}. See {named}{more}.\n")
        }
    }
}

/// Returns the numbers of records that were kept for a group.
pub(super) fn kept_by(group: &[&Notice]) -> Counts {
    group.iter().fold(Counts::default(), |all, notice| all.and(notice.kept))
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
