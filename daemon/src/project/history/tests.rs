//! Memory as it was after each commit.

use std::borrow::Cow;

use anchord_memory::{NewNote, Provenance, plan_notes};

use super::*;
use crate::store::{
    CheckedSnapshot, JournalStore, Opened, Options, Replies, StateMachine, Store, Uncheckable,
};

/// Plans the write of a note. Every third one is private to a session, and so no commit.
fn planned(memory: &Memory, number: u64, content: &str) -> Vec<Change> {
    let by =
        Provenance::new(SessionId::new("s-1"), Arc::from("codex"), Timestamp(number.cast_signed()));
    let private = number.is_multiple_of(3);
    let note = NewNote { content: content.to_owned(), private, ..NewNote::default() };
    plan_notes(memory, &by, vec![Ok(note)]).unwrap().changes
}

/// Writes a note to a store.
fn write(store: &mut JournalStore<Memory>, state: &mut Memory, number: u64, content: &str) {
    let changes = planned(state, number, content);
    let is_commit = Memory::is_commit(&changes);
    let entry = Entry {
        seq: Seq(number),
        revision: is_commit.then(|| Revision(state.revision().0 + 1)),
        time: Timestamp(number.cast_signed()),
        session: None,
        call: None,
        operation: Cow::Borrowed("note"),
        changes,
        reply: None,
    };
    store.append(state.seq(), std::slice::from_ref(&entry)).unwrap();
    state.apply(entry.seq, &entry.changes);
    store.advance_index(state, &mut Replies::default()).unwrap();
}

#[test]
fn commits_up_to_a_revision_are_found_without_reading_the_later_ones() {
    let most = most_heads_read(|_| 800);
    assert!(most < 160, "{most} heads were read");
    // Lines that are longer than a block only cost time.
    most_heads_read(|number| if number % 97 == 0 { 150_000 } else { 800 });
}

/// Reads three commits up to each revision of a journal, whose notes have these lengths. Returns
/// the largest number of heads that this took.
fn most_heads_read(length: fn(u64) -> usize) -> usize {
    let home = tempfile::tempdir().unwrap();
    let options = Options::real(home.path());
    let Opened { mut store, mut state, .. } =
        JournalStore::<Memory>::open(home.path(), options).unwrap();
    for number in 1..=600 {
        let content = format!("{number} {}", "x".repeat(length(number)));
        write(&mut store, &mut state, number, &content);
    }
    let newest = state.revision();
    assert_eq!((Store::sizes(&store).segments, newest), (1, Revision(400)));
    let (read_back, mut most) = (store.read_back(), 0);
    for up_to in (0..=newest.0 + 1).map(Revision) {
        let (mut heads, mut found) = (0, Vec::new());
        let head = |head: &Head| {
            heads += 1;
            if head.revision <= up_to { Step::Read } else { Step::Skip }
        };
        let commit = |commit: StoredCommit| {
            found.push(commit.head.revision);
            if found.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        read_back(Some(up_to), &mut Visit(head, commit)).unwrap();
        let expected = (1..=up_to.min(newest).0).rev().take(3).map(Revision);
        assert_eq!(found, expected.collect::<Vec<_>>());
        most = most.max(heads);
    }
    most
}

#[test]
fn a_past_memory_is_what_it_was_whether_a_snapshot_helps_or_not() {
    let home = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes_max: 2000, ..Options::real(home.path()) };
    let Opened { mut store, mut state, .. } =
        JournalStore::<Memory>::open(home.path(), options).unwrap();
    let mut memories = vec![Memory::default()];
    for number in 1..=40 {
        let before = state.revision();
        write(&mut store, &mut state, number, &format!("note {number}"));
        let is_commit = state.revision() > before;
        if is_commit {
            memories.push(state.clone());
        }
    }
    assert!(Store::sizes(&store).segments > 4);
    let (reading, snapshots) = (store.reading(), store.snapshots());
    let kept = snapshots().into_iter().map(|snapshot| snapshot.state.unwrap().revision());
    let earliest = kept.min().unwrap();
    let none: Snapshots<Memory> = Box::new(Vec::new);
    let damaged: Snapshots<Memory> = Box::new(|| {
        let state = Err(Uncheckable::Damaged("cut".to_owned()));
        vec![CheckedSnapshot { file: "snapshot/000002.jsonl".to_owned(), state }]
    });
    for (expected, revision) in memories.iter().zip(0..) {
        let revision = Revision(revision);
        for without in [&none, &damaged] {
            assert_eq!(&replayed(&reading, without, revision).unwrap(), expected, "{revision:?}");
        }
        let helped = replayed(&reading, &snapshots, revision).unwrap();
        assert_eq!(helped.revision(), revision);
        if revision < earliest {
            assert_eq!(&helped, expected);
        } else {
            // A snapshot may already have private notes that came after the commit.
            let shared = |memory: &Memory| {
                let all = memory.records().filter(|record| record.owner().is_none());
                all.cloned().collect::<Vec<_>>()
            };
            assert_eq!(shared(&helped), shared(expected), "{revision:?}");
        }
    }
}
