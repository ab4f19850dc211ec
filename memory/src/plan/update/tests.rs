//! Only the given fields change; a record that is used becomes active again.

use std::sync::Arc;

use super::*;
use crate::testing::{apply, blueprint, blueprints, day, note, origin, save};
use crate::{Change, NewNote, Revision, Save, SessionId, plan_forget, plan_notes, plan_save};

fn store(memory: &mut Memory, session: &str, note: NewNote) -> RecordId {
    let plan = plan_notes(memory, &origin(session, 1), vec![Ok(note)]).unwrap();
    apply(memory, plan).stored[0].id
}

fn reader(session: &str) -> Reader {
    Reader::session(SessionId::new(session))
}

fn updated(memory: &mut Memory, id: RecordId, update: &Update) -> UpdateOutcome {
    let plan = plan_update(memory, &reader("one"), id, update, None, &origin("one", 2)).unwrap();
    apply(memory, plan)
}

fn archive(memory: &mut Memory, id: RecordId) {
    let record =
        Record { state: RecordState::Archived, ..memory.record(id).unwrap().as_ref().clone() };
    memory.apply(crate::Seq(memory.seq().0 + 1), &[Change::Put(Arc::new(record))]);
}

#[test]
fn only_the_given_fields_change() {
    let mut memory = Memory::default();
    let new = NewNote { summary: "short".to_owned(), ..note("error: it broke") };
    let id = store(&mut memory, "one", new);
    let update = Update { importance: Some(9), pinned: Some(true), ..Update::default() };
    let outcome = updated(&mut memory, id, &update);
    assert_eq!((outcome.record.version, outcome.unchanged), (Version(2), false));
    let record = memory.record(id).unwrap();
    assert!(record.pinned);
    assert_eq!(record.tags, ["error"]);
    let note = record.note().unwrap();
    assert_eq!((note.importance, note.summary.as_str()), (9, "short"));
    assert!(updated(&mut memory, id, &update).unchanged);
}

#[test]
fn a_new_content_drops_the_summary_of_the_old_one_and_keeps_the_tags() {
    let mut memory = Memory::default();
    let new = NewNote { summary: "short".to_owned(), ..note("error: it broke") };
    let id = store(&mut memory, "one", new);
    let content = Some("We decided to mend it".to_owned());
    updated(&mut memory, id, &Update { content, ..Update::default() });
    let record = memory.record(id).unwrap();
    assert_eq!(record.tags, ["error"]);
    assert_eq!((record.note().unwrap().summary.as_str(), record.note().unwrap().tokens), ("", 5));
}

#[test]
fn sharing_a_note_is_a_commit() {
    let mut memory = Memory::default();
    let id = store(&mut memory, "one", NewNote { private: true, ..note("useful to all") });
    let share = Update { share: true, ..Update::default() };
    updated(&mut memory, id, &share);
    assert_eq!((memory.revision(), memory.totals().active.notes), (Revision(1), 1));
    assert!(find(&memory, &reader("two"), id).is_ok());
    assert_eq!(memory.own_usage(&reader("one")), (0, 0));

    // A note that the project already has is counted there.
    let again = store(&mut memory, "one", NewNote { private: true, ..note("useful to all") });
    assert_eq!(updated(&mut memory, again, &share).record.id, id);
    assert_eq!(memory.totals().active.notes, 1);
    assert_eq!(memory.record(id).unwrap().note().unwrap().repeats, 1);

    // The call's other fields apply to that record.
    let again = store(&mut memory, "one", NewNote { private: true, ..note("useful to all") });
    let told = Update {
        importance: Some(9),
        pinned: Some(true),
        tags: Some(vec!["kept".to_owned()]),
        summary: Some("useful".to_owned()),
        ..share
    };
    assert_eq!(updated(&mut memory, again, &told).record.id, id);
    let record = memory.record(id).unwrap();
    let kept = record.note().unwrap();
    assert_eq!((record.pinned, &record.tags[..]), (true, &["kept".to_owned()][..]));
    assert_eq!((kept.importance, kept.summary.as_str(), kept.repeats), (9, "useful", 2));
}

#[test]
fn an_invalid_update_is_refused_with_advice() {
    let mut memory = Memory::default();
    let id = store(&mut memory, "one", note("kept"));
    let by = origin("one", 2);
    save(&mut memory, &by, blueprints([blueprint("Store", "sled")]));
    let refused = |id: &str, update: Update, version| {
        let id = id.parse().unwrap();
        plan_update(&memory, &reader("one"), id, &update, version, &by).unwrap_err().to_string()
    };
    let pin = || Update { pinned: Some(true), ..Update::default() };
    insta::assert_snapshot!(refused("n1", Update::default(), None), @"what to update is missing; give summary, content, tags, importance, pinned, expires or scope");
    insta::assert_snapshot!(refused("n1", pin(), Some(Version(4))), @r"
    n1 is at 1 now, not at 4; nothing was written. Changed since:
    n1: kept
    ");
    let importance = || Update { importance: Some(3), ..Update::default() };
    insta::assert_snapshot!(refused("b2", importance(), None), @"importance is of notes alone and b2 is a blueprint; of a blueprint, tags and pinned can be set here, the rest is written again with memory_checkpoint or memory_save");
    assert!(plan_update(&memory, &reader("one"), "b2".parse().unwrap(), &pin(), None, &by).is_ok());
    let plan = plan_forget(&memory, &reader("one"), id, None, &by).unwrap();
    apply(&mut memory, plan);
    let update = pin();
    let refusal = plan_update(&memory, &reader("one"), id, &update, None, &by).unwrap_err();
    insta::assert_snapshot!(refusal, @"n1 is forgotten; write it again to restore it");
}

#[test]
fn using_an_archived_note_reactivates_it() {
    let mut memory = Memory::default();
    let id = store(&mut memory, "one", note("kept"));
    assert!(plan_use(&memory, id, &origin("one", 2)).is_none());
    archive(&mut memory, id);
    assert_eq!((memory.totals().active.notes, memory.totals().archived), (0, 1));
    let written = memory.record(id).unwrap().updated.clone();
    let plan = plan_use(&memory, id, &origin("two", 3)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.record(id).unwrap().updated, written, "it was looked at, not written");
    assert_eq!((memory.totals().active.notes, memory.totals().archived), (1, 0));
    archive(&mut memory, id);
    updated(&mut memory, id, &Update { importance: Some(7), ..Update::default() });
    assert!(memory.record(id).unwrap().state.is_active());
}

#[test]
fn pinning_a_note_restores_its_full_text() {
    let mut memory = Memory::default();
    let id =
        store(&mut memory, "one", NewNote { summary: "short".to_owned(), ..note("at length") });
    let mut draft = Draft::new(&memory);
    let condensed = Note { condensed: true, ..memory.record(id).unwrap().note().unwrap().clone() };
    draft.put_note(id, condensed, RecordState::Active);
    let changes = draft.finish().changes;
    apply(&mut memory, Plan { changes, outcome: () });
    let is_condensed = |memory: &Memory| memory.record(id).unwrap().note().unwrap().condensed;
    updated(&mut memory, id, &Update { importance: Some(8), ..Update::default() });
    assert!(is_condensed(&memory));
    updated(&mut memory, id, &Update { pinned: Some(true), ..Update::default() });
    assert!(!is_condensed(&memory));
    assert!(memory.record(id).unwrap().pinned);
}

/// The marks of the session's own note carry over to the project's.
#[test]
fn sharing_a_note_into_an_existing_one_carries_over_its_tags_and_pin() {
    let mut memory = Memory::default();
    let tagged = |tags: &[&str], new: NewNote| NewNote {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..new
    };
    let content = "the importer skips rows";
    let there = store(&mut memory, "two", tagged(&["db"], note(content)));
    let own = NewNote {
        private: true,
        pinned: true,
        summary: "rows are skipped".to_owned(),
        importance: Some(9),
        ..note(content)
    };
    let own = store(&mut memory, "one", tagged(&["import", "db"], own));
    let share = Update { share: true, ..Update::default() };
    assert_eq!(updated(&mut memory, own, &share).record.id, there);
    let marks = |memory: &Memory| {
        let record = memory.record(there).unwrap();
        let note = record.note().unwrap();
        (record.pinned, record.tags.join(" "), note.summary.clone(), note.importance, note.repeats)
    };
    let expected = (true, "db import".to_owned(), "rows are skipped".to_owned(), 9, 1);
    assert_eq!(marks(&memory), expected);

    // Nothing is removed from the existing note, and the call's own fields win.
    let own = NewNote {
        private: true,
        summary: "other".to_owned(),
        importance: Some(2),
        ..note(content)
    };
    let own = store(&mut memory, "one", tagged(&["x"], own));
    let said = Update { pinned: Some(false), tags: Some(vec!["new".to_owned()]), ..share };
    updated(&mut memory, own, &said);
    let expected = (false, "new".to_owned(), "rows are skipped".to_owned(), 9, 2);
    assert_eq!(marks(&memory), expected);
}

/// The content that the caller expects has not changed.
#[test]
fn an_expected_version_with_equal_content_is_accepted() {
    let mut memory = Memory::default();
    let id = store(&mut memory, "one", note("kept"));
    let expecting = |memory: &Memory, version| {
        let update = Update { importance: Some(3), ..Update::default() };
        let expected = Some(Version(version));
        plan_update(memory, &reader("one"), id, &update, expected, &origin("one", 4))
    };
    let mut draft = Draft::new(&memory);
    draft.set_state(id, RecordState::Archived, &origin("two", 2));
    let changes = draft.finish().changes;
    apply(&mut memory, Plan { changes, outcome: () });
    let plan = plan_use(&memory, id, &origin("two", 3)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.record(id).unwrap().version, Version(3));
    assert!(expecting(&memory, 1).is_ok() && expecting(&memory, 3).is_ok());
    // The same holds for the revision that a save expects.
    let saving = |memory: &Memory, revision| {
        let expected_revision = Some(Revision(revision));
        let save = Save { session_summary: "done", expected_revision, ..Save::default() };
        plan_save(memory, &origin("one", 4), save)
    };
    assert_eq!(memory.revision(), Revision(3));
    assert!(saving(&memory, 1).is_ok() && saving(&memory, 3).is_ok());
    assert!(saving(&memory, 4).is_err(), "it is not there yet");
    let plan = expecting(&memory, 2).unwrap();
    apply(&mut memory, plan);
    assert!(saving(&memory, 3).is_err() && saving(&memory, 4).is_ok());
    assert!(expecting(&memory, 3).is_err() && expecting(&memory, 4).is_ok());
    assert!(expecting(&memory, 5).is_err());
}

#[test]
fn expiry_depends_on_the_given_time() {
    let mut memory = Memory::default();
    let id = store(&mut memory, "one", NewNote { expires: Some(day(3)), ..note("soon over") });
    let expired = |on| is_expired(memory.record(id).unwrap(), day(on));
    assert_eq!((expired(2), expired(3)), (false, true));
}
