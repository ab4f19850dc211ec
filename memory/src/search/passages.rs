//! Passages of long texts: that what is asked stands together somewhere.
//!
//! A long text has a word here and a word there of nearly everything, so what the whole has says little of what it is about,
//! and with few long texts it says little of a word that each of them has it. A text of no more than a passage's words is
//! one passage, and is ranked as if there were none.

use super::segment::Posting;

/// A passage has so many words, stop words aside; a text that is longer is a long one.
pub(super) const WORDS: u32 = 50;

/// How many of all words a passage spans: in prose about every second one is a stop word.
const POSITIONS: u32 = 2 * WORDS;

/// How many passages a text of so many words has.
pub(super) fn count(length: u32) -> u32 {
    length.div_ceil(WORDS).max(1)
}

/// Whether a text of so many words has more than one.
#[inline]
pub(super) fn are_several(length: u32) -> bool {
    length > WORDS
}

/// How many passages of a text of so many words have a term, taken to be spread over it.
pub(super) fn having(posting: &Posting, length: u32) -> u32 {
    posting.text.clamp(1, count(length))
}

/// Finds the passage where all terms together give most, for one text after the other.
#[derive(Default)]
pub(super) struct Best {
    /// Where the terms of the text that is looked at stand, and which.
    stands: Vec<(u32, usize)>,
    often: Vec<u32>,
    given: Vec<f32>,
    best: Vec<f32>,
}

impl Best {
    /// What each term gives in that passage. `stands` has the positions of terms and the terms' numbers, `gives` what a term
    /// gives that stands so often in a passage.
    pub(super) fn of(
        &mut self,
        stands: impl IntoIterator<Item = (u32, usize)>,
        terms: usize,
        gives: impl Fn(usize, u32) -> f32,
    ) -> &[f32] {
        let Self { stands: sorted, often, given, best } = self;
        sorted.clear();
        sorted.extend(stands);
        sorted.sort_unstable();
        often.clear();
        often.resize(terms, 0);
        given.clear();
        given.extend((0..terms).map(|term| gives(term, 0)));
        best.clone_from(given);
        let mut count = |given: &mut [f32], term: usize, one_more: bool| {
            let (Some(often), Some(given)) = (often.get_mut(term), given.get_mut(term)) else {
                return;
            };
            *often = if one_more { *often + 1 } else { *often - 1 };
            *given = gives(term, *often);
        };
        let mut most = f32::MIN;
        let mut first = sorted.iter().peekable();
        for (position, term) in sorted.iter() {
            while let Some((_, left)) = first.next_if(|(first, _)| first + POSITIONS <= *position) {
                count(given, *left, false);
            }
            count(given, *term, true);
            let sum = given.iter().sum();
            if sum > most {
                most = sum;
                best.clone_from(given);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
