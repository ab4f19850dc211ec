//! The BM25 formula: the score of a term from its frequency in a text and the text's length.
//!
//! The source is Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
//! (2009). The inverse document frequency is ln(1 + (N − n + ½)/(n + ½)), which is never negative.
//! A term in a tag counts as several in the text, before saturation, as that paper does for fields.
//!
//! A long text gets part of its score as a whole and part for its best passage. Passages are
//! compared with each other in the same way as documents.

use super::segment::Most;
use super::slots::Posting;
use super::{SearchIndex, Tuning, passages};

/// The number of documents and passages that contain a term.
#[derive(Clone, Copy, Default)]
pub(super) struct Frequency {
    pub documents: u32,
    /// The approximate number of their passages that contain it.
    pub passages: u32,
    /// An upper bound on the term's frequency in any document.
    pub most: Most,
}

/// The weight of a term.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    /// Its weight in a whole document.
    whole: f32,
    /// Its weight in a passage.
    passage: f32,
}

impl Weight {
    /// Returns the weight in a document that is a single passage.
    #[inline]
    pub(super) fn whole_and_passage(self) -> f32 {
        self.whole + self.passage
    }
}

/// The formula's terms that depend on the index but not on the query term. They are computed once,
/// because a search evaluates the formula very often.
pub(super) struct Bm25 {
    /// k₁ + 1, the limit that a term's score approaches as the term repeats.
    top: f32,
    tag_weight: f32,
    passage: f32,
    documents: f32,
    passages: f32,
    /// The length normalisation of an empty text, k₁·(1 − b), and the increase per word, k₁·b
    /// divided by the average length.
    norm: f32,
    norm_word: f32,
    norm_passage: f32,
}

impl Bm25 {
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn of<I>(index: &SearchIndex<I>, tuning: &Tuning) -> Self {
        let Tuning { k1, b, tag_weight, passage, .. } = *tuning;
        let documents = index.documents as f32;
        let average = (index.length as f32 / documents.max(1.0)).max(1.0);
        let (norm, norm_word) = (k1 * (1.0 - b), k1 * b / average);
        Self {
            top: k1 + 1.0,
            tag_weight,
            passage,
            documents,
            passages: index.passages as f32,
            norm,
            norm_word,
            norm_passage: norm + norm_word * passages::WORDS as f32,
        }
    }

    /// Returns a term's weight, from its rarity among documents and among passages.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn weight(&self, frequency: Frequency) -> Weight {
        let idf = |all: f32, having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        Weight {
            whole: (1.0 - self.passage) * idf(self.documents, frequency.documents as f32),
            passage: self.passage * idf(self.passages, frequency.passages as f32),
        }
    }

    /// Returns an upper bound on what a term adds to any document's sum. `most` bounds the term's
    /// frequency, and `lent` the share of a score that passes to neighbours.
    pub(super) fn most(&self, most: Most, weight: Weight, lent: f32) -> f32 {
        let often = f32::from(most.text) + self.tag_weight * f32::from(most.tags);
        let saturated = self.saturated(often, self.norm);
        let plain = weight.whole_and_passage() * saturated;
        // A boost is what exceeds the plain score, and a long text's passage may exceed that score.
        if lent > 0.0 { plain.max(lent * plain + weight.passage * saturated) } else { plain }
    }

    /// Returns a term's score in a document, treated as one passage.
    #[inline]
    pub(super) fn plain(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        weight.whole_and_passage() * self.in_whole(posting, length)
    }

    /// Returns a term's score in a document, treated as one passage, and the most that it can score
    /// in a long text. It scores most if one passage contains all its occurrences.
    #[inline]
    pub(super) fn plain_and_most(
        &self,
        posting: &Posting,
        length: u32,
        weight: Weight,
    ) -> (f32, f32) {
        let in_whole = self.in_whole(posting, length);
        let most = weight.whole * in_whole + self.in_passage(posting.text, posting, weight);
        (weight.whole_and_passage() * in_whole, most)
    }

    /// Returns a term's score in a long text as a whole.
    #[inline]
    pub(super) fn whole(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        weight.whole * self.in_whole(posting, length)
    }

    /// Returns a term's score in a passage of a long text that contains it `text` times. Tags count
    /// in every passage.
    #[inline]
    pub(super) fn in_passage(&self, text: u32, posting: &Posting, weight: Weight) -> f32 {
        if text + posting.tags == 0 {
            return 0.0;
        }
        weight.passage * self.saturated(self.often(text, posting), self.norm_passage)
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn in_whole(&self, posting: &Posting, length: u32) -> f32 {
        let norm = self.norm + self.norm_word * length as f32;
        self.saturated(self.often(posting.text, posting), norm)
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    fn often(&self, text: u32, posting: &Posting) -> f32 {
        text as f32 + self.tag_weight * posting.tags as f32
    }

    #[inline]
    fn saturated(&self, often: f32, norm: f32) -> f32 {
        often * self.top / (often + norm)
    }
}
