//! When texts say the same.

use super::{clip, fold, substance};

#[test]
fn case_and_space_are_folded() {
    assert_eq!(fold(" The\tCACHE\n is  Überfüllt "), "the cache is überfüllt");
}

#[test]
fn substance_leaves_out_what_carries_no_meaning() {
    for (text, words) in [
        ("The cache is slow.", "cache slow"),
        ("`flush()` does NOT fsync!", "flush() does not fsync"),
        ("set !flag in .env", "set !flag in .env"),
        ("C++ is not C", "c++ not c"),
        ("it is", "it is"),
    ] {
        assert_eq!(substance(text), words, "{text:?}");
    }
}

#[test]
fn clipping_counts_characters_and_says_so() {
    assert_eq!(clip("wäre", 4), "wäre");
    assert_eq!(clip("wäre es", 4), "wär…");
}
