//! Outlines of sets, which tell most of those that are not near each other without a look at the sets.

use super::TENTHS;

const WORDS: usize = 4;

/// One bit for each of 256 kinds of runs that a set has (a bitmap filter; Sandes, Teodoro, Melo: "Bitmap filter:
/// speeding up exact set similarity joins with bitwise operations", 2020).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    kinds: [u64; WORDS],
    /// Of the set.
    len: usize,
}

impl Outline {
    pub(super) fn of(runs: &[u64]) -> Self {
        let mut kinds = [0; WORDS];
        for run in runs {
            let kind = run >> 40 & 255;
            if let Some(word) = kinds.get_mut(usize::try_from(kind / 64).unwrap_or_default()) {
                *word |= 1_u64 << (kind % 64);
            }
        }
        Self { kinds, len: runs.len() }
    }

    /// False where the sets cannot have more than seven tenths in common: a kind that one alone has stands for a run that
    /// one alone has, and of those, d, there may be fewer than 3/17 of a + b: as c > 0.7 · (a + b - c) and
    /// d = a + b - 2c.
    pub(super) fn may_be_near(&self, other: &Self) -> bool {
        let apart =
            self.kinds.iter().zip(other.kinds).map(|(ours, theirs)| (ours ^ theirs).count_ones());
        let apart = usize::try_from(apart.sum::<u32>())
            .unwrap_or_default()
            .max(self.len.abs_diff(other.len));
        (10 + TENTHS) * apart < (10 - TENTHS) * (self.len + other.len)
    }
}
