//! Full-text search over documents: an inverted index with BM25 ranking, as a value.
//!
//! The index is a list of shelves. A shelf is a sealed segment plus the set of its documents that
//! have since been removed. A write adds a segment of one document. Once enough segments of one
//! size exist, they merge into one of the next size. So a write is cheap, and a query reads few
//! segments. Clones share segments.
//!
//! The distribution of documents over segments never affects results. Counts cover live documents,
//! neighbours are found by session and time, and ties break by id. The same documents always give
//! the same hits.
//!
//! Phrases are matched by positions stored beside the postings, at about one byte per word. Keeping
//! the texts themselves would cost more, because a reader would have to fetch them one by one.
//!
//! The crate knows no records. A document has an id of the caller's type, texts, a session and a
//! time.

mod adjacency;
mod bits;
mod bm25;
mod cover;
mod find;
mod id;
mod lexicon;
pub mod limits;
mod merge;
mod neighbour_boost;
mod passages;
mod phrases;
mod query;
mod scoring;
mod segment;
mod slots;
mod snippet;
#[cfg(test)]
mod testing;
mod tuning;
mod typo;
mod verbs;
mod words;

use std::collections::HashSet;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

use adjacency::Adjacency;
pub use cover::Cover;
pub use find::{Bonus, Find, Hit, SearchResults, TermShare};
pub use id::DocumentId;
pub use query::{Query, Terms};
use segment::Segment;
use slots::Slot;
pub use snippet::snippet;
pub use tuning::Tuning;
pub use typo::as_written;

/// A document as the index sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a, I> {
    /// The document's id; ties between hits break by it.
    pub id: I,
    /// The id of the session that stored it. Documents of one session are neighbours of each other.
    pub session: &'a Arc<str>,
    /// The time at which it was first stored, in milliseconds. Documents stored just before and
    /// after it are likely to be related.
    pub time: i64,
    /// Its texts. A phrase never spans two of them.
    pub texts: Vec<&'a str>,
    /// Its tags, which weigh more than its texts.
    pub tags: Vec<&'a str>,
    /// Paths of the files that it concerns; they count as text.
    pub files: Vec<&'a str>,
}

/// An immutable search index. Cloning copies one pointer per segment, and there are a few dozen
/// segments.
#[derive(Clone)]
pub struct SearchIndex<I> {
    shelves: Vec<Shelf<I>>,
    documents: usize,
    /// The total length of all documents, in words.
    length: u64,
    /// The total number of passages.
    passages: u64,
    /// The wrapping sum of the documents' digests. It does not depend on order, so equal sets of
    /// documents have equal digests.
    digest: u64,
    /// The neighbour links, computed by the first search after a change.
    adjacency: OnceLock<Arc<Adjacency>>,
}

/// A segment and the set of its removed documents.
#[derive(Clone)]
struct Shelf<I> {
    segment: Arc<Segment<I>>,
    /// One bit per slot; `None` if nothing has been removed.
    dead: Option<Arc<Vec<u64>>>,
    live: usize,
}

/// The number of documents per segment when many are added at once.
const BATCH: usize = 4096;
/// The length of their texts, in bytes, beyond the first document. While a segment is built, each
/// word takes about ten times its bytes.
const BATCH_BYTES: usize = 8 << 20;

/// The merge policy as (count, size), smallest sizes first. Once `count` segments have fewer than
/// `size` documents each, they merge into one.
const SIZES: [(usize, usize); 3] = [(32, 32), (16, 512), (8, 4096)];

impl<I: DocumentId> SearchIndex<I> {
    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Adds a document, replacing the one with the same id.
    pub fn insert(&mut self, document: &Document<'_, I>) {
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

    /// Adds many documents, each replacing the one with the same id. If the input repeats an id,
    /// the later document wins. This is several times as fast as adding them one by one.
    ///
    /// It uses as many threads as there are processors. The result does not depend on their number.
    pub fn insert_all<'a>(&mut self, documents: impl IntoIterator<Item = Document<'a, I>>) {
        let documents: Vec<Document<'a, I>> = documents.into_iter().collect();
        let batches = batches(&documents);
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let share = batches.len().div_ceil(processors).max(1);
        let read = |batches: &[&[Document<'a, I>]]| -> Vec<_> {
            let mut reader = merge::Reader::default();
            batches.iter().map(|batch| of_batch(&mut reader, batch)).collect()
        };
        let segments: Vec<Vec<(Vec<I>, Segment<I>)>> = thread::scope(|scope| {
            let mut shares = batches.chunks(share);
            let first = shares.next().unwrap_or_default();
            let others: Vec<_> = shares.map(|share| scope.spawn(move || read(share))).collect();
            let mut segments = vec![read(first)];
            // If a thread panicked, its share is redone here, so that the panic reaches the caller.
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

    fn add(&mut self, segment: Segment<I>) {
        self.adjacency = OnceLock::new();
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

    /// Removes a document, if it is there.
    pub fn remove(&mut self, id: I) {
        let Some((at, slot)) = self.locate(id) else { return };
        let Some(shelf) = self.shelves.get_mut(at) else { return };
        let Some(doc) = shelf.segment.doc(slot) else { return };
        self.adjacency = OnceLock::new();
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

    /// Returns the shelf and slot of a document.
    fn locate(&self, id: I) -> Option<(usize, Slot)> {
        // Recently written documents are looked up most often.
        self.shelves.iter().enumerate().rev().find_map(|(at, shelf)| {
            let slot = shelf.segment.slot(id).filter(|slot| shelf.is_live(*slot))?;
            Some((at, slot))
        })
    }

    fn tidy(&mut self) {
        let mut least = 0;
        for (count, size) in SIZES {
            let fits = |shelf: &Shelf<I>| (least..size).contains(&shelf.segment.len());
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

/// Divides documents into those of one segment each.
fn batches<'a, 'b, I>(documents: &'b [Document<'a, I>]) -> Vec<&'b [Document<'a, I>]> {
    let mut batches = Vec::new();
    let mut left = documents;
    while !left.is_empty() {
        let lengths = left.iter().take(BATCH).scan(0, |bytes, document| {
            *bytes += document.texts.iter().map(|text| text.len()).sum::<usize>();
            Some(*bytes)
        });
        let count = lengths.take_while(|bytes| *bytes <= BATCH_BYTES).count().max(1);
        let (batch, rest) = left.split_at(count);
        batches.push(batch);
        left = rest;
    }
    batches
}

/// Builds the segment of some documents and returns it with their ids. If an id repeats, the later
/// document wins.
fn of_batch<I: DocumentId>(
    reader: &mut merge::Reader,
    batch: &[Document<'_, I>],
) -> (Vec<I>, Segment<I>) {
    let mut seen = HashSet::new();
    let last: Vec<&Document<'_, I>> =
        batch.iter().rev().filter(|document| seen.insert(document.id)).collect();
    (last.iter().map(|document| document.id).collect(), reader.segment(last))
}

impl<I: DocumentId> Shelf<I> {
    fn of(segment: Segment<I>) -> Self {
        let live = segment.len();
        Self { segment: Arc::new(segment), dead: None, live }
    }

    fn is_live(&self, slot: Slot) -> bool {
        self.dead.as_ref().is_none_or(|dead| !bits::is_set(dead, slot))
    }

    /// Returns the slots of removed documents, ascending.
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

impl<I> Default for SearchIndex<I> {
    fn default() -> Self {
        Self {
            shelves: Vec::new(),
            documents: 0,
            length: 0,
            passages: 0,
            digest: 0,
            adjacency: OnceLock::new(),
        }
    }
}

/// Two indexes are equal if they contain the same documents.
impl<I> PartialEq for SearchIndex<I> {
    fn eq(&self, other: &Self) -> bool {
        (self.documents, self.length, self.digest) == (other.documents, other.length, other.digest)
    }
}

impl<I> fmt::Debug for SearchIndex<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchIndex")
            .field("documents", &self.documents)
            .field("shelves", &self.shelves.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
