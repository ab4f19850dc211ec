//! The search index follows the records' texts, and nothing else of them.

use std::collections::BTreeSet;

use super::*;
use crate::limits::NOTICES_MAX;
use crate::testing::{apply, day, note, origin};
use crate::{NewNote, Update, plan_forget, plan_notes, plan_update};

/// The index of the records as they are, made at once.
fn anew(memory: &Memory) -> SearchIndex {
    let mut index = SearchIndex::default();
    index.insert_all(memory.records().filter_map(|record| document(record)));
    index
}

#[test]
fn the_index_matches_the_records_after_every_change() {
    let mut memory = Memory::default();
    // The index is built now, so it follows the changes.
    assert_eq!(memory.search().len(), 0);
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
        assert!(*memory.search() == anew(&memory), "{id}");
    }
    let same = NewNote { pinned: true, importance: Some(9), ..note("beta") };
    let plan = plan_notes(&memory, &origin("one", 3), vec![Ok(same)]).unwrap();
    apply(&mut memory, plan);
    assert!(*memory.search() == anew(&memory), "repeated");
    let used = crate::Accesses::default();
    let plan = crate::plan_compaction(
        &memory,
        &crate::Pool::Project,
        0,
        crate::Scoring {
            accesses: &used,
            half_life_factor: 1,
            formula: crate::Formula::Own,
            now: day(4),
        },
        &BTreeSet::new(),
        &mut crate::NearDuplicates::default(),
    );
    let plan = plan.apply(&memory);
    assert!(!plan.changes.is_empty());
    apply(&mut memory, plan);
    assert!(*memory.search() == anew(&memory), "compacted");
    let plan = plan_forget(&memory, &reader, ids[2], None, &origin("one", 4)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.search().len(), 3);
    assert!(*memory.search() == anew(&memory), "forgotten");
}

#[test]
fn a_memory_and_its_changed_clone_each_have_the_index_of_their_records() {
    let mut entries = Vec::new();
    let mut written = Memory::default();
    for text in ["alpha", "beta"] {
        let plan = plan_notes(&written, &origin("one", 1), vec![Ok(note(text))]).unwrap();
        entries.push(plan.changes.clone());
        apply(&mut written, plan);
    }
    let is_built = Memory::is_searchable;
    assert!(is_built(&Memory::default()), "there is nothing to build");
    let mut alone = Memory::default();
    alone.apply(Seq(1), &entries[0]);
    assert!(!is_built(&alone), "nothing has needed it");
    let mut changed = alone.clone();
    changed.apply(Seq(2), &entries[1]);
    for memory in [&changed, &alone] {
        assert!(*memory.search() == anew(memory));
        assert!(is_built(memory));
    }
    assert_eq!((alone.search().len(), changed.search().len()), (1, 2));
}

fn notified(number: u64) -> Change {
    Change::Notify(Box::new(Notice {
        id: NoticeId(number),
        time: day(1),
        session: SessionId::new("gone"),
        row: "s1".parse().unwrap(),
        cause: crate::NoticeCause::Ended,
        kept: crate::Counts::default(),
        files_unseen: false,
        private: false,
    }))
}

#[test]
fn the_newest_notices_are_kept_however_memory_is_built() {
    let most = u64::try_from(NOTICES_MAX).unwrap();
    let mut memory = Memory::default();
    for number in 1..=most + 7 {
        memory.apply(Seq(number), &[notified(number)]);
    }
    let ids: Vec<u64> = memory.notices().map(|notice| notice.id.0).collect();
    assert_eq!(ids, (8..=most + 7).collect::<Vec<_>>());
    assert_eq!(memory.next_notice(), NoticeId(most + 8));

    let mut at_once = Memory::default();
    let all: Vec<Change> = (1..=most + 7).map(notified).collect();
    at_once.apply(Seq(most + 7), &all);
    assert!(at_once.notices().eq(memory.notices()), "in one entry");

    // What was kept before there was a limit.
    let mut restore = Restore::default();
    restore.at(memory.seq(), memory.revision(), memory.counters());
    for change in &all {
        let Change::Notify(notice) = change else { panic!() };
        restore.notice(Notice::clone(notice));
    }
    assert!(restore.finish() == memory, "restored");
}
