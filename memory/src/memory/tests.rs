//! The search index follows the records' texts, and nothing else of them.

use std::collections::BTreeSet;

use super::*;
use crate::testing::{apply, day, note, origin};
use crate::{NewNote, Update, plan_forget, plan_notes, plan_update};

/// The index of the records as they are, made at once.
fn anew(memory: &Memory) -> SearchIndex {
    let mut index = SearchIndex::default();
    index.insert_all(memory.records().filter_map(|record| document(record)));
    index
}

#[test]
fn the_index_is_that_of_the_records_after_every_change() {
    let mut memory = Memory::default();
    let mut notes = ["alpha", "beta", "gamma", "delta"].map(note);
    notes[3].private = true;
    let notes = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(&memory, &origin("one", 1), notes).unwrap();
    let ids: Vec<RecordId> =
        apply(&mut memory, plan).stored.iter().map(|stored| stored.id).collect();
    let reader = Reader::session(SessionId::new("one"));
    let updates = [
        Update { content: Some("alpha and omega".to_owned()), ..Update::default() },
        Update { summary: Some("in short".to_owned()), ..Update::default() },
        Update { tags: Some(vec!["greek".to_owned()]), ..Update::default() },
        Update { share: true, ..Update::default() },
    ];
    for (id, update) in ids.iter().zip(&updates) {
        let plan = plan_update(&memory, &reader, *id, update, None, &origin("one", 2)).unwrap();
        apply(&mut memory, plan);
        assert!(memory.search == anew(&memory), "{id}");
    }
    let same = NewNote { pinned: true, importance: Some(9), ..note("beta") };
    let plan = plan_notes(&memory, &origin("one", 3), vec![Ok(same)]).unwrap();
    apply(&mut memory, plan);
    assert!(memory.search == anew(&memory), "repeated");
    let used = crate::Accesses::default();
    let plan = crate::plan_compaction(
        &memory,
        &crate::Pool::Project,
        0,
        &used,
        1,
        day(4),
        &BTreeSet::new(),
    );
    let plan = plan.apply(&memory);
    assert!(!plan.changes.is_empty());
    apply(&mut memory, plan);
    assert!(memory.search == anew(&memory), "compacted");
    let plan = plan_forget(&memory, &reader, ids[2], None, &origin("one", 4)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.search.len(), 3);
    assert!(memory.search == anew(&memory), "forgotten");
}
