//! The constants of ranking. How each was chosen is written in `docs/retrieval.md`.

/// What a score is made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How much a term's repetition adds: 0 nothing; the higher, the later it stops to matter. BM25's k₁.
    pub k1: f32,
    /// How much a long text is held against it, 0 to 1. BM25's b.
    pub b: f32,
    /// A term in a tag counts as so many in the text.
    pub tag_weight: f32,
    /// What a term gives to a document lends this share of it to what the same session stored just before and just
    /// after; there it counts where it is more than the neighbour has of its own. 0 for nothing lent.
    pub neighbour: f32,
    /// The share for the neighbours' neighbours.
    pub neighbour_far: f32,
    /// A term that stands in a larger share of all documents lends nothing: what stands nearly everywhere says little
    /// of what is beside it.
    pub neighbour_share_max: f32,
    /// Neighbours are no further away in time, in milliseconds.
    pub neighbour_ms_max: i64,
    /// A text of so many words, stop words aside, takes all that is lent; a longer one stands for itself, and takes less
    /// with the square of its length.
    pub neighbour_words: f32,
    /// Of documents that have none of the words themselves, and are found by what they are lent, at most so many.
    pub neighbour_hits: usize,
    /// A text longer than a passage has this share of its score for its best passage, where terms weigh by how many passages
    /// have them; the rest as a whole. 0 for whole texts alone.
    pub passage: f32,
    /// Whether all quotes and minuses of a query are hard constraints; see
    /// [`Query::strict`](super::Query::strict).
    pub strict: bool,
    /// The number of best hits that are re-ranked by whether the query names their records and how
    /// much these matter. 0 for the search's own ranking.
    pub rescored_hits: usize,
}

impl Tuning {
    /// The ranking that the compactor's tool set promises: BM25 with the constants of its original,
    /// nothing lent or re-ranked, and binding quotes and minuses.
    pub const COMPACTOR: Self = Self {
        k1: 1.2,
        b: 0.75,
        tag_weight: 5.0,
        neighbour: 0.0,
        neighbour_far: 0.0,
        neighbour_share_max: 0.0,
        neighbour_ms_max: 0,
        neighbour_words: 0.0,
        neighbour_hits: 0,
        passage: 0.0,
        strict: true,
        rescored_hits: 0,
    };
}

impl Default for Tuning {
    /// Measured.
    fn default() -> Self {
        Self {
            k1: 0.9,
            b: 0.4,
            tag_weight: 5.0,
            neighbour: 0.5,
            neighbour_far: 0.3,
            neighbour_share_max: 1.0 / 3.0,
            neighbour_ms_max: 10 * 60 * 1000,
            neighbour_words: 50.0,
            neighbour_hits: 10,
            passage: 0.5,
            strict: false,
            rescored_hits: 30,
        }
    }
}
