//! Tests of the user's notes in a load: their order, the omissions, and their budget.

use proptest::prelude::*;

use super::*;
use crate::NewNote;
use crate::limits::PERSONAL_TOKENS_MAX;
use crate::testing::{day, note};

fn memory(notes: impl IntoIterator<Item = NewNote>) -> Memory {
    crate::testing::personal(notes)
}

#[test]
fn the_most_important_note_comes_first_and_expired_ones_are_left_out() {
    let memory = memory([
        note("answers in German"),
        NewNote { importance: Some(9), ..note("prefers small pull requests,\none topic each") },
        NewNote { key: Some("editor".to_owned()), ..note("helix") },
        NewNote { pinned: true, importance: Some(1), ..note("signs off every commit") },
        NewNote { expires: Some(day(5)), ..note("is on holiday") },
        NewNote { summary: "how to lay out a module".to_owned(), ..note(&"word ".repeat(200)) },
    ]);
    let section = personal(&memory, PERSONAL_TOKENS_MAX, day(9), &Audience::Agent);
    insta::assert_snapshot!(section.text, @r#"
    ## The user's own notes, for every project
    u4: signs off every commit
    u2: prefers small pull requests,
      one topic each
    u6: how to lay out a module …
    u3 editor: helix
    u1: answers in German
    The rest: 1 more, memory_search {"scope":"user"}.
    "#);
    assert_eq!(section.shown.len(), 5);
    assert_eq!((section.in_full.len(), section.left_out), (4, 1));
}

#[test]
fn without_notes_or_room_there_is_no_section() {
    let nothing = personal(&Memory::default(), PERSONAL_TOKENS_MAX, day(9), &Audience::Agent);
    assert_eq!(nothing, PersonalText::default());
    let section = personal(&memory([note("answers in German")]), 8, day(9), &Audience::Agent);
    assert_eq!((section.text.as_str(), section.left_out), ("", 1));
}

#[test]
fn notes_without_room_are_counted_with_the_call_that_fetches_them() {
    let notes = (0..60).map(|number| note(&format!("rule {number}: {}", "say it so. ".repeat(4))));
    let section = personal(&memory(notes), PERSONAL_TOKENS_MAX, day(90), &Audience::Agent);
    let last = section.text.lines().last().unwrap();
    let count = 60 - section.shown.len();
    assert_eq!(last, format!("The rest: {count} more, memory_search {{\"scope\":\"user\"}}."));
    assert!(tokens::count(&section.text) <= PERSONAL_TOKENS_MAX);
    assert!(tokens::count(&section.text) >= PERSONAL_TOKENS_MAX * 9 / 10, "{}", section.text);
    // Every note is shown with its id, so that it can be fetched, changed and forgotten.
    assert!(section.text.contains("\nu60: rule 59"), "{}", section.text);
}

#[test]
fn a_larger_budget_never_shortens_a_note() {
    // Titles take so little room that some is left for the third note where the first two do not
    // fit.
    let notes = [(10, 60), (9, 58), (8, 20)].map(|(importance, words)| NewNote {
        importance: Some(importance),
        ..note(&format!("{importance}\n{}", "word ".repeat(words)))
    });
    let memory = memory(notes);
    for tokens_max in 0..300 {
        let small = personal(&memory, tokens_max, day(9), &Audience::Agent).in_full;
        let large = personal(&memory, tokens_max * 2, day(9), &Audience::Agent).in_full;
        assert!(small.iter().all(|id| large.contains(id)), "{tokens_max}: {small:?} {large:?}");
    }
}

fn any_note() -> impl Strategy<Value = NewNote> {
    let words =
        prop::sample::select(vec!["short", "ein längerer Satz mehr", "説明する", "a\nb\n\nc"]);
    (words, 1_usize..60, 1_u8..=10, any::<bool>()).prop_map(|(words, times, importance, pinned)| {
        let text = vec![words; times].join(" ");
        NewNote { importance: Some(importance), pinned, ..note(&text) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_section_keeps_to_its_budget_and_doubling_it_shortens_no_note(
        notes in prop::collection::vec(any_note(), 0..20),
        tokens_max in 0_u32..400,
    ) {
        let memory = memory(notes);
        let section = personal(&memory, tokens_max, day(40), &Audience::Agent);
        prop_assert!(tokens::count(&section.text) <= tokens_max);
        let all = memory.active_of(Kind::Note).count();
        prop_assert_eq!(section.shown.len() + section.left_out, all);
        let larger = personal(&memory, tokens_max * 2, day(40), &Audience::Agent);
        for id in &section.in_full {
            prop_assert!(larger.in_full.contains(id), "{id} is lost:\n{}", larger.text);
        }
    }
}

#[test]
fn a_person_is_shown_commands() {
    let memory = memory((0..200).map(|at| note(&format!("note {at} {}", "x ".repeat(30)))));
    let person = Audience::Person(crate::Shell::default());
    let section = |audience| personal(&memory, PERSONAL_TOKENS_MAX, day(9), audience);
    let (agents, persons) = (section(&Audience::Agent), section(&person));
    assert_eq!(agents.shown, persons.shown);
    insta::assert_snapshot!(persons.text.lines().last().unwrap(), @"The rest: 193 more, `anchord search --scope user`.");
}
