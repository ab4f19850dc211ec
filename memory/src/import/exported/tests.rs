//! A project's export in a fresh project, and in one that has content.

mod fixes;
mod members;
mod older;
mod purged;
mod room;
mod rules;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::limits::TAGS_MAX;
use crate::testing::{
    anchor, any_steps, apply, blueprint, blueprints, checkpoint, day, lesson, lessons, note,
    origin, save, take,
};
use crate::{
    HistoryLine, Kind, Lesson, NoticeCause, Plan, Purge, TopicDecision, plan_bind, plan_keep,
};
use crate::{NewNote, TopicPart};

fn export(memory: &Memory) -> String {
    let bindings: BTreeMap<&str, &str> =
        memory.bindings().map(|(key, bound)| (key, bound.topic.as_str())).collect();
    let records: Vec<&Record> = memory.records().map(|record| &**record).collect();
    json!({"format": 1, "revision": 1, "records": records, "bindings": bindings}).to_string()
}

fn parse_export(document: &str) -> Result<Exported, ImportError> {
    super::parse_export(&[NamedText::new("export.json", document)])
}

fn planned(memory: &Memory, document: &str, digest: &str) -> Plan<ImportOutcome> {
    let source = parse_export(document).unwrap();
    plan_import_export(memory, &source, digest, &origin("import", 50))
}

fn import(memory: &mut Memory, document: &str) -> ImportOutcome {
    let plan = planned(memory, document, "digest");
    apply(memory, plan)
}

/// Writes records as a change leaves them.
fn changed_by(memory: &mut Memory, change: impl Fn(&mut Record)) {
    let put = |record: &Arc<Record>| {
        let mut record = Record::clone(record);
        change(&mut record);
        record.version = record.version.next();
        Change::Put(Arc::new(record))
    };
    let changes: Vec<Change> = memory.records().map(put).collect();
    apply(memory, Plan { changes, outcome: () });
}

fn archive_all(memory: &mut Memory) {
    changed_by(memory, |record| record.state = RecordState::Archived);
}

fn some_memory() -> Memory {
    let mut memory = Memory::default();
    let topic = TopicPart {
        name: Some("Cache".to_owned()),
        status: Some("half way".to_owned()),
        overview: Some("A cache.".to_owned()),
        architecture: Some("One writer.\nMany readers.".to_owned()),
        decisions: vec![TopicDecision::statement("LRU it is.")],
        history: vec![HistoryLine::written("Wrote the eviction.".to_owned())],
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
fn an_import_into_a_fresh_project_copies_the_memory() {
    let source = some_memory();
    let mut memory = Memory::default();
    let outcome = import(&mut memory, &export(&source));
    assert_eq!(
        (outcome.added.to_string(), outcome.sessions),
        ("1 blueprint, 1 lesson, 1 note, 1 topic".to_owned(), 1)
    );
    assert_eq!(outcome.notes, ["1 conversation has its topic again"]);
    let told = |memory: &Memory| -> Vec<_> {
        let record = |record: &Arc<Record>| {
            (record.body.clone(), record.updated.clone(), record.pinned, record.tags.clone())
        };
        memory.records().map(record).collect()
    };
    assert_eq!(told(&memory), told(&source));
    assert_eq!(memory.bound("claude:5f1c"), Some("Cache"), "the same thread has the same topic");
    let again = import(&mut memory, &export(&source));
    assert!(again.before.is_some());
    assert_eq!((memory.records().count(), again.merged), (5, 5));
}

#[test]
fn newer_records_here_stay() {
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
    import(&mut memory, &export(&source));
    let topic = memory.topic("cache").unwrap().topic().unwrap().clone();
    assert_eq!(topic.status, "done");
    assert!(topic.history.iter().any(|line| line.text == "half way"));
    assert_eq!(memory.bound("claude:5f1c"), Some("main"));
    let notes: Vec<_> = memory.active_of(Kind::Note).filter_map(|record| record.note()).collect();
    assert_eq!(notes.iter().map(|note| note.content.as_str()).collect::<Vec<_>>(), ["make all"]);
}

/// A later export of a source that was imported before.
#[test]
fn known_records_are_not_rewritten_and_archived_ones_stay_archived() {
    let mut source = some_memory();
    let mut part = blueprints([blueprint("Wire", "Numbered lines.")]);
    part.anchors = vec![anchor("src/a.rs", "3-9", "the lock")];
    part.notes = vec![note("told often"), NewNote { summary: "long".to_owned(), ..note("short") }];
    save(&mut source, &origin("one", 3), part);
    for on in [4, 5] {
        let again = Staged { notes: vec![note("told often")], ..Staged::default() };
        save(&mut source, &origin("one", on), again);
    }
    let mut memory = Memory::default();
    import(&mut memory, &export(&source));
    archive_all(&mut memory);
    changed_by(&mut memory, |record| {
        if let Body::Note(note) = &mut record.body {
            note.condensed = !note.summary.is_empty();
        }
    });
    for document in [export(&memory), export(&source)] {
        let plan = planned(&memory, &document, "again");
        assert!(plan.changes.is_empty(), "{:?}", plan.changes);
        assert_eq!(plan.outcome.notes, [""; 0]);
    }

    let mut part = lessons([lesson("Sync the folder", "too"), lesson("Name the limit", "")]);
    part.blueprints = vec![blueprint("Wire", "Numbered lines.")];
    part.notes = vec![note("told often")];
    save(&mut source, &origin("one", 6), part);
    let plan = planned(&memory, &export(&source), "later");
    let written: Vec<&str> = plan
        .changes
        .iter()
        .filter_map(|change| match &change.record()?.body {
            Body::Lesson(lesson) => Some(lesson.summary.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(written, ["Name the limit"]);
}

/// The source gives the number of repeats. Repeats that came from it are not counted again.
#[test]
fn a_note_imported_again_takes_the_repeat_count_of_the_source() {
    let mut source = Memory::default();
    let told = |memory: &mut Memory, on, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let notes = vec![NewNote { tags, ..note("make") }];
        save(memory, &origin("one", on), Staged { notes, ..Staged::default() });
    };
    told(&mut source, 2, &[]);
    told(&mut source, 3, &[]);
    let mut memory = Memory::default();
    import(&mut memory, &export(&source));
    told(&mut source, 4, &["build"]);
    let plan = planned(&memory, &export(&source), "later");
    apply(&mut memory, plan);
    let record = memory.active_of(Kind::Note).next().unwrap();
    assert_eq!((record.note().unwrap().repeats, &record.tags[0][..]), (2, "build"));
}

/// The earlier content of the topic is here, or was decided again.
#[test]
fn an_earlier_export_does_not_revert_a_topic() {
    let mut memory = Memory::default();
    let decided = |question: &str, decided: Option<&str>| TopicDecision {
        question: question.to_owned(),
        decided: decided.map(str::to_owned),
        time: Timestamp::default(),
    };
    let told = |memory: &mut Memory, on, status: &str, decisions, files: &[&str]| {
        let topic = TopicPart {
            status: Some(status.to_owned()),
            decisions,
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            ..TopicPart::default()
        };
        save(memory, &origin("one", on), Staged { topics: vec![topic], ..Staged::default() });
    };
    let first = vec![decided("Port?", Some("4000")), decided("LRU?", None)];
    told(&mut memory, 2, "begun", first, &["a.rs", "b.rs"]);
    let earlier = export(&memory);
    let then = vec![decided("Port?", Some("5000")), decided("LRU?", Some("no"))];
    told(&mut memory, 3, "done", then, &["a.rs"]);
    let plan = planned(&memory, &earlier, "earlier");
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);

    // Later decisions there arrive here.
    let mut other = Memory::default();
    import(&mut other, &earlier);
    let plan = planned(&other, &export(&memory), "later");
    apply(&mut other, plan);
    let decisions = |memory: &Memory| -> Vec<Option<String>> {
        let topic = memory.topic("main").unwrap().topic().unwrap();
        topic.decisions.iter().map(|decision| decision.decided.clone()).collect()
    };
    assert_eq!(decisions(&other), decisions(&memory));
    assert_eq!(other.topic("main").unwrap().topic().unwrap().status, "done");
}

#[test]
fn invalid_records_are_left_out_and_reported() {
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
    assert_eq!(memory.topic("cache").unwrap().updated.time, day(2));
}

#[test]
fn forgotten_records_are_left_out_and_counted() {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    for record in document["records"].as_array_mut().unwrap().iter_mut().take(2) {
        record["standing"] = json!("forgotten");
    }
    let outcome = import(&mut Memory::default(), &document.to_string());
    assert_eq!(outcome.added.to_string(), "1 note, 1 topic");
    assert_eq!(outcome.notes[0], "2 records that were forgotten there are left out");
}

#[test]
fn a_row_folded_from_several_sessions_is_left_out_and_counted() {
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

/// The history keeps only its last lines, so the status may be missing from it.
#[test]
fn a_status_missing_from_the_history_is_added_with_its_own_time() {
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

fn changed(change: impl Fn(&str, &mut Value)) -> String {
    let mut document: Value = serde_json::from_str(&export(&some_memory())).unwrap();
    for record in document["records"].as_array_mut().unwrap() {
        let id = record["id"].as_str().unwrap().to_owned();
        change(&id, record);
    }
    document.to_string()
}

/// Tags of every kind of record are checked like those of a write.
#[test]
fn imported_tags_are_normalised_and_checked_like_written_ones() {
    let tagged = |tags: Value| {
        changed(|_, record| {
            let object = record.as_object_mut().unwrap();
            object.insert("tags".to_owned(), tags.clone());
        })
    };
    let mut memory = Memory::default();
    import(&mut memory, &tagged(json!(["#Sea", "SEA", " two  words "])));
    for record in memory.records() {
        assert_eq!(record.tags, ["sea", "two words"], "{}", record.id);
    }
    let many: Vec<String> = (0..=TAGS_MAX).map(|n| format!("t{n}")).collect();
    for (tags, why) in [(json!(many), "has 21 tags"), (json!(["x".repeat(61)]), "61 characters")] {
        let mut memory = Memory::default();
        let outcome = import(&mut memory, &tagged(tags));
        assert_eq!(memory.records().count(), 0);
        let named = outcome.notes.iter().filter(|note| note.contains(why)).count();
        assert_eq!(named, 5, "{:?}", outcome.notes);
    }
}

/// Recorded activity is bounded there, but an export may hold anything.
#[test]
fn imported_session_activity_is_limited() {
    let long = "word ".repeat(1_000);
    let files: Vec<String> = (0..40).map(|n| format!("./src/{n}.rs")).collect();
    let noted = json!({
        "key": long, "first": 5, "last": 9, "prompt": long, "prompts": u32::MAX, "files": files,
        "failed": (0..60).map(|n| json!({"command": format!("make {n}"), "fixed": true})).collect::<Vec<_>>(),
        "passed": (0..600).collect::<Vec<u64>>(), "worked": [&long, "ls\u{0}"], "said": long,
    });
    let document = changed(|id, record| {
        if id.starts_with('s') {
            let row = &mut record["body"]["session_row"];
            row["captured"] = noted.clone();
            row["ended"] = json!(day(99));
        }
    });
    let mut memory = Memory::default();
    import(&mut memory, &document);
    let rows: Vec<_> = memory.active_of(Kind::SessionRow).collect();
    let Body::SessionRow(row) = &rows[0].body else { panic!() };
    let kept = row.captured.as_deref().unwrap();
    assert_eq!((kept.files().len(), kept.fixed().count(), kept.worked().len()), (30, 50, 2));
    assert_eq!(kept.files()[29], "src/39.rs");
    assert!(kept.texts().all(|text| text.chars().count() <= 1_000) && kept.key().len() <= 202);
    assert_eq!(serde_json::to_value(kept).unwrap()["passed"].as_array().unwrap().len(), 500);
    assert_eq!(row.ended, day(2), "not after it was written");
    // In its stored form it stays unchanged.
    let mut again = Memory::default();
    import(&mut again, &export(&memory));
    let bodies = |memory: &Memory| memory.records().map(|it| it.body.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&again), bodies(&memory));
}

/// Returns the entries of the only row, the newest first.
fn entries(memory: &Memory) -> Vec<String> {
    match &memory.active_of(Kind::SessionRow).next().unwrap().body {
        Body::SessionRow(row) => row.summaries().map(str::to_owned).collect(),
        body => panic!("{body:?}"),
    }
}

#[test]
fn a_row_is_imported_with_its_trail_except_purged_text() {
    let mut source = Memory::default();
    for (summary, on) in [("The parser accepts tabs.", 1), ("Spaces, too.", 2), ("Done.", 3)] {
        let by = origin("one", on);
        let save =
            crate::Save { started: by.time, session_summary: summary, ..crate::Save::default() };
        let plan = crate::plan_save(&source, &by, save).unwrap();
        apply(&mut source, plan);
    }
    let document = export(&source);
    let mut whole = Memory::default();
    import(&mut whole, &document);
    assert_eq!(entries(&whole), ["Done.", "Spaces, too.", "The parser accepts tabs."]);
    assert_eq!(entries(&whole), entries(&source));

    let mut memory = Memory::default();
    let tabs = Staged { summary: Some("The parser accepts tabs.".to_owned()), ..Staged::default() };
    checkpoint(&mut memory, &origin("two", 1), tabs);
    let kept =
        plan_keep(&memory, &SessionId::new("two"), &origin("two", 2), NoticeCause::Ended, false);
    apply(&mut memory, kept.unwrap());
    let changes: Vec<Change> = memory.records().map(|it| Change::Put(it.clone())).collect();
    let ids = memory.records().map(|record| record.id).collect();
    let mut purge = Purge::new(ids, None, "salt".to_owned(), day(3));
    purge.learn(&changes);
    purge.ready().unwrap();
    let mut memory = Memory::default();
    apply(&mut memory, Plan { changes: vec![purge.tombstones()], outcome: () });
    import(&mut memory, &document);
    let gone = "An entry was purged here and is not taken in again.";
    assert_eq!(entries(&memory), ["Done.", "Spaces, too.", gone]);
}

#[test]
fn imported_session_activity_has_no_purged_text() {
    let secret = "the words that nobody may read";
    let by = origin("s", 1);
    let mut memory = Memory::default();
    save(&mut memory, &by, Staged { notes: vec![note(secret)], ..Staged::default() });
    let whole = export(&memory);
    let mut purge = Purge::new(["n1".parse().unwrap()].into(), None, "salt".into(), day(3));
    let changes: Vec<_> = memory.records().cloned().map(Change::Put).collect();
    purge.learn(&changes);
    let tombstones = Plan { changes: vec![purge.tombstones()], outcome: () };
    let noted = json!({"key": "codex:1", "first": 5, "last": 9, "prompts": 1, "prompt": secret, "said": "Done"});
    let document = changed(|id, record| {
        if id.starts_with('s') {
            let row = &mut record["body"]["session_row"];
            row["captured"] = noted.clone();
            row["summary"] = json!(format!("Asked: {secret}\nSaid last: Done"));
        }
    });
    let mut memory = Memory::default();
    apply(&mut memory, tombstones);
    let notes = import(&mut memory.clone(), &whole).notes;
    assert_eq!(notes, ["n1 was purged on 2026-11-03 and is not taken in again"]);
    import(&mut memory, &document);
    let rows: Vec<_> = memory.active_of(Kind::SessionRow).collect();
    assert!(!serde_json::to_string(&rows).unwrap().contains(secret), "{rows:?}");
    let Body::SessionRow(row) = &rows[0].body else { panic!() };
    assert_eq!(row.summary, "Said last: Done");
}

#[test]
fn a_repeat_count_at_its_maximum_does_not_overflow() {
    let document = changed(|id, record| {
        if id.starts_with('n') {
            let note = record["body"]["note"].as_object_mut().unwrap();
            note.remove("key");
            note.insert("repeats".to_owned(), json!(u32::MAX));
        }
    });
    let mut memory = Memory::default();
    import(&mut memory, &document);
    for on in [60, 61] {
        let staged = Staged { notes: vec![note("make"), note("make")], ..Staged::default() };
        save(&mut memory, &origin("later", on), staged);
    }
    let told = memory.active_of(Kind::Note).next().unwrap().note().unwrap().repeats;
    assert_eq!(told, u32::MAX);
}

/// Each version of the lesson is within the limits of a write, and all of them together are not.
#[test]
fn a_record_merged_from_several_writes_is_imported_whole() {
    let telling = |n: usize| Lesson {
        files: (0..60).map(|file| format!("{n}/{file}.rs")).collect(),
        ..lesson("The same lesson", &format!("telling {n}\n{}", "x".repeat(150 * 1024)))
    };
    let mut source = Memory::default();
    for n in 1..=3 {
        save(&mut source, &origin("one", 2), lessons([telling(n)]));
    }
    // Staged in several parts, and new.
    for n in 1..=3 {
        let lesson = Lesson { summary: "Another one".to_owned(), ..telling(n) };
        checkpoint(&mut source, &origin("two", 3), lessons([lesson]));
    }
    save(&mut source, &origin("two", 3), Staged::default());
    for n in 1..=2 {
        let summary = Some(format!("part {n}\n{}", "y".repeat(200 * 1024)));
        checkpoint(&mut source, &origin("two", 3), Staged { summary, ..Staged::default() });
        let by = origin("two", 4);
        let plan = plan_keep(&source, &by.session, &by, NoticeCause::Ended, false).unwrap();
        apply(&mut source, plan);
    }
    for record in source.active_of(Kind::Lesson) {
        let Body::Lesson(lesson) = &record.body else { panic!() };
        assert!(lesson.detail.starts_with("telling 1") && lesson.detail.contains("telling 3"));
        assert_eq!((lesson.files.len(), lesson.files[179].as_str()), (180, "3/59.rs"));
    }
    let mut memory = Memory::default();
    let outcome = import(&mut memory, &export(&source));
    assert_eq!((outcome.added.lessons, outcome.sessions, outcome.notes), (2, 2, vec![]));
    let bodies = |memory: &Memory| memory.records().map(|it| it.body.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&memory), bodies(&source));
    // A lesson that merged before there were limits.
    let mut document: Value = serde_json::from_str(&export(&source)).unwrap();
    for record in document["records"].as_array_mut().unwrap() {
        if let Some(lesson) = record["body"].get_mut("lesson") {
            lesson["detail"] = json!("z".repeat(600 * 1024));
            lesson["files"] = json!((0..150).map(|n| format!("{n}.rs")).collect::<Vec<_>>());
        } else {
            record["body"]["session_row"]["summary"] = json!("z".repeat(600 * 1024));
        }
    }
    let outcome = import(&mut Memory::default(), &document.to_string());
    assert_eq!((outcome.added.lessons, outcome.sessions, outcome.notes), (2, 2, vec![]));
}

/// The parts of a record besides its body's own text.
#[derive(Clone, Debug)]
struct Marks {
    tags: Vec<&'static str>,
    pinned: bool,
    archived: bool,
    importance: u8,
    expires: Option<i64>,
    summary: &'static str,
}

fn any_marks() -> impl Strategy<Value = Marks> {
    let tags = prop::sample::subsequence(vec!["auth", "db", "two words"], 0..=3);
    let expires = prop::option::of(3_i64..90);
    let summary = prop::sample::select(vec!["", "in short", "wörter 🦀"]);
    (tags, 0..4_u8, 1..=10_u8, expires, summary).prop_map(
        |(tags, stands, importance, expires, summary)| Marks {
            tags,
            pinned: stands == 0,
            archived: stands == 1,
            importance,
            expires,
            summary,
        },
    )
}

/// Returns a record without what differs between projects: ids, and the numbers of rows.
fn told(record: &Record) -> Value {
    let mut body = serde_json::to_value(&record.body).unwrap();
    if let Some(row) = body.get_mut("session_row") {
        row["number"] = json!(0);
    }
    json!([body, record.updated, record.pinned, record.state, record.tags])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_export_imports_unchanged(
        steps in any_steps(), marks in prop::collection::vec(any_marks(), 1..9),
    ) {
        let (source, _) = take(&steps);
        let mut records: Vec<Record> = source.records().map(|it| Record::clone(it)).collect();
        for (record, marks) in records.iter_mut().zip(marks.iter().cycle()) {
            if record.state == RecordState::Forgotten || record.owner().is_some() {
                continue;
            }
            record.tags = marks.tags.iter().map(|tag| (*tag).to_owned()).collect();
            record.pinned = marks.pinned;
            record.state = if marks.archived { RecordState::Archived } else { RecordState::Active };
            if let Body::Note(note) = &mut record.body {
                note.importance = marks.importance;
                note.expires = marks.expires.map(day);
                marks.summary.clone_into(&mut note.summary);
                note.summary_tokens = crate::tokens::count(marks.summary);
            }
        }
        let document = json!({"format": 1, "revision": 1, "records": records}).to_string();
        let mut memory = Memory::default();
        import(&mut memory, &document);
        let expected: Vec<Value> = records
            .iter()
            .filter(|record| record.state != RecordState::Forgotten && record.owner().is_none())
            .map(told)
            .collect();
        let came: Vec<Value> = memory.records().map(|record| told(record)).collect();
        prop_assert_eq!(came, expected);
        let again = planned(&memory, &document, "again");
        prop_assert_eq!(again.changes, []);
    }
}

#[test]
fn user_notes_and_project_records_are_not_imported_into_each_other() {
    let personal = crate::testing::personal([
        NewNote { key: Some("editor".to_owned()), importance: Some(8), ..note("helix") },
        note("answers in German"),
    ]);
    let mut project = Memory::default();
    save(&mut project, &origin("one", 1), blueprints([blueprint("Store", "sled")]));
    let records: Vec<&Record> =
        personal.records().chain(project.records()).map(|record| &**record).collect();
    let mixed = json!({"format": 1, "records": records}).to_string();
    let plan = |source: Exported| {
        plan_import_export(&Memory::default(), &source, "digest", &origin("import", 50))
    };

    let mut taken = Memory::default();
    let outcome = apply(&mut taken, plan(parse_export(&mixed).unwrap().for_project()));
    assert_eq!(taken.totals().active.notes, 0);
    assert_eq!(taken.totals().active.blueprints, 1);
    insta::assert_snapshot!(outcome.notes.join("\n"), @"2 notes of the user's own are left out; `anchord import --user` takes in those alone");

    let mut taken = Memory::default();
    let outcome = apply(&mut taken, plan(parse_export(&mixed).unwrap().for_user()));
    let ids: Vec<String> = taken.records().map(|record| record.id.to_string()).collect();
    assert_eq!(ids, ["u1", "u2"]);
    let editor = crate::find_fact(&taken, &crate::Reader::anyone(), "editor").unwrap();
    assert_eq!(editor.note().unwrap().importance, 8);
    insta::assert_snapshot!(outcome.notes.join("\n"), @"2 records of a project are left out");
}
