//! Ranking: BM25 over all live documents, what neighbours lend, and the caller's filter and prior.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency ln(1 + (N − n + ½)/(n + ½)), which is never negative. A term in a tag counts as several
//! in the text, before saturation, as that paper does for fields.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::neighbours::{Neighbours, Place};
use super::query::{Phrase, Query};
use super::segment::{self, Occurrence, Posting, Segment, Slot};
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
struct Search<'i> {
    index: &'i SearchIndex,
    query: &'i Query,
    tuning: &'i Tuning,
    /// Of each wanted term.
    weights: Vec<f32>,
    /// `k1 · b / average length`, and the part that does not depend on length.
    norm: (f32, f32),
    /// Where each shelf's slots begin among all.
    bases: Vec<usize>,
    /// Of each slot, from its own terms alone.
    own: Vec<f32>,
    /// Slots that may be hits; absent when all may.
    allowed: Option<Vec<bool>>,
}

impl<'i> Search<'i> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts far below 2^24 matter, beyond it seven digits do"
    )]
    fn new(index: &'i SearchIndex, query: &'i Query, tuning: &'i Tuning) -> Self {
        let documents = index.documents as f32;
        let weights = query.wanted.iter().map(|wanted| {
            let having = index.frequency(wanted.hash) as f32;
            (1.0 + (documents - having + 0.5) / (having + 0.5)).ln()
        });
        let average = (index.length as f32 / documents.max(1.0)).max(1.0);
        let mut all = 0;
        let base = |shelf: &Shelf| {
            let base = all;
            all += shelf.segment.len();
            base
        };
        let bases = index.shelves.iter().map(base).collect();
        let mut search = Self {
            index,
            query,
            tuning,
            weights: weights.collect(),
            norm: (tuning.k1 * tuning.b / average, tuning.k1 * (1.0 - tuning.b)),
            bases,
            own: vec![0.0; all],
            allowed: None,
        };
        search.accumulate();
        search.restrict();
        search
    }

    fn shelves(&self) -> impl Iterator<Item = (&'i Shelf, usize)> + use<'i, '_> {
        self.index.shelves.iter().zip(self.bases.iter().copied())
    }

    fn accumulate(&mut self) {
        let mut own = std::mem::take(&mut self.own);
        for (shelf, base) in self.shelves() {
            let segment = shelf.segment.as_ref();
            let Some(own) = own.get_mut(base..base + segment.len()) else { continue };
            let lengths = segment.lengths();
            for (wanted, weight) in self.query.wanted.iter().zip(&self.weights) {
                let Some(found) = segment.find(wanted.hash) else { continue };
                for posting in found.postings() {
                    let slot = posting.slot as usize;
                    if let (Some(score), Some(length)) = (own.get_mut(slot), lengths.get(slot)) {
                        *score += self.share(*length, posting, *weight);
                    }
                }
            }
            if shelf.dead.is_some() {
                for (slot, score) in (0..).zip(own) {
                    if !shelf.is_live(slot) {
                        *score = 0.0;
                    }
                }
            }
        }
        self.own = own;
    }

    /// What one term gives to one document.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "counts and lengths far below 2^24")]
    fn share(&self, length: u32, posting: Posting, weight: f32) -> f32 {
        let length = length as f32;
        let often = posting.text as f32 + self.tuning.tag_weight * posting.tags as f32;
        weight * often * (self.tuning.k1 + 1.0) / (often + self.norm.1 + self.norm.0 * length)
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
        for (score, allowed) in self.own.iter_mut().zip(&allowed) {
            if !allowed {
                *score = 0.0;
            }
        }
        self.allowed = Some(allowed);
    }

    /// Takes documents in the order of their own scores, each with those it lends to, until no other can be among the best.
    fn best(&self, keep: &dyn Fn(RecordId) -> Option<f32>, limit: usize) -> Vec<Hit> {
        // Positive numbers are in the order of their bits.
        let mut waiting: BinaryHeap<(u32, u32)> = (0..)
            .zip(&self.own)
            .filter(|(_, own)| **own > 0.0)
            .map(|(at, own)| (own.to_bits(), at))
            .collect();
        // A little above what rounding could add.
        let reach = self.tuning.reach() * 1.0001;
        let mut seen = vec![false; self.own.len()];
        let mut neighbours = Neighbours::new(self.index);
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        while let Some((own, at)) = waiting.pop() {
            let (own, at) = (f32::from_bits(own), at as usize);
            let full = best.len() >= limit;
            if full && best.peek().is_some_and(|Reverse(last)| own * reach < last.score) {
                break;
            }
            let near = self.near(at, &mut neighbours);
            for (at, _) in std::iter::once((at, 0.0)).chain(near) {
                let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) else { continue };
                *seen = true;
                let Some(candidate) =
                    self.candidate(at, &mut neighbours, keep, best.peek().filter(|_| full))
                else {
                    continue;
                };
                best.push(Reverse(candidate));
                if best.len() > limit {
                    best.pop();
                }
            }
        }
        let mut best: Vec<Candidate> =
            best.into_iter().map(|Reverse(candidate)| candidate).collect();
        best.sort_by(|a, b| b.cmp(a));
        best.into_iter().map(|candidate| self.hit(candidate)).collect()
    }

    /// A document with its score, unless it is not wanted or cannot be better than the last of the best.
    fn candidate(
        &self,
        at: usize,
        neighbours: &mut Neighbours<'i>,
        keep: &dyn Fn(RecordId) -> Option<f32>,
        last: Option<&Reverse<Candidate>>,
    ) -> Option<Candidate> {
        if self.allowed.as_ref().is_some_and(|allowed| allowed.get(at) == Some(&false)) {
            return None;
        }
        let own = self.own_score(at);
        let lent: f32 =
            self.near(at, neighbours).map(|(from, share)| share * self.own_score(from)).sum();
        if last.is_some_and(|Reverse(last)| own + lent < last.score) {
            return None;
        }
        let place = self.place(at)?;
        let id = self.index.shelves.get(place.0)?.segment.doc(place.1)?.id;
        let prior = keep(id)?;
        Some(Candidate { score: (own + lent) * prior, id, place, prior, lent })
    }

    /// Whom a document lends to, who lends to it: its neighbours and the share.
    fn near(
        &self,
        at: usize,
        neighbours: &mut Neighbours<'i>,
    ) -> impl Iterator<Item = (usize, f32)> + use<> {
        let Tuning { neighbour, neighbour_far, neighbour_ms_max, .. } = *self.tuning;
        let mut near = Vec::new();
        if neighbour > 0.0
            && let Some(place) = self.place(at)
        {
            let next = neighbours.of(place, neighbour_ms_max);
            for (side, found) in next.into_iter().enumerate() {
                let Some(found) = found else { continue };
                near.push((self.at(found), neighbour));
                if neighbour_far > 0.0
                    && let Some(far) =
                        neighbours.of(found, neighbour_ms_max).into_iter().nth(side).flatten()
                {
                    near.push((self.at(far), neighbour_far));
                }
            }
        }
        near.into_iter()
    }

    fn own_score(&self, at: usize) -> f32 {
        self.own.get(at).copied().unwrap_or(0.0)
    }

    fn place(&self, at: usize) -> Option<Place> {
        let shelf = self.bases.partition_point(|base| *base <= at).checked_sub(1)?;
        Some((shelf, segment::narrow(at - self.bases.get(shelf)?)))
    }

    fn at(&self, (shelf, slot): Place) -> usize {
        self.bases.get(shelf).map_or(usize::MAX, |base| base + slot as usize)
    }

    fn hit(&self, candidate: Candidate) -> Hit {
        let Candidate { score, id, place: (shelf, slot), prior, lent } = candidate;
        let segment = self.index.shelves.get(shelf).map(|shelf| shelf.segment.as_ref());
        let share = |(wanted, weight): (&super::query::Wanted, &f32)| {
            let segment = segment?;
            let found = segment.find(wanted.hash)?;
            let posting = found.postings().find(|posting| posting.slot >= slot)?;
            let length = segment.lengths().get(slot as usize)?;
            (posting.slot == slot).then(|| TermShare {
                term: wanted.asked.clone(),
                score: self.share(*length, posting, *weight),
                in_tag: posting.tags > 0,
            })
        };
        let why = self.query.wanted.iter().zip(&self.weights).filter_map(share).collect();
        Hit { id, score, why, prior, neighbours: lent }
    }
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
    place: Place,
    prior: f32,
    lent: f32,
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
