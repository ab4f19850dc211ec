//! The forms that users of the compactor know, to the letter.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::testing::{apply, day, note, origin};
use crate::{
    Accesses, Change, NewNote, Plan, Provenance, RetentionParts, SessionId, Settings, Update,
    plan_forget, plan_notes, plan_update,
};

const IDS: ItemIds = ItemIds::unsalted();

fn at(now: Timestamp) -> Shown {
    Shown { ids: IDS, now }
}

fn own(content: &str) -> NewNote {
    NewNote { private: true, ..note(content) }
}

fn stored(memory: &mut Memory, session: &str, on: i64, notes: Vec<NewNote>) -> NotesOutcome {
    let plan = plan_notes(memory, &origin(session, on), notes.into_iter().map(Ok).collect());
    apply(memory, plan.unwrap())
}

fn budget(tokens: u32) -> Budget {
    Settings { budget_tokens: Some(tokens), ..Settings::default() }.session_budget(None)
}

fn one() -> Reader {
    Reader::session(SessionId::new("one"))
}

fn some() -> Memory {
    let mut memory = Memory::default();
    let long = "word ".repeat(60);
    let notes = vec![
        NewNote {
            summary: "Cache warms at start".to_owned(),
            tags: vec!["cache".to_owned(), "startup".to_owned()],
            importance: Some(8),
            pinned: true,
            ..own("The cache is warmed at start, since\nthe first request timed out.")
        },
        own(&long),
    ];
    stored(&mut memory, "one", 2, notes);
    stored(&mut memory, "one", 3, vec![NewNote { importance: Some(2), ..own("short") }]);
    memory
}

fn recalled(memory: &Memory, tokens: u32, limit: usize) -> String {
    let reader = one();
    let none = Accesses::default();
    let score = |record: &Record| RetentionParts::of(record, &none, day(3), 24).score();
    let mut records = ranked(memory, &reader, score);
    records.truncate(limit);
    recall(&Usage::of(memory, &reader, budget(tokens)), &records, at(day(3)))
}

/// An item that its session inherited may have expired.
#[test]
fn an_expired_item_that_needs_a_summary_is_marked() {
    let mut memory = Memory::default();
    let ended = NewNote { expires: Some(day(4)), ..note("the pool has 20") };
    stored(&mut memory, "one", 2, vec![ended]);
    let wants_summary = vec!["n1".parse().unwrap()];
    let outcome = CompactionOutcome { wants_summary, ..CompactionOutcome::default() };
    let line = |now| compact(&memory, &outcome, at(now)).lines().last().unwrap().to_owned();
    assert!(!line(day(3)).contains("EXPIRED"), "{}", line(day(3)));
    assert!(line(day(9)).ends_with(" tokens EXPIRED: \"the pool has 20\""), "{}", line(day(9)));
}

#[test]
fn a_recall_begins_with_the_budget_and_has_summaries_or_previews() {
    insta::assert_snapshot!(recalled(&some(), 1_000, 20), @r"
    Budget: 77/1000 tokens (7.7%), 3 items stored

    Top 3 items by relevance:

    [1e535eede31428f0] importance:2 tokens:1
    ---
    short

    [5692161d100b05e5] importance:8 tokens:15 PINNED
    Tags: cache, startup
    ---
    Cache warms at start

    [dbd238973a2b148a] importance:5 tokens:61
    ---
    word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word...
    ");
}

#[test]
fn a_recall_says_when_the_budget_is_tight() {
    insta::assert_snapshot!(recalled(&some(), 90, 1), @r"
    Budget: 77/90 tokens (85.6%), 3 items stored

    Top 1 items by relevance (budget tight, showing summaries where available):

    [1e535eede31428f0] importance:2 tokens:1
    ---
    short
    ");
}

#[test]
fn an_empty_recall_says_what_to_do() {
    insta::assert_snapshot!(recalled(&Memory::default(), 1_000, 20), @r"
    Budget: 0/1000 tokens (0.0%), 0 items stored

    Nothing is stored yet. Use `store` to save what you will want to have again.
    ");
}

#[test]
fn a_query_shows_whole_texts_until_the_budget_is_tight() {
    let memory = some();
    let reader = one();
    let records = items(&memory, &reader);
    let asked =
        |tokens| query(&Usage::of(&memory, &reader, budget(tokens)), &records[..1], at(day(3)));
    insta::assert_snapshot!(asked(1_000), @r"
    Found 1 items:

    [5692161d100b05e5] importance:8 tokens:15 PINNED
    Tags: cache, startup
    ---
    The cache is warmed at start, since
    the first request timed out.
    ");
    insta::assert_snapshot!(asked(80), @r"
    Found 1 items (budget tight, showing summaries where available):

    [5692161d100b05e5] importance:8 tokens:15 PINNED
    Tags: cache, startup
    ---
    Cache warms at start
    ");
    insta::assert_snapshot!(query(&Usage::of(&memory, &reader, budget(80)), &[], at(day(3))), @"No matching items found.");
}

#[test]
fn a_list_is_one_page_newest_first() {
    let memory = some();
    let reader = one();
    let items = items(&memory, &reader);
    insta::assert_snapshot!(list(&items, 0, 2, at(day(3))), @r"
    Items 1-2 of 3:

    [1e535eede31428f0] importance:2 tokens:1
    short

    [dbd238973a2b148a] importance:5 tokens:61
    word word word word word word word word word word word word word word word word...
    ");
    insta::assert_snapshot!(list(&items, 3, 2, at(day(3))), @"No items (total: 3).");
    insta::assert_snapshot!(list(&[], 0, 2, at(day(3))), @"No items (total: 0).");
}

#[test]
fn an_export_is_complete_and_oldest_first() {
    let memory = some();
    let reader = one();
    let items = items(&memory, &reader);
    insta::assert_snapshot!(export(&[items[0], items[2]], false, at(day(3))), @r"
    Exported 2 items:

    [5692161d100b05e5] importance:8 tokens:15 PINNED
    Tags: cache, startup
    ---
    The cache is warmed at start, since
    the first request timed out.

    [1e535eede31428f0] importance:2 tokens:1
    ---
    short
    ");
    insta::assert_snapshot!(export(&[items[0], items[2]], true, at(day(3))), @r"
    Exported 2 items (summaries where available):

    [5692161d100b05e5] importance:8 tokens:4 PINNED
    Tags: cache, startup
    ---
    Cache warms at start

    [1e535eede31428f0] importance:2 tokens:1
    ---
    short
    ");
}

#[test]
fn status_and_configuration_show_their_numbers() {
    let memory = some();
    let usage = Usage::of(&memory, &one(), budget(1_000));
    insta::assert_snapshot!(status(&usage), @r"
    Budget: 77/1000 tokens (7.7%)
    Items: 3
    Auto-compact: true (threshold: 90%)
    ");
    insta::assert_snapshot!(configure(&usage), @r"
    Configuration updated.
    Budget: 77/1000 tokens (7.7%), 3 items
    Auto-compact: true (threshold: 90%)
    ");
}

#[test]
fn writes_are_answered_with_the_budget() {
    let mut memory = some();
    let outcome = stored(&mut memory, "one", 4, vec![own("more")]);
    let usage = Usage::of(&memory, &one(), budget(1_000));
    insta::assert_snapshot!(store(&outcome, &usage, IDS), @r"
    Stored [b7a4712c74562914] (1 tokens)
    Budget: 78/1000 tokens (8%), 4 items
    ");
    let items = vec![Ok(own("much more")), Ok(own(" ")), Ok(own("even more"))];
    let plan = plan_notes(&memory, &origin("one", 4), items).unwrap();
    let outcome = apply(&mut memory, plan);
    let usage = Usage::of(&memory, &one(), budget(1_000));
    insta::assert_snapshot!(bulk_store(&outcome, &usage, IDS), @r"
    Stored [b6bf613dbebb45dc] (2 tokens)
    FAILED item 2: content is empty
    Stored [d17707977078336c] (2 tokens)

    Stored: 2, Failed: 1
    Budget: 82/1000 tokens (8%), 6 items
    ");
    let forgotten = IDS.parse(&IDS.show(outcome.stored[0].id)).unwrap();
    let plan = plan_forget(&memory, &one(), forgotten, None, &origin("one", 4)).unwrap();
    apply(&mut memory, plan);
    let usage = Usage::of(&memory, &one(), budget(1_000));
    insta::assert_snapshot!(forget(&IDS.show(forgotten), &usage), @"Removed [b6bf613dbebb45dc]. Budget: 80 tokens (8%), 5 items");
    insta::assert_snapshot!(update("e220a8397b1dcdaf") + &pin("a") + &unpin("b"), @r"
    Updated summary for [e220a8397b1dcdaf]
    Pinned [a]
    Unpinned [b]
    ");
}

#[test]
fn shared_notes_are_items_without_cost() {
    let mut memory = some();
    let before = Usage::of(&memory, &one(), budget(1_000));
    stored(&mut memory, "two", 4, vec![note("for everyone"), own("for two alone")]);
    let after = Usage::of(&memory, &one(), budget(1_000));
    assert_eq!((after.used, after.items), (before.used, before.items + 1));
}

#[test]
fn an_archived_or_expired_item_is_marked() {
    let mut memory = Memory::default();
    let shared = NewNote { expires: Some(day(3)), ..note("the port is 4000") };
    let outcome = stored(&mut memory, "one", 2, vec![shared]);
    let mut record = Record::clone(memory.record(outcome.stored[0].id).unwrap());
    record.state = RecordState::Archived;
    let changes = vec![Change::Put(Arc::new(record.clone()))];
    apply(&mut memory, Plan { changes, outcome: () });
    assert_eq!(items(&memory, &one()).len(), 0, "out of sight until it is used");
    let usage = Usage::of(&memory, &one(), budget(1_000));
    insta::assert_snapshot!(query(&usage, &[&record], at(day(3))), @r"
    Found 1 items:

    [5692161d100b05e5] importance:5 tokens:6 ARCHIVED EXPIRED
    ---
    the port is 4000
    ");
}

#[test]
fn a_client_sees_items_of_its_own_ended_sessions() {
    let mut memory = Memory::default();
    for session in ["ended", "live", "one"] {
        stored(&mut memory, session, 2, vec![own(session)]);
    }
    let by = Provenance { client: "codex".into(), ..origin("other", 2) };
    let plan = plan_notes(&memory, &by, vec![Ok(own("another client's"))]).unwrap();
    apply(&mut memory, plan);
    let live = BTreeSet::from([SessionId::new("live"), SessionId::new("one")]);
    let reader = memory.successor(SessionId::new("one"), |client| client == "claude-code", &live);
    let seen: Vec<&str> =
        items(&memory, &reader).iter().map(|record| &*record.note().unwrap().content).collect();
    assert_eq!(seen, ["ended", "one"]);
    let left = items(&memory, &reader)[0].id;
    let pinned = Update { pinned: Some(true), ..Update::default() };
    plan_update(&memory, &reader, left, &pinned, None, &origin("one", 3)).unwrap();
}

#[test]
fn ids_have_sixteen_digits_and_short_ids_are_accepted_too() {
    let first = RecordId::new(Kind::Note, 1);
    assert_eq!(IDS.show(first), "5692161d100b05e5");
    assert_eq!(IDS.parse("[5692161D100B05E5] "), Some(first));
    assert_eq!(IDS.parse("n1"), Some(first));
    for wrong in ["", "b1", "5692161d100b05e", "5692161d100b05e5a", "+692161d100b05e5"] {
        assert_eq!(IDS.parse(wrong), None, "{wrong}");
    }
}

#[test]
fn an_item_shown_by_its_summary_prints_the_summarys_tokens() {
    let mut memory = some();
    let mut record = Record::clone(memory.record("n1".parse().unwrap()).unwrap());
    let crate::Body::Note(note) = &mut record.body else { panic!() };
    note.condensed = true;
    apply(&mut memory, Plan { changes: vec![Change::Put(Arc::new(record))], outcome: () });
    let reader = one();
    let promoted = items(&memory, &reader)[0];
    let usage = Usage::of(&memory, &reader, budget(1_000));
    insta::assert_snapshot!(query(&usage, &[promoted], at(day(3))), @r"
    Found 1 items:

    [5692161d100b05e5] importance:8 tokens:4 PINNED
    Tags: cache, startup
    ---
    Cache warms at start
    ");
    let whole = export(&[promoted], false, at(day(3)));
    assert!(whole.contains("tokens:15 PINNED") && whole.contains("the first request"), "{whole}");
}

#[test]
fn a_recall_of_no_items_says_how_many_there_are() {
    insta::assert_snapshot!(recalled(&some(), 1_000, 0), @r"
    Budget: 77/1000 tokens (7.7%), 3 items stored

    Top 0 items by relevance:
    ");
}

proptest! {
    #[test]
    fn a_shown_id_parses_back_to_its_record_in_its_own_memory(number: u64, memory: String) {
        let record = RecordId::new(Kind::Note, number);
        for ids in [IDS, ItemIds::of(&memory)] {
            prop_assert_eq!(ids.show(record).len(), 16);
            prop_assert_eq!(ids.parse(&ids.show(record)), Some(record));
        }
        let (one, other) = (ItemIds::of("one"), ItemIds::of("other"));
        prop_assert_ne!(one.show(record), other.show(record));
    }
}
