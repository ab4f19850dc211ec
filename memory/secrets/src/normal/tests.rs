//! Positions in the plain text and in the original.

use proptest::prelude::*;

use unicode_normalization::{IsNormalized, is_nfkc_quick};

use super::{Normal, is_hidden, is_plain};

#[test]
fn positions_in_the_plain_text_map_back_to_the_original() {
    for (original, plain, part, place) in [
        ("ａ：b", "a:b", "a:", "ａ："),
        ("x\u{200b}y\u{feff}z", "xyz", "yz", "y\u{feff}z"),
        ("ﬁne №5", "fine No5", "No5", "№5"),
        ("contrasen\u{303}a: x", "contraseña: x", "contraseña", "contrasen\u{303}a"),
        ("日本：x", "日本:x", "x", "x"),
        ("Ｐ\u{200d}Ｗ＝secret", "PW=secret", "secret", "secret"),
    ] {
        let normal = Normal::of(original);
        assert_eq!(normal.text, plain);
        let at = plain.find(part).unwrap();
        let range = normal.original(at..at + part.len());
        assert_eq!(original.get(range), Some(place), "{original:?}");
    }
}

#[test]
fn no_plain_character_has_another_form() {
    for c in ('\u{80}'..=char::MAX).filter(|c| is_plain(*c) && *c != '…') {
        let form = is_nfkc_quick(std::iter::once(c));
        assert!(form == IsNormalized::Yes && !is_hidden(c), "{c:?}");
    }
}

proptest! {
    #[test]
    fn positions_fall_between_characters(text in "[a-zＡ：ﬁé\u{300}\u{200b}№漢 ]{0,24}") {
        let normal = Normal::of(&text);
        let places: Vec<usize> = (0..=normal.text.len())
            .filter(|at| normal.text.is_char_boundary(*at))
            .collect();
        for start in &places {
            for end in places.iter().filter(|end| *end >= start) {
                let range = normal.original(*start..*end);
                prop_assert!(text.get(range.clone()).is_some(), "{:?} of {:?}", range, text);
            }
        }
    }
}
