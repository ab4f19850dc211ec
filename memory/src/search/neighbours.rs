//! Who stands next to whom: what one session stored just before and just after a document.

use std::cmp::Reverse;
use std::ops::Range;

use super::segment::{Doc, Slot, narrow};
use super::{SearchIndex, Shelf};

/// The document before and the one after each, by their places among all slots.
#[derive(Default)]
pub(super) struct Neighbours {
    before: Vec<u32>,
    after: Vec<u32>,
}

/// Stands for no document.
const NONE: u32 = u32::MAX;

impl Neighbours {
    /// Finds the order of each session's live documents. Those further apart in time than `ms_max` are no neighbours.
    pub(super) fn of(index: &SearchIndex, bases: &[usize], ms_max: i64) -> Self {
        let all = index.shelves.iter().map(|shelf| shelf.segment.len()).sum();
        let mut chains = Chains { index, bases, before: vec![NONE; all], after: vec![NONE; all] };
        let mut runs: Vec<(u64, Reverse<usize>, usize, Range<Slot>)> = Vec::new();
        for (at, shelf) in index.shelves.iter().enumerate() {
            let run = |(hash, slots): (u64, Range<Slot>)| (hash, Reverse(slots.len()), at, slots);
            runs.extend(shelf.segment.runs().iter().map(|r| (r.hash, r.slots.clone())).map(run));
        }
        // Long runs first, so that short ones are put into them.
        runs.sort_unstable_by_key(|(hash, length, at, _)| (*hash, *length, *at));
        for session in runs.chunk_by(|(a, ..), (b, ..)| a == b) {
            let mut head = None;
            for (number, (_, _, at, slots)) in session.iter().enumerate() {
                let known = session.get(..number).unwrap_or_default();
                chains.insert(&mut head, known, *at, slots.clone());
            }
        }
        chains.cut(ms_max);
        Self { before: chains.before, after: chains.after }
    }

    /// The one before.
    pub(super) fn before(&self, at: u32) -> Option<u32> {
        self.before.get(at as usize).copied().filter(|at| *at != NONE)
    }

    /// The one after.
    pub(super) fn after(&self, at: u32) -> Option<u32> {
        self.after.get(at as usize).copied().filter(|at| *at != NONE)
    }
}

struct Chains<'i> {
    index: &'i SearchIndex,
    bases: &'i [usize],
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Chains<'_> {
    /// Puts a run's documents into their session's chain: as blocks, since runs seldom overlap.
    fn insert(
        &mut self,
        head: &mut Option<u32>,
        known: &[(u64, Reverse<usize>, usize, Range<Slot>)],
        at: usize,
        slots: Range<Slot>,
    ) {
        let Some((shelf, base)) = self.shelf(at) else { return };
        let live: Vec<u32> =
            slots.filter(|slot| shelf.is_live(*slot)).map(|slot| base + slot).collect();
        let mut rest = live.as_slice();
        while let Some(first) = rest.first() {
            let Some(doc) = self.doc(*first) else { return };
            let last_before =
                known.iter().filter_map(|(_, _, at, slots)| self.last_before(doc, *at, slots));
            let before = last_before.max_by_key(|(doc, _)| doc.place()).map(|(_, at)| at);
            let next = match before {
                Some(before) => self.after(before),
                None => *head,
            };
            let count = match next.and_then(|next| self.doc(next)) {
                Some(next) => rest.partition_point(|at| {
                    self.doc(*at).is_some_and(|doc| doc.place() < next.place())
                }),
                None => rest.len(),
            };
            let (block, left) = rest.split_at(count.max(1));
            rest = left;
            if before.is_none() {
                *head = Some(*first);
            }
            let mut last = before;
            for at in block.iter().copied().map(Some).chain(std::iter::once(next)) {
                self.link(last, at);
                last = at;
            }
        }
    }

    /// The last live document of a run that comes before another.
    fn last_before(&self, doc: &Doc, at: usize, slots: &Range<Slot>) -> Option<(&Doc, u32)> {
        let (shelf, base) = self.shelf(at)?;
        let run = shelf.segment.docs().get(slots.start as usize..slots.end as usize)?;
        let end = slots.start + narrow(run.partition_point(|other| other.place() < doc.place()));
        let slot = (slots.start..end).rev().find(|slot| shelf.is_live(*slot))?;
        Some((shelf.segment.doc(slot)?, base + slot))
    }

    fn link(&mut self, from: Option<u32>, to: Option<u32>) {
        if let Some(after) = from.and_then(|from| self.after.get_mut(from as usize)) {
            *after = to.unwrap_or(NONE);
        }
        if let Some(before) = to.and_then(|to| self.before.get_mut(to as usize)) {
            *before = from.unwrap_or(NONE);
        }
    }

    /// Parts what is too far apart in time.
    fn cut(&mut self, ms_max: i64) {
        for (shelf, base) in self.index.shelves.iter().zip(self.bases) {
            let (docs, base) = (shelf.segment.docs(), narrow(*base));
            for (at, doc) in (base..).zip(docs) {
                let Some(next) = self.after(at) else { continue };
                let here = next.checked_sub(base).and_then(|slot| docs.get(slot as usize));
                let far = here
                    .or_else(|| self.doc(next))
                    .is_none_or(|next| doc.time.0.abs_diff(next.time.0) > ms_max.unsigned_abs());
                if far {
                    self.link(Some(at), None);
                    self.link(None, Some(next));
                }
            }
        }
    }

    fn after(&self, at: u32) -> Option<u32> {
        self.after.get(at as usize).copied().filter(|at| *at != NONE)
    }

    fn shelf(&self, at: usize) -> Option<(&Shelf, u32)> {
        Some((self.index.shelves.get(at)?, narrow(*self.bases.get(at)?)))
    }

    fn doc(&self, at: u32) -> Option<&Doc> {
        let shelf = self.bases.partition_point(|base| *base <= at as usize).checked_sub(1)?;
        let (shelf, base) = self.shelf(shelf)?;
        shelf.segment.doc(at - base)
    }
}
