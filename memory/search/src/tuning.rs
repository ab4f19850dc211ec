//! The ranking constants. `docs/retrieval.md` says how each was chosen.

/// The parameters of ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// BM25's k₁: how much repetitions of a term add. At 0 they add nothing; the higher it is, the
    /// longer they keep adding.
    pub k1: f32,
    /// BM25's b: how strongly length counts against a text, from 0 to 1.
    pub b: f32,
    /// The number of occurrences in the text that one in a tag counts for.
    pub tag_weight: f32,
    /// The share of a document's term score that boosts its neighbours: the documents that the same
    /// session stored just before and after. A neighbour gains only where the boost exceeds its own
    /// score. 0 turns boosts off.
    pub neighbour: f32,
    /// The share for the neighbours' neighbours.
    pub neighbour_far: f32,
    /// The largest share of documents that a term may occur in and still boost neighbours. A term
    /// that occurs nearly everywhere says little about the documents around it.
    pub neighbour_share_max: f32,
    /// The largest time difference between neighbours, in milliseconds.
    pub neighbour_ms_max: i64,
    /// The number of words, stop words aside, up to which a text takes its full boost. A longer
    /// text is judged more by its own words: its boost falls with the square of its length.
    pub neighbour_words: f32,
    /// The maximum number of hits that contain none of the words and are found only through
    /// neighbours.
    pub neighbour_hits: usize,
    /// The share of a long text's score that its best passage provides; the text as a whole
    /// provides the rest. In a passage, a term's rarity is its rarity among passages. 0 scores
    /// whole texts only.
    pub passage: f32,
    /// Whether all quotes and minuses of a query are hard constraints; see
    /// [`Query::strict`](super::Query::strict).
    pub strict: bool,
    /// The number of top hits that are re-ranked by whether the query names them, and by their
    /// importance. 0 keeps the search's own ranking.
    pub rescored_hits: usize,
}

impl Tuning {
    /// The ranking that the compactor's tool set promises: BM25 with its original constants, no
    /// boosts, no re-ranking, and binding quotes and minuses.
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
    /// Returns the measured values.
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
