//! A page of records and the way to the next.

use super::*;
use crate::limits::ANSWER_TOKENS_MIN;
use crate::testing::{apply, day, lesson, lessons, note, origin, save};
use crate::{NewNote, SessionId, plan_notes};

fn view(reader: &Reader) -> ListView<'_> {
    ListView {
        reader,
        kinds: &[],
        tags: &[],
        own: None,
        limit: 20,
        tokens_max: None,
        cursor: None,
        now: day(9),
        audience: &Audience::Agent,
    }
}

fn filled() -> Memory {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), lessons([lesson("Flush does not fsync", "")]));
    let notes = [
        NewNote { key: Some("port".to_owned()), expires: Some(day(5)), ..note("7717") },
        NewNote { tags: vec!["db".to_owned()], pinned: true, ..note("Postgres holds\nthe rows") },
        NewNote { private: true, ..note("for me") },
    ];
    let items = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(&memory, &origin("one", 2), items).unwrap();
    apply(&mut memory, plan);
    memory
}

#[test]
fn the_newest_comes_first_and_expired_notes_are_marked() {
    let memory = filled();
    let one = Reader::session(SessionId::new("one"));
    insta::assert_snapshot!(list(&memory, &view(&one)).unwrap().text, @r"
    5 of 5, newest first
    n5 (one session's own): for me
    n4 (#db, pinned): Postgres holds …
    n3 port (expires 2026-11-05): 7717 [EXPIRED]
    s2 2026-11-01 claude-code: worked
    l1 Flush does not fsync
    ");
    let anyone = Reader::anyone();
    assert_eq!(list(&memory, &view(&anyone)).unwrap().shown.len(), 4);
    let tags = ["db".to_owned()];
    let tagged = ListView { tags: &tags, kinds: &[Kind::Note], ..view(&anyone) };
    assert_eq!(list(&memory, &tagged).unwrap().shown, ["n4".parse().unwrap()]);
}

#[test]
fn each_page_continues_where_the_last_one_ended() {
    let memory = filled();
    let one = Reader::session(SessionId::new("one"));
    let first = list(&memory, &ListView { limit: 2, ..view(&one) }).unwrap();
    insta::assert_snapshot!(first.text.lines().last().unwrap(), @r#"truncated: true; 3 left out: n3, s2, l1; go on with {"cursor":"4"} added to this call"#);
    let rest = ListView { cursor: first.next.as_deref(), ..view(&one) };
    let rest = list(&memory, &rest).unwrap();
    assert_eq!((rest.shown.len(), rest.next), (3, None));
    let none = ListView { cursor: Some("1"), ..view(&one) };
    insta::assert_snapshot!(list(&memory, &none).unwrap().text, @"Nothing more.");
    let empty = Memory::default();
    assert_eq!(list(&empty, &view(&one)).unwrap().text, "Nothing is recorded yet.\n");
    // A memory of which all was forgotten was not empty.
    let mut emptied = filled();
    let ids: Vec<RecordId> = emptied.active().map(|record| record.id).collect();
    for id in ids {
        let forgotten =
            Record { state: RecordState::Forgotten, ..Record::clone(emptied.record(id).unwrap()) };
        emptied.put(forgotten.into());
    }
    let text = list(&emptied, &view(&Reader::anyone())).unwrap().text;
    assert_eq!(text, "No record is active; what was forgotten is in history.\n");
    let lessons = ListView { kinds: &[Kind::Lesson], ..view(&one) };
    assert_eq!(list(&empty, &lessons).unwrap().text, "Nothing matches.\n");
    let wrong = ListView { cursor: Some("x"), ..view(&one) };
    insta::assert_snapshot!(list(&memory, &wrong).unwrap_err(), @"cursor `x` is not a cursor of a list; list without one");
}

#[test]
fn a_page_keeps_to_its_tokens_and_names_the_records_left_out() {
    let mut memory = Memory::default();
    let scripts = ["漢字と仮名の長い題名", "🟥🟦🟩🫠🟪⬛🪝🟫", "ማስታወሻ መዝገብ"];
    let texts =
        (0..60).map(|n| Ok(note(&format!("{n} {}", scripts[n % scripts.len()].repeat(20)))));
    let plan = plan_notes(&memory, &origin("one", 1), texts.collect()).unwrap();
    apply(&mut memory, plan);
    let reader = Reader::anyone();
    for tokens_max in [ANSWER_TOKENS_MIN, 400, 2_000] {
        let (mut cursor, mut shown) = (None::<String>, Vec::new());
        loop {
            let of = ListView { tokens_max: Some(tokens_max), ..view(&reader) };
            let page = list(&memory, &ListView { cursor: cursor.as_deref(), ..of }).unwrap();
            assert!(tokens::count(&page.text) <= tokens_max, "{}", page.text);
            assert!(!page.shown.is_empty(), "{}", page.text);
            shown.extend(page.shown);
            let Some(next) = page.next else { break };
            let left =
                format!("truncated: true; {} left out: n{}, ", 60 - shown.len(), 60 - shown.len());
            assert!(60 - shown.len() == 1 || page.text.contains(&left), "{left}: {}", page.text);
            cursor = Some(next);
        }
        assert_eq!(shown.len(), 60);
    }
}

#[test]
fn the_users_notes_are_sorted_in_by_time_and_pages_skip_none() {
    let project = filled();
    let personal = crate::testing::personal(["answers in German", "port 7718"].map(note));
    let both = Memories { first: &project, personal: Some(&personal) };
    let one = Reader::session(SessionId::new("one"));
    insta::assert_snapshot!(list(both, &view(&one)).unwrap().text, @r"
    7 of 7, newest first
    n5 (one session's own): for me
    n4 (#db, pinned): Postgres holds …
    n3 port (expires 2026-11-05): 7717 [EXPIRED]
    u2 (the user's): port 7718
    s2 2026-11-01 claude-code: worked
    l1 Flush does not fsync
    u1 (the user's): answers in German
    ");
    for limit in 1..8 {
        let (mut shown, mut cursor) = (Vec::new(), None);
        loop {
            let page = ListView { limit, cursor: cursor.as_deref(), ..view(&one) };
            let page = list(both, &page).unwrap();
            shown.extend(page.shown.iter().map(ToString::to_string));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(shown, ["n5", "n4", "n3", "u2", "s2", "l1", "u1"], "{limit} a page");
    }
    let shared = ListView { own: Some(false), ..view(&one) };
    assert_eq!(list(&project, &shared).unwrap().shown.len(), 4);
    let own = ListView { own: Some(true), ..view(&one) };
    assert_eq!(list(&project, &own).unwrap().shown, ["n5".parse().unwrap()]);
    for wrong in ["x", "ux", "3u4u5"] {
        assert!(list(both, &ListView { cursor: Some(wrong), ..view(&one) }).is_err(), "{wrong}");
    }
}

#[test]
fn a_long_line_is_cut_once() {
    let long = "The tide gauge drifts. ".repeat(20);
    let mut memory = Memory::default();
    let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(note(&long))]);
    apply(&mut memory, plan.unwrap());
    let title = item::title(memory.records().next().unwrap());
    assert!(title.ends_with(" …") && title.matches('…').count() == 1, "{title}");
}

#[test]
fn a_person_is_shown_the_command_for_the_rest() {
    let typed = ["list", "--limit=1", "--project", "/a"].map(str::to_owned).into();
    let (memory, anyone) = (filled(), Reader::anyone());
    let audience = &Audience::Person(crate::Shell { typed });
    let page = list(&memory, &ListView { limit: 1, audience, ..view(&anyone) }).unwrap();
    insta::assert_snapshot!(page.text.lines().last().unwrap(), @"truncated: true; 3 left out: n3, s2, l1; go on with `anchord list --limit=1 --project /a --cursor 4`");
}
