//! Records that are archived, and records that never are.

use std::collections::BTreeSet;

use super::{ArchivePlan, candidates, plan};
use crate::kinds::topic::topic_named_after;
use crate::testing::{
    anchor, anchors, apply, blueprint, blueprints, captured_lesson, checkpoint, day, lesson,
    lessons, origin, save,
};
use crate::{
    Archived, Body, Counts, Kind, Lesson, Memory, Reader, RecordId, RecordState, Save, Staged,
    Timestamp, TopicPart, Update, limits, plan_save, plan_update, plan_use,
};

/// Saves blueprints that alone are above the hard limit, in parts that a write takes.
fn fill(memory: &mut Memory) {
    let content = "x".repeat(limits::TEXT_BYTES_MAX);
    let part = [blueprint("big", &content), blueprint("bigger", &content)];
    save(memory, &origin("filler", 1), blueprints(part));
    assert!(memory.totals().text_bytes > limits::ACTIVE_TEXT_HARD_BYTES_MAX);
}

fn gone(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(|file| (*file).to_owned()).collect()
}

fn save_with(memory: &mut Memory, archive: &ArchivePlan, part: Staged, on: i64) -> Archived {
    let save = Save { session_summary: "worked", part, archive: Some(archive), ..Save::default() };
    let plan = plan_save(memory, &origin("saver", on), save).unwrap();
    assert_eq!(plan.outcome.added, Counts::default());
    apply(memory, plan).archived
}

fn record_state(memory: &Memory, id: &str) -> RecordState {
    memory.record(id.parse().unwrap()).unwrap().state
}

fn pin(memory: &mut Memory, id: RecordId, on: i64) {
    let pin = Update { pinned: Some(true), ..Update::default() };
    let pin = plan_update(memory, &Reader::anyone(), id, &pin, None, &origin("one", on)).unwrap();
    apply(memory, pin);
}

#[test]
fn below_the_hard_limit_nothing_is_archived() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), anchors([anchor("a.rs", "1", "x")]));
    assert_eq!(candidates(&memory, day(90)), Vec::<String>::new());
    assert!(plan(&memory, day(90), &gone(&["a.rs"]), &BTreeSet::new()).is_empty());
}

#[test]
fn old_anchors_of_deleted_files_are_archived() {
    let mut memory = Memory::default();
    let part = ["gone.rs", "there.rs", "../out.rs", "/abs.rs"].map(|file| anchor(file, "1", "x"));
    save(&mut memory, &origin("one", 1), anchors(part));
    save(&mut memory, &origin("two", 20), anchors([anchor("young.rs", "1", "x")]));
    fill(&mut memory);

    assert_eq!(candidates(&memory, day(31)), Vec::<String>::new(), "not older than 30 days yet");
    let now = Timestamp(day(31).0 + 1);
    assert_eq!(candidates(&memory, now), ["gone.rs", "there.rs"]);
    let plan = plan(&memory, now, &gone(&["gone.rs", "young.rs"]), &BTreeSet::new());
    let archived = save_with(&mut memory, &plan, Staged::default(), 40);
    assert_eq!(archived, Archived { anchors: 1, ..Archived::default() });
    assert_eq!(record_state(&memory, "a1"), RecordState::Archived);
    assert_eq!(memory.totals().active.anchors, 4);
}

#[test]
fn a_record_that_the_save_rewrites_stays_active() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), anchors([anchor("gone.rs", "1", "x")]));
    fill(&mut memory);
    let plan = plan(&memory, day(60), &gone(&["gone.rs"]), &BTreeSet::new());
    assert_eq!(plan.anchors.len(), 1);
    let part = anchors([anchor("gone.rs", "1", "moved here")]);
    assert_eq!(save_with(&mut memory, &plan, part, 60), Archived::default());
    assert_eq!(record_state(&memory, "a1"), RecordState::Active);
}

#[test]
fn the_oldest_lessons_are_archived_but_never_the_newest() {
    let mut memory = Memory::default();
    let detail = "x".repeat(20 * 1024);
    for at in 1..=40 {
        let part = lessons([lesson(&format!("lesson{at}"), &detail)]);
        save(&mut memory, &origin("one", at), part);
    }
    let before = memory.totals();
    assert!(before.text_bytes > limits::ACTIVE_TEXT_HARD_BYTES_MAX);
    let plan = plan(&memory, day(50), &BTreeSet::new(), &BTreeSet::new());
    let archived = save_with(&mut memory, &plan, Staged::default(), 50);
    // The newest 20 alone are above the soft limit.
    assert_eq!(archived.lessons, 20);
    let left: Vec<u64> = memory.active_of(Kind::Lesson).map(|record| record.id.number).collect();
    let newest: Vec<u64> =
        memory.records().filter(|r| r.kind() == Kind::Lesson).map(|r| r.id.number).collect();
    assert_eq!(left, newest[20..]);
}

#[test]
fn captured_lessons_are_archived_first() {
    let mut memory = Memory::default();
    let detail = "x".repeat(20 * 1024);
    for at in 1..=40 {
        let written = lesson(&format!("lesson{at}"), &detail);
        let captured = captured_lesson(&format!("make t{at}"), "the lock is held", day(at));
        let captured = Lesson { detail: detail.clone(), ..captured };
        save(&mut memory, &origin("one", at), lessons([if at <= 20 { written } else { captured }]));
    }
    let plan = plan(&memory, day(50), &BTreeSet::new(), &BTreeSet::new());
    save_with(&mut memory, &plan, Staged::default(), 50);
    let left: Vec<bool> =
        memory.active_of(Kind::Lesson).map(|record| record.is_captured()).collect();
    assert_eq!(left, [false; 20]);
}

#[test]
fn lessons_are_archived_only_down_to_four_fifths_of_the_hard_limit() {
    let mut memory = Memory::default();
    for at in 1..=600 {
        let part = lessons([lesson(&format!("lesson{at}"), &"x".repeat(1024))]);
        save(&mut memory, &origin("one", at), part);
    }
    let plan = plan(&memory, day(700), &BTreeSet::new(), &BTreeSet::new());
    save_with(&mut memory, &plan, Staged::default(), 700);
    let bytes = memory.totals().text_bytes;
    let kept = limits::ACTIVE_TEXT_HARD_BYTES_MAX * 80 / 100;
    assert!(bytes <= kept, "{bytes}");
    assert!(bytes > kept - 3 * 1024, "{bytes}: more went than had to");
}

#[test]
fn old_rows_are_folded_into_one_row_repeatedly() {
    let mut memory = Memory::default();
    let sessions = |memory: &mut Memory, from: i64, to: i64| {
        for at in from..=to {
            save(memory, &origin(&format!("session {at}"), at), Staged::default());
        }
    };
    sessions(&mut memory, 1, 25);
    fill(&mut memory);
    // 26 rows with the filler's. The newest 20 stay.
    let first = plan(&memory, day(26), &BTreeSet::new(), &BTreeSet::new());
    assert_eq!(save_with(&mut memory, &first, Staged::default(), 26).rows, 6);
    let fold = |memory: &Memory| {
        let mut rows = memory.active_of(Kind::SessionRow).filter_map(|record| match &record.body {
            Body::SessionRow(row) if row.folded > 0 => Some((record.id, row.clone())),
            _ => None,
        });
        let only: (RecordId, _) = rows.next().unwrap();
        assert!(rows.next().is_none());
        only
    };
    let (id, row) = fold(&memory);
    assert_eq!(row.folded, 6);
    insta::assert_snapshot!(row.summary, @"6 sessions from 2026-11-01 to 2026-11-05, folded; each is still there by its id.");
    assert_eq!(row.blueprints_added, 2);
    assert_eq!(record_state(&memory, "s1"), RecordState::Archived);
    assert_eq!(memory.totals().active.rows, 22);

    sessions(&mut memory, 27, 30);
    let second = plan(&memory, day(30), &BTreeSet::new(), &BTreeSet::new());
    save_with(&mut memory, &second, Staged::default(), 31);
    let (same, row) = fold(&memory);
    assert_eq!((same, row.folded), (id, 6 + 5));
    assert_eq!(memory.session_rows(), 31);

    // A row that was used is folded again, and counted once.
    let filler = memory.records_of(Kind::SessionRow).find_map(|record| match &record.body {
        Body::SessionRow(row) if row.blueprints_added > 0 && row.folded == 0 => Some(record.id),
        _ => None,
    });
    let used = plan_use(&memory, filler.unwrap(), &origin("reader", 32)).unwrap();
    apply(&mut memory, used);
    let third = plan(&memory, day(32), &BTreeSet::new(), &BTreeSet::new());
    assert_eq!(third.rows.len(), 2, "it and the fold");
    save_with(&mut memory, &third, Staged::default(), 33);
    let (same, row) = fold(&memory);
    assert_eq!((same, row.folded, row.blueprints_added), (id, 6 + 5, 2));

    // A pinned fold grows as well.
    pin(&mut memory, id, 33);
    sessions(&mut memory, 34, 36);
    let fourth = plan(&memory, day(36), &BTreeSet::new(), &BTreeSet::new());
    save_with(&mut memory, &fourth, Staged::default(), 37);
    let (same, row) = fold(&memory);
    assert_eq!((same, row.folded, row.blueprints_added), (id, 6 + 5 + 3, 2));
}

#[test]
fn pinned_records_are_not_archived() {
    let mut memory = Memory::default();
    let detail = "x".repeat(1024);
    for at in 1..=25 {
        let mut part = anchors([anchor(&format!("{at}.rs"), "1", "x")]);
        part.lessons = lessons([lesson(&format!("lesson{at}"), &detail)]).lessons;
        save(&mut memory, &origin(&format!("session {at}"), at), part);
    }
    let first = |kind| memory.active_of(kind).next().unwrap().id;
    let pinned = [Kind::Lesson, Kind::Anchor, Kind::SessionRow].map(first);
    for id in pinned {
        pin(&mut memory, id, 25);
    }
    // Long ago, so that only the pin keeps the anchor.
    fill(&mut memory);
    let files = candidates(&memory, day(90));
    assert!(!files.contains(&"1.rs".to_owned()), "{files:?}");
    let all = memory.records().filter_map(|record| match &record.body {
        Body::Anchor(anchor) => Some(anchor.file.clone()),
        _ => None,
    });
    let all: BTreeSet<String> = all.collect();
    let plan = plan(&memory, day(90), &all, &BTreeSet::new());
    let archived = save_with(&mut memory, &plan, Staged::default(), 90);
    assert_eq!((archived.anchors, archived.rows, archived.lessons), (24, 5, 4));
    for id in pinned {
        let record = memory.record(id).unwrap();
        assert!(record.pinned && record.state.is_active(), "{id}");
    }
}

#[test]
fn blueprints_are_never_archived() {
    let mut memory = Memory::default();
    fill(&mut memory);
    let plan = plan(&memory, day(999), &BTreeSet::new(), &BTreeSet::new());
    assert!(plan.is_empty(), "{plan:?}");
}

#[test]
fn unbound_topics_of_past_sessions_are_archived() {
    let mut memory = Memory::default();
    let named = |key: &str| topic_named_after(key, day(1));
    let part = |name: &str| TopicPart {
        name: Some(name.to_owned()),
        status: Some("half way".to_owned()),
        ..TopicPart::default()
    };
    let topics = |names: &[&str]| Staged {
        topics: names.iter().map(|name| part(name)).collect(),
        ..Staged::default()
    };
    let [old, live, staged, pinned, young] = ["a", "b", "c", "d", "e"].map(named);
    let first = [&old, &live, &staged, &pinned, "cache", "main", "session-today"];
    save(&mut memory, &origin("one", 1), topics(&first));
    let id = memory.topic(&pinned).unwrap().id;
    pin(&mut memory, id, 1);
    save(&mut memory, &origin("one", 20), topics(&[&young]));
    checkpoint(&mut memory, &origin("two", 30), topics(&[&staged]));

    let bound = gone(&[&live.to_uppercase()]);
    assert!(plan(&memory, day(31), &BTreeSet::new(), &bound).is_empty(), "not older than 30 days");
    let plan = plan(&memory, Timestamp(day(31).0 + 1), &BTreeSet::new(), &bound);
    let names: Vec<&str> = plan
        .topics
        .keys()
        .map(|id| memory.record(*id).unwrap().topic().unwrap().name.as_str())
        .collect();
    assert_eq!(names, [&old]);
    let archived = save_with(&mut memory, &plan, Staged::default(), 40);
    assert_eq!(archived, Archived { topics: 1, ..Archived::default() });
    assert_eq!(memory.topic(&old).unwrap().state, RecordState::Archived);
    let listed = crate::render::topics(&memory, &[]);
    assert!(listed.lines().last().unwrap().contains("[archived]"), "{listed}");
    save(&mut memory, &origin("one", 41), topics(&[&old]));
    assert_eq!(memory.topic(&old).unwrap().state, RecordState::Active, "a write brings it back");
}
