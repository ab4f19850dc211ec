//! Search over every kind of record: an inverted index with BM25 ranking, as a value.
//!
//! The index is a list of shelves: sealed segments, and which of their documents were removed since. A write makes a segment of
//! one document; when there are enough of a size they become one of the next size, so that a write costs little and a
//! query looks at few. Clones share segments. How documents are spread over segments never shows: counts are made over
//! live documents, neighbours are found by session and time, ties break by id. The same documents give the same hits.
//!
//! Phrases are found by positions kept beside the postings, about a byte for each word: cheaper than keeping the texts
//! at hand, which a reader would have to fetch one by one.

mod bits;
mod bm25;
mod chains;
mod cover;
mod find;
mod lending;
mod lexicon;
mod merge;
mod passages;
mod phrases;
mod query;
mod segment;
mod snippet;
mod sums;
mod tuning;
mod typo;
mod verbs;
mod words;

use std::collections::HashSet;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::ids::{RecordId, SessionId, Timestamp};
use chains::Chains;
pub use cover::Cover;
pub use find::{Bonus, Find, Found, Hit, TermShare};
pub use query::{Query, Terms};
use segment::{Segment, Slot};
pub use snippet::snippet;
pub use tuning::Tuning;
pub(crate) use typo::as_written;

/// A record as it is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// The record's id; ties between hits break by it.
    pub id: RecordId,
    /// Who stored it. Documents of one session are neighbours of each other.
    pub session: &'a SessionId,
    /// When it was first stored: what was stored just before and after is near it in meaning.
    pub time: Timestamp,
    /// Its texts, none of which a phrase spans with the next.
    pub texts: Vec<&'a str>,
    /// Its tags, which weigh more than its texts.
    pub tags: Vec<&'a str>,
    /// Paths of files it concerns; they count as text.
    pub files: Vec<&'a str>,
}

/// What can be searched, at one moment. Cloning costs a pointer for each segment, of which there are some dozens.
#[derive(Clone, Default)]
pub struct SearchIndex {
    shelves: Vec<Shelf>,
    documents: usize,
    /// Of all documents, in words.
    length: u64,
    /// Of all documents.
    passages: u64,
    /// The sum of the documents' digests, wrapping: equal for equal sets, whatever the order.
    digest: u64,
    /// Found by the first search after a change.
    chains: OnceLock<Arc<Chains>>,
}

/// A segment and which of its documents are no longer there.
#[derive(Clone)]
struct Shelf {
    segment: Arc<Segment>,
    /// One bit for each slot; absent while nothing was removed.
    dead: Option<Arc<Vec<u64>>>,
    live: usize,
}

/// Documents that are added at once become segments of this size.
const BATCH: usize = 4096;

/// So many segments with fewer documents than this are made one, smallest sizes first.
const SIZES: [(usize, usize); 3] = [(32, 32), (16, 512), (8, 4096)];

impl SearchIndex {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Adds a document, in the place of the one with the same id.
    pub fn insert(&mut self, document: &Document<'_>) {
        let segment = merge::Reader::default().segment(vec![document]);
        let Some(new) = segment.doc(0).copied() else { return };
        if let Some((at, slot)) = self.locate(document.id) {
            let old = self.shelves.get(at).and_then(|shelf| shelf.segment.doc(slot));
            if old.is_some_and(|old| old.digest == new.digest) {
                return;
            }
            self.remove(document.id);
        }
        self.add(segment);
    }

    /// Adds many documents, each in the place of the one with the same id: several times as fast as one by one. Of two
    /// with the same id the later one stays. Reads them on as many threads as there are processors; what comes of it is
    /// the same on any number.
    pub fn insert_all<'a>(&mut self, documents: impl IntoIterator<Item = Document<'a>>) {
        let documents: Vec<Document<'a>> = documents.into_iter().collect();
        let batches: Vec<&[Document<'a>]> = documents.chunks(BATCH).collect();
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let share = batches.len().div_ceil(processors).max(1);
        let read = |batches: &[&[Document<'a>]]| -> Vec<_> {
            let mut reader = merge::Reader::default();
            batches.iter().map(|batch| of_batch(&mut reader, batch)).collect()
        };
        let segments: Vec<Vec<(Vec<RecordId>, Segment)>> = thread::scope(|scope| {
            let mut shares = batches.chunks(share);
            let first = shares.next().unwrap_or_default();
            let others: Vec<_> = shares.map(|share| scope.spawn(move || read(share))).collect();
            let mut segments = vec![read(first)];
            // What a thread could not do is done here, where a panic tells the caller.
            let joined = others.into_iter().zip(batches.chunks(share).skip(1));
            segments
                .extend(joined.map(|(other, share)| other.join().unwrap_or_else(|_| read(share))));
            segments
        });
        for (ids, segment) in segments.into_iter().flatten() {
            for id in ids {
                self.remove(id);
            }
            self.add(segment);
        }
    }

    fn add(&mut self, segment: Segment) {
        self.chains = OnceLock::new();
        self.documents += segment.len();
        for length in segment.lengths() {
            self.length += u64::from(*length);
            self.passages += u64::from(passages::count(*length));
        }
        let digests = segment.docs().iter().map(|doc| doc.digest);
        self.digest = digests.fold(self.digest, u64::wrapping_add);
        self.shelves.push(Shelf::of(segment));
        self.tidy();
    }

    /// Takes a document out; nothing happens when it is not there.
    pub fn remove(&mut self, id: RecordId) {
        let Some((at, slot)) = self.locate(id) else { return };
        let Some(shelf) = self.shelves.get_mut(at) else { return };
        let Some(doc) = shelf.segment.doc(slot) else { return };
        self.chains = OnceLock::new();
        self.documents -= 1;
        let length = shelf.segment.lengths().get(slot as usize).copied().unwrap_or(0);
        self.length -= u64::from(length);
        self.passages -= u64::from(passages::count(length));
        self.digest = self.digest.wrapping_sub(doc.digest);
        shelf.remove(slot);
        if shelf.live == 0 {
            self.shelves.remove(at);
        } else if shelf.live * 2 <= shelf.segment.len() {
            *shelf = Shelf::of(merge::of_shelves(std::slice::from_ref(shelf)));
        }
    }

    /// The shelf and slot of a document.
    fn locate(&self, id: RecordId) -> Option<(usize, Slot)> {
        // What was written last is looked for most.
        self.shelves.iter().enumerate().rev().find_map(|(at, shelf)| {
            let slot = shelf.segment.slot(id).filter(|slot| shelf.is_live(*slot))?;
            Some((at, slot))
        })
    }

    fn tidy(&mut self) {
        let mut least = 0;
        for (count, size) in SIZES {
            let fits = |shelf: &Shelf| (least..size).contains(&shelf.segment.len());
            if self.shelves.iter().filter(|shelf| fits(shelf)).count() >= count {
                let (small, rest): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut self.shelves).into_iter().partition(fits);
                self.shelves = rest;
                self.shelves.push(Shelf::of(merge::of_shelves(&small)));
            }
            least = size;
        }
    }
}

/// The segment of some documents and their ids; of two with the same id the later one.
fn of_batch(reader: &mut merge::Reader, batch: &[Document<'_>]) -> (Vec<RecordId>, Segment) {
    let mut seen = HashSet::new();
    let last: Vec<&Document<'_>> =
        batch.iter().rev().filter(|document| seen.insert(document.id)).collect();
    (last.iter().map(|document| document.id).collect(), reader.segment(last))
}

impl Shelf {
    fn of(segment: Segment) -> Self {
        let live = segment.len();
        Self { segment: Arc::new(segment), dead: None, live }
    }

    fn is_live(&self, slot: Slot) -> bool {
        self.dead.as_ref().is_none_or(|dead| !bits::is_set(dead, slot))
    }

    /// Slots of documents that are no longer there, rising.
    fn removed(&self) -> impl Iterator<Item = Slot> {
        self.dead.iter().flat_map(|dead| bits::ones(dead))
    }

    fn remove(&mut self, slot: Slot) {
        let words = self.segment.len().div_ceil(bits::WORD);
        let dead = self.dead.get_or_insert_with(|| Arc::new(vec![0; words]));
        let dead: &mut Vec<u64> = Arc::make_mut(dead);
        bits::set(dead, slot);
        self.live -= 1;
    }
}

/// Equal when they have the same documents.
impl PartialEq for SearchIndex {
    fn eq(&self, other: &Self) -> bool {
        (self.documents, self.length, self.digest) == (other.documents, other.length, other.digest)
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchIndex")
            .field("documents", &self.documents)
            .field("shelves", &self.shelves.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
