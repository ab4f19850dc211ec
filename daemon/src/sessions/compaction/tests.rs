//! Writes that no call makes keep to a budget, too.

use anchord_memory::SessionId;
use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use std::sync::Arc;

use super::*;
use crate::testing::{Shim, World, dead, poll};

/// Makes notes of about a hundred tokens each.
fn notes(name: &str, count: usize) -> Vec<Value> {
    let note = |n: usize| {
        let words: Vec<String> = (0..35).map(|word| format!("{name}{n}x{word}")).collect();
        json!({ "content": words.join(" ") })
    };
    (0..count).map(note).collect()
}

async fn shim_of(world: &World, hello: Hello) -> Shim {
    let hello = Hello { tools: Some("all".to_owned()), ..hello };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim
}

async fn gone(world: &World, shim: Shim) -> SessionId {
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    poll(|| (!world.daemon.sessions.table.is_connected(&id)).then_some(())).await;
    id
}

/// Sends an agent's hook event before its server says hello. The calls then belong to the hooks'
/// session.
async fn hooked(world: &World, talk: &str, hello: Hello) -> Shim {
    let event =
        json!({ "hook_event_name": "SessionStart", "session_id": talk, "source": "startup" });
    world.hook("claude-code", &event).await;
    let hello = Hello { agent_session: Some(talk.to_owned()), ..hello };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim
}

fn memory(world: &World) -> Arc<Memory> {
    world.daemon.projects.open.all()[0].memory()
}

#[tokio::test]
async fn work_kept_for_an_ended_session_keeps_to_the_budget() {
    let world = World::new().await;
    let mut first = shim_of(&world, world.hello()).await;
    first.call("memory_configure", json!({ "budget_tokens": 2_000 })).await;
    first.call("memory_note", json!({ "items": notes("here", 8) })).await;
    let mut dies = shim_of(&world, dead(world.hello())).await;
    let staged = dies.call("memory_checkpoint", json!({ "notes": notes("staged", 12) })).await;
    assert!(staged.starts_with("Staged."), "{staged}");
    gone(&world, dies).await;
    crate::sessions::sweep(&world.daemon.sessions).await;
    let memory = memory(&world);
    assert_eq!(memory.totals().kept.notes.records, 20, "all are kept");
    let used = Pool::Project.used(&memory);
    assert!((1..=1_600).contains(&used), "{used} of 2000 tokens");
    let stays = |id: &str| memory.record(id.parse().unwrap()).unwrap().state.is_active();
    assert!((9..=20).any(|note| stays(&format!("n{note}"))), "of what was kept something stays");
    let project = world.hello().cwd.unwrap();
    let journal = crate::admin::journal(&world.daemon.sessions, &project, 1, 100).await.unwrap();
    let lines: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let compacted = lines.iter().rfind(|line| line["op"] == "compact").unwrap();
    let session = compacted["session"].as_str().unwrap();
    assert!(session.starts_with("daemon-"), "nobody's command: {session}");
}

#[tokio::test]
async fn notes_taken_over_by_a_session_keep_to_its_budget() {
    let world = World::new().await;
    let talk = |hello: Hello| Hello { agent_session: Some("talk".to_owned()), ..hello };
    let mut first = shim_of(&world, talk(dead(world.hello()))).await;
    let own = json!({ "items": notes("own", 20), "scope": "session" });
    first.call("memory_note", own).await;
    gone(&world, first).await;
    let smaller = Hello { budget: Some(1_000), ..talk(world.hello()) };
    let mut next = shim_of(&world, smaller).await;
    let said = next.call("memory_checkpoint", json!({ "summary": "going on" })).await;
    assert!(said.contains("Compacted from "), "{said}");
    let own = Reader::session(SessionId::new(next.welcome.session.clone().unwrap()));
    let used = Pool::Own(own).used(&memory(&world));
    assert!((1..=800).contains(&used), "{used} of 1000 tokens");
}

#[tokio::test]
async fn a_servers_budget_flag_applies_in_a_session_begun_by_hooks() {
    let world = World::new().await;
    let mut shim = hooked(&world, "a", Hello { budget: Some(1_000), ..world.hello() }).await;
    let status = shim.call("memory_status", json!({})).await;
    assert!(status.contains("1000 tokens (from --budget)"), "{status}");
    // A hook's own write keeps to the same budget, even if the agent's process has changed.
    let session = |world: &World| Arc::clone(&world.daemon.sessions.table.all()[0].session);
    let before = session(&world);
    let again = Hello { agent_pid: Some(i32::MAX.unsigned_abs()), ..world.hello() };
    let event = json!({ "hook_event_name": "Stop", "session_id": "a" });
    let again = Hello { client: Some("claude-code".to_owned()), ..again };
    world.hook_by(again, &event).await;
    let after = session(&world);
    assert!(!Arc::ptr_eq(&before, &after), "it has another process");
    assert_eq!(after.holder().flag, Some(1_000));
}

#[tokio::test]
async fn compactor_items_are_compacted_by_their_own_count_even_with_hooks() {
    let world = World::new().await;
    let hello =
        || Hello { tools: Some("compactor".to_owned()), budget: Some(1_000), ..world.hello() };
    let mut first = hooked(&world, "a", hello()).await;
    for note in notes("first", 5) {
        first.call("store", note).await;
    }
    let event = json!({ "hook_event_name": "SessionEnd", "session_id": "a", "reason": "other" });
    world.hook("claude-code", &event).await;
    drop(first);
    let mut next = hooked(&world, "b", hello()).await;
    let mut said = String::new();
    for note in notes("next", 5) {
        said = next.call("store", note).await;
    }
    let (_, used) = said.split_once("Budget: ").unwrap();
    let used: u64 = used.split('/').next().unwrap().parse().unwrap();
    assert!((1..=900).contains(&used), "of 1000 tokens: {said}");
}
