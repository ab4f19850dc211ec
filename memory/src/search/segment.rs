//! A sealed part of the index: some documents, and for each of their terms where it stands.
//!
//! Never changed once made, so clones of the index share it. Documents lie in the order of session, time and number, which
//! makes those stored one after the other by one session neighbours; terms lie in the order of their hashes. Postings are
//! bytes, since they are most of the index: the distance from the document before, and how often the term stands in its
//! text and in its tags. Those of a frequent term begin with a table by which one document's is found. Of each term it is
//! known how often it stands in one document at most, by which a search tells what the term can add.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::bits::any;
use super::words::hash;
use super::{chains, passages};
use crate::ids::{RecordId, SessionId, Timestamp};

/// Where a document lies in its segment.
pub(super) type Slot = u32;

/// What the index knows of a document beside its terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doc {
    pub id: RecordId,
    pub time: Timestamp,
    /// Of everything that was indexed.
    pub digest: u64,
}

impl Doc {
    /// The order within a session.
    pub(super) fn place(&self) -> (Timestamp, u64, RecordId) {
        (self.time, self.id.number, self.id)
    }
}

/// The documents of one session.
#[derive(Debug)]
pub(super) struct Run {
    pub session: SessionId,
    /// Of the session.
    pub hash: u64,
    pub slots: Range<Slot>,
}

/// What there is to a term's hash.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where text, postings and positions begin; they end where the next entry's begin.
    text: u32,
    postings: u32,
    positions: u32,
    docs: u32,
    passages: u32,
    most: Most,
}

/// How often a term stands in the text and in the tags of those documents that have it most often; no more is told apart
/// than fits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Most {
    pub text: u16,
    pub tags: u16,
}

impl Most {
    /// Of both.
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

/// One term in one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub slot: Slot,
    /// How often in the text.
    pub text: u32,
    /// How often in the tags.
    pub tags: u32,
}

/// One term in one document, while a segment is made.
pub(super) struct Occurrence<'a> {
    pub posting: Posting,
    pub positions: &'a [u8],
}

/// One term in one document of a sealed segment; its positions are not looked for, which would take as long as the
/// rest.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub posting: Posting,
    /// So many positions come before.
    before: u32,
    positions: &'a [u8],
}

impl<'a> Standing<'a> {
    /// As [`positions`] reads them.
    pub(super) fn positions(&self) -> &'a [u8] {
        let mut left = self.positions;
        take_varints(&mut left, self.before);
        take_varints(&mut left, self.posting.text + self.posting.tags)
    }
}

#[derive(Debug, Default)]
pub(super) struct Segment {
    docs: Vec<Doc>,
    /// Words that are no stop words, of each document.
    lengths: Vec<u32>,
    /// Slots in the order of their ids.
    by_id: Vec<Slot>,
    runs: Vec<Run>,
    /// Of all terms, rising.
    hashes: Vec<u64>,
    /// In the same order.
    entries: Vec<Entry>,
    text: String,
    postings: Vec<u8>,
    positions: Vec<u8>,
    /// The term that postings are added to.
    open: Open,
    /// What [`chains::turns`] found, for the time it was asked with first.
    turns: OnceLock<(i64, Arc<Vec<u64>>)>,
}

/// A term while its postings are added.
#[derive(Debug, Default)]
struct Open {
    /// The slot after the last posting.
    next: Slot,
    table: Vec<u8>,
    postings: Vec<u8>,
}

/// About as far from where its hash says lies a term in a segment of some dozens.
const SEARCH_STEPS: usize = 4;

/// The table of a term's postings has a row for each so many but the first.
const ROW_POSTINGS: u32 = 32;
const ROW_BYTES: usize = 12;

/// What a row says of the posting that it is for, four bytes each.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The slot after that of the posting before.
    next: Slot,
    /// Where it begins.
    postings: u32,
    /// Where its positions begin.
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
pub(super) struct Found<'a> {
    /// Documents with it, removed ones among them.
    pub docs: u32,
    /// About how many passages of these have it.
    pub passages: u32,
    /// In any of these.
    pub most: Most,
    postings: &'a [u8],
    positions: &'a [u8],
}

impl<'a> Found<'a> {
    /// Where the term stands, by rising slots.
    pub(super) fn postings(self) -> impl Iterator<Item = Posting> + use<'a> {
        let (_, bytes) = self.parts();
        Postings { bytes, next: 0 }
    }

    /// Where the term stands, by rising slots, with those left out that are in a part of the postings of which no slot is
    /// wanted. A bit for each slot says which are.
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

    /// Where the term stands in one document.
    pub(super) fn standing(self, slot: Slot) -> Option<Standing<'a>> {
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
        Some(Standing { posting, before, positions }).filter(|_| posting.slot == slot)
    }

    /// The table and the postings.
    fn parts(self) -> (&'a [u8], &'a [u8]) {
        let rows = self.docs.saturating_sub(1) / ROW_POSTINGS;
        self.postings.split_at_checked(rows as usize * ROW_BYTES).unwrap_or_default()
    }

    /// Documents with the term, in the order of their slots, with the positions.
    pub(super) fn occurrences(self) -> impl Iterator<Item = Occurrence<'a>> + use<'a> {
        let mut left = self.positions;
        self.postings().map(move |posting| {
            let positions = take_varints(&mut left, posting.text + posting.tags);
            Occurrence { posting, positions }
        })
    }
}

impl Segment {
    /// Starts a segment with documents in their order: session, then place.
    pub(super) fn with(docs: impl Iterator<Item = (SessionId, Doc, u32)>) -> Self {
        let mut segment = Self::default();
        for (session, doc, length) in docs {
            let slot = narrow(segment.docs.len());
            match segment.runs.last_mut() {
                Some(run) if run.session == session => run.slots.end = slot + 1,
                _ => {
                    let hash = hash(&session.0);
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

    /// Begins a term. Terms come by rising hash.
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

    /// Ends the term that was begun last.
    fn end(&mut self) {
        self.postings.append(&mut self.open.table);
        self.postings.append(&mut self.open.postings);
        self.open.next = 0;
    }

    /// Adds an occurrence of the term that was begun last. They come by rising slots.
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

    /// Gives back memory that was reserved while terms were added.
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

    /// Documents, removed ones among them.
    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    pub(super) fn docs(&self) -> &[Doc] {
        &self.docs
    }

    pub(super) fn doc(&self, slot: Slot) -> Option<&Doc> {
        self.docs.get(slot as usize)
    }

    /// Words that are no stop words, of each document.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Where a document lies.
    pub(super) fn slot(&self, id: RecordId) -> Option<Slot> {
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

    /// The run that a slot is of.
    pub(super) fn run(&self, slot: Slot) -> Option<&Run> {
        self.runs.get(self.runs.partition_point(|run| run.slots.end <= slot))
    }

    /// Where chains of documents do not go on at the next slot; see [`chains::turns`].
    pub(super) fn turns(&self, ms_max: i64) -> Arc<Vec<u64>> {
        let find = || (ms_max, Arc::new(chains::turns(self, ms_max)));
        let (of, turns) = self.turns.get_or_init(find);
        if *of == ms_max { Arc::clone(turns) } else { find().1 }
    }

    /// The term with this hash.
    pub(super) fn find(&self, hash: u64) -> Option<Found<'_>> {
        self.found(self.number(hash)?)
    }

    /// The number of the term with this hash. Hashes are spread evenly, so it is looked for from where it must lie about, in
    /// steps that double.
    fn number(&self, hash: u64) -> Option<usize> {
        let hashes = self.hashes.as_slice();
        let place = (u128::from(hash) * hashes.len() as u128) >> u64::BITS;
        let place = usize::try_from(place).ok()?;
        let (mut steps, mut span) = (SEARCH_STEPS, place..place);
        let is_before = |at: usize| hashes.get(at).is_some_and(|found| *found < hash);
        // Until all before the span are lower and what it ends with is not.
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

    /// Hashes of all terms, rising.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.hashes.iter().copied()
    }

    /// The texts of all terms with a length in bytes.
    pub(super) fn texts(&self, bytes: Range<usize>) -> impl Iterator<Item = &str> {
        let ends = self.entries.iter().skip(1).map(|next| next.text as usize);
        let ends = ends.chain(std::iter::once(self.text.len()));
        let spans = self.entries.iter().map(|entry| entry.text as usize).zip(ends);
        spans
            .filter(move |(start, end)| bytes.contains(&(end - start)))
            .filter_map(|(start, end)| self.text.get(start..end))
    }

    /// The term with this number, in the order of the hashes.
    pub(super) fn entry(&self, at: usize) -> Option<(u64, &str, Found<'_>)> {
        let (entry, hash) = (self.entries.get(at)?, *self.hashes.get(at)?);
        let text = entry.text as usize..self.end_of(at, |entry| entry.text, self.text.len());
        Some((hash, self.text.get(text)?, self.found(at)?))
    }

    /// The term with this number, without its text.
    fn found(&self, at: usize) -> Option<Found<'_>> {
        let entry = self.entries.get(at)?;
        let (postings, positions) = (self.postings.len(), self.positions.len());
        let postings = entry.postings as usize..self.end_of(at, |entry| entry.postings, postings);
        let positions =
            entry.positions as usize..self.end_of(at, |entry| entry.positions, positions);
        Some(Found {
            docs: entry.docs,
            passages: entry.passages,
            most: entry.most,
            postings: self.postings.get(postings)?,
            positions: self.positions.get(positions)?,
        })
    }

    /// Where what the next entry has of something begins; after all of it for the last entry.
    fn end_of(&self, at: usize, begin: fn(&Entry) -> u32, all: usize) -> usize {
        self.entries.get(at + 1).map_or(all, |next| begin(next) as usize)
    }

    /// What it takes of memory.
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

/// Positions as distances from the one before.
pub(super) fn positions(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut left = bytes;
    let mut at = 0;
    std::iter::from_fn(move || {
        at += varint(&mut left)?;
        Some(at)
    })
}

/// Seven bits a byte, the lowest first.
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

/// The bytes of the next numbers.
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

/// Offsets fit: a project's text is bounded far below 4 GiB.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a project's text is bounded far below 4 GiB")
}
