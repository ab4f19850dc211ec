//! Cursors into lists that are computed again for each page.

use std::fmt;
use std::str::FromStr;

use crate::ids::Revision;

/// The position after the previous pages, and the revision that they showed: `10-r57`. The owner of
/// the pages defines the position. The revision reveals that memory has changed between pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCursor {
    /// The hits or characters on the previous pages.
    pub from: usize,
    /// The revision of memory.
    pub revision: Revision,
}

/// Error for a text that is not such a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor from an earlier page; leave it out")]
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
