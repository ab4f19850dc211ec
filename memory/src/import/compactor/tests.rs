//! The compactor's file, whole and damaged, and the way back.

use std::sync::Arc;

use super::*;
use crate::export::compactor_state;
use crate::testing::{apply, day, note, origin};
use crate::{Change, ItemIds, Kind, Reader, Record, RecordState, plan_notes};

const STATE: &str = r#"{
  "version": 1,
  "items": [
    {"id": "a1b2c3d4e5f60718", "content": "We decided that the port is 4000.", "summary": "port 4000",
     "tags": ["decision", "Port"], "importance": 9, "pinned": true, "created_at": "2026-11-02T12:00:00.5Z",
     "accessed_at": "2026-11-03T12:00:00Z", "access_count": 4, "tokens": 9, "content_type": "decision"},
    {"id": "0000000000000001", "content": "cargo build fails\nerror: no such file", "importance": 42},
    {"content": "  "},
    "no object"
  ]
}"#;

fn parse_compactor(state: &str) -> Result<Compactor, ImportError> {
    super::parse_compactor(&[NamedText::new("state.json", state)])
}

fn imported(memory: &mut Memory, state: &str, digest: &str) -> ImportOutcome {
    let source = parse_compactor(state).unwrap();
    let plan = plan_import_compactor(memory, &source, digest, &origin("importer", 20));
    apply(memory, plan)
}

fn items(memory: &Memory) -> Vec<&Record> {
    memory.active_of(Kind::Note).map(|record| &**record).collect()
}

#[test]
fn items_become_shared_notes() {
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, STATE, "d1");
    assert_eq!((outcome.added.notes, outcome.merged), (2, 0));
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    items[2]: content is empty; left out
    items[3]: is not an object; left out
    ");
    let [port, build] = items(&memory)[..] else { panic!("two items") };
    assert!(Reader::anyone().sees(port) && port.pinned);
    assert_eq!(port.created.time, crate::Timestamp(day(2).0 + 500), "when it was made there");
    assert_eq!(port.tags, ["decision", "port"]);
    assert_eq!(port.note().unwrap().summary, "port 4000");
    assert_eq!((build.note().unwrap().importance, build.created.time), (10, day(20)));
}

#[test]
fn a_file_with_nothing_to_import_leaves_no_trace() {
    let source = parse_compactor(r#"{"version": 1, "items": [{"content": " "}]}"#).unwrap();
    let plan = plan_import_compactor(&Memory::default(), &source, "d1", &origin("importer", 20));
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    assert_eq!(plan.outcome.notes, ["items[0]: content is empty; left out"]);
}

#[test]
fn the_same_file_again_changes_nothing_and_newer_notes_here_stay() {
    let mut memory = Memory::default();
    imported(&mut memory, STATE, "d1");
    let before = memory.clone();
    let again = imported(&mut memory, STATE, "d1");
    assert_eq!((again.before, again.merged), (Some(2), 2));
    assert_eq!(items(&memory), items(&before));

    let mut memory = Memory::default();
    let here = note("We decided that the port is 4000.");
    let plan = plan_notes(&memory, &origin("one", 9), vec![Ok(here)]).unwrap();
    apply(&mut memory, plan);
    let outcome = imported(&mut memory, STATE, "d1");
    assert_eq!((outcome.added.notes, outcome.merged), (1, 1));
    assert!(!items(&memory)[0].pinned);
}

/// A later file of the same compactor, with one more item.
#[test]
fn only_new_items_are_imported_from_a_later_file() {
    let mut memory = Memory::default();
    imported(&mut memory, STATE, "d1");
    let archived: Vec<_> = memory
        .active_of(Kind::Note)
        .map(|record| Record { state: RecordState::Archived, ..Record::clone(record) })
        .map(|record| Change::Put(Arc::new(record)))
        .collect();
    apply(&mut memory, Plan { changes: archived, outcome: () });
    let plan = |memory: &Memory, state: &str| {
        let source = parse_compactor(state).unwrap();
        plan_import_compactor(memory, &source, "d2", &origin("importer", 21))
    };
    let same = plan(&memory, STATE);
    assert!(same.changes.is_empty(), "{:?}", same.changes);
    let one_more = STATE.replace(r#""no object""#, r#"{"content": "one more"}"#);
    let later = plan(&memory, &one_more);
    let outcome = apply(&mut memory, later);
    assert_eq!((outcome.added.notes, outcome.merged), (1, 2));
    let [new] = items(&memory)[..] else { panic!("the others are archived") };
    assert_eq!(new.note().unwrap().content, "one more");
}

#[test]
fn a_compactor_export_imports_unchanged() {
    let mut memory = Memory::default();
    imported(&mut memory, STATE, "d1");
    let state = compactor_state(&memory, ItemIds::unsalted(), day(1), |_| true);
    insta::assert_snapshot!(serde_json::to_string_pretty(&state["items"][0]).unwrap(), @r#"
    {
      "access_count": 0,
      "accessed_at": "2026-11-02T12:00:00.500Z",
      "content": "We decided that the port is 4000.",
      "content_type": 4,
      "created_at": "2026-11-02T12:00:00.500Z",
      "id": "5692161d100b05e5",
      "importance": 9,
      "pinned": true,
      "summary": "port 4000",
      "tags": [
        "decision",
        "port"
      ],
      "tokens": 10
    }
    "#);
    assert_eq!(state["version"], 1);
    let mut back = Memory::default();
    imported(&mut back, &state.to_string(), "d2");
    let told = |memory: &Memory| -> Vec<_> {
        let told = |record: &&Record| {
            (record.created.time, record.tags.clone(), record.pinned, record.body.clone())
        };
        items(memory).iter().map(told).collect()
    };
    assert_eq!(told(&back), told(&memory));
}

/// The form has neither keys nor sessions.
#[test]
fn an_export_that_comes_back_adds_no_note() {
    let mut memory = Memory::default();
    let fact = |content: &str| NewNote { key: Some("db.port".to_owned()), ..note(content) };
    let own = NewNote { private: true, ..note("only mine") };
    let first = vec![Ok(fact("The port is 5432.")), Ok(note("shared")), Ok(own)];
    let plan = plan_notes(&memory, &origin("one", 2), first).unwrap();
    apply(&mut memory, plan);
    let is_fact = |record: &&Arc<Record>| record.note().is_some_and(|note| note.key.is_some());
    let old = Arc::clone(memory.records().find(is_fact).unwrap());
    let state = compactor_state(&memory, ItemIds::unsalted(), day(9), |_| true).to_string();
    let mut source = parse_compactor(&state).unwrap();
    assert_eq!(source.items.len(), 3);
    let planned = |memory: &Memory, source: &Compactor| {
        plan_import_compactor(memory, source, "d1", &origin("importer", 20))
    };
    let same = planned(&memory, &source);
    assert_eq!((same.changes.len(), same.outcome.merged), (0, 3), "{same:?}");

    let second = plan_notes(&memory, &origin("one", 10), vec![Ok(fact("The port is 6000."))]);
    apply(&mut memory, second.unwrap());
    let wanted: Vec<_> = EarlierTexts::wanted(&memory).into_iter().collect();
    assert_eq!(wanted, [(old.id, old.version)]);
    source.set_earlier(&Arc::new(EarlierTexts::of(&memory, [&*old])));
    let earlier = planned(&memory, &source);
    assert_eq!((earlier.changes.len(), earlier.outcome.merged), (0, 3), "{earlier:?}");
}

#[test]
fn items_keyed_by_id_are_read_and_a_damaged_file_is_refused() {
    let by_id =
        parse_compactor(r#"{"items": {"a": {"content": "by id", "tags": "a, b"}}}"#).unwrap();
    assert_eq!(by_id.items[0].item.tags, ["a", "b"]);
    for (state, why) in [
        ("{", "read state.json: it is not JSON"),
        ("[]", "read state.json: it is not a JSON object"),
        (r#"{"version": 2}"#, "read it: it has version 2; only version 1 is supported"),
    ] {
        assert_eq!(parse_compactor(state).unwrap_err().to_string(), why);
    }
}

#[test]
fn an_item_with_too_many_tags_is_kept_with_the_first_of_them() {
    let tags: Vec<String> = (0..25).map(|n| format!("tag{n}")).collect();
    let state = serde_json::json!({"items": [{"content": "x", "tags": tags}]}).to_string();
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &state, "d1");
    assert_eq!(outcome.notes, ["items[0]: the first 20 tags are kept"]);
    assert_eq!(items(&memory)[0].tags.len(), 20);
}
