//! Builds segments, either from documents or by merging segments without their removed documents.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::lexicon::{Lexicon, Met};
use super::segment::{Occurrence, Segment, put_varint};
use super::slots::{Doc, Posting, Session, Slot, narrow};
use super::words::{Part, Word, words};
use super::{Document, DocumentId, Shelf};

/// The gap in positions between two texts of a document, so that no phrase spans both.
const GAP: u32 = 16;

/// A builder of segments from documents. It reuses its lexicon and buffers; the result does not
/// depend on what it read before.
#[derive(Default)]
pub(super) struct Reader {
    lexicon: Lexicon,
    /// The positions of terms, by ascending slot and position.
    read: Vec<TermPosition>,
    /// The number of positions of each term.
    counts: Vec<u32>,
    /// The start of each term's positions once they are sorted by term.
    starts: Vec<u32>,
    ordered: Vec<At>,
}

/// One position of a term.
#[derive(Clone, Copy)]
struct TermPosition {
    /// The term's number.
    term: u32,
    at: At,
}

#[derive(Clone, Copy, Default)]
struct At {
    slot: Slot,
    /// Twice the position, plus one if in a tag.
    place: u32,
}

impl Reader {
    /// Builds one segment from documents with distinct ids.
    pub(super) fn segment<I: DocumentId>(
        &mut self,
        mut documents: Vec<&Document<'_, I>>,
    ) -> Segment<I> {
        documents.sort_by_cached_key(|document| {
            (document.session, document.time, document.id.number(), document.id)
        });
        self.lexicon.tidy();
        self.read.clear();
        self.counts.clear();
        let docs: Vec<_> =
            (0..).zip(documents).map(|(slot, document)| self.document(document, slot)).collect();
        self.order();

        let mut segment = Segment::with(docs.into_iter());
        let mut positions = Vec::new();
        let terms = self.lexicon.terms();
        let mut met: Vec<(u64, usize)> = (0..)
            .zip(terms.iter().zip(&self.counts))
            .filter(|(_, (_, count))| **count > 0)
            .map(|(number, (known, _))| (known.hash, number))
            .collect();
        met.sort_unstable();
        for (hash, number) in met {
            let Some(known) = terms.get(number) else { continue };
            segment.begin(hash, &known.term.text);
            for same in self.places(number).chunk_by(|a, b| a.slot == b.slot) {
                let mut posting = Posting { slot: 0, text: 0, tags: 0 };
                positions.clear();
                let mut before = 0;
                for at in same {
                    posting.slot = at.slot;
                    *if at.place & 1 == 1 { &mut posting.tags } else { &mut posting.text } += 1;
                    put_varint(&mut positions, (at.place >> 1) - before);
                    before = at.place >> 1;
                }
                segment.push(&Occurrence { posting, positions: &positions });
            }
        }
        segment.seal()
    }

    fn document<I: DocumentId>(
        &mut self,
        document: &Document<'_, I>,
        slot: Slot,
    ) -> (Session, Doc<I>, u32) {
        let mut length = 0;
        let mut position = 0;
        let mut said = 0;
        for text in document.texts.iter().chain(&document.files) {
            position = GAP
                + words(text, position, &mut |Word { raw, part, position, .. }| {
                    let stop = self.put(raw, At { slot, place: position << 1 }, &mut said);
                    if matches!(part, Part::Atom | Part::Single) && !stop {
                        length += 1;
                    }
                });
        }
        for tag in &document.tags {
            position = GAP
                + words(tag, position, &mut |Word { raw, position, .. }| {
                    self.put(raw, At { slot, place: position << 1 | 1 }, &mut said);
                });
        }
        let mut digest = DefaultHasher::new();
        (document.id, document.session, document.time).hash(&mut digest);
        said.hash(&mut digest);
        let doc = Doc { id: document.id, time: document.time, digest: digest.finish() };
        (Arc::clone(document.session), doc, length)
    }

    /// Adds a position and mixes it into the document's digest. Returns whether the word is a stop
    /// word.
    fn put(&mut self, raw: &str, at: At, said: &mut u64) -> bool {
        let Met { number, stop } = self.lexicon.word(raw);
        let Some(known) = self.lexicon.terms().get(number as usize) else { return stop };
        let here = known.hash ^ u64::from(at.place).wrapping_mul(0xd6e8_feb8_6659_fd93);
        *said = (said.rotate_left(5) ^ here).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.counts.len() <= number as usize {
            self.counts.resize(self.lexicon.terms().len(), 0);
        }
        if let Some(count) = self.counts.get_mut(number as usize) {
            *count += 1;
        }
        self.read.push(TermPosition { term: number, at });
        stop
    }

    /// Sorts positions by term number, keeping their order within a term. It is a counting sort:
    /// there are far more positions than terms, and a comparison sort would take longer than
    /// everything else.
    fn order(&mut self) {
        self.starts.clear();
        let mut end = 0;
        for count in &self.counts {
            self.starts.push(end);
            end += count;
        }
        self.ordered.clear();
        self.ordered.resize(self.read.len(), At::default());
        for place in &self.read {
            let Some(to) = self.starts.get_mut(place.term as usize) else { continue };
            if let Some(ordered) = self.ordered.get_mut(*to as usize) {
                *ordered = place.at;
            }
            // Finally it is the start of the next term's positions.
            *to += 1;
        }
    }

    /// Returns a term's positions.
    fn places(&self, number: usize) -> &[At] {
        let end = self.starts.get(number).copied().unwrap_or(0);
        let count = self.counts.get(number).copied().unwrap_or(0);
        self.ordered.get((end - count) as usize..end as usize).unwrap_or_default()
    }
}

/// Merges the live documents of several shelves into one segment.
pub(super) fn of_shelves<I: DocumentId>(shelves: &[Shelf<I>]) -> Segment<I> {
    let mut docs: Vec<(&Session, Doc<I>, usize, Slot, u32)> = Vec::new();
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
        docs.iter().map(|(session, doc, _, _, length)| (Arc::clone(session), *doc, *length)),
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
