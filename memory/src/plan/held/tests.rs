//! Saves that are held on one machine and folded for all, and what stays on the machine.

use super::*;
use crate::kinds::topic::{MAIN, TopicDecision, TopicPart};
use crate::record::Body;
use crate::testing::{
    anchor, anchors, apply, blueprint, blueprints, captured_lesson, checkpoint, lesson, lessons,
    mutable, note, origin, save,
};
use crate::{
    Kind, NewNote, NoticeCause, RecordId, Seq, SessionId, Settings, Team, UnseenCode, Update,
    WhyUnseen, plan_configure, plan_keep, plan_notes, plan_save, plan_update,
};

fn in_team() -> Memory {
    let mut memory = Memory::default();
    let project = Some("api".to_owned());
    let team = Team { project, last_number: 20, session_rows: 2 };
    memory.apply(Seq(1), &[Change::Team(team)]);
    memory
}

fn key(number: u64) -> HeldKey {
    HeldKey { instance: "shim".into(), number }
}

fn saving(part: Staged) -> Save<'static> {
    Save { session_summary: "Worked.", part, ..Save::default() }
}

fn fold(memory: &mut Memory, key: &HeldKey) -> Option<SaveOutcome> {
    let plan = plan_release(memory, key, None, ToldBy::Row).unwrap();
    match apply(memory, plan) {
        Released::Save(outcome) => Some(*outcome),
        Released::End(_) => None,
    }
}

fn private(content: &str) -> NewNote {
    NewNote { private: true, ..note(content) }
}

fn shared(changes: &[Change]) -> Vec<&Change> {
    changes.iter().filter(|change| change.is_shared()).collect()
}

#[test]
fn a_save_is_held_without_a_commit_and_then_folded_as_one() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    checkpoint(&mut memory, &by, blueprints([blueprint("Cache", "Five minutes.")]));
    let save = saving(lessons([lesson("Flush first", "")]));

    let held = plan_hold(&memory, &by, &key(7), save.clone()).unwrap();
    assert_eq!(shared(&held.changes), Vec::<&Change>::new());
    apply(&mut memory, held);
    assert!(memory.staged_by(&by.session).is_none());
    assert_eq!(memory.records().count(), 0);
    let again = plan_hold(&memory, &by, &key(7), save).unwrap();
    assert_eq!(again.changes, [], "the same line holds once");

    let revision = memory.revision();
    let outcome = fold(&mut memory, &key(7)).unwrap();
    assert_eq!(memory.revision().0, revision.0 + 1);
    assert_eq!((outcome.added.blueprints, outcome.added.lessons), (1, 1));
    assert_eq!(memory.held().count(), 0);
    let refused = plan_release(&memory, &key(7), None, ToldBy::Row).unwrap_err();
    assert!(refused.to_string().contains("no longer waits"), "{refused}");
    // Numbers go on after those of the machine that created the team's project.
    assert!(memory.records().all(|record| record.id.number > 20));
}

/// A team's save answers like any other, whatever of it is left out.
#[test]
fn a_save_that_is_held_and_folded_has_the_outcome_of_one_without_a_team() {
    let staged = [
        Staged::default(),
        blueprints([blueprint("Tabs", "Use tabs always.")]),
        blueprints([mutable("Tabs", "Use tabs for now.")]),
    ];
    let unseen = UnseenCode {
        file: "nosuch.rs".to_owned(),
        lines: anchor("nosuch.rs", "1-2", "").lines,
        why: WhyUnseen::NoFile,
    };
    let parts = [
        Staged::default(),
        Staged { unseen: vec![unseen], ..anchors([anchor("nosuch.rs", "1-2", "the parser")]) },
        blueprints([blueprint("Tabs", "Use spaces instead.")]),
        Staged {
            notes: vec![NewNote { key: Some("port".to_owned()), ..note("8001") }],
            ..lessons([lesson("Flush first", "")])
        },
    ];
    for (staged, part) in staged.iter().flat_map(|it| parts.iter().map(move |part| (it, part))) {
        let mut memory = Memory::default();
        let (by, other) = (origin("one", 1), origin("other", 2));
        if staged.has_work() {
            checkpoint(&mut memory, &by, staged.clone());
        }
        let fact = NewNote { key: Some("port".to_owned()), ..note("8000") };
        let others = blueprints([mutable("Other", "x")]);
        save(&mut memory, &other, Staged { notes: vec![fact], ..others });
        let by = origin("one", 3);
        let alone = plan_save(&memory, &by, saving(part.clone())).unwrap();
        let held = plan_hold(&memory, &by, &key(7), saving(part.clone())).unwrap();
        let (mut here, mut there) = (memory.clone(), memory);
        apply(&mut there, held);
        assert_eq!(fold(&mut there, &key(7)), Some(apply(&mut here, alone)), "{staged:?} {part:?}");
        assert!(here.records().eq(there.records()));
    }
}

/// The save expected a revision, so what came after it is not to be replaced, saved or not.
#[test]
fn a_refused_save_that_is_staged_again_replaces_nothing_written_since() {
    let (mut memory, by, other) = (in_team(), origin("one", 1), origin("other", 2));
    let fact = |text: &str| Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        ..blueprints([mutable("Cache", text)])
    };
    save(&mut memory, &other, fact("8000"));
    let expecting =
        Save { expected_revision: Some(memory.revision()), merge: None, ..saving(fact("5000")) };
    let held = plan_hold(&memory, &by, &key(7), expecting).unwrap();
    apply(&mut memory, held);
    save(&mut memory, &other, fact("6000"));
    plan_release(&memory, &key(7), None, ToldBy::Row).unwrap_err();
    let again = plan_restage(&memory, &key(7));
    apply(&mut memory, again);
    let end = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, end);
    let waits = memory.held().next().unwrap().key.clone();
    fold(&mut memory, &waits);
    let fact = memory.active_of(Kind::Note).find_map(|it| it.note()).unwrap();
    assert_eq!(fact.content, "6000");
    let cache = memory.active_of(Kind::Blueprint).next().unwrap();
    assert!(crate::render::item::full(cache).contains("6000"), "{cache:?}");
}

/// The call was answered long ago, so its row says what the reply would have said.
#[test]
fn a_row_has_what_a_save_that_waited_did_not_replace() {
    let (mut memory, by, other) = (in_team(), origin("one", 1), origin("other", 2));
    let fact = |text: &str| Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        ..Staged::default()
    };
    checkpoint(&mut memory, &by, fact("8000"));
    save(&mut memory, &other, fact("6000"));
    let held = plan_hold(&memory, &by, &key(7), saving(Staged::default())).unwrap();
    apply(&mut memory, held);
    for (told_by, expected) in [
        (ToldBy::Reply, "Worked."),
        (ToldBy::Row, "Worked.\nNot taken, since n21 was written later: 8000"),
    ] {
        let mut memory = memory.clone();
        let plan = plan_release(&memory, &key(7), None, told_by).unwrap();
        let Released::Save(outcome) = apply(&mut memory, plan) else { panic!("it is a save") };
        assert_eq!(outcome.overtaken.len(), 1);
        let Some(Body::SessionRow(row)) = memory.record(outcome.row).map(|it| &it.body) else {
            panic!("it has a row")
        };
        assert_eq!(row.summary, expected);
    }
}

#[test]
fn the_row_of_an_end_that_waited_gets_what_was_not_taken() {
    let (mut memory, by, other) = (in_team(), origin("one", 1), origin("other", 2));
    checkpoint(&mut memory, &by, blueprints([blueprint("Cache", "Five minutes.")]));
    let end = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, end);
    save(&mut memory, &other, blueprints([blueprint("Cache", "None.")]));
    let held = Held::clone(memory.held().next().unwrap());
    let plan = plan_release(&memory, &held.key, None, ToldBy::Row).unwrap();
    let Released::End(left) = apply(&mut memory, plan) else { panic!("it is an end") };
    assert!(left.ends_with("is immutable: Five minutes."), "{left}");
    let said = plan_say_left(&memory, &held, left.clone());
    assert_eq!(shared(&said.changes), Vec::<&Change>::new());
    apply(&mut memory, said);
    let notice = memory.notices().last().unwrap();
    let row = memory.record(notice.row).unwrap();
    assert!(row.is_private() && crate::render::item::full(row).contains(&left), "{row:?}");
}

#[test]
fn work_staged_after_a_save_that_waits_is_not_part_of_it() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    let save = saving(lessons([lesson("Flush first", "")]));
    let held = plan_hold(&memory, &by, &key(7), save).unwrap();
    apply(&mut memory, held);
    checkpoint(&mut memory, &by, lessons([lesson("Warm up", "")]));

    let folded = plan_release(&memory, &key(7), None, ToldBy::Row).unwrap();
    apply(&mut memory, folded);
    assert_eq!(memory.records_of(Kind::Lesson).count(), 1);
    assert_eq!(memory.staged_by(&by.session).unwrap().lessons.len(), 1);
}

/// A save is committed when the database is back, so its revision is later than that of what the
/// session staged after it.
#[test]
fn work_staged_after_a_save_that_waits_replaces_what_that_wrote() {
    let work = |text: &str| Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        blueprints: vec![mutable("Cache", text)],
        anchors: vec![anchor("a.rs", "1-9", text)],
        topics: vec![TopicPart {
            status: Some(text.to_owned()),
            overview: Some(text.to_owned()),
            architecture: Some(text.to_owned()),
            decisions: vec![TopicDecision {
                question: "Which port?".to_owned(),
                ..TopicDecision::statement(text)
            }],
            ..TopicPart::default()
        }],
        ..Staged::default()
    };
    let (mut memory, by, other) = (in_team(), origin("one", 2), origin("other", 4));
    save(&mut memory, &other, work("before"));
    for (number, text, on) in [(7, "first", 5), (8, "second", 6)] {
        checkpoint(&mut memory, &origin("one", on), work(text));
        let held = plan_hold(&memory, &origin("one", on), &key(number), saving(Staged::default()));
        apply(&mut memory, held.unwrap());
    }
    // Others' commits come first and raise the revision.
    save(&mut memory, &other, lessons([lesson("Flush first", "")]));
    for (number, text) in [(7, "first"), (8, "second")] {
        let outcome = fold(&mut memory, &key(number)).unwrap();
        assert_eq!(outcome.overtaken, [], "{text}");
        assert!(memory.active_of(Kind::Anchor).all(|it| it.anchor().unwrap().concept == text));
        let topic = memory.topic(MAIN).unwrap().topic().unwrap();
        assert_eq!([&topic.status, &topic.overview, &topic.architecture], [text; 3]);
        assert_eq!(topic.decisions.last().unwrap().decided.as_deref(), Some(text));
        let fact = memory.active_of(Kind::Note).next().unwrap();
        assert_eq!(fact.note().unwrap().content, text);
        let blueprint = memory.active_of(Kind::Blueprint).next().unwrap();
        assert!(matches!(&blueprint.body, Body::Blueprint(it) if it.content == text));
    }
    // What another session writes later stays, as before.
    checkpoint(&mut memory, &by, work("third"));
    save(&mut memory, &other, work("theirs"));
    let held = plan_hold(&memory, &by, &key(9), saving(Staged::default())).unwrap();
    apply(&mut memory, held);
    assert!(!fold(&mut memory, &key(9)).unwrap().overtaken.is_empty());
}

#[test]
fn what_is_private_is_written_by_the_hold_and_not_by_the_fold() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    let notes = vec![private("Only I need this."), note("All need this.")];
    let held = plan_hold(&memory, &by, &key(7), saving(Staged { notes, ..Staged::default() }));
    apply(&mut memory, held.unwrap());
    let kept: Vec<String> = memory.records().map(|record| record.id.to_string()).collect();
    assert_eq!(kept, ["n1p"]);

    let folded = plan_release(&memory, &key(7), None, ToldBy::Row).unwrap().changes;
    let private: Vec<&Change> = folded.iter().filter(|change| !change.is_shared()).collect();
    assert_eq!(private, [&Change::Release(key(7))]);
}

#[test]
fn an_ended_session_leaves_its_row_and_its_notice_here_and_the_rest_waits() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    checkpoint(&mut memory, &by, blueprints([blueprint("Cache", "Five minutes.")]));
    let end = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    assert_eq!(shared(&end.changes), Vec::<&Change>::new());
    apply(&mut memory, end);
    assert_eq!(memory.notices().count(), 1);
    let row = memory.records_of(Kind::SessionRow).next().unwrap();
    assert!(row.is_private() && row.id.is_private(), "{}", row.id);

    let waits = memory.held().next().unwrap().key.clone();
    let outcome = fold(&mut memory, &waits);
    assert_eq!(outcome, None);
    assert_eq!(memory.records_of(Kind::Blueprint).count(), 1);
    // A save of the same session later has a row of its own, which all see.
    let held = plan_hold(&memory, &by, &key(9), saving(Staged::default())).unwrap();
    apply(&mut memory, held);
    let saved = fold(&mut memory, &key(9)).unwrap();
    assert!(!saved.row.is_private());
    assert_eq!(memory.records_of(Kind::SessionRow).count(), 2);
}

#[test]
fn a_lesson_of_an_agent_does_not_merge_into_one_that_stays_here() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    let captured = captured_lesson("cargo test", "error[E0432]", by.time);
    let mut draft = Draft::new(&memory);
    let here = draft.create(Body::Lesson(captured.clone()), &by);
    let changes = draft.finish().changes;
    assert_eq!(shared(&changes), Vec::<&Change>::new());
    memory.apply(Seq(2), &changes);
    assert!(here.is_private());

    let told = crate::Lesson { captured: None, ..captured };
    let held = plan_hold(&memory, &by, &key(7), saving(lessons([told]))).unwrap();
    apply(&mut memory, held);
    let folded = plan_release(&memory, &key(7), None, ToldBy::Row).unwrap();
    apply(&mut memory, folded);
    assert_eq!(memory.records_of(Kind::Lesson).filter(|it| !it.is_private()).count(), 1);
}

#[test]
fn a_private_note_that_is_shared_gets_an_id_that_all_can_have() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    let stored = plan_notes(&memory, &by, vec![Ok(private("Port 4000."))]).unwrap();
    let id = apply(&mut memory, stored).stored[0].id;
    assert_eq!(id, RecordId::private(Kind::Note, 1));

    let reader = crate::Reader::session(SessionId::new("one"));
    let share = Update { share: true, ..Update::default() };
    let plan = plan_update(&memory, &reader, id, &share, None, &by).unwrap();
    let record = apply(&mut memory, plan).record;
    assert_eq!(record.id, RecordId::new(Kind::Note, 21));
    assert!(!record.is_private());
    assert_eq!(memory.record(id).unwrap().state, crate::RecordState::Forgotten);
}

#[test]
fn settings_of_the_project_are_shared_and_those_of_a_client_are_not() {
    let memory = in_team();
    let told = Settings { half_life_factor: Some(5), ..Settings::default() };
    let all = plan_configure(&memory, None, &told).unwrap().changes;
    assert_eq!(shared(&all).len(), 1);
    assert_eq!(shared(&plan_configure(&Memory::default(), None, &told).unwrap().changes).len(), 0);
}

#[test]
fn the_id_of_a_private_record_reads_back() {
    for id in [RecordId::private(Kind::Note, 12), RecordId::private(Kind::SessionRow, 1)] {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    assert!("n12p".parse::<RecordId>().unwrap().is_private());
    for bad in ["np", "u1p", "n1pp", "n18446744073709551615p"] {
        assert!(bad.parse::<RecordId>().is_err(), "{bad}");
    }
}

#[test]
fn no_more_is_held_than_is_allowed() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    for number in 0..HELD_MAX as u64 {
        let held = plan_hold(&memory, &by, &key(number), saving(Staged::default())).unwrap();
        apply(&mut memory, held);
    }
    let refused = plan_hold(&memory, &by, &key(9_999), saving(Staged::default())).unwrap_err();
    assert!(refused.to_string().contains("memory_checkpoint"), "{refused}");
}

#[test]
fn every_shared_write_names_the_member_of_its_machine() {
    let (mut memory, by) = (in_team(), origin("one", 1));
    let told = |content: &str| NewNote { key: Some("db".to_owned()), ..note(content) };
    memory.set_member(Some("ada"));
    let plan = plan_notes(&memory, &by, vec![Ok(told("Postgres 15."))]).unwrap();
    apply(&mut memory, plan);
    // The same journal on another machine.
    let here = memory.clone();
    memory.set_member(Some("Bob"));
    assert_eq!(memory, here, "the member is no part of the state");
    let plan = plan_notes(&memory, &origin("two", 2), vec![Ok(told("Postgres 16."))]).unwrap();
    apply(&mut memory, plan);
    let held = plan_hold(&memory, &by, &key(7), saving(Staged::default())).unwrap();
    apply(&mut memory, held);
    let row = fold(&mut memory, &key(7)).unwrap().row;

    let note = memory.records_of(Kind::Note).next().unwrap();
    let members = [&note.created, &note.updated].map(|by| by.member.as_deref());
    assert_eq!(members, [Some("ada"), Some("Bob")]);
    let text = crate::render::record(note);
    assert!(text.contains("written 2026-11-01 by claude-code of ada in session one"), "{text}");
    assert!(text.contains("changed 2026-11-02 by claude-code of Bob in session two"), "{text}");
    let row = crate::render::record(memory.record(row).unwrap());
    assert!(row.contains("claude-code of Bob"), "{row}");
}
