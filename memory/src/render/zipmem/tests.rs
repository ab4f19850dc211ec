//! The forms that users of zipmem know, to the letter.

use std::collections::BTreeSet;

use super::{LoadView, checkpoint, load, save};
use crate::testing::{anchor, apply, blueprint, blueprints, day, lesson, lessons, mutable, origin};
use crate::{
    Blueprint, Category, Kind, Memory, NoticeCause, SessionId, Staged, plan_checkpoint, plan_keep,
};

fn loaded(memory: &Memory, sections: &[Kind]) -> String {
    let seen = BTreeSet::new();
    let view = LoadView {
        project: "demo",
        sections,
        archived_lessons: false,
        notices_seen: &seen,
        now: day(9),
    };
    load(memory, &view).text
}

fn some_part() -> Staged {
    Staged {
        blueprints: vec![
            Blueprint {
                category: Category::Architecture,
                ..blueprint("Layers", "proto knows nothing.\ndaemon knows memory.")
            },
            blueprint("Store", "sled"),
        ],
        anchors: vec![anchor("src/main.rs", " 67 - 42 ", "starts the runtime")],
        lessons: vec![
            crate::Lesson {
                files: vec!["a.rs".to_owned(), "b.rs".to_owned()],
                ..lesson("Flush does not fsync", "Seen on ext4.\nAnd on xfs.")
            },
            lesson("Locks are short", ""),
        ],
        ..Staged::default()
    }
}

#[test]
fn a_load_has_four_sections() {
    let mut memory = Memory::default();
    crate::testing::save(&mut memory, &origin("one", 2), some_part());
    insta::assert_snapshot!(loaded(&memory, &Kind::ALL), @r"
    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 1 | Updated: 2026-11-02

    ### Blueprints (2)
    [ARCH] Layers
        proto knows nothing.
        daemon knows memory.
    [DECISION] Store
        sled

    ### File Anchors (1)
    [src/main.rs -> 42-67 -> starts the runtime]
    _Anchors are coordinates, not code. Read the file at those lines to expand any anchor._

    ### Lessons Learned (2)
    [L1] Flush does not fsync (a.rs, b.rs)
        Seen on ext4. And on xfs.
    [L2] Locks are short

    ### Recent Sessions (1 of 1)
    [S1] 2026-11-02: worked
    ");
    insta::assert_snapshot!(loaded(&memory, &[Kind::SessionRow]), @r"
    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 1 | Updated: 2026-11-02

    ### Recent Sessions (1 of 1)
    [S1] 2026-11-02: worked
    ");
}

#[test]
fn an_empty_project_says_what_to_call() {
    insta::assert_snapshot!(loaded(&Memory::default(), &Kind::ALL), @r"
    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 0 | Updated: 2026-11-09
    Nothing is recorded yet. Call zipmem_checkpoint as you work and zipmem_save_and_compact before you end.
    ");
}

#[test]
fn after_an_abrupt_end_the_recovery_comes_first() {
    let mut memory = Memory::default();
    let plan = plan_checkpoint(&memory, &origin("cut", 2), some_part()).unwrap();
    apply(&mut memory, plan);
    let files = (1..=22).map(|at| format!("src/f{at}.rs")).collect();
    let cause = NoticeCause::Crashed { files, more: 0 };
    let plan =
        plan_keep(&memory, &SessionId::new("cut"), &origin("anchord", 3), cause, false).unwrap();
    apply(&mut memory, plan);
    let text = loaded(&memory, &[Kind::SessionRow]);
    assert_eq!(text.matches(">   - src/").count(), 20);
    let few: Vec<&str> = text.lines().filter(|line| !line.contains("src/f1")).collect();
    insta::assert_snapshot!(few.join("\n"), @r"
    > ⚠️ **ZipMem recovery**
    > The previous session ended abruptly (2026-11-03).
    > Recovered from checkpoints: 2 blueprint(s), 1 anchor(s), 2 lesson(s).
    > Files changed since its last checkpoint:
    >   - src/f2.rs
    >   - src/f3.rs
    >   - src/f4.rs
    >   - src/f5.rs
    >   - src/f6.rs
    >   - src/f7.rs
    >   - src/f8.rs
    >   - src/f9.rs
    >   - src/f20.rs
    >   - and 2 more

    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 1 | Updated: 2026-11-03

    ### Recent Sessions (1 of 1)
    [S1] 2026-11-03: Staged 2 blueprints, 1 anchor, 2 lessons.
    ");
}

#[test]
fn a_recovery_says_if_not_all_files_could_be_read() {
    for cause in
        [NoticeCause::Ended, NoticeCause::Crashed { files: vec!["src/a.rs".to_owned()], more: 0 }]
    {
        let mut memory = Memory::default();
        let plan = plan_checkpoint(&memory, &origin("cut", 2), some_part()).unwrap();
        apply(&mut memory, plan);
        let plan = plan_keep(&memory, &SessionId::new("cut"), &origin("anchord", 3), cause, true);
        apply(&mut memory, plan.unwrap());
        let text = loaded(&memory, &[Kind::SessionRow]);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("> ")).collect();
        let said = lines.iter().position(|line| *line == "> Not all files could be looked at.");
        let changed = lines.iter().position(|line| line.starts_with("> Files changed"));
        assert!(said.is_some() && changed.is_none_or(|changed| said < Some(changed)), "{text}");
    }
}

#[test]
fn the_size_is_shown_above_the_soft_limit() {
    let mut memory = Memory::default();
    let part = blueprints([blueprint("big", &"x".repeat(150 * 1024))]);
    crate::testing::save(&mut memory, &origin("one", 2), part);
    let text = loaded(&memory, &[Kind::SessionRow]);
    insta::assert_snapshot!(text, @r"
    # ZipMem: Project Memory Loaded
    ## Project: demo | Sessions: 1 | Updated: 2026-11-02
    > ⚠️ Memory is 150KB (soft limit 100KB). Leave out of the next saves what no longer matters.

    ### Recent Sessions (1 of 1)
    [S1] 2026-11-02: worked
    ");
}

#[test]
fn replies_match_the_original() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let plan = plan_checkpoint(&memory, &by, some_part()).unwrap();
    insta::assert_snapshot!(checkpoint(&plan.outcome), @"Checkpoint staged. Pending — blueprints: 2, anchors: 1, lessons: 2. This is crash-safe; finalize with zipmem_save_and_compact before exit.");
    apply(&mut memory, plan);
    let outcome = crate::testing::save(&mut memory, &by, lessons([lesson("x1", "")]));
    insta::assert_snapshot!(save(&outcome), @"Memory compacted. Blueprints: 2 (+2), Anchors: 1 (+1), Lessons: 3 (+3), Sessions: 1. State size: 0.2KB.");
}

#[test]
fn a_save_names_a_blueprint_that_others_wrote_since_it_was_staged() {
    let mut memory = Memory::default();
    let (early, later) = (origin("early", 1), origin("later", 2));
    let plan = plan_checkpoint(&memory, &early, blueprints([mutable("Cache", "LRU\nof ten")]));
    apply(&mut memory, plan.unwrap());
    crate::testing::save(&mut memory, &later, blueprints([mutable("Cache", "none")]));
    let outcome = crate::testing::save(&mut memory, &origin("early", 3), Staged::default());
    let reply = save(&outcome);
    let (first, rest) = reply.split_once('\n').unwrap();
    assert!(first.ends_with('.') && first.starts_with("Memory compacted."), "{reply}");
    insta::assert_snapshot!(rest, @r"
    Not replaced, since they were written after you staged yours. Write yours again if it still holds:
    - b1 Cache; you staged: LRU
      of ten
    ");
}

#[test]
fn recent_sessions_are_the_newest_ones_oldest_first() {
    let mut memory = Memory::default();
    for on in 1..=7 {
        let by = origin(&format!("s{on}"), on);
        crate::testing::save(&mut memory, &by, Staged::default());
    }
    let text = loaded(&memory, &[Kind::SessionRow]);
    let days: Vec<&str> = text.lines().filter(|line| line.starts_with("[S")).collect();
    assert_eq!(days.len(), 5);
    assert!(days[0].starts_with("[S3] 2026-11-03") && days[4].starts_with("[S7] 2026-11-07"));
}

#[test]
fn a_save_that_archives_says_so_and_archived_lessons_can_be_loaded() {
    let mut memory = Memory::default();
    let text = |n: usize| format!("{n} {}", "x".repeat(9_000));
    for n in 0..60_usize {
        let by = origin(&format!("s{n}"), 1 + i64::try_from(n).unwrap());
        let part = lessons([lesson(&format!("lesson number {n}"), &text(n))]);
        crate::testing::save(&mut memory, &by, part);
    }
    let seen = BTreeSet::new();
    let archived = |memory: &Memory| {
        let view = LoadView {
            project: "demo",
            sections: &[],
            archived_lessons: true,
            notices_seen: &seen,
            now: day(90),
        };
        load(memory, &view).text
    };
    assert!(archived(&memory).contains("### Archived Lessons (0)"));
    let none = BTreeSet::new();
    let plan = crate::archive::plan(&memory, day(90), &none, &none);
    let save_with =
        crate::Save { session_summary: "tidied", archive: Some(&plan), ..crate::Save::default() };
    let plan = crate::plan_save(&memory, &origin("last", 90), save_with).unwrap();
    let outcome = apply(&mut memory, plan);
    assert!(outcome.archived.lessons > 0, "{outcome:?}");
    let said = save(&outcome);
    let begins = "Memory compacted (state pruned to stay under the hard limit). Blueprints: 0";
    assert!(said.starts_with(begins), "{said}");
    let text = archived(&memory);
    assert!(text.contains("lesson number 0") && !text.contains("lesson number 59"), "{text}");
}
