//! Hits of a project and hits among the user's own notes, as one list.
//!
//! Scores of two search indexes cannot be compared: how rare a word is depends on what else is
//! stored. So each list keeps its order, and what decides between two hits is how many words of the
//! query they have, then how near each comes to the best hit of its own list. A project's hit wins
//! a tie. A list that was found as asked comes before one for which a spelling was corrected or a
//! hard constraint dropped.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Recalled;
use crate::search::Hit;

impl Recalled {
    /// Takes in what was found among the user's own notes. Those without a word of the query stay
    /// out, and so do those that only a corrected spelling or plain words found, unless the project
    /// has nothing. Where the project has only plain words of a phrase that the user's notes have,
    /// those notes stand alone.
    #[must_use]
    pub fn with_personal(self, personal: Self) -> Self {
        let nothing = self.hits.is_empty();
        let is_relaxed = self.relaxed || (nothing && personal.relaxed);
        if personal.hits.is_empty()
            || (!personal.corrected.is_empty() && !nothing)
            || (personal.relaxed && !is_relaxed)
        {
            return self;
        }
        if self.relaxed && !personal.relaxed {
            return Self::default().with_personal(personal);
        }
        let mut theirs: VecDeque<Hit> =
            personal.hits.into_iter().filter(|hit| hit.beside.is_none()).collect();
        let mut ours = VecDeque::from(self.hits);
        let (our_best, their_best) = (best(&ours), best(&theirs));
        let mut hits = Vec::with_capacity(ours.len() + theirs.len());
        while let (Some(our), Some(their)) = (ours.front(), theirs.front()) {
            let rank = |hit: &Hit, best: f32| (hit.terms, hit.score / best);
            let (our_terms, our_share) = rank(our, our_best);
            let (their_terms, their_share) = rank(their, their_best);
            let order = their_terms.cmp(&our_terms).then(their_share.total_cmp(&our_share));
            hits.extend(match order {
                Ordering::Greater => theirs.pop_front(),
                Ordering::Equal | Ordering::Less => ours.pop_front(),
            });
        }
        hits.extend(ours);
        hits.extend(theirs);
        Self {
            hits,
            corrected: if nothing { personal.corrected } else { self.corrected },
            relaxed: is_relaxed,
            matching: self.matching + personal.matching,
            more: self.more || personal.more,
        }
    }
}

/// The best score of a list, as a divisor.
fn best(hits: &VecDeque<Hit>) -> f32 {
    hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max)
}
