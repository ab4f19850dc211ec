//! Ranking: which terms are added for which documents, and the best of these by their sums and the caller's filter and prior.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::bm25::{Frequency, Weight};
use super::chains::Places;
use super::query::{Query, Wanted};
use super::segment::{self, Standing};
use super::sums::{Sums, Term};
use super::tuning::Tuning;
use super::{SearchIndex, bits, passages, phrases, typo};
use crate::ids::RecordId;
use crate::limits::SEARCH_LONG_TEXTS_MAX;

/// What is looked for in an index.
#[derive(Clone, Copy)]
pub struct Find<'a> {
    /// What is asked.
    pub query: &'a Query,
    /// The constants of ranking.
    pub tuning: &'a Tuning,
    /// Is asked about candidates only, once about each: what a document's score is multiplied with, in (0, 1]; `None`
    /// leaves it out.
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
    /// How many of the terms that were searched some document has.
    pub terms: usize,
}

/// A document and, if that was asked for, why it was found: `score` is then (the sum of `why` +
/// `neighbours`) × `prior` + the sum of `gains`.
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
    /// How many of the query's terms it has itself.
    pub terms: usize,
    /// Of a document that has none: the neighbour that lent it most.
    pub beside: Option<RecordId>,
    /// The caller's additions to the score.
    pub gains: Vec<Bonus>,
}

/// An addition to a hit's score; a deduction if it is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonus {
    /// The property of the record that earned it, in one word.
    pub reason: &'static str,
    /// Its size.
    pub score: f32,
}

impl Hit {
    /// What is found without a query, with this score.
    pub fn certain(id: RecordId, score: f32) -> Self {
        Self {
            id,
            score,
            why: Vec::new(),
            prior: score,
            neighbours: 0.0,
            terms: 0,
            beside: None,
            gains: Vec::new(),
        }
    }
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
        let search = Search::new(self, find);
        let (hits, terms) = (search.best(), search.known());
        if !hits.is_empty() || find.limit == 0 {
            return Found { hits, corrected: Vec::new(), terms };
        }
        let Some((query, corrected)) = typo::correct(self, find) else {
            return Found::default();
        };
        let search = Search::new(self, &Find { query: &query, ..*find });
        let (hits, terms) = (search.best(), search.known());
        if hits.is_empty() { Found::default() } else { Found { hits, corrected, terms } }
    }

    /// How many documents there are to be found that have one of the query's terms themselves, counted up to `most`.
    pub fn count(&self, find: &Find<'_>, most: usize) -> usize {
        let count = self.having_any(find, find.query, most);
        if count > 0 || most == 0 {
            return count;
        }
        let corrected = typo::correct(self, find);
        corrected.map_or(0, |(query, _)| self.having_any(find, &query, most))
    }

    fn having_any(&self, find: &Find<'_>, query: &Query, most: usize) -> usize {
        let places = Places::of(self);
        let allowed = phrases::allowed(self, &places, query);
        let mut seen = vec![0; places.count.div_ceil(bits::WORD)];
        let mut count = 0;
        for wanted in &query.wanted {
            for (shelf, base) in self.shelves.iter().zip(places.bases()) {
                let found = shelf.segment.find(wanted.hash);
                for posting in found.into_iter().flat_map(segment::Found::postings) {
                    let at = base + posting.slot;
                    let allowed = allowed.as_ref().and_then(|allowed| allowed.get(at as usize));
                    if bits::is_set(&seen, at)
                        || allowed == Some(&false)
                        || !shelf.is_live(posting.slot)
                    {
                        continue;
                    }
                    bits::set(&mut seen, at);
                    let id = shelf.segment.doc(posting.slot).map(|doc| doc.id);
                    count += usize::from(id.is_some_and(|id| (find.keep)(id).is_some()));
                    if count >= most {
                        return count;
                    }
                }
            }
        }
        count
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
            give_way();
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
            let own = self.own(at, &mut room);
            Some((prior * (own + self.sums.lent(at)), own > 0.0))
        };
        let mut scores: Vec<(f32, bool)> = having_most.filter_map(score).collect();
        scores.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut lent = 0;
        let mut counted = scores.into_iter().filter(|(_, has_words)| {
            lent += usize::from(!has_words);
            *has_words || lent <= self.find.tuning.neighbour_hits
        });
        counted.nth(limit.checked_sub(1)?).map(|(score, _)| score)
    }

    /// How many of the terms some document has.
    fn known(&self) -> usize {
        self.terms.iter().filter(|term| term.documents > 0).count()
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
        let mut best = Best::new(limit, self.find.tuning.neighbour_hits);
        let (mut floor, mut above) = (self.sums.highest(limit), f32::INFINITY);
        let mut looked = 0;
        // Most documents are far below the best ones; they are put in order only when it comes to them.
        for part in [1.0, 0.5, 0.25, 0.0] {
            floor = best.last().map_or(floor * part, |last| last.score);
            floor = floor.max(f32::MIN_POSITIVE);
            let band = self.sums.from(floor).filter(|(_, sum)| *sum < above);
            // Positive numbers are in the order of their bits.
            give_way();
            let place = |(at, sum): (u32, f32)| {
                let (segment, slot) = self.sums.place(at)?;
                Some((sum.to_bits(), Reverse(segment.doc(slot)?.id), at))
            };
            let mut waiting: BinaryHeap<(u32, Reverse<RecordId>, u32)> =
                band.filter_map(place).collect();
            while let Some((sum, Reverse(id), at)) = waiting.pop() {
                let sum = f32::from_bits(sum);
                let last = best.last();
                if last.is_some_and(|last| last.beats(sum, id) || looked >= SEARCH_LONG_TEXTS_MAX) {
                    return self.hits(best.sorted());
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
                // Where there is nothing of its own, both are sums of the same in the same order.
                let has_words = sum > self.sums.lent(at);
                best.push(Candidate { score: score * prior, id, at, prior, has_words });
            }
            above = floor;
        }
        self.hits(best.sorted())
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

    fn hits(&self, best: Vec<Candidate>) -> Vec<Hit> {
        let mut room = Room::default();
        let mut hit = |Candidate { score, id, at, prior, has_words }: Candidate| {
            let neighbours = self.sums.lent(at);
            let term = |given: &Given<'_>| TermShare {
                term: given.wanted.asked.clone(),
                score: given.score,
                in_tag: given.stands.posting.tags > 0,
            };
            let why = self.find.explain.then(|| self.given(at, &mut room).iter().map(term));
            let why = why.into_iter().flatten().collect();
            let terms = if has_words { self.terms_of(at) } else { 0 };
            let beside = if has_words { None } else { self.lender(at) };
            Hit { id, score, why, prior, neighbours, terms, beside, gains: Vec::new() }
        };
        best.into_iter().map(&mut hit).collect()
    }

    /// How many of the terms a document has.
    fn terms_of(&self, at: u32) -> usize {
        let place = self.sums.place_on_shelf(at);
        let stands = |term: &&Term<'i>| {
            place.is_some_and(|(shelf, _, slot)| term.posting(shelf, slot).is_some())
        };
        self.terms.iter().filter(stands).count()
    }

    /// The neighbour that lends most to a document, of two the one that came first.
    fn lender(&self, at: u32) -> Option<RecordId> {
        let lends = |(at, share): (u32, f32)| {
            let (shelf, segment, slot) = self.sums.place_on_shelf(at)?;
            let length = segment.lengths().get(slot as usize).copied()?;
            let plain = |term: &Term<'i>| {
                let posting = term.posting(shelf, slot).filter(|_| term.lends)?;
                Some(self.sums.bm25().plain(&posting, length, term.weight))
            };
            let own: f32 = self.terms.iter().filter_map(plain).sum();
            Some((share * own, Reverse(segment.doc(slot)?.id)))
        };
        let lenders = self.sums.beside(at).into_iter().filter_map(lends);
        let most =
            lenders.max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)));
        most.map(|(_, Reverse(id))| id)
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

/// Lets another thread that waits for this processor go first: a write takes a fraction of a millisecond, a search of a
/// large memory several, and where each processor searches the write would wait for all of one.
fn give_way() {
    std::thread::yield_now();
}

/// Where documents are looked at, one after the other: fresh memory for each costs as much as looking.
#[derive(Default)]
struct Room<'i> {
    given: Vec<Given<'i>>,
    passages: passages::Best,
}

/// The best candidates so far. Of those that have none of the words there are only some.
struct Best {
    limit: usize,
    lent_max: usize,
    /// The least is the greatest of the reversed.
    having: BinaryHeap<Reverse<Candidate>>,
    lent: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    fn new(limit: usize, lent_max: usize) -> Self {
        Self { limit, lent_max, having: BinaryHeap::new(), lent: BinaryHeap::new() }
    }

    /// The last one, when there are as many as are wanted.
    fn last(&self) -> Option<&Candidate> {
        let is_full = self.having.len() + self.lent.len() >= self.limit;
        let lasts = [self.having.peek(), self.lent.peek()].into_iter().flatten();
        lasts.map(|Reverse(last)| last).min().filter(|_| is_full)
    }

    fn push(&mut self, candidate: Candidate) {
        let full = self.having.len() + self.lent.len() >= self.limit;
        let (heap, other) = if candidate.has_words {
            (&mut self.having, &mut self.lent)
        } else {
            (&mut self.lent, &mut self.having)
        };
        let lent = !candidate.has_words;
        heap.push(Reverse(candidate));
        if lent && heap.len() > self.lent_max {
            heap.pop();
        } else if full {
            let from_other = match (heap.peek(), other.peek()) {
                (Some(Reverse(one)), Some(Reverse(last))) => last < one,
                _ => false,
            };
            if from_other {
                other.pop()
            } else {
                heap.pop()
            };
        }
    }

    /// Best first.
    fn sorted(self) -> Vec<Candidate> {
        let all = self.having.into_iter().chain(self.lent).map(|Reverse(candidate)| candidate);
        let mut all: Vec<Candidate> = all.collect();
        all.sort_by(|a, b| b.cmp(a));
        all
    }
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
    /// Of the query, not only its neighbours.
    has_words: bool,
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
