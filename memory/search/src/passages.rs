//! Passages of long texts, which reward query terms that occur close together.
//!
//! A long text mentions nearly everything somewhere, so the whole says little about its subject.
//! If few texts are long, the fact that each contains a word says little about that word. A text
//! no longer than a passage is a single passage, and ranks as if passages did not exist.

use super::slots::Posting;

/// The length of a passage in words, stop words aside. A longer text is a long text.
pub(super) const WORDS: u32 = 50;

/// The number of words of any kind that a passage spans. In prose about every second word is a stop
/// word.
const POSITIONS: u32 = 2 * WORDS;

/// Returns the number of passages in a text of this length.
pub(super) fn count(length: u32) -> u32 {
    length.div_ceil(WORDS).max(1)
}

/// Whether a text of this length has more than one passage.
#[inline]
pub(super) fn are_several(length: u32) -> bool {
    length > WORDS
}

/// Estimates how many passages contain a term, assuming that it is spread over the text.
pub(super) fn having(posting: &Posting, length: u32) -> u32 {
    posting.text.clamp(1, count(length))
}

/// A finder of the passage where all terms together score most. It is reused from text to text.
#[derive(Default)]
pub(super) struct Best {
    /// The current text's term occurrences: position and term number.
    stands: Vec<(u32, usize)>,
    often: Vec<u32>,
    given: Vec<f32>,
    best: Vec<f32>,
}

impl Best {
    /// Returns the score of each term in the best passage. `stands` yields positions and term
    /// numbers. `gives` returns a term's score from its number and its frequency in a passage.
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
