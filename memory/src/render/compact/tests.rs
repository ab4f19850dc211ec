//! The texts before and after a compaction.

use std::collections::BTreeSet;

use super::{FullOfPinned, compaction, compaction_plan, full_of_pinned, made_room};
use crate::limits::{ANSWER_CHARS_MAX, PROJECT_HALF_LIFE_FACTOR};
use crate::testing::{apply, day, note, origin};
use crate::{
    Accesses, Audience, Budget, CompactionOutcome, CompactionPlan, Kind, Memory, NearDuplicates,
    NewNote, Pool, RecordId, Scoring, plan_compaction, plan_notes,
};

fn with_notes(notes: Vec<NewNote>) -> Memory {
    let mut memory = Memory::default();
    for new in notes {
        let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

fn plan(memory: &Memory, target: u64) -> CompactionPlan {
    let (accesses, spare) = (&Accesses::default(), BTreeSet::new());
    let (half_life_factor, formula) = (PROJECT_HALF_LIFE_FACTOR, crate::Formula::Own);
    let scoring = Scoring { accesses, half_life_factor, formula, now: day(2) };
    let near = &mut NearDuplicates::default();
    plan_compaction(memory, &Pool::Project, target, scoring, &spare, near)
}

#[test]
fn a_plan_lists_what_it_would_do_and_a_reply_what_was_done() {
    let story =
        |word: &str| format!("{word} went out and found that the importer skips rows ").repeat(9);
    let mut memory = with_notes(vec![
        NewNote { summary: "how alpha went".to_owned(), ..note(&story("alpha")) },
        note(&story("beta")),
        note(&(story("beta") + "again")),
        note("the port is 9000"),
        NewNote { pinned: true, ..note(&story("gamma")) },
    ]);
    let dry = plan(&memory, 185);
    insta::assert_snapshot!(compaction_plan(&memory, &dry, day(2), &Audience::Agent), @r"
    Would bring 370 tokens down to 100 (target 185); nothing is changed yet.
    Show by their summaries: 1 note
      n1: how alpha went
    Fold near duplicates: 1 note
      n2: beta went out and found that the importer skips rows beta went out and foun… (into n3)
    Archive: 1 note
      n3: beta went out and found that the importer skips rows beta went out and foun…
    ");
    let before = memory.clone();
    let outcome = apply(&mut memory, dry.apply(&before));
    insta::assert_snapshot!(compaction(&memory, &outcome, day(2), &Audience::Agent), @"Compacted from 370 to 100 tokens: archived 1 (n3), shown by their summaries 1, folded as near duplicates 1 (n2). All is still found by memory_search, and active again when memory_get or memory_update uses it.");
    insta::assert_snapshot!(compaction_plan(&memory, &plan(&memory, 10_000), day(2), &Audience::Agent), @"Nothing to compact: 100 tokens, the target is 10000.");
}

#[test]
fn a_reply_lists_as_many_ids_as_fit_and_says_where_the_rest_are() {
    let ids = |range: std::ops::RangeInclusive<u64>| {
        range.map(|number| RecordId::new(Kind::Note, number)).collect()
    };
    let outcome = CompactionOutcome {
        archived: ids(1..=18),
        folded: ids(19..=25),
        tokens_before: 900,
        tokens_after: 700,
        ..CompactionOutcome::default()
    };
    let said = compaction(&Memory::default(), &outcome, day(2), &Audience::Agent);
    assert!(said.contains("archived 18 (n1, n2, ") && said.contains(", n17, n18), "), "{said}");
    assert!(said.contains("folded as near duplicates 7 (n19, n20 and 5 more)."), "{said}");
    assert!(said.ends_with(" memory_list marks all that is archived.\n"), "{said}");
    let more = CompactionOutcome { archived: ids(1..=22), folded: ids(23..=23), ..outcome.clone() };
    let said = made_room(&more);
    assert!(said.contains(", n20 and 2 more), ") && said.contains("duplicates 1. "), "{said}");
    assert!(!said.contains("memory_") && said.ends_with(" marks what is archived.\n"), "{said}");
    let all = CompactionOutcome { archived: ids(5..=5), folded: Vec::new(), ..outcome };
    assert!(
        !compaction(&Memory::default(), &all, day(2), &Audience::Agent).contains("memory_list"),
        "all are named"
    );
    assert!(made_room(&all).ends_with("duplicates 0.\n"), "all are named");
}

#[test]
fn a_budget_full_of_pinned_notes_says_what_happened_to_the_write() {
    let budget = Budget { tokens: 1_500, auto_compact: true, above: 90, to: 80 };
    let id = |number| RecordId::new(Kind::Note, number);
    let said = |stays: &[RecordId], archived: &[RecordId]| {
        let full =
            FullOfPinned { pinned: 1_356, stays: stays.to_vec(), archived: archived.to_vec() };
        full_of_pinned(&full, &budget, &Audience::Agent)
    };
    insta::assert_snapshot!(said(&[id(7)], &[]), @"The budget is full of pinned notes: 1356 of 1500 tokens. n7 stays active, and other notes make room for it; unpin some (memory_update with pinned: false), or raise the budget with memory_configure.");
    insta::assert_snapshot!(said(&[], &[id(7)]), @"The budget is full of pinned notes: 1356 of 1500 tokens. n7 has no room beside them and is archived; unpin some (memory_update with pinned: false), or raise the budget with memory_configure.");
    insta::assert_snapshot!(said(&[id(7)], &[id(8), id(9)]), @"The budget is full of pinned notes: 1356 of 1500 tokens. n7 stays active, 2 notes have no room beside them and are archived; unpin some (memory_update with pinned: false), or raise the budget with memory_configure.");
    insta::assert_snapshot!(said(&[], &[]), @"The budget is full of pinned notes: 1356 of 1500 tokens. Other notes make room for them; unpin some (memory_update with pinned: false), or raise the budget with memory_configure.");
}

#[test]
fn answers_stay_short_however_much_is_done() {
    let memory = with_notes(
        (0..100)
            .map(|at| NewNote {
                summary: if at % 2 == 0 { "s ".repeat(400) } else { String::new() },
                ..note(&format!("{at} {}", "long ".repeat(500 + at)))
            })
            .collect(),
    );
    for target in [0, 20_000, 40_000] {
        let text = compaction_plan(&memory, &plan(&memory, target), day(2), &Audience::Agent);
        assert!(text.chars().count() <= ANSWER_CHARS_MAX, "{}", text.chars().count());
    }
}

#[test]
fn expired_notes_are_marked_in_every_list() {
    let story = "a tale of the sea and of ships that went out and came back. ".repeat(12);
    let soon = NewNote { expires: Some(day(2)), ..note(&story) };
    let memory = with_notes(vec![soon, note("the port is 9000")]);
    let dry = plan(&memory, 10);
    let shown = |on| compaction_plan(&memory, &dry, day(on), &Audience::Agent);
    assert!(!shown(1).contains("EXPIRED"), "{}", shown(1));
    assert!(shown(2).contains("… [EXPIRED]"), "{}", shown(2));
    let wants = plan(&memory, 10_000);
    let shown = compaction_plan(&memory, &wants, day(2), &Audience::Agent);
    assert!(shown.contains("[EXPIRED] (") && shown.contains("Without a summary"), "{shown}");
    let changed = crate::render::changes_since(&memory, crate::Revision(0), None, day(2));
    assert!(changed[1].ends_with("[EXPIRED]") && !changed[0].contains("EXPIRED"), "{changed:?}");
}

#[test]
fn a_person_is_shown_commands() {
    let (memory, person) = (with_notes(vec![note(&"long ".repeat(300))]), person());
    let ids: Vec<RecordId> = (1..=21).map(|number| RecordId::new(Kind::Note, number)).collect();
    let outcome = CompactionOutcome {
        archived: ids.clone(),
        wants_summary: ids[..1].to_vec(),
        ..CompactionOutcome::default()
    };
    let said = compaction(&memory, &outcome, day(2), &person);
    let (archived, wants) = said.split_once('\n').unwrap();
    let (_, archived) = archived.split_once(". ").unwrap();
    insta::assert_snapshot!(archived, @"All is still found by `anchord search`, and active again when `anchord get` or an agent uses it. `anchord list` marks all that is archived.");
    assert!(
        wants.starts_with("Without a summary, which `anchord edit ID --summary` gives them: 1")
    );
    let plan = compaction_plan(&memory, &plan(&memory, 10_000), day(2), &person);
    assert!(plan.contains("`anchord edit ID --summary`"), "{plan}");
    let budget = Budget { tokens: 1_000, auto_compact: true, above: 90, to: 80 };
    let full = FullOfPinned { pinned: 900, ..FullOfPinned::default() };
    insta::assert_snapshot!(full_of_pinned(&full, &budget, &person), @"The budget is full of pinned notes: 900 of 1000 tokens. Other notes make room for them; `anchord unpin` some, or raise `budget_tokens` under [memory] in config.toml.");
}

fn person() -> Audience {
    Audience::Person(crate::Shell::default())
}
