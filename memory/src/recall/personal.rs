//! Hits of a project and hits among the user's own notes, as one list.
//!
//! Scores of two search indexes cannot be compared: how rare a word is depends on what else is
//! stored. So each list keeps its order. Two hits are compared by how many words of the query they
//! have, then by their score relative to the best of their own list. A project's hit wins a tie. A
//! list that was found as asked takes precedence over one for which a spelling was corrected or a
//! hard constraint dropped.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Recalled;
use crate::search::Hit;

impl Recalled {
    /// Adds the hits among the user's own notes, except those without a word of the query. Hits
    /// that only a corrected spelling found are added only if the project has none. Hits that only
    /// plain words found are added only if the project has none or only such. If only the user's
    /// notes meet the query's hard constraints, they replace the project's hits.
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
            personal.hits.into_iter().filter(|hit| hit.neighbour_of.is_none()).collect();
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

/// Returns the best score of a list; never 0, since it is a divisor.
fn best(hits: &VecDeque<Hit>) -> f32 {
    hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max)
}
