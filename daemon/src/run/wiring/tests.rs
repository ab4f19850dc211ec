//! A whole daemon over strict stores in memory, and over stores that others write to as well.

use anchord_memory::{
    Change, Memory, Provenance, Seq, SessionId, Staged, Timestamp, plan_checkpoint,
};
use serde_json::json;

use super::*;
use crate::projects::Registry;
use crate::store::fakes::{MemJournal, MemStore, MemStores, contested};
use crate::store::{Entry, Store};
use crate::testing::{Factories, World, data_of};

type Memories = Arc<MemStores<Memory>>;

async fn world(
    memories: impl FnOnce(std::path::PathBuf) -> MemStores<Memory>,
) -> (World, Memories) {
    let scratch = tempfile::tempdir().unwrap();
    let data = data_of(scratch.path());
    let memories = Arc::new(memories(data.clone()));
    let registry = Arc::new(MemStores::<Registry>::new(data));
    let stores = Factories { memories: memories.clone(), registry };
    (World::over(scratch, stores).await, memories)
}

fn journal(world: &World, memories: &Memories) -> MemJournal<Memory> {
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    memories.journal(&format!("projects/{id}")).unwrap()
}

#[tokio::test]
async fn a_whole_daemon_runs_on_strict_in_memory_stores() {
    let (world, memories) = world(MemStores::new).await;
    let mut one = world.shim().await;
    one.call("memory_note", json!({ "content": "the tide turns at six", "key": "tide" })).await;
    one.call("memory_note", json!({ "content": "the pier is closed", "scope": "user" })).await;
    let staged = json!({ "lessons": [{ "summary": "Flush does not fsync" }] });
    one.call("memory_checkpoint", staged).await;
    one.call("memory_save", json!({ "session_summary": "measured the tide" })).await;
    let mut other = world.shim().await;
    other.call("memory_update", json!({ "id": "tide", "content": "the tide turns at 7" })).await;
    let found = other.call("memory_search", json!({ "query": "tide" })).await;
    assert!(found.contains("the tide turns at 7"), "{found}");
    let before = other.call("memory_get", json!({ "id": "n1", "version": 1 })).await;
    assert!(before.contains("the tide turns at six"), "{before}");
    let entries = journal(&world, &memories).entries().len();
    drop((one, other));

    let world = world.restart(false).await;
    let loaded = world.shim().await.call("memory_load", json!({})).await;
    for text in ["the tide turns at 7", "the pier is closed", "Flush does not fsync"] {
        assert!(loaded.contains(text), "{loaded}");
    }
    assert_eq!(journal(&world, &memories).entries().len(), entries, "reads write nothing");
}

/// Wraps a store so that another daemon, on the same journal, wins every third append.
fn shared(journal: &MemJournal<Memory>, store: MemStore<Memory>) -> Box<dyn Store<Memory>> {
    let journal = journal.clone();
    let compete = move || {
        let seq = Seq(journal.entries().len() as u64 + 1);
        let session = SessionId::new("of-another-daemon");
        let time = Timestamp(i64::try_from(seq.0).unwrap());
        let by = Provenance::new(session.clone(), "codex".into(), time);
        let part = Staged { summary: Some(format!("at entry {}", seq.0)), ..Staged::default() };
        let plan = plan_checkpoint(&Memory::default(), &by, part).unwrap();
        Some(Entry {
            seq,
            revision: None,
            time,
            session: Some(session),
            call: None,
            operation: "checkpoint".into(),
            changes: plan.changes,
            reply: None,
        })
    };
    Box::new(contested(store, compete))
}

#[tokio::test]
async fn a_daemon_that_loses_every_third_append_applies_each_call_once() {
    let (world, memories) = world(|data| MemStores::wrapping(data, shared)).await;
    let (mut one, mut other) = (world.shim().await, world.shim().await);
    let mut sent = Vec::new();
    for number in 1..=20 {
        for shim in [&mut one, &mut other] {
            let content = format!("note {number} of {}", shim.welcome.session.as_ref().unwrap());
            let id = shim.ask_call("memory_note", json!({ "content": content })).await;
            sent.push((content, id));
        }
    }
    let (mut answers, mut contents) = (Vec::new(), Vec::new());
    for pair in sent.chunks(2) {
        for (shim, (content, id)) in [&mut one, &mut other].into_iter().zip(pair) {
            answers.push(shim.said(*id).await);
            contents.push(content.clone());
        }
    }
    assert!(answers.iter().all(|answer| answer.starts_with("Stored n")), "{answers:#?}");
    // A shim repeats a line whose answer it did not receive.
    let (repeated, id) = &sent[38];
    let again = json!({ "name": "memory_note", "arguments": { "content": repeated } });
    one.ask_as(*id, "tools/call", again).await;
    assert_eq!(one.said(*id).await, answers[38]);

    let entries = journal(&world, &memories).entries();
    let others = entries.iter().filter(|entry| entry.call.is_none()).count();
    assert!(others >= 5, "{others} entries of another daemon");
    let mut written: Vec<String> = entries
        .iter()
        .flat_map(|entry| &entry.changes)
        .filter_map(Change::record)
        .filter_map(|record| record.note().map(|note| note.content.clone()))
        .collect();
    written.sort_unstable();
    contents.sort_unstable();
    assert_eq!(written, contents);
}
