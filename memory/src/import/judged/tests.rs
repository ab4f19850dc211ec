//! Sources that have grown, and what was forgotten or changed here meanwhile.

use serde_json::{Value, json};

use super::*;
use crate::change::Change;
use crate::ids::{Kind, RecordId};
use crate::import::{ImportOutcome, NamedText, source};
use crate::plan::Plan;
use crate::testing::{apply, lesson, lessons, origin, save};
use crate::{Reader, plan_forget};

fn import(memory: &mut Memory, name: &str, texts: &[(&str, String)], on: i64) -> ImportOutcome {
    let texts: Vec<NamedText> =
        texts.iter().map(|(name, text)| NamedText::new(*name, text)).collect();
    let steps = (source(name).unwrap().read)(&texts).unwrap();
    let [step] = steps.as_slice() else { panic!("one step") };
    let plan = step.plan(memory, &format!("d{on}"), &origin("importer", on));
    apply(memory, plan)
}

fn forget_all(memory: &mut Memory, on: i64) {
    let ids: Vec<RecordId> = memory.active().map(|record| record.id).collect();
    for id in ids {
        let plan = plan_forget(memory, &Reader::anyone(), id, None, &origin("one", on)).unwrap();
        apply(memory, plan);
    }
}

/// Changes the first lesson as a person would.
fn correct(memory: &mut Memory, on: i64) {
    let mut record = Record::clone(memory.active_of(Kind::Lesson).next().unwrap());
    let Body::Lesson(before) = &record.body else { panic!("{record:?}") };
    record.body = Body::Lesson(lesson(&before.summary, "corrected"));
    record.version = record.version.next();
    record.updated = origin("one", on);
    apply(memory, Plan { changes: vec![Change::Put(Arc::new(record))], outcome: () });
}

/// Returns the first text of each active record, sorted.
fn seen(memory: &Memory) -> Vec<String> {
    let first = |record: &Arc<Record>| record.body.own_texts()[0].to_owned();
    let mut seen: Vec<String> = memory.active().map(first).collect();
    seen.sort();
    seen
}

fn details(memory: &Memory) -> Vec<String> {
    let detail = |record: &Arc<Record>| match &record.body {
        Body::Lesson(lesson) => lesson.detail.clone(),
        body => panic!("{body:?}"),
    };
    memory.active_of(Kind::Lesson).map(detail).collect()
}

fn graph(entities: &[(&str, &[&str])]) -> Vec<(&'static str, String)> {
    let line = |(name, observed): &(&str, &[&str])| {
        json!({"type": "entity", "name": name, "observations": observed}).to_string() + "\n"
    };
    vec![("memory.jsonl", entities.iter().map(line).collect())]
}

fn zipmem(lessons: &Value) -> Vec<(&'static str, String)> {
    let state = json!({
        "version": 1,
        "blueprints": [{"category": "decision", "title": "Port", "content": "7717"}],
        "anchors": [{
            "file_path": "a.rs", "line_range": "1-5", "concept": "x",
            "timestamp": "2026-11-02T12:00:00Z",
        }],
        "lessons": lessons,
        "session_log": [
            {"session_id": "z1", "ended_at": "2026-11-02T12:00:00Z", "summary": "began"},
        ],
    });
    vec![("state.json", state.to_string())]
}

fn export(memory: &Memory) -> Vec<(&'static str, String)> {
    let records: Vec<&Record> = memory.records().map(|record| &**record).collect();
    vec![("export.json", json!({"format": 1, "revision": 1, "records": records}).to_string())]
}

#[test]
fn what_was_forgotten_does_not_come_back_when_its_source_grows() {
    let flush =
        json!({"summary": "Flush", "detail": "no sync", "timestamp": "2026-11-02T12:00:00Z"});
    let notes = |names: &[&'static str]| -> Vec<(&'static str, String)> {
        names.iter().map(|name| (*name, format!("about {name}"))).collect()
    };
    for (name, first, grown, new) in [
        ("server-memory", graph(&[("a", &["x"])]), graph(&[("a", &["x"]), ("c", &[])]), "c"),
        ("markdown", notes(&["a.md"]), notes(&["a.md", "c.md"]), "about c.md"),
        ("zipmem", zipmem(&json!([flush])), zipmem(&json!([flush, {"summary": "new"}])), "new"),
    ] {
        let mut memory = Memory::default();
        import(&mut memory, name, &first, 20);
        assert!(!seen(&memory).is_empty(), "{name}");
        forget_all(&mut memory, 21);
        let outcome = import(&mut memory, name, &grown, 22);
        assert_eq!((seen(&memory), outcome.notes), (vec![new.to_owned()], Vec::new()), "{name}");
    }
}

#[test]
fn an_export_brings_back_what_changed_there_after_it_was_forgotten_here() {
    let mut there = Memory::default();
    save(&mut there, &origin("one", 2), lessons([lesson("Never X", "first")]));
    let mut memory = Memory::default();
    import(&mut memory, "anchord", &export(&there), 20);
    forget_all(&mut memory, 21);
    save(&mut there, &origin("two", 3), lessons([lesson("Name it", "")]));
    let outcome = import(&mut memory, "anchord", &export(&there), 22);
    assert_eq!(seen(&memory), ["Name it", "worked"]);
    assert_eq!(outcome.notes, ["2 records were forgotten here and are left out"]);
    save(&mut there, &origin("two", 25), lessons([lesson("Never X", "second")]));
    import(&mut memory, "anchord", &export(&there), 26);
    assert!(seen(&memory).contains(&"Never X".to_owned()), "{:?}", seen(&memory));
}

#[test]
fn a_forgotten_item_that_has_another_text_and_no_time_is_named() {
    let mut memory = Memory::default();
    import(&mut memory, "server-memory", &graph(&[("a", &["x"])]), 20);
    forget_all(&mut memory, 21);
    let outcome = import(&mut memory, "server-memory", &graph(&[("a", &["x", "y"])]), 22);
    assert_eq!(seen(&memory), Vec::<String>::new());
    assert_eq!(outcome.notes, ["a was forgotten here and stays so"]);
}

#[test]
fn a_lesson_that_was_corrected_here_does_not_get_its_old_text_again() {
    for time in [json!("2026-11-02T12:00:00Z"), Value::Null] {
        let flush = json!({"summary": "Flush", "detail": "old", "timestamp": time});
        let mut memory = Memory::default();
        import(&mut memory, "zipmem", &zipmem(&json!([flush])), 20);
        correct(&mut memory, 21);
        let grown = zipmem(&json!([flush, {"summary": "new", "detail": "more"}]));
        let outcome = import(&mut memory, "zipmem", &grown, 22);
        assert_eq!(details(&memory), ["corrected", "more"]);
        assert_eq!(outcome.notes, ["Flush was changed here and stays as it is"]);
    }

    let mut there = Memory::default();
    save(&mut there, &origin("one", 2), lessons([lesson("Flush", "old")]));
    let mut memory = Memory::default();
    import(&mut memory, "anchord", &export(&there), 20);
    correct(&mut memory, 21);
    save(&mut there, &origin("one", 3), lessons([lesson("new", "more")]));
    let outcome = import(&mut memory, "anchord", &export(&there), 22);
    assert_eq!(details(&memory), ["corrected", "more"]);
    assert_eq!(outcome.notes, ["1 lesson is older than what is here and left out"]);
}

/// Memory has only the beginning of a long text that was forgotten.
#[test]
fn long_notes_that_begin_alike_are_told_apart() {
    let long = |word: &str| format!("The same first line\n{}", word.repeat(100).trim_end());
    let state = |contents: &[String]| {
        let items: Vec<Value> = contents.iter().map(|text| json!({"content": text})).collect();
        vec![("state.json", json!({"version": 1, "items": items}).to_string())]
    };
    let (one, two) = (long("one "), long("one two "));
    let mut memory = Memory::default();
    import(&mut memory, "compactor", &state(std::slice::from_ref(&one)), 20);
    forget_all(&mut memory, 21);
    import(&mut memory, "compactor", &state(&[one, two.clone()]), 22);
    assert_eq!(seen(&memory), [two]);
}
