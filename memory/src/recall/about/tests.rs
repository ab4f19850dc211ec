//! A prompt that memory has an answer to, and those that it has none to.

use std::collections::BTreeSet;

use super::{About, about, clauses};
use crate::testing::{apply, day, lesson, lessons, note, origin, save};
use crate::{Memory, NewNote, Reader, RecordId, SessionId, plan_notes};

fn memory() -> Memory {
    let mut memory = Memory::default();
    let lessons = lessons([
        lesson("The websocket proxy drops idle connections", "Send a ping every 30 s."),
        lesson("Never migrate the invoices table in one transaction", "It locks for minutes."),
        lesson("Fonts must be embedded", ""),
        lesson("The staging server has no swap", ""),
    ]);
    save(&mut memory, &origin("one", 1), lessons);
    memory
}

fn asked(memory: &Memory, prompt: &str, shown: &[RecordId]) -> Vec<String> {
    let reader = Reader::session(SessionId::new("me"));
    let shown: BTreeSet<RecordId> = shown.iter().copied().collect();
    let of = About { reader: &reader, prompt, shown: &shown, now: day(60), limit: 3 };
    about(memory, &of).iter().map(RecordId::to_string).collect()
}

#[test]
fn a_clause_that_a_record_is_about_brings_it_whatever_stands_around_it() {
    let memory = memory();
    assert_eq!(asked(&memory, "why does the websocket drop idle connections?", &[]), ["l1"]);
    let wordy = "Thanks, that works now! Next: migrate the invoices table.\nThen tell me how long it took and what \
                 you would do another time.";
    assert_eq!(asked(&memory, wordy, &[]), ["l2"]);
    assert_eq!(asked(&memory, wordy, &["l2".parse().unwrap()]), [""; 0], "shown before");
}

#[test]
fn what_is_not_about_anything_here_brings_nothing() {
    for prompt in ["yes go on", "run the tests again", "", "add a table to the start page", "?!"] {
        assert_eq!(asked(&memory(), prompt, &[]), [""; 0], "{prompt}");
    }
}

#[test]
fn what_is_private_expired_or_made_by_rule_is_not_told() {
    let mut memory = memory();
    let text = "tokens of the billing gateway rotate every hour";
    let secret = NewNote { private: true, ..note(text) };
    let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(secret)]).unwrap();
    apply(&mut memory, plan);
    let old = NewNote { expires: Some(day(3)), ..note(text) };
    let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(old)]).unwrap();
    apply(&mut memory, plan);
    assert_eq!(asked(&memory, text, &[]), [""; 0]);
}

#[test]
fn clauses_end_with_a_sign_and_a_space() {
    let of = |prompt| clauses(prompt).collect::<Vec<_>>();
    assert_eq!(
        of("ok. look at src/main.rs:10 in v1.2 please; then stop there!\nand that is all"),
        ["look at src/main.rs:10 in v1.2 please;", "then stop there!", "and that is all"]
    );
}
