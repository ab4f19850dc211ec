//! Measures the error against the real tokenizer's counts for each class of text, and checks what
//! budgets rely on.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::count;

/// Texts of 10 to 80 words, like notes, with their `o200k` token counts; docs/tokens.md says how
/// they were recorded.
const SAMPLES: &str = include_str!("samples.jsonl");

#[derive(Deserialize)]
struct Sample {
    class: String,
    o200k: u32,
    text: String,
}

#[test]
fn errors_stay_small_on_every_class_of_text() {
    let mut errors: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for line in SAMPLES.lines() {
        let sample: Sample = serde_json::from_str(line).unwrap();
        let error = (f64::from(count(&sample.text)) - f64::from(sample.o200k)).abs();
        let (sum, samples) = errors.entry(sample.class).or_default();
        *sum += error / f64::from(sample.o200k);
        *samples += 1.0;
    }
    assert_eq!(
        errors.keys().collect::<Vec<_>>(),
        ["cjk", "code", "json", "logs", "prose", "tables"]
    );
    for (class, (sum, samples)) in errors {
        assert!(samples >= 6.0, "{class}: {samples} samples");
        assert!(sum / samples <= 0.05, "{class}: {:.1} %", 100.0 * sum / samples);
    }
}

#[test]
fn common_words_are_one_token_and_rulers_are_few() {
    assert_eq!(count(""), 0);
    assert_eq!(count("the"), 1);
    assert_eq!(count("Hello, world!"), 4);
    assert_eq!(count("fn main() {\n    return;\n}\n"), 8);
    assert_eq!(count("1234567"), 3);
    assert!(count(&"-".repeat(80)) <= 2);
    assert!(count(&" ".repeat(80)) <= 2);
}

#[test]
fn a_table_ruler_costs_several_tokens() {
    for (first, second) in (3..40).flat_map(|first| (3..40).map(move |second| (first, second))) {
        let ruler = format!("|{}|{}|", "-".repeat(first), "-".repeat(second));
        let corners = format!("├{}┼{}┤", "─".repeat(first), "─".repeat(second));
        assert!(count(&ruler) >= 3 && count(&corners) >= 4, "{ruler} {corners}");
        assert!(count(&ruler) <= 20 && count(&corners) <= 24, "{ruler} {corners}");
    }
}

/// 4,000 signs in random order, for which the tokenizer returns 2,826 tokens.
#[test]
fn random_punctuation_costs_many_tokens() {
    let signs: Vec<char> = "!#%&*+-./:;<=>?@|~^".chars().collect();
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let places = std::iter::successors(Some(1_u32), next).map(|state| (state >> 16) as usize);
    let text: String = places.take(4_000).map(|at| signs[at % signs.len()]).collect();
    assert!((2_550..2_900).contains(&count(&text)), "{}", count(&text));
}

proptest! {
    #[test]
    fn token_counts_of_lines_add_up(
        lines in prop::collection::vec("[ a-zA-Z0-9_.,:;(){}'\"/=<>-]{0,60}|[一-龠ぁ-ん。、]{0,20}", 2..8)
    ) {
        let whole = count(&lines.join("\n"));
        let parts: u32 = lines.iter().map(|line| count(line)).sum();
        // A line end is one token, or joins the signs before it.
        let ends = u32::try_from(lines.len()).unwrap() - 1;
        prop_assert!(whole <= parts + 2 * ends, "{whole} of {parts} + {ends}");
        prop_assert!(whole + ends >= parts, "{whole} of {parts} + {ends}");
    }

    #[test]
    fn numbered_lines_add_up_within_one_token(
        lines in prop::collection::vec("[ \ta-zA-Z0-9_.,:;(){}'\"/=<>-]{0,60}|.{0,40}", 1..8)
    ) {
        let lines: Vec<String> =
            (7..).zip(&lines).map(|(number, line)| format!("{number}\t{line}\n")).collect();
        let parts: u32 = lines.iter().map(|line| count(line)).sum();
        prop_assert_eq!(count(&lines.concat()), parts);
    }

    #[test]
    fn any_text_is_counted(text in ".{0,200}") {
        prop_assert!(count(&text) as usize <= text.len());
        prop_assert_eq!(count(&text) == 0, text.is_empty());
    }
}
