//! Ranking: which terms are added for which documents, and the best of these by their sums and the caller's filter and prior.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bm25::{Bm25, Frequency, Weight};
use super::query::{Query, Wanted};
use super::segment::{self, Occurrence};
use super::sums::{Sums, Term};
use super::tuning::Tuning;
use super::{SearchIndex, passages, typo};
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
    /// The best `limit` documents for a query. `keep` is asked about candidates only, about some more than once: none to
    /// leave a document out, else what its score is multiplied with, in (0, 1]. No document that is left out for another scores
    /// higher than it, but for long texts when there are very many: passages are looked at in those alone that could have most.
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
        let hits = Search::new(self, query, tuning, keep, limit).best(keep, limit);
        if !hits.is_empty() {
            return Found { hits, corrected: Vec::new() };
        }
        let Some((query, corrected)) = typo::correct(self, query) else { return Found::default() };
        let hits = Search::new(self, &query, tuning, keep, limit).best(keep, limit);
        if hits.is_empty() { Found::default() } else { Found { hits, corrected } }
    }

    /// How many live documents have a term.
    pub(super) fn frequency(&self, hash: u64) -> Frequency {
        self.frequency_in(&self.found(hash))
    }

    /// A term in each shelf.
    pub(super) fn found(&self, hash: u64) -> Vec<Option<segment::Found<'_>>> {
        self.shelves.iter().map(|shelf| shelf.segment.find(hash)).collect()
    }

    /// How many live documents have a term that was found.
    pub(super) fn frequency_in(&self, found: &[Option<segment::Found<'_>>]) -> Frequency {
        let mut frequency = Frequency::default();
        for (shelf, found) in self.shelves.iter().zip(found) {
            let Some(found) = found else { continue };
            frequency.most = frequency.most.max(found.most);
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

/// It takes about as long to look at what one of the best documents has of one term as to add so many postings. Tests leave
/// out as early as they can.
const LEAVE_OUT_POSTINGS: usize = if cfg!(test) { 0 } else { 40 };
/// While what is still to be added may come to more than this share of what was added, hardly a document can be left out.
const LEFT_SHARE: f32 = if cfg!(test) { f32::MAX } else { 0.7 };
/// So many more documents than are wanted are looked at for the least that the best have, since some may not be kept.
const FLOOR_SPARE: usize = 8;
/// Sums are rounded, and no repetition beyond what [`segment::Most`] has is told apart: both by far less than this.
const ROUNDING: f32 = 0.9999;

/// One query over one index.
pub(super) struct Search<'i> {
    query: &'i Query,
    tuning: &'i Tuning,
    /// In the order of the query.
    terms: Vec<Term<'i>>,
    sums: Sums<'i>,
}

impl<'i> Search<'i> {
    /// Adds up what the query's terms give, from the heaviest on, as far as it may matter to the best `limit` documents
    /// (`MaxScore`; Turtle, Flood: "Query Evaluation: Strategies and Optimizations", 1995).
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn new(
        index: &'i SearchIndex,
        query: &'i Query,
        tuning: &'i Tuning,
        keep: &dyn Fn(RecordId) -> Option<f32>,
        limit: usize,
    ) -> Self {
        let sums = Sums::new(index, query, tuning);
        let terms: Vec<Term<'i>> =
            query.wanted.iter().map(|wanted| sums.term(wanted.hash)).collect();
        let mut search = Self { query, tuning, terms, sums };
        let worth = LEAVE_OUT_POSTINGS.saturating_mul(limit).saturating_mul(search.terms.len());
        let order = search.heaviest_first();
        let (mut added, mut share) = (0.0, 1.0);
        for (number, at) in order.iter().enumerate() {
            let left = || order.iter().skip(number).filter_map(|at| search.terms.get(*at));
            let most: f32 = left().map(|term| term.most).sum();
            let postings: f32 = left().map(|term| term.documents as f32).sum();
            // The best have seldom all that the added terms can give.
            if number > 0
                && most < LEFT_SHARE * added
                && share * postings > worth as f32
                && let Some(floor) = search.floor(keep, limit)
                && floor * ROUNDING > most
            {
                share = search.sums.leave_out_below(floor * ROUNDING - most);
            }
            let Some(term) = search.terms.get(*at) else { continue };
            search.sums.add(term);
            added += term.most;
        }
        search
    }

    /// Which terms there are, by what live documents have, and of equal ones the first: the order of adding shows in the last
    /// digits of a sum.
    fn heaviest_first(&self) -> Vec<usize> {
        let known = self.terms.iter().enumerate().filter(|(_, term)| term.documents > 0);
        let mut order: Vec<(usize, f32)> =
            known.map(|(at, term)| (at, term.weight.whole_and_passage())).collect();
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        order.into_iter().map(|(at, _)| at).collect()
    }

    /// What the best `limit` documents have at least when all has been added, as far as that can be told by those that have
    /// most now.
    fn floor(&self, keep: &dyn Fn(RecordId) -> Option<f32>, limit: usize) -> Option<f32> {
        let count = limit.saturating_add(limit / 4).saturating_add(FLOOR_SPARE);
        let having_most = self.sums.from(self.sums.highest(count));
        let having_most = having_most.filter(|(at, _)| self.sums.contends(*at)).take(count);
        let score = |(at, _)| {
            let (segment, slot) = self.sums.place(at)?;
            let prior = keep(segment.doc(slot)?.id)?;
            Some(prior * (self.own(at) + self.sums.lent(at)))
        };
        let mut scores: Vec<f32> = having_most.filter_map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.get(limit.checked_sub(1)?).copied()
    }

    /// What the words of a document give to it.
    fn own(&self, at: u32) -> f32 {
        self.given(at).iter().map(|given| given.score).sum()
    }

    /// Takes documents in the order of their sums, until no other can be among the best.
    pub(super) fn best(&self, keep: &dyn Fn(RecordId) -> Option<f32>, limit: usize) -> Vec<Hit> {
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let (mut floor, mut above) = (self.sums.highest(limit), f32::INFINITY);
        let mut looked = 0;
        // Most documents are far below the best ones; they are put in order only when it comes to them.
        for part in [1.0, 0.5, 0.25, 0.0] {
            floor = last(&best, limit).unwrap_or(floor * part).max(f32::MIN_POSITIVE);
            let band = self.sums.from(floor).filter(|(_, sum)| *sum < above);
            // Positive numbers are in the order of their bits.
            let place = |(at, sum): (u32, f32)| {
                let (segment, slot) = self.sums.place(at)?;
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

    fn is_long(&self, length: u32) -> bool {
        self.tuning.passage > 0.0 && passages::are_several(length)
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
        let (segment, slot) = self.sums.place(at)?;
        let id = segment.doc(slot)?.id;
        let prior = keep(id)?;
        let mut score = sum;
        let long = segment
            .lengths()
            .get(slot as usize)
            .copied()
            .is_some_and(|length| self.is_long(length));
        if long {
            score = (self.own(at) + self.sums.lent(at)).min(sum);
        }
        Some(Candidate { long, score: score * prior, id, at, prior })
    }

    fn hit(&self, candidate: &Candidate) -> Hit {
        let Candidate { score, id, at, prior, .. } = *candidate;
        let lent = self.sums.lent(at);
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
        let Some((shelf, segment, slot)) = self.sums.place_on_shelf(at) else { return Vec::new() };
        let length = segment.lengths().get(slot as usize).copied().unwrap_or(0);
        let bm25 = self.sums.bm25();
        let several = self.is_long(length);
        let term = |(wanted, term): (&'i Wanted, &Term<'i>)| {
            let weight = term.weight;
            let stands = (*term.found.get(shelf)?)?.occurrence(slot)?;
            let score = if several {
                bm25.whole(&stands.posting, length, weight)
            } else {
                bm25.plain(&stands.posting, length, weight)
            };
            Some(Given { wanted, weight, stands, score })
        };
        let mut given: Vec<Given<'i>> =
            self.query.wanted.iter().zip(&self.terms).filter_map(term).collect();
        if several {
            for (best, given) in best_passage(&given, bm25).into_iter().zip(&mut given) {
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
