//! Links each document to its neighbours: those the same session stored just before and after it.
//!
//! Nearly always the neighbour is at the next place of the same segment. One bit per slot says so,
//! and segments keep these bits. Only the exceptions are found again after each change: chains that
//! turn at removed documents, and between segments with documents of one session. So a search after
//! a write examines few documents.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::bits::{WORD, is_set, set};
use super::slots::{Doc, Run, Slot, narrow};
use super::{DocumentId, SearchIndex, Shelf};

/// The place of each shelf's first slot in the whole index. Each is a multiple of [`WORD`], so that
/// the bits of segments can be concatenated.
pub(super) struct Places {
    bases: Vec<u32>,
    /// The number of places, used or not.
    pub(super) count: usize,
}

impl Places {
    pub(super) fn of<I: DocumentId>(index: &SearchIndex<I>) -> Self {
        let mut count = 0;
        let base = |shelf: &Shelf<I>| {
            let base = narrow(count);
            count += shelf.segment.len().next_multiple_of(WORD);
            base
        };
        let bases = index.shelves.iter().map(base).collect();
        Self { bases, count }
    }

    /// Returns the first place of each shelf.
    pub(super) fn bases(&self) -> &[u32] {
        &self.bases
    }

    /// Returns the number of the shelf that contains a place, and the shelf's first place.
    pub(super) fn shelf(&self, at: u32) -> Option<(usize, u32)> {
        let shelf = self.bases.partition_point(|base| *base <= at).checked_sub(1)?;
        Some((shelf, *self.bases.get(shelf)?))
    }
}

/// The document before and the one after each, by their places.
pub(super) struct Adjacency {
    ms_max: i64,
    /// Places after which the chain does not continue at the next place.
    turns: Vec<u64>,
    /// The exceptional successors, if any: from, to, by ascending places.
    after: Vec<(u32, u32)>,
    /// The predecessors that are not at the place before: from, to, by ascending places.
    before: Vec<(u32, u32)>,
    /// One bit per place from which one or two steps cross such a turn.
    odd: Vec<u64>,
}

impl Adjacency {
    /// Finds the order of each session's live documents. Documents further apart in time than
    /// `ms_max` are not neighbours.
    ///
    /// The index keeps the result until it changes, since most searches use the same index as the
    /// one before.
    pub(super) fn of<I: DocumentId>(
        index: &SearchIndex<I>,
        places: &Places,
        ms_max: i64,
    ) -> Arc<Self> {
        let find = || Arc::new(Self::find(index, places, ms_max));
        let known = index.adjacency.get_or_init(find);
        if known.ms_max == ms_max { Arc::clone(known) } else { find() }
    }

    fn find<I: DocumentId>(index: &SearchIndex<I>, places: &Places, ms_max: i64) -> Self {
        let mut turns = Vec::with_capacity(places.count / WORD);
        for shelf in &index.shelves {
            turns.extend_from_slice(&shelf.segment.turns(ms_max));
        }
        let mut search = Turning { index, places, ms_max, turns, links: HashMap::new() };
        for (shelf, base) in index.shelves.iter().zip(places.bases()) {
            search.step_over_removed(shelf, *base);
        }
        search.join_shelves();
        let mut after: Vec<(u32, u32)> =
            search.links.into_iter().filter_map(|(from, to)| Some((from, to?))).collect();
        let mut before: Vec<(u32, u32)> = after.iter().map(|(from, to)| (*to, *from)).collect();
        after.sort_unstable();
        before.sort_unstable();
        let mut adjacency = Self { ms_max, turns: search.turns, after, before, odd: Vec::new() };
        adjacency.odd = adjacency.find_odd();
        adjacency
    }

    fn find_odd(&self) -> Vec<u64> {
        let mut odd = vec![0; self.turns.len()];
        for (from, to) in &self.after {
            let about = [Some(*from), Some(*to), self.before(*from), self.after(*to)];
            about.into_iter().flatten().for_each(|at| set(&mut odd, at));
        }
        odd
    }

    /// Whether one or two steps from a place lead elsewhere than to the adjacent places.
    #[inline]
    pub(super) fn is_odd(&self, at: u32) -> bool {
        is_set(&self.odd, at)
    }

    /// Returns the odd places of a word, from the lowest bit up.
    pub(super) fn odd(&self, word: usize) -> u64 {
        self.odd.get(word).copied().unwrap_or(0)
    }

    /// Returns, from the lowest bit up, whether the chain turns after each place around a word. The
    /// range starts two places before the word. The first number covers as many places as a word
    /// has, and the second the three after those.
    pub(super) fn turns_about(&self, word: usize) -> (u64, u64) {
        let turns = |word: Option<usize>| {
            word.and_then(|word| self.turns.get(word)).copied().unwrap_or(u64::MAX)
        };
        let (before, here) = (turns(word.checked_sub(1)), turns(Some(word)));
        let after = turns(Some(word + 1));
        (before >> (WORD - 2) | here << 2, (here >> (WORD - 2) | after << 2) & 0b111)
    }

    /// Returns the document after one.
    #[inline]
    pub(super) fn after(&self, at: u32) -> Option<u32> {
        if is_set(&self.turns, at) { linked(&self.after, at) } else { Some(at + 1) }
    }

    /// Returns the document before one.
    #[inline]
    pub(super) fn before(&self, at: u32) -> Option<u32> {
        match at.checked_sub(1).filter(|before| !is_set(&self.turns, *before)) {
            Some(before) => Some(before),
            None => linked(&self.before, at),
        }
    }
}

fn linked(links: &[(u32, u32)], at: u32) -> Option<u32> {
    let found = links.binary_search_by_key(&at, |(from, _)| *from).ok()?;
    links.get(found).map(|(_, to)| *to)
}

/// Returns one bit per slot of a segment with these documents. A bit is set if the next slot is not
/// a neighbour in session and time. Bits beyond the last slot are set.
pub(super) fn turns<I>(docs: &[Doc<I>], runs: &[Run], ms_max: i64) -> Vec<u64> {
    let mut turns = vec![u64::MAX; docs.len().div_ceil(WORD)];
    for run in runs {
        let docs = docs.get(run.slots.start as usize..run.slots.end as usize);
        let pairs = docs.unwrap_or_default().windows(2);
        for (slot, pair) in run.slots.clone().zip(pairs) {
            let [doc, next] = pair else { continue };
            if is_near(doc.time, next.time, ms_max)
                && let Some(word) = turns.get_mut(slot as usize / WORD)
            {
                *word &= !(1 << (slot % 64));
            }
        }
    }
    turns
}

fn is_near(one: i64, other: i64, ms_max: i64) -> bool {
    one.abs_diff(other) <= ms_max.unsigned_abs()
}

/// The state while turns are searched for.
struct Turning<'i, I> {
    index: &'i SearchIndex<I>,
    places: &'i Places,
    ms_max: i64,
    turns: Vec<u64>,
    /// The successor of each turn; `None` where a chain ends.
    links: HashMap<u32, Option<u32>>,
}

/// The documents of one session in one shelf that are still to be ordered. The earliest compares as
/// greatest.
struct Rest<I> {
    place: Reverse<(i64, u64, I)>,
    shelf: usize,
    /// The remaining slots, starting with a live one.
    slots: Range<Slot>,
}

impl<I: DocumentId> Turning<'_, I> {
    fn link(&mut self, from: u32, to: Option<u32>) {
        set(&mut self.turns, from);
        self.links.insert(from, to);
    }

    /// Links the documents on both sides of removed ones.
    fn step_over_removed(&mut self, shelf: &Shelf<I>, base: u32) {
        let mut removed = shelf.removed().peekable();
        while let Some(first) = removed.next() {
            let mut next = first + 1;
            while removed.next_if_eq(&next).is_some() {
                next += 1;
            }
            for slot in first..next {
                self.link(base + slot, None);
            }
            let Some(before) = first.checked_sub(1) else { continue };
            let (Some(one), Some(run)) = (shelf.segment.doc(before), shelf.segment.run(before))
            else {
                continue;
            };
            let other = shelf.segment.doc(next).filter(|_| run.slots.contains(&next));
            let joined = other.filter(|other| is_near(one.time, other.time, self.ms_max));
            self.link(base + before, joined.map(|_| base + next));
        }
    }

    /// Merges what each session has in several shelves into one order. It moves whole blocks, since
    /// shelves seldom overlap.
    fn join_shelves(&mut self) {
        let mut runs: Vec<(u64, usize, Range<Slot>)> = Vec::new();
        for (at, shelf) in self.index.shelves.iter().enumerate() {
            runs.extend(shelf.segment.runs().iter().map(|run| (run.hash, at, run.slots.clone())));
        }
        runs.sort_unstable_by_key(|(hash, at, _)| (*hash, *at));
        for session in runs.chunk_by(|(a, ..), (b, ..)| a == b).filter(|runs| runs.len() > 1) {
            let rests = session.iter().filter_map(|(_, at, slots)| self.rest(*at, slots.clone()));
            let mut waiting: BinaryHeap<Rest<I>> = rests.collect();
            let mut last: Option<(u32, i64)> = None;
            while let Some(Rest { shelf, slots, .. }) = waiting.pop() {
                let next = waiting.peek().map(|rest| rest.place.0);
                let Some((block, time)) = self.block(shelf, &slots, next) else { continue };
                let Some(base) = self.places.bases().get(shelf).copied() else { continue };
                if let Some((from, before)) = last {
                    let near = is_near(before, time.start, self.ms_max);
                    self.link(from, near.then_some(base + block.start));
                }
                last = Some((base + block.end, time.end));
                waiting.extend(self.rest(shelf, block.end + 1..slots.end));
            }
        }
    }

    /// Returns what remains of a run, from its first live document on.
    fn rest(&self, at: usize, mut slots: Range<Slot>) -> Option<Rest<I>> {
        let shelf = self.index.shelves.get(at)?;
        let first = slots.find(|slot| shelf.is_live(*slot))?;
        let place = Reverse(shelf.segment.doc(first)?.place());
        Some(Rest { place, shelf: at, slots: first..slots.end })
    }

    /// Returns the first and last of the live documents before `next`, and their times.
    fn block(
        &self,
        at: usize,
        slots: &Range<Slot>,
        next: Option<(i64, u64, I)>,
    ) -> Option<(Range<Slot>, Range<i64>)> {
        let shelf = self.index.shelves.get(at)?;
        let docs = shelf.segment.docs().get(slots.start as usize..slots.end as usize)?;
        let count = next.map_or(docs.len(), |next| docs.partition_point(|doc| doc.place() < next));
        let end = slots.start + narrow(count.max(1));
        let last = (slots.start..end).rev().find(|slot| shelf.is_live(*slot))?;
        let time = shelf.segment.doc(slots.start)?.time..shelf.segment.doc(last)?.time;
        Some((slots.start..last, time))
    }
}

impl<I: DocumentId> PartialEq for Rest<I> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<I: DocumentId> Eq for Rest<I> {}

impl<I: DocumentId> PartialOrd for Rest<I> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: DocumentId> Ord for Rest<I> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}
