//! The outcome of a comparison.

use crate::lines::Lines;

/// The state of a fingerprint's lines in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every line is where it was.
    Fresh,
    /// Every line is there, elsewhere.
    Moved(Lines),
    /// The lines are there, but not as they were.
    Changed {
        /// The lines that they are now.
        lines: Lines,
        /// The share of them that is new, or that is gone, in percent; 1 to 100.
        percent: u8,
    },
    /// The lines are not in the text.
    Gone,
    /// The lines may be in the text, but it is not certain where.
    Unsure,
}

impl Outcome {
    /// Returns whether the lines need not be looked for in other files.
    pub fn is_settled(self, percent_max: u8) -> bool {
        match self {
            Self::Fresh | Self::Moved(_) => true,
            Self::Changed { percent, .. } => percent <= percent_max,
            Self::Gone | Self::Unsure => false,
        }
    }

    /// Returns whether lines were found that are more like the fingerprint's than others.
    pub fn is_better_than(self, other: Self) -> bool {
        self.difference() < other.difference()
    }

    fn difference(self) -> u8 {
        match self {
            Self::Fresh | Self::Moved(_) => 0,
            Self::Changed { percent, .. } => percent,
            Self::Gone | Self::Unsure => u8::MAX,
        }
    }
}
