//! Rows as claude-mem writes them, whole, damaged and grown.

use super::*;
use crate::import::{SOURCES, source};
use crate::record::Body;
use crate::testing::{apply, blueprints, day, mutable, origin, save};
use crate::{Reader, plan_forget};

const DAY: i64 = Timestamp::DAY_MILLIS;

fn observation(id: u32, on: i64, kind: &str, title: &str, more: &Value) -> String {
    let mut row = serde_json::json!({
        "id": id, "memory_session_id": "m-1", "project": "parser", "type": kind, "title": title,
        "created_at": "2026-11-01T00:00:00.000Z", "created_at_epoch": day(on).0,
    });
    let more = more.as_object().cloned().unwrap_or_default();
    row.as_object_mut().unwrap().extend(more);
    row.to_string()
}

fn rows() -> Vec<String> {
    vec![
        observation(
            1,
            2,
            "decision",
            "Use sled",
            &serde_json::json!({
                "narrative": "It is embedded.", "facts": "[\"no server\",\"one file\"]",
                "files_modified": "[\"src/store.rs\"]",
            }),
        ),
        observation(
            2,
            3,
            "bugfix",
            "Flush did not sync",
            &serde_json::json!({
                "narrative": "fsync was missing.", "files_read": "[\"src/store.rs\"]",
                "files_modified": "/src/parser/src/sync.rs",
            }),
        ),
        observation(
            3,
            4,
            "discovery",
            "The lexer caches",
            &serde_json::json!({
                "narrative": "By file.", "concepts": "[\"how-it-works: it maps\",\"pattern\"]",
            }),
        ),
        observation(
            4,
            4,
            "feature",
            "Watch mode",
            &serde_json::json!({
                "facts": "[\"inotify\"]", "concepts": "[\"gotcha\"]",
            }),
        ),
        observation(5, 5, "sensitive", "The unreleased name", &Value::Null),
    ]
}

fn summary(on: i64, learned: &str) -> String {
    serde_json::json!({
        "id": on, "memory_session_id": "m-1", "project": "parser", "request": "make it fast",
        "learned": learned, "notes": null, "created_at_epoch": day(on).0,
    })
    .to_string()
}

fn parsed(observations: &[String], summaries: &[String]) -> Rows {
    let mut rows = parse(&[
        NamedText::new("observations.jsonl", observations.join("\n")),
        NamedText::new("session_summaries.jsonl", summaries.join("\n")),
    ]);
    rows.set_root("/src/parser");
    rows
}

fn imported(memory: &mut Memory, rows: &Rows, digest: &str) -> ImportOutcome {
    apply(memory, rows.plan(memory, digest, &origin("importer", 20)))
}

fn bodies(memory: &Memory) -> Vec<(Timestamp, Body)> {
    memory.active().map(|record| (record.updated.time, record.body.clone())).collect()
}

#[test]
fn each_type_becomes_its_kind_with_its_time() {
    let rows = parsed(&rows(), &[summary(4, "sled does not sync"), summary(5, "it does now")]);
    assert_eq!(rows.notes, ["observations marked as sensitive are left out: 1"]);
    let found = rows.found();
    assert_eq!((found.blueprints, found.lessons, found.notes, found.rows), (1, 2, 1, 1));
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &rows, "d1");
    assert_eq!(
        (Kind::ALL.map(|kind| outcome.added.of(kind)).iter().sum::<u32>(), outcome.sessions),
        (4, 1)
    );
    let bodies = bodies(&memory);
    assert_eq!(
        bodies.iter().map(|(time, _)| time.0 / DAY % 30).collect::<Vec<_>>(),
        days(&[2, 3, 4, 4, 5])
    );
    let text = bodies.iter().map(|(_, body)| serde_json::to_string(body).unwrap());
    insta::assert_snapshot!(text.collect::<Vec<_>>().join("\n"));
}

fn days(days: &[i64]) -> Vec<i64> {
    days.iter().map(|on| day(*on).0 / DAY % 30).collect()
}

#[test]
fn a_database_that_has_grown_brings_what_is_new() {
    let mut memory = Memory::default();
    imported(&mut memory, &parsed(&rows(), &[summary(4, "one")]), "d1");
    let again = parsed(&rows(), &[summary(4, "one")]).plan(&memory, "d2", &origin("importer", 21));
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    let before = memory.active().count();
    let more = observation(9, 8, "change", "Renamed a crate", &Value::Null);
    let grown = [rows(), vec![more]].concat();
    let outcome =
        imported(&mut memory, &parsed(&grown, &[summary(4, "one"), summary(6, "two")]), "d3");
    assert_eq!((outcome.added.notes, outcome.sessions, outcome.merged), (1, 0, 5));
    assert_eq!(memory.active().count(), before + 1);
    let row = memory.active_of(Kind::SessionRow).next().unwrap();
    let Body::SessionRow(row) = &row.body else { panic!("{row:?}") };
    assert_eq!((row.earlier.len(), row.summary.ends_with("Learned: two")), (1, true));
}

fn told(on: i64, title: &str, text: &str) -> String {
    observation(1, on, "decision", title, &serde_json::json!({ "narrative": text }))
}

fn decisions(memory: &Memory) -> Vec<String> {
    let active = memory.active_of(Kind::Blueprint);
    active.map(|record| record.body.fields().own_texts().join(": ")).collect()
}

#[test]
fn two_decisions_of_one_title_are_two_and_again_change_nothing() {
    let mut memory = Memory::default();
    let rows =
        parsed(&[told(2, "Error handling", "first"), told(3, "Error Handling", "second")], &[]);
    imported(&mut memory, &rows, "d1");
    let both = ["Error handling: first", "Error Handling (2026-11-03): second"];
    assert_eq!(decisions(&memory), both);
    let again = rows.plan(&memory, "d2", &origin("importer", 21));
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    // Without the first one, the second keeps its title.
    imported(&mut memory, &parsed(&[told(3, "Error Handling", "second")], &[]), "d3");
    assert_eq!(decisions(&memory), both);
}

#[test]
fn decisions_of_one_title_and_day_keep_their_records_when_the_source_grows() {
    let on_day = |id: u32, hour: i64, text: &str| {
        let time = day(2).0 + hour * 3_600_000;
        let more = serde_json::json!({ "narrative": text, "created_at_epoch": time });
        observation(id, 2, "decision", "Cache strategy", &more)
    };
    let mut observed = vec![on_day(1, 0, "Product pages"), on_day(2, 3, "Cart")];
    let mut memory = Memory::default();
    imported(&mut memory, &parsed(&observed, &[]), "d1");
    let both = ["Cache strategy: Product pages", "Cache strategy (2026-11-02): Cart"];
    assert_eq!(decisions(&memory), both);
    observed.push(observation(3, 5, "discovery", "unrelated", &Value::Null));
    let outcome = imported(&mut memory, &parsed(&observed, &[]), "d2");
    assert_eq!(decisions(&memory), both);
    assert_eq!((outcome.added.blueprints, outcome.added.notes, outcome.merged), (0, 1, 2));
    observed.insert(0, on_day(4, 5, "Images"));
    imported(&mut memory, &parsed(&observed, &[]), "d3");
    let third = "Cache strategy (2026-11-02 17:00:00 UTC): Images";
    assert_eq!(decisions(&memory), [both[0], both[1], third]);
}

#[test]
fn two_lessons_of_one_summary_are_one_with_both_details() {
    let told = |on: i64, text: &str| {
        observation(1, on, "bugfix", "Flush", &serde_json::json!({ "narrative": text }))
    };
    let mut memory = Memory::default();
    let rows = parsed(&[told(3, "It did not sync."), told(2, "It was slow.")], &[]);
    imported(&mut memory, &rows, "d1");
    let lesson = memory.active_of(Kind::Lesson).next().unwrap();
    let Body::Lesson(lesson) = &lesson.body else { panic!("{lesson:?}") };
    assert_eq!(lesson.detail, "It did not sync.\n\nIt was slow.");
    assert!(rows.plan(&memory, "d2", &origin("importer", 21)).changes.is_empty());
}

/// A large database is imported in parts.
#[test]
fn decisions_of_one_title_in_two_parts_are_two() {
    let (first, second) = (told(2, "Use sled", "first"), told(3, "Use sled", "second"));
    for (parts, expected) in [
        ([&first, &second], ["Use sled: first", "Use sled (2026-11-03): second"]),
        ([&second, &first], ["Use sled: second", "Use sled (2026-11-02): first"]),
    ] {
        let mut memory = Memory::default();
        for digest in ["d1", "d2"] {
            for part in parts {
                let rows = parsed(std::slice::from_ref(part), &[]);
                imported(&mut memory, &rows, &format!("{digest} {part}"));
            }
            assert_eq!(decisions(&memory), expected);
        }
        // Its text was corrected there.
        imported(&mut memory, &parsed(&[told(3, "Use sled", "third")], &[]), "d3");
        let third = expected.map(|text| text.replace("second", "third"));
        assert_eq!(decisions(&memory), third);
    }
}

#[test]
fn a_decision_that_is_newer_here_stays() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 3), blueprints([mutable("Use sled", "second")]));
    imported(&mut memory, &parsed(&[told(2, "Use sled", "first")], &[]), "d1");
    assert_eq!(decisions(&memory), ["Use sled: second"]);
}

#[test]
fn what_was_forgotten_here_does_not_come_back() {
    let mut memory = Memory::default();
    imported(&mut memory, &parsed(&rows(), &[]), "d1");
    let ids: Vec<_> = memory.active().map(|record| record.id).collect();
    for id in ids {
        let plan = plan_forget(&memory, &Reader::anyone(), id, None, &origin("one", 10)).unwrap();
        apply(&mut memory, plan);
    }
    imported(&mut memory, &parsed(&rows(), &[]), "d2");
    let left: Vec<Kind> = memory.active().map(|record| record.kind()).collect();
    assert_eq!(left, []);
}

/// Version 4 of the schema had one text, and other names for sessions.
#[test]
fn rows_of_old_versions_are_read() {
    let old = serde_json::json!({
        "id": 1, "sdk_session_id": "s-1", "project": "parser", "type": "discovery",
        "text": "The lexer\nis by hand.", "created_at": "2025-09-01T10:00:00.000Z",
    });
    let past = serde_json::json!({
        "id": 1, "sdk_session_id": "s-1", "learned": "much", "created_at": "2025-09-01T11:00:00Z",
    });
    let rows = parsed(&[old.to_string()], &[past.to_string()]);
    assert_eq!(rows.notes, Vec::<String>::new());
    assert_eq!(rows.items[0].item.content, "The lexer\nis by hand.");
    assert_eq!(rows.items[0].time, Timestamp::parse("2025-09-01T10:00:00.000Z"));
    assert_eq!(
        (&*rows.sessions[0].session.0, &*rows.sessions[0].summary),
        ("s-1", "Learned: much")
    );
}

#[test]
fn rows_that_cannot_be_used_are_named() {
    let bare = serde_json::json!({ "id": 7, "type": "change", "title": " " }).to_string();
    let rows = parsed(&["not JSON".to_owned(), bare], &["{\"id\":3}".to_owned()]);
    assert_eq!(
        rows.notes,
        [
            "observations.jsonl:1 is not a JSON object; left out",
            "observations.jsonl 7 has no text; left out",
            "session_summaries.jsonl 3 names no session; left out",
        ]
    );
}

#[test]
fn the_source_reads_tables() {
    let source = source("claude-mem").unwrap();
    let tables: Vec<&str> = source.tables.iter().map(|table| table.name).collect();
    assert_eq!(tables, ["observations", "session_summaries"]);
    assert_eq!(SOURCES.iter().filter(|source| !source.tables.is_empty()).count(), 1);
}
