//! The formula: what a term gives to a text of so many words in which it stands so often.
//!
//! It is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency ln(1 + (N − n + ½)/(n + ½)), which is never negative. A term in a tag counts as several
//! in the text, before saturation, as that paper does for fields. A long text has a part of its score as a whole and a
//! part for its best passage, where passages are to each other as documents are.

use super::segment::Posting;
use super::{SearchIndex, Tuning, passages};

/// How much has a term.
#[derive(Clone, Copy, Default)]
pub(super) struct Frequency {
    pub documents: u32,
    /// About so many passages of these.
    pub passages: u32,
}

/// What a term is worth.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    /// In a document as a whole.
    whole: f32,
    /// In a passage.
    passage: f32,
}

/// The formula for one index, but for a term's weight.
pub(super) struct Bm25 {
    k1: f32,
    b: f32,
    tag_weight: f32,
    passage: f32,
    documents: f32,
    passages: f32,
    /// Words of a document.
    average: f32,
}

impl Bm25 {
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn of(index: &SearchIndex, tuning: &Tuning) -> Self {
        let Tuning { k1, b, tag_weight, passage, .. } = *tuning;
        let documents = index.documents as f32;
        let average = (index.length as f32 / documents.max(1.0)).max(1.0);
        Self { k1, b, tag_weight, passage, documents, passages: index.passages as f32, average }
    }

    /// Terms weigh by their rarity, among documents and among passages.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn weight(&self, frequency: Frequency) -> Weight {
        let idf = |all: f32, having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        Weight {
            whole: (1.0 - self.passage) * idf(self.documents, frequency.documents as f32),
            passage: self.passage * idf(self.passages, frequency.passages as f32),
        }
    }

    /// What a term gives to a document, were it one passage.
    #[inline]
    pub(super) fn plain(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        (weight.whole + weight.passage) * self.saturated(self.often(posting.text, posting), length)
    }

    /// The most that a term can give to a document: if one passage has all of it.
    #[inline]
    pub(super) fn at_most(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        self.whole(posting, length, weight) + self.in_passage(posting.text, posting, weight)
    }

    /// What a term gives to a long text as a whole.
    #[inline]
    pub(super) fn whole(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        weight.whole * self.saturated(self.often(posting.text, posting), length)
    }

    /// What a term gives for a passage of a long text in which it stands so often; what is in a tag is in each.
    #[inline]
    pub(super) fn in_passage(&self, text: u32, posting: &Posting, weight: Weight) -> f32 {
        if text + posting.tags == 0 {
            return 0.0;
        }
        weight.passage * self.saturated(self.often(text, posting), passages::WORDS)
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn often(&self, text: u32, posting: &Posting) -> f32 {
        text as f32 + self.tag_weight * posting.tags as f32
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn saturated(&self, often: f32, length: u32) -> f32 {
        let Self { k1, b, average, .. } = *self;
        let norm = k1 * (1.0 - b + b * length as f32 / average);
        often * (k1 + 1.0) / (often + norm)
    }
}
