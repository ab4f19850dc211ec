//! Replies to writes.

use super::{SharedOnce, checkpoint, commits_lost, forget, save, save_waits};
use crate::Reader;
use crate::limits::LOST_COMMITS_NAMED_MAX;
use crate::testing::{apply, blueprint, blueprints, lesson, lessons, origin};
use crate::{Archived, Memory, Staged, plan_checkpoint, plan_forget};

#[test]
fn replies_report_the_outcome_of_a_write() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let part = blueprints([blueprint("Store", "sled"), blueprint("store", "redb")]);
    let plan = plan_checkpoint(&memory, &by, part).unwrap();
    insta::assert_snapshot!(checkpoint(&plan.outcome), @r#"
    Staged. Pending until memory_save: 1 blueprint.
    Left as they were, since immutable: "store" as staged before. To supersede one, write it again with immutable: false.
    "#);
    apply(&mut memory, plan);
    let mut outcome = crate::testing::save(&mut memory, &by, lessons([lesson("x1", "")]));
    insta::assert_snapshot!(save(&outcome), @"Saved as s3, revision 1: 1 blueprint (+1), 1 lesson (+1), 1 session; 17 B.");

    let mut part = blueprints([blueprint("Store", "redb")]);
    part.lessons = vec![lesson("x1", "more")];
    outcome = crate::testing::save(&mut memory, &by, part);
    outcome.archived = Archived { anchors: 1, topics: 2, rows: 12, lessons: 3 };
    outcome.text_bytes = 600 * 1024;
    insta::assert_snapshot!(save(&outcome), @r#"
    Saved as s3, revision 2: 1 blueprint, 1 lesson, 1 session; 600.0 KB.
    1 merged into what was there.
    Left as they were, since immutable: b1 "Store". To supersede one, write it again with immutable: false.
    Archived: 1 anchor whose file is gone, 2 topics of past sessions, 12 sessions folded into one, 3 lessons that were oldest.
    Above 100 KB: memory_forget what no longer holds. Above 500 KB a save archives old anchors, sessions and lessons.
    "#);
}

/// `memory_status` counts the active ones too.
#[test]
fn a_save_does_not_count_forgotten_sessions() {
    let mut memory = Memory::default();
    let first = crate::testing::save(&mut memory, &origin("one", 1), Staged::default());
    let by = origin("two", 2);
    let plan = plan_forget(&memory, &Reader::anyone(), first.row, None, &by).unwrap();
    apply(&mut memory, plan);
    let outcome = crate::testing::save(&mut memory, &by, Staged::default());
    assert!(save(&outcome).contains(": 1 session; "), "{}", save(&outcome));
}

#[test]
fn a_staged_summary_alone_is_pending() {
    let part = Staged { summary: Some("began".to_owned()), ..Staged::default() };
    let plan = plan_checkpoint(&Memory::default(), &origin("one", 1), part).unwrap();
    insta::assert_snapshot!(checkpoint(&plan.outcome), @"Staged. Pending until memory_save: a summary.");
}

#[test]
fn forgetting_names_the_record() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    crate::testing::save(&mut memory, &by, lessons([lesson("x1", "")]));
    for expected in ["Forgotten, kept in history: l1 x1\n", "Was forgotten before: l1 x1\n"] {
        let plan =
            plan_forget(&memory, &Reader::anyone(), "l1".parse().unwrap(), None, &by).unwrap();
        assert_eq!(
            forget(&crate::render::ForgetReply::of(&apply(&mut memory, plan), by.time)),
            expected
        );
    }
}

#[test]
fn a_save_that_waits_is_not_said_to_wait_for_a_database_that_is_there() {
    let away = save_waits("failed to reach the database: refused", SharedOnce::Back);
    assert!(away.starts_with("Kept here, shared when the database is back."), "{away}");
    let there = save_waits("a reader does not write", SharedOnce::Taken);
    assert!(there.starts_with("Kept here, shared once the team's database takes it."), "{there}");
    assert!(there.ends_with("does not take it now: a reader does not write.\n"), "{there}");
    let removed = save_waits("failed to find the project: ask a maintainer", SharedOnce::Mended);
    assert!(removed.starts_with("Kept here, shared once a person has mended this."), "{removed}");
    assert!(removed.contains("ask a maintainer.\nThat does not pass by itself"), "{removed}");
}

#[test]
fn lost_commits_are_named_up_to_a_limit() {
    let lost = (1..=LOST_COMMITS_NAMED_MAX + 2).map(|it| format!("note: n{it}"));
    let lost: Vec<String> = lost.collect();
    let one = commits_lost(&lost[..1], "/data/missing-2-2.jsonl");
    assert!(one.contains("\n- note: n1\n/data/missing-2-2.jsonl has it."), "{one}");
    let many = commits_lost(&lost, "/data/missing-2-13.jsonl");
    assert!(many.contains("- note: n10\n- 2 more\n"), "{many}");
}
