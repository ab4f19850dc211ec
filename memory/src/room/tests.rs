//! Writes of every kind into projects that are full, and staged work of many sessions.

use super::*;
use crate::limits::{
    SHORT_SUMMARY_BYTES_MAX, STAGED_BYTES_MAX, STAGED_PROJECT_BYTES_MAX, STAGED_SHARE_BYTES,
    TEXT_BYTES_MAX,
};
use crate::record::{Body, Record, SessionRow};
use crate::testing::{
    apply, blueprint, blueprints, checkpoint, each_item, lesson, lessons, note, origin, rule, save,
};
use crate::{
    Change, HeldKey, NoticeCause, Reader, RecordId, Rewrite, RuleAuthor, Save, Seq, Update,
    Version, plan_add, plan_checkpoint, plan_forget, plan_hold, plan_keep, plan_notes,
    plan_rewrite, plan_rule, plan_save, plan_update,
};

/// A memory in which records of one kind take all bytes but `left`. Copies of the record that
/// `part` makes fill it, past the merge rules; the tag of the last one takes the rest.
fn full_but(part: Staged, left: u64) -> Memory {
    let mut memory = Memory::default();
    save(&mut memory, &origin("filler", 1), part.clone());
    let kind = Kind::ALL.into_iter().find(|kind| part.sizes().of(*kind).records > 0).unwrap();
    let first = memory.active_of(kind).next().unwrap().clone();
    let (mut number, each) = (1_000, first.text_bytes() as u64);
    let room = limit(kind).bytes - left;
    while memory.totals().kept.of(kind).bytes + each <= room {
        number += 1;
        let id = RecordId::new(kind, number);
        memory.put(Record { id, ..Record::clone(&first) }.into());
    }
    let rest = room - memory.totals().kept.of(kind).bytes;
    let tags = vec![text(usize::try_from(rest).unwrap())];
    memory.put(Record { tags, ..Record::clone(&first) }.into());
    memory
}

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn large() -> String {
    text(TEXT_BYTES_MAX - 100)
}

/// One part of each kind that agents stage, large and small. Of notes there are none: the tests
/// write one as an item of another kind.
fn parts() -> impl Iterator<Item = (Kind, Staged, Staged)> {
    let large = each_item("big", TEXT_BYTES_MAX - 100).into_iter();
    let parts = large.zip(each_item("new", 2_000)).map(|((kind, big), (_, new))| (kind, big, new));
    parts.filter(|(kind, ..)| *kind != Kind::Note)
}

fn saved(memory: &Memory, by: &Provenance, part: Staged) -> Result<Vec<Change>, Refusal> {
    let save = Save { session_summary: "worked", part, ..Save::default() };
    plan_save(memory, by, save).map(|plan| plan.changes)
}

/// A save that a team's database has to take.
fn held(memory: &Memory, by: &Provenance, part: Staged) -> Result<Vec<Change>, Refusal> {
    let key = HeldKey { instance: "shim".into(), number: 1 };
    let save = Save { session_summary: "worked", part, ..Save::default() };
    plan_hold(memory, by, &key, save).map(|plan| plan.changes)
}

fn is_full(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Full { .. })
}

#[test]
fn a_full_kind_refuses_every_new_record() {
    let by = origin("one", 2);
    for (kind, big, new) in parts() {
        let memory = full_but(big, 100);
        let refusals = [
            plan_checkpoint(&memory, &by, new.clone()).unwrap_err(),
            saved(&memory, &by, new.clone()).unwrap_err(),
            held(&memory, &by, new.clone()).unwrap_err(),
            plan_add(&memory, &by, new.clone()).unwrap_err(),
        ];
        assert!(refusals.iter().all(is_full), "{kind:?}: {refusals:?}");
        // Other kinds have their own room, and a save without items always works.
        let other = Staged { notes: vec![note("small")], ..Staged::default() };
        assert!(saved(&memory, &by, other).is_ok(), "{kind:?}");
        assert!(saved(&memory, &by, Staged::default()).is_ok(), "{kind:?}");
    }
}

#[test]
fn a_refusal_names_the_limit_the_usage_and_what_to_do() {
    let memory = full_but(blueprints([blueprint("big", &large())]), 100);
    let new = blueprints([blueprint("new", &text(1_000))]);
    let refusal = plan_checkpoint(&memory, &origin("one", 2), new).unwrap_err();
    insta::assert_snapshot!(refusal, @"no room for more blueprints in this project: 16777116 of 16777216 bytes are used, 1003 more are needed; memory_forget records that no longer hold, archived ones too");
    let kept = Sizes {
        anchors: Size { records: limit(Kind::Anchor).records, bytes: 5 },
        ..Sizes::default()
    };
    let refusal = has_room(&kept, Kind::Anchor, Size { records: 1, bytes: 8 }).unwrap_err();
    insta::assert_snapshot!(refusal, @"no room for more anchors in this project: 50000 of 50000 records are used, 1 more are needed; memory_forget records that no longer hold, archived ones too");
    assert_eq!(has_room(&kept, Kind::Anchor, Size { records: 0, bytes: 8 }), Ok(()), "it merges");
}

#[test]
fn merges_and_shorter_replacements_fit_into_a_full_kind() {
    let big = blueprints([blueprint("big", &large())]);
    let memory = full_but(big.clone(), 100);
    let by = origin("one", 2);
    assert!(plan_checkpoint(&memory, &by, big.clone()).is_ok(), "it is there already");
    assert!(saved(&memory, &by, big).is_ok());
    let mut shorter = blueprint("big", "less");
    shorter.immutable = false;
    assert!(saved(&memory, &by, blueprints([shorter])).is_ok());
}

#[test]
fn forgetting_makes_room() {
    let mut memory = full_but(blueprints([blueprint("big", &large())]), 100);
    let by = origin("one", 2);
    let new = blueprints([blueprint("new", &text(2_000))]);
    assert!(saved(&memory, &by, new.clone()).is_err());
    let id = memory.active_of(Kind::Blueprint).next().unwrap().id;
    let reader = Reader::session(by.session.clone());
    let plan = plan_forget(&memory, &reader, id, None, &by).unwrap();
    apply(&mut memory, plan);
    assert!(saved(&memory, &by, new).is_ok());
}

#[test]
fn an_edit_grows_a_record_only_as_far_as_there_is_room() {
    let memory = full_but(blueprints([blueprint("big", &text(200_000))]), 50);
    let by = origin("one", 2);
    let reader = Reader::session(by.session.clone());
    let id = memory.active_of(Kind::Blueprint).next().unwrap().id;
    let edited = |bytes: usize| {
        // A title as long, which the copies do not have.
        let title = Some("own".to_owned());
        let rewrite = Rewrite { title, content: Some(text(bytes)), ..Rewrite::default() };
        plan_rewrite(&memory, &reader, id, &rewrite, None::<Version>, &by).map(drop)
    };
    assert_eq!((edited(199_999), edited(200_050)), (Ok(()), Ok(())));
    let refusal = edited(200_051).unwrap_err();
    assert!(is_full(&refusal), "{refusal}");
    // Tags count as well.
    let id = memory.active_of(Kind::Blueprint).nth(1).unwrap().id;
    let tags: Vec<String> = (0..20).map(|at| format!("tag-{at}")).collect();
    let update = Update { tags: Some(tags), ..Update::default() };
    let refusal = plan_update(&memory, &reader, id, &update, None, &by).unwrap_err();
    assert!(is_full(&refusal), "{refusal}");
}

#[test]
fn staged_work_is_folded_even_if_the_project_filled_up_in_the_meantime() {
    let by = origin("one", 2);
    for (kind, big, new) in parts() {
        let full = full_but(big, 100);
        // Staged while there was room.
        let mut memory = full.clone();
        let part = Staged { first: by.time, last: by.time, ..new.clone() };
        let stage = Change::Stage { session: by.session.clone(), part: Box::new(part) };
        memory.apply(Seq(memory.seq().0 + 1), &[stage]);

        let before = memory.totals().kept.of(kind);
        let mut kept = memory.clone();
        let plan = plan_keep(&kept, &by.session, &by, NoticeCause::Ended, false).unwrap();
        apply(&mut kept, plan);
        assert_eq!(kept.totals().kept.of(kind).records, before.records + 1, "{kind:?}");
        assert!(saved(&memory, &by, Staged::default()).is_ok(), "{kind:?}");
        // What comes with the save is new.
        assert!(is_full(&saved(&memory, &by, new).unwrap_err()), "{kind:?}");
    }
}

#[test]
fn staged_work_is_limited_in_total_and_per_session() {
    let mut memory = Memory::default();
    let full = large();
    let filled = STAGED_BYTES_MAX / TEXT_BYTES_MAX - 1;
    let sessions = STAGED_PROJECT_BYTES_MAX / STAGED_BYTES_MAX + 2;
    let mut refused = 0;
    for session in 0..sessions {
        let by = origin(&format!("thread{session}"), 1);
        for at in 0..filled {
            let part = blueprints([blueprint(&format!("b{at}"), &full)]);
            match plan_checkpoint(&memory, &by, part) {
                Ok(plan) => drop(apply(&mut memory, plan)),
                Err(Refusal::TooLarge { what, bytes_max, .. }) => {
                    assert_eq!(bytes_max, STAGED_PROJECT_BYTES_MAX, "{what}");
                    refused += 1;
                }
                Err(refusal) => panic!("{refusal}"),
            }
        }
    }
    assert!(refused > 0);
    let staged = memory.staged().map(|(_, staged)| staged.bytes()).sum::<usize>();
    let most = STAGED_PROJECT_BYTES_MAX + sessions * STAGED_SHARE_BYTES;
    assert!(staged > STAGED_PROJECT_BYTES_MAX - TEXT_BYTES_MAX && staged <= most, "{staged}");
    // A late session is not blocked by the others, and saving makes room for a blocked one.
    let two = ["one", "two"].map(|summary| lesson(summary, &text(250_000)));
    checkpoint(&mut memory, &origin("late", 1), lessons(two));
    let staged = memory.staged().map(|(_, staged)| staged.bytes()).sum::<usize>();
    assert!(staged > STAGED_PROJECT_BYTES_MAX, "{staged}");
    let blocked = origin(&format!("thread{}", sessions - 1), 1);
    let part = || blueprints([blueprint("again", &full)]);
    let refusal = plan_checkpoint(&memory, &blocked, part()).unwrap_err();
    insta::assert_snapshot!(refusal.to_string().split_once(" is ").unwrap().0, @"what all sessions of this project have staged");
    assert!(refusal.to_string().ends_with("saves and ends"), "{refusal}");
    save(&mut memory, &origin("thread0", 1), Staged::default());
    assert!(plan_checkpoint(&memory, &blocked, part()).is_ok());
}

#[test]
fn a_short_summary_can_be_saved_however_many_sessions_there_were() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("filler", 1), Staged::default());
    let row = memory.active_of(Kind::SessionRow).next().unwrap().clone();
    let Body::SessionRow(body) = &row.body else { unreachable!() };
    let body = Body::SessionRow(SessionRow { summary: text(1 << 20), ..body.clone() });
    for number in 0..=limit(Kind::SessionRow).bytes >> 20 {
        let id = RecordId::new(Kind::SessionRow, 1_000 + number);
        memory.put(Record { id, body: body.clone(), ..Record::clone(&row) }.into());
    }
    let summary = |bytes: usize| {
        let summary = text(bytes);
        let save = Save { session_summary: &summary, ..Save::default() };
        plan_save(&memory, &origin("one", 2), save).map(drop)
    };
    assert_eq!(summary(SHORT_SUMMARY_BYTES_MAX), Ok(()));
    insta::assert_snapshot!(summary(SHORT_SUMMARY_BYTES_MAX + 1).unwrap_err(), @"session_summary has 4097 bytes, 4096 are allowed now: no room for more session rows in this project: 68157446 of 67108864 bytes are used, 4097 more are needed; memory_forget records that no longer hold, archived ones too");
}

#[test]
fn counts_follow_every_write() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    for (_, _, new) in parts() {
        save(&mut memory, &by, new);
    }
    let plan = plan_notes(&memory, &by, vec![Ok(note("a note"))]).unwrap();
    apply(&mut memory, plan);
    let plan = plan_rule(&memory, rule("No force push", "why"), RuleAuthor::Person, &by).unwrap();
    apply(&mut memory, plan);
    let mut counted = Sizes::default();
    memory.records().for_each(|record| counted.count_in(record));
    assert_eq!(memory.totals().kept, counted);
    assert!(Kind::ALL.into_iter().all(|kind| counted.of(kind).records > 0));
}
