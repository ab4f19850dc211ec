//! The display, the cutting and the explanation of hits.

use super::*;
use crate::limits::ANSWER_TOKENS_MIN;
use crate::search::Tuning;
use crate::testing::{apply, blueprint, blueprints, day, note, origin, save};
use crate::{Memory, NewNote, Reader, Recall, plan_notes, recall};

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
        NewNote { tags: vec!["redis".to_owned()], ..note("Redis needs no pool") },
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
        cursor: None,
        limit: 10,
        tokens_max: None,
        tight: Tight::default(),
        explain: None,
        now: day(9),
        audience: &Audience::Agent,
    }
}

fn found(memory: &Memory, query: &str) -> Recalled {
    found_by(memory, query, &Tuning::COMPACTOR)
}

fn found_by(memory: &Memory, query: &str, tuning: &Tuning) -> Recalled {
    let reader = Reader::anyone();
    recall(memory, &Recall { explain: true, ..Recall::new(&reader, query, 30, tuning) })
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
    let cursor = first.next.unwrap().parse().ok();
    let rest = search(&memory, &recalled, &SearchView { cursor, ..view("pool") });
    assert_eq!((rest.shown.len(), rest.next), (2, None));
    let cursor = Some(PageCursor { from: 9, revision: memory.revision() });
    let past = search(&memory, &recalled, &SearchView { cursor, ..view("pool") });
    assert_eq!(past.text, "Nothing more.\n");
}

#[test]
fn a_page_says_if_memory_changed_since_the_previous_one() {
    let mut memory = filled();
    let first = search(&memory, &found(&memory, "pool"), &SearchView { limit: 2, ..view("pool") });
    save(&mut memory, &origin("two", 3), blueprints([blueprint("More", "pools")]));
    let cursor = first.next.unwrap().parse().ok();
    let next = search(&memory, &found(&memory, "pool"), &SearchView { cursor, ..view("pool") });
    assert!(next.text.starts_with("memory changed since the page before"), "{}", next.text);
}

#[test]
fn a_query_that_is_cut_is_reported() {
    let memory = filled();
    let long: String = (0..99).map(|n| format!("pool{n} ")).collect();
    let answer = search(&memory, &found(&memory, &long), &view(&long));
    insta::assert_snapshot!(answer.text, @r"
    the query is long: nothing was looked for beyond its first 2000 characters and 64 words
    n1 pool.size (expires 2026-11-03): The pool has 20 [EXPIRED]
    n2: how checkouts time out
      …pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. The pool waits. …
    b4 [decision] Pools
      One pool a process
    n3 (#redis): Redis needs no pool
    ");
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
fn the_smallest_answer_keeps_to_its_tokens_and_shows_something() {
    let mut memory = Memory::default();
    let words: String = (0..30).map(|n| format!("pool{n}vorratsspeicher ")).collect();
    let notes = (0..40).map(|n| Ok(note(&format!("{n} {words} 資料庫連線池逾時設定說明文件 "))));
    let plan = plan_notes(&memory, &origin("one", 1), notes.collect()).unwrap();
    apply(&mut memory, plan);
    let mut recalled = found(&memory, &words);
    recalled.corrected = vec![("vorratsspeichre".repeat(4), "vorratsspeicher".repeat(4)); 8];
    let retention: &dyn Fn(&Record) -> String = &|_| "retention ".repeat(20);
    for explain in [None, Some(retention)] {
        let tokens_max = Some(ANSWER_TOKENS_MIN);
        let answer =
            search(&memory, &recalled, &SearchView { tokens_max, explain, ..view(&words) });
        let tokens = tokens::count(&answer.text);
        assert!(tokens <= ANSWER_TOKENS_MIN, "{tokens}: {}", answer.text);
        assert!(!answer.shown.is_empty(), "{}", answer.text);
    }
}

#[test]
fn summaries_replace_long_texts_when_the_budget_is_tight() {
    let memory = filled();
    let recalled = found(&memory, "checkout");
    let own = SearchView { tight: Tight { project: false, own: true }, ..view("checkout") };
    let text = search(&memory, &recalled, &own).text;
    assert!(text.lines().count() > 1, "its own budget has room: {text}");
    let tight = SearchView { tight: Tight { project: true, own: false }, ..view("checkout") };
    insta::assert_snapshot!(search(&memory, &recalled, &tight).text, @"n2: how checkouts time out …");
    let none = search(&memory, &found(&memory, "zebra"), &tight);
    insta::assert_snapshot!(none.text, @"Nothing matches. Try fewer or other words, or memory_load to see what there is.");
}

#[test]
fn a_hit_without_query_words_is_marked_and_not_counted_as_left_out() {
    let mut memory = Memory::default();
    let texts = ["first", "E0502 again", "last", "a", "b", "c", "d", "e", "f"];
    let notes = texts.map(|text| Ok(note(text))).into();
    let plan = plan_notes(&memory, &origin("one", 1), notes).unwrap();
    apply(&mut memory, plan);
    let recalled = found_by(&memory, "E0502", &Tuning::default());
    let answer = search(&memory, &recalled, &view("E0502"));
    insta::assert_snapshot!(answer.text, @r"
    n2: E0502 again
    n1: first [stored beside n2]
    n3: last [stored beside n2]
    n4: a [stored beside n2]
    ");
    let least = search(&memory, &recalled, &SearchView { limit: 1, ..view("E0502") });
    assert_eq!((least.text.as_str(), least.left_out, least.next), ("n2: E0502 again\n", 0, None));
}

#[test]
fn a_dropped_constraint_is_named() {
    let memory = filled();
    let query = "\"pool redis\"";
    let recalled = found_by(&memory, query, &Tuning::default());
    let answer = search(&memory, &recalled, &SearchView { limit: 1, ..view(query) });
    insta::assert_snapshot!(answer.text, @r#"
    nothing fits the quotes or minus; searched plain words
    n3 (#redis): Redis needs no pool
    truncated: true; 3 left out: n1, b4, n2; go on with {"cursor":"1-r2"} added to this call
    "#);
}

#[test]
fn a_users_note_is_found_among_project_notes_and_marked() {
    let project = filled();
    let personal =
        crate::testing::personal(["Never make a pool larger", "answers in German"].map(note));
    let both = Memories { first: &project, personal: Some(&personal) };
    let search = |query| {
        let recalled = found(&project, query).with_personal(found(&personal, query));
        search(both, &recalled, &view(query))
    };
    // The user's note has more of the words than any record of the project.
    let answer = search("a larger pool");
    insta::assert_snapshot!(answer.text.lines().next().unwrap(), @"u1 (the user's): Never make a pool larger");
    assert_eq!(answer.shown.len(), 5, "{}", answer.text);
    // The user's note has as many words, but the project's best hit scores higher.
    let answer = search("pool");
    assert!(answer.shown.first().is_some_and(|id| !id.is_personal()), "{}", answer.text);
    assert!(answer.text.contains("u1 (the user's): Never make"), "{}", answer.text);
    let answer = search("german");
    insta::assert_snapshot!(answer.text, @"u2 (the user's): answers in German");
}

#[test]
fn a_person_is_shown_commands() {
    let typed = ["search", "pool", "--limit=1"].map(str::to_owned).into();
    let (memory, audience) = (filled(), &Audience::Person(crate::Shell { typed }));
    let said = |query| {
        let view = SearchView { limit: 1, audience, ..view(query) };
        search(&memory, &found(&memory, query), &view).text
    };
    insta::assert_snapshot!(said("pool").lines().last().unwrap(), @"truncated: true; 3 left out: n1, b4, n3; go on with `anchord search pool --limit=1 --cursor 1-r2`");
    insta::assert_snapshot!(said("xylophone"), @"Nothing matches. Try fewer or other words, or `anchord list` to see what there is.");
}
