//! Computes the boost that documents give their neighbours in a session, one word of places at a
//! time. Nearly all neighbours are at adjacent places, and a processor handles many of those at
//! once.

use super::Tuning;
use super::adjacency::Adjacency;
use super::bits::{WORD, ones, set};

/// The number of steps over which a document boosts others. The code below is written for two.
const STEPS: usize = 2;

/// The boost's parameters, and the links between documents.
pub(super) struct NeighbourBoost<'c> {
    adjacency: &'c Adjacency,
    /// The share for direct neighbours.
    near: f32,
    /// The share for the neighbours' neighbours.
    far: f32,
    /// The number of words up to which a text takes the full boost.
    words: f32,
}

impl<'c> NeighbourBoost<'c> {
    pub(super) fn new(adjacency: &'c Adjacency, tuning: &Tuning) -> Self {
        let Tuning { neighbour: near, neighbour_far: far, neighbour_words: words, .. } = *tuning;
        Self { adjacency, near, far, words }
    }

    /// Calls `each` with a place in every word that contains a neighbour of this place, and in its
    /// own word.
    #[inline]
    pub(super) fn reached(&self, at: u32, mut each: impl FnMut(u32)) {
        if self.adjacency.is_odd(at) {
            each(at);
            self.about(at).into_iter().flatten().for_each(each);
        } else {
            // The place itself and everything between the two is in the word of one of them.
            each(at.saturating_sub(2));
            each(at.saturating_add(2));
        }
    }

    /// Returns the places one step before and after, then two steps before and after.
    fn about(&self, at: u32) -> [Option<u32>; 4] {
        let (before, after) = (self.adjacency.before(at), self.adjacency.after(at));
        let far = |near: Option<u32>, step: fn(&Adjacency, u32) -> Option<u32>| {
            step(self.adjacency, near?)
        };
        [before, after, far(before, Adjacency::before), far(after, Adjacency::after)]
    }

    /// Returns the places up to two steps away that may boost this one, each with its share.
    pub(super) fn neighbours(&self, at: u32) -> impl Iterator<Item = (u32, f32)> {
        let shares = [self.near, self.near, self.far, self.far];
        self.about(at).into_iter().zip(shares).filter_map(|(at, share)| Some((at?, share)))
    }

    /// Returns the given places and those that boost one of them, as bits. A few adjacent places of
    /// other sessions are included.
    pub(super) fn boosters(&self, places: &[u64]) -> Vec<u64> {
        let word = |at: Option<usize>| at.and_then(|at| places.get(at)).copied().unwrap_or(0);
        let about = |at: usize| {
            let (before, here, after) =
                (word(at.checked_sub(1)), word(Some(at)), word(Some(at + 1)));
            let from = |steps: usize| {
                here << steps | before >> (WORD - steps) | here >> steps | after << (WORD - steps)
            };
            here | from(1) | from(STEPS)
        };
        let mut boosters: Vec<u64> = (0..places.len()).map(about).collect();
        for at in ones(places).filter(|at| self.adjacency.is_odd(*at)) {
            self.about(at).into_iter().flatten().for_each(|booster| set(&mut boosters, booster));
        }
        boosters
    }

    /// Returns the largest boost from a single neighbour for each place of a word. `own` is the
    /// score of each place.
    pub(super) fn most(&self, own: &[f32], word: usize) -> [f32; WORD] {
        let (near, far) = (self.near, self.far);
        let (own_about, goes_on) = (with_those_beside(own, word), self.goes_on(word));
        let mut most = [0.0; WORD];
        let windows = own_about.array_windows().zip(goes_on.array_windows());
        for (most, ([far_before, before, _, after, far_after], goes_on)) in
            most.iter_mut().zip(windows)
        {
            let [to_before, before_on, on, on_after] = goes_on;
            let one = (before * before_on).max(after * on);
            let two = (far_before * to_before * before_on).max(far_after * on * on_after);
            *most = (near * one).max(far * two);
        }
        let odd = [self.adjacency.odd(word)];
        for at in ones(&odd) {
            let place = u32::try_from(word * WORD).unwrap_or(u32::MAX).saturating_add(at);
            let [before, after, far_before, far_after] = self
                .about(place)
                .map(|at| at.and_then(|at| own.get(at as usize)).copied().unwrap_or(0.0));
            if let Some(most) = most.get_mut(at as usize) {
                *most = (near * before.max(after)).max(far * far_before.max(far_after));
            }
        }
        most
    }

    /// Returns how much of a boost a text of this length takes beyond its own score.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a length are enough")]
    pub(super) fn taken(&self, most: f32, own: f32, length: u32) -> f32 {
        let share = self.words / length.max(1) as f32;
        ((share * share).min(1.0) * most - own).max(0.0)
    }

    /// Returns 1 where the chain continues at the next place, else 0. It starts two places before
    /// the word.
    fn goes_on(&self, word: usize) -> [f32; WORD + STEPS + 1] {
        let (turns, last) = self.adjacency.turns_about(word);
        if (turns, last) == (0, 0) {
            return [1.0; WORD + STEPS + 1];
        }
        std::array::from_fn(|at| {
            let turns = if at < WORD { turns >> at } else { last >> (at - WORD) };
            if turns & 1 == 0 { 1.0 } else { 0.0 }
        })
    }
}

/// Returns the values of a word's places and of the two on either side.
fn with_those_beside(own: &[f32], word: usize) -> [f32; WORD + 2 * STEPS] {
    let mut about = [0.0; WORD + 2 * STEPS];
    let first = word * WORD;
    let missing = STEPS.saturating_sub(first);
    let there = own.get(first.saturating_sub(STEPS)..).unwrap_or_default();
    let there = there.get(..about.len() - missing).unwrap_or(there);
    if let Some(about) = about.get_mut(missing..missing + there.len()) {
        about.copy_from_slice(there);
    }
    about
}
