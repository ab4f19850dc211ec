//! Ids for tests.

use super::DocumentId;

/// The number of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub(crate) u64);

impl DocumentId for Id {
    fn number(self) -> u64 {
        self.0
    }
}
