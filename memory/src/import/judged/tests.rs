//! Sources that have grown, and what was forgotten or changed here meanwhile.

use serde_json::{Value, json};

use super::*;
use crate::change::Change;
use crate::ids::{Kind, RecordId};
use crate::import::{ImportOutcome, NamedText, source};
use crate::plan::Plan;
use crate::testing::{apply, day, lesson, lessons, note, origin, save};
use crate::{Reader, plan_forget, plan_notes};

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
    let [remark] = &outcome.notes[..] else { panic!("one remark: {:?}", outcome.notes) };
    let begin = "2 records were forgotten here and are left out: Never X (";
    assert!(remark.starts_with(begin) && remark.ends_with(" there), 1 more"), "{remark}");
    assert_eq!((outcome.added.lessons, outcome.sessions, outcome.merged), (1, 1, 0));
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
    let [remark] = &outcome.notes[..] else { panic!("one remark: {:?}", outcome.notes) };
    let begin = "1 lesson is older than what is here and left out: Flush (";
    assert!(remark.starts_with(begin), "{remark}");
    // The row of the first session is here.
    assert_eq!((outcome.added.lessons, outcome.sessions, outcome.merged), (1, 0, 1));
}

/// A note and a row that are equal here count as well.
#[test]
fn each_item_of_an_export_is_counted_once() {
    let mut there = Memory::default();
    save(&mut there, &origin("one", 2), lessons([lesson("Never X", "first")]));
    let add = |there: &mut Memory, text: &str| {
        let plan = plan_notes(there, &origin("one", 3), vec![Ok(note(text))]).unwrap();
        apply(there, plan);
    };
    add(&mut there, "a fact");
    let mut memory = Memory::default();
    let outcome = import(&mut memory, "anchord", &export(&there), 20);
    assert_eq!((outcome.added.lessons, outcome.added.notes, outcome.sessions), (1, 1, 1));
    assert_eq!(outcome.merged, 0);
    add(&mut there, "another");
    let outcome = import(&mut memory, "anchord", &export(&there), 21);
    assert_eq!((outcome.added.notes, outcome.sessions, outcome.merged), (1, 0, 3));
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

/// Returns files of each system that has notes without a key, with a note for each text.
fn notes_of_each(texts: &[&str]) -> Vec<(&'static str, &'static str, String)> {
    let items: Vec<Value> = texts.iter().map(|text| json!({ "content": text })).collect();
    let row = |(text, id): (&&str, u32)| {
        let time = day(2).0;
        json!({"id": id, "type": "discovery", "title": text, "created_at_epoch": time}).to_string()
    };
    let rows: Vec<String> = texts.iter().zip(1..).map(row).collect();
    let sections: String = texts.iter().map(|text| format!("\n## {text}\n\n{text}\n")).collect();
    let mut there = Memory::default();
    for text in texts {
        let plan = plan_notes(&there, &origin("one", 2), vec![Ok(note(text))]).unwrap();
        apply(&mut there, plan);
    }
    let (export_name, exported) = export(&there).remove(0);
    vec![
        ("compactor", "state.json", json!({"version": 1, "items": items}).to_string()),
        ("claude-mem", "observations.jsonl", rows.join("\n")),
        ("snap-memory", "context-a.md", format!("# a\n\n## Current Status\non\n{sections}")),
        ("anchord", export_name, exported),
    ]
}

#[test]
fn a_note_without_a_key_that_was_corrected_does_not_get_its_old_text_beside_it() {
    let (before, grown) = (notes_of_each(&["port 4000"]), notes_of_each(&["port 4000", "more"]));
    for ((name, file, first), (_, _, grown)) in before.into_iter().zip(grown) {
        for forgets in [false, true] {
            let mut memory = Memory::default();
            import(&mut memory, name, &[(file, first.clone())], 20);
            let old = Arc::clone(memory.active_of(Kind::Note).next().unwrap());
            let mut record = Record::clone(&old);
            let Body::Note(note) = &mut record.body else { panic!("no note") };
            note.set_content("port 5000".to_owned());
            record.version = record.version.next();
            record.updated = origin("one", 21);
            let id = record.id;
            let changes = vec![Change::Put(Arc::new(record))];
            apply(&mut memory, Plan { changes, outcome: () });
            if forgets {
                let by = origin("one", 21);
                let plan = plan_forget(&memory, &Reader::anyone(), id, None, &by).unwrap();
                apply(&mut memory, plan);
            }
            let wanted: Vec<_> = EarlierTexts::wanted(&memory).into_iter().collect();
            assert_eq!(wanted, [(id, Version(1))], "{name}");
            let earlier = Arc::new(EarlierTexts::of(&memory, [&*old]));
            let texts = [NamedText::new(file, &grown)];
            let mut steps = (source(name).unwrap().read)(&texts).unwrap();
            steps[0].set_earlier(&earlier);
            let plan = steps[0].plan(&memory, "grown", &origin("importer", 22));
            let outcome = apply(&mut memory, plan);
            assert_eq!(outcome.added.notes, 1, "{name}: {:?}", seen(&memory));
            let notes = memory.active_of(Kind::Note).filter_map(|record| record.note());
            let notes: Vec<&str> = notes.map(|note| note.content.as_str()).collect();
            assert_eq!(notes.contains(&"port 5000"), !forgets, "{name}");
            assert!(!notes.iter().any(|text| text.contains("4000")), "{name}: {notes:?}");
        }
    }
}
