//! Terms close together in a long text count; short texts rank as before.

use std::sync::Arc;

use super::*;
use crate::testing::Id;
use crate::{Document, Find, Query, SearchIndex, Tuning};

/// Builds an index of these texts, numbered from 1. Each has a session of its own, so that none
/// boosts another.
fn index(texts: &[String]) -> SearchIndex<Id> {
    let mut index = SearchIndex::default();
    for (number, text) in (1..).zip(texts) {
        index.insert(&Document {
            id: Id(number),
            session: &Arc::from(number.to_string()),
            time: 0,
            texts: vec![text],
            tags: Vec::new(),
            files: Vec::new(),
        });
    }
    index
}

fn scores(index: &SearchIndex<Id>, query: &str, tuning: &Tuning) -> Vec<(u64, f32)> {
    let query = &Query::parse(query);
    let hits =
        index.find(&Find { query, tuning, keep: &|_| Some(1.0), limit: 10, explain: false }).hits;
    hits.iter().map(|hit| (hit.id.0, hit.score)).collect()
}

/// Returns this many words that no query contains.
fn filler(words: usize) -> String {
    "filler ".repeat(words)
}

const WHOLE: Tuning = Tuning { passage: 0.0, ..Tuning::COMPACTOR };
const PASSAGES: Tuning = Tuning { passage: 0.5, ..Tuning::COMPACTOR };

#[test]
fn words_close_together_score_higher_than_scattered_words() {
    let apart = format!("alpha {} beta {}", filler(200), filler(100));
    let together = format!("{} alpha {} beta {}", filler(50), filler(50), filler(200));
    let index = index(&[apart, together]);
    let [(_, one), (_, other)] = scores(&index, "alpha beta", &WHOLE)[..] else { panic!() };
    assert!((one - other).abs() < f32::EPSILON, "as wholes they are equal");
    let [(first, one), (_, other)] = scores(&index, "alpha beta", &PASSAGES)[..] else { panic!() };
    assert!(first == 2 && one > other * 1.1, "{one} {other}");
}

#[test]
fn a_text_of_one_passage_is_ranked_as_a_whole() {
    let texts = ["alpha beta".to_owned(), format!("alpha {}", filler(49)), filler(50)];
    let index = index(&texts);
    assert_eq!(scores(&index, "alpha beta", &PASSAGES), scores(&index, "alpha beta", &WHOLE));
}

#[test]
fn the_best_passage_is_found_anywhere_in_the_text() {
    let gives = |term: usize, often: u32| [1.0, 3.0][term] * [0.0, 1.0, 1.5][often as usize];
    let mut found = Best::default();
    let mut best = |stands: &[(u32, usize)]| found.of(stands.iter().copied(), 2, gives).to_vec();
    assert_eq!(best(&[]), [0.0, 0.0]);
    assert_eq!(best(&[(0, 0), (99, 1)]), [1.0, 3.0]);
    assert_eq!(best(&[(0, 0), (100, 1)]), [0.0, 3.0], "further apart than a passage is long");
    assert_eq!(best(&[(700, 1), (5, 0), (650, 0), (9, 0)]), [1.0, 3.0]);
    assert_eq!(best(&[(5, 0), (9, 0), (300, 0)]), [1.5, 0.0]);
}
