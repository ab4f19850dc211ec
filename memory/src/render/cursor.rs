//! Where the next page goes on of what is made anew for each page.

use std::fmt;
use std::str::FromStr;

use crate::ids::Revision;

/// So much came on the pages before, of what memory had at a revision: `10-r57`. What else it means is up to what has the
/// pages; that they do not fit together once memory changed can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCursor {
    /// Hits or characters of the pages before.
    pub from: usize,
    /// What memory was at.
    pub revision: Revision,
}

/// The text is no such cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no cursor of an earlier page; leave it out")]
pub struct ParseCursorError;

impl FromStr for PageCursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let (from, revision) = text.trim().split_once("-r").ok_or(ParseCursorError)?;
        let from = from.parse().map_err(|_| ParseCursorError)?;
        let revision = revision.parse().map_err(|_| ParseCursorError)?;
        Ok(Self { from, revision: Revision(revision) })
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-r{}", self.from, self.revision.0)
    }
}
