//! Line ranges as agents write them: `42-67`, `42`, ` 42 - 67 `, reversed, or any other text.

mod places;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use places::Places;

/// The lines that an anchor points at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum LineRange {
    /// The lines from the first to the last, inclusive and counted from 1; `first <= last`.
    Span {
        /// The first line.
        first: u32,
        /// The last line.
        last: u32,
    },
    /// Text that is not a range; it matches only an equal text.
    Text(String),
}

impl LineRange {
    /// Returns whether two ranges overlap. With a `reach` of 1, ranges also meet that touch.
    pub fn meets(&self, other: &Self, reach: u32) -> bool {
        match (self, other) {
            (Self::Span { first: a, last: b }, Self::Span { first: c, last: d }) => {
                *a <= d.saturating_add(reach) && *c <= b.saturating_add(reach)
            }
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => false,
        }
    }

    /// Returns whether two ranges begin with the same line; two texts, whether they are equal.
    pub(crate) fn begins_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Span { first: a, .. }, Self::Span { first: b, .. }) => a == b,
            _ => self == other,
        }
    }

    /// Returns the range over both, if they are spans; else this one.
    pub(crate) fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Span { first: a, last: b }, Self::Span { first: c, last: d }) => {
                Self::Span { first: *a.min(c), last: *b.max(d) }
            }
            _ => self.clone(),
        }
    }

    /// Returns the size of its text in bytes; lines have none.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Span { .. } => 0,
            Self::Text(text) => text.len(),
        }
    }

    /// Returns the first line, to sort by; 0 for text.
    pub fn first(&self) -> u32 {
        match self {
            Self::Span { first, .. } => *first,
            Self::Text(_) => 0,
        }
    }
}

impl From<String> for LineRange {
    fn from(text: String) -> Self {
        let trimmed = text.trim();
        let number = |part: &str| part.trim().parse::<u32>().ok().filter(|line| *line > 0);
        let span = match trimmed.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)),
            None => number(trimmed).map(|line| (line, line)),
        };
        match span {
            Some((a, b)) => Self::Span { first: a.min(b), last: a.max(b) },
            None => Self::Text(trimmed.to_owned()),
        }
    }
}

impl From<LineRange> for String {
    fn from(lines: LineRange) -> Self {
        lines.to_string()
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span { first, last } if first == last => write!(f, "{first}"),
            Self::Span { first, last } => write!(f, "{first}-{last}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
