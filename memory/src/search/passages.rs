//! Passages of long texts: that what is asked stands together somewhere.
//!
//! A long text has a word here and a word there of nearly everything, so what the whole has says little of what it is about,
//! and with few long texts it says little of a word that each of them has it. A text of no more than a passage's words is
//! one passage, and is ranked as if there were none.

use super::segment::Posting;

/// A passage has so many words, stop words aside; a text that is longer is a long one.
pub(super) const WORDS: u32 = 50;

/// The same among all words: in prose about every second word is a stop word.
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

/// What each term gives in the passage where all together give most. `stands` has the positions of terms and the terms'
/// numbers, `gives` what a term gives that stands so often in a passage.
pub(super) fn best(
    mut stands: Vec<(u32, usize)>,
    terms: usize,
    gives: impl Fn(usize, u32) -> f32,
) -> Vec<f32> {
    stands.sort_unstable();
    let mut often: Vec<u32> = vec![0; terms];
    let mut given: Vec<f32> = (0..terms).map(|term| gives(term, 0)).collect();
    let mut count = |given: &mut Vec<f32>, term: usize, one_more: bool| {
        let (Some(often), Some(given)) = (often.get_mut(term), given.get_mut(term)) else { return };
        *often = if one_more { *often + 1 } else { *often - 1 };
        *given = gives(term, *often);
    };
    let (mut most, mut best) = (f32::MIN, given.clone());
    let mut first = stands.iter().peekable();
    for (position, term) in &stands {
        while let Some((_, left)) = first.next_if(|(first, _)| first + POSITIONS <= *position) {
            count(&mut given, *left, false);
        }
        count(&mut given, *term, true);
        let sum = given.iter().sum();
        if sum > most {
            most = sum;
            best.clone_from(&given);
        }
    }
    best
}

#[cfg(test)]
mod tests;
