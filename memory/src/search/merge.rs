//! How segments come to be: of one document, or of several segments, leaving behind what was removed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::segment::{Doc, Occurrence, Posting, Segment, Slot, narrow, put_varint};
use super::words::{Part, Term, Word, words};
use super::{Document, Shelf};
use crate::ids::SessionId;

/// Between two texts of a document, so that no phrase spans both.
const GAP: u32 = 16;

/// One segment of documents, no two of which have the same id.
pub(super) fn of_documents(documents: &[Document<'_>]) -> Segment {
    let mut ordered: Vec<&Document<'_>> = documents.iter().collect();
    ordered.sort_by_cached_key(|document| {
        (document.session, document.time, document.id.number, document.id)
    });
    let mut found: Vec<Place> = Vec::new();
    let mut docs = Vec::with_capacity(ordered.len());
    for (slot, document) in (0..).zip(ordered) {
        docs.push(read(document, slot, &mut found));
    }
    found.sort_unstable_by_key(|place| (place.hash, place.slot, place.position));

    let mut segment = Segment::with(docs.into_iter());
    let mut positions = Vec::new();
    for same in found.chunk_by(|a, b| a.hash == b.hash) {
        let Some(first) = same.first() else { continue };
        segment.begin(first.hash, &first.term.text);
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
struct Place {
    /// The term's, at hand for sorting.
    hash: u64,
    term: Rc<Term>,
    slot: Slot,
    position: u32,
    tag: bool,
}

/// Adds the places of a document's terms.
fn read(document: &Document<'_>, slot: Slot, found: &mut Vec<Place>) -> (SessionId, Doc, u32) {
    let start = found.len();
    let mut length = 0;
    let mut position = 0;
    for text in document.texts.iter().chain(&document.files) {
        position = GAP
            + words(text, position, &mut |Word { term, part, position, .. }| {
                if matches!(part, Part::Atom | Part::Single) && !term.stop {
                    length += 1;
                }
                found.push(Place { hash: term.hash, term, slot, position, tag: false });
            });
    }
    for tag in &document.tags {
        position = GAP
            + words(tag, position, &mut |Word { term, position, .. }| {
                found.push(Place { hash: term.hash, term, slot, position, tag: true });
            });
    }
    let mut digest = DefaultHasher::new();
    (document.id, document.session, document.time).hash(&mut digest);
    let mut words = 0_u64;
    for place in found.iter().skip(start) {
        words = (words.rotate_left(5) ^ place.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = u64::from(place.position) << 1 | u64::from(place.tag);
        words = (words.rotate_left(5) ^ place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    words.hash(&mut digest);
    let doc = Doc { id: document.id, time: document.time, digest: digest.finish() };
    (document.session.clone(), doc, length)
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
