//! Selects the documents that may be hits at all: those with every phrase of the query and without
//! unwanted words.

use super::adjacency::Places;
use super::query::{Phrase, Query};
use super::segment::{self, Occurrence, Segment};
use super::slots::Slot;
use super::{DocumentId, SearchIndex};

/// Returns whether each place may be a hit, or `None` if all may.
pub(super) fn allowed<I: DocumentId>(
    index: &SearchIndex<I>,
    places: &Places,
    query: &Query,
) -> Option<Vec<bool>> {
    if query.phrases.is_empty() && query.unwanted.is_empty() {
        return None;
    }
    let mut allowed = vec![true; places.count];
    for (shelf, base) in index.shelves.iter().zip(places.bases().iter().copied()) {
        let slots = base as usize..base as usize + shelf.segment.len();
        let Some(allowed) = allowed.get_mut(slots) else { continue };
        for (phrases, must) in [(&query.phrases, true), (&query.unwanted, false)] {
            for phrase in phrases {
                let mut having = with_phrase(&shelf.segment, phrase).into_iter().peekable();
                for (slot, allowed) in (0..).zip(allowed.iter_mut()) {
                    *allowed &= having.next_if_eq(&slot).is_some() == must;
                }
            }
        }
    }
    Some(allowed)
}

/// Returns the slots, ascending, in which the terms occur at their distances.
fn with_phrase<I: DocumentId>(segment: &Segment<I>, phrase: &Phrase) -> Vec<Slot> {
    if let [(_, only)] = phrase.as_slice() {
        let postings = segment.find(*only).into_iter().flat_map(segment::TermEntry::postings);
        return postings.map(|posting| posting.slot).collect();
    }
    let mut terms = Vec::new();
    for (offset, hash) in phrase {
        let Some(found) = segment.find(*hash) else { return Vec::new() };
        terms.push((found.docs, *offset, found));
    }
    // Starting with the rarest term leaves the least to scan.
    terms.sort_by_key(|(docs, offset, _)| (*docs, *offset));
    let mut terms = terms.into_iter();
    let Some((_, offset, rarest)) = terms.next() else { return Vec::new() };
    let mut left: Vec<(Slot, Vec<i64>)> = rarest
        .occurrences()
        .map(|occurrence| (occurrence.posting.slot, starts(&occurrence, offset).collect()))
        .collect();
    for (_, offset, found) in terms {
        let mut before = left.into_iter().peekable();
        left = Vec::new();
        for occurrence in found.occurrences() {
            let slot = occurrence.posting.slot;
            while before.next_if(|(earlier, _)| *earlier < slot).is_some() {}
            if let Some((_, mut both)) = before.next_if(|(same, _)| *same == slot) {
                let starts: Vec<i64> = starts(&occurrence, offset).collect();
                both.retain(|start| starts.binary_search(start).is_ok());
                left.extend((!both.is_empty()).then_some((slot, both)));
            }
        }
    }
    left.into_iter().map(|(slot, _)| slot).collect()
}

/// Returns where a phrase would begin that has the term at this offset.
fn starts(occurrence: &Occurrence<'_>, offset: u32) -> impl Iterator<Item = i64> {
    segment::positions(occurrence.positions)
        .map(move |position| i64::from(position) - i64::from(offset))
}
