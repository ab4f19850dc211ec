//! Ranking: which terms are added for which documents, and the best of these by their sums and the caller's filter and prior.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::bm25::{Frequency, Weight};
use super::query::{Query, Wanted};
use super::segment::{self, Standing};
use super::sums::{Sums, Term};
use super::tuning::Tuning;
use super::{SearchIndex, passages, typo};
use crate::ids::RecordId;
use crate::limits::SEARCH_LONG_TEXTS_MAX;

/// What is looked for in an index.
#[derive(Clone, Copy)]
pub struct Find<'a> {
    /// What is asked.
    pub query: &'a Query,
    /// The constants of ranking.
    pub tuning: &'a Tuning,
    /// Is asked about candidates only, once about each: none to leave a document out, else what its score is multiplied
    /// with, in (0, 1].
    pub keep: &'a dyn Fn(RecordId) -> Option<f32>,
    /// At most so many documents.
    pub limit: usize,
    /// Tell of each hit what each term gave to it; this takes time.
    pub explain: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words that no document has and what was searched in their place; empty unless nothing was found as asked.
    pub corrected: Vec<(String, String)>,
}

/// A document and, if that was asked for, why it was found: `score` is then (the sum of `why` + `neighbours`) × `prior`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub id: RecordId,
    /// Comparable within one answer alone.
    pub score: f32,
    /// What each term of the query gave, in the order of the query; terms that it has not are left out. Empty when that was
    /// not asked for.
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
    /// The best documents for a query. No document that is left out for another scores higher than it, but for long texts
    /// when there are very many: passages are looked at in those alone that could have most.
    pub fn find(&self, find: &Find<'_>) -> Found {
        let hits = Search::new(self, find).best();
        if !hits.is_empty() || find.limit == 0 {
            return Found { hits, corrected: Vec::new() };
        }
        let Some((query, corrected)) = typo::correct(self, find) else {
            return Found::default();
        };
        let hits = Search::new(self, &Find { query: &query, ..*find }).best();
        if hits.is_empty() { Found::default() } else { Found { hits, corrected } }
    }

    /// How many live documents have a term.
    pub(super) fn frequency(&self, hash: u64) -> Frequency {
        self.frequency_in(&self.found(hash))
    }

    /// Live documents that have a term.
    pub(super) fn having(&self, hash: u64) -> impl Iterator<Item = RecordId> {
        self.shelves.iter().flat_map(move |shelf| {
            let postings = shelf.segment.find(hash).into_iter().flat_map(segment::Found::postings);
            let live = postings.filter(|posting| shelf.is_live(posting.slot));
            live.filter_map(|posting| shelf.segment.doc(posting.slot)).map(|doc| doc.id)
        })
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
    find: Find<'i>,
    /// In the order of the query.
    terms: Vec<Term<'i>>,
    sums: Sums<'i>,
    /// What [`Find::keep`] said of documents that were looked at, by places; to ask takes as long as to look.
    priors: RefCell<HashMap<u32, Option<f32>>>,
    /// What the words of some of these give to them.
    own: RefCell<HashMap<u32, f32>>,
}

impl<'i> Search<'i> {
    /// Adds up what the query's terms give, from the heaviest on, as far as it may matter to the best documents
    /// (`MaxScore`; Turtle, Flood: "Query Evaluation: Strategies and Optimizations", 1995).
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn new(index: &'i SearchIndex, find: &Find<'i>) -> Self {
        let find = *find;
        let sums = Sums::new(index, find.query, find.tuning);
        let terms: Vec<Term<'i>> =
            find.query.wanted.iter().map(|wanted| sums.term(wanted.hash)).collect();
        let (priors, own) = (RefCell::default(), RefCell::default());
        let mut search = Self { find, terms, sums, priors, own };
        let worth =
            LEAVE_OUT_POSTINGS.saturating_mul(find.limit).saturating_mul(search.terms.len());
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
                && let Some(floor) = search.floor()
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

    /// What the best documents have at least when all has been added, as far as that can be told by those that have most now.
    fn floor(&self) -> Option<f32> {
        let limit = self.find.limit;
        let count = limit.saturating_add(limit / 4).saturating_add(FLOOR_SPARE);
        let having_most = self.sums.from(self.sums.highest(count));
        let having_most = having_most.filter(|(at, _)| self.sums.contends(*at)).take(count);
        let mut room = Room::default();
        let score = |(at, _)| {
            let (segment, slot) = self.sums.place(at)?;
            let prior = self.prior(at, segment.doc(slot)?.id)?;
            Some(prior * (self.own(at, &mut room) + self.sums.lent(at)))
        };
        let mut scores: Vec<f32> = having_most.filter_map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.get(limit.checked_sub(1)?).copied()
    }

    /// What a document's score is multiplied with; none if it is not to be found.
    fn prior(&self, at: u32, id: RecordId) -> Option<f32> {
        *self.priors.borrow_mut().entry(at).or_insert_with(|| (self.find.keep)(id))
    }

    /// What the words of a document give to it.
    fn own(&self, at: u32, room: &mut Room<'i>) -> f32 {
        let find = || self.given(at, room).iter().map(|given| given.score).sum();
        *self.own.borrow_mut().entry(at).or_insert_with(find)
    }

    /// Takes documents in the order of their sums, until no other can be among the best.
    pub(super) fn best(&self) -> Vec<Hit> {
        let limit = self.find.limit;
        if limit == 0 {
            return Vec::new();
        }
        let mut room = Room::default();
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let (mut floor, mut above) = (self.sums.highest(limit), f32::INFINITY);
        let mut looked = 0;
        // Most documents are far below the best ones; they are put in order only when it comes to them.
        for part in [1.0, 0.5, 0.25, 0.0] {
            floor = last(&best, limit).map_or(floor * part, |last| last.score);
            floor = floor.max(f32::MIN_POSITIVE);
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
                let last = last(&best, limit);
                if last.is_some_and(|last| last.beats(sum, id) || looked >= SEARCH_LONG_TEXTS_MAX) {
                    return self.hits(best);
                }
                let Some(prior) = self.prior(at, id) else { continue };
                let long = self.is_long(self.length(at));
                looked += usize::from(long);
                if last.is_some_and(|last| last.beats(sum * prior, id)) {
                    continue;
                }
                let mut score = sum;
                if long {
                    score = (self.own(at, &mut room) + self.sums.lent(at)).min(sum);
                }
                best.push(Reverse(Candidate { score: score * prior, id, at, prior }));
                if best.len() > limit {
                    best.pop();
                }
            }
            above = floor;
        }
        self.hits(best)
    }

    /// Words of a document.
    fn length(&self, at: u32) -> u32 {
        let place = self.sums.place(at);
        place.and_then(|(segment, slot)| segment.lengths().get(slot as usize)).copied().unwrap_or(0)
    }

    /// Whether a document of so many words is looked at by passages.
    fn is_long(&self, length: u32) -> bool {
        self.find.tuning.passage > 0.0 && passages::are_several(length)
    }

    fn hits(&self, best: BinaryHeap<Reverse<Candidate>>) -> Vec<Hit> {
        let mut room = Room::default();
        let mut hit = |Reverse(Candidate { score, id, at, prior }): Reverse<Candidate>| {
            let neighbours = self.sums.lent(at);
            let term = |given: &Given<'_>| TermShare {
                term: given.wanted.asked.clone(),
                score: given.score,
                in_tag: given.stands.posting.tags > 0,
            };
            let why = self.find.explain.then(|| self.given(at, &mut room).iter().map(term));
            Hit { id, score, why: why.into_iter().flatten().collect(), prior, neighbours }
        };
        // The least is the best of the reversed.
        best.into_sorted_vec().into_iter().map(&mut hit).collect()
    }

    /// What each of the query's terms that a document has gives to it.
    fn given<'r>(&self, at: u32, room: &'r mut Room<'i>) -> &'r [Given<'i>] {
        let Room { given, passages } = room;
        given.clear();
        let Some((shelf, segment, slot)) = self.sums.place_on_shelf(at) else { return given };
        let length = segment.lengths().get(slot as usize).copied().unwrap_or(0);
        let bm25 = self.sums.bm25();
        let several = self.is_long(length);
        let term = |(wanted, term): (&'i Wanted, &Term<'i>)| {
            let weight = term.weight;
            let stands = (*term.found.get(shelf)?)?.standing(slot)?;
            let score = if several {
                bm25.whole(&stands.posting, length, weight)
            } else {
                bm25.plain(&stands.posting, length, weight)
            };
            Some(Given { wanted, weight, stands, score })
        };
        given.extend(self.find.query.wanted.iter().zip(&self.terms).filter_map(term));
        if several {
            let stands = given.iter().enumerate().flat_map(|(number, Given { stands, .. })| {
                // Those in tags come last.
                let in_text = segment::positions(stands.positions());
                in_text.take(stands.posting.text as usize).map(move |position| (position, number))
            });
            let best = passages.of(stands, given.len(), |number, text| {
                let given = given.get(number);
                given.map_or(0.0, |term| bm25.in_passage(text, &term.stands.posting, term.weight))
            });
            for (given, best) in given.iter_mut().zip(best) {
                given.score += best;
            }
        }
        given
    }
}

/// Where documents are looked at, one after the other: fresh memory for each costs as much as looking.
#[derive(Default)]
struct Room<'i> {
    given: Vec<Given<'i>>,
    passages: passages::Best,
}

/// The last of the best, when there are as many as are wanted.
fn last(best: &BinaryHeap<Reverse<Candidate>>, limit: usize) -> Option<&Candidate> {
    best.peek().filter(|_| best.len() >= limit).map(|Reverse(last)| last)
}

/// A term in a document.
struct Given<'i> {
    wanted: &'i Wanted,
    weight: Weight,
    stands: Standing<'i>,
    score: f32,
}

/// A document that may be a hit; the better one is greater.
struct Candidate {
    score: f32,
    id: RecordId,
    at: u32,
    prior: f32,
}

impl Candidate {
    /// Whether it is better than one with a score of no more than this.
    fn beats(&self, score: f32, id: RecordId) -> bool {
        score < self.score || score <= self.score && id > self.id
    }
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
