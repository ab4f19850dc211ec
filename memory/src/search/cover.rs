//! How much of what is asked a document covers: whether it is about that at all, which a score cannot say.
//!
//! A score is comparable within one answer alone, and the best of many bad hits is still best. So each term of the
//! query weighs by its rarity, from 0 for what every document has to 1 for what none has, and a document covers the
//! terms that it has itself; what neighbours lend does not count.

use super::SearchIndex;
use super::find::{Find, Search};
use crate::ids::RecordId;

/// So few documents say nothing of how common a word is.
const DOCUMENTS_MIN: usize = 100;

/// A document and what it covers of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// The document.
    pub id: RecordId,
    /// The weight of the terms it has, by that of all terms of the query.
    pub share: f32,
    /// The weight of the terms it has.
    pub weight: f32,
    /// How many terms it has.
    pub terms: usize,
}

impl SearchIndex {
    /// What the best documents for a query cover of it, best first; see [`SearchIndex::find`]. Words are taken as they
    /// are, without correcting any.
    pub fn cover(&self, find: &Find<'_>) -> Vec<Cover> {
        let weights: Vec<(&str, f32)> = find
            .query
            .wanted
            .iter()
            .map(|wanted| {
                let having = self.frequency(wanted.hash).documents;
                (wanted.asked.as_str(), self.rarity(having))
            })
            .collect();
        let all: f32 = weights.iter().map(|(_, weight)| weight).sum();
        let cover = |id, why: &[super::TermShare]| {
            let has = |asked: &str| why.iter().any(|share| share.term == asked);
            let had = weights.iter().filter(|(asked, _)| has(asked));
            let (terms, weight) =
                had.fold((0, 0.0), |(terms, sum), (_, weight)| (terms + 1, sum + weight));
            Cover { id, share: weight / all.max(f32::MIN_POSITIVE), weight, terms }
        };
        let hits = Search::new(self, &Find { explain: true, ..*find }).best();
        hits.iter().map(|hit| cover(hit.id, &hit.why)).collect()
    }

    /// The inverse document frequency, as ranking has it, by that of a term that no document has. Few documents are
    /// taken for some more, since what one of five has need not be common.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn rarity(&self, having: u32) -> f32 {
        let (documents, having) = (self.documents.max(DOCUMENTS_MIN) as f32, having as f32);
        let idf = |having: f32| (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
        idf(having) / idf(0.0).max(f32::MIN_POSITIVE)
    }
}
