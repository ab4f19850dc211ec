//! Purged texts stay out of every entry of a row that was recorded by rule.

use super::*;
use crate::lifecycle::{Event, ToolRun};
use crate::plan_capture;

const SECRET: &str = "the words that nobody may read";

/// A run of the session that ends without a save.
struct Run {
    prompts: &'static [&'static str],
    said: &'static str,
    /// Whether the agent staged a note.
    stages: bool,
}

const OTHER: Run = Run { prompts: &["mend the tests"], said: "They pass now.", stages: false };

fn row_of(runs: &[Run]) -> Memory {
    let mut memory = Memory::default();
    for (run, on) in runs.iter().zip(1..) {
        let by = origin("s", on);
        let mut captured = SessionActivity::of("codex:1");
        for prompt in run.prompts {
            captured.saw(&Event::PromptSubmitted { prompt: (*prompt).to_owned() }, by.time);
        }
        let edited = vec![format!("src/{on}.rs")];
        captured.saw(&Event::ToolRan(ToolRun { edited, ..ToolRun::default() }), by.time);
        captured.saw(&Event::TurnEnded { last_message: Some(run.said.to_owned()) }, by.time);
        let plan = plan_capture(&memory, &by, captured).unwrap();
        apply(&mut memory, plan);
        if run.stages {
            let notes = vec![note(&format!("note {on}"))];
            checkpoint(&mut memory, &by, Staged { notes, ..Staged::default() });
        }
        let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

/// Creates a memory in which a note with this content was purged.
fn purged(content: &str) -> Memory {
    let mut memory = Memory::default();
    let notes = vec![note(content)];
    save(&mut memory, &origin("p", 1), Staged { notes, ..Staged::default() });
    let mut purge = Purge::new(["n1".parse().unwrap()].into(), None, "salt".into(), day(3));
    purge.learn(&memory.records().cloned().map(Change::Put).collect::<Vec<_>>());
    let mut memory = Memory::default();
    apply(&mut memory, Plan { changes: vec![purge.tombstones()], outcome: () });
    memory
}

/// Imports the row of these runs where [`SECRET`] was purged, and returns its entries.
fn taken_in(runs: &[Run]) -> Vec<String> {
    let source = row_of(runs);
    assert!(entries(&source).iter().any(|entry| entry.contains(SECRET)), "{:?}", entries(&source));
    let mut memory = purged(SECRET);
    import(&mut memory, &export(&source));
    let rows: Vec<_> = memory.active_of(Kind::SessionRow).collect();
    assert!(!serde_json::to_string(&rows).unwrap().contains(SECRET), "{rows:?}");
    entries(&memory)
}

#[test]
fn an_entry_that_counts_staged_work_loses_a_purged_prompt() {
    let run = Run { prompts: &[SECRET], said: "Done with it.", stages: true };
    insta::assert_snapshot!(taken_in(&[run]).join("\n--\n"), @r"
    Asked: [purged]
    Edited: src/1.rs
    Staged 1 note.
    Said last: Done with it.
    ");
    let run = Run { prompts: &[SECRET, "and more"], said: "Done with it.", stages: true };
    insta::assert_snapshot!(taken_in(&[run]).join("\n--\n"), @r"
    Asked: [purged] (2 prompts); last: and more
    Edited: src/1.rs
    Staged 1 note.
    Said last: Done with it.
    ");
}

#[test]
fn an_entry_that_counts_staged_work_loses_a_purged_message() {
    let run = Run { prompts: &["write it down"], said: SECRET, stages: true };
    insta::assert_snapshot!(taken_in(&[run]).join("\n--\n"), @r"
    Asked: write it down
    Edited: src/1.rs
    Staged 1 note.
    Said last: [purged]
    ");
}

/// The row's activity keeps the first prompt and the last message of all runs.
#[test]
fn both_entries_of_a_row_lose_purged_text() {
    let first = || Run { prompts: &[SECRET], said: "Done with it.", stages: false };
    insta::assert_snapshot!(taken_in(&[first(), OTHER]).join("\n--\n"), @r"
    Asked: mend the tests
    Edited: src/2.rs
    Said last: They pass now.
    --
    Asked: [purged]
    Edited: src/1.rs
    Said last: Done with it.
    ");
    let first = || Run { prompts: &["write it down"], said: SECRET, stages: false };
    insta::assert_snapshot!(taken_in(&[first(), OTHER]).join("\n--\n"), @r"
    Asked: mend the tests
    Edited: src/2.rs
    Said last: They pass now.
    --
    Asked: write it down
    Edited: src/1.rs
    Said last: [purged]
    ");
    insta::assert_snapshot!(taken_in(&[OTHER, first()]).join("\n--\n"), @r"
    Asked: write it down
    Edited: src/2.rs
    Said last: [purged]
    --
    Asked: mend the tests
    Edited: src/1.rs
    Said last: They pass now.
    ");
    let last = Run { prompts: &[SECRET, "again"], said: "Done with it.", stages: false };
    insta::assert_snapshot!(taken_in(&[OTHER, last]).join("\n--\n"), @r"
    Asked: [purged] (2 prompts); last: again
    Edited: src/2.rs
    Said last: Done with it.
    --
    Asked: mend the tests
    Edited: src/1.rs
    Said last: They pass now.
    ");
}
