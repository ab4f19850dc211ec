//! Ranges of lines.

use std::fmt;

/// Lines from the first to the last, counted from 1 and inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line, at least the first.
    pub last: u32,
}

impl Lines {
    /// Returns the number of lines.
    pub fn count(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { first, last } if first == last => write!(f, "{first}"),
            Self { first, last } => write!(f, "{first}-{last}"),
        }
    }
}
