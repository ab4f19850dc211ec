//! Ranking: BM25 over all live documents, what neighbours lend, and the caller's filter and prior.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bm25::{Bm25, Frequency, Weight};
use super::chains::{Chains, Places, WORD};
use super::query::{Phrase, Query, Wanted};
use super::segment::{self, Occurrence, Segment, Slot};
use super::tuning::Tuning;
use super::{SearchIndex, Shelf, passages, typo};
use crate::ids::RecordId;
use crate::limits::SEARCH_LONG_TEXTS_MAX;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words that no document has and what was searched in their place; empty unless nothing was found as asked.
    pub corrected: Vec<(String, String)>,
}

/// A document and why it was found. `score` is (the sum of `why` + `neighbours`) × `prior`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub id: RecordId,
    /// Comparable within one answer alone.
    pub score: f32,
    /// What each term of the query gave, in the order of the query; terms that it has not are left out.
    pub why: Vec<TermShare>,
    /// What the caller made of it, in (0, 1].
    pub prior: f32,
    /// What its neighbours lent.
    pub neighbours: f32,
}

/// One term's part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct TermShare {
    /// As it was asked, in lower case.
    pub term: String,
    /// Its contribution.
    pub score: f32,
    /// Whether it stands in a tag.
    pub in_tag: bool,
}

impl SearchIndex {
    /// The best `limit` documents for a query. `keep` is asked about candidates only: none to leave a document out, else
    /// what its score is multiplied with, in (0, 1]. No document that is left out for another scores higher than it, but for long
    /// texts when there are very many: passages are looked at in those alone that could have most.
    pub fn find(
        &self,
        query: &Query,
        tuning: &Tuning,
        keep: &dyn Fn(RecordId) -> Option<f32>,
        limit: usize,
    ) -> Found {
        if limit == 0 {
            return Found::default();
        }
        let hits = Search::new(self, query, tuning).best(keep, limit);
        if !hits.is_empty() {
            return Found { hits, corrected: Vec::new() };
        }
        let Some((query, corrected)) = typo::correct(self, query) else { return Found::default() };
        let hits = Search::new(self, &query, tuning).best(keep, limit);
        if hits.is_empty() { Found::default() } else { Found { hits, corrected } }
    }

    /// How many live documents have a term.
    pub(super) fn frequency(&self, hash: u64) -> Frequency {
        let mut frequency = Frequency::default();
        for shelf in &self.shelves {
            let Some(found) = shelf.segment.find(hash) else { continue };
            if shelf.dead.is_none() {
                frequency.documents += found.docs;
                frequency.passages += found.passages;
                continue;
            }
            let lengths = shelf.segment.lengths();
            for posting in found.postings().filter(|posting| shelf.is_live(posting.slot)) {
                let length = lengths.get(posting.slot as usize).copied().unwrap_or(0);
                frequency.documents += 1;
                frequency.passages += passages::having(&posting, length);
            }
        }
        frequency
    }
}

/// One query over one index.
pub(super) struct Search<'i> {
    index: &'i SearchIndex,
    query: &'i Query,
    tuning: &'i Tuning,
    places: Places,
    /// Whether long texts have passages.
    by_passages: bool,
    /// What each wanted term is worth.
    weights: Vec<Weight>,
    /// What each document gets by its own words and what it is lent, by places; nothing for what may be no hit. Of a long
    /// text the most that it could get, since its passages are looked at only when it comes to it.
    sums: Vec<f32>,
    /// What neighbours lend to it.
    lent: Vec<f32>,
    /// Blank but while a term lends.
    lending: Vec<Lending>,
    /// Places of what may be a hit; absent when all may.
    allowed: Option<Vec<bool>>,
}

thread_local! {
    /// What the last search of this thread did its sums in: fresh memory for each search costs more than the sums.
    static ROOM: Cell<Room> = const { Cell::new(Room::NONE) };
}

/// Numbers by places, of one search after the other.
#[derive(Default)]
struct Room {
    sums: Vec<f32>,
    lent: Vec<f32>,
    lending: Vec<Lending>,
}

impl Room {
    const NONE: Self = Self { sums: Vec::new(), lent: Vec::new(), lending: Vec::new() };
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        ROOM.set(Room {
            sums: std::mem::take(&mut self.sums),
            lent: std::mem::take(&mut self.lent),
            lending: std::mem::take(&mut self.lending),
        });
    }
}

/// One term and one document.
#[derive(Clone, Copy, Default)]
struct Lending {
    own: f32,
    /// The most that a neighbour lends.
    most: f32,
}

impl<'i> Search<'i> {
    pub(super) fn new(index: &'i SearchIndex, query: &'i Query, tuning: &'i Tuning) -> Self {
        let places = Places::of(index);
        let Room { mut sums, mut lent, mut lending } = ROOM.take();
        for numbers in [&mut sums, &mut lent] {
            numbers.clear();
            numbers.resize(places.count, 0.0);
        }
        lending.clear();
        let mut search = Self {
            index,
            query,
            tuning,
            places,
            by_passages: tuning.passage > 0.0,
            weights: Vec::new(),
            sums,
            lent,
            lending,
            allowed: None,
        };
        search.restrict();
        search.sum_up();
        search
    }

    fn shelves(&self) -> impl Iterator<Item = (&'i Shelf, u32)> + use<'i, '_> {
        self.index.shelves.iter().zip(self.places.bases().iter().copied())
    }

    /// Adds up what each term gives to the documents that have it, and what those lend.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn sum_up(&mut self) {
        let Tuning { neighbour, neighbour_far, neighbour_share_max, neighbour_ms_max, .. } =
            *self.tuning;
        let bm25 = Bm25::of(self.index, self.tuning);
        let documents = self.index.documents as f32;
        let lends = neighbour > 0.0 || neighbour_far > 0.0;
        let mut lending = std::mem::take(&mut self.lending);
        for wanted in &self.query.wanted {
            let frequency = self.index.frequency(wanted.hash);
            let weight = bm25.weight(frequency);
            self.weights.push(weight);
            if frequency.documents == 0 {
                continue;
            }
            if lends && frequency.documents as f32 <= neighbour_share_max * documents {
                lending.resize(self.places.count, Lending::default());
                let chains = Chains::of(self.index, &self.places, neighbour_ms_max);
                self.lend(wanted.hash, weight, &chains, &mut lending);
            } else {
                self.add(wanted.hash, weight, &mut |_, _| {});
            }
        }
        self.lending = lending;
        for (sum, lent) in self.sums.iter_mut().zip(&self.lent) {
            *sum += lent;
        }
        for (sum, allowed) in self.sums.iter_mut().zip(self.allowed.iter().flatten()) {
            if !allowed {
                *sum = 0.0;
            }
        }
    }

    /// Adds the most that one term can give to each document that has it, and tells what it
    /// gives to one that is one passage.
    fn add(&mut self, hash: u64, weight: Weight, each: &mut impl FnMut(u32, f32)) {
        let bm25 = Bm25::of(self.index, self.tuning);
        for (shelf, base) in self.index.shelves.iter().zip(self.places.bases().iter().copied()) {
            let Some(found) = shelf.segment.find(hash) else { continue };
            let lengths = shelf.segment.lengths();
            let Some(sums) = self.sums.get_mut(base as usize..) else { continue };
            let all = shelf.dead.is_none() && self.allowed.is_none();
            let allowed = self.allowed.as_ref().and_then(|allowed| allowed.get(base as usize..));
            for posting in found.postings() {
                let slot = posting.slot as usize;
                if !all {
                    let allowed = allowed.is_none_or(|allowed| allowed.get(slot) == Some(&true));
                    if !allowed || !shelf.is_live(posting.slot) {
                        continue;
                    }
                }
                let (Some(length), Some(sum)) = (lengths.get(slot), sums.get_mut(slot)) else {
                    continue;
                };
                let share = bm25.plain(&posting, *length, weight);
                *sum += if self.by_passages && passages::are_several(*length) {
                    bm25.at_most(&posting, *length, weight)
                } else {
                    share
                };
                each(base + posting.slot, share);
            }
        }
    }

    /// The same for a term that lends: gives each document the most that one of its neighbours lends beyond what it has
    /// of its own. `lending` comes and goes blank.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a length are enough")]
    fn lend(&mut self, hash: u64, weight: Weight, chains: &Chains, lending: &mut [Lending]) {
        let Tuning { neighbour, neighbour_far, neighbour_words, .. } = *self.tuning;
        let mut touched: Vec<u32> = Vec::new();
        let mut touch = |at: u32, own: f32, most: f32| {
            let Some(term) = lending.get_mut(at as usize) else { return };
            if term.own == 0.0 && term.most == 0.0 {
                touched.push(at);
            }
            term.own = term.own.max(own);
            term.most = term.most.max(most);
        };
        self.add(hash, weight, &mut |at, share| {
            touch(at, share, 0.0);
            let (near, far) = (neighbour * share, neighbour_far * share);
            if let Some(before) = chains.before(at) {
                touch(before, 0.0, near);
                if let Some(before) = chains.before(before) {
                    touch(before, 0.0, far);
                }
            }
            if let Some(after) = chains.after(at) {
                touch(after, 0.0, near);
                if let Some(after) = chains.after(after) {
                    touch(after, 0.0, far);
                }
            }
        });
        let mut lengths: (u32, &[u32]) = (0, &[]);
        for at in touched {
            let Some(term) = lending.get_mut(at as usize).map(std::mem::take) else { continue };
            let Some(lent) = self.lent.get_mut(at as usize) else { continue };
            if term.most == 0.0 {
                continue;
            }
            let length = |(base, lengths): (u32, &[u32])| {
                lengths.get(at.checked_sub(base)? as usize).copied()
            };
            let length = length(lengths).unwrap_or_else(|| {
                let shelf = self.places.shelf(at);
                let found =
                    shelf.and_then(|(shelf, base)| Some((self.index.shelves.get(shelf)?, base)));
                lengths = found.map_or((0, &[]), |(shelf, base)| (base, shelf.segment.lengths()));
                length(lengths).unwrap_or(0)
            });
            let takes = (neighbour_words / length.max(1) as f32).powi(2).min(1.0);
            *lent += (takes * term.most - term.own).max(0.0);
        }
    }

    /// Phrases must be there, what is not wanted must not.
    fn restrict(&mut self) {
        if self.query.phrases.is_empty() && self.query.unwanted.is_empty() {
            return;
        }
        let mut allowed = vec![true; self.places.count];
        for (shelf, base) in self.shelves() {
            let slots = base as usize..base as usize + shelf.segment.len();
            let Some(allowed) = allowed.get_mut(slots) else { continue };
            for (phrases, must) in [(&self.query.phrases, true), (&self.query.unwanted, false)] {
                for phrase in phrases {
                    let mut having = with_phrase(&shelf.segment, phrase).into_iter().peekable();
                    for (slot, allowed) in (0..).zip(allowed.iter_mut()) {
                        *allowed &= having.next_if_eq(&slot).is_some() == must;
                    }
                }
            }
        }
        self.allowed = Some(allowed);
    }

    /// Takes documents in the order of their sums, until no other can be among the best.
    pub(super) fn best(&self, keep: &dyn Fn(RecordId) -> Option<f32>, limit: usize) -> Vec<Hit> {
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let (mut floor, mut above) = (self.highest(limit), f32::INFINITY);
        let mut looked = 0;
        // Most documents are far below the best ones; they are put in order only when it comes to them.
        for part in [1.0, 0.5, 0.25, 0.0] {
            floor = last(&best, limit).unwrap_or(floor * part).max(f32::MIN_POSITIVE);
            let band = self.from(floor).filter(|(_, sum)| *sum < above);
            // Positive numbers are in the order of their bits.
            let place = |(at, sum): (u32, f32)| {
                let (segment, slot) = self.place(at)?;
                Some((sum.to_bits(), Reverse(segment.doc(slot)?.id), at))
            };
            let mut waiting: BinaryHeap<(u32, Reverse<RecordId>, u32)> =
                band.filter_map(place).collect();
            while let Some((sum, Reverse(id), at)) = waiting.pop() {
                let sum = f32::from_bits(sum);
                let last = best.peek().filter(|_| best.len() >= limit);
                let beaten = last.is_some_and(|Reverse(last)| {
                    sum < last.score || sum <= last.score && id > last.id
                });
                if beaten || last.is_some() && looked >= SEARCH_LONG_TEXTS_MAX {
                    return self.hits(best);
                }
                let candidate = self.candidate(at, sum, keep);
                looked += usize::from(candidate.as_ref().is_some_and(|found| found.long));
                best.extend(candidate.map(Reverse));
                if best.len() > limit {
                    best.pop();
                }
            }
            above = floor;
        }
        self.hits(best)
    }

    /// The sum that `limit` documents reach, if as many have one.
    fn highest(&self, limit: usize) -> f32 {
        let mut highest: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        let mut floor = f32::MIN_POSITIVE;
        for (_, sums) in self.parts() {
            if !reaches(sums, floor) {
                continue;
            }
            for sum in sums.iter().filter(|sum| **sum >= floor) {
                highest.push(Reverse(sum.to_bits()));
                if highest.len() > limit {
                    highest.pop();
                }
            }
            if let Some(Reverse(least)) = highest.peek().filter(|_| highest.len() == limit) {
                floor = f32::from_bits(*least);
            }
        }
        floor
    }

    /// Places with a sum that is not below a number, and the sum.
    fn from(&self, floor: f32) -> impl Iterator<Item = (u32, f32)> {
        let parts = self.parts().filter(move |(_, sums)| reaches(sums, floor));
        let places = parts.flat_map(|(first, sums)| (first..).zip(sums.iter().copied()));
        places.filter(move |(_, sum)| *sum >= floor)
    }

    /// The sums in parts, with the place of each part's first. Most parts have none that matters.
    fn parts(&self) -> impl Iterator<Item = (u32, &[f32])> {
        (0..).step_by(WORD).zip(self.sums.chunks(WORD))
    }

    fn hits(&self, best: BinaryHeap<Reverse<Candidate>>) -> Vec<Hit> {
        // The least is the best of the reversed.
        best.into_sorted_vec().into_iter().map(|Reverse(candidate)| self.hit(&candidate)).collect()
    }

    fn candidate(
        &self,
        at: u32,
        sum: f32,
        keep: &dyn Fn(RecordId) -> Option<f32>,
    ) -> Option<Candidate> {
        let (segment, slot) = self.place(at)?;
        let id = segment.doc(slot)?.id;
        let prior = keep(id)?;
        let mut score = sum;
        let long = self.by_passages
            && segment.lengths().get(slot as usize).copied().is_some_and(passages::are_several);
        if long {
            let given: f32 = self.given(at).iter().map(|given| given.score).sum();
            score = (given + self.lent.get(at as usize).copied().unwrap_or(0.0)).min(sum);
        }
        Some(Candidate { long, score: score * prior, id, at, prior })
    }

    fn place(&self, at: u32) -> Option<(&'i Segment, Slot)> {
        let (shelf, base) = self.places.shelf(at)?;
        Some((&self.index.shelves.get(shelf)?.segment, at - base))
    }

    fn hit(&self, candidate: &Candidate) -> Hit {
        let Candidate { score, id, at, prior, .. } = *candidate;
        let lent = self.lent.get(at as usize).copied().unwrap_or(0.0);
        let term = |given: Given<'_>| TermShare {
            term: given.wanted.asked.clone(),
            score: given.score,
            in_tag: given.stands.posting.tags > 0,
        };
        let why = self.given(at).into_iter().map(term).collect();
        Hit { id, score, why, prior, neighbours: lent }
    }

    /// What each of the query's terms that a document has gives to it.
    fn given(&self, at: u32) -> Vec<Given<'i>> {
        let Some((segment, slot)) = self.place(at) else { return Vec::new() };
        let length = segment.lengths().get(slot as usize).copied().unwrap_or(0);
        let bm25 = Bm25::of(self.index, self.tuning);
        let several = self.by_passages && passages::are_several(length);
        let term = |(wanted, weight): (&'i Wanted, &Weight)| {
            let stands = segment.find(wanted.hash)?.occurrence(slot)?;
            let score = if several {
                bm25.whole(&stands.posting, length, *weight)
            } else {
                bm25.plain(&stands.posting, length, *weight)
            };
            Some(Given { wanted, weight: *weight, stands, score })
        };
        let mut given: Vec<Given<'i>> =
            self.query.wanted.iter().zip(&self.weights).filter_map(term).collect();
        if several {
            for (best, given) in best_passage(&given, &bm25).into_iter().zip(&mut given) {
                given.score += best;
            }
        }
        given
    }
}

/// What each term gives for a long text's best passage.
fn best_passage(given: &[Given<'_>], bm25: &Bm25) -> Vec<f32> {
    let mut stands = Vec::new();
    for (number, Given { stands: term, .. }) in given.iter().enumerate() {
        // Those in tags come last.
        let in_text = segment::positions(term.positions).take(term.posting.text as usize);
        stands.extend(in_text.map(|position| (position, number)));
    }
    passages::best(stands, given.len(), |number, text| {
        let given = given.get(number);
        given.map_or(0.0, |term| bm25.in_passage(text, &term.stands.posting, term.weight))
    })
}

/// Whether one of some sums is not below a number: without a branch for each, which a processor does many at once.
fn reaches(sums: &[f32], floor: f32) -> bool {
    // No sum is below zero, and positive numbers are in the order of their bits.
    sums.iter().fold(0, |highest, sum| highest.max(sum.to_bits())) >= floor.to_bits()
}

/// The score of the last of the best, when there are as many as are wanted.
fn last(best: &BinaryHeap<Reverse<Candidate>>, limit: usize) -> Option<f32> {
    best.peek().filter(|_| best.len() >= limit).map(|Reverse(last)| last.score)
}

/// A term in a document.
struct Given<'i> {
    wanted: &'i Wanted,
    weight: Weight,
    stands: Occurrence<'i>,
    score: f32,
}

/// The documents in which the terms stand at their distances, by rising slots.
fn with_phrase(segment: &Segment, phrase: &Phrase) -> Vec<Slot> {
    let mut terms = Vec::new();
    for (offset, hash) in phrase {
        let Some(found) = segment.find(*hash) else { return Vec::new() };
        terms.push((found.docs, *offset, found));
    }
    // From the rarest on there is less to look through.
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

/// Where a phrase would begin that has the term so far in.
fn starts(occurrence: &Occurrence<'_>, offset: u32) -> impl Iterator<Item = i64> {
    segment::positions(occurrence.positions)
        .map(move |position| i64::from(position) - i64::from(offset))
}

/// A document that may be a hit; the better one is greater.
struct Candidate {
    /// Its passages were looked at.
    long: bool,
    score: f32,
    id: RecordId,
    at: u32,
    prior: f32,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.id.cmp(&self.id))
    }
}
