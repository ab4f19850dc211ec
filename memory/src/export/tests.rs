//! Tests that exported files have the right form and can be read back.

use proptest::prelude::*;
use serde_json::json;

use super::{compactor_state, markdown, zipmem_state};
use crate::import::{NamedText, parse, plan_import_zipmem};
use crate::testing::{
    anchor, any_steps, apply, blueprint, blueprints, day, lesson, note, origin, save, take,
};
use crate::{Body, Kind, Memory, NewNote, plan_notes};

fn some_memory() -> Memory {
    let mut memory = Memory::default();
    let mut part = blueprints([blueprint("Store", "Journal is the truth.\n\nsled is an index.\n")]);
    part.anchors = vec![anchor("src/a.rs", "1-9", "starts")];
    part.lessons = vec![crate::Lesson {
        files: vec!["a.rs".to_owned()],
        ..lesson("Flush does not fsync", "Seen on ext4.\nAnd xfs.")
    }];
    save(&mut memory, &origin("one", 2), part);
    memory
}

#[test]
fn markdown_lists_records_by_kind() {
    insta::assert_snapshot!(markdown(&some_memory(), "demo", day(9)), @"
    # demo: memory at revision 1 (112 B)

    ## Blueprints

    ### b1 Store (decision)

    Journal is the truth.

    sled is an index.

    ## Anchors

    - a2 `src/a.rs` 1-9: starts

    ## Lessons

    - l3 **Flush does not fsync** (`a.rs`)
      Seen on ext4.
      And xfs.

    ## Sessions

    - s4 2026-11-02: worked
    ");
}

/// Notes have no share in the size.
#[test]
fn markdown_of_notes_only_shows_no_size() {
    let mut memory = Memory::default();
    let plan = plan_notes(&memory, &origin("one", 2), vec![Ok(note("make"))]).unwrap();
    apply(&mut memory, plan);
    insta::assert_snapshot!(markdown(&memory, "demo", day(9)), @r"
    # demo: memory at revision 1

    ## Notes

    - n1:
      make
    ");
}

/// The form has no expiry, and users of the item must know.
#[test]
fn an_expired_note_is_tagged_in_the_compactor_state() {
    let mut memory = Memory::default();
    let ended = NewNote { expires: Some(day(4)), ..note("the pool has 20") };
    let plan = plan_notes(&memory, &origin("one", 2), vec![Ok(ended), Ok(note("make"))]).unwrap();
    apply(&mut memory, plan);
    let tags = |now| {
        let state = compactor_state(&memory, crate::ItemIds::unsalted(), now, |_| true);
        [0, 1].map(|at| state["items"][at]["tags"].clone())
    };
    assert_eq!(tags(day(3)), [json!([]), json!([])]);
    assert_eq!(tags(day(9)), [json!(["expired"]), json!([])]);
}

#[test]
fn the_zipmem_state_has_its_fields() {
    let state = zipmem_state(&some_memory(), "demo", day(9));
    insta::assert_snapshot!(serde_json::to_string_pretty(&state).unwrap(), @r#"
    {
      "anchors": [
        {
          "concept": "starts",
          "file_path": "src/a.rs",
          "line_range": "1-9",
          "timestamp": "2026-11-02T12:00:00.000Z"
        }
      ],
      "blueprints": [
        {
          "category": "decision",
          "content": "Journal is the truth.\n\nsled is an index.\n",
          "id": "b1",
          "immutable": true,
          "timestamp": "2026-11-02T12:00:00.000Z",
          "title": "Store"
        }
      ],
      "created_at": "2026-11-02T12:00:00.000Z",
      "lessons": [
        {
          "detail": "Seen on ext4.\nAnd xfs.",
          "id": "l3",
          "related_files": [
            "a.rs"
          ],
          "summary": "Flush does not fsync",
          "timestamp": "2026-11-02T12:00:00.000Z"
        }
      ],
      "meta": {
        "checkpoint_mode": "balanced",
        "shared": false,
        "state_size_bytes": 112,
        "total_compactions": 1,
        "total_sessions": 1
      },
      "project_name": "demo",
      "session_log": [
        {
          "anchors_added": 1,
          "ended_at": "2026-11-02T12:00:00.000Z",
          "lessons_added": 1,
          "session_id": "one",
          "started_at": "2026-11-02T12:00:00.000Z",
          "summary": "worked"
        }
      ],
      "updated_at": "2026-11-02T12:00:00.000Z",
      "version": 1
    }
    "#);
}

/// Returns bodies with the day they were written, except what the form has no field for.
fn contents(memory: &Memory) -> Vec<(String, String)> {
    let of_zipmem = [Kind::Blueprint, Kind::Anchor, Kind::Lesson, Kind::SessionRow];
    let mut contents: Vec<(String, String)> = memory
        .active()
        .filter(|record| of_zipmem.contains(&record.kind()))
        .map(|record| {
            let mut body = record.body.clone();
            if let Body::Blueprint(blueprint) = &mut body {
                // That system tells all titles apart by case.
                blueprint.exact = true;
            }
            if let Body::SessionRow(row) = &mut body {
                // Forgotten rows leave a gap that is not exported.
                row.number = 0;
                row.blueprints_added = 0;
                row.on_behalf = false;
                row.earlier.iter_mut().for_each(|entry| entry.on_behalf = false);
            }
            (record.updated.time.iso(), serde_json::to_string(&body).unwrap())
        })
        .collect();
    contents.sort();
    contents
}

proptest! {
    #[test]
    fn a_zipmem_export_imports_unchanged(steps in any_steps()) {
        let (memory, _) = take(&steps);
        let state = zipmem_state(&memory, "demo", day(90)).to_string();
        let source = parse(&[NamedText::new("state.json", state)]).unwrap();
        prop_assert_eq!(&source.notes, &Vec::<String>::new());
        let mut copy = Memory::default();
        let plan = plan_import_zipmem(&copy, &source, "d", &origin("importer", 90));
        apply(&mut copy, plan);
        prop_assert_eq!(contents(&copy), contents(&memory));
    }
}

#[test]
fn an_expired_note_is_marked_in_markdown() {
    let mut memory = Memory::default();
    let soon = NewNote { expires: Some(day(3)), ..note("the port is 9000") };
    let items = vec![Ok(soon), Ok(note("the host is home"))];
    let plan = plan_notes(&memory, &origin("one", 1), items).unwrap();
    apply(&mut memory, plan);
    assert!(!markdown(&memory, "demo", day(2)).contains("EXPIRED"));
    let page = markdown(&memory, "demo", day(3));
    assert_eq!(page.matches("[EXPIRED]").count(), 1, "{page}");
    assert!(page.contains("- [EXPIRED] n1 "), "{page}");
}
