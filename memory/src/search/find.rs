//! Ranking: BM25 over all live documents, what neighbours lend, and the caller's filter and prior.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency ln(1 + (N − n + ½)/(n + ½)), which is never negative. A term in a tag counts as several
//! in the text, before saturation, as that paper does for fields.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::neighbours::Neighbours;
use super::query::{Phrase, Query, Wanted};
use super::segment::{self, Doc, Occurrence, Posting, Segment, Slot};
use super::tuning::Tuning;
use super::{SearchIndex, Shelf, typo};
use crate::ids::RecordId;

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
    /// what its score is multiplied with, in (0, 1]. No document that is left out for another scores higher than it.
    pub fn find(
        &self,
        query: &Query,
        tuning: &Tuning,
        keep: &dyn Fn(RecordId) -> Option<f32>,
        limit: usize,
    ) -> Found {
        let hits = Search::new(self, query, tuning).best(keep, limit);
        if !hits.is_empty() || limit == 0 {
            return Found { hits, corrected: Vec::new() };
        }
        let Some((query, corrected)) = typo::correct(self, query) else { return Found::default() };
        let hits = Search::new(self, &query, tuning).best(keep, limit);
        if hits.is_empty() { Found::default() } else { Found { hits, corrected } }
    }

    /// How many live documents have a term.
    pub(super) fn frequency(&self, hash: u64) -> u32 {
        let in_shelf = |shelf: &Shelf| {
            let Some(found) = shelf.segment.find(hash) else { return 0 };
            if shelf.dead.is_none() {
                return found.docs;
            }
            let live = found.postings().filter(|posting| shelf.is_live(posting.slot));
            segment::narrow(live.count())
        };
        self.shelves.iter().map(in_shelf).sum()
    }
}

/// One query over one index.
pub(super) struct Search<'i> {
    index: &'i SearchIndex,
    query: &'i Query,
    tuning: &'i Tuning,
    /// Where each shelf's slots begin among all.
    bases: Vec<usize>,
    /// What each wanted term gives to documents, by rising places among all slots.
    shares: Vec<Vec<Share>>,
    /// The sum of the shares of each slot.
    own: Vec<f32>,
    /// What neighbours lend to each slot.
    lent: Vec<f32>,
    /// Slots that may be hits; absent when all may.
    allowed: Option<Vec<bool>>,
}

#[derive(Clone, Copy)]
struct Share {
    at: u32,
    score: f32,
    in_tag: bool,
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
        let mut all = 0;
        let base = |shelf: &Shelf| {
            let base = all;
            all += shelf.segment.len();
            base
        };
        let bases: Vec<usize> = index.shelves.iter().map(base).collect();
        let mut search = Self {
            index,
            query,
            tuning,
            shares: Vec::new(),
            bases,
            own: vec![0.0; all],
            lent: vec![0.0; all],
            allowed: None,
        };
        search.shares = query.wanted.iter().map(|wanted| search.of_term(wanted.hash)).collect();
        search.restrict();
        for share in search.shares.iter().flatten() {
            if let Some(own) = search.own.get_mut(share.at as usize) {
                *own += share.score;
            }
        }
        if tuning.neighbour > 0.0 || tuning.neighbour_far > 0.0 {
            search.lend();
        }
        search
    }

    fn shelves(&self) -> impl Iterator<Item = (&'i Shelf, usize)> + use<'i, '_> {
        self.index.shelves.iter().zip(self.bases.iter().copied())
    }

    /// BM25's part for one term, for all live documents that have it.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn of_term(&self, hash: u64) -> Vec<Share> {
        let Tuning { k1, b, tag_weight, .. } = *self.tuning;
        let documents = self.index.documents as f32;
        let average = (self.index.length as f32 / documents.max(1.0)).max(1.0);
        let mut shares = Vec::new();
        for (shelf, base) in self.shelves() {
            let (Some(found), base) = (shelf.segment.find(hash), segment::narrow(base)) else {
                continue;
            };
            let lengths = shelf.segment.lengths();
            shares.reserve(found.docs as usize);
            for Posting { slot, text, tags } in found.postings() {
                let Some(length) = lengths.get(slot as usize) else { continue };
                if shelf.dead.is_some() && !shelf.is_live(slot) {
                    continue;
                }
                let often = text as f32 + tag_weight * tags as f32;
                let norm = k1 * (1.0 - b + b * *length as f32 / average);
                let score = often * (k1 + 1.0) / (often + norm);
                shares.push(Share { at: base + slot, score, in_tag: tags > 0 });
            }
        }
        let having = shares.len() as f32;
        let weight = (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
        for share in &mut shares {
            share.score *= weight;
        }
        shares
    }

    /// Gives each document, term by term, the most that one of its neighbours lends beyond what it has of its own.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a length are enough")]
    fn lend(&mut self) {
        let Tuning { neighbour, neighbour_far, neighbour_ms_max, neighbour_words, .. } =
            *self.tuning;
        let neighbours = Neighbours::of(self.index, &self.bases, neighbour_ms_max);
        let mut terms = vec![Lending::default(); self.own.len()];
        let mut takers: Vec<u32> = Vec::new();
        for shares in &self.shares {
            for share in shares {
                if let Some(term) = terms.get_mut(share.at as usize) {
                    term.own = share.score;
                }
                let (before, after) = (neighbours.before(share.at), neighbours.after(share.at));
                let far_before = before.and_then(|before| neighbours.before(before));
                let far_after = after.and_then(|after| neighbours.after(after));
                let near = [before, after].map(|taker| (taker, neighbour));
                let far = [far_before, far_after].map(|taker| (taker, neighbour_far));
                for (taker, part) in near.into_iter().chain(far) {
                    let Some(taker) = taker else { continue };
                    let Some(term) = terms.get_mut(taker as usize) else { continue };
                    if term.most == 0.0 {
                        takers.push(taker);
                    }
                    term.most = term.most.max(part * share.score);
                }
            }
            for taker in takers.drain(..) {
                let at = taker as usize;
                let (Some(term), Some(lent)) = (terms.get_mut(at), self.lent.get_mut(at)) else {
                    continue;
                };
                let length = neighbours.length(taker);
                let takes = (neighbour_words / length.max(1) as f32).powi(2).min(1.0);
                *lent += (takes * term.most - term.own).max(0.0);
                term.most = 0.0;
            }
            for share in shares {
                if let Some(term) = terms.get_mut(share.at as usize) {
                    term.own = 0.0;
                }
            }
        }
    }

    /// Phrases must be there, what is not wanted must not.
    fn restrict(&mut self) {
        if self.query.phrases.is_empty() && self.query.unwanted.is_empty() {
            return;
        }
        let mut allowed = vec![true; self.own.len()];
        for (shelf, base) in self.shelves() {
            let Some(allowed) = allowed.get_mut(base..base + shelf.segment.len()) else { continue };
            for (phrases, must) in [(&self.query.phrases, true), (&self.query.unwanted, false)] {
                for phrase in phrases {
                    let mut having = with_phrase(&shelf.segment, phrase).into_iter().peekable();
                    for (slot, allowed) in (0..).zip(allowed.iter_mut()) {
                        *allowed &= having.next_if_eq(&slot).is_some() == must;
                    }
                }
            }
        }
        for shares in &mut self.shares {
            shares.retain(|share| allowed.get(share.at as usize) == Some(&true));
        }
        self.allowed = Some(allowed);
    }

    /// Takes documents in the order of their sums, until no other can be among the best.
    pub(super) fn best(&self, keep: &dyn Fn(RecordId) -> Option<f32>, limit: usize) -> Vec<Hit> {
        let highest = self.sums().fold(0.0, |highest: f32, (_, sum)| highest.max(sum));
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let mut above = f32::INFINITY;
        // Most documents are far below the best ones; they are put in order only when it comes to them.
        for part in [0.7, 0.4, 0.0] {
            let floor = (highest * part).max(f32::MIN_POSITIVE);
            let band = self.sums().filter(|(_, sum)| (floor..above).contains(sum));
            // Positive numbers are in the order of their bits.
            let mut waiting: BinaryHeap<(u32, u32)> =
                band.map(|(at, sum)| (sum.to_bits(), at)).collect();
            above = floor;
            while let Some((sum, at)) = waiting.pop() {
                let sum = f32::from_bits(sum);
                let last = best.peek().filter(|_| best.len() >= limit);
                if last.is_some_and(|Reverse(last)| sum < last.score) {
                    return self.hits(best);
                }
                best.extend(self.candidate(at, sum, keep).map(Reverse));
                if best.len() > limit {
                    best.pop();
                }
            }
        }
        self.hits(best)
    }

    /// What each document has and what it is lent, for those that may be hits.
    fn sums(&self) -> impl Iterator<Item = (u32, f32)> {
        let sums = self.own.iter().zip(&self.lent).map(|(own, lent)| own + lent);
        let allowed = |at: u32| {
            self.allowed.as_ref().is_none_or(|allowed| allowed.get(at as usize) == Some(&true))
        };
        (0..).zip(sums).filter(move |(at, _)| allowed(*at))
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
        let id = self.doc(at)?.id;
        let prior = keep(id)?;
        Some(Candidate { score: sum * prior, id, at, prior })
    }

    fn place(&self, at: u32) -> Option<(&Segment, Slot)> {
        let shelf = self.bases.partition_point(|base| *base <= at as usize).checked_sub(1)?;
        let base = segment::narrow(*self.bases.get(shelf)?);
        Some((&self.index.shelves.get(shelf)?.segment, at - base))
    }

    fn doc(&self, at: u32) -> Option<&Doc> {
        self.place(at).and_then(|(segment, slot)| segment.doc(slot))
    }

    fn hit(&self, candidate: &Candidate) -> Hit {
        let Candidate { score, id, at, prior } = *candidate;
        let lent = self.lent.get(at as usize).copied().unwrap_or(0.0);
        let term = |(wanted, shares): (&Wanted, &Vec<Share>)| {
            let Share { score, in_tag, .. } = share_of(shares, at)?;
            Some(TermShare { term: wanted.asked.clone(), score, in_tag })
        };
        let why = self.query.wanted.iter().zip(&self.shares).filter_map(term).collect();
        Hit { id, score, why, prior, neighbours: lent }
    }
}

/// What a term gives to one document.
fn share_of(shares: &[Share], at: u32) -> Option<Share> {
    let found = shares.binary_search_by_key(&at, |share| share.at).ok()?;
    shares.get(found).copied()
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
