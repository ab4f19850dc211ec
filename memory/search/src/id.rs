//! The ids of documents, as far as the index knows them.

use std::fmt::Debug;
use std::hash::Hash;

/// The id of a document. Ties between hits break by its order.
pub trait DocumentId: Copy + Ord + Hash + Debug + Send + Sync {
    /// Returns a number that grows from document to document. It orders documents that one session
    /// stored at the same time.
    fn number(self) -> u64;
}
