//! A sealed part of the index: some documents and, for each of their terms, its postings and
//! positions.
//!
//! A segment never changes, so clones of the index share it. Documents are sorted by session, time
//! and number, so documents that one session stored in succession are adjacent. Terms are sorted by
//! hash.
//!
//! Postings are the largest part of the index, so they are packed bytes. Each holds the distance
//! from the previous document, and the term's frequency in its text and in its tags. The postings
//! of a frequent term begin with a table for finding one document's posting. Each term also has its
//! maximum frequency in one document, from which a search bounds what the term can add.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::bits::any;
use super::slots::{Doc, Posting, Run, Session, Slot, narrow};
use super::words::hash;
use super::{DocumentId, adjacency, passages};

/// The data stored for a term's hash.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offsets of its text, postings and positions. Each part ends where the next entry's
    /// begins.
    text: u32,
    postings: u32,
    positions: u32,
    docs: u32,
    passages: u32,
    most: Most,
}

/// The highest frequency of a term in any document's text and in any document's tags. Higher values
/// saturate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Most {
    pub text: u16,
    pub tags: u16,
}

impl Most {
    /// Returns the larger of each value.
    pub(super) fn max(self, other: Self) -> Self {
        Self { text: self.text.max(other.text), tags: self.tags.max(other.tags) }
    }
}

impl From<&Posting> for Most {
    fn from(posting: &Posting) -> Self {
        let narrow = |often: u32| u16::try_from(often).unwrap_or(u16::MAX);
        Self { text: narrow(posting.text), tags: narrow(posting.tags) }
    }
}

/// One term in one document, while a segment is being built.
pub(super) struct Occurrence<'a> {
    pub posting: Posting,
    pub positions: &'a [u8],
}

/// One term in one document of a sealed segment. Its positions are located only on request, since
/// that takes as long as everything else.
#[derive(Clone, Copy)]
pub(super) struct Occurrences<'a> {
    pub posting: Posting,
    /// The number of positions to skip.
    before: u32,
    positions: &'a [u8],
}

impl<'a> Occurrences<'a> {
    /// Returns the encoded positions; [`positions`] decodes them.
    pub(super) fn positions(&self) -> &'a [u8] {
        let mut left = self.positions;
        take_varints(&mut left, self.before);
        take_varints(&mut left, self.posting.text + self.posting.tags)
    }
}

#[derive(Debug)]
pub(super) struct Segment<I> {
    docs: Vec<Doc<I>>,
    /// The number of words in each document, stop words aside.
    lengths: Vec<u32>,
    /// Slots, sorted by the documents' ids.
    by_id: Vec<Slot>,
    runs: Vec<Run>,
    /// The hashes of all terms, ascending.
    hashes: Vec<u64>,
    /// The terms' entries, in the same order.
    entries: Vec<Entry>,
    text: String,
    postings: Vec<u8>,
    positions: Vec<u8>,
    /// The term whose postings are being added.
    open: Open,
    /// The result of [`adjacency::turns`] for the first time limit that was asked for.
    turns: OnceLock<(i64, Arc<Vec<u64>>)>,
}

/// The state of the term that is being written.
#[derive(Debug, Default)]
struct Open {
    /// The slot after the last posting.
    next: Slot,
    table: Vec<u8>,
    postings: Vec<u8>,
}

/// The initial step of a lookup. In a segment of a few dozen documents, a term is about this far
/// from the position that its hash suggests.
const SEARCH_STEPS: usize = 4;

/// The number of postings per table row. The first group has no row.
const ROW_POSTINGS: u32 = 32;
const ROW_BYTES: usize = 12;

/// A table row for the first posting of a group; each field takes four bytes.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The slot after the previous posting's.
    next: Slot,
    /// The offset of the posting.
    postings: u32,
    /// The offset of its positions.
    positions: u32,
}

impl Row {
    fn bytes(self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        let parts = [self.next, self.postings, self.positions];
        for (to, part) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(parts) {
            *to = part.to_le_bytes();
        }
        bytes
    }

    fn of(bytes: [u8; ROW_BYTES]) -> Self {
        let (parts, _) = bytes.as_chunks::<4>();
        let part = |at: usize| parts.get(at).map_or(0, |part| u32::from_le_bytes(*part));
        Self { next: part(0), postings: part(1), positions: part(2) }
    }
}

/// A term of a segment.
#[derive(Clone, Copy)]
pub(super) struct TermEntry<'a> {
    /// The number of documents that contain it, including removed ones.
    pub docs: u32,
    /// The approximate number of their passages that contain it.
    pub passages: u32,
    /// Its maximum frequency in any of them.
    pub most: Most,
    postings: &'a [u8],
    positions: &'a [u8],
}

impl<'a> TermEntry<'a> {
    /// Returns the postings, by ascending slot.
    pub(super) fn postings(self) -> impl Iterator<Item = Posting> + use<'a> {
        let (_, bytes) = self.parts();
        Postings { bytes, next: 0 }
    }

    /// Returns the postings, by ascending slot, skipping every group of postings that has no wanted
    /// slot. `wanted` holds one bit per slot.
    pub(super) fn postings_about<'b>(
        self,
        wanted: &'b [u64],
    ) -> impl Iterator<Item = Posting> + use<'a, 'b> {
        let (table, bytes) = self.parts();
        let (rows, _) = table.as_chunks::<ROW_BYTES>();
        let starts = std::iter::once(Row::default()).chain(rows.iter().map(|row| Row::of(*row)));
        let all = Row { next: Slot::MAX, postings: narrow(bytes.len()), positions: 0 };
        let ends = rows.iter().map(|row| Row::of(*row)).chain(std::iter::once(all));
        let wanted = starts.zip(ends).filter(|(start, end)| any(wanted, start.next..end.next));
        wanted.flat_map(move |(start, end)| {
            let part = bytes.get(start.postings as usize..end.postings as usize);
            Postings { bytes: part.unwrap_or_default(), next: start.next }
        })
    }

    /// Returns the term's occurrence in one document.
    pub(super) fn occurrences_in(self, slot: Slot) -> Option<Occurrences<'a>> {
        let (table, bytes) = self.parts();
        let (rows, _) = table.as_chunks::<ROW_BYTES>();
        let mut row = Row::default();
        if let Some(at) = rows.partition_point(|row| Row::of(*row).next <= slot).checked_sub(1) {
            row = Row::of(*rows.get(at)?);
        }
        let mut postings = Postings { bytes: bytes.get(row.postings as usize..)?, next: row.next };
        let mut before = 0;
        let posting = postings.find(|posting| {
            let found = posting.slot >= slot;
            before += if found { 0 } else { posting.text + posting.tags };
            found
        })?;
        let positions = self.positions.get(row.positions as usize..)?;
        Some(Occurrences { posting, before, positions }).filter(|_| posting.slot == slot)
    }

    /// Returns the table and the postings.
    fn parts(self) -> (&'a [u8], &'a [u8]) {
        let rows = self.docs.saturating_sub(1) / ROW_POSTINGS;
        self.postings.split_at_checked(rows as usize * ROW_BYTES).unwrap_or_default()
    }

    /// Returns the postings with their positions, by ascending slot.
    pub(super) fn occurrences(self) -> impl Iterator<Item = Occurrence<'a>> + use<'a> {
        let mut left = self.positions;
        self.postings().map(move |posting| {
            let positions = take_varints(&mut left, posting.text + posting.tags);
            Occurrence { posting, positions }
        })
    }
}

impl<I> Default for Segment<I> {
    fn default() -> Self {
        Self {
            docs: Vec::new(),
            lengths: Vec::new(),
            by_id: Vec::new(),
            runs: Vec::new(),
            hashes: Vec::new(),
            entries: Vec::new(),
            text: String::new(),
            postings: Vec::new(),
            positions: Vec::new(),
            open: Open::default(),
            turns: OnceLock::new(),
        }
    }
}

impl<I: DocumentId> Segment<I> {
    /// Starts a segment with its documents, which must be sorted by session, then by place.
    pub(super) fn with(docs: impl Iterator<Item = (Session, Doc<I>, u32)>) -> Self {
        let mut segment = Self::default();
        for (session, doc, length) in docs {
            let slot = narrow(segment.docs.len());
            match segment.runs.last_mut() {
                Some(run) if run.session == session => run.slots.end = slot + 1,
                _ => {
                    let hash = hash(&session);
                    segment.runs.push(Run { session, hash, slots: slot..slot + 1 });
                }
            }
            segment.docs.push(doc);
            segment.lengths.push(length);
        }
        let docs = &segment.docs;
        segment.by_id = (0..narrow(docs.len())).collect();
        segment.by_id.sort_by_key(|slot| docs.get(*slot as usize).map(|doc| doc.id));
        segment
    }

    /// Begins a term. Terms must come by ascending hash.
    pub(super) fn begin(&mut self, hash: u64, text: &str) {
        self.end();
        self.hashes.push(hash);
        self.entries.push(Entry {
            text: narrow(self.text.len()),
            postings: narrow(self.postings.len()),
            positions: narrow(self.positions.len()),
            docs: 0,
            passages: 0,
            most: Most::default(),
        });
        self.text.push_str(text);
    }

    /// Ends the current term.
    fn end(&mut self) {
        self.postings.append(&mut self.open.table);
        self.postings.append(&mut self.open.postings);
        self.open.next = 0;
    }

    /// Adds an occurrence of the current term. Occurrences must come by ascending slot.
    pub(super) fn push(&mut self, occurrence: &Occurrence<'_>) {
        let Posting { slot, text, tags } = occurrence.posting;
        let (once, tagged) = (text == 1, tags > 0);
        let Open { next, table, postings } = &mut self.open;
        let Some(entry) = self.entries.last_mut() else { return };
        if entry.docs > 0 && entry.docs.is_multiple_of(ROW_POSTINGS) {
            let positions = narrow(self.positions.len()) - entry.positions;
            let row = Row { next: *next, postings: narrow(postings.len()), positions };
            table.extend_from_slice(&row.bytes());
        }
        let length = self.lengths.get(slot as usize).copied().unwrap_or(0);
        entry.docs += 1;
        entry.most = entry.most.max(Most::from(&occurrence.posting));
        entry.passages += passages::having(&occurrence.posting, length);
        let head = (slot - *next) << 2 | u32::from(!once) << 1 | u32::from(tagged);
        put_varint(postings, head);
        if !once {
            put_varint(postings, text);
        }
        if tagged {
            put_varint(postings, tags);
        }
        *next = slot + 1;
        self.positions.extend_from_slice(occurrence.positions);
    }

    /// Ends the last term and frees spare capacity.
    pub(super) fn seal(mut self) -> Self {
        self.end();
        self.open = Open::default();
        self.docs.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.runs.shrink_to_fit();
        self.hashes.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.text.shrink_to_fit();
        self.postings.shrink_to_fit();
        self.positions.shrink_to_fit();
        self
    }

    /// Returns the number of documents, including removed ones.
    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    pub(super) fn docs(&self) -> &[Doc<I>] {
        &self.docs
    }

    pub(super) fn doc(&self, slot: Slot) -> Option<&Doc<I>> {
        self.docs.get(slot as usize)
    }

    /// Returns the number of words in each document, stop words aside.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the slot of a document.
    pub(super) fn slot(&self, id: I) -> Option<Slot> {
        let order = |slot: &Slot| self.doc(*slot).map_or(Ordering::Less, |doc| doc.id.cmp(&id));
        let (first, last) = (self.by_id.first()?, self.by_id.last()?);
        if order(first).is_gt() || order(last).is_lt() {
            return None;
        }
        let at = self.by_id.binary_search_by(order).ok()?;
        self.by_id.get(at).copied()
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the run that contains a slot.
    pub(super) fn run(&self, slot: Slot) -> Option<&Run> {
        self.runs.get(self.runs.partition_point(|run| run.slots.end <= slot))
    }

    /// Returns the slots after which a session's chain of documents does not continue; see
    /// [`adjacency::turns`].
    pub(super) fn turns(&self, ms_max: i64) -> Arc<Vec<u64>> {
        let find = || (ms_max, Arc::new(adjacency::turns(&self.docs, &self.runs, ms_max)));
        let (of, turns) = self.turns.get_or_init(find);
        if *of == ms_max { Arc::clone(turns) } else { find().1 }
    }

    /// Finds the term with this hash.
    pub(super) fn find(&self, hash: u64) -> Option<TermEntry<'_>> {
        self.found(self.number(hash)?)
    }

    /// Returns the number of the term with this hash. Hashes are evenly distributed, so the search
    /// starts at the expected position and doubles its steps.
    fn number(&self, hash: u64) -> Option<usize> {
        let hashes = self.hashes.as_slice();
        let place = (u128::from(hash) * hashes.len() as u128) >> u64::BITS;
        let place = usize::try_from(place).ok()?;
        let (mut steps, mut span) = (SEARCH_STEPS, place..place);
        let is_before = |at: usize| hashes.get(at).is_some_and(|found| *found < hash);
        // Widens the span until everything before it is lower and its end is not.
        while span.start > 0 && !is_before(span.start - 1) {
            span = span.start.saturating_sub(steps)..span.start;
            steps *= 2;
        }
        while is_before(span.end) {
            span = span.end + 1..(span.end + 1 + steps).min(hashes.len());
            steps *= 2;
        }
        let at = span.start + hashes.get(span)?.partition_point(|found| *found < hash);
        (hashes.get(at) == Some(&hash)).then_some(at)
    }

    /// Returns the hashes of all terms, ascending.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.hashes.iter().copied()
    }

    /// Returns the texts of all terms whose length in bytes is in a range.
    pub(super) fn texts(&self, bytes: Range<usize>) -> impl Iterator<Item = &str> {
        let ends = self.entries.iter().skip(1).map(|next| next.text as usize);
        let ends = ends.chain(std::iter::once(self.text.len()));
        let spans = self.entries.iter().map(|entry| entry.text as usize).zip(ends);
        spans
            .filter(move |(start, end)| bytes.contains(&(end - start)))
            .filter_map(|(start, end)| self.text.get(start..end))
    }

    /// Returns the term with this number, in hash order.
    pub(super) fn entry(&self, at: usize) -> Option<(u64, &str, TermEntry<'_>)> {
        let (entry, hash) = (self.entries.get(at)?, *self.hashes.get(at)?);
        let text = entry.text as usize..self.end_of(at, |entry| entry.text, self.text.len());
        Some((hash, self.text.get(text)?, self.found(at)?))
    }

    /// Returns the term with this number, without its text.
    fn found(&self, at: usize) -> Option<TermEntry<'_>> {
        let entry = self.entries.get(at)?;
        let (postings, positions) = (self.postings.len(), self.positions.len());
        let postings = entry.postings as usize..self.end_of(at, |entry| entry.postings, postings);
        let positions =
            entry.positions as usize..self.end_of(at, |entry| entry.positions, positions);
        Some(TermEntry {
            docs: entry.docs,
            passages: entry.passages,
            most: entry.most,
            postings: self.postings.get(postings)?,
            positions: self.positions.get(positions)?,
        })
    }

    /// Returns the end of an entry's part: the start of the next entry's, or the overall end for
    /// the last entry.
    fn end_of(&self, at: usize, begin: fn(&Entry) -> u32, all: usize) -> usize {
        self.entries.get(at + 1).map_or(all, |next| begin(next) as usize)
    }

    /// Returns its size in memory, in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.docs.as_slice())
            + size_of_val(self.lengths.as_slice())
            + size_of_val(self.by_id.as_slice())
            + size_of_val(self.runs.as_slice())
            + size_of_val(self.hashes.as_slice())
            + size_of_val(self.entries.as_slice())
            + self.text.len()
            + self.postings.len()
            + self.positions.len()
    }
}

struct Postings<'a> {
    bytes: &'a [u8],
    next: Slot,
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        let head = varint(&mut self.bytes)?;
        let slot = self.next + (head >> 2);
        self.next = slot + 1;
        let text = if head & 2 == 0 { 1 } else { varint(&mut self.bytes)? };
        let tags = if head & 1 == 0 { 0 } else { varint(&mut self.bytes)? };
        Some(Posting { slot, text, tags })
    }
}

/// Decodes positions, which are stored as distances from the previous one.
pub(super) fn positions(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut left = bytes;
    let mut at = 0;
    std::iter::from_fn(move || {
        at += varint(&mut left)?;
        Some(at)
    })
}

/// Appends a number as a varint: seven bits per byte, lowest first.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

#[inline]
fn varint(bytes: &mut &[u8]) -> Option<u32> {
    let (first, mut rest) = bytes.split_first()?;
    let mut number = u32::from(*first);
    if number >= 0x80 {
        number &= 0x7f;
        let mut shift = 7;
        loop {
            let (byte, left) = rest.split_first()?;
            rest = left;
            number |= u32::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
            shift += 7;
        }
    }
    *bytes = rest;
    Some(number)
}

/// Splits off the bytes of the next `count` numbers.
fn take_varints<'a>(bytes: &mut &'a [u8], count: u32) -> &'a [u8] {
    let mut left = count;
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte < 0x80);
    let mut end = 0;
    while left > 0 {
        let Some((at, _)) = ends.next() else { break };
        end = at + 1;
        left -= 1;
    }
    let (taken, rest) = bytes.split_at(end);
    *bytes = rest;
    taken
}
