//! Which entries one page has room for: in full, as a title, or not at all.
//!
//! A page is filled in tiers. What is pinned comes in full before anything else gets room. Then every entry gets its
//! title, the most wanted first, as long as there is room, and then entries are printed in full, in the same
//! order, until the next one does not fit. So a reader sees what there is before it sees how much of it there
//! is. What follows comes by cursor, in an order that nothing but a pin changes.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::item;
use super::topic::{self, Detail};
use crate::ids::RecordId;
use crate::record::{Body, Record};
use crate::tokens;
use crate::topic::Topic;

/// What is left of a page, or what a text takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) chars: usize,
    pub(super) tokens: usize,
}

impl Room {
    /// What a text takes, its line break with it.
    pub(super) fn of(text: &str) -> Self {
        let tokens = usize::try_from(tokens::count(text)).unwrap_or(usize::MAX);
        Self { chars: text.chars().count() + 1, tokens: tokens + 1 }
    }

    pub(super) fn holds(self, other: Self) -> bool {
        other.chars <= self.chars && other.tokens <= self.tokens
    }

    /// So many quarters of it.
    pub(super) fn quarters(self, quarters: usize) -> Self {
        Self { chars: self.chars / 4 * quarters, tokens: self.tokens / 4 * quarters }
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self {
            chars: self.chars.saturating_sub(other.chars),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}

/// One record to be printed; its texts are made when they are asked for, since most of a large memory never is.
pub(super) struct Entry<'a> {
    pub(super) record: &'a Record,
    shape: Shape<'a>,
    texts: OnceCell<Texts>,
    /// What stands for the title on a page that has no room for it.
    shortened: OnceCell<String>,
}

/// How an entry is shown when it is shown in full.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    /// As it is.
    Whole,
    /// A summary stands for the content of a note that has one.
    Condensed,
    /// In one line, whatever more there is.
    Line,
    /// A topic of whose active files these are gone; as it will be when the reader saves, where that is not how it is
    /// stored.
    Topic { gone: &'a BTreeSet<String>, staged: Option<&'a Topic> },
}

struct Texts {
    title: String,
    full: String,
    title_room: Room,
    full_room: Room,
}

impl<'a> Entry<'a> {
    pub(super) fn new(record: &'a Record, shape: Shape<'a>) -> Self {
        Self { record, shape, texts: OnceCell::new(), shortened: OnceCell::new() }
    }

    fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| {
            let title = item::title(self.record);
            let full = match (self.shape, self.record.topic()) {
                (Shape::Condensed, _) => item::short(self.record),
                (Shape::Line, _) => title.clone(),
                (Shape::Topic { gone, staged }, Some(stored)) => {
                    let of = staged.unwrap_or(stored);
                    let full = topic::full(Some(self.record.id), of, gone, Detail::Loaded);
                    full + if staged.is_some() { topic::STAGED } else { "" }
                }
                (Shape::Whole | Shape::Topic { .. }, _) => item::full(self.record),
            };
            let (title_room, full_room) = (Room::of(&title), Room::of(&full));
            Texts { title, full, title_room, full_room }
        })
    }

    pub(super) fn text(&self, shown: Shown) -> &str {
        if shown == Shown::Full {
            return &self.texts().full;
        }
        self.shortened.get().unwrap_or_else(|| &self.texts().title)
    }

    /// Makes the title so short that it fits into what is left of a page; what it takes then. In some scripts a title has
    /// more tokens than a small page, which would show nothing otherwise.
    fn shorten(&self, left: Room) -> Option<Room> {
        let title = item::shorter(self.record).find(|title| left.holds(Room::of(title)))?;
        Some(Room::of(self.shortened.get_or_init(|| title)))
    }

    /// Whether it is the topic that a load is about.
    pub(super) fn is_in_view(&self) -> bool {
        matches!(self.shape, Shape::Topic { .. })
    }

    /// Whether no page with so much room has room for all of it.
    pub(super) fn is_oversize(&self, room: Room) -> bool {
        !room.holds(self.texts().full_room)
    }

    /// What the title takes of so much room; `None` where it does not fit, unless the page is `empty`, which shows a
    /// shorter one.
    fn title_within(&self, room: Room, empty: bool) -> Option<Room> {
        let whole = self.texts().title_room;
        if room.holds(whole) {
            return Some(whole);
        }
        empty.then(|| self.shorten(room)).flatten()
    }

    fn is_title(&self) -> bool {
        self.texts().title == self.texts().full
    }
}

/// How much of an entry is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing, on this page.
    No,
    /// Its title, which says that there is more.
    Title,
    /// All of it.
    Full,
}

/// Where the next page goes on: in full from `from`; what stands before `unnamed` has had its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) from: RecordId,
    pub(super) unnamed: Option<RecordId>,
}

impl Cursor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (from, unnamed) = match text.trim().split_once(',') {
            Some((from, unnamed)) => (from, Some(unnamed.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { from: from.parse().ok()?, unnamed })
    }

    pub(super) fn print(self) -> String {
        match self.unnamed {
            Some(unnamed) => format!("{},{unnamed}", self.from),
            None => self.from.to_string(),
        }
    }
}

/// What a page shows of each entry, and where the next one goes on.
pub(super) struct Page {
    pub(super) shown: Vec<Shown>,
    pub(super) next: Option<Cursor>,
    /// What pinned entries take of it.
    pub(super) pinned: Room,
}

/// Tiers of [`priority`] that a load makes more of.
pub(super) const TOPICS: u8 = 1;
pub(super) const ROWS: u8 = 3;
pub(super) const LESSONS: u8 = 4;
pub(super) const ANCHORS: u8 = 5;

/// Where a record stands in the order in which later pages go on.
pub(super) type Priority = (u8, Reverse<i64>, u64, Reverse<u64>);

/// What is pinned, topics and blueprints as they came, then what is newest first. Rows are few and say where the work stands,
/// so they come before the rest, by when they began: each save of a session moves its end. Nothing else that others write
/// moves a record, so a cursor holds while memory changes.
pub(super) fn priority(record: &Record) -> Priority {
    let number = record.id.number;
    if record.pinned {
        return (0, Reverse(0), number, Reverse(0));
    }
    match &record.body {
        Body::Topic(_) => (TOPICS, Reverse(0), number, Reverse(0)),
        Body::Blueprint(_) => (2, Reverse(0), number, Reverse(0)),
        Body::SessionRow(row) => (ROWS, Reverse(row.started.0), 0, Reverse(number)),
        Body::Lesson(_) => (LESSONS, Reverse(0), 0, Reverse(number)),
        Body::Anchor(_) => (ANCHORS, Reverse(0), 0, Reverse(number)),
        Body::Note(_) => (6, Reverse(0), 0, Reverse(number)),
    }
}

/// The first page, of entries that stand with the most wanted first. What is pinned may take all of `room`, the others what
/// that leaves of `others_room`. `room_max` is what a later page has; an entry larger than that is never printed in full.
pub(super) fn first(entries: &[Entry<'_>], room: Room, others_room: Room, room_max: Room) -> Page {
    let mut left = room;
    let mut shown = vec![Shown::No; entries.len()];
    let pinned = entries.iter().take_while(|entry| entry.record.pinned).count();
    let mut all_pinned = true;
    for (entry, shown) in entries.iter().zip(&mut shown).take(pinned) {
        let texts = entry.texts();
        if left.holds(texts.full_room) {
            *shown = Shown::Full;
            left = left.without(texts.full_room);
        } else {
            let takes = entry.title_within(left, left == room);
            all_pinned &= entry.is_oversize(room_max) && takes.is_some();
            if let Some(takes) = takes {
                *shown = Shown::Title;
                left = left.without(takes);
            }
        }
    }
    let pinned_room = room.without(left);
    if all_pinned {
        let rest = entries.get(pinned..).unwrap_or_default();
        let shown = shown.get_mut(pinned..).unwrap_or_default();
        fill(rest, shown, others_room.without(pinned_room), room_max, pinned == 0);
    }
    let next = rest(entries, &shown, room_max);
    Page { shown, next, pinned: pinned_room }
}

/// Titles for as many as there is room for, then full texts.
/// `empty` says that nothing is shown yet.
fn fill(
    entries: &[Entry<'_>],
    shown: &mut [Shown],
    mut room: Room,
    room_max: Room,
    mut empty: bool,
) {
    for (entry, shown) in entries.iter().zip(shown.iter_mut()) {
        let Some(takes) = entry.title_within(room, empty) else { break };
        empty = false;
        room = room.without(takes);
        let whole = entry.is_title() && entry.shortened.get().is_none();
        *shown = if whole { Shown::Full } else { Shown::Title };
    }
    for (entry, shown) in entries.iter().zip(shown.iter_mut()) {
        if *shown == Shown::No {
            break;
        }
        if *shown == Shown::Full || entry.is_oversize(room_max) {
            continue;
        }
        let title_room = entry.shortened.get().map_or(entry.texts().title_room, |it| Room::of(it));
        let more = entry.texts().full_room.without(title_room);
        if !room.holds(more) {
            break;
        }
        room = room.without(more);
        *shown = Shown::Full;
    }
}

/// Where the next page goes on: at the first entry, in the order of later pages, of which there is more to show.
fn rest(entries: &[Entry<'_>], shown: &[Shown], room_max: Room) -> Option<Cursor> {
    let first = |is: &dyn Fn(&Entry<'_>, Shown) -> bool| {
        let of = entries.iter().zip(shown).filter(|(entry, shown)| is(entry, **shown));
        of.map(|(entry, _)| entry.record)
            .min_by_key(|record| priority(record))
            .map(|record| record.id)
    };
    let unnamed = first(&|_, shown| shown == Shown::No);
    let more = first(&|entry, shown| match shown {
        Shown::No => true,
        Shown::Title => !entry.is_oversize(room_max),
        Shown::Full => false,
    });
    more.map(|from| Cursor { from, unnamed })
}

/// A later page, of entries in the order of [`priority`]: in full what stands at `from` and after it; what stands
/// before `unnamed` was shown by its title already.
pub(super) fn later(
    entries: &[Entry<'_>],
    from: Priority,
    unnamed: Option<(RecordId, Priority)>,
    mut room: Room,
    room_max: Room,
) -> Page {
    let nothing = Room { chars: 0, tokens: 0 };
    let mut page = Page { shown: vec![Shown::No; entries.len()], next: None, pinned: nothing };
    let empty = room;
    for (entry, shown) in entries.iter().zip(&mut page.shown) {
        let at = priority(entry.record);
        if at < from {
            continue;
        }
        let named = unnamed.is_none_or(|(_, unnamed)| at < unnamed);
        // The one to go on at has more to show, though its title be all of it: that was shortened.
        if named && at != from && (entry.is_title() || entry.is_oversize(room_max)) {
            continue;
        }
        let oversize = entry.is_oversize(empty);
        let full_room = entry.texts().full_room;
        let takes = if oversize {
            entry.title_within(room, room == empty)
        } else {
            Some(full_room).filter(|takes| room.holds(*takes))
        };
        let Some(takes) = takes else {
            let id = entry.record.id;
            let unnamed = if named { unnamed.map(|(id, _)| id) } else { Some(id) };
            page.next = Some(Cursor { from: id, unnamed });
            break;
        };
        room = room.without(takes);
        *shown = if oversize { Shown::Title } else { Shown::Full };
    }
    page
}
