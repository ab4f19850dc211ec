//! Decides which entries one page has room for: in full, in part, by title, or not at all.
//!
//! Pinned records come in full before anything else gets room. The rest is divided between the
//! kinds (`shares.rs`). Later pages follow by cursor, in an order that only a pin changes.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::cut::CUT;
use super::room::{Room, Shown};
use super::shares::{Allotment, Items, Size, divide};
use super::topic::{self, Detail};
use super::{item, kinds, loaded};
use crate::ids::RecordId;
use crate::kinds::Share;
use crate::kinds::topic::Topic;
use crate::record::{Body, Record};

/// A record to be printed. Its texts are rendered on demand, since most of a large memory is never
/// shown.
pub(super) struct Entry<'a> {
    pub(super) record: &'a Record,
    shape: Shape<'a>,
    longest: RecordId,
    texts: OnceCell<Texts>,
    /// The text shown instead of the title or the full text, on a page that has no room for either.
    shortened: OnceCell<String>,
}

/// The form of an entry that is shown in full.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    /// The whole record.
    Whole,
    /// The record with a note's summary, if any, in place of its content.
    Condensed,
    /// One line: a lesson's advice, or a session's result.
    Line,
    /// The title, even if there is more.
    Title,
    /// A topic's status and open questions.
    Brief,
    /// The topic that the load is about. Files that are gone are marked. `staged` is the topic as a
    /// save would leave it, if that differs from the stored topic.
    Topic { gone: &'a BTreeSet<String>, staged: Option<&'a Topic> },
}

struct Texts {
    title: String,
    full: String,
    title_room: Room,
    full_room: Room,
}

impl<'a> Entry<'a> {
    /// Creates an entry; `longest` is the longest id of the record's memory.
    pub(super) fn new(record: &'a Record, shape: Shape<'a>, longest: RecordId) -> Self {
        Self { record, shape, longest, texts: OnceCell::new(), shortened: OnceCell::new() }
    }

    fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| {
            let (title, full) = match (self.shape, self.record.topic()) {
                (Shape::Topic { gone, staged }, Some(stored)) => {
                    let of = staged.unwrap_or(stored);
                    let mark = if staged.is_some() { topic::STAGED } else { "" };
                    let full = topic::full(Some(self.record.id), of, gone, Detail::Loaded);
                    (kinds::brief(self.record, of) + mark, full + mark)
                }
                (shape, _) => {
                    let title = loaded::title(self.record);
                    let full = match shape {
                        Shape::Condensed => loaded::condensed(self.record),
                        Shape::Line => loaded::line(self.record),
                        Shape::Title => title.clone(),
                        Shape::Brief => match self.record.topic() {
                            Some(topic) => kinds::brief(self.record, topic),
                            None => title.clone(),
                        },
                        Shape::Whole | Shape::Topic { .. } => loaded::whole(self.record),
                    };
                    (title, full)
                }
            };
            let room = |text: &str| Room::of_record(self.record.id, text, self.longest);
            let (title_room, full_room) = (room(&title), room(&full));
            Texts { title, full, title_room, full_room }
        })
    }

    pub(super) fn text(&self, shown: Shown) -> &str {
        if shown == Shown::Full {
            return &self.texts().full;
        }
        self.shortened.get().unwrap_or_else(|| &self.texts().title)
    }

    fn share(&self) -> Share {
        self.record.kind().facts().share
    }

    fn size(&self) -> Size {
        let texts = self.texts();
        Size { full: texts.full_room, title: texts.title_room }
    }

    /// Shortens the title to fit the rest of a page, and returns the room it takes. In some
    /// scripts, a title has more tokens than a small page, which would otherwise show nothing.
    fn shorten(&self, left: Room) -> Option<Room> {
        let title = item::shorter(self.record).find(|title| left.holds(Room::of(title)))?;
        Some(Room::of(self.shortened.get_or_init(|| title)))
    }

    /// Cuts the full text to a room.
    fn cut(&self, room: Room) {
        let tokens = u32::try_from(room.tokens.saturating_sub(1)).unwrap_or(u32::MAX);
        let cut = || loaded::part(&self.texts().full, room.chars.saturating_sub(1), tokens);
        self.shortened.get_or_init(cut);
    }

    /// Whether it is the topic that the load is about.
    pub(super) fn is_in_view(&self) -> bool {
        matches!(self.shape, Shape::Topic { .. })
    }

    /// Whether the full text exceeds a page with this room.
    pub(super) fn is_oversize(&self, room: Room) -> bool {
        !room.holds(self.texts().full_room)
    }

    /// Returns the room that the full text takes.
    pub(super) fn full_room(&self) -> Room {
        self.texts().full_room
    }

    /// Returns the room that the title takes, or `None` if it does not fit. An `empty` page shows a
    /// shortened title.
    fn title_within(&self, room: Room, empty: bool) -> Option<Room> {
        let whole = self.texts().title_room;
        if room.holds(whole) {
            return Some(whole);
        }
        empty.then(|| self.shorten(room)).flatten()
    }

    /// Whether the full text, in this shape, says everything that the record says.
    pub(super) fn says_all(&self) -> bool {
        match self.shape {
            Shape::Whole | Shape::Topic { .. } => true,
            Shape::Line => loaded::line_says_all(self.record),
            Shape::Brief => !self.texts().full.ends_with(CUT),
            Shape::Condensed | Shape::Title => self.texts().full == loaded::whole(self.record),
        }
    }

    /// Whether it is a topic of which only the status and the open questions are shown.
    pub(super) fn is_brief_of_more(&self) -> bool {
        matches!(self.shape, Shape::Brief) && !self.says_all()
    }

    /// Whether the full text is one line of a record that says more.
    fn is_line_of_more(&self) -> bool {
        matches!(self.shape, Shape::Line) && !self.says_all()
    }

    fn is_title(&self) -> bool {
        self.texts().title == self.texts().full
    }
}

/// The start of the next page. Entries come in full from `from` on. Those before `unnamed` have
/// already been shown by title.
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

/// The extent to which a page shows each entry, and the start of the next one.
pub(super) struct Page {
    pub(super) shown: Vec<Shown>,
    pub(super) next: Option<Cursor>,
    /// The room that pinned entries take.
    pub(super) pinned: Room,
}

/// The sort key of a record in the order of later pages.
pub(super) type Priority = (u8, Reverse<i64>, u64, Reverse<u64>);

/// Returns a record's key in the order of later pages: pinned records, topics and blueprints, each
/// oldest first, then the other kinds newest first.
///
/// Rows are few and say where the work stands, so they come before lessons, anchors and notes. They
/// are ordered by when they began, because each save of a session moves its end. Nothing else that
/// others write moves a record, so a cursor holds while memory changes.
pub(super) fn priority(record: &Record) -> Priority {
    let number = record.id.number;
    if record.pinned {
        return (0, Reverse(0), number, Reverse(0));
    }
    let place = record.kind().facts().share.later_place();
    match &record.body {
        Body::Topic(_) | Body::Blueprint(_) => (place, Reverse(0), number, Reverse(0)),
        Body::SessionRow(row) => (place, Reverse(row.started.0), 0, Reverse(number)),
        _ => (place, Reverse(0), 0, Reverse(number)),
    }
}

/// Fills the first page. Pinned entries come first, then those of each share with the most wanted
/// first. Pinned entries may take all of `room`; the others get what that leaves of `others_room`.
/// `room_max` is the room of a later page; an entry larger than that is never printed in full.
pub(super) fn first(entries: &[Entry<'_>], room: Room, others_room: Room, room_max: Room) -> Page {
    let mut left = room;
    let mut shown = vec![Shown::No; entries.len()];
    let pinned = entries.iter().take_while(|entry| entry.record.pinned).count();
    let mut all_pinned = true;
    for (entry, shown) in entries.iter().zip(&mut shown).take(pinned) {
        let full = entry.texts().full_room;
        let takes = if left.holds(full) {
            *shown = Shown::Full;
            Some(full)
        } else {
            let takes = entry.title_within(left, left == room);
            all_pinned &= entry.is_oversize(room_max) && takes.is_some();
            *shown = if takes.is_some() { Shown::Title } else { Shown::No };
            takes
        };
        left = left.without(takes.unwrap_or(Room::NONE));
    }
    let pinned_room = room.without(left);
    // Nothing else gets room while a pinned entry has none.
    let others = entries.get(pinned..).filter(|_| all_pinned).unwrap_or_default();
    let given = shared(others, others_room.without(pinned_room));
    for ((entry, shown), given) in others.iter().zip(shown.iter_mut().skip(pinned)).zip(given) {
        // A title that says everything counts as shown in full.
        let whole = given.shown == Shown::Title && entry.is_title();
        *shown = if whole { Shown::Full } else { given.shown };
        if given.shown == Shown::Part {
            entry.cut(given.takes);
        }
    }
    if shown.iter().all(|shown| *shown == Shown::No)
        && let Some((entry, shown)) = entries.iter().zip(&mut shown).next()
        && entry.shorten(room).is_some()
    {
        *shown = Shown::Title;
    }
    let next = rest(entries, &shown, room_max);
    Page { shown, next, pinned: pinned_room }
}

/// The approximate minimum number of tokens that an entry takes.
const ENTRY_TOKENS: usize = 10;

/// Divides a room between entries. Considers only as many entries of each share as could have room.
fn shared(entries: &[Entry<'_>], room: Room) -> Vec<Allotment> {
    let considered_max = room.tokens / ENTRY_TOKENS + 1;
    let mut counts: HashMap<Share, usize> = HashMap::new();
    let mut considered = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let count = counts.entry(entry.share()).or_default();
        *count += 1;
        if *count <= considered_max {
            considered.push(at);
        }
    }
    let of = |at: usize| considered.get(at).and_then(|at| entries.get(*at));
    let shares: Vec<Share> = (0..considered.len()).filter_map(|at| Some(of(at)?.share())).collect();
    let nothing = Size { full: Room::NONE, title: Room::NONE };
    let items = Items {
        shares: &shares,
        size: &|at| of(at).map_or(nothing, Entry::size),
        always: (0..considered.len()).filter(|at| of(*at).is_some_and(Entry::is_in_view)).collect(),
        more: considered.len() < entries.len(),
    };
    let mut given = vec![Allotment::NOTHING; entries.len()];
    for (at, one) in considered.iter().zip(divide(&items, room)) {
        if let Some(given) = given.get_mut(*at) {
            *given = one;
        }
    }
    given
}

/// Returns the start of the next page: the first entry, in the order of later pages, with more to
/// show.
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
        Shown::Title | Shown::Part => !entry.is_oversize(room_max),
        Shown::Full => entry.is_line_of_more(),
    });
    more.map(|from| Cursor { from, unnamed })
}

/// Renders a later page, of entries in the order of [`priority`]. Entries from `from` on are shown
/// in full. Those before `unnamed` have already been shown by title.
pub(super) fn later(
    entries: &[Entry<'_>],
    from: Priority,
    unnamed: Option<(RecordId, Priority)>,
    mut room: Room,
    room_max: Room,
) -> Page {
    let mut page = Page { shown: vec![Shown::No; entries.len()], next: None, pinned: Room::NONE };
    let empty = room;
    for (entry, shown) in entries.iter().zip(&mut page.shown) {
        let at = priority(entry.record);
        if at < from {
            continue;
        }
        let named = unnamed.is_none_or(|(_, unnamed)| at < unnamed);
        // The entry to continue at has more to show, even if its title is all of it: the title was
        // shortened.
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
