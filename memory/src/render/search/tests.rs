//! How hits are shown, cut and explained.

use super::*;
use crate::search::Tuning;
use crate::testing::{apply, blueprint, blueprints, day, note, origin, save};
use crate::{NewNote, Reader, Recall, plan_notes, recall};

fn filled() -> Memory {
    let mut memory = Memory::default();
    let long = "The pool waits. ".repeat(60) + "A checkout times out after five seconds.";
    let notes = [
        NewNote {
            key: Some("pool.size".to_owned()),
            expires: Some(day(3)),
            ..note("The pool has 20")
        },
        NewNote { summary: "how checkouts time out".to_owned(), ..note(&long) },
        note("Redis needs no pool"),
    ];
    let items = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(&memory, &origin("one", 1), items).unwrap();
    apply(&mut memory, plan);
    save(&mut memory, &origin("one", 2), blueprints([blueprint("Pools", "One pool a process")]));
    memory
}

fn view(query: &str) -> SearchView<'_> {
    SearchView {
        query,
        from: 0,
        limit: 10,
        tokens_max: None,
        tight: false,
        explain: None,
        now: day(9),
    }
}

fn found(memory: &Memory, query: &str) -> Recalled {
    let of = Recall {
        reader: &Reader::anyone(),
        query,
        kinds: &[],
        tags: &[],
        own: None,
        file: None,
        since: None,
        until: None,
        limit: 30,
        tuning: &Tuning::COMPACTOR,
        prior: &|_| 1.0,
        explain: true,
    };
    recall(memory, &of)
}

#[test]
fn hits_are_shown_with_the_passage_that_matches() {
    let memory = filled();
    let recalled = found(&memory, "checkout pool");
    insta::assert_snapshot!(search(&memory, &recalled, &view("checkout pool")).text);
}

#[test]
fn why_a_hit_was_found_is_told_on_request() {
    let memory = filled();
    let recalled = found(&memory, "redis pool");
    let explain: &dyn Fn(&Record) -> String = &|record| format!("(of {})", record.id);
    let view = SearchView { limit: 1, explain: Some(explain), ..view("redis pool") };
    insta::assert_snapshot!(search(&memory, &recalled, &view).text);
}

#[test]
fn what_was_left_out_is_counted_and_named() {
    let memory = filled();
    let recalled = found(&memory, "pool");
    let first = search(&memory, &recalled, &SearchView { limit: 2, ..view("pool") });
    assert_eq!((first.shown.len(), first.left_out), (2, 2));
    insta::assert_snapshot!(first.text.lines().last().unwrap());
    let rest = search(&memory, &recalled, &SearchView { from: 2, ..view("pool") });
    assert_eq!((rest.shown.len(), rest.next), (2, None));
    let past = search(&memory, &recalled, &SearchView { from: 9, ..view("pool") });
    assert_eq!(past.text, "Nothing more.\n");
}

#[test]
fn an_answer_keeps_to_its_tokens() {
    let memory = filled();
    let recalled = found(&memory, "pool");
    for tokens_max in [130, 200, 400] {
        let view = SearchView { tokens_max: Some(tokens_max), ..view("pool") };
        let answer = search(&memory, &recalled, &view);
        let tokens = tokens::count(&answer.text);
        assert!(tokens <= tokens_max, "{tokens} of {tokens_max}: {}", answer.text);
        assert_eq!(answer.shown.len() + answer.left_out, 4);
    }
}

#[test]
fn summaries_stand_for_long_texts_when_room_is_short() {
    let memory = filled();
    let recalled = found(&memory, "checkout");
    let tight = SearchView { tight: true, ..view("checkout") };
    insta::assert_snapshot!(search(&memory, &recalled, &tight).text, @"n2: how checkouts time out …");
    let none = search(&memory, &found(&memory, "zebra"), &tight);
    insta::assert_snapshot!(none.text, @"Nothing matches. Try fewer or other words, or memory_list to see what there is.");
}
