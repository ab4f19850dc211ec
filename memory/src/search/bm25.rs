//! The formula: what a term gives to a text of so many words in which it stands so often.
//!
//! It is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency ln(1 + (N − n + ½)/(n + ½)), which is never negative. A term in a tag counts as several
//! in the text, before saturation, as that paper does for fields. A long text has a part of its score as a whole and a
//! part for its best passage, where passages are to each other as documents are.

use super::segment::{Most, Posting};
use super::{SearchIndex, Tuning, passages};

/// How much has a term.
#[derive(Clone, Copy, Default)]
pub(super) struct Frequency {
    pub documents: u32,
    /// About so many passages of these.
    pub passages: u32,
    /// In no document does it stand more often.
    pub most: Most,
}

/// What a term is worth.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    /// In a document as a whole.
    whole: f32,
    /// In a passage.
    passage: f32,
}

impl Weight {
    /// In a document that is one passage.
    #[inline]
    pub(super) fn whole_and_passage(self) -> f32 {
        self.whole + self.passage
    }
}

/// The formula for one index, but for a term's weight. What is the same for all documents is worked out once, since a search
/// asks for very many.
pub(super) struct Bm25 {
    /// k₁ + 1, to which a term's repetition brings it near.
    top: f32,
    tag_weight: f32,
    passage: f32,
    documents: f32,
    passages: f32,
    /// What a text of no words is held against, and what each of its words adds: k₁·(1 − b) and k₁·b by the average length.
    norm: f32,
    norm_word: f32,
    norm_passage: f32,
}

impl Bm25 {
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn of(index: &SearchIndex, tuning: &Tuning) -> Self {
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

    /// Terms weigh by their rarity, among documents and among passages.
    #[expect(clippy::cast_precision_loss, reason = "seven digits of a count are enough")]
    pub(super) fn weight(&self, frequency: Frequency) -> Weight {
        let idf = |all: f32, having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        Weight {
            whole: (1.0 - self.passage) * idf(self.documents, frequency.documents as f32),
            passage: self.passage * idf(self.passages, frequency.passages as f32),
        }
    }

    /// No document's sum gains more than this by a term that stands nowhere more often, when neighbours lend no more than
    /// this share of what they have.
    pub(super) fn most(&self, most: Most, weight: Weight, lent: f32) -> f32 {
        let often = f32::from(most.text) + self.tag_weight * f32::from(most.tags);
        let saturated = self.saturated(often, self.norm);
        let plain = weight.whole_and_passage() * saturated;
        // Neighbours lend what is beyond the plain share, which a long text's passage may exceed.
        if lent > 0.0 { plain.max(lent * plain + weight.passage * saturated) } else { plain }
    }

    /// What a term gives to a document, were it one passage.
    #[inline]
    pub(super) fn plain(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        weight.whole_and_passage() * self.in_whole(posting, length)
    }

    /// What a term gives to a document, were it one passage; and the most that it can give to a long text: if one
    /// passage has all of it.
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

    /// What a term gives to a long text as a whole.
    #[inline]
    pub(super) fn whole(&self, posting: &Posting, length: u32, weight: Weight) -> f32 {
        weight.whole * self.in_whole(posting, length)
    }

    /// What a term gives for a passage of a long text in which it stands so often; what is in a tag is in each.
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
