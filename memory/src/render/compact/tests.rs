//! What a compaction shows before and after.

use super::{compaction, compaction_plan};
use crate::limits::{ANSWER_CHARS_MAX, PROJECT_HALF_LIFE_FACTOR};
use crate::testing::{apply, day, note, origin};
use crate::{Accesses, CompactionPlan, Memory, NewNote, Pool, plan_compaction, plan_notes};

fn noted(notes: Vec<NewNote>) -> Memory {
    let mut memory = Memory::default();
    for new in notes {
        let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

fn plan(memory: &Memory, target: u64) -> CompactionPlan {
    let factor = PROJECT_HALF_LIFE_FACTOR;
    plan_compaction(memory, &Pool::Project, target, &Accesses::default(), factor, day(2))
}

#[test]
fn a_plan_names_what_it_would_do_and_a_reply_what_was_done() {
    let story =
        |word: &str| format!("{word} went out and found that the importer skips rows ").repeat(9);
    let mut memory = noted(vec![
        NewNote { summary: "how alpha went".to_owned(), ..note(&story("alpha")) },
        note(&story("beta")),
        note(&(story("beta") + "again")),
        note("the port is 9000"),
        NewNote { pinned: true, ..note(&story("gamma")) },
    ]);
    let dry = plan(&memory, 185);
    insta::assert_snapshot!(compaction_plan(&memory, &dry), @r"
    Would bring 370 tokens down to 97 (target 185); nothing is changed yet.
    Fold near duplicates: 1 note
      n2: beta went out and found that the importer skips rows beta went out and foun… (into n3)
    Archive: 2 notes
      n1: how alpha went
      n3: beta went out and found that the importer skips rows beta went out and foun…
    ");
    let before = memory.clone();
    let outcome = apply(&mut memory, dry.apply(&before));
    insta::assert_snapshot!(compaction(&memory, &outcome), @"Compacted from 370 to 97 tokens: archived 2, shown by their summaries 0, folded as near duplicates 1. All is still found by memory_search, and active again when memory_get or memory_update uses it.");
    insta::assert_snapshot!(compaction_plan(&memory, &plan(&memory, 10_000)), @"Nothing to compact: 97 tokens, the target is 10000.");
}

#[test]
fn answers_stay_short_however_much_is_done() {
    let memory = noted(
        (0..100)
            .map(|at| NewNote {
                summary: if at % 2 == 0 { "s ".repeat(400) } else { String::new() },
                ..note(&format!("{at} {}", "long ".repeat(500 + at)))
            })
            .collect(),
    );
    for target in [0, 20_000, 40_000] {
        let text = compaction_plan(&memory, &plan(&memory, target));
        assert!(text.chars().count() <= ANSWER_CHARS_MAX, "{}", text.chars().count());
    }
}
