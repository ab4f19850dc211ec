//! The memory on the machine that shares it, and the one that another machine gets.

use super::*;
use crate::testing::{apply, blueprint, blueprints, captured_lesson, checkpoint, origin, save};
use crate::{Kind, NewNote, NoticeCause, Seq, plan_keep, plan_notes};

/// A memory with something of every reach.
fn grown() -> (Memory, Vec<Vec<Change>>) {
    let (mut memory, by) = (Memory::default(), origin("one", 1));
    let mut commits = Vec::new();
    let mut take = |memory: &mut Memory, changes: Vec<Change>| {
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        commits.push(changes);
    };
    let note = |private| {
        let content = if private { "Mine." } else { "Ours." };
        Ok(NewNote { content: content.to_owned(), private, ..NewNote::default() })
    };
    let plan = plan_notes(&memory, &by, vec![note(false)]).unwrap();
    take(&mut memory, plan.changes);
    let plan = plan_notes(&memory, &by, vec![note(true)]).unwrap();
    take(&mut memory, plan.changes);
    let plan = crate::plan_checkpoint(&memory, &by, blueprints([blueprint("Cache", "Warm.")]));
    take(&mut memory, plan.unwrap().changes);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    take(&mut memory, plan.changes);
    let lesson = crate::Lesson { ..captured_lesson("make", "error 2", by.time) };
    let mut draft = crate::draft::Draft::new(&memory);
    draft.create(crate::Body::Lesson(lesson), &by);
    let changes = draft.finish().changes;
    take(&mut memory, changes);
    (memory, commits)
}

#[test]
fn what_a_team_gets_of_the_past_has_the_same_revisions_and_nothing_private() {
    let (mut memory, commits) = grown();
    memory.apply(Seq(99), &plan_withhold(&memory.clone()));
    let begins = plan_team(&memory, "api");
    let mut joined = Memory::default();
    let shared = commits.iter().filter(|changes| changes.iter().any(Change::is_shared));
    for (seq, changes) in (1..).zip(shared) {
        joined.apply(Seq(seq), &shared_part(changes));
    }
    joined.apply(Seq(50), &begins);
    memory.apply(Seq(100), &begins);

    assert_eq!(joined.revision(), memory.revision());
    assert_eq!(joined.last_number(), memory.last_number());
    assert_eq!(joined.session_rows(), memory.session_rows());
    let shared: Vec<_> = memory.records().filter(|record| !record.is_private()).collect();
    assert_eq!(joined.records().collect::<Vec<_>>(), shared);
    let kinds: Vec<Kind> = joined.records().map(|record| record.kind()).collect();
    assert_eq!(kinds, [Kind::Blueprint, Kind::Note]);
    assert_eq!(joined.notices().count(), 0);
}

#[test]
fn a_record_that_stays_is_marked_once() {
    let (mut memory, _) = grown();
    let withheld = plan_withhold(&memory);
    assert_eq!(withheld.len(), 2, "a session row and a lesson made by rule");
    assert!(withheld.iter().all(|change| !change.is_shared()));
    memory.apply(Seq(99), &withheld);
    assert_eq!(plan_withhold(&memory), []);
}

#[test]
fn a_memory_that_left_its_team_takes_commits_of_its_own() {
    let (mut memory, by) = (Memory::default(), origin("one", 1));
    memory.apply(Seq(1), &plan_team(&Memory::default(), "api"));
    assert_eq!(memory.team(), Some("api"));
    memory.apply(Seq(2), &plan_leave(&memory.clone()));
    assert_eq!((memory.team(), memory.revision().0), (None, 2));
    assert_eq!(plan_leave(&memory), []);
    checkpoint(&mut memory, &by, blueprints([blueprint("Cache", "Warm.")]));
    let row = save(&mut memory, &by, crate::Staged::default()).row;
    assert!(!row.is_private());
    let keep = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false);
    assert_eq!(keep.map(|plan| apply(&mut memory, plan)), None);
}

#[test]
fn only_notes_of_sessions_are_taken_over_with_ids_of_their_own() {
    let (memory, _) = grown();
    let mut fresh = Memory::default();
    fresh.apply(Seq(1), &plan_take_private(&memory));
    let taken: Vec<_> = fresh.records().map(|record| (record.id.to_string(), record)).collect();
    let (id, note) = &taken[0];
    assert_eq!((taken.len(), id.as_str(), note.private), (1, "n1p", true));
    assert_eq!(fresh.revision(), Revision(0));
    let before = memory.records().find(|record| record.owner().is_some()).unwrap();
    assert_eq!((&note.body, &note.created), (&before.body, &before.created));
}
