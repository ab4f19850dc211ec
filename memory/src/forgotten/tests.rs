//! Heads of forgotten records: what stays in memory, and what they still answer.

use std::sync::Arc;

use proptest::prelude::*;

use crate::activity::SessionActivity;
use crate::limits::FORGOTTEN_BYTES_MAX;
use crate::record::{Body, Lesson, Record, RecordState, SessionRow, TrailEntry};
use crate::render::title;
use crate::testing::{any_steps, apply, blueprint, blueprints, day, note, origin, save, take};
use crate::{Change, Memory, NewNote, Reader, Seq, SessionId, Staged, plan_forget, plan_notes};

fn forgotten(record: &Record) -> Record {
    Record { state: RecordState::Forgotten, ..record.clone() }
}

/// Checks a head and returns its bytes of text.
fn check(whole: &Record) -> usize {
    let whole = forgotten(whole);
    let Some(head) = whole.head() else { return whole.text_bytes() };
    assert_eq!(title(&head, day(9)), title(&whole, day(9)));
    assert_eq!(head.head(), None, "it is one");
    let numbers =
        |it: &Record| (it.id, it.version, it.revision, it.content_version, it.state, it.pinned);
    assert_eq!(numbers(&head), numbers(&whole));
    assert_eq!((&head.tags, head.owner()), (&whole.tags, whole.owner()));
    let json = serde_json::to_string(&head).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), head);
    head.text_bytes()
}

#[test]
fn a_forgotten_text_leaves_memory_and_other_records_stay() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let content = format!("The port is 8080.\n{}", "Why it is 8080.\n".repeat(1_000));
    let note = NewNote { key: Some("port".to_owned()), ..note(&content) };
    let plan = plan_notes(&memory, &by, vec![Ok(note)]).unwrap();
    apply(&mut memory, plan);
    save(&mut memory, &by, blueprints([blueprint("Wire", &"Lines. ".repeat(1_000))]));
    for id in ["n1", "b2"] {
        let id = id.parse().unwrap();
        let whole = memory.record(id).unwrap().clone();
        assert!(whole.text_bytes() > 5_000);
        let plan = plan_forget(&memory, &Reader::anyone(), id, None, &by).unwrap();
        let [Change::Put(written)] = &plan.changes[..] else { panic!("{:?}", plan.changes) };
        assert_eq!(written.body, whole.body, "the journal has all of it");
        apply(&mut memory, plan);
        let head = memory.record(id).unwrap();
        assert!(head.is_head && head.text_bytes() < 2 * FORGOTTEN_BYTES_MAX, "{head:?}");
        assert_eq!(title(head, day(2)), title(&whole, day(2)));
    }
    let known = memory.record("n1".parse().unwrap()).unwrap();
    assert_eq!(known.note().unwrap().key.as_deref(), Some("port"));
}

#[test]
fn short_texts_are_kept_unchanged() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let plan = plan_notes(&memory, &by, vec![Ok(note("Port 8080."))]).unwrap();
    apply(&mut memory, plan);
    let id = "n1".parse().unwrap();
    let plan = plan_forget(&memory, &Reader::anyone(), id, None, &by).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.record(id).unwrap().note().unwrap().content, "Port 8080.");
    assert!(!memory.record(id).unwrap().is_head);
}

#[test]
fn heads_of_long_records_keep_their_titles() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    save(&mut memory, &by, Staged { notes: vec![note("x")], ..Staged::default() });
    let record =
        |body| Record { body, ..memory.record("n1".parse().unwrap()).unwrap().as_ref().clone() };
    let long = ["One line and no more of it. ".repeat(40), "Two lines.\nMore. ".repeat(40)];
    let (many, few) = (vec!["a/file.rs".to_owned(); 40], vec!["a/file.rs".to_owned()]);
    for (text, files) in long.iter().zip([&many, &few]).chain(long.iter().rev().zip([&many, &few]))
    {
        let lesson = |summary: &str, detail: &str| Lesson {
            summary: summary.to_owned(),
            detail: detail.to_owned(),
            files: files.clone(),
            ..Lesson::default()
        };
        let row = SessionRow {
            number: 1,
            session: SessionId::new("s"),
            started: day(1),
            ended: day(2),
            summary: text.clone(),
            on_behalf: true,
            captured: Some(Box::new(SessionActivity::of("claude-code:1"))),
            earlier: vec![TrailEntry {
                time: day(1),
                summary: text.clone(),
                on_behalf: false,
                folded: 0,
            }],
            blueprints_added: 0,
            anchors_added: 0,
            lessons_added: 0,
            folded: 0,
        };
        let short = SessionRow { summary: "Short.".to_owned(), captured: None, ..row.clone() };
        let topic = |status: &str| crate::Topic {
            name: "cache".to_owned(),
            status: status.to_owned(),
            history: vec![crate::HistoryLine::new(text), crate::HistoryLine::new("Last.")],
            files: files.clone(),
            ..crate::Topic::default()
        };
        let bodies = [
            Body::Lesson(lesson("Short.", text)),
            Body::Lesson(lesson("Short.", "")),
            Body::Lesson(lesson(&text.replace('\n', " "), "")),
            Body::Blueprint(blueprint("Wire", text)),
            Body::Blueprint(blueprint(&text.replace('\n', " "), "")),
            Body::SessionRow(row),
            Body::SessionRow(short),
            Body::Topic(topic(text)),
            Body::Topic(topic("Short.")),
            Body::Topic(topic("")),
        ];
        for body in bodies {
            let record = record(body);
            let bytes = check(&record);
            assert!(bytes < record.text_bytes().max(2_000), "{bytes} bytes of {record:?}");
        }
        let stored = memory.record("n1".parse().unwrap()).unwrap();
        let mut summed = stored.note().unwrap().clone();
        summed.set_content(text.clone());
        check(&record(Body::Note(summed.clone())));
        summed.set_summary(text.replace('\n', " "));
        check(&record(Body::Note(summed.clone())));
        summed.condensed = true;
        check(&record(Body::Note(summed)));
    }
}

proptest! {
    #[test]
    fn every_head_keeps_its_records_title(steps in any_steps()) {
        let (memory, _) = take(&steps);
        for record in memory.records().filter(|record| !record.is_head) {
            check(record);
        }
    }

    /// Replaying entries and restoring rows give the same heads.
    #[test]
    fn a_state_rebuilt_from_full_records_has_the_same_heads(steps in any_steps()) {
        let (memory, entries) = take(&steps);
        let mut newest = std::collections::BTreeMap::new();
        for record in entries.iter().flatten().filter_map(Change::record) {
            newest.insert(record.id, Arc::clone(record));
        }
        let mut other = Memory::default();
        for (at, record) in (1..).zip(newest.into_values()) {
            other.apply(Seq(at), &[Change::Put(record)]);
        }
        prop_assert!(memory.records().eq(other.records()));
    }
}
