//! A split sends each record to its project, loses nothing, and can be undone.

use super::*;
use crate::testing::{anchor, apply, blueprint, lesson, note, origin, save};
use crate::{Staged, plan_notes};

fn both(memory: &mut Memory, session: &str, day: i64, name: &str) {
    let lesson = crate::Lesson {
        files: vec![format!("{name}/src/a.rs"), "shared.md".to_owned()],
        ..lesson(&format!("{name} must be warm"), "")
    };
    let part = Staged {
        blueprints: vec![blueprint(&format!("{name} is typed"), "so it is")],
        anchors: vec![
            anchor(&format!("{name}/src/a.rs"), "1-9", "the start"),
            anchor("elsewhere/b.rs", &format!("{day}00"), "outside"),
        ],
        lessons: vec![lesson],
        ..Staged::default()
    };
    save(memory, &origin(session, day), part);
}

/// Creates a memory that `api`, `web` and the folder around them wrote into.
fn merged() -> Memory {
    let mut memory = Memory::default();
    both(&mut memory, "in-api", 1, "api");
    both(&mut memory, "in-web", 2, "web");
    save(&mut memory, &origin("above", 3), Staged::default());
    for (session, content) in [("in-api", "of api"), ("cli-1", "of a shell")] {
        let notes = plan_notes(&memory, &origin(session, 4), vec![Ok(note(&content.repeat(50)))]);
        apply(&mut memory, notes.unwrap());
    }
    memory
}

const FOLDERS: [&str; 2] = ["api", "web"];

fn folders() -> [Option<String>; 2] {
    FOLDERS.map(|folder| Some(folder.to_owned()))
}

fn written_in(session: &SessionId) -> WrittenIn {
    match session.0.as_ref() {
        "in-api" => WrittenIn::Other(0),
        "in-web" => WrittenIn::Other(1),
        "above" => WrittenIn::Here,
        _ => WrittenIn::Unknown,
    }
}

fn active(memory: &Memory) -> Vec<String> {
    let active = memory.records().filter(|record| record.state != RecordState::Forgotten);
    active.map(|record| format!("{} {:?}", record.id, record.body)).collect()
}

#[test]
fn records_move_to_the_project_they_were_written_in_and_others_are_counted() {
    let memory = merged();
    let plan = plan_split(&memory, &folders(), written_in);
    assert_eq!(plan.parts.keys().collect::<Vec<_>>(), [&0, &1]);
    assert_eq!((plan.unknown, plan.several, plan.outside, plan.private), (1, 0, 2, 0));
    let files = |part: &[Record]| {
        let file = |record: &Record| match &record.body {
            Body::Anchor(anchor) => Some(anchor.file.clone()),
            Body::Lesson(lesson) => Some(lesson.files.join(",")),
            _ => None,
        };
        part.iter().filter_map(file).collect::<Vec<_>>()
    };
    let mut named = files(&plan.parts[&0]);
    named.sort();
    assert_eq!(named, ["src/a.rs", "src/a.rs,shared.md"], "as they are called there");

    let all: usize = plan.parts.values().map(Vec::len).sum();
    assert_eq!(all, active(&memory).len() - 4, "one unknown, two outside, one here");
}

#[test]
fn a_record_of_two_projects_stays() {
    let mut memory = Memory::default();
    let part = |detail: &str| Staged {
        lessons: vec![lesson("warm the cache", detail)],
        ..Staged::default()
    };
    save(&mut memory, &origin("in-api", 1), part("first"));
    save(&mut memory, &origin("in-web", 2), part("then otherwise"));
    let plan = plan_split(&memory, &folders(), written_in);
    assert_eq!(plan.several, 1);
    let moved = plan.parts.values().flatten().any(|record| matches!(record.body, Body::Lesson(_)));
    assert!(!moved);
}

#[test]
fn a_split_loses_nothing_is_repeatable_and_can_be_undone() {
    let mut memory = merged();
    let before = active(&memory);
    let plan = plan_split(&memory, &folders(), written_in);
    let (split, by) = (split_session("1"), |split: &SessionId| Provenance {
        session: split.clone(),
        ..origin("", 5)
    });
    let records = &plan.parts[&0];
    // The project has different content under one title, and a lesson that would merge; both stay.
    let mut api = Memory::default();
    let own = Staged {
        blueprints: vec![blueprint("api is typed", "not at all")],
        lessons: vec![lesson("api must be warm", "or it is slow")],
        ..Staged::default()
    };
    save(&mut api, &origin("own", 1), own);
    let own = active(&api);

    let taken = apply_to(&mut api, |api| plan_take_in(api, records, &split, &by(&split)));
    assert_eq!((taken.records.len(), taken.left), (records.len() - 2, 2));
    let taken_in = active(&api);
    assert!(own.iter().all(|own| taken_in.contains(own)), "what is there does not change");
    let again = plan_take_in(&api, records, &split_session("2"), &by(&split));
    assert_eq!(again.outcome, taken, "a split that was cut short is made again");
    assert!(again.changes.is_empty(), "{:?}", again.changes);

    let whole = memory.records().map(|record| (record.id, Record::clone(record)));
    let whole: BTreeMap<_, _> = whole.collect();
    let aside = apply_to(&mut memory, |memory| plan_set_aside(memory, &taken.records, &by(&split)));
    assert_eq!(usize::try_from(aside).unwrap(), taken.records.len());
    assert_eq!(active(&memory).len(), before.len() - taken.records.len());
    let old = plan_set_aside(&memory, &taken.records, &by(&split));
    assert_eq!(old.outcome, 0, "what was changed meanwhile stays");

    assert_eq!(last_split(&memory), Some(split.clone()));
    let undo = origin("undo", 6);
    assert!(set_aside_by(&memory, &split).any(|record| record.is_head), "a long text is away");
    let partial = plan_bring_back(&memory, &BTreeMap::new(), &split, &undo);
    assert!(partial.outcome < aside, "none comes back without its text");
    // As the journal has them.
    let heads = set_aside_by(&memory, &split).map(|head| {
        let it = Record { version: head.version, ..whole[&head.id].clone() };
        (head.id, it)
    });
    let whole: BTreeMap<_, _> = heads.collect();
    let back = apply_to(&mut memory, |memory| plan_bring_back(memory, &whole, &split, &undo));
    assert_eq!((back, active(&memory)), (aside, before));
    assert_eq!(last_split(&memory), None);
    let given = apply_to(&mut api, |api| plan_give_back(api, &split, &undo));
    assert_eq!((usize::try_from(given).unwrap(), active(&api)), (taken.records.len(), own));
    assert_ne!(taken_in, active(&api));
}

fn apply_to<O>(memory: &mut Memory, plan: impl FnOnce(&Memory) -> Plan<O>) -> O {
    let plan = plan(memory);
    apply(memory, plan)
}
