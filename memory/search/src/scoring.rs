//! Scoring: adds each query term's score to the documents that contain it, and the boost to their
//! neighbours. Documents that can no longer matter are skipped.

use std::cell::{Cell, OnceCell};

use super::adjacency::{Adjacency, Places};
use super::bits::{WORD, is_set, ones, set};
use super::bm25::{Bm25, Weight};
use super::neighbour_boost::NeighbourBoost;
use super::query::Query;
use super::segment::{Segment, TermEntry};
use super::slots::{Posting, Slot};
use super::{DocumentId, SearchIndex, Tuning, passages, phrases};

/// The score sums of one query, by place.
pub(super) struct Sums<'i, I> {
    index: &'i SearchIndex<I>,
    tuning: &'i Tuning,
    bm25: Bm25,
    places: Places,
    /// The sum of each document's own words and its boost. For a long text it is an upper bound,
    /// since passages are scored only when the text becomes a candidate.
    sums: Vec<f32>,
    /// The highest sum of each block of places, computed on demand after a change. Most blocks
    /// contain no sum that matters.
    highest: OnceCell<Vec<f32>>,
    /// The boost of each document.
    boosted: Vec<f32>,
    /// The scores of the current boosting term in the documents that contain it. All zero between
    /// terms.
    own: Vec<f32>,
    /// Whether each place may be a hit; `None` if all may.
    allowed: Option<Vec<bool>>,
    /// The documents still in contention; `None` while all are.
    contenders: Option<Contenders>,
}

/// A query term.
pub(super) struct Term<'i> {
    /// Its entry in each shelf.
    pub found: Vec<Option<TermEntry<'i>>>,
    /// The number of documents that contain it.
    pub documents: u32,
    pub weight: Weight,
    /// Whether documents that contain it boost their neighbours.
    pub boosts: bool,
    /// An upper bound on what it adds to any document's sum.
    pub most: f32,
}

/// The documents that may still be among the best.
struct Contenders {
    /// One bit per place.
    places: Vec<u64>,
    /// One bit per place that is a contender or may boost one. Some other bits are set too.
    boosters: Vec<u64>,
}

/// The share of contenders above which filtering is no faster than adding to all documents.
const CONTENDERS_SHARE: f32 = 0.5;

thread_local! {
    /// The buffers of this thread's last search. Allocating new ones for each search costs more
    /// than the sums.
    static ROOM: Cell<Room> = const { Cell::new(Room::NONE) };
}

/// Numbers by place, reused from search to search.
#[derive(Default)]
struct Room {
    sums: Vec<f32>,
    boosted: Vec<f32>,
    /// All zero between searches.
    own: Vec<f32>,
}

impl Room {
    const NONE: Self = Self { sums: Vec::new(), boosted: Vec::new(), own: Vec::new() };
}

impl<I> Drop for Sums<'_, I> {
    fn drop(&mut self) {
        ROOM.set(Room {
            sums: std::mem::take(&mut self.sums),
            boosted: std::mem::take(&mut self.boosted),
            own: std::mem::take(&mut self.own),
        });
    }
}

impl<'i, I: DocumentId> Sums<'i, I> {
    /// Creates the sums, all zero.
    pub(super) fn new(index: &'i SearchIndex<I>, query: &Query, tuning: &'i Tuning) -> Self {
        let places = Places::of(index);
        let Room { mut sums, mut boosted, mut own } = ROOM.take();
        for numbers in [&mut sums, &mut boosted] {
            numbers.clear();
            numbers.resize(places.count, 0.0);
        }
        own.resize(places.count, 0.0);
        Self {
            index,
            tuning,
            bm25: Bm25::of(index, tuning),
            allowed: phrases::allowed(index, &places, query),
            contenders: None,
            places,
            sums,
            highest: OnceCell::new(),
            boosted,
            own,
        }
    }

    /// Looks up a query term.
    pub(super) fn term(&self, hash: u64) -> Term<'i> {
        Term::of(hash, self.index, &self.bm25, self.tuning)
    }

    /// Returns the formula.
    pub(super) fn bm25(&self) -> &Bm25 {
        &self.bm25
    }

    /// Whether the document at a place is still in contention. A document that is not may be
    /// credited too large a boost, because its own score is no longer added.
    pub(super) fn contends(&self, at: u32) -> bool {
        self.contenders.as_ref().is_none_or(|contenders| is_set(&contenders.places, at))
    }

    /// Returns the boost of the document at a place.
    pub(super) fn boosted(&self, at: u32) -> f32 {
        self.boosted.get(at as usize).copied().unwrap_or(0.0)
    }

    /// Returns the places that may boost the document at a place, each with the share of its score.
    pub(super) fn neighbours(&self, at: u32) -> Vec<(u32, f32)> {
        let adjacency = Adjacency::of(self.index, &self.places, self.tuning.neighbour_ms_max);
        let allowed = |at: u32| {
            let allowed = self.allowed.as_ref().map(|allowed| allowed.get(at as usize));
            allowed.is_none_or(|allowed| allowed == Some(&true))
        };
        let boost = NeighbourBoost::new(&adjacency, self.tuning);
        boost.neighbours(at).filter(|(at, _)| allowed(*at)).collect()
    }

    /// Returns the document at a place.
    pub(super) fn place(&self, at: u32) -> Option<(&'i Segment<I>, Slot)> {
        self.place_on_shelf(at).map(|(_, segment, slot)| (segment, slot))
    }

    /// Returns the document at a place, with the number of its shelf.
    pub(super) fn place_on_shelf(&self, at: u32) -> Option<(usize, &'i Segment<I>, Slot)> {
        let (shelf, base) = self.places.shelf(at)?;
        Some((shelf, &self.index.shelves.get(shelf)?.segment, at - base))
    }

    /// Returns the sum that `limit` documents reach, if there are that many.
    pub(super) fn highest(&self, limit: usize) -> f32 {
        let last = limit.saturating_sub(1);
        let nth = |sums: &mut Vec<f32>| {
            let is_there = last < sums.len();
            is_there.then(|| *sums.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1)
        };
        // At least `limit` blocks contain a sum that reaches this.
        let floor = nth(&mut self.highest_of_parts().to_vec()).unwrap_or(0.0);
        let mut sums = self.from(floor.max(f32::MIN_POSITIVE)).map(|(_, sum)| sum).collect();
        nth(&mut sums).unwrap_or(f32::MIN_POSITIVE)
    }

    /// Returns the places whose sum reaches `floor`, with their sums.
    pub(super) fn from(&self, floor: f32) -> impl Iterator<Item = (u32, f32)> {
        let parts = self.parts().filter(move |(_, _, highest)| *highest >= floor);
        let places = parts.flat_map(|(first, sums, _)| (first..).zip(sums.iter().copied()));
        places.filter(move |(_, sum)| *sum >= floor)
    }

    /// Returns the sums in blocks, each with its first place and its highest sum.
    fn parts(&self) -> impl Iterator<Item = (u32, &[f32], f32)> {
        let highest = self.highest_of_parts().iter().copied();
        let parts = (0..).step_by(WORD).zip(self.sums.chunks(WORD)).zip(highest);
        parts.map(|((first, sums), highest)| (first, sums, highest))
    }

    fn highest_of_parts(&self) -> &[f32] {
        self.highest.get_or_init(|| self.sums.chunks(WORD).map(highest_of).collect())
    }

    /// Adds the most that a term can score in each document, and the boosts that follow from it.
    pub(super) fn add(&mut self, term: &Term<'_>) {
        self.highest.take();
        if term.boosts {
            let adjacency = Adjacency::of(self.index, &self.places, self.tuning.neighbour_ms_max);
            self.add_and_boost(term, &NeighbourBoost::new(&adjacency, self.tuning));
        } else {
            self.add_own(term, |_, _| {});
        }
    }

    /// Stops adding to documents whose sum is below `least`, unless half or more would remain; then
    /// it changes nothing. Returns the share of documents that would remain.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a share are enough")]
    pub(super) fn leave_out_below(&mut self, least: f32) -> f32 {
        let before = self.contenders.as_ref().map(|before| before.places.as_slice());
        let before = before.unwrap_or_default().iter().copied().chain(std::iter::repeat(u64::MAX));
        let contending = |((_, sums, highest), before): ((u32, &[f32], f32), u64)| {
            if before == 0 || highest < least {
                return 0;
            }
            let is = |sum: &f32| u64::from(*sum >= least);
            before & sums.iter().rev().fold(0, |bits, sum| bits << 1 | is(sum))
        };
        let contenders: Vec<u64> = self.parts().zip(before).map(contending).collect();
        let count: u32 = contenders.iter().map(|word| word.count_ones()).sum();
        let share = count as f32 / self.places.count as f32;
        if share > CONTENDERS_SHARE {
            return share;
        }
        let adjacency = Adjacency::of(self.index, &self.places, self.tuning.neighbour_ms_max);
        let boosters = NeighbourBoost::new(&adjacency, self.tuning).boosters(&contenders);
        self.contenders = Some(Contenders { places: contenders, boosters });
        share
    }

    /// Adds a term's scores to documents by their own words. Calls `each` with a place and the
    /// term's score there, treated as one passage.
    fn add_own(&mut self, term: &Term<'_>, mut each: impl FnMut(u32, f32)) {
        let (bm25, weight) = (&self.bm25, term.weight);
        let by_passages = self.tuning.passage > 0.0;
        let wanted = self.contenders.as_ref().map(|contenders| contenders.wanted(term.boosts));
        let shelves = self.index.shelves.iter().zip(self.places.bases().iter().copied());
        for ((shelf, base), found) in shelves.zip(&term.found) {
            let Some(found) = found else { continue };
            let lengths = shelf.segment.lengths();
            let Some(sums) = self.sums.get_mut(base as usize..) else { continue };
            let all = shelf.dead.is_none() && self.allowed.is_none();
            let allowed = self.allowed.as_ref().and_then(|allowed| allowed.get(base as usize..));
            let one = |posting: Posting| {
                let slot = posting.slot as usize;
                if !all {
                    let allowed = allowed.is_none_or(|allowed| allowed.get(slot) == Some(&true));
                    if !allowed || !shelf.is_live(posting.slot) {
                        return;
                    }
                }
                let (Some(length), Some(sum)) = (lengths.get(slot), sums.get_mut(slot)) else {
                    return;
                };
                let (share, most) = if by_passages && passages::are_several(*length) {
                    bm25.plain_and_most(&posting, *length, weight)
                } else {
                    let share = bm25.plain(&posting, *length, weight);
                    (share, share)
                };
                *sum += most;
                each(base + posting.slot, share);
            };
            let Some(wanted) = wanted else {
                found.postings().for_each(one);
                continue;
            };
            let first = base as usize / WORD;
            let words = first..first + shelf.segment.len().div_ceil(WORD);
            let wanted = wanted.get(words).unwrap_or_default();
            let postings = found.postings_about(wanted);
            postings.filter(|posting| is_set(wanted, posting.slot)).for_each(one);
        }
    }

    /// Adds a boosting term. Each document gets the score of its own words, plus the largest boost
    /// from one neighbour beyond that score.
    fn add_and_boost(&mut self, term: &Term<'_>, boost: &NeighbourBoost<'_>) {
        let mut own = std::mem::take(&mut self.own);
        let mut reached = vec![0; self.places.count.div_ceil(WORD * WORD)];
        self.add_own(term, |at, share| {
            if let Some(own) = own.get_mut(at as usize) {
                *own = share;
            }
            boost.reached(at, |place| set(&mut reached, place / u64::BITS));
        });
        for word in ones(&reached) {
            self.boost(word, &own, boost);
        }
        for word in ones(&reached) {
            let first = word as usize * WORD;
            own.get_mut(first..first + WORD).unwrap_or_default().fill(0.0);
        }
        self.own = own;
    }

    /// Adds the boosts of one word of places.
    fn boost(&mut self, word: u32, own: &[f32], boost: &NeighbourBoost<'_>) {
        let first = word * u64::BITS;
        let places = first as usize..first as usize + WORD;
        let Some((segment, slot)) = self.place(first) else { return };
        let lengths = segment.lengths().get(slot as usize..).unwrap_or_default();
        let sums = self.sums.get_mut(places.clone()).unwrap_or_default();
        let boosted = self.boosted.get_mut(places.clone()).unwrap_or_default();
        let most = boost.most(own, word as usize);
        let texts = own.get(places.clone()).unwrap_or_default().iter().zip(most).zip(lengths);
        for ((sum, boosted), ((own, most), length)) in sums.iter_mut().zip(boosted).zip(texts) {
            let taken = boost.taken(most, *own, *length);
            *sum += taken;
            *boosted += taken;
        }
        let allowed = self.allowed.as_ref().and_then(|allowed| allowed.get(places));
        for (sum, allowed) in sums.iter_mut().zip(allowed.into_iter().flatten()) {
            if !allowed {
                *sum = 0.0;
            }
        }
    }
}

impl<'i> Term<'i> {
    /// Returns the term's posting in a document of a shelf.
    pub(super) fn posting(&self, shelf: usize, slot: Slot) -> Option<Posting> {
        Some((*self.found.get(shelf)?)?.occurrences_in(slot)?.posting)
    }

    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn of<I: DocumentId>(
        hash: u64,
        index: &'i SearchIndex<I>,
        bm25: &Bm25,
        tuning: &Tuning,
    ) -> Self {
        let found = index.found(hash);
        let frequency = index.frequency_in(&found);
        let share_max = tuning.neighbour_share_max * index.documents as f32;
        let boosts = (tuning.neighbour > 0.0 || tuning.neighbour_far > 0.0)
            && frequency.documents as f32 <= share_max;
        let weight = bm25.weight(frequency);
        let boost = if boosts { tuning.neighbour.max(tuning.neighbour_far) } else { 0.0 };
        let most = bm25.most(frequency.most, weight, boost);
        Self { found, documents: frequency.documents, weight, boosts, most }
    }
}

impl Contenders {
    /// Returns the places whose own scores are needed.
    fn wanted(&self, to_boost: bool) -> &[u64] {
        if to_boost { &self.boosters } else { &self.places }
    }
}

/// Returns the highest of some sums, none of which is negative. It works in lanes, since a
/// processor compares several numbers at once.
fn highest_of(sums: &[f32]) -> f32 {
    let higher = |a: f32, b: f32| if a > b { a } else { b };
    let (lanes, rest) = sums.as_chunks::<8>();
    let mut highest = [0.0; 8];
    for lane in lanes {
        for (highest, sum) in highest.iter_mut().zip(lane) {
            *highest = higher(*highest, *sum);
        }
    }
    highest.iter().chain(rest).copied().fold(0.0, higher)
}
