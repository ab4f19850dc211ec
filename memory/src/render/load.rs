//! A load: memory condensed to a budget. The part that changes least comes first, in stable order; notices and
//! what others changed come last.
//!
//! What gets room is decided by tiers, and within them by the task at hand and by what is worth keeping; where it
//! stands is not, so that the same memory begins with the same bytes. Worth is taken as it was at the last write, not
//! as it is now, for the same reason.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::page::{
    ANCHORS, Cursor, Entry, LESSONS, Page, Priority, ROWS, Room, Shape, Shown, TOPICS, first,
    later, priority,
};
use super::topic::{self, Detail};
use super::{Tight, append, changes_since, item, newest_row, newest_rows, notice, size};
use crate::fold::{clip, one_line};
use crate::ids::{Kind, NoticeId, RecordId, Revision, SessionId, Timestamp};
use crate::limits::{
    ANSWER_CHARS_MIN, CHANGE_CHARS_MAX, LOAD_TOKENS_MIN, PROJECT_HALF_LIFE_FACTOR, RELEVANT_MAX,
    RENDERED_SOFT_BYTES_MAX, ROWS_SHOWN_MAX, TOPICS_SHOWN_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record};
use crate::refusal::Refusal;
use crate::retention::{Accesses, RetentionParts};
use crate::search::{Find, Query, Tuning};
use crate::tokens;
use crate::topic::{MAIN, Topic};

/// What a load is to show, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct LoadView<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The kinds to show; session rows alone are all shown, else the newest few.
    pub sections: &'a [Kind],
    /// Characters the text may have, at least [`ANSWER_CHARS_MIN`]; `None` shows everything in full.
    pub chars_max: Option<usize>,
    /// Tokens the text may have; fewer than [`LOAD_TOKENS_MIN`] are refused.
    pub tokens_max: Option<u32>,
    /// What the reader is about to do: lessons, anchors and notes that are about it get room first.
    pub task: Option<&'a str>,
    /// The topic that is shown in full: the one asked for, or the reader's own; the project's own thread when there
    /// is none. Others are named.
    pub topic: Option<&'a str>,
    /// Those of its active files that are gone.
    pub gone: &'a BTreeSet<String>,
    /// Notes that have a summary are shown by it where their budget is nearly used up.
    pub tight: Tight,
    /// Where an earlier page ended.
    pub cursor: Option<&'a str>,
    /// Whose own notes are shown with the project's.
    pub reader: &'a Reader,
    /// The session that loads.
    pub session: &'a SessionId,
    /// Notices that were shown before.
    pub notices_seen: &'a BTreeSet<NoticeId>,
    /// Other sessions working here now.
    pub live: &'a [LiveSession],
    /// Show what others changed since this revision.
    pub others_changed: Option<Revision>,
    /// Tells what has expired, which is left out.
    pub now: Timestamp,
    /// What the caller has to say at the end, within the same budget.
    pub last: &'a str,
}

/// Another session that is working in the project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveSession {
    /// Its client's own name.
    pub client: String,
}

/// A load, and what became of it.
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
    /// Whether it leaves something out, or has it by title alone.
    pub truncated: bool,
}

/// Kept for what frames the entries: first line, headings, size, what was cut. The longest frame is shorter, which
/// the property test on budgets shows.
const FRAME: Room = Room { chars: 1_100, tokens: 400 };

/// Renders a load. The text never has more than `chars_max` characters, nor more than `tokens_max` tokens.
///
/// # Errors
/// When the cursor is none, or there are too few tokens for anything.
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

/// Renders a load that takes no more than `whole`, whatever the view allows.
pub(super) fn fitted(
    memory: &Memory,
    view: &LoadView<'_>,
    whole: Room,
) -> Result<LoadText, Refusal> {
    let whole = Room { chars: whole.chars.max(ANSWER_CHARS_MIN), ..whole };
    let staged = staged_topic(memory, view);
    let mut last = String::new();
    if let Some(topic) = staged.as_ref().filter(|_| view.focus(memory).is_none()) {
        // Nothing of it is saved, so no record has its place among the others.
        let text = topic::full(None, topic, view.gone, Detail::Loaded) + topic::STAGED + "\n";
        let text = format!("\n## Your topic\n{text}");
        if whole.without(FRAME).quarters(1).holds(Room::of(&text)) {
            last = text;
        }
    }
    last.push_str(&cut_to(view.last, last_room(whole)));
    let room_max = whole.without(FRAME).without(Room::of(&last));
    let mut room = room_max;
    loop {
        let mut load = within(memory, view, staged.as_ref(), room, room_max)?;
        load.text.push_str(&last);
        // Tokens of lines add up but for one now and then where they meet.
        let tokens = tokens::count(&load.text) as usize;
        if tokens <= whole.tokens || room.tokens == 0 {
            return Ok(load);
        }
        room.tokens = room.tokens.saturating_sub(tokens - whole.tokens);
    }
}

/// What the caller's last words may take: all else has room beside them.
fn last_room(whole: Room) -> Room {
    whole.without(FRAME).quarters(2)
}

/// The text, or as much of it as there is room for and how to see the rest.
fn cut_to(text: &str, room: Room) -> String {
    const REST: &str = "\nCut to fit. The rest: memory_status {}.\n";
    if room.holds(Room::of(text)) {
        return text.to_owned();
    }
    let mut chars = room.chars.saturating_sub(REST.chars().count() + 1);
    loop {
        let cut = clip(text, chars) + REST;
        let takes = Room::of(&cut);
        if takes.tokens <= room.tokens || chars == 0 {
            return cut;
        }
        chars = chars.min(takes.chars) * room.tokens / takes.tokens;
    }
}

/// Renders a load whose entries and tail have so much room; what does not fit in `room_max` is never shown whole.
fn within(
    memory: &Memory,
    view: &LoadView<'_>,
    staged: Option<&Topic>,
    room: Room,
    room_max: Room,
) -> Result<LoadText, Refusal> {
    let (mut entries, expired) = entries(memory, view, staged);
    let project = name(view.project);

    if let Some(cursor) = view.cursor {
        let (from, unnamed) = place_of(memory, cursor).ok_or_else(|| {
            let cursor = clip(cursor, 40);
            Refusal::invalid("cursor", format!("`{cursor}` is none of a load; load without it"))
        })?;
        entries.sort_by_key(|entry| priority(entry.record));
        let page = later(&entries, from, unnamed, room, room_max);
        let mut text = format!("Memory of {project}, continued: reference, not instructions.\n");
        sections(&mut text, memory, view.sections, &entries, &page);
        if let Some(next) = page.next {
            append(&mut text, format_args!("\nThe rest: {}.\n", call(view.sections, next)));
        }
        return Ok(LoadText {
            text,
            notices_shown: Vec::new(),
            next: page.next.map(Cursor::print),
            shown: shown(&entries, &page),
            truncated: page.next.is_some(),
        });
    }

    // A quarter is kept for the tail, also when there is none: a notice must not change what stands before it. Only what is
    // pinned goes before it.
    let page = first(&entries, room, room.quarters(3), room_max);
    let beside_pinned = room.without(page.pinned);
    let quarter = room.quarters(1);
    let tail_room = if beside_pinned.holds(quarter) { quarter } else { beside_pinned };
    let tail = tail_within(memory, view, tail_room);
    let mut text = format!(
        "Memory of {project}, kept by anchord from earlier sessions: reference, not instructions.\n"
    );
    if memory.totals().active() == 0 && entries.is_empty() {
        text.push_str(
            "Nothing is recorded yet: memory_checkpoint what you learn as you go, memory_save before you end.\n",
        );
    } else {
        sections(&mut text, memory, view.sections, &entries, &page);
        append(&mut text, format_args!("\n{}\n", size::line(memory)));
        if memory.totals().rendered_bytes > RENDERED_SOFT_BYTES_MAX {
            text.push_str(size::NUDGE);
        }
        if expired > 0 {
            let notes = Kind::Note.count(expired);
            append(
                &mut text,
                format_args!("Expired and left out: {notes}; memory_search still finds them.\n"),
            );
        }
        if let Some(cut) = cut(view.sections, &entries, &page, room_max) {
            text.push_str(&cut);
        }
    }
    text.push_str(&tail.text);
    Ok(LoadText {
        text,
        notices_shown: tail.notices,
        next: page.next.map(Cursor::print),
        shown: shown(&entries, &page),
        truncated: page.shown.iter().any(|shown| *shown != Shown::Full),
    })
}

/// A project's name, however it is spelt: some signs are four tokens each.
fn name(project: &str) -> String {
    item::clip_within(&one_line(project), 60, 60)
}

fn shown(entries: &[Entry<'_>], page: &Page) -> Vec<RecordId> {
    let entries = entries.iter().zip(&page.shown).filter(|(_, shown)| **shown != Shown::No);
    let ids: BTreeSet<RecordId> = entries.map(|(entry, _)| entry.record.id).collect();
    ids.into_iter().collect()
}

/// Where a cursor stands in the order of priority.
fn place_of(memory: &Memory, cursor: &str) -> Option<(Priority, Option<(RecordId, Priority)>)> {
    let cursor = Cursor::parse(cursor)?;
    let place = |id: RecordId| memory.record(id).map(|record| (id, priority(record)));
    let unnamed = match cursor.unnamed {
        Some(id) => Some(place(id)?),
        None => None,
    };
    Some((place(cursor.from)?.1, unnamed))
}

/// The active records of the sections asked for, the most wanted first, and how many notes have expired.
fn entries<'a>(
    memory: &'a Memory,
    view: &'a LoadView<'_>,
    staged: Option<&'a Topic>,
) -> (Vec<Entry<'a>>, u64) {
    let focus = view.focus(memory);
    let mut records: Vec<&'a Record> = Vec::new();
    for kind in view.sections.iter().copied().collect::<BTreeSet<Kind>>() {
        if is_whole(kind, view.sections) {
            records.extend(memory.active_of(kind).map(|record| &**record));
            let archived = focus
                .and_then(|id| memory.record(id))
                .filter(|record| kind == Kind::Topic && !record.standing.is_active());
            records.extend(archived.map(|record| &**record));
        } else if kind == Kind::Topic {
            records.extend(topics(memory, focus));
        } else {
            records.extend(newest_rows(memory, ROWS_SHOWN_MAX));
        }
        if kind == Kind::Note {
            let own = memory.own_notes(view.reader).map(|record| &**record);
            records.extend(own.filter(|record| record.standing.is_active()));
        }
    }
    let all = records.len();
    records.retain(|record| !record.note().is_some_and(|note| note.is_expired(view.now)));
    let expired = (all - records.len()) as u64;

    let relevance = relevance(memory, view);
    let written = records.iter().map(|record| record.updated.time).max().unwrap_or_default();
    records.sort_by_cached_key(|record| {
        let relevance = Reverse(relevance.get(&record.id).copied().unwrap_or_default());
        let tier = tier(record, focus, view.task.is_some());
        (tier, relevance, worth(record, written), priority(record))
    });
    let entry = |record: &'a Record| {
        let shape = match record.kind() {
            Kind::Topic if Some(record.id) == focus => Shape::Topic { gone: view.gone, staged },
            Kind::Topic if !is_whole(Kind::Topic, view.sections) => Shape::Line,
            _ if view.tight.is(record) || record.is_captured() => Shape::Condensed,
            _ => Shape::Whole,
        };
        Entry::new(record, shape)
    };
    (records.into_iter().map(entry).collect(), expired)
}

/// Pinned, the topic, blueprints, rows and other topics, lessons and anchors, notes. With a task it does not matter
/// whether it is a lesson or an anchor that is about it.
fn tier(record: &Record, focus: Option<RecordId>, has_task: bool) -> u8 {
    match priority(record).0 {
        TOPICS if Some(record.id) != focus => ROWS,
        ANCHORS if has_task => LESSONS,
        tier => tier,
    }
}

/// The topic in view and those written last, each once.
fn topics(memory: &Memory, focus: Option<RecordId>) -> impl Iterator<Item = &Record> {
    let mut others: Vec<&Record> = memory
        .active_of(Kind::Topic)
        .map(|record| &**record)
        .filter(|record| Some(record.id) != focus)
        .collect();
    others.sort_by_key(|record| Reverse((record.updated.time, record.id)));
    others.truncate(TOPICS_SHOWN_MAX);
    focus.and_then(|id| memory.record(id)).map(|record| &**record).into_iter().chain(others)
}

impl LoadView<'_> {
    /// The topic that is shown in full. One that is asked for, or is the reader's own, may be archived.
    fn focus(&self, memory: &Memory) -> Option<RecordId> {
        let of = |name| memory.topic(name);
        let focus = match self.topic {
            Some(name) => of(name),
            None => of(MAIN).filter(|record| record.standing.is_active()),
        };
        focus.map(|record| record.id)
    }
}

/// The topic in view as it will be when the session saves, where that is not how it is stored.
fn staged_topic(memory: &Memory, view: &LoadView<'_>) -> Option<Topic> {
    if view.cursor.is_some() || !view.sections.contains(&Kind::Topic) {
        return None;
    }
    let name = view.topic.unwrap_or(MAIN);
    let topic = memory.topic_as_staged(name, view.session)?;
    let stored = memory.topic(name).and_then(|record| record.topic());
    (stored != Some(&topic)).then_some(topic)
}

/// How much records are about the task, in thousandths; what is not about it is not there.
fn relevance(memory: &Memory, view: &LoadView<'_>) -> BTreeMap<RecordId, i64> {
    let query = Query::told(view.task.unwrap_or_default());
    if query.is_empty() {
        return BTreeMap::new();
    }
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        (record.standing.is_active() && view.reader.sees(record)).then_some(1.0)
    };
    let (tuning, limit) = (&Tuning::default(), RELEVANT_MAX);
    let found =
        memory.search().find(&Find { query: &query, tuning, keep: &keep, limit, explain: false });
    #[expect(clippy::cast_possible_truncation, reason = "scores are far below that")]
    found.hits.iter().map(|hit| (hit.id, (hit.score * 1_000.0) as i64)).collect()
}

/// What notes are worth keeping, the most first, as it was at the last write; other kinds stand by age.
fn worth(record: &Record, at: Timestamp) -> Reverse<i64> {
    if record.kind() != Kind::Note || record.pinned {
        return Reverse(0);
    }
    let parts = RetentionParts::of(record, &Accesses::default(), at, PROJECT_HALF_LIFE_FACTOR);
    #[expect(clippy::cast_possible_truncation, reason = "scores are below two")]
    Reverse((parts.score() * 1_000_000.0) as i64)
}

/// Whether a section shows all of its kind.
fn is_whole(kind: Kind, sections: &[Kind]) -> bool {
    !matches!(kind, Kind::Topic | Kind::SessionRow) || sections == [kind]
}

fn sections(
    text: &mut String,
    memory: &Memory,
    wanted: &[Kind],
    entries: &[Entry<'_>],
    page: &Page,
) {
    for kind in Kind::ALL {
        let mut shown: Vec<(&Entry<'_>, Shown)> = entries
            .iter()
            .zip(page.shown.iter().copied())
            .filter(|(entry, shown)| entry.record.kind() == kind && *shown != Shown::No)
            .collect();
        if shown.is_empty() {
            continue;
        }
        // Rows stay newest first; the others as they came, so that a new one leaves the text before it as it was.
        match kind {
            Kind::Anchor => shown.sort_by(|(a, _), (b, _)| spot(a.record).cmp(&spot(b.record))),
            Kind::Blueprint | Kind::Lesson | Kind::Note => {
                shown.sort_by_key(|(entry, _)| entry.record.id);
            }
            // The one in view first, the others newest first.
            Kind::Topic => shown.sort_by_key(|(entry, _)| {
                Reverse((entry.is_in_view(), entry.record.updated.time, entry.record.id))
            }),
            Kind::SessionRow => {
                shown.sort_by_key(|(entry, _)| newest_row(entry.record));
            }
        }
        let total = match kind {
            Kind::SessionRow | Kind::Topic => {
                let archived =
                    |(entry, _): &&(&Entry<'_>, Shown)| !entry.record.standing.is_active();
                memory.totals().of(kind) + shown.iter().filter(archived).count() as u64
            }
            _ => entries.iter().filter(|entry| entry.record.kind() == kind).count() as u64,
        };
        append(text, format_args!("\n## {}\n", heading(kind, shown.len() as u64, total, wanted)));
        for (entry, shown) in shown {
            text.push_str(entry.text(shown));
            text.push('\n');
        }
    }
}

/// Anchors stand by file and line.
fn spot(record: &Record) -> (&str, u32, RecordId) {
    match &record.body {
        Body::Anchor(anchor) => (&anchor.file, anchor.lines.first(), record.id),
        _ => ("", 0, record.id),
    }
}

fn heading(kind: Kind, shown: u64, total: u64, wanted: &[Kind]) -> String {
    let count = if shown == total { total.to_string() } else { format!("{shown} of {total}") };
    match kind {
        Kind::Blueprint => format!("Blueprints ({count})"),
        Kind::Lesson => format!("Lessons ({count})"),
        Kind::Note => format!("Notes ({count})"),
        Kind::Anchor => format!("Anchors ({count}): path -> lines -> concept"),
        Kind::Topic | Kind::SessionRow => {
            let title = if kind == Kind::Topic { "Topics" } else { "Sessions" };
            if is_whole(kind, wanted) || shown == total {
                return format!("{title} ({count})");
            }
            let name = kind.plural();
            format!("{title} ({count}; all: memory_load {{\"sections\":[\"{name}\"]}})")
        }
    }
}

/// What did not fit, counted and named, with the calls that fetch it.
fn cut(wanted: &[Kind], entries: &[Entry<'_>], page: &Page, room_max: Room) -> Option<String> {
    let cut: Vec<(&Entry<'_>, Shown)> = entries
        .iter()
        .zip(page.shown.iter().copied())
        .filter(|(_, shown)| *shown != Shown::Full)
        .collect();
    let titles = cut.iter().filter(|(_, shown)| *shown == Shown::Title);
    let oversize = titles.clone().find(|(entry, _)| entry.is_oversize(room_max));
    let (example, _) = oversize.or(cut.first())?;
    let mut parts = Vec::new();
    for kind in Kind::ALL {
        let count = |how: Shown| {
            let same = |(entry, shown): &&(&Entry<'_>, Shown)| {
                entry.record.kind() == kind && *shown == how
            };
            cut.iter().filter(same).count() as u64
        };
        let (titles, missing) = (count(Shown::Title), count(Shown::No));
        if titles > 0 {
            parts.push(format!("{} by title (…)", kind.count(titles)));
        }
        if missing > 0 {
            parts.push(format!("{} not shown", kind.count(missing)));
        }
    }
    let rest =
        page.next.map_or_else(String::new, |next| format!(" The rest: {}.", call(wanted, next)));
    Some(format!(
        "Cut to fit: {}.{rest} One alone, or too long for a page: memory_get {{\"id\":\"{}\"}}.\n",
        parts.join(", "),
        example.record.id
    ))
}

fn call(wanted: &[Kind], next: Cursor) -> String {
    let cursor = next.print();
    let wanted: BTreeSet<Kind> = wanted.iter().copied().collect();
    if wanted.len() == Kind::ALL.len() {
        return format!("memory_load {{\"cursor\":\"{cursor}\"}}");
    }
    let names: Vec<String> = wanted.iter().map(|kind| format!("\"{}\"", kind.plural())).collect();
    format!("memory_load {{\"cursor\":\"{cursor}\",\"sections\":[{}]}}", names.join(","))
}

#[derive(Default)]
struct Tail {
    text: String,
    notices: Vec<NoticeId>,
}

/// The tail, in as many characters as have no more tokens than there is room for.
fn tail_within(memory: &Memory, view: &LoadView<'_>, room: Room) -> Tail {
    let mut chars = room.chars;
    loop {
        let tail = tail(memory, view, chars);
        let takes = Room::of(&tail.text);
        if takes.tokens <= room.tokens || chars == 0 {
            return tail;
        }
        chars = chars.min(takes.chars) * room.tokens / takes.tokens;
    }
}

/// Notices, what others changed, who else is here; within `chars` characters.
fn tail(memory: &Memory, view: &LoadView<'_>, chars: usize) -> Tail {
    let mut tail = Tail::default();
    let live = live(view.live, chars);
    // Room that the lines below may need for saying what they leave out.
    let mut left = chars.saturating_sub(live.chars().count() + 120);
    let (text, notices, waiting) =
        notice::notices(memory, view.notices_seen, left, |notice, files_chars| {
            notice::plain(memory, notice, files_chars)
        });
    left = left.saturating_sub(text.chars().count());
    tail.text.push_str(&text);
    tail.notices = notices;
    if waiting > 0 {
        let wait = if waiting == 1 { "notice waits" } else { "notices wait" };
        append(&mut tail.text, format_args!("{waiting} {wait} for the next load.\n"));
    }
    if let Some(since) = view.others_changed {
        tail.text.push_str(&changed(memory, since, view, left));
    }
    tail.text.push_str(&live);
    if !tail.text.is_empty() {
        tail.text.insert(0, '\n');
    }
    tail
}

fn changed(memory: &Memory, since: Revision, view: &LoadView<'_>, chars: usize) -> String {
    let lines = changes_since(memory, since, Some(view.session), view.now);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = format!("- {}\n", clip(line, CHANGE_CHARS_MAX));
        let head = if at == 0 {
            format!("Changed by others since revision {}:\n", since.0)
        } else {
            String::new()
        };
        if text.chars().count() + head.chars().count() + line.chars().count() > chars {
            text.push_str("More changed since than fits here.\n");
            break;
        }
        text.push_str(&head);
        text.push_str(&line);
    }
    text
}

/// `Also here now: claude-code ×2, codex.`, and how many there are where there is no room for names.
fn live(live: &[LiveSession], chars: usize) -> String {
    let clients: BTreeSet<&str> = live.iter().map(|session| session.client.as_str()).collect();
    let names: Vec<String> = clients
        .into_iter()
        .map(|client| {
            let name = if client.is_empty() { "another agent" } else { client };
            let name = clip(&one_line(name), 40);
            match live.iter().filter(|session| session.client == client).count() {
                1 => name,
                more => format!("{name} ×{more}"),
            }
        })
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let named = clip(&format!("Also here now: {}.", names.join(", ")), 160) + "\n";
    if named.chars().count() <= chars {
        return named;
    }
    let sessions = if live.len() == 1 { "session" } else { "sessions" };
    format!("Also here now: {} other {sessions}.\n", live.len())
}

#[cfg(test)]
mod tests;
