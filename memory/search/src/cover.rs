//! The query terms that a document contains. They show whether it is about the query at all, which
//! a score cannot.
//!
//! A score is comparable only within one answer, and the best of many bad hits still comes first.
//! So each term weighs by its rarity, from 0 if every document has it to 1 if none has. A document
//! covers the terms that it contains itself; boosts from neighbours do not count.

use super::find::{Find, Search};
use super::query::{Query, Terms};
use super::{DocumentId, SearchIndex};

/// The smallest index size used for rarities. Fewer documents say nothing about how common a word
/// is.
const DOCUMENTS_MIN: usize = 100;

/// A document and the query terms that it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover<I> {
    /// The document.
    pub id: I,
    /// The terms that it has.
    pub terms: Terms,
}

impl<I: DocumentId> SearchIndex<I> {
    /// Returns the best documents for a query, best first, each with the terms that it has; see
    /// [`SearchIndex::find`]. It does not correct typing errors.
    pub fn cover(&self, find: &Find<'_, I>) -> Vec<Cover<I>> {
        let hits = Search::new(self, &Find { explain: true, ..*find }).best();
        let terms = |why: &[super::TermShare]| {
            find.query.terms_where(|asked| why.iter().any(|share| share.term == asked))
        };
        hits.iter().map(|hit| Cover { id: hit.id, terms: terms(&hit.why) }).collect()
    }

    /// Returns the rarity of each term of a query, in its order. It is the term's inverse document
    /// frequency, as in ranking, divided by that of a term that no document has. An index counts as
    /// at least `DOCUMENTS_MIN` documents, since a word that one document in five has need not be
    /// common.
    pub fn rarities(&self, query: &Query) -> Vec<f32> {
        let wanted = query.wanted.iter();
        wanted.map(|wanted| self.rarity(self.frequency(wanted.hash).documents)).collect()
    }

    /// Returns the best documents, best first. Each comes with the query terms that it has, as
    /// written in the query, and their rarity.
    pub fn covered(&self, find: &Find<'_, I>) -> Vec<(I, Vec<(String, f32)>)> {
        let rarities = self.term_rarities(find.query);
        let of = |why: &[super::TermShare]| {
            let has = |asked: &str| why.iter().any(|share| share.term == asked);
            rarities.iter().filter(|(asked, _)| has(asked)).cloned().collect()
        };
        let hits = Search::new(self, &Find { explain: true, ..*find }).best();
        hits.iter().map(|hit| (hit.id, of(&hit.why))).collect()
    }

    /// Returns the terms of a query as they are written there, each with its rarity.
    pub fn term_rarities(&self, query: &Query) -> Vec<(String, f32)> {
        let terms = query.wanted.iter().map(|wanted| wanted.asked.clone());
        terms.zip(self.rarities(query)).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn rarity(&self, having: u32) -> f32 {
        let (documents, having) = (self.documents.max(DOCUMENTS_MIN) as f32, having as f32);
        let idf = |having: f32| (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
        idf(having) / idf(0.0).max(f32::MIN_POSITIVE)
    }
}
