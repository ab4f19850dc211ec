//! Bit sets of small numbers.

use std::ops::Range;

/// The number of bits in a word.
pub(super) const WORD: usize = 64;

/// Whether a bit is set. Bits beyond the end count as set.
#[inline]
pub(super) fn is_set(bits: &[u64], at: u32) -> bool {
    bits.get(at as usize / WORD).is_none_or(|word| word >> (at % u64::BITS) & 1 == 1)
}

/// Sets a bit; does nothing beyond the end.
#[inline]
pub(super) fn set(bits: &mut [u64], at: u32) {
    if let Some(word) = bits.get_mut(at as usize / WORD) {
        *word |= 1 << (at % u64::BITS);
    }
}

/// Returns the positions of the set bits, ascending.
pub(super) fn ones(bits: &[u64]) -> impl Iterator<Item = u32> {
    (0..).step_by(WORD).zip(bits.iter().copied()).flat_map(|(first, word)| {
        let left = |word: &u64| Some(word & (word - 1)).filter(|left| *left != 0);
        let words = std::iter::successors(Some(word).filter(|word| *word != 0), left);
        words.map(move |word| first + word.trailing_zeros())
    })
}

/// Whether any bit in a range is set.
pub(super) fn any(bits: &[u64], range: Range<u32>) -> bool {
    let (first, last) = (range.start / u64::BITS, range.end.saturating_sub(1) / u64::BITS);
    let words = bits.get(first as usize..bits.len().min(last as usize + 1)).unwrap_or_default();
    (first..).zip(words).any(|(at, word)| {
        let mut word = *word;
        if at == first {
            word &= u64::MAX << (range.start % u64::BITS);
        }
        if at == last && !range.end.is_multiple_of(u64::BITS) {
            word &= !(u64::MAX << (range.end % u64::BITS));
        }
        word != 0
    })
}
