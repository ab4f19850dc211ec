//! Contradicting blueprints, and the replies that name them.

use crate::plan::plan_checkpoint;
use crate::record::{Blueprint, Category};
use crate::render;
use crate::testing::{apply, blueprint, blueprints, checkpoint, origin, save};
use crate::{Memory, contradicting};

fn of(category: Category, title: &str, content: &str) -> Blueprint {
    Blueprint { category, ..blueprint(title, content) }
}

/// Returns a memory that has the decision b1 to use sled.
fn decided() -> Memory {
    let mut memory = Memory::default();
    let part = blueprints([of(Category::Decision, "Store", "Use sled.")]);
    let outcome = save(&mut memory, &origin("one", 1), part);
    assert_eq!(outcome.contradicts, []);
    memory
}

#[test]
fn a_contradicted_record_is_named_with_how_to_supersede_it() {
    let memory = decided();
    let by = origin("two", 2);
    let part = blueprints([of(Category::Architecture, " store ", "Use fjall.")]);
    let staged = apply(&mut memory.clone(), plan_checkpoint(&memory, &by, part.clone()).unwrap());
    insta::assert_snapshot!(render::checkpoint(&staged), @r#"
    Staged. Pending until memory_save: 1 blueprint.
    Same title, other content: b1 [decision] and the new [architecture] "store". Both are kept; to supersede the stored one, memory_forget it, or write it again in its category with immutable: false.
    "#);
    let mut memory = memory;
    let saved = save(&mut memory, &by, part);
    insta::assert_snapshot!(render::save(&saved), @r#"
    Saved as s4, revision 2: 2 blueprints (+1), 2 sessions; 41 B.
    Same title, other content: b1 [decision] and the new [architecture] "store". Both are kept; to supersede the stored one, memory_forget it, or write it again in its category with immutable: false.
    "#);
    assert_eq!(memory.totals().active.blueprints, 2, "both are stored");
}

/// The save names it again, since it may come long after the checkpoint.
#[test]
fn a_save_names_contradictions_staged_earlier() {
    let mut memory = decided();
    let by = origin("two", 2);
    checkpoint(&mut memory, &by, blueprints([of(Category::Schema, "Store", "Use fjall.")]));
    let saved = save(&mut memory, &by, blueprints([]));
    assert_eq!(saved.contradicts.len(), 1);
    let again = save(&mut memory, &by, blueprints([of(Category::Schema, "Store", "Use fjall.")]));
    assert_eq!(again.contradicts, [], "it says nothing new");
}

#[test]
fn two_contradicting_records_in_one_save_are_named_once() {
    let mut memory = Memory::default();
    let part = blueprints([
        of(Category::Decision, "Store", "Use sled."),
        of(Category::Schema, "Store", "Use fjall."),
    ]);
    let saved = save(&mut memory, &origin("one", 1), part);
    assert_eq!(saved.contradicts.len(), 1, "{:?}", saved.contradicts);
}

#[test]
fn other_titles_equal_content_and_unstored_records_do_not_contradict() {
    for new in [
        of(Category::Schema, "Storage", "Use fjall."),
        of(Category::Schema, "Store", "Use sled."),
        // Left unchanged, since b1 is immutable.
        of(Category::Decision, "Store", "Use fjall."),
    ] {
        let mut memory = decided();
        let part = blueprints([new.clone()]);
        let staged = plan_checkpoint(&memory, &origin("two", 2), part.clone()).unwrap().outcome;
        assert_eq!(staged.contradicts, [], "{new:?}");
        assert_eq!(save(&mut memory, &origin("two", 2), part).contradicts, [], "{new:?}");
    }
    // Not stored, though another category has the title.
    let mut memory = decided();
    save(&mut memory, &origin("two", 2), blueprints([of(Category::Schema, "Store", "Use fjall.")]));
    let kept = blueprints([of(Category::Decision, "Store", "Use redb.")]);
    let staged = plan_checkpoint(&memory, &origin("three", 3), kept.clone()).unwrap().outcome;
    assert_eq!((staged.contradicts.len(), staged.kept.len()), (0, 1));
    let saved = save(&mut memory, &origin("three", 3), kept);
    assert_eq!((saved.contradicts.len(), saved.kept.len()), (0, 1));
}

#[test]
fn each_of_several_staged_contradictions_is_named() {
    let memory = decided();
    let part = blueprints([
        of(Category::Schema, "Store", "Use fjall."),
        of(Category::Convention, "Store", "Use redb."),
        of(Category::Schema, "Store", "Use fjall."),
    ]);
    let staged = plan_checkpoint(&memory, &origin("two", 2), part).unwrap().outcome;
    assert_eq!(staged.contradicts.len(), 2, "{:?}", staged.contradicts);
}

#[test]
fn every_pair_that_contradicts_is_listed_once() {
    let mut memory = Memory::default();
    let of = |category, content: &str| Blueprint { category, ..blueprint("Ports", content) };
    let part = blueprints([
        of(Category::Decision, "None."),
        of(Category::Architecture, "One."),
        of(Category::Convention, "None."),
        blueprint("Other", "None."),
    ]);
    save(&mut memory, &origin("one", 1), part);
    let pairs: Vec<String> =
        contradicting(&memory).into_iter().map(|(one, other)| format!("{one} {other}")).collect();
    assert_eq!(pairs, ["b1 b2", "b2 b3"]);
}
