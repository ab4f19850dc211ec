//! Divides the room of a load between the kinds of records.
//!
//! Each share grows at its own pace, as in weighted fair queueing (Demers, Keshav, Shenker, 1989).
//! An item comes due at the total size of its share's items up to and including it, divided by the
//! share's weight. Items are taken in the order in which they come due. Three laws follow, and are
//! tested:
//!
//! - Items of other shares, however many, never displace what a share shows in full within its own
//!   weight. Room that a share leaves unused passes to the others. So text beyond its own weight
//!   yields when they grow.
//! - Doubling the room keeps in full everything that was shown in full before. Both rooms take a
//!   prefix of the same order.
//!
//! - Only sizes and the order of want decide, never the order in which records were stored.

use std::collections::VecDeque;

use super::room::{Room, Shown};
use crate::kinds::Share;

impl Share {
    const ALL: [Self; 6] =
        [Self::Settled, Self::Facts, Self::Lessons, Self::Topics, Self::Places, Self::Sessions];

    /// Returns the percentage of the room that belongs to it while every other share wants more
    /// than it gets.
    fn percent(self) -> u64 {
        match self {
            Self::Settled => 43,
            Self::Facts => 22,
            Self::Lessons => 20,
            Self::Topics => 5,
            Self::Places => 4,
            Self::Sessions => 6,
        }
    }

    /// Returns its place on later pages and in lists of staged work, after pinned records.
    pub(super) fn later_place(self) -> u8 {
        match self {
            Self::Topics => 1,
            Self::Settled => 2,
            Self::Sessions => 3,
            Self::Lessons => 4,
            Self::Places => 5,
            Self::Facts => 6,
        }
    }
}

/// Room that one item takes, in full and by its title.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) full: Room,
    pub(super) title: Room,
}

/// Items that share a room. Sizes are measured on demand, because most items of a large memory are
/// never measured.
pub(super) struct Items<'a> {
    /// The share of each item; within a share, the most wanted comes first.
    pub(super) shares: &'a [Share],
    /// The function that measures an item.
    pub(super) size: &'a dyn Fn(usize) -> Size,
    /// The items whose titles are shown before anything else gets room.
    pub(super) always: Vec<usize>,
    /// Whether there are more items than these; they have no room.
    pub(super) more: bool,
}

/// The percentage of the room for full texts if not all of them fit; titles get the rest.
const FULL_PERCENT: usize = 85;
/// The tokens that a part must have room for beyond those of the title.
const PART_TOKENS: usize = 40;

/// The part of an item that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allotment {
    pub(super) shown: Shown,
    /// The room of what is shown.
    pub(super) takes: Room,
}

impl Allotment {
    pub(super) const NOTHING: Self = Self { shown: Shown::No, takes: Room::NONE };
}

/// Divides a room between items, and returns how much is shown of each.
///
/// Full texts come first, in the order in which they are due, until the next one does not fit. Then
/// come titles, in the same order. The room left goes to the items that are due next: in full while
/// they fit, and the last one in part.
pub(super) fn divide(items: &Items<'_>, room: Room) -> Vec<Allotment> {
    let count = items.shares.len();
    let size = |at: usize| (items.size)(at);
    let full = |at: usize| Allotment { shown: Shown::Full, takes: size(at).full };
    let all = || (0..count).try_fold(room, |left, at| left.take(size(at).full));
    if !items.more && all().is_some() {
        return (0..count).map(full).collect();
    }
    let mut division = Division { left: room, given: vec![Allotment::NOTHING; count] };
    let title = |at: usize| Allotment { shown: Shown::Title, takes: size(at).title };
    for at in items.always.iter().copied() {
        division.raise(at, title(at));
    }
    let for_titles = division.left.percent(100 - FULL_PERCENT);
    division.left = division.left.without(for_titles);
    let mut due = Due::of(items);
    let mut rest = Vec::new();
    for at in due.by_ref() {
        if !division.raise(at, full(at)) {
            rest.push(at);
            break;
        }
    }
    division.left = division.left.with(for_titles);
    for at in rest.pop().into_iter().chain(due) {
        rest.push(at);
        if !items.always.contains(&at) && !division.raise(at, title(at)) {
            break;
        }
    }
    for at in rest {
        if !division.raise(at, full(at)) {
            division.cut(at, size(at).title);
            break;
        }
    }
    division.given
}

struct Division {
    left: Room,
    given: Vec<Allotment>,
}

impl Division {
    /// Shows more of an item if there is room. Returns whether there was.
    fn raise(&mut self, at: usize, more: Allotment) -> bool {
        let Some(given) = self.given.get_mut(at) else { return false };
        let Some(left) = self.left.with(given.takes).take(more.takes) else { return false };
        self.left = left;
        *given = more;
        true
    }

    /// Shows as much of an item as fits, unless that is hardly more than its title.
    fn cut(&mut self, at: usize, title: Room) {
        let Some(given) = self.given.get_mut(at) else { return };
        let room = self.left.with(given.takes);
        if room.tokens >= title.tokens + PART_TOKENS && room.chars > title.chars {
            *given = Allotment { shown: Shown::Part, takes: room };
            self.left = Room::NONE;
        }
    }
}

/// Items in the order in which they are due.
struct Due<'a> {
    items: &'a Items<'a>,
    queues: Vec<Queue>,
}

/// One share's items that are still to come.
struct Queue {
    share: Share,
    waiting: VecDeque<usize>,
    /// Tokens of the items taken so far.
    taken: u64,
}

impl<'a> Due<'a> {
    fn of(items: &'a Items<'a>) -> Self {
        let waiting = |share: Share| {
            let of_it = items.shares.iter().enumerate().filter(move |(_, of)| **of == share);
            of_it.map(|(at, _)| at).collect()
        };
        let queue = |share| Queue { share, waiting: waiting(share), taken: 0 };
        Self { items, queues: Share::ALL.map(queue).into() }
    }
}

impl Iterator for Due<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let tokens = |at: usize| (self.items.size)(at).full.tokens as u64;
        let due = |queue: &&mut Queue| {
            let next = queue.waiting.front().map_or(0, |at| tokens(*at));
            ((queue.taken + next) * 1_000 / queue.share.percent(), queue.share)
        };
        let waiting = self.queues.iter_mut().filter(|queue| !queue.waiting.is_empty());
        let queue = waiting.min_by_key(due)?;
        let at = queue.waiting.pop_front()?;
        queue.taken += tokens(at);
        Some(at)
    }
}

#[cfg(test)]
mod tests;
