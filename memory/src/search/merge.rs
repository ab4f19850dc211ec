//! How segments come to be: of one document, or of several segments, leaving behind what was removed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::segment::{Doc, Occurrence, Posting, Segment, Slot, narrow, put_varint};
use super::words::{Part, Term, Word, words};
use super::{Document, Shelf};
use crate::ids::SessionId;

/// Between two texts of a document, so that no phrase spans both.
const GAP: u32 = 16;

/// One segment of documents, no two of which have the same id.
pub(super) fn of_documents(mut ordered: Vec<&Document<'_>>) -> Segment {
    ordered.sort_by_cached_key(|document| {
        (document.session, document.time, document.id.number, document.id)
    });
    let mut read = Read::default();
    let mut docs = Vec::with_capacity(ordered.len());
    for (slot, document) in (0..).zip(ordered) {
        docs.push(read.document(document, slot));
    }

    let mut segment = Segment::with(docs.into_iter());
    let mut positions = Vec::new();
    let places = read.by_term();
    let mut terms: Vec<(&Rc<Term>, &[Place])> = read.terms.iter().zip(places.groups()).collect();
    terms.sort_unstable_by_key(|(term, _)| term.hash);
    for (term, same) in terms {
        segment.begin(term.hash, &term.text);
        for same in same.chunk_by(|a, b| a.slot == b.slot) {
            let mut posting = Posting { slot: 0, text: 0, tags: 0 };
            positions.clear();
            let mut before = 0;
            for place in same {
                posting.slot = place.slot;
                *if place.tag { &mut posting.tags } else { &mut posting.text } += 1;
                put_varint(&mut positions, place.position - before);
                before = place.position;
            }
            segment.push(&Occurrence { posting, positions: &positions });
        }
    }
    segment.seal()
}

/// Where a term stands.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The term's number.
    term: u32,
    slot: Slot,
    position: u32,
    tag: bool,
}

/// What was read of documents. Places come by rising slot and position.
#[derive(Default)]
struct Read {
    places: Vec<Place>,
    /// In the order in which they were first met.
    terms: Vec<Rc<Term>>,
    /// How many places each term has.
    counts: Vec<u32>,
    /// Terms' numbers by their hashes.
    numbers: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
}

impl Read {
    fn document(&mut self, document: &Document<'_>, slot: Slot) -> (SessionId, Doc, u32) {
        let mut length = 0;
        let mut position = 0;
        let mut said = 0;
        for text in document.texts.iter().chain(&document.files) {
            position = GAP
                + words(text, position, &mut |Word { term, part, position, .. }| {
                    if matches!(part, Part::Atom | Part::Single) && !term.stop {
                        length += 1;
                    }
                    self.put(term, slot, position, false, &mut said);
                });
        }
        for tag in &document.tags {
            position = GAP
                + words(tag, position, &mut |Word { term, position, .. }| {
                    self.put(term, slot, position, true, &mut said);
                });
        }
        let mut digest = DefaultHasher::new();
        (document.id, document.session, document.time).hash(&mut digest);
        said.hash(&mut digest);
        let doc = Doc { id: document.id, time: document.time, digest: digest.finish() };
        (document.session.clone(), doc, length)
    }

    /// Adds a place, and mixes it into what stands for all that was said.
    fn put(&mut self, term: Rc<Term>, slot: Slot, position: u32, tag: bool, said: &mut u64) {
        for part in [term.hash, u64::from(position) << 1 | u64::from(tag)] {
            *said = (said.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let number = *self.numbers.entry(term.hash).or_insert_with(|| {
            self.terms.push(term);
            self.counts.push(0);
            narrow(self.terms.len() - 1)
        });
        if let Some(count) = self.counts.get_mut(number as usize) {
            *count += 1;
        }
        self.places.push(Place { term: number, slot, position, tag });
    }

    /// The places by their terms' numbers, of each in the order in which they were read: counted, since there are far more
    /// places than terms, and sorting would take longer than all else.
    fn by_term(&self) -> ByTerm<'_> {
        let mut next: Vec<usize> = Vec::with_capacity(self.counts.len());
        let mut end = 0;
        for count in &self.counts {
            next.push(end);
            end += *count as usize;
        }
        let mut places = vec![Place::default(); self.places.len()];
        for place in &self.places {
            let Some(to) = next.get_mut(place.term as usize) else { continue };
            if let Some(to) = places.get_mut(*to) {
                *to = *place;
            }
            *to += 1;
        }
        ByTerm { places, counts: &self.counts }
    }
}

struct ByTerm<'r> {
    places: Vec<Place>,
    counts: &'r [u32],
}

impl ByTerm<'_> {
    fn groups(&self) -> impl Iterator<Item = &[Place]> {
        let mut left = self.places.as_slice();
        self.counts.iter().map_while(move |count| {
            let (group, rest) = left.split_at_checked(*count as usize)?;
            left = rest;
            Some(group)
        })
    }
}

/// For numbers that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// One segment of what is left in several.
pub(super) fn of_shelves(shelves: &[Shelf]) -> Segment {
    let mut docs: Vec<(&SessionId, Doc, usize, Slot, u32)> = Vec::new();
    for (from, shelf) in shelves.iter().enumerate() {
        for run in shelf.segment.runs() {
            for slot in run.slots.clone().filter(|slot| shelf.is_live(*slot)) {
                let length = shelf.segment.lengths().get(slot as usize).copied().unwrap_or(0);
                let doc = shelf.segment.doc(slot);
                docs.extend(doc.map(|doc| (&run.session, *doc, from, slot, length)));
            }
        }
    }
    docs.sort_by(|(a, x, ..), (b, y, ..)| (a, x.place()).cmp(&(b, y.place())));

    let mut moved: Vec<Vec<Option<Slot>>> =
        shelves.iter().map(|shelf| vec![None; shelf.segment.len()]).collect();
    for (to, (_, _, from, slot, _)) in docs.iter().enumerate() {
        if let Some(place) = moved.get_mut(*from).and_then(|moved| moved.get_mut(*slot as usize)) {
            *place = Some(narrow(to));
        }
    }

    let mut terms: Vec<(u64, usize, usize)> = Vec::new();
    for (from, shelf) in shelves.iter().enumerate() {
        terms.extend(shelf.segment.hashes().enumerate().map(|(at, hash)| (hash, from, at)));
    }
    terms.sort_unstable();

    let mut segment = Segment::with(
        docs.iter().map(|(session, doc, _, _, length)| (SessionId::clone(session), *doc, *length)),
    );
    let mut occurrences: Vec<Occurrence<'_>> = Vec::new();
    for same in terms.chunk_by(|(a, ..), (b, ..)| a == b) {
        let mut named = None;
        occurrences.clear();
        for (hash, from, at) in same {
            let Some((shelf, moved)) = shelves.get(*from).zip(moved.get(*from)) else { continue };
            let Some((_, text, found)) = shelf.segment.entry(*at) else { continue };
            named = Some((*hash, text));
            occurrences.extend(found.occurrences().filter_map(|mut occurrence| {
                let slot = moved.get(occurrence.posting.slot as usize).copied().flatten()?;
                occurrence.posting.slot = slot;
                Some(occurrence)
            }));
        }
        let Some((hash, text)) = named.filter(|_| !occurrences.is_empty()) else { continue };
        occurrences.sort_unstable_by_key(|occurrence| occurrence.posting.slot);
        segment.begin(hash, text);
        for occurrence in occurrences.drain(..) {
            segment.push(&occurrence);
        }
    }
    segment.seal()
}
