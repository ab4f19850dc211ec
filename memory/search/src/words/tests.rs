//! The splitting of texts.

use proptest::prelude::*;

use super::*;

/// Returns the terms with positions. Whole identifiers are in brackets, stop words are marked, and
/// single characters of a run are left out.
fn show(text: &str) -> String {
    let mut shown = Vec::new();
    words(text, 0, &mut |word| {
        let Word { raw, part, position, .. } = word;
        let term = term(raw);
        let stop = if term.stop { "~" } else { "" };
        match part {
            Part::Single => {}
            Part::Whole => shown.push(format!("[{}]@{position}", term.text)),
            Part::Atom | Part::Pair => shown.push(format!("{stop}{}@{position}", term.text)),
        }
    });
    shown.join(" ")
}

#[test]
fn prose() {
    insta::assert_snapshot!(show("The builds failed, didn't they?"), @"~the@0 build@1 fail@2 ~didn't@3 ~they@4");
    insta::assert_snapshot!(show("Caroline’s dog isn’t John's."), @"carolin@0 dog@1 ~isn't@2 john@3");
    insta::assert_snapshot!(show("well-known e.g. and/or 3.14 2023-05-07"), @"[wellknown]@0 well@0 know@1 [e.g]@2 e@2 g@3 [and/or]@4 ~and@4 ~or@5 [3.14]@6 3@6 14@7 [20230507]@8 2023@8 05@9 07@10");
}

#[test]
fn identifiers() {
    insta::assert_snapshot!(show("handleHTTPRequest user_id __init__ MAX_LEN"), @"[handlehttprequest]@0 handl@0 http@1 request@2 [userid]@3 user@3 id@4 init@5 [maxlen]@6 max@6 len@7");
    insta::assert_snapshot!(show("src/auth/oauthToken.ts:42 ./a.rs ../x"), @"[src/auth/oauthtoken.ts]@0 src@0 auth@1 [oauthtoken.ts]@2 [oauthtoken]@2 oauth@2 token@3 ts@4 42@5 [a.rs]@6 ~a@6 rs@7 x@8");
    insta::assert_snapshot!(show("std::sync::Arc<T> Vec::new()"), @"[std::sync::arc]@0 std@0 sync@1 arc@2 ~t@3 [vec::new]@4 vec@4 new@5");
    insta::assert_snapshot!(show("E0502 utf8 v2 x86_64 sha256 IDs APIs OAuth"), @"[e0502]@0 0502@0 [utf8]@1 utf@1 v2@2 [x8664]@3 x86@3 64@4 [sha256]@5 sha@5 256@6 id@7 api@8 [oauth]@9 auth@9");
    insta::assert_snapshot!(show("a3f9c2d 550e8400-e29b"), @"a3f9c2d@0 [550e8400e29b]@1 [550e8400]@1 550@1 8400@2 e29b@3");
    insta::assert_snapshot!(show("--no-verify @types/node https://example.com/a?b=c"), @"[noverifi]@0 ~no@0 verifi@1 [types/node]@2 type@2 node@3 https@4 [example.com/a]@5 [example.com]@5 exampl@5 com@6 ~a@7 b@8 c@9");
}

#[test]
fn other_scripts() {
    insta::assert_snapshot!(show("数据库 rust语言 データ"), @"数据@0 据库@1 rust@3 语言@4 デー@6 ータ@7");
    insta::assert_snapshot!(show("Café cafe\u{301} ＲＵＳＴ Straße Москва"), @"cafe@0 cafe@1 rust@2 straße@3 москва@4");
}

/// Returns every word of a text with all its properties, read by `scan` chunk by chunk.
fn told(text: &str, quickly: bool) -> Vec<(String, Part, u32, Range<usize>)> {
    let mut told = Vec::new();
    let mut each = |word: Word<'_>| {
        told.push((word.raw.to_owned(), word.part, word.position, word.range));
    };
    if quickly {
        words(text, 0, &mut each);
    } else {
        let mut scan = Scan { text, position: 0, each: &mut each };
        let mut at = 0;
        while at < text.len() {
            at = scan.any(at);
        }
    }
    told
}

proptest! {
    #[test]
    fn the_fast_tokeniser_agrees_with_the_slow_one(text in "([a-zA-Z0-9_]{0,3}[ .,:'’/\\-_äДデ\u{301}]{0,2}){0,12}") {
        prop_assert_eq!(told(&text, true), told(&text, false));
    }
}

#[test]
fn the_length_of_a_word_is_limited() {
    let long = "ä".repeat(100);
    assert!(term(&long).text.len() <= SEARCH_TERM_BYTES_MAX);
}

#[test]
fn the_memo_changes_nothing() {
    let before = term("running").hash;
    for number in 0..2 * SEARCH_MEMO_WORDS_MAX {
        term(&format!("w{number}"));
    }
    assert_eq!(term("running").hash, before);
    assert_eq!(&*term("running").text, "run");
}
