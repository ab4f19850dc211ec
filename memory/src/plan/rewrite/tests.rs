//! Fields that a rewrite changes, and fields that it keeps.

use crate::plan::{Rewrite, Update, plan_add, plan_rewrite, plan_update};
use crate::reader::Reader;
use crate::record::{Body, Category};
use crate::staged::Staged;
use crate::testing::{anchor, apply, blueprint, lesson, note, origin, save};
use crate::{Memory, RecordId, Version, render};

/// Returns a memory with the blueprint b1, the anchors a2 and a3, the lesson l4, the note n5 and a
/// row.
fn memory() -> Memory {
    let mut memory = Memory::default();
    let part = Staged {
        blueprints: vec![blueprint("Store", "Use sled.")],
        anchors: vec![
            anchor("src/a.rs", "2-9", "the cache"),
            anchor("src/a.rs", "20-29", "the log"),
        ],
        lessons: vec![lesson("a cold cache times out", "after 5 s")],
        notes: vec![note("a note")],
        ..Staged::default()
    };
    save(&mut memory, &origin("one", 1), part);
    memory
}

fn rewrite(memory: &mut Memory, id: &str, rewrite: &Rewrite, expected: Option<u32>) -> String {
    let id: RecordId = id.parse().unwrap();
    let by = origin("shell", 2);
    let reader = Reader::owner();
    match plan_rewrite(memory, &reader, id, rewrite, expected.map(Version), &by) {
        Ok(plan) => render::update(&render::UpdateReply::of(&apply(memory, plan), by.time)),
        Err(refusal) => format!("ERROR {refusal}"),
    }
}

#[test]
fn a_rewritten_record_keeps_its_id_tags_and_pin() {
    let mut memory = memory();
    let id: RecordId = "b1".parse().unwrap();
    let marks =
        Update { pinned: Some(true), tags: Some(vec!["db".to_owned()]), ..Update::default() };
    let plan = plan_update(&memory, &Reader::owner(), id, &marks, None, &origin("one", 1)).unwrap();
    apply(&mut memory, plan);
    let new = Rewrite {
        title: Some("Storage".to_owned()),
        category: Some(Category::Architecture),
        content: Some("Use fjall.".to_owned()),
        ..Rewrite::default()
    };
    let said = rewrite(&mut memory, "b1", &new, Some(2));
    assert_eq!(said, "Updated, version 3: b1 [architecture] Storage …\n");
    let record = memory.record(id).unwrap();
    let Body::Blueprint(blueprint) = &record.body else { panic!("{record:?}") };
    assert_eq!((blueprint.content.as_str(), blueprint.immutable), ("Use fjall.", true));
    assert_eq!((record.pinned, record.tags.as_slice()), (true, &["db".to_owned()][..]));
    assert_eq!(
        rewrite(&mut memory, "b1", &new, None),
        "Was so already, version 3: b1 [architecture] Storage …\n"
    );
    // Its old title is free, and its new one is taken.
    let part = |title: &str| Staged {
        blueprints: vec![crate::Blueprint {
            category: Category::Architecture,
            ..crate::testing::blueprint(title, "x")
        }],
        ..Staged::default()
    };
    let by = origin("shell", 3);
    assert!(plan_add(&memory, &by, part("storage")).is_err());
    assert_eq!(plan_add(&memory, &by, part("Store")).unwrap().outcome.added.len(), 1);
    // For one that is told apart by case, only the very same title is taken.
    let mut exact = part("STORAGE");
    exact.blueprints[0].exact = true;
    save(&mut memory, &by, exact);
    let renamed = |title: &str| Rewrite { title: Some(title.to_owned()), ..Rewrite::default() };
    let last = memory.active_of(crate::Kind::Blueprint).last().unwrap().id.to_string();
    assert!(rewrite(&mut memory, &last, &renamed("Storage"), None).contains("already covers"));
    assert!(rewrite(&mut memory, &last, &renamed("sTORAGE"), None).contains("sTORAGE"));
}

#[test]
fn lessons_and_anchors_are_replaced_not_merged() {
    let mut memory = memory();
    let new = Rewrite {
        detail: Some("warm it at start".to_owned()),
        files: Some(vec!["./src/a.rs".to_owned()]),
        tags: Some(vec!["Cache".to_owned()]),
        ..Rewrite::default()
    };
    rewrite(&mut memory, "l4", &new, None);
    let record = memory.record("l4".parse().unwrap()).unwrap();
    let Body::Lesson(lesson) = &record.body else { panic!("{record:?}") };
    assert_eq!(lesson.detail, "warm it at start");
    assert_eq!(
        (lesson.files.as_slice(), record.tags.as_slice()),
        (&["src/a.rs".to_owned()][..], &["cache".to_owned()][..])
    );
    let new = Rewrite {
        lines: Some("3-5".to_owned()),
        concept: Some("where it warms".to_owned()),
        ..Rewrite::default()
    };
    let said = rewrite(&mut memory, "a2", &new, None);
    assert_eq!(said, "Updated, version 2: a2 [src/a.rs -> 3-5 -> where it warms]\n");
}

#[test]
fn an_invalid_rewrite_is_refused_with_a_reason() {
    let mut memory = memory();
    let title = Rewrite { title: Some("x".to_owned()), ..Rewrite::default() };
    let tags = Rewrite { tags: Some(Vec::new()), ..Rewrite::default() };
    let mut said: Vec<String> = Vec::new();
    for (id, new, expected) in [
        ("b9", &title, None),
        ("b1", &title, Some(7)),
        ("l4", &title, None),
        ("n5", &tags, None),
        ("s6", &tags, None),
        ("b1", &Rewrite { title: Some(" ".to_owned()), ..Rewrite::default() }, None),
        ("a3", &Rewrite { lines: Some("2-25".to_owned()), ..Rewrite::default() }, None),
    ] {
        said.push(rewrite(&mut memory, id, new, expected));
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    ERROR there is no record b9; memory_search finds records by their words
    ERROR b1 is at 1 now, not at 7; nothing was written. Changed since:
    b1 [decision] Store …
    ERROR title applies only to blueprints, and l4 is not one
    ERROR n5 is a note; blueprints, lessons and anchors can be rewritten
    ERROR s6 is a session; blueprints, lessons and anchors can be rewritten
    ERROR title is empty
    ERROR a2 already covers what a3 would say; edit or forget that one
    "#);
}
