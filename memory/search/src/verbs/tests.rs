//! Unites tenses, and nothing else.

use std::collections::HashSet;

use super::*;
use crate::words::term;

#[test]
fn tenses_share_one_term() {
    for same in
        [["writes", "wrote", "written"], ["Building", "built", "builds"], ["go", "went", "gone"]]
    {
        let [one, other, third] = same.map(|word| term(word).hash);
        assert!(one == other && other == third, "{same:?}");
    }
}

#[test]
fn words_with_their_own_meaning_are_not_reduced_to_a_verb() {
    for word in ["left", "bound", "bit", "led", "thought", "set", "foundation", "writer"] {
        assert_eq!(infinitive(word), word);
    }
    assert_ne!(term("bound").hash, term("bind").hash);
}

#[test]
fn each_verb_form_is_listed_only_once() {
    let mut seen = HashSet::new();
    for form in VERBS.split(',').flat_map(str::split_whitespace) {
        assert!(form.bytes().all(|byte| byte.is_ascii_lowercase()), "{form}");
        assert!(seen.insert(form), "{form} is there twice");
    }
}
