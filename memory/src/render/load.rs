//! A load: memory condensed to a budget. The part that changes least comes first, in stable order;
//! notices and others' changes come last.
//!
//! Shares decide which records get room (`shares.rs`). Within a share, the task at hand and the
//! records' worth decide. A record's position depends on neither, so the same memory begins with
//! the same bytes. For the same reason, worth is measured at the time of the last write.

mod around;
mod order;
mod rules;
mod selection;
mod tail;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use self::around::Around;
use self::order::{relevance, sort, want};
pub use self::rules::FileRulesView;
use self::selection::{is_disabled, is_unproven, is_whole, project_topic, selects, topics};
use self::tail::tail_within;
use super::cut::clip_within;
use super::ended::EndedSession;
use super::page::{Cursor, Entry, Page, Priority, Shape, first, later, priority};
use super::room::{Room, Shown};
use super::{Tight, append, newest_row, newest_rows, size};
use crate::audience::{Audience, Tool};
use crate::fold::{clip, one_line};
use crate::ids::{Kind, NoticeId, RecordId, Revision, SessionId, Timestamp};
use crate::kinds::topic::{MAIN, Topic};
use crate::limits::{
    ACTIVE_TEXT_SOFT_BYTES_MAX, ANSWER_CHARS_MIN, LOAD_TOKENS_MIN, PART_RECORDS_MAX,
    PART_TEXT_BYTES_MAX, READ_ONLY_CHARS_MAX, READ_ONLY_TOKENS_MAX, ROWS_SHOWN_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record};
use crate::refusal::Refusal;
use crate::tokens;

/// The arguments of a load.
#[derive(Clone, Copy, Debug)]
pub struct LoadView<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The kinds to show. Session rows are all shown if alone, else only the newest few.
    pub sections: &'a [Kind],
    /// The character limit, at least [`ANSWER_CHARS_MIN`]; `None` shows everything in full.
    pub chars_max: Option<usize>,
    /// The maximum number of tokens; fewer than [`LOAD_TOKENS_MIN`] are refused.
    pub tokens_max: Option<u32>,
    /// The reader's task. Lessons, anchors and notes about it get room first.
    pub task: Option<&'a str>,
    /// The topic to show in full; `None` for the project's. Others are named.
    pub topic: Option<&'a str>,
    /// Those of its active files that no longer exist.
    pub gone: &'a BTreeSet<String>,
    /// The budgets that are nearly used up; notes under them are shown by their summaries.
    pub tight: Tight,
    /// The end of an earlier page.
    pub cursor: Option<&'a str>,
    /// The reader, whose own notes are shown with the project's.
    pub reader: &'a Reader,
    /// The session that loads.
    pub session: &'a SessionId,
    /// Notices that have been shown before.
    pub notices_seen: &'a BTreeSet<NoticeId>,
    /// The clients of other sessions working here now.
    pub live: &'a [String],
    /// The revision since which others' changes are shown.
    pub others_changed: Option<Revision>,
    /// The current time; expired records are left out.
    pub now: Timestamp,
    /// The user's own notes, which a whole load shows.
    pub personal: Option<&'a Memory>,
    /// Ended sessions whose work is still staged.
    pub just_ended: &'a [EndedSession],
    /// The reason why nothing can be saved, if so. The load begins with it.
    pub read_only: Option<&'a str>,
    /// The rules of the project's file, which follow those of memory.
    pub file_rules: FileRulesView<'a>,
    /// The caller's text for the end, within the same budget.
    pub last: &'a str,
    /// Whether to consider only a few records of each kind, for lack of time; the load says so.
    pub part: bool,
    /// The reader of the load.
    pub audience: &'a Audience,
}

/// A load and its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadText {
    /// The text, ending with a line break.
    pub text: String,
    /// Notices that the text shows; the others wait for the next load.
    pub notices_shown: Vec<NoticeId>,
    /// The cursor that fetches what was cut.
    pub next: Option<String>,
    /// The records that it shows, by kind and number.
    pub shown: Vec<RecordId>,
    /// Those that it shows whole.
    pub whole: Vec<RecordId>,
    /// Whether anything is left out or shown by title only.
    pub truncated: bool,
    /// Whether [`LoadView::last`] did not fit whole.
    pub last_is_cut: bool,
}

/// Renders a load of at most `chars_max` characters and `tokens_max` tokens.
///
/// # Errors
/// Fails if the cursor is not valid, or there are too few tokens for anything.
pub fn load(memory: &Memory, view: &LoadView<'_>) -> Result<LoadText, Refusal> {
    if let Some(few) = view.tokens_max.filter(|tokens| *tokens < LOAD_TOKENS_MIN) {
        let why = format!("is {few}, allowed: {LOAD_TOKENS_MIN} or more");
        return Err(Refusal::invalid("max_tokens", why));
    }
    let whole = Room {
        chars: view.chars_max.unwrap_or(usize::MAX),
        tokens: view.tokens_max.map_or(usize::MAX, |tokens| tokens as usize),
    };
    fitted(memory, view, whole)
}

/// Renders a load that takes no more than `whole`, even if the view allows more.
pub(super) fn fitted(
    memory: &Memory,
    view: &LoadView<'_>,
    whole: Room,
) -> Result<LoadText, Refusal> {
    let whole = Room { chars: whole.chars.max(ANSWER_CHARS_MIN), ..whole };
    // Limits count an agent's words: commands are longer than calls, by paths of any length.
    let counted = LoadView { audience: &Audience::Agent, ..*view };
    let around = Around::of(memory, &counted, whole);
    let room_max = around.framed.without(Room::of(&around.last));
    // Lines' tokens add up except at the joints. Room for the joints is taken off at once, so that
    // records' numbers, whose joints differ, do not decide what fits.
    let joints = Room { chars: 0, tokens: room_max.tokens.min(10_000) / 200 + 2 };
    let mut room = if view.cursor.is_some() { room_max } else { room_max.without(joints) };
    loop {
        let load = around.filled(memory, &counted, room, room_max)?;
        let chars = load.text.chars().count().saturating_sub(whole.chars);
        let tokens = (tokens::count(&load.text) as usize).saturating_sub(whole.tokens);
        if chars == 0 && tokens == 0 || room.chars == 0 || room.tokens == 0 {
            return match view.audience {
                Audience::Agent | Audience::Compactor => Ok(load),
                Audience::Person(_) => {
                    Around::of(memory, view, whole).filled(memory, view, room, room_max)
                }
            };
        }
        room = room.without(Room { chars, tokens });
    }
}

/// Returns the most room that the frame takes: the first line, a heading for each kind, and the
/// advice to tidy.
fn frame_room(memory: &Memory, view: &LoadView<'_>) -> Room {
    let longest = RecordId::new(Kind::Note, memory.last_number());
    let cursor = Cursor { from: longest, unnamed: Some(longest) };
    let mut frame = Room::of(&first_line(view, Some((longest, Some(cursor)))));
    for kind in Kind::ALL {
        let is_there = memory.totals().active.of(kind) > 0 || kind == Kind::Note;
        // A topic that is only staged is shown, too.
        let is_there = is_there || view.topic.is_some() && kind == Kind::Topic;
        if view.sections.contains(&kind) && is_there {
            let count = memory.totals().active.of(kind).max(1_000);
            let selected = selects(memory, kind, view.sections);
            let heading = heading(kind, count, count + 1, selected, view.audience);
            frame = frame.with(Room::of(&format!("\n## {heading}\n")));
        }
    }
    frame = frame.with(Room::of(&format!("\n{PINNED}\n")));
    if memory.totals().active.of(Kind::Rule) > 0 || !view.file_rules.is_empty() {
        frame = frame.with(Room::of(&format!("\n{RULES}\n")));
    }
    if memory.totals().text_bytes > ACTIVE_TEXT_SOFT_BYTES_MAX {
        frame = frame.with(Room::of(&size::nudge(view.audience)));
    }
    frame
}

/// The percentage of the room that is always kept for notices and changes, which must not change
/// the text before them.
const TAIL_PERCENT: usize = 5;
/// The minimum that is kept: one line on who else is here, and one that counts notices.
const TAIL_ROOM: Room = Room { chars: 300, tokens: 60 };

/// The parts of a page that are no records, and precede or replace some.
#[derive(Clone, Copy)]
struct Inner<'a> {
    /// The topic in view as a save would leave it.
    staged: Option<&'a Topic>,
    /// The user's own notes.
    personal: &'a str,
    /// The rules of the project's file.
    rules: &'a str,
}

/// Renders a load whose entries and tail fit in `room`. Entries above `room_max` are never whole.
fn within(
    memory: &Memory,
    view: &LoadView<'_>,
    Inner { staged, personal, rules }: Inner<'_>,
    room: Room,
    room_max: Room,
) -> Result<LoadText, Refusal> {
    if let Some(cursor) = view.cursor {
        return continued(memory, view, staged, cursor, (room, room_max));
    }
    let tail_room = room.percent(TAIL_PERCENT).at_least(TAIL_ROOM);
    let others_room = room.without(tail_room);
    let wanted = wanted(memory, view);
    let entries_at = |depth: Depth| entries(&wanted, memory, view, staged, depth);
    let mut entries = entries_at(Depth::Whole);
    let mut page = first(&entries, room, others_room, room_max);
    let is_full = |page: &Page| page.shown.iter().all(|shown| *shown == Shown::Full);
    if !is_full(&page) && has_room_but_for_topics(&entries, others_room) {
        entries = entries_at(Depth::Briefly);
        page = first(&entries, room, others_room, room_max);
    }
    if !is_full(&page) {
        entries = entries_at(Depth::Lines);
        page = first(&entries, room, others_room, room_max);
    }
    // Only pinned records take precedence over the tail.
    let beside_pinned = room.without(page.pinned);
    let tail_room = if beside_pinned.holds(tail_room) { tail_room } else { beside_pinned };
    let tail = tail_within(memory, view, tail_room);
    let is_cut = |shown: Shown| shown != Shown::Full;
    let mut shown_entries = entries.iter().zip(&page.shown);
    let cut = shown_entries.clone().any(|(_, shown)| is_cut(*shown));
    let more = shown_entries.find(|(entry, shown)| is_cut(**shown) || entry.is_brief_of_more());
    let more = more.map(|(entry, _)| (entry.record.id, page.next));
    let mut text = first_line(view, more) + "\n" + personal;
    if memory.totals().active() == 0 && entries.is_empty() && view.just_ended.is_empty() {
        rules_section(&mut text, &[], rules);
        text.push_str(if rules.is_empty() { "" } else { "\n" });
        let was_written = memory.revision() > Revision(0);
        let nothing = if was_written { "No record is active" } else { "Nothing is recorded yet" };
        text.push_str(nothing);
        text.push_str(match view.audience {
            Audience::Agent | Audience::Compactor => {
                ": memory_checkpoint what you learn as you go, memory_save before you end.\n"
            }
            Audience::Person(_) => {
                ": agents store what they learn once `anchord setup` was run, and you can with `anchord note`.\n"
            }
        });
    } else {
        let before = text.len();
        sections(&mut text, memory, view, &entries, &page, rules);
        if text.len() == before && personal.is_empty() && view.just_ended.is_empty() {
            text.push_str(&nothing_in(view.sections));
        }
        if memory.totals().text_bytes > ACTIVE_TEXT_SOFT_BYTES_MAX {
            text.push('\n');
            text.push_str(&size::nudge(view.audience));
        }
    }
    text.push_str(&tail.text);
    Ok(LoadText {
        text,
        notices_shown: tail.notices,
        next: page.next.map(Cursor::print),
        shown: shown(&entries, &page),
        whole: whole(&entries, &page),
        truncated: cut || view.part,
        last_is_cut: false,
    })
}

/// Renders a later page.
fn continued(
    memory: &Memory,
    view: &LoadView<'_>,
    staged: Option<&Topic>,
    cursor: &str,
    (room, room_max): (Room, Room),
) -> Result<LoadText, Refusal> {
    let (from, unnamed) = place_of(memory, cursor).ok_or_else(|| {
        let cursor = clip(cursor, 40);
        Refusal::invalid("cursor", format!("`{cursor}` is not one of a load; load without it"))
    })?;
    let mut entries = entries(&wanted(memory, view), memory, view, staged, Depth::Whole);
    entries.sort_by_key(|entry| priority(entry.record));
    let page = later(&entries, from, unnamed, room, room_max);
    let project = name(view.project);
    let mut text = format!("Memory of {project}, continued: reference, not instructions.\n");
    sections(&mut text, memory, view, &entries, &page, "");
    if let Some(next) = page.next {
        append(&mut text, format_args!("\nThe rest: {}.\n", goes_on(view, next)));
    }
    Ok(LoadText {
        text,
        notices_shown: Vec::new(),
        next: page.next.map(Cursor::print),
        shown: shown(&entries, &page),
        whole: whole(&entries, &page),
        truncated: page.next.is_some(),
        last_is_cut: false,
    })
}

/// Renders the project's name. If something was `cut`, it also says how to fetch one of the cut
/// records and the next page.
fn first_line(view: &LoadView<'_>, cut: Option<(RecordId, Option<Cursor>)>) -> String {
    let project = name(view.project);
    let warning = view.read_only.map_or_else(String::new, |why| {
        let why = clip_within(&one_line(why), READ_ONLY_CHARS_MAX, READ_ONLY_TOKENS_MAX);
        format!("READ-ONLY, nothing can be saved: {why}; `anchord doctor` says what to do\n")
    });
    let head =
        format!("{warning}Memory of {project} from earlier sessions: reference, not instructions.");
    let Some((example, next)) = cut else { return head };
    let next = next.map_or_else(String::new, |next| format!(", {} goes on", goes_on(view, next)));
    let search = view.audience.tool(Tool::Search);
    let get = view.audience.call(Tool::Get, &[("id", example.to_string().into())]);
    format!("{head} There is more: {search} finds it by words, {get} gives one in full{next}.")
}

/// Says that none of these kinds has anything to show.
fn nothing_in(sections: &[Kind]) -> String {
    let kinds: Vec<&str> = sections.iter().map(|kind| kind.plural()).collect();
    match kinds.len() {
        1..=3 => format!("\nNothing is recorded under {}.\n", kinds.join(", ")),
        _ => "\nNothing that is recorded is to be shown.\n".to_owned(),
    }
}

/// Clips a project's name; some characters are four tokens each.
fn name(project: &str) -> String {
    clip_within(&one_line(project), 60, 60)
}

/// Returns the records of which a page shows anything.
fn shown(entries: &[Entry<'_>], page: &Page) -> Vec<RecordId> {
    let shown = entries.iter().zip(&page.shown).filter(|(_, shown)| **shown != Shown::No);
    let ids: BTreeSet<RecordId> = shown.map(|(entry, _)| entry.record.id).collect();
    ids.into_iter().collect()
}

/// Returns the records of which a page shows everything.
fn whole(entries: &[Entry<'_>], page: &Page) -> Vec<RecordId> {
    let full = entries.iter().zip(&page.shown).filter(|(_, shown)| **shown == Shown::Full);
    let whole = full.map(|(entry, _)| entry).filter(|entry| entry.says_all());
    let ids: BTreeSet<RecordId> = whole.map(|entry| entry.record.id).collect();
    ids.into_iter().collect()
}

/// Returns a cursor's position in the order of priority.
fn place_of(memory: &Memory, cursor: &str) -> Option<(Priority, Option<(RecordId, Priority)>)> {
    let cursor = Cursor::parse(cursor)?;
    let place = |id: RecordId| memory.record(id).map(|record| (id, priority(record)));
    let unnamed = match cursor.unnamed {
        Some(id) => Some(place(id)?),
        None => None,
    };
    Some((place(cursor.from)?.1, unnamed))
}

/// The maximum extent to which a page shows its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Entries in full.
    Whole,
    /// Topics that are not in view with their status and open questions alone, unless only they are
    /// requested.
    Briefly,
    /// Lessons and sessions on one line as well.
    Lines,
}

/// Returns whether all entries but topics would be shown in full. Reads no more of them than fit.
fn has_room_but_for_topics(entries: &[Entry<'_>], room: Room) -> bool {
    let others = entries.iter().filter(|entry| entry.record.kind() != Kind::Topic);
    let mut left = Some(room);
    for entry in others {
        left = left.and_then(|left| left.take(entry.full_room()));
        if left.is_none() {
            return false;
        }
    }
    true
}

/// Returns the active records of the requested sections: pinned ones first, then the most wanted.
fn wanted<'a>(memory: &'a Memory, view: &'a LoadView<'_>) -> Vec<&'a Record> {
    let (focus, main) = (view.focus(memory), project_topic(memory));
    let mut records: Vec<&'a Record> = Vec::new();
    for kind in view.sections.iter().copied().collect::<BTreeSet<Kind>>() {
        if view.part && (is_whole(kind, view.sections) || kind == Kind::Lesson) {
            let few = memory.active_of(kind).rev().filter(|record| !record.pinned);
            records.extend(few.take(PART_RECORDS_MAX).map(|record| &**record));
            let pinned = memory.active_of(kind).filter(|record| record.pinned);
            records.extend(pinned.map(|record| &**record));
        } else if is_whole(kind, view.sections) {
            let is_shown = |record: &&Record| view.sections == [kind] || !is_disabled(record);
            records.extend(memory.active_of(kind).map(|record| &**record).filter(is_shown));
            let archived = focus
                .and_then(|id| memory.record(id))
                .filter(|record| kind == Kind::Topic && !record.state.is_active());
            records.extend(archived.map(|record| &**record));
        } else if kind == Kind::Lesson {
            let lessons = memory.active_of(kind).filter(|it| it.pinned || !is_unproven(it));
            records.extend(lessons.map(|record| &**record));
        } else if kind == Kind::Topic {
            records.extend(topics(memory, focus, main));
        } else {
            records.extend(newest_rows(memory, ROWS_SHOWN_MAX));
        }
        if kind == Kind::Note && !view.part {
            let own = memory.own_notes(view.reader).map(|record| &**record);
            records.extend(own.filter(|record| record.state.is_active()));
        }
    }
    records.retain(|record| !record.note().is_some_and(|note| note.is_expired(view.now)));

    let relevance = if view.part { BTreeMap::new() } else { relevance(memory, view) };
    let written = records.iter().map(|record| record.updated.time).max().unwrap_or_default();
    sort(&mut records, |record| {
        let relevance = Reverse(relevance.get(&record.id).copied().unwrap_or_default());
        let in_view = [focus, main].iter().position(|in_view| *in_view == Some(record.id));
        let place = in_view.unwrap_or(usize::MAX);
        (!record.pinned, place, relevance, want(record, written))
    });
    records
}

/// Returns these records as entries that show this much.
fn entries<'a>(
    records: &[&'a Record],
    memory: &Memory,
    view: &'a LoadView<'_>,
    staged: Option<&'a Topic>,
    depth: Depth,
) -> Vec<Entry<'a>> {
    let (focus, main) = (view.focus(memory), project_topic(memory));
    let alone = |kind: Kind| view.sections == [kind];
    let longest = RecordId::new(Kind::Note, memory.last_number());
    let entry = |record: &'a Record| {
        let kind = record.kind();
        let shape = match kind {
            Kind::Topic if Some(record.id) == focus => Shape::Topic { gone: view.gone, staged },
            Kind::Topic if Some(record.id) == main => Shape::Topic { gone: &NONE, staged: None },
            Kind::Topic if depth != Depth::Whole && !alone(kind) && !record.pinned => Shape::Brief,
            _ if view.part && record.text_bytes() > PART_TEXT_BYTES_MAX => Shape::Title,
            Kind::Lesson | Kind::SessionRow
                if depth == Depth::Lines && !alone(kind) && !record.pinned =>
            {
                Shape::Line
            }
            _ if view.tight.is(record) || record.is_captured() => Shape::Condensed,
            _ => Shape::Whole,
        };
        Entry::new(record, shape, longest)
    };
    records.iter().copied().map(entry).collect()
}

/// No gone files: the files of a topic that is not in view are not checked.
static NONE: BTreeSet<String> = BTreeSet::new();

impl LoadView<'_> {
    /// Returns the topic that was asked for, or the reader's own, which may be archived; without
    /// either the project's own.
    fn focus(&self, memory: &Memory) -> Option<RecordId> {
        match self.topic {
            Some(name) => memory.topic(name).map(|record| record.id),
            None => project_topic(memory),
        }
    }
}

/// The heading of rules in force, which are pinned.
const RULES: &str = "## Rules in force";

/// The heading of pinned records.
const PINNED: &str = "## Pinned";

fn sections(
    text: &mut String,
    memory: &Memory,
    view: &LoadView<'_>,
    entries: &[Entry<'_>],
    page: &Page,
    file_rules: &str,
) {
    let shown =
        || entries.iter().zip(page.shown.iter().copied()).filter(|(_, it)| *it != Shown::No);
    let mut pinned: Vec<(&Entry<'_>, Shown)> =
        shown().filter(|(entry, _)| entry.record.pinned).collect();
    pinned.sort_by_key(|(entry, _)| (entry.record.kind() != Kind::Rule, entry.record.id));
    let rules = pinned.partition_point(|(entry, _)| entry.record.kind() == Kind::Rule);
    let (rules, others) = pinned.split_at(rules);
    rules_section(text, rules, file_rules);
    if !others.is_empty() {
        append(text, format_args!("\n{PINNED}\n"));
        print(text, others);
    }
    for kind in Kind::ALL {
        let of_kind = |entry: &Entry<'_>| entry.record.kind() == kind && !entry.record.pinned;
        let mut shown: Vec<(&Entry<'_>, Shown)> =
            shown().filter(|(entry, _)| of_kind(entry)).collect();
        // Lessons are counted even if a load wants none of them.
        let is_counted = kind == Kind::Lesson
            && view.sections.contains(&kind)
            && memory.totals().active.of(kind) > 0
            && !entries.iter().any(|entry| entry.record.kind() == kind);
        if shown.is_empty() && !is_counted {
            continue;
        }
        // Rows stay newest first. Others follow their creation, so a new one keeps earlier text.
        match kind {
            Kind::Anchor => shown.sort_by(|(a, _), (b, _)| spot(a.record).cmp(&spot(b.record))),
            // The reader's own topic comes first, then the project's, then the others, newest
            // first. Those that nobody wrote come last.
            Kind::Topic => shown.sort_by_key(|(entry, _)| {
                let is_other = entry.record.topic().is_some_and(|topic| topic.name != MAIN);
                let (time, id) = (entry.record.updated.time, entry.record.id);
                let is_written = !entry.record.is_by_rule();
                Reverse((entry.is_in_view(), is_other, is_written, time, id))
            }),
            Kind::SessionRow => {
                shown.sort_by_key(|(entry, _)| newest_row(entry.record));
            }
            _ => shown.sort_by_key(|(entry, _)| entry.record.id),
        }
        let pinned = pinned.iter().filter(|(entry, _)| entry.record.kind() == kind).count() as u64;
        let total = match kind {
            Kind::Lesson | Kind::SessionRow | Kind::Topic if !view.part => {
                let archived = |(entry, _): &&(&Entry<'_>, Shown)| !entry.record.state.is_active();
                memory.totals().active.of(kind) + shown.iter().filter(archived).count() as u64
                    - pinned
            }
            // Not all were considered, so the reader's private notes are not counted.
            _ if view.part => {
                memory.totals().active.of(kind).saturating_sub(pinned).max(shown.len() as u64)
            }
            _ => entries.iter().filter(|entry| of_kind(entry)).count() as u64,
        };
        let selected = selects(memory, kind, view.sections);
        let heading = heading(kind, shown.len() as u64, total, selected, view.audience);
        append(text, format_args!("\n## {heading}\n"));
        print(text, &shown);
    }
}

fn rules_section(text: &mut String, rules: &[(&Entry<'_>, Shown)], file_rules: &str) {
    if !rules.is_empty() || !file_rules.is_empty() {
        append(text, format_args!("\n{RULES}\n"));
        print(text, rules);
        text.push_str(file_rules);
    }
}

fn print(text: &mut String, entries: &[(&Entry<'_>, Shown)]) {
    for (entry, shown) in entries {
        text.push_str(entry.text(*shown));
        text.push('\n');
    }
}

/// Returns the sort key of an anchor: its file and line.
fn spot(record: &Record) -> (&str, u32, RecordId) {
    match &record.body {
        Body::Anchor(anchor) => (&anchor.file, anchor.lines.first(), record.id),
        _ => ("", 0, record.id),
    }
}

/// Words the heading of a section. If it shows a selection, it also says how to get all.
fn heading(kind: Kind, shown: u64, total: u64, selected: bool, audience: &Audience) -> String {
    let title = kind.facts().heading;
    if shown == total {
        return title.to_owned();
    }
    if !selected {
        return format!("{title} ({shown} of {total})");
    }
    let all = audience.call(Tool::Load, &[("sections", vec![kind.plural()].into())]);
    format!("{title} ({shown} of {total}; all: {all})")
}

/// Words the call that gives the next page.
fn goes_on(view: &LoadView<'_>, next: Cursor) -> String {
    let wanted: BTreeSet<Kind> = view.sections.iter().copied().collect();
    let mut parameters = vec![("cursor", next.print().into())];
    if wanted.len() < Kind::ALL.len() {
        let names: Vec<&str> = wanted.into_iter().map(Kind::plural).collect();
        parameters.push(("sections", names.into()));
    }
    view.audience.call(Tool::Load, &parameters)
}

#[cfg(test)]
mod tests;
