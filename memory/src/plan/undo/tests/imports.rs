//! Imports that were undone and are made again.

use super::*;
use crate::activity::SessionActivity;
use crate::import::{NamedText, PastSession, SOURCES, plan_import_sessions};
use crate::lifecycle::Event;
use crate::testing::day;

#[test]
fn what_an_undo_took_back_was_not_forgotten_by_anybody() {
    let mut past = Past::default();
    past.save("one", blueprints([mutable("store", "sled")]));
    let first = past.memory.revision();
    let taken_back =
        |past: &Past| past.memory.records().filter(|record| record.is_taken_back()).count();
    past.undo(UndoTarget::Last(1), false);
    assert_eq!((taken_back(&past), is_forgotten(&past, "b1")), (2, true));
    let undo = past.commits().remove(0).described(&Reader::owner());
    assert_eq!(undo.client, &*origin("undoer", 1).client, "the commit still names its client");
    past.undo(UndoTarget::Last(1), false);
    assert_eq!((taken_back(&past), is_forgotten(&past, "b1")), (0, false));
    past.undo(UndoTarget::Project(first), false);
    past.forget("b1");
    assert_eq!((taken_back(&past), is_forgotten(&past, "b1")), (0, true));
}

/// Imports, undoes it and imports again. What somebody forgot stays forgotten.
fn import_twice(import: impl Fn(&Memory, &str) -> Vec<Change>) {
    let mut past = Past::default();
    past.write("importer", import(&past.memory, "d1"));
    let seen = |past: &Past| {
        let texts = |it: Content| {
            it.body.fields().own_texts().into_iter().map(str::to_owned).collect::<Vec<String>>()
        };
        past.content().into_values().flatten().map(texts).collect::<Vec<_>>()
    };
    let before = seen(&past);
    assert!(!before.is_empty());
    past.undo(UndoTarget::Last(1), false);
    assert!(seen(&past).is_empty());
    past.write("importer", import(&past.memory, "d1"));
    assert_eq!(seen(&past), before);
    let ids: Vec<RecordId> = past.memory.records().map(|record| record.id).collect();
    for id in ids {
        if !is_forgotten(&past, &id.to_string()) {
            past.forget(&id.to_string());
        }
    }
    past.write("importer", import(&past.memory, "d2"));
    assert!(seen(&past).is_empty());
}

#[test]
fn each_import_of_dated_items_can_be_made_again_after_its_undo() {
    let compactor = r#"{"version": 1, "items": [{"content": "The port is 4000.", "created_at": "2026-11-02T12:00:00Z"}]}"#;
    let markdown = "---\ntitle: Tea\ncreated: 2026-11-02\n---\n\nGreen.\n";
    for (name, file, text) in
        [("compactor", "state.json", compactor), ("markdown", "tea.md", markdown)]
    {
        let source = SOURCES.iter().find(|source| source.name == name).unwrap();
        let steps = (source.read)(&[NamedText::new(file, text)]).unwrap();
        let [step] = steps.as_slice() else { panic!("one step") };
        import_twice(|memory, digest| step.plan(memory, digest, &origin("importer", 20)).changes);
    }
}

#[test]
fn later_imports_that_a_forced_undo_took_back_can_be_made_again() {
    let source = SOURCES.iter().find(|source| source.name == "markdown").unwrap();
    let import = |past: &mut Past, text: &str, digest: &str| {
        let steps = (source.read)(&[NamedText::new("a.md", text)]).unwrap();
        let by = origin("importer", past.on());
        let changes = steps[0].plan(&past.memory, digest, &by).changes;
        past.write("importer", changes)
    };
    let mut past = Past::default();
    let first = import(&mut past, "alpha one", "d1");
    import(&mut past, "alpha two", "d2");
    let outcome = past.undo(UndoTarget::Commit(first), true);
    let undone = past.memory.revision();
    assert_eq!((outcome.imports, is_forgotten(&past, "n1")), (2, true));
    let known = |past: &Past| ["d1", "d2"].map(|it| past.memory.imported("markdown", it).is_some());
    assert_eq!(known(&past), [false, false]);
    import(&mut past, "alpha two", "d2");
    assert!(content(&past, "n2").contains("alpha two"), "{}", content(&past, "n2"));
    // The undo itself is taken back with what it did to the imports.
    past.undo(UndoTarget::Last(1), false);
    past.undo(UndoTarget::Commit(undone), false);
    assert_eq!(known(&past), [true, true]);
    assert!(content(&past, "n1").contains("alpha two"), "{}", content(&past, "n1"));
}

#[test]
fn past_sessions_can_be_imported_again_after_an_undo() {
    let mut captured = SessionActivity::of("claude-code:a");
    captured.saw(&Event::PromptSubmitted { prompt: "first".to_owned() }, day(1));
    captured.saw(&Event::TurnEnded { last_message: Some("done".to_owned()) }, day(1));
    let session = PastSession { client: "claude-code".to_owned(), captured };
    import_twice(|memory, _| {
        plan_import_sessions(memory, std::slice::from_ref(&session), day(40)).changes
    });
}
