//! Days and compactions.

use serde_json::json;

use super::*;
use crate::testing::World;

#[tokio::test]
async fn today_has_what_was_written_and_the_budget_what_notes_take() {
    let world = World::new().await;
    let project = world.hello().cwd.unwrap();
    let none = growth(&world.daemon.sessions, &project).await.unwrap();
    assert_eq!(none, GrowthReply::default(), "nothing is remembered yet");
    let mut shim = world.shim_with("all").await;
    for number in 1..=3 {
        let content = format!("a note about port {number} of the fixture");
        shim.call("memory_note", json!({"content": content})).await;
    }
    shim.call("memory_forget", json!({"id": "n1"})).await;
    let reply = growth(&world.daemon.sessions, &project).await.unwrap();
    let today = reply.days.last().unwrap();
    assert_eq!((today.created, reply.active, reply.archived), (2, 2, 0), "{reply:?}");
    assert_eq!(today.note_tokens, reply.note_tokens);
    assert!(reply.note_budget > 0 && reply.load_tokens > 0, "{reply:?}");
    assert_eq!((reply.compactions.len(), reply.more), (0, false));
}

#[tokio::test]
async fn a_compaction_is_listed_with_what_it_took() {
    let world = World::new().await;
    let project = world.hello().cwd.unwrap();
    let mut shim = world.shim_with("all").await;
    for number in 1..=20 {
        let content = format!("note {number}: {}", "words that take some room ".repeat(20));
        shim.call("memory_note", json!({"content": content, "importance": 2})).await;
    }
    let said = shim.call("memory_configure", json!({"budget_tokens": 1_000})).await;
    let said = said + &shim.call("memory_compact", json!({})).await;
    let reply = growth(&world.daemon.sessions, &project).await.unwrap();
    let taken: u64 = reply.compactions.iter().map(|run| run.archived + run.forgotten).sum();
    assert!(taken > 0, "{said}\n{reply:?}");
    assert_eq!(reply.archived, reply.compactions.iter().map(|run| run.archived).sum::<u64>());
}
