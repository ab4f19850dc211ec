//! Ranking: chooses which terms are added to which documents' sums, then picks the best documents
//! by sum, the caller's filter and the caller's prior.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::adjacency::Places;
use super::bm25::{Frequency, Weight};
use super::query::{Query, Wanted};
use super::scoring::{Sums, Term};
use super::segment::{self, Occurrences};
use super::tuning::Tuning;
use super::{DocumentId, SearchIndex, bits, passages, phrases, typo};
use crate::limits::SEARCH_LONG_TEXTS_MAX;

/// A search request.
#[derive(Clone, Copy)]
pub struct Find<'a, I> {
    /// The query.
    pub query: &'a Query,
    /// The ranking constants.
    pub tuning: &'a Tuning,
    /// The caller's filter and prior. Returns the factor, in (0, 1], that multiplies a document's
    /// score, or `None` to leave the document out. It is called at most once per document, and only
    /// for candidates.
    pub keep: &'a dyn Fn(I) -> Option<f32>,
    /// The maximum number of hits.
    pub limit: usize,
    /// Whether to report what each term contributed to each hit. This takes time.
    pub explain: bool,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults<I> {
    /// The hits, best first.
    pub hits: Vec<Hit<I>>,
    /// Words that no document contains, each with the word searched instead. Empty unless the query
    /// as written found nothing.
    pub corrected: Vec<(String, String)>,
    /// The number of searched terms that occur in some document.
    pub terms: usize,
}

/// A document found by a search. If an explanation was requested, `score` is (the sum of `why` +
/// `neighbours`) × `prior` + the sum of `gains`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit<I> {
    /// The document.
    pub id: I,
    /// Its score, comparable only within one answer.
    pub score: f32,
    /// The contribution of each query term that the document contains, in query order. Empty unless
    /// requested.
    pub why: Vec<TermShare>,
    /// The caller's factor, in (0, 1].
    pub prior: f32,
    /// The boost from its neighbours.
    pub neighbours: f32,
    /// The number of query terms that the document itself contains.
    pub terms: usize,
    /// The neighbour that boosts it most, if the document itself contains no query term.
    pub neighbour_of: Option<I>,
    /// The caller's additions to the score.
    pub gains: Vec<Bonus>,
}

/// An addition to a hit's score; a deduction if it is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonus {
    /// The property of the document that earned it, in one word.
    pub reason: &'static str,
    /// Its size.
    pub score: f32,
}

impl<I> Default for SearchResults<I> {
    fn default() -> Self {
        Self { hits: Vec::new(), corrected: Vec::new(), terms: 0 }
    }
}

impl<I> Hit<I> {
    /// Creates a hit with this score that needed no query.
    pub fn certain(id: I, score: f32) -> Self {
        Self {
            id,
            score,
            why: Vec::new(),
            prior: score,
            neighbours: 0.0,
            terms: 0,
            neighbour_of: None,
            gains: Vec::new(),
        }
    }
}

/// One term's share of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct TermShare {
    /// The term as written in the query, in lower case.
    pub term: String,
    /// Its contribution.
    pub score: f32,
    /// Whether it occurs in a tag.
    pub in_tag: bool,
}

impl<I: DocumentId> SearchIndex<I> {
    /// Returns the best documents for a query. A document that is left out never scores higher than
    /// one that is returned, with one exception. If very many long texts match, passages are scored
    /// only in those that could score most.
    pub fn find(&self, find: &Find<'_, I>) -> SearchResults<I> {
        let search = Search::new(self, find);
        let (hits, terms) = (search.best(), search.known());
        if !hits.is_empty() || find.limit == 0 {
            return SearchResults { hits, corrected: Vec::new(), terms };
        }
        let Some((query, corrected)) = typo::correct(self, find.query, find.keep) else {
            return SearchResults::default();
        };
        let search = Search::new(self, &Find { query: &query, ..*find });
        let (hits, terms) = (search.best(), search.known());
        if hits.is_empty() {
            SearchResults::default()
        } else {
            SearchResults { hits, corrected, terms }
        }
    }

    /// Counts the documents that pass the filter and contain a query term themselves, up to `most`.
    pub fn count(&self, find: &Find<'_, I>, most: usize) -> usize {
        let count = self.having_any(find, find.query, most);
        if count > 0 || most == 0 {
            return count;
        }
        let corrected = typo::correct(self, find.query, find.keep);
        corrected.map_or(0, |(query, _)| self.having_any(find, &query, most))
    }

    fn having_any(&self, find: &Find<'_, I>, query: &Query, most: usize) -> usize {
        let places = Places::of(self);
        let allowed = phrases::allowed(self, &places, query);
        let mut seen = vec![0; places.count.div_ceil(bits::WORD)];
        let mut count = 0;
        for wanted in &query.wanted {
            for (shelf, base) in self.shelves.iter().zip(places.bases()) {
                let found = shelf.segment.find(wanted.hash);
                for posting in found.into_iter().flat_map(segment::TermEntry::postings) {
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

    /// Returns how many live documents contain a term.
    pub(super) fn frequency(&self, hash: u64) -> Frequency {
        self.frequency_in(&self.found(hash))
    }

    /// Returns the live documents that contain a term.
    pub(super) fn having(&self, hash: u64) -> impl Iterator<Item = I> {
        self.shelves.iter().flat_map(move |shelf| {
            let postings =
                shelf.segment.find(hash).into_iter().flat_map(segment::TermEntry::postings);
            let live = postings.filter(|posting| shelf.is_live(posting.slot));
            live.filter_map(|posting| shelf.segment.doc(posting.slot)).map(|doc| doc.id)
        })
    }

    /// Looks up a term in each shelf.
    pub(super) fn found(&self, hash: u64) -> Vec<Option<segment::TermEntry<'_>>> {
        self.shelves.iter().map(|shelf| shelf.segment.find(hash)).collect()
    }

    /// Returns how many live documents contain a term that was looked up.
    pub(super) fn frequency_in(&self, found: &[Option<segment::TermEntry<'_>>]) -> Frequency {
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

/// The cost of reading one term in one of the best documents, measured in postings that could be
/// added in the same time. Tests prune as early as they can.
const LEAVE_OUT_POSTINGS: usize = if cfg!(test) { 0 } else { 40 };
/// The share of the added scores below which the remaining terms must be before pruning starts.
/// Above it, hardly any document can be left out.
const LEFT_SHARE: f32 = if cfg!(test) { f32::MAX } else { 0.7 };
/// The number of extra documents that are scored to find the floor, since the filter may reject
/// some.
const FLOOR_SPARE: usize = 8;
/// A margin for the rounding of sums and for the cap on frequencies in [`segment::Most`]. Both are
/// far smaller than the margin.
const ROUNDING: f32 = 0.9999;

/// One query over one index.
pub(super) struct Search<'i, I> {
    find: Find<'i, I>,
    /// The query's terms, in its order.
    terms: Vec<Term<'i>>,
    sums: Sums<'i, I>,
    /// The cached results of [`Find::keep`] by place. Asking again costs as much as scoring the
    /// document.
    priors: RefCell<HashMap<u32, Option<f32>>>,
    /// The cached scores of some documents' own words, by place.
    own: RefCell<HashMap<u32, f32>>,
}

impl<'i, I: DocumentId> Search<'i, I> {
    /// Adds the scores of the query's terms, heaviest first, as far as they can still affect the
    /// best documents (`MaxScore`; Turtle, Flood: "Query Evaluation: Strategies and Optimizations",
    /// 1995).
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn new(index: &'i SearchIndex<I>, find: &Find<'i, I>) -> Self {
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
            // The best documents seldom score as much as the added terms could give.
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

    /// Returns the terms that occur in some document, heaviest first by their weight among live
    /// documents. Equal weights keep the query's order. The order matters, because it affects the
    /// last digits of a sum.
    fn heaviest_first(&self) -> Vec<usize> {
        let known = self.terms.iter().enumerate().filter(|(_, term)| term.documents > 0);
        let mut order: Vec<(usize, f32)> =
            known.map(|(at, term)| (at, term.weight.whole_and_passage())).collect();
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        order.into_iter().map(|(at, _)| at).collect()
    }

    /// Returns a lower bound on the final score of the last hit, estimated from the documents that
    /// lead now.
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
            Some((prior * (own + self.sums.boosted(at)), own > 0.0))
        };
        let mut scores: Vec<(f32, bool)> = having_most.filter_map(score).collect();
        scores.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut boosted = 0;
        let mut counted = scores.into_iter().filter(|(_, has_words)| {
            boosted += usize::from(!has_words);
            *has_words || boosted <= self.find.tuning.neighbour_hits
        });
        counted.nth(limit.checked_sub(1)?).map(|(score, _)| score)
    }

    /// Returns how many of the terms occur in some document.
    fn known(&self) -> usize {
        self.terms.iter().filter(|term| term.documents > 0).count()
    }

    /// Returns the factor for a document's score, or `None` if the filter rejects it.
    fn prior(&self, at: u32, id: I) -> Option<f32> {
        *self.priors.borrow_mut().entry(at).or_insert_with(|| (self.find.keep)(id))
    }

    /// Returns the score of a document's own words.
    fn own(&self, at: u32, room: &mut Room<'i>) -> f32 {
        let find = || self.given(at, room).iter().map(|given| given.score).sum();
        *self.own.borrow_mut().entry(at).or_insert_with(find)
    }

    /// Takes documents in the order of their sums, until no other can be among the best.
    pub(super) fn best(&self) -> Vec<Hit<I>> {
        let limit = self.find.limit;
        if limit == 0 {
            return Vec::new();
        }
        let mut room = Room::default();
        let mut best = Best::new(limit, self.find.tuning.neighbour_hits);
        let (mut floor, mut above) = (self.sums.highest(limit), f32::INFINITY);
        let mut looked = 0;
        // Most documents score far below the best ones, so they are sorted in bands, only as far as
        // needed.
        for part in [1.0, 0.5, 0.25, 0.0] {
            floor = best.last().map_or(floor * part, |last| last.score);
            floor = floor.max(f32::MIN_POSITIVE);
            let band = self.sums.from(floor).filter(|(_, sum)| *sum < above);
            // The bits of positive floats sort like the floats.
            give_way();
            let place = |(at, sum): (u32, f32)| {
                let (segment, slot) = self.sums.place(at)?;
                Some((sum.to_bits(), Reverse(segment.doc(slot)?.id), at))
            };
            let mut waiting: BinaryHeap<(u32, Reverse<I>, u32)> = band.filter_map(place).collect();
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
                    score = (self.own(at, &mut room) + self.sums.boosted(at)).min(sum);
                }
                // If no word of its own counts, both are sums of the same numbers in the same
                // order.
                let has_words = sum > self.sums.boosted(at);
                best.push(Candidate { score: score * prior, id, at, prior, has_words });
            }
            above = floor;
        }
        self.hits(best.sorted())
    }

    /// Returns a document's length in words.
    fn length(&self, at: u32) -> u32 {
        let place = self.sums.place(at);
        place.and_then(|(segment, slot)| segment.lengths().get(slot as usize)).copied().unwrap_or(0)
    }

    /// Whether a document of this length is scored by passages.
    fn is_long(&self, length: u32) -> bool {
        self.find.tuning.passage > 0.0 && passages::are_several(length)
    }

    fn hits(&self, best: Vec<Candidate<I>>) -> Vec<Hit<I>> {
        let mut room = Room::default();
        let mut hit = |Candidate { score, id, at, prior, has_words }: Candidate<I>| {
            let neighbours = self.sums.boosted(at);
            let term = |given: &TermScore<'_>| TermShare {
                term: given.wanted.asked.clone(),
                score: given.score,
                in_tag: given.stands.posting.tags > 0,
            };
            let why = self.find.explain.then(|| self.given(at, &mut room).iter().map(term));
            let why = why.into_iter().flatten().collect();
            let terms = if has_words { self.terms_of(at) } else { 0 };
            let neighbour_of = if has_words { None } else { self.booster(at) };
            Hit { id, score, why, prior, neighbours, terms, neighbour_of, gains: Vec::new() }
        };
        best.into_iter().map(&mut hit).collect()
    }

    /// Returns how many of the terms a document contains.
    fn terms_of(&self, at: u32) -> usize {
        let place = self.sums.place_on_shelf(at);
        let stands = |term: &&Term<'i>| {
            place.is_some_and(|(shelf, _, slot)| term.posting(shelf, slot).is_some())
        };
        self.terms.iter().filter(stands).count()
    }

    /// Returns the neighbour that boosts a document most. On a tie, the first wins.
    fn booster(&self, at: u32) -> Option<I> {
        let boost = |(at, share): (u32, f32)| {
            let (shelf, segment, slot) = self.sums.place_on_shelf(at)?;
            let length = segment.lengths().get(slot as usize).copied()?;
            let plain = |term: &Term<'i>| {
                let posting = term.posting(shelf, slot).filter(|_| term.boosts)?;
                Some(self.sums.bm25().plain(&posting, length, term.weight))
            };
            let own: f32 = self.terms.iter().filter_map(plain).sum();
            Some((share * own, Reverse(segment.doc(slot)?.id)))
        };
        let boosters = self.sums.neighbours(at).into_iter().filter_map(boost);
        let most =
            boosters.max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)));
        most.map(|(_, Reverse(id))| id)
    }

    /// Returns the score of each query term that a document contains.
    fn given<'r>(&self, at: u32, room: &'r mut Room<'i>) -> &'r [TermScore<'i>] {
        let Room { given, passages } = room;
        given.clear();
        let Some((shelf, segment, slot)) = self.sums.place_on_shelf(at) else { return given };
        let length = segment.lengths().get(slot as usize).copied().unwrap_or(0);
        let bm25 = self.sums.bm25();
        let several = self.is_long(length);
        let term = |(wanted, term): (&'i Wanted, &Term<'i>)| {
            let weight = term.weight;
            let stands = (*term.found.get(shelf)?)?.occurrences_in(slot)?;
            let score = if several {
                bm25.whole(&stands.posting, length, weight)
            } else {
                bm25.plain(&stands.posting, length, weight)
            };
            Some(TermScore { wanted, weight, stands, score })
        };
        given.extend(self.find.query.wanted.iter().zip(&self.terms).filter_map(term));
        if several {
            let stands = given.iter().enumerate().flat_map(|(number, TermScore { stands, .. })| {
                // Occurrences in tags come last.
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

/// Yields to another thread that waits for this processor. A write takes a fraction of a
/// millisecond, and a search of a large memory several. If every processor is searching, a write
/// would otherwise wait for a whole search.
fn give_way() {
    std::thread::yield_now();
}

/// Buffers reused while documents are scored. Allocating new ones for each costs as much as the
/// scoring.
#[derive(Default)]
struct Room<'i> {
    given: Vec<TermScore<'i>>,
    passages: passages::Best,
}

/// The best candidates so far, with a cap on those that contain none of the words.
struct Best<I> {
    limit: usize,
    boosted_max: usize,
    /// Candidates that contain a word. They are reversed, so that the heap's top is the worst.
    having: BinaryHeap<Reverse<Candidate<I>>>,
    boosted: BinaryHeap<Reverse<Candidate<I>>>,
}

impl<I: DocumentId> Best<I> {
    fn new(limit: usize, boosted_max: usize) -> Self {
        Self { limit, boosted_max, having: BinaryHeap::new(), boosted: BinaryHeap::new() }
    }

    /// Returns the worst kept candidate, once there are as many as wanted.
    fn last(&self) -> Option<&Candidate<I>> {
        let is_full = self.having.len() + self.boosted.len() >= self.limit;
        let lasts = [self.having.peek(), self.boosted.peek()].into_iter().flatten();
        lasts.map(|Reverse(last)| last).min().filter(|_| is_full)
    }

    fn push(&mut self, candidate: Candidate<I>) {
        let full = self.having.len() + self.boosted.len() >= self.limit;
        let (heap, other) = if candidate.has_words {
            (&mut self.having, &mut self.boosted)
        } else {
            (&mut self.boosted, &mut self.having)
        };
        let boosted = !candidate.has_words;
        heap.push(Reverse(candidate));
        if boosted && heap.len() > self.boosted_max {
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

    /// Returns the candidates, best first.
    fn sorted(self) -> Vec<Candidate<I>> {
        let all = self.having.into_iter().chain(self.boosted).map(|Reverse(candidate)| candidate);
        let mut all: Vec<Candidate<I>> = all.collect();
        all.sort_by(|a, b| b.cmp(a));
        all
    }
}

/// A query term in a document, with its score.
struct TermScore<'i> {
    wanted: &'i Wanted,
    weight: Weight,
    stands: Occurrences<'i>,
    score: f32,
}

/// A candidate hit. The better of two compares as greater.
struct Candidate<I> {
    score: f32,
    id: I,
    at: u32,
    prior: f32,
    /// Whether the document itself contains a query word, and is not found only through neighbours.
    has_words: bool,
}

impl<I: DocumentId> Candidate<I> {
    /// Whether it is better than a document with this id that scores at most `score`.
    fn beats(&self, score: f32, id: I) -> bool {
        score < self.score || score <= self.score && id > self.id
    }
}

impl<I: DocumentId> PartialEq for Candidate<I> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<I: DocumentId> Eq for Candidate<I> {}

impl<I: DocumentId> PartialOrd for Candidate<I> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: DocumentId> Ord for Candidate<I> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.id.cmp(&self.id))
    }
}
