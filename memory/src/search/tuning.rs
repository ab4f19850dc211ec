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
    /// The share of its own score that a document lends to each of its two neighbours: what the same session stored
    /// just before and just after it. 0 for none.
    pub neighbour: f32,
    /// The share for the neighbours' neighbours.
    pub neighbour_far: f32,
    /// Neighbours are no further away in time, in milliseconds.
    pub neighbour_ms_max: i64,
}

impl Tuning {
    /// What the compactor's tool set promises: BM25 with the constants of its original, nothing lent.
    pub const COMPACTOR: Self = Self {
        k1: 1.2,
        b: 0.75,
        tag_weight: 5.0,
        neighbour: 0.0,
        neighbour_far: 0.0,
        neighbour_ms_max: 0,
    };

    /// The most that a document's score can be of the best score among itself and its neighbours.
    pub(super) fn reach(&self) -> f32 {
        1.0 + 2.0 * (self.neighbour + self.neighbour_far)
    }
}

impl Default for Tuning {
    /// Measured.
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.5,
            tag_weight: 5.0,
            neighbour: 0.25,
            neighbour_far: 0.0,
            neighbour_ms_max: 10 * 60 * 1000,
        }
    }
}
