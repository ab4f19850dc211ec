//! Search over records: the types of the search crate, with the ids of records.

use anchord_search::DocumentId;
pub use anchord_search::{Bonus, Query, TermShare, Terms, Tuning, as_written, snippet};

use crate::ids::RecordId;

/// A record as the index sees it.
pub type Document<'a> = anchord_search::Document<'a, RecordId>;
/// The index of a project's records.
pub type SearchIndex = anchord_search::SearchIndex<RecordId>;
/// A search request.
pub type Find<'a> = anchord_search::Find<'a, RecordId>;
/// The result of a search.
pub type SearchResults = anchord_search::SearchResults<RecordId>;
/// A record found by a search.
pub type Hit = anchord_search::Hit<RecordId>;
/// A record and the query terms that it covers.
pub type Cover = anchord_search::Cover<RecordId>;

impl DocumentId for RecordId {
    fn number(self) -> u64 {
        self.number
    }
}
