//! A page of records and the way to the next.

use super::*;
use crate::testing::{apply, day, lesson, lessons, note, origin, save};
use crate::{NewNote, SessionId, plan_notes};

fn view(reader: &Reader) -> ListView<'_> {
    ListView { reader, kinds: &[], tags: &[], limit: 20, cursor: None, now: day(9) }
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
fn the_newest_comes_first_and_what_expired_is_marked() {
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
fn pages_go_on_where_the_last_one_ended() {
    let memory = filled();
    let one = Reader::session(SessionId::new("one"));
    let first = list(&memory, &ListView { limit: 2, ..view(&one) }).unwrap();
    insta::assert_snapshot!(first.text.lines().last().unwrap(), @r#"truncated: 3 more; go on with {"cursor":"4"}"#);
    let rest = ListView { cursor: first.next.as_deref(), ..view(&one) };
    let rest = list(&memory, &rest).unwrap();
    assert_eq!((rest.shown.len(), rest.next), (3, None));
    let none = ListView { cursor: Some("1"), ..view(&one) };
    insta::assert_snapshot!(list(&memory, &none).unwrap().text, @"Nothing more.");
    let empty = Memory::default();
    assert_eq!(list(&empty, &view(&one)).unwrap().text, "Nothing is recorded yet.\n");
    let lessons = ListView { kinds: &[Kind::Lesson], ..view(&one) };
    assert_eq!(list(&empty, &lessons).unwrap().text, "Nothing matches.\n");
    let wrong = ListView { cursor: Some("x"), ..view(&one) };
    insta::assert_snapshot!(list(&memory, &wrong).unwrap_err(), @"cursor `x` is none of a list; list without it");
}
