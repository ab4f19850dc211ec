//! The words for why a record was given.

use super::*;
use crate::testing::{
    anchor, anchors, apply, blueprint, blueprints, day, lesson, lessons, note, origin, rule, save,
};
use crate::{NewNote, RuleAuthor, Update, plan_notes, plan_rule, plan_update};

/// Returns the reasons for these records, without titles.
fn why(memory: &Memory, cause: Cause<'_>, ids: &[&str]) -> Vec<String> {
    let ids: Vec<RecordId> = ids.iter().map(|id| id.parse().unwrap()).collect();
    let given = reasons(memory, &Reader::anyone(), cause, &ids, day(3));
    given.into_iter().map(|(id, _, why)| format!("{id}: {why}")).collect()
}

fn memory() -> Memory {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    save(&mut memory, &by, blueprints([blueprint("Deploys", "Deploy from the release branch.")]));
    save(&mut memory, &by, lessons([lesson("Migrations lock the table", "Run them at night.")]));
    save(&mut memory, &by, anchors([anchor("src/queue.rs", "3-8", "where the bound is enforced")]));
    let notes = vec![
        Ok(NewNote { key: Some("test.command".to_owned()), ..note("cargo test --workspace") }),
        Ok(NewNote { importance: Some(9), ..note("The queue holds 64 jobs") }),
    ];
    let plan = plan_notes(&memory, &by, notes);
    apply(&mut memory, plan.unwrap());
    let plan =
        plan_rule(&memory, rule("No force push", "History is shared"), RuleAuthor::Person, &by);
    apply(&mut memory, plan.unwrap());
    memory
}

#[test]
fn a_load_words_the_place_of_each_record() {
    let mut memory = memory();
    let pin = Update { pinned: Some(true), ..Update::default() };
    let id = "l3".parse().unwrap();
    let plan = plan_update(&memory, &Reader::anyone(), id, &pin, None, &origin("one", 2));
    apply(&mut memory, plan.unwrap());
    let words = why(&memory, Cause::Load, &["r7", "l3", "n5", "n6", "b1"]);
    assert_eq!(
        words,
        [
            "r7: a rule in force, always first",
            "l3: pinned",
            "n5: a fact, importance 5",
            "n6: a note of importance 9",
            "b1: a share of the budget belongs to blueprints",
        ]
    );
}

#[test]
fn a_prompt_is_answered_for_its_words_and_other_records_are_news() {
    let words = why(&memory(), Cause::Prompt("please deploy to production"), &["b1", "l3"]);
    assert!(words[0].starts_with("b1: has deploy of the prompt (score "), "{words:?}");
    assert_eq!(words[1], "l3: changed by another session since the last prompt");
}

#[test]
fn a_file_a_search_and_a_request_are_reasons_and_what_is_gone_has_none() {
    let memory = memory();
    assert_eq!(why(&memory, Cause::File("src/queue.rs"), &["a4"]), ["a4: names src/queue.rs"]);
    assert_eq!(
        why(&memory, Cause::File("src/other.rs"), &["a4"]),
        ["a4: about src/other.rs or its directory"]
    );
    assert_eq!(
        why(&memory, Cause::Search("queue"), &["n6", "a4"]),
        ["n6: place 1 for “queue”", "a4: place 2 for “queue”"]
    );
    assert_eq!(why(&memory, Cause::Request, &["n6", "n99"]), ["n6: asked for by name"]);
}
