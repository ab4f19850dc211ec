//! Candidates that are explained.

use super::*;
use crate::recall::Evidence;

#[test]
fn a_candidate_without_a_word_of_the_prompt_is_not_explained() {
    let candidate = |id: &str, words: &[&str]| Candidate {
        id: id.parse().unwrap(),
        score: 1.05,
        evidence: Evidence {
            words: words.iter().map(|word| ((*word).to_owned(), 0.5)).collect(),
            ..Evidence::default()
        },
    };
    let explained = with_words(vec![candidate("n1", &[]), candidate("n2", &["port"])]);
    assert_eq!(explained.iter().map(|it| it.id.to_string()).collect::<Vec<_>>(), ["n2"]);
}
