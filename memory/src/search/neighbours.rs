//! Who stands next to whom: what one session stored just before and just after a document.

use std::collections::HashMap;
use std::ops::Range;

use super::SearchIndex;
use super::segment::{Doc, Slot};
use crate::ids::SessionId;

/// Looks neighbours up for one query; where a session's documents lie is found once.
pub(super) struct Neighbours<'i> {
    index: &'i SearchIndex,
    sessions: HashMap<&'i SessionId, Vec<(usize, Range<Slot>)>>,
}

/// A document's shelf and slot.
pub(super) type Place = (usize, Slot);

impl<'i> Neighbours<'i> {
    pub(super) fn new(index: &'i SearchIndex) -> Self {
        Self { index, sessions: HashMap::new() }
    }

    /// The documents before and after one in its session, no further away in time than `ms_max`.
    pub(super) fn of(&mut self, place: Place, ms_max: i64) -> [Option<Place>; 2] {
        let index = self.index;
        let Some((doc, session)) = index
            .shelves
            .get(place.0)
            .and_then(|shelf| Some((shelf.segment.doc(place.1)?, shelf.segment.session(place.1)?)))
        else {
            return [None, None];
        };
        let runs = self.sessions.entry(session).or_insert_with(|| {
            let run = |(at, shelf): (usize, &super::Shelf)| Some((at, shelf.segment.run(session)?));
            index.shelves.iter().enumerate().filter_map(run).collect()
        });
        let near = |found: Option<(&Doc, Place)>| {
            let (other, place) = found?;
            (other.time.0.abs_diff(doc.time.0) <= ms_max.unsigned_abs()).then_some(place)
        };
        let mut before: Option<(&Doc, Place)> = None;
        let mut after: Option<(&Doc, Place)> = None;
        for (at, slots) in runs.iter() {
            let Some(shelf) = index.shelves.get(*at) else { continue };
            let docs = shelf.segment.docs();
            let live = |slot: &Slot| shelf.is_live(*slot);
            let split = if *at == place.0 {
                place.1
            } else {
                let run = docs.get(slots.start as usize..slots.end as usize).unwrap_or_default();
                let below = run.partition_point(|other| other.place() < doc.place());
                slots.start + super::segment::narrow(below)
            };
            let seen = |slot: Slot| Some((docs.get(slot as usize)?, (*at, slot)));
            if let Some(found) = (slots.start..split).rev().find(live).and_then(seen)
                && before.is_none_or(|(best, _)| best.place() < found.0.place())
            {
                before = Some(found);
            }
            let next = if *at == place.0 { split + 1 } else { split };
            if let Some(found) = (next..slots.end).find(live).and_then(seen)
                && after.is_none_or(|(best, _)| best.place() > found.0.place())
            {
                after = Some(found);
            }
        }
        [near(before), near(after)]
    }
}
