//! Outlines of sets, which rule out most dissimilar pairs without reading the sets.

use super::TENTHS;
use super::runs::numbers;

const WORDS: usize = 4;

/// A bitmap of the kinds of runs in a set, one bit for each of 256 kinds. This is a bitmap filter
/// (Sandes, Teodoro, Melo: "Bitmap filter: speeding up exact set similarity joins with bitwise
/// operations", 2020).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    kinds: [u64; WORDS],
    /// The size of the set.
    len: usize,
    /// A digest of the numbers that the text names.
    numbers: u64,
}

impl Outline {
    pub(super) fn of(text: &str, runs: &[u64]) -> Self {
        let mut kinds = [0; WORDS];
        for run in runs {
            let kind = run >> 40 & 255;
            if let Some(word) = kinds.get_mut(usize::try_from(kind / 64).unwrap_or_default()) {
                *word |= 1_u64 << (kind % 64);
            }
        }
        Self { kinds, len: runs.len(), numbers: numbers(text) }
    }

    /// Whether the texts name the same numbers, and the sets may have more than seven tenths in
    /// common. A kind that only one set has means a run that only one has. The number d of such
    /// runs must be below 3/17 of a + b. This follows from c > 0.7 · (a + b - c) and
    /// d = a + b - 2c.
    pub(super) fn may_be_near(&self, other: &Self) -> bool {
        let apart =
            self.kinds.iter().zip(other.kinds).map(|(ours, theirs)| (ours ^ theirs).count_ones());
        let apart = usize::try_from(apart.sum::<u32>())
            .unwrap_or_default()
            .max(self.len.abs_diff(other.len));
        self.numbers == other.numbers
            && (10 + TENTHS) * apart < (10 - TENTHS) * (self.len + other.len)
    }
}
