//! Single records.

use proptest::prelude::*;

use super::{currency, headed, item, record, record_page};
use crate::limits::ANSWER_TOKENS_MIN;
use crate::record::RecordState;
use crate::testing::{
    anchor, anchors, apply, blueprint, blueprints, day, mutable, note, origin, save,
};
use crate::{
    Audience, Body, Kind, Memory, NewNote, Note, Reader, Record, Staged, Version, limits,
    plan_forget, plan_notes, tokens,
};

fn memory_with(content: &str) -> Memory {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 2), blueprints([blueprint("Store", content)]));
    memory
}

#[test]
fn a_record_shows_its_text_and_where_it_came_from() {
    let mut memory = memory_with("Journal is the truth.\n\n  indented");
    let id = "b1".parse().unwrap();
    insta::assert_snapshot!(record(memory.record(id).unwrap()), @r"
    b1 [decision] Store
    Journal is the truth.

      indented

    b1 version 1; written 2026-11-02 by claude-code in session one.
    ");
    save(&mut memory, &origin("two", 3), blueprints([mutable("Store", "sled")]));
    let plan = plan_forget(&memory, &Reader::anyone(), id, None, &origin("three", 4)).unwrap();
    apply(&mut memory, plan);
    insta::assert_snapshot!(record(memory.record(id).unwrap()), @r"
    b1 [decision, mutable] Store
    sled

    b1 version 3, forgotten: kept in history alone; written 2026-11-02 by claude-code in session one, changed 2026-11-04 by claude-code in session three.
    ");
}

/// Changes by compaction and repetition do not change the text.
#[test]
fn a_version_is_replaced_only_by_one_with_different_content() {
    let mut memory = Memory::default();
    let new = NewNote { summary: "in short".to_owned(), ..note("at length") };
    save(&mut memory, &origin("one", 2), Staged { notes: vec![new], ..Staged::default() });
    let first = memory.active_of(Kind::Note).next().unwrap().clone();
    let said = |newest: &Record, asked| {
        currency(&memory, &Reader::anyone(), &first, newest, asked, day(9)).unwrap_or_default()
    };
    let with = |change: &dyn Fn(&mut Note)| {
        let mut body = first.note().unwrap().clone();
        change(&mut body);
        Record { version: Version(2), body: Body::Note(body), ..Record::clone(&first) }
    };
    for same in [with(&|note| note.condensed = true), with(&|note| note.repeats += 1)] {
        assert_eq!(said(&same, false), "");
        assert_eq!(said(&same, true), "This version is current.\n");
    }
    let other = with(&|note| note.importance = 9);
    assert!(said(&other, true).starts_with("NOT CURRENT: replaced on 2026-11-02 by version 2: "));
}

/// The relative indentation of a note's lines is part of its content.
#[test]
fn a_note_keeps_the_indentation_of_its_first_line() {
    let shown = |content: &str| {
        let mut memory = Memory::default();
        save(
            &mut memory,
            &origin("one", 2),
            Staged { notes: vec![note(content)], ..Staged::default() },
        );
        let record = memory.active_of(Kind::Note).next().unwrap();
        (item::full(record), item::title(record))
    };
    let (full, title) = shown("\n \n  - name: a\n    x: 1\n  - name: b\n\n");
    insta::assert_snapshot!(full, @r"
    n1:
        - name: a
          x: 1
        - name: b
    ");
    assert_eq!(title, "n1: - name: a …");
    assert_eq!(shown("\n\none\n  two\n").0, "n1: one\n    two");
    assert_eq!(shown("  one line "), ("n1: one line".to_owned(), "n1: one line".to_owned()));
}

#[test]
fn an_invalid_cursor_is_refused() {
    let memory = memory_with("x");
    let refusal = record_page(
        memory.record("b1".parse().unwrap()).unwrap(),
        Some("9999"),
        9_000,
        None,
        &Audience::Agent,
    );
    insta::assert_snapshot!(refusal.unwrap_err(), @"cursor is not a cursor for b1: `9999`; leave it out");
}

/// A page cut back to the last line break would show nothing but the head.
#[test]
fn one_long_line_fills_its_pages() {
    let memory = memory_with(&"word ".repeat(4_000));
    let of = memory.record("b1".parse().unwrap()).unwrap();
    let (mut sizes, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let (page, next) =
            record_page(of, cursor.as_deref(), 9_000, None, &Audience::Agent).unwrap();
        sizes.push(page.chars().count());
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!(sizes[..2].iter().all(|chars| *chars > 8_000), "{sizes:?}");
}

/// Otherwise the second page would show another text once the record has changed.
#[test]
fn later_pages_show_the_same_version() {
    let memory = memory_with(&"line\n".repeat(2_000));
    let of = memory.record("b1".parse().unwrap()).unwrap();
    let (page, _) = record_page(of, None, 4_000, None, &Audience::Agent).unwrap();
    let end = page.lines().last().unwrap();
    insta::assert_snapshot!(end, @r#"Cut at character 3800 of 10085. The rest: memory_get {"id":"b1","version":1,"cursor":"3800"}."#);
}

proptest! {
    #[test]
    fn pages_keep_to_their_budget_and_together_give_the_whole_text(
        lines in prop::collection::vec("[ä🦀 x]{0,90}", 1..200),
        chars_max in limits::ANSWER_CHARS_MIN..4_000,
    ) {
        let memory = memory_with(&format!("x\n{}", lines.join("\n")));
        let of = memory.record("b1".parse().unwrap()).unwrap();
        let (mut whole, mut cursor) = (String::new(), None::<String>);
        loop {
            let (page, next) =
                record_page(of, cursor.as_deref(), chars_max, None, &Audience::Agent).unwrap();
            prop_assert!(page.chars().count() <= chars_max);
            let Some(next) = next else {
                whole.push_str(&page);
                break;
            };
            whole.push_str(page.rsplit_once("\nCut at character").unwrap().0);
            cursor = Some(next);
        }
        prop_assert_eq!(whole, record(of));
    }
}

#[test]
fn pages_of_few_tokens_together_give_the_whole_text() {
    let mut memory = Memory::default();
    for text in
        ["word after word ".repeat(300), "漢字と仮名の文。".repeat(200), "a b\n".repeat(900)]
    {
        save(&mut memory, &origin("one", 1), blueprints([blueprint("long", &text)]));
    }
    for of in memory.active_of(Kind::Blueprint) {
        let (mut cursor, mut whole) = (None::<String>, String::new());
        loop {
            let (page, next) = record_page(
                of,
                cursor.as_deref(),
                9_000,
                Some(ANSWER_TOKENS_MIN),
                &Audience::Agent,
            )
            .unwrap();
            assert!(tokens::count(&page) <= ANSWER_TOKENS_MIN, "{page}");
            let Some(next) = next else {
                whole.push_str(&page);
                break;
            };
            whole.push_str(page.rsplit_once("\nCut at character").unwrap().0);
            cursor = Some(next);
        }
        assert_eq!(whole, record(of));
    }
}

#[test]
fn naming_the_replacement_leaves_room_for_the_text() {
    let reader = Reader::anyone();
    for script in ["ማስታወሻ መዝገብ ", "🟥🟦🟩🫠", "a line of words "] {
        let text = script.repeat(40);
        let key = Some(text.chars().take(limits::KEY_CHARS_MAX).collect());
        let mut memory = Memory::default();
        for content in [format!("{text}1"), format!("{text}2")] {
            let facts = vec![Ok(NewNote { key: key.clone(), ..note(&content) })];
            let plan = plan_notes(&memory, &origin("one", 1), facts).unwrap();
            apply(&mut memory, plan);
        }
        let newest = memory.active_of(Kind::Note).next().unwrap();
        let mut shown = Record::clone(newest);
        let Body::Note(body) = &mut shown.body else { panic!("no note") };
        body.content.push('0');
        let mut forgotten = Record::clone(newest);
        forgotten.state = RecordState::Forgotten;
        for newest in [newest, &forgotten] {
            let said = currency(&memory, &reader, &shown, newest, true, day(9)).unwrap();
            assert!(said.starts_with("NOT CURRENT"), "{said}");
            let left = ANSWER_TOKENS_MIN.saturating_sub(tokens::count(&said));
            let (page, _) = record_page(&shown, None, 9_000, Some(left), &Audience::Agent).unwrap();
            let whole = page + &said;
            let tokens = tokens::count(&whole);
            assert!(tokens <= ANSWER_TOKENS_MIN, "{tokens}: {whole}");
        }
    }
}

/// Stored text that looks like a call is somebody's own.
#[test]
fn a_person_is_shown_the_command_for_the_rest() {
    let stored = "truncated: memory_list\nThe rest: memory_get {\"id\":\"n1\"}.\n".repeat(200);
    let memory = memory_with(&stored);
    let of = memory.record("b1".parse().unwrap()).unwrap();
    let person = Audience::Person(crate::Shell::default());
    let (page, _) = record_page(of, None, 4_000, None, &person).unwrap();
    insta::assert_snapshot!(page.lines().last().unwrap(), @"Cut at character 3782 of 11485. The rest: `anchord get b1 --version 1 --cursor 3782`.");
    let (agents, _) = record_page(of, None, 4_000, None, &Audience::Agent).unwrap();
    let without_last = |page: &str| page.trim_end().rsplit_once('\n').unwrap().0.to_owned();
    assert_eq!(without_last(&page), without_last(&agents));
}

#[test]
fn a_heading_names_the_record_and_the_text_says_the_rest() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    save(&mut memory, &by, blueprints([blueprint("Ports", "None.\nNot even one.")]));
    save(&mut memory, &by, anchors([anchor("src/a.rs", "3-8", "the bound")]));
    let items = vec![
        Ok(note("short")),
        Ok(note("first line\nsecond line")),
        Ok(NewNote { key: Some("build".to_owned()), ..note("make all") }),
    ];
    let plan = plan_notes(&memory, &by, items).unwrap();
    apply(&mut memory, plan);
    let headed = |id: &str| headed(memory.record(id.parse().unwrap()).unwrap());
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(headed("b1"), pair("Ports", "None.\nNot even one."));
    assert_eq!(headed("a3"), pair("src/a.rs the bound", "src/a.rs:3-8"));
    assert_eq!(headed("n4"), pair("short", ""));
    assert_eq!(headed("n5"), pair("first line second line", "first line\nsecond line"));
    assert_eq!(headed("n6"), pair("build: make all", ""));
}
