//! zipmem's files, whole and damaged.

use super::{ImportError, ImportStep, NamedText, Zipmem, plan_import_zipmem};
use crate::guide::CheckpointMode;
use crate::lifecycle::Event;
use crate::testing::{anchor, anchors, apply, blueprint, blueprints, day, mutable, origin, save};
use crate::{
    Body, Counts, Kind, Memory, NoticeCause, Reader, Save, SessionRow, plan_capture, plan_forget,
    plan_keep, plan_save,
};

const STATE: &str = r#"{
  "version": 1, "project_name": "demo", "created_at": "2026-11-01T08:00:00.000Z",
  "updated_at": "2026-11-02T08:00:00.000Z",
  "blueprints": [
    {"id": "bp1", "category": "architecture", "title": "Layers", "content": "proto\nmemory",
     "immutable": true, "timestamp": "2026-11-02T12:00:00.000Z"},
    {"category": "INFRA", "title": "Port", "content": "7717", "immutable": false}
  ],
  "anchors": [
    {"file_path": "./src/a.rs", "line_range": "1-9", "concept": "newer", "timestamp": "2026-11-03T12:00:00Z"},
    {"file_path": "src/a.rs", "line_range": "1-5", "concept": "older", "timestamp": "2026-11-02T12:00:00Z"},
    {"file_path": "", "line_range": "1", "concept": "x"},
    "no object"
  ],
  "lessons": [
    {"id": "l1", "summary": "Flush does not fsync", "detail": null, "related_files": ["a.rs", 7],
     "timestamp": 1793534400000, "later": true}
  ],
  "session_log": [
    {"session_id": "z1", "started_at": "2026-11-02T11:00:00Z", "ended_at": "2026-11-02T12:00:00Z",
     "summary": "began", "anchors_added": 2, "lessons_added": 1}
  ],
  "meta": {"total_compactions": 1}
}"#;

const SESSION: &str = r#"{
  "session_id": "z2", "status": "interrupted", "pid": 12, "started_at": "2026-11-04T12:00:00Z",
  "updated_at": "2026-11-05T12:00:00Z", "reason": "gone",
  "pending": {"session_summary": "half way", "blueprints": [],
    "anchors": [{"file_path": "b.rs", "line_range": 7, "concept": "fresh"}], "lessons": []}
}"#;

fn parse(state: &str, session: Option<&str>) -> Result<Zipmem, ImportError> {
    let mut texts = vec![NamedText::new("state.json", state)];
    texts.extend(session.map(|session| NamedText::new("session.json", session)));
    super::parse(&texts)
}

fn imported(memory: &mut Memory, source: &Zipmem, digest: &str) -> super::ImportOutcome {
    let plan = plan_import_zipmem(memory, source, digest, &origin("importer", 20));
    apply(memory, plan)
}

fn rows(memory: &Memory) -> Vec<SessionRow> {
    let row = |body: &Body| if let Body::SessionRow(row) = body { Some(row.clone()) } else { None };
    memory.active_of(Kind::SessionRow).filter_map(|record| row(&record.body)).collect()
}

#[test]
fn a_state_and_its_staged_work_are_imported() {
    let mut memory = Memory::default();
    let source = parse(STATE, Some(SESSION)).unwrap();
    assert_eq!(source.project.as_deref(), Some("demo"));
    let outcome = imported(&mut memory, &source, "d1");
    assert_eq!(
        outcome.added,
        Counts { blueprints: 2, anchors: 2, lessons: 1, ..Counts::default() }
    );
    assert_eq!((outcome.sessions, outcome.merged), (2, 1));
    let found = source.found();
    assert_eq!((found.blueprints, found.anchors, found.lessons, found.rows), (2, 3, 1, 2));
    assert_eq!(outcome.pending, Counts { anchors: 1, ..Counts::default() });
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    anchors[2]: file_path is empty; left out
    anchors[3]: is not an object; left out
    blueprints[1]: category `INFRA` is not known; kept as a decision
    ");

    insta::assert_snapshot!(crate::render::import(&outcome), @r"
    New: 2 blueprints, 2 anchors, 1 lesson, 2 sessions.
    1 merged into what is there.
    Staged there and not saved, kept: 1 anchor.
    Note: anchors[2]: file_path is empty; left out.
    Note: anchors[3]: is not an object; left out.
    Note: blueprints[1]: category `INFRA` is not known; kept as a decision.
    ");

    let a = memory.record("a3".parse().unwrap()).unwrap();
    assert_eq!(a.body, Body::Anchor(anchor("src/a.rs", "1-9", "newer")));
    assert_eq!((a.created.time, a.updated.time), (day(2), day(3)));
    assert_eq!((&*a.created.client, a.version.0), ("zipmem", 1));
    let lesson = memory.active_of(Kind::Lesson).next().unwrap();
    assert_eq!(lesson.created.time, day(1));

    let rows = rows(&memory);
    assert_eq!((rows[0].number, &*rows[0].session.0, rows[0].anchors_added), (1, "z1", 2));
    assert_eq!((rows[1].summary.as_str(), rows[1].on_behalf), ("half way", true));
    assert_eq!((rows[1].anchors_added, rows[1].ended), (1, day(5)));
    let notice = memory.notices().next().unwrap();
    assert_eq!(notice.cause, NoticeCause::Crashed { files: Vec::new(), more: 0 });
}

#[test]
fn the_same_source_again_changes_nothing() {
    let mut memory = Memory::default();
    let source = parse(STATE, Some(SESSION)).unwrap();
    imported(&mut memory, &source, "d1");
    let records = crate::staged::count(memory.records().count());
    let again = plan_import_zipmem(&memory, &source, "d1", &origin("importer", 21));
    assert_eq!((again.outcome.before, again.changes.len()), (Some(records), 0));
    assert_eq!(again.outcome.merged, 8, "all that was found");
    insta::assert_snapshot!(crate::render::import(&again.outcome), @"Imported before: 7 records came of it; nothing changes.");

    // A source that differs only in its bytes adds nothing.
    let before: Vec<_> = memory.records().cloned().collect();
    let outcome = imported(&mut memory, &parse(STATE, None).unwrap(), "d2");
    assert_eq!((outcome.added, outcome.sessions), (Counts::default(), 0));
    assert_eq!(memory.records().cloned().collect::<Vec<_>>(), before);
}

#[test]
fn staged_work_that_was_kept_before_makes_no_further_notice() {
    let timeless = SESSION.replace("updated_at", "seen_at").replace("started_at", "begun_at");
    for session in [SESSION, timeless.as_str()] {
        let mut memory = Memory::default();
        for (digest, summary) in [("d1", "Flush"), ("d2", "Sync"), ("d3", "Name it")] {
            let state = STATE.replace("Flush does not fsync", summary);
            imported(&mut memory, &parse(&state, Some(session)).unwrap(), digest);
        }
        assert_eq!((memory.notices().count(), rows(&memory).len()), (1, 2));
        let more = r#""lessons": [{"summary": "One more"}]"#;
        let grown = session.replace(r#""lessons": []"#, more);
        let outcome = imported(&mut memory, &parse(STATE, Some(&grown)).unwrap(), "d4");
        assert_eq!((memory.notices().count(), outcome.pending.lessons), (2, 1));
    }
}

#[test]
fn the_row_of_staged_work_that_was_forgotten_stays_so() {
    let mut memory = Memory::default();
    imported(&mut memory, &parse(STATE, Some(SESSION)).unwrap(), "d1");
    let row = memory.active_of(Kind::SessionRow).next_back().unwrap().id;
    let plan = plan_forget(&memory, &Reader::anyone(), row, None, &origin("one", 21)).unwrap();
    apply(&mut memory, plan);
    let notices = memory.notices().count();
    let grown = STATE.replace("Flush does", "Name it\"}, {\"summary\": \"Flush does");
    let outcome = imported(&mut memory, &parse(&grown, Some(SESSION)).unwrap(), "d2");
    assert_eq!((outcome.added.lessons, outcome.pending), (1, Counts::default()));
    assert_eq!((rows(&memory).len(), memory.notices().count()), (1, notices));
    let later = SESSION.replace("2026-11-05", "2026-11-30");
    imported(&mut memory, &parse(STATE, Some(&later)).unwrap(), "d3");
    assert_eq!(rows(&memory).len(), 2, "it was written later");
}

/// It may be tried again, once the obstacle is gone.
#[test]
fn a_source_with_nothing_to_import_leaves_no_trace() {
    let state = r#"{"version": 1, "blueprints": [{"title": "", "content": "x"}]}"#;
    let session = r#"{"status": "active", "pending": {"session_summary": "  "}}"#;
    let source = parse(state, Some(session)).unwrap();
    let plan = plan_import_zipmem(&Memory::default(), &source, "d1", &origin("importer", 20));
    assert!(plan.changes.is_empty() && !plan.outcome.notes.is_empty(), "{plan:?}");

    // All of it is here.
    let mut memory = Memory::default();
    let source = parse(STATE, None).unwrap();
    imported(&mut memory, &source, "d1");
    let plan = plan_import_zipmem(&memory, &source, "d2", &origin("importer", 21));
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
}

#[test]
fn staged_work_with_nothing_to_import_leaves_no_row() {
    let session = format!(
        r#"{{"session_id": "z2", "pending": {{"lessons": [
            {{"summary": "Long", "detail": "{}"}}]}}}}"#,
        "x".repeat(5 << 20)
    );
    let source = parse(r#"{"version": 1}"#, Some(&session)).unwrap();
    assert!(source.pending.is_some());
    let plan = plan_import_zipmem(&Memory::default(), &source, "d1", &origin("importer", 20));
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    assert!(plan.outcome.notes[0].starts_with("a staged lesson is left out"), "{plan:?}");
}

#[test]
fn each_entry_of_a_session_is_one_of_its_row() {
    let source = |entries: &[(u32, &str)]| {
        let log: Vec<serde_json::Value> = entries
            .iter()
            .map(|(on, summary)| {
                let ended = format!("2026-11-0{on}T12:00:00Z");
                serde_json::json!({"session_id": "z1", "ended_at": ended, "summary": summary})
            })
            .collect();
        parse(&serde_json::json!({ "session_log": log }).to_string(), None).unwrap()
    };
    let told = |memory: &Memory| -> Vec<String> {
        let rows = rows(memory);
        assert_eq!(rows.len(), 1);
        rows[0].summaries().map(str::to_owned).collect()
    };
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &source(&[(4, "second"), (2, "first")]), "d1");
    assert_eq!((outcome.sessions, told(&memory)), (1, vec!["second".into(), "first".into()]));
    assert_eq!(outcome.merged, 0, "a session counts once");
    let grown = source(&[(4, "second"), (2, "first"), (5, "third")]);
    let outcome = imported(&mut memory, &grown, "d2");
    assert_eq!((outcome.sessions, told(&memory).join(" ")), (0, "third second first".to_owned()));
    let again = plan_import_zipmem(&memory, &grown, "d3", &origin("importer", 21));
    assert!(again.changes.is_empty(), "{:?}", again.changes);
}

/// The last entry says what the first one said, and is another one.
#[test]
fn an_export_that_comes_back_adds_no_entry() {
    let saves = [(2, "First save."), (3, "Second\nsave."), (4, "First save.")];
    let mut memory = Memory::default();
    for (on, session_summary) in saves {
        let save = Save { session_summary, ..Save::default() };
        let plan = plan_save(&memory, &origin("one", on), save).unwrap();
        apply(&mut memory, plan);
    }
    let mut state = crate::export::zipmem_state(&memory, "demo", day(9));
    let entry = |at: usize| &state["session_log"][at];
    for (at, (on, summary)) in saves.into_iter().enumerate() {
        let told = [&entry(at)["ended_at"], &entry(at)["summary"]];
        assert_eq!(told, [day(on).iso().as_str(), summary]);
    }
    let plan = |memory: &Memory, state: &serde_json::Value| {
        let source = parse(&state.to_string(), None).unwrap();
        plan_import_zipmem(memory, &source, "d1", &origin("importer", 20))
    };
    assert!(plan(&memory, &state).changes.is_empty());
    let mut copy = Memory::default();
    let made = plan(&copy, &state);
    assert_eq!(apply(&mut copy, made).sessions, 1);
    assert_eq!(rows(&copy)[0].earlier, rows(&memory)[0].earlier);

    // An older build wrote the whole trail as one text.
    state["session_log"] = serde_json::json!([{
        "session_id": "one", "ended_at": day(4).iso(), "summary": rows(&memory)[0].trail_text(),
    }]);
    assert!(plan(&memory, &state).changes.is_empty());
    let save = Save { session_summary: "Third save.", ..Save::default() };
    let later = plan_save(&memory, &origin("one", 5), save).unwrap();
    apply(&mut memory, later);
    assert!(plan(&memory, &state).changes.is_empty(), "the row has more entries now");
}

#[test]
fn a_row_made_by_rule_stays_so() {
    let mut captured = crate::SessionActivity::of("claude-code:a");
    let asked = Event::PromptSubmitted { prompt: "Fix it".to_owned() };
    captured.saw(&asked, day(2));
    captured.saw(&Event::TurnEnded { last_message: Some("done".to_owned()) }, day(2));
    let (mut memory, by) = (Memory::default(), origin("one", 2));
    let plan = plan_capture(&memory, &by, captured).unwrap();
    apply(&mut memory, plan);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    assert!(rows(&memory)[0].captured.is_some());
    let mut state = crate::export::zipmem_state(&memory, "demo", day(9));
    for summary in [None, Some("what it said before")] {
        if let Some(summary) = summary {
            state["session_log"][0]["summary"] = summary.into();
        }
        let source = parse(&state.to_string(), None).unwrap();
        let plan = plan_import_zipmem(&memory, &source, "d1", &origin("importer", 20));
        assert!(plan.changes.is_empty(), "{summary:?}");
    }
}

/// Two anchors begin at one line, so they are one.
#[test]
fn each_item_is_new_or_here_or_named() {
    let anchor = |lines: &str, on: u32| {
        let time = format!("2026-11-0{on}T12:00:00Z");
        serde_json::json!({"file_path": "a.rs", "line_range": lines, "concept": "x", "timestamp": time})
    };
    let mut state = serde_json::json!({
        "anchors": [anchor("1-5", 1), anchor("20-25", 2), anchor("1-30", 3)],
        "lessons": [{"summary": "Flush"}],
        "session_log": [{"session_id": "z1", "summary": "began"}],
    });
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &parse(&state.to_string(), None).unwrap(), "d1");
    let new = |outcome: &super::ImportOutcome| {
        (outcome.added.anchors, outcome.added.lessons, outcome.sessions)
    };
    assert_eq!((new(&outcome), outcome.merged), ((2, 1, 1), 1));
    let lesson = memory.active_of(Kind::Lesson).next().unwrap().id;
    let plan = plan_forget(&memory, &Reader::anyone(), lesson, None, &origin("one", 21)).unwrap();
    apply(&mut memory, plan);
    state["lessons"] = serde_json::json!([{"summary": "Flush"}, {"summary": "Name it"}]);
    let outcome = imported(&mut memory, &parse(&state.to_string(), None).unwrap(), "d2");
    assert_eq!((new(&outcome), outcome.merged), ((0, 1, 0), 5));
}

#[test]
fn newer_records_here_stay() {
    let mut memory = Memory::default();
    let mut part = blueprints([mutable("Port", "9000")]);
    part.blueprints[0].category = crate::Category::Decision;
    part.anchors = vec![anchor("src/a.rs", "1-3", "newest")];
    save(&mut memory, &origin("one", 10), part);
    let state = STATE.replace(
        r#""content": "7717", "#,
        r#""content": "7717", "timestamp": "2026-11-01T12:00:00Z", "#,
    );
    let outcome = imported(&mut memory, &parse(&state, None).unwrap(), "d1");
    let kept: Vec<&str> = outcome.kept.iter().map(|kept| kept.title.as_str()).collect();
    assert_eq!(kept, ["Port"]);
    let bodies: Vec<Body> = memory.active().map(|record| record.body.clone()).collect();
    assert!(bodies.contains(&Body::Blueprint(mutable("Port", "9000"))));
    assert!(bodies.contains(&Body::Anchor(anchor("src/a.rs", "1-9", "newest"))));
}

#[test]
fn a_closed_session_has_no_staged_work() {
    let closed = SESSION.replace("interrupted", "closed");
    assert_eq!(parse("{}", Some(&closed)).unwrap().pending, None);
    let empty = r#"{"status": "active", "pending": {"blueprints": [], "anchors": null}}"#;
    assert_eq!(parse("{}", Some(empty)).unwrap(), Zipmem::default());
}

#[test]
fn an_invalid_state_is_refused() {
    let refused = |state: &str| parse(state, None).unwrap_err().to_string();
    insta::assert_snapshot!(refused("{"), @"read state.json: it is not JSON");
    insta::assert_snapshot!(refused("[]"), @"read state.json: it is not a JSON object");
    insta::assert_snapshot!(refused(r#"{"version": 2}"#), @"read it: it has version 2; only version 1 is supported");
    assert_eq!(parse("\u{feff}{}", None).unwrap(), Zipmem::default());
}

#[test]
fn immutable_blueprints_here_are_kept() {
    let mut memory = Memory::default();
    let mut part = blueprints([blueprint("Layers", "as decided here")]);
    part.blueprints[0].category = crate::Category::Architecture;
    save(&mut memory, &origin("one", 1), part);
    save(&mut memory, &origin("one", 1), anchors([anchor("c.rs", "1", "x")]));
    let outcome = imported(&mut memory, &parse(STATE, None).unwrap(), "d1");
    assert_eq!(outcome.kept.len(), 1);
}

#[test]
fn a_newer_blueprint_with_the_same_text_counts_as_here_already() {
    let mut memory = Memory::default();
    let mut part = blueprints([mutable("Layers", "proto\nmemory")]);
    part.blueprints[0].category = crate::Category::Architecture;
    save(&mut memory, &origin("one", 5), part);
    let state = serde_json::json!({
        "version": 1,
        "blueprints": [{
            "category": "architecture", "title": "Layers", "content": "proto\nmemory",
            "immutable": true, "timestamp": "2026-11-02T12:00:00.000Z",
        }],
    });
    let outcome = imported(&mut memory, &parse(&state.to_string(), None).unwrap(), "d1");
    assert_eq!((outcome.merged, outcome.kept, outcome.added), (1, Vec::new(), Counts::default()));
    assert_eq!(memory.active_of(Kind::Blueprint).count(), 1);
}

/// A text longer than a line is cut if nothing is lost by that, and named otherwise. A text that is
/// too large is left out.
#[test]
fn items_beyond_the_limits_are_cut_or_left_out_and_reported() {
    let long = "word ".repeat(30_000);
    let huge = "x".repeat(5 << 20);
    let files: Vec<String> = (0..2_100).map(|n| format!("{n}.rs")).collect();
    let state = serde_json::json!({
        "blueprints": [
            {"category": "decision", "title": long, "content": "as it is"},
            {"category": "decision", "title": "huge", "content": huge},
        ],
        "anchors": [
            {"file_path": "a.rs", "line_range": "1", "concept": long},
            {"file_path": long.replace(' ', "/"), "line_range": "1", "concept": "c"},
        ],
        "lessons": [
            {"summary": long, "detail": "more of it", "related_files": files},
            {"summary": "huge", "detail": huge},
        ],
        "session_log": [{"session_id": "z1", "summary": huge}],
    });
    let session = serde_json::json!({"session_id": "z2", "status": "active", "pending": {
        "session_summary": huge, "lessons": [{"summary": "fine"}, {"summary": "huge", "detail": huge}],
    }});
    let source = parse(&state.to_string(), Some(&session.to_string())).unwrap();
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &source, "d1");
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    anchors[0]: concept is cut to 100000 characters
    blueprints[0]: title is cut to 100000 characters
    lessons[0]: summary is cut to 100000 characters
    lessons[0]: the first 2000 of related_files are kept
    a blueprint is left out: content is 5242880 bytes, 4194304 are allowed
    an anchor is left out: file has 149999 characters, 1000 are allowed
    a lesson is left out: detail is 5242880 bytes, 4194304 are allowed
    a session's summary is left out: summary is 5242880 bytes, 4194304 are allowed
    a staged lesson is left out: detail is 5242880 bytes, 4194304 are allowed
    a staged summary is left out: summary is 5242880 bytes, 4194304 are allowed
    ");
    assert_eq!(outcome.added.to_string(), "1 blueprint, 1 anchor, 2 lessons");
    let lesson = memory.active_of(Kind::Lesson).next().unwrap();
    let Body::Lesson(lesson) = &lesson.body else { panic!() };
    assert!(lesson.detail.starts_with(long.trim()) && lesson.detail.ends_with("more of it"));
    assert_eq!((lesson.summary.chars().count(), lesson.files.len()), (100_000, 2_000));
}

#[test]
fn the_checkpoint_mode_of_a_project_that_has_none_is_imported() {
    let state = |mode: &str| format!(r#"{{"meta": {{"checkpoint_mode": "{mode}"}}}}"#);
    let mode = |memory: &Memory| memory.settings(None).and_then(|own| own.checkpoint_mode);
    let mut memory = Memory::default();
    imported(&mut memory, &parse(&state("balanced"), None).unwrap(), "d0");
    assert_eq!(mode(&memory), None, "it is the default");
    imported(&mut memory, &parse(&state("conservative"), None).unwrap(), "d1");
    assert_eq!(mode(&memory), Some(CheckpointMode::Conservative));
    imported(&mut memory, &parse(&state("aggressive"), None).unwrap(), "d2");
    assert_eq!(mode(&memory), Some(CheckpointMode::Conservative), "what is set here stays");
    let other = parse(&state("often"), None).unwrap();
    assert_eq!(other.notes, ["checkpoint mode `often` is not known; left out"]);
    let exported = crate::export::zipmem_state(&memory, "demo", day(9));
    assert_eq!(exported["meta"]["checkpoint_mode"], "conservative");
}

#[test]
fn an_empty_blueprint_and_texts_of_any_length_are_imported() {
    let state = serde_json::json!({"blueprints": [
        {"category": "decision", "title": "later", "content": ""},
        {"category": "decision", "title": "t ".repeat(900), "content": "x".repeat(300 * 1024)},
    ]});
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &parse(&state.to_string(), None).unwrap(), "d1");
    assert_eq!((outcome.added.blueprints, outcome.notes), (2, Vec::<String>::new()));
}

#[test]
fn titles_in_two_spellings_are_imported_as_two_and_again_change_nothing() {
    let state = serde_json::json!({"blueprints": [
        {"category": "decision", "title": "Case", "content": "one"},
        {"category": "decision", "title": "case", "content": "two"},
    ]});
    let source = parse(&state.to_string(), None).unwrap();
    let mut memory = Memory::default();
    assert_eq!(imported(&mut memory, &source, "d1").added.blueprints, 2);
    let again = plan_import_zipmem(&memory, &source, "d2", &origin("importer", 21));
    assert!(again.changes.is_empty(), "{again:?}");
    let exported = crate::export::zipmem_state(&memory, "demo", day(9));
    let titles = exported["blueprints"].as_array().unwrap().iter().map(|it| &it["title"]);
    assert_eq!(titles.collect::<Vec<_>>(), ["Case", "case"]);
}
