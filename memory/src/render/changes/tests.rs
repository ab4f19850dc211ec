//! The reply to a load after a hook has given the memory.

use std::collections::BTreeSet;

use super::*;
use crate::draft::Draft;
use crate::ids::Kind;
use crate::limits::PROJECT_HALF_LIFE_FACTOR;
use crate::reader::Reader;
use crate::render::hooks::{LoadedBefore, already_loaded};
use crate::testing::{apply, blueprint, blueprints, day, lesson, lessons, note, origin, save};
use crate::{
    Accesses, NearDuplicates, Plan, Pool, RecordId, Scoring, Update, plan_compaction, plan_forget,
    plan_notes, plan_update, plan_use,
};

fn repeated(memory: &Memory, at: Revision, session: &SessionId) -> String {
    repeated_for(memory, at, session, None)
}

fn repeated_for(memory: &Memory, at: Revision, session: &SessionId, task: Option<&str>) -> String {
    let reader = Reader::session(session.clone());
    let of = LoadedBefore { injected: at, since: at, session, reader: &reader, task, now: day(9) };
    already_loaded(memory, &of).text
}

/// The hook did not know it.
#[test]
fn a_repeated_load_with_a_task_gives_records_about_it() {
    let mut memory = Memory::default();
    let learned =
        [lesson("The cache starves when full", "Bound it."), lesson("Ports clash", "Ask.")];
    save(&mut memory, &origin("s1", 1), lessons(learned));
    let (at, own) = (memory.revision(), SessionId::new("s1"));
    let text = repeated_for(&memory, at, &own, Some("find out why the cache starves when full"));
    let (_, on_it) = text.split_once("\nMemory has on this:\nl1 ").expect(&text);
    assert!(on_it.contains("Bound it.") && !text.contains("Ports"), "{text}");
    assert!(on_it.ends_with("\nNothing changed by others since revision 1.\n"), "{text}");
    let text = repeated_for(&memory, at, &own, Some("draw a \"new\" logo"));
    let call = r#"memory_search {"query":"draw a \"new\" logo"}"#;
    assert!(
        text.contains(&format!("\nNo record stands out for this task; {call} looks")),
        "{text}"
    );
}

/// A task's records may be what others wrote meanwhile.
#[test]
fn a_repeated_load_gives_each_record_once() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("s1", 1), blueprints([blueprint("Sockets", "Not ports.")]));
    let (at, own) = (memory.revision(), SessionId::new("s1"));
    with_notes(&mut memory, "s2", 2, "The cache starves when full: bound it.");
    let task = Some("find out why the cache starves when full");
    let text = repeated_for(&memory, at, &own, task);
    assert!(text.contains("\nMemory has on this:\nn3"), "{text}");
    assert_eq!(text.matches("The cache starves").count(), 1, "{text}");
    assert!(text.ends_with("Changed by others since revision 1:\n- above: n3\n"), "{text}");
    with_notes(&mut memory, "s2", 3, "A logo is blue.");
    let text = repeated_for(&memory, at, &own, task);
    let changes = "Changed by others since revision 1:\n- above: n3\n- new n4";
    assert!(text.contains(changes) && text.contains("A logo is blue."), "{text}");
    assert_eq!(text.matches("The cache starves").count(), 1, "{text}");
}

#[test]
fn a_repeated_load_gives_only_what_changed() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("s1", 1), blueprints([blueprint("Sockets", "Not ports.")]));
    let at = memory.revision();
    let own = SessionId::new("s1");
    let text = repeated(&memory, at, &own);
    assert!(text.contains("at revision 1"), "{text}");
    assert!(text.ends_with("Nothing changed by others since revision 1.\n"), "{text}");

    save(&mut memory, &origin("s2", 2), blueprints([blueprint("Ports", "None.")]));
    let text = repeated(&memory, at, &own);
    assert!(text.contains("Changed by others since revision 1:\n"), "{text}");
    assert!(text.contains("Ports") && !text.contains("Sockets"), "{text}");
    let text = repeated(&memory, at, &SessionId::new("s2"));
    assert!(text.ends_with("Nothing changed by others since revision 1.\n"), "own changes: {text}");
    assert!(memory.last_written().is_some_and(|record| record.updated.time == day(2)));
}

fn with_notes(memory: &mut Memory, session: &str, on: i64, content: &str) -> RecordId {
    let plan = plan_notes(memory, &origin(session, on), vec![Ok(note(content))]).unwrap();
    apply(memory, plan).stored[0].id
}

/// Archives everything that is not pinned, like a session's write that has no more room.
fn compacted(memory: &mut Memory) {
    let (accesses, spare) = (&Accesses::default(), BTreeSet::new());
    let (half_life_factor, formula) = (PROJECT_HALF_LIFE_FACTOR, crate::Formula::Own);
    let scoring = Scoring { accesses, half_life_factor, formula, now: day(9) };
    let near = &mut NearDuplicates::default();
    let plan = plan_compaction(memory, &Pool::Project, 0, scoring, &spare, near);
    let plan = plan.apply(memory);
    apply(memory, plan);
}

fn told(memory: &Memory, since: Revision, session: &str) -> Vec<String> {
    changes_since(memory, since, Some(&SessionId::new(session)), day(9))
}

#[test]
fn archived_records_do_not_crowd_out_changes_by_others() {
    let mut memory = Memory::default();
    for n in 0..40 {
        with_notes(&mut memory, "b", 1, &format!("finding {n} of many"));
    }
    let since = memory.revision();
    save(&mut memory, &origin("b", 2), blueprints([blueprint("Ports", "None.")]));
    compacted(&mut memory);
    assert_eq!(memory.totals().active.notes, 0);
    let lines = told(&memory, since, "a");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("new s") && lines[1].starts_with("new b"), "{lines:?}");
    // An archived record is news to sessions that have not seen it yet.
    let lines = told(&memory, Revision(0), "a");
    assert_eq!(lines.len(), CHANGES_SHOWN_MAX + 1);
    // A load does not give the rest a second time, but a search by time does.
    let since = day(1).minute();
    let call =
        format!(r#" more; memory_search {{"since":"{since}"}} lists what was written since"#);
    assert!(lines.last().unwrap().ends_with(&call), "{lines:?}");
}

#[test]
fn reactivating_a_record_by_reading_it_is_not_reported_as_a_change() {
    let mut memory = Memory::default();
    let id = with_notes(&mut memory, "b", 1, "the port is 4000");
    save(&mut memory, &origin("b", 1), lessons([lesson("Sync the folder", "too")]));
    let lesson = memory.active_of(Kind::Lesson).next().unwrap().id;
    compacted(&mut memory);
    let mut draft = Draft::new(&memory);
    draft.set_state(lesson, RecordState::Archived, &origin("c", 2));
    let changes = draft.finish().changes;
    apply(&mut memory, Plan { changes, outcome: () });
    let since = memory.revision();
    for id in [id, lesson] {
        let plan = plan_use(&memory, id, &origin("a", 3)).unwrap();
        apply(&mut memory, plan);
    }
    with_notes(&mut memory, "a", 3, "the port is 4000");
    for session in ["a", "b", "c"] {
        assert_eq!(told(&memory, since, session), [""; 0], "to {session}");
    }

    let update = Update { importance: Some(9), ..Update::default() };
    let by = origin("b", 4);
    let reader = Reader::session(by.session.clone());
    let plan = plan_update(&memory, &reader, id, &update, None, &by).unwrap();
    apply(&mut memory, plan);
    compacted(&mut memory);
    let lines = told(&memory, since, "a");
    assert!(lines.len() == 1 && lines[0].starts_with("archived n1 "), "{lines:?}");
    let plan = plan_forget(&memory, &reader, lesson, None, &by).unwrap();
    apply(&mut memory, plan);
    assert!(told(&memory, since, "a")[0].starts_with("forgotten l2 "));
}

#[test]
fn a_repeated_load_names_a_section_that_is_there() {
    let mut memory = Memory::default();
    let (own, none) = (SessionId::new("a"), Revision(0));
    let text = repeated(&memory, none, &own);
    assert!(!text.contains("sections"), "{text}");
    with_notes(&mut memory, "a", 1, "the port is 4000");
    let text = repeated(&memory, none, &own);
    assert!(text.contains(r#"memory_load {"sections":["notes"]}."#), "{text}");
    save(&mut memory, &origin("a", 2), blueprints([blueprint("Sockets", "Not ports.")]));
    let text = repeated(&memory, none, &own);
    assert!(text.contains(r#"memory_load {"sections":["blueprints"]}."#), "{text}");
}
