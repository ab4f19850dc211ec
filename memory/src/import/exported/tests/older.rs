//! Records of an export for which something newer is here: they are named.

use super::*;
use crate::limits::IMPORT_NAMED_MAX;
use crate::plan_notes;
use crate::testing::anchors;

fn put_fact(memory: &mut Memory, on: i64, key: &str, content: &str) {
    let fact = NewNote { key: Some(key.to_owned()), ..note(content) };
    let plan = plan_notes(memory, &origin("one", on), vec![Ok(fact)]).unwrap();
    apply(memory, plan);
}

#[test]
fn an_older_fact_is_named_by_its_key_and_its_id_there() {
    let (mut there, mut here) = (Memory::default(), Memory::default());
    put_fact(&mut there, 1, "port", "7717");
    put_fact(&mut there, 1, "build", "make");
    put_fact(&mut here, 20, "build", "make all");
    let outcome = import(&mut here, &export(&there));
    let expected = "1 note is older than what is here and left out: build (n2 there)";
    assert_eq!((outcome.left_out, outcome.notes), (1, vec![expected.to_owned()]));
}

#[test]
fn of_many_older_facts_the_first_are_named_and_the_rest_is_counted() {
    let (mut there, mut here) = (Memory::default(), Memory::default());
    let all = IMPORT_NAMED_MAX + 2;
    for number in 0..all {
        let key = format!("key-{number}");
        put_fact(&mut there, 1, &key, &format!("old {number}"));
        put_fact(&mut here, 20, &key, &format!("new {number}"));
    }
    let outcome = import(&mut here, &export(&there));
    let [remark] = &outcome.notes[..] else { panic!("one remark: {:?}", outcome.notes) };
    let begin = format!("{all} notes are older than what is here and left out: key-0 (n1 there), ");
    assert!(remark.starts_with(&begin) && remark.ends_with(" there), 2 more"), "{remark}");
}

#[test]
fn an_older_concept_of_a_place_is_named() {
    let (mut there, mut here) = (Memory::default(), Memory::default());
    let place = |concept| anchors([anchor("src/a.rs", "3-9", concept)]);
    save(&mut there, &origin("one", 2), place("the lock"));
    save(&mut here, &origin("two", 20), place("the queue"));
    let outcome = import(&mut here, &export(&there));
    let begin = "1 anchor's concept is older than what is here and left out: src/a.rs the lock (";
    assert!(outcome.notes[0].starts_with(begin), "{:?}", outcome.notes);
    assert_eq!(outcome.left_out, 1);
}
