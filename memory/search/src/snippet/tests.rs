//! The choice of passage.

use super::*;

const TEXT: &str = "First we looked at the journal. Nothing was wrong there. Then the index: it was rebuilt at every \
                    start, since its checksum was read before it was written. The fix is to write the checksum last.";

fn cut(query: &str, chars_max: usize) -> String {
    let cut = snippet(TEXT, &Query::parse(query), chars_max);
    assert!(cut.chars().count() <= chars_max, "{cut}");
    cut
}

#[test]
fn a_text_that_fits_is_not_cut() {
    assert_eq!(snippet("short text", &Query::parse("other"), 10), "short text");
}

#[test]
fn the_snippet_is_the_passage_with_the_most_query_words() {
    insta::assert_snapshot!(cut("checksum written", 60), @"…it was written. The fix is to write the checksum last.");
    insta::assert_snapshot!(cut("index rebuild start", 60), @"…the index: it was rebuilt at every start, since its…");
    insta::assert_snapshot!(cut("journal", 40), @"…at the journal. Nothing was wrong…");
    insta::assert_snapshot!(cut("last", 40), @"…The fix is to write the checksum last.");
}

#[test]
fn without_a_query_word_the_snippet_is_the_beginning() {
    insta::assert_snapshot!(cut("elephant", 40), @"First we looked at the journal.…");
}

#[test]
fn a_snippet_never_exceeds_its_limit() {
    for chars_max in 0..60 {
        cut("checksum written index", chars_max);
    }
}
