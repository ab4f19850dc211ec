//! Search over records: the types of the search crate, with the ids of records. A memory's index is
//! built when it is first needed.

use std::sync::{Arc, OnceLock};

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

/// The index of a memory, built when it is first needed. Building it takes longer than everything
/// else of opening a large memory, and a load without a task needs no index.
///
/// Clones share the index, whichever of them builds it. So no clone may change its texts before the
/// index is built, unless no other has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyIndex(Arc<OnceLock<SearchIndex>>);

impl LazyIndex {
    /// Returns the index. The first caller builds it while others wait.
    pub(crate) fn get<'a>(&self, documents: impl Iterator<Item = Document<'a>>) -> &SearchIndex {
        self.0.get_or_init(|| {
            let mut index = SearchIndex::default();
            index.insert_all(documents);
            index
        })
    }

    /// Whether the index is built.
    pub(crate) fn is_built(&self) -> bool {
        self.0.get().is_some()
    }

    /// Whether the index is not built, and no other memory shares it. Then its texts may change,
    /// since it will be built from the changed ones.
    pub(crate) fn is_to_be_built(&mut self) -> bool {
        Arc::get_mut(&mut self.0).is_some_and(|index| index.get().is_none())
    }

    /// Returns the index to follow a change, built from the documents before that change.
    pub(crate) fn get_mut<'a>(
        &mut self,
        documents: impl Iterator<Item = Document<'a>>,
    ) -> Option<&mut SearchIndex> {
        self.get(documents);
        Arc::make_mut(&mut self.0).get_mut()
    }
}

/// The index follows from the records. Those that are built are compared, to test this.
impl PartialEq for LazyIndex {
    fn eq(&self, other: &Self) -> bool {
        self.0.get().zip(other.0.get()).is_none_or(|(one, other)| one == other)
    }
}

impl DocumentId for RecordId {
    fn number(self) -> u64 {
        self.number
    }
}
