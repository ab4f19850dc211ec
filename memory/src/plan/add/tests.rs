//! Additions by people, and their replies.

use crate::Memory;
use crate::plan::plan_add;
use crate::record::{Blueprint, Category};
use crate::render;
use crate::staged::Staged;
use crate::testing::{anchor, anchors, apply, blueprint, blueprints, day, lesson, lessons, origin};

fn add(memory: &mut Memory, part: Staged) -> String {
    match plan_add(memory, &origin("shell", 1), part) {
        Ok(plan) => render::add(&render::AddReply::of(apply(memory, plan), day(1))),
        Err(refusal) => format!("ERROR {refusal}"),
    }
}

#[test]
fn an_added_record_is_shared_at_once_and_leaves_no_row() {
    let mut memory = Memory::default();
    let mut said = String::new();
    for part in [
        blueprints([blueprint("Store", "Use sled.")]),
        lessons([lesson("a cold cache times out", "after 5 s")]),
        anchors([anchor("src/a.rs", "2-9", "the cache")]),
        lessons([lesson("a cold cache times out", "warm it")]),
        lessons([lesson("a cold cache times out", "warm it")]),
        blueprints([blueprint("Store", "Use fjall.")]),
        blueprints([Blueprint { category: Category::Schema, ..blueprint("Store", "Use redb.") }]),
        Staged::default(),
    ] {
        said.push_str(add(&mut memory, part).trim_end());
        said.push('\n');
    }
    insta::assert_snapshot!(said, @r#"
    Added b1 [decision] Store …
    Added l2 a cold cache times out …
    Added a3 [src/a.rs -> 2-9 -> the cache]
    Merged into l2 a cold cache times out …
    Nothing changes: it is stored already.
    ERROR b1 "Store" is immutable; `anchord edit b1` changes it
    Added b4 [schema] Store …
    Same title, other content: b1 [decision] "Store". Both are kept; `anchord forget b1` takes the older one out.
    ERROR what to add is missing
    "#);
    let totals = memory.totals();
    assert_eq!(
        (
            totals.active.blueprints,
            totals.active.lessons,
            totals.active.anchors,
            totals.active.rows
        ),
        (2, 1, 1, 0)
    );
    assert_eq!(memory.revision().0, 5, "each is a commit of its own");
}
