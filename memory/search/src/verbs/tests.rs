//! Unites tenses, and nothing else.

use std::collections::HashSet;

use super::*;
use crate::words::term;

#[test]
fn tenses_are_one_term() {
    for same in
        [["writes", "wrote", "written"], ["Building", "built", "builds"], ["go", "went", "gone"]]
    {
        let [one, other, third] = same.map(|word| term(word).hash);
        assert!(one == other && other == third, "{same:?}");
    }
}

#[test]
fn words_of_their_own_stay() {
    for word in ["left", "bound", "bit", "led", "thought", "set", "foundation", "writer"] {
        assert_eq!(infinitive(word), word);
    }
    assert_ne!(term("bound").hash, term("bind").hash);
}

#[test]
fn a_form_is_of_one_verb_and_is_none_itself() {
    let mut seen = HashSet::new();
    for form in VERBS.split(',').flat_map(str::split_whitespace) {
        assert!(form.bytes().all(|byte| byte.is_ascii_lowercase()), "{form}");
        assert!(seen.insert(form), "{form} is there twice");
    }
}
