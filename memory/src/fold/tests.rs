//! Texts that are equal once folded, and texts that are cut.

use super::{clip, clip_words, fold, keep_end, substance};

#[test]
fn case_and_space_are_folded() {
    assert_eq!(fold(" The\tCACHE\n is  Überfüllt "), "the cache is überfüllt");
}

#[test]
fn substance_drops_stop_words_and_punctuation() {
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
fn clipping_counts_characters_and_adds_an_ellipsis() {
    assert_eq!(clip("wäre", 4), "wäre");
    assert_eq!(clip("wäre es", 4), "wär…");
    let removed = "the key [secret removed: GitHub token] is wrong";
    assert_eq!(clip(removed, 20), "the key…");
    assert_eq!(clip(removed, 42), "the key [secret removed: GitHub token] is…");
}

#[test]
fn clipping_to_words_cuts_no_word_unless_it_is_too_long() {
    for (chars_max, clipped) in [
        (40, "check the schema, first of all"),
        (30, "check the schema, first of all"),
        (29, "check the schema, first of…"),
        (21, "check the schema…"),
        (17, "check the schema…"),
        (16, "check the…"),
        (5, "chec…"),
        (0, "…"),
    ] {
        assert_eq!(clip_words("check the schema, first of all", chars_max), clipped);
    }
    assert_eq!(clip_words(&"ß".repeat(9), 5), "ßßßß…");
    assert_eq!(clip_words("one two … three four", 12), "one two …");
    assert_eq!(clip_words("cut after 30 s. Ask her", 15), "cut after 30 s…");
    assert_eq!(clip_words("please read main.rs now", 17), "please read…");
}

#[test]
fn a_text_cut_to_its_end_begins_with_a_notice() {
    let text = format!("{}\n\nsecond\n\nthird", "ä".repeat(100));
    assert_eq!(keep_end(text.clone(), text.len()), text);
    let cut = "[cut here: what stood before is in earlier versions, if anywhere]";
    let bytes_max = text.len() - 1;
    let kept = keep_end(text.clone(), bytes_max);
    assert!(
        kept.starts_with(&format!("{cut}\n\nä")) && kept.ends_with("ä\n\nsecond\n\nthird"),
        "{kept}"
    );
    assert!(kept.len() <= bytes_max);
    // Cut at a paragraph if one begins soon. The line that marks the cut is not repeated.
    let text = format!("first\n\n{}", "ä".repeat(100));
    let kept = keep_end(text.clone(), text.len() - 1);
    let again = keep_end(format!("{kept}\n\nmore"), kept.len());
    assert_eq!((kept.matches("[cut").count(), again.matches("[cut").count()), (1, 1));
    assert!(again.ends_with("ä\n\nmore") && again.len() <= kept.len());
    let paragraphs = vec!["ten bytes."; 50].join("\n\n");
    assert!(keep_end(paragraphs, 300).starts_with(&format!("{cut}\n\nten bytes.\n\nten")));
}
