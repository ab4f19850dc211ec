//! The sentence that says what to do.

use super::*;

#[test]
fn sentences_end_at_punctuation_or_a_line_break_but_not_in_code() {
    let text = "Ports: see `a.b; c`. Use 7.5 now! Really?\n\nlast line; done。次の文。";
    assert_eq!(
        sentences(text),
        ["Ports: see `a.b; c`.", "Use 7.5 now!", "Really?", "last line;", "done。", "次の文。"]
    );
    assert_eq!(sentences(" \n--\n"), Vec::<&str>::new());
}

#[test]
fn the_first_sentence_is_a_title() {
    let check = |text: &str, title: &str, rest: &str| {
        assert_eq!(first_sentence(text), (title.to_owned(), rest.to_owned()), "{text:?}");
    };
    check(" Close the reader first. It hung. Twice. ", "Close the reader first", "It hung. Twice.");
    check("a cold cache times out", "a cold cache times out", "");
    check("Really?\nYes.", "Really?", "Yes.");
    check("--", "--", "");
    check("", "", "");
    // The limit falls within a word.
    let long = format!("a {}", "word ".repeat(60));
    let (title, rest) = first_sentence(&long);
    assert!(title.ends_with("word…") && title.chars().count() <= TITLE_CHARS_MAX, "{title}");
    assert_eq!(rest, long.trim());
}

#[test]
fn the_gist_is_the_advice_or_the_answer_to_the_query() {
    let cases = [
        ("It hung for an hour. Always pass `--no-cache`. We laughed.", "Always pass `--no-cache`."),
        (
            "Es war spät. Niemals beide Dienste zugleich starten.",
            "Niemals beide Dienste zugleich starten.",
        ),
        (
            "Close the reader first, then rename. CI on Linux never shows it; the runner is nightly.",
            "Close the reader first, then rename.",
        ),
        ("Restarts hid it. Ask first, and never restart it.", "Ask first, and never restart it."),
        (
            "Ask Inès before a chunk's size changes; she knows whom to call there.",
            "Ask Inès before a chunk's size changes;",
        ),
        (
            "Build it, then run the check. It runs in a set of three.",
            "Build it, then run the check.",
        ),
        ("One thing. Another thing.", "One thing."),
        ("", ""),
    ];
    for (text, advice) in cases {
        assert_eq!(gist(text, None), advice, "{text}");
    }
    let query = Query::plain("how long is the lease of the printer");
    let text = "Never touch the router. The printer has a lease of nine days.";
    assert_eq!(gist(text, Some(&query)), "The printer has a lease of nine days.");
}

#[test]
fn the_gist_comes_first_only_if_the_text_does_not_fit() {
    let text = "Nothing of note here at all. Use the spare key.";
    assert_eq!(gist_first(text, None, 100), text);
    let cut = gist_first(text, None, 30);
    assert_eq!(cut, "Use the spare key. … Nothing…");
    let cut = gist_first("Nothing of it works there at all.\nUse the spare key…", None, 30);
    assert_eq!(cut, "Use the spare key… Nothing of…");
}
