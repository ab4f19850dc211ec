//! The numbers that a segment gives its documents, and what it stores under them.

use std::ops::Range;
use std::sync::Arc;

use super::DocumentId;

/// The id of a session.
pub(super) type Session = Arc<str>;

/// The number of a document in its segment.
pub(super) type Slot = u32;

/// The data that the index keeps of a document besides its terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doc<I> {
    pub id: I,
    /// Milliseconds.
    pub time: i64,
    /// A digest of everything that was indexed.
    pub digest: u64,
}

impl<I: DocumentId> Doc<I> {
    /// Returns the sort key within a session.
    pub(super) fn place(&self) -> (i64, u64, I) {
        (self.time, self.id.number(), self.id)
    }
}

/// The documents of one session.
#[derive(Debug)]
pub(super) struct Run {
    pub session: Session,
    /// The hash of the session id.
    pub hash: u64,
    pub slots: Range<Slot>,
}

/// One term in one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub slot: Slot,
    /// The frequency in the text.
    pub text: u32,
    /// The frequency in the tags.
    pub tags: u32,
}

/// Narrows an offset, which fits because a project's text is bounded far below 4 GiB.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a project's text is bounded far below 4 GiB")
}
