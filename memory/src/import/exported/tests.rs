//! A project's export in a fresh one, and in one that has something.

use serde_json::json;

use super::*;
use crate::testing::{apply, blueprint, blueprints, day, lesson, note, origin, save};
use crate::{Kind, plan_bind};

fn export(memory: &Memory) -> String {
    let bindings: BTreeMap<&str, &str> =
        memory.bindings().map(|(key, bound)| (key, bound.topic.as_str())).collect();
    let records: Vec<&Record> = memory.records().map(|record| &**record).collect();
    json!({"format": 1, "revision": 1, "records": records, "bindings": bindings}).to_string()
}

fn import(memory: &mut Memory, document: &str) -> ImportOutcome {
    assert!(is_export(document));
    let source = parse_export(document).unwrap();
    let plan = plan_import_export(memory, &source, "digest", &origin("import", 50));
    apply(memory, plan)
}

fn some_memory() -> Memory {
    let mut memory = Memory::default();
    let topic = TopicPart {
        name: Some("Cache".to_owned()),
        status: Some("half way".to_owned()),
        ..TopicPart::default()
    };
    let mut part = blueprints([blueprint("Store", "One writer.")]);
    part.lessons = vec![lesson("Sync the folder", "too")];
    part.notes = vec![NewNote { key: Some("build".to_owned()), pinned: true, ..note("make") }];
    part.topics = vec![topic];
    save(&mut memory, &origin("one", 2), part);
    let bind = plan_bind(&memory, "claude:5f1c", Some("cache")).unwrap();
    apply(&mut memory, bind);
    memory
}

#[test]
fn a_fresh_project_has_what_the_other_one_had() {
    let source = some_memory();
    let mut memory = Memory::default();
    let outcome = import(&mut memory, &export(&source));
    assert_eq!(
        (outcome.added.to_string(), outcome.sessions),
        ("1 blueprint, 1 lesson, 1 note, 1 topic".to_owned(), 1)
    );
    assert_eq!(outcome.notes, ["1 conversation has its topic again"]);
    let told = |memory: &Memory| -> Vec<_> {
        let record = |record: &std::sync::Arc<Record>| {
            (record.body.clone(), record.updated.clone(), record.pinned, record.tags.clone())
        };
        memory.records().map(record).collect()
    };
    assert_eq!(told(&memory), told(&source));
    assert_eq!(memory.bound("claude:5f1c"), Some("Cache"), "the same thread has the same topic");
    let again = import(&mut memory, &export(&source));
    assert!(again.before.is_some());
    assert_eq!(memory.records().count(), 5);
}

#[test]
fn what_is_newer_here_stays() {
    let source = some_memory();
    let mut memory = Memory::default();
    let mut part = Staged::default();
    part.topics.push(TopicPart {
        name: Some("cache".to_owned()),
        status: Some("done".to_owned()),
        ..TopicPart::default()
    });
    part.notes = vec![NewNote { key: Some("build".to_owned()), ..note("make all") }];
    save(&mut memory, &origin("two", 20), part);
    let bind = plan_bind(&memory, "claude:5f1c", Some("main")).unwrap();
    apply(&mut memory, bind);
    let outcome = import(&mut memory, &export(&source));
    assert_eq!(outcome.notes, ["1 note is older than what is here and left out"]);
    let topic = memory.topic("cache").unwrap().topic().unwrap().clone();
    assert_eq!(topic.status, "done");
    assert!(topic.history.iter().any(|line| line.text == "half way"));
    assert_eq!(memory.bound("claude:5f1c"), Some("main"));
    let notes: Vec<_> = memory.active_of(Kind::Note).filter_map(|record| record.note()).collect();
    assert_eq!(notes.iter().map(|note| note.content.as_str()).collect::<Vec<_>>(), ["make all"]);
}

#[test]
fn what_makes_no_sense_is_left_out_and_named() {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    document["records"].as_array_mut().unwrap().push(json!({"id": "b9"}));
    document["bindings"] = json!({"claude:a": "no: name", "claude:b": 7, "claude:c": "new"});
    let mut memory = Memory::default();
    let outcome = import(&mut memory, &document.to_string());
    assert!(outcome.notes[0].starts_with("records[5]: missing field"), "{:?}", outcome.notes);
    assert_eq!(
        outcome.notes[1..],
        [
            "1 conversation's topic has no room or no name here and is left out",
            "1 conversation has its topic again"
        ]
    );
    let bound: Vec<_> = memory.bindings().map(|(key, bound)| (key, bound.topic.as_str())).collect();
    assert_eq!(bound, [("claude:c", "new")]);
    assert!(matches!(parse_export(r#"{"format": 2}"#), Err(ImportError::Version(2))));
    assert!(!is_export("{}") && !is_export("[]"));
    assert_eq!(memory.topic("cache").unwrap().updated.time, day(2));
}

#[test]
fn what_was_forgotten_there_is_left_out_and_counted() {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    for record in document["records"].as_array_mut().unwrap().iter_mut().take(2) {
        record["standing"] = json!("forgotten");
    }
    let outcome = import(&mut Memory::default(), &document.to_string());
    assert_eq!(outcome.added.to_string(), "1 note, 1 topic");
    assert_eq!(outcome.notes[0], "2 records that were forgotten there are left out");
}

#[test]
fn a_row_that_stands_for_several_sessions_is_left_out_and_counted() {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    let rows = document["records"].as_array_mut().unwrap().iter_mut();
    let row = rows.into_iter().find(|record| record["id"].as_str().unwrap().starts_with('s'));
    let body = row.unwrap()["body"].as_object_mut().unwrap();
    body.values_mut().next().unwrap()["folded"] = json!(3);
    let mut memory = Memory::default();
    let outcome = import(&mut memory, &document.to_string());
    assert_eq!(outcome.sessions, 0);
    let said = "1 row that stands for several sessions is left out";
    assert!(outcome.notes.iter().any(|note| note == said), "{:?}", outcome.notes);
}

/// The history keeps its last lines alone, so the status may stand in none of them.
#[test]
fn the_line_of_a_status_that_is_in_no_history_has_the_time_of_its_writing() {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    for record in document["records"].as_array_mut().unwrap() {
        if let Some(topic) = record["body"].get_mut("topic") {
            topic["history"] = json!([{"time": day(1), "text": "began", "client": "codex"}]);
        }
    }
    let mut memory = Memory::default();
    import(&mut memory, &document.to_string());
    let topic = memory.topic("cache").unwrap().topic().unwrap();
    let told: Vec<_> =
        topic.history.iter().map(|line| (line.time, &*line.text, &*line.client)).collect();
    assert_eq!(told, [(day(1), "began", "codex"), (day(2), "half way", "claude-code")]);
}
