//! An ended session's work is visible at once. A live session's is not.

use anchord_proto::hello::Hello;
use serde_json::json;

use super::*;
use crate::testing::{Shim, World, dead, poll};

async fn checkpointed(world: &World, hello: Hello) -> (Shim, SessionId) {
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    let staged = shim.call("memory_checkpoint", json!({ "summary": "half way" })).await;
    assert!(staged.starts_with("Staged."), "{staged}");
    let id = SessionId::new(shim.welcome.session.clone().unwrap());
    (shim, id)
}

async fn until_away(world: &World, id: &SessionId) {
    poll(|| (!world.daemon.sessions.table.is_connected(id)).then_some(())).await;
}

async fn loaded(world: &World) -> String {
    world.shim().await.call("memory_load", json!({})).await
}

const SEEN: &str = "Kept from a session that ended without saving (test-agent, ";

#[tokio::test]
async fn staged_work_is_private_until_its_session_ends_and_then_loaded() {
    let world = World::new().await;
    // Its process counts as gone, but its connection is open.
    let (shim, id) = checkpointed(&world, dead(world.hello())).await;
    let load = loaded(&world).await;
    assert!(!load.contains("half way"), "it is live: {load}");
    drop(shim);
    until_away(&world, &id).await;
    let load = loaded(&world).await;
    assert!(load.contains(SEEN) && load.contains("Its last checkpoint: half way"), "{load}");
    assert!(memory_staged(&world, &id), "the grace is not over: nothing is folded");
}

#[tokio::test]
async fn a_disconnected_session_is_live_while_its_process_runs() {
    let world = World::new().await;
    let (shim, id) = checkpointed(&world, world.hello()).await;
    drop(shim);
    until_away(&world, &id).await;
    let load = loaded(&world).await;
    assert!(!load.contains("half way"), "it may come back: {load}");
}

#[tokio::test]
async fn work_is_visible_once_its_sessions_end_is_announced() {
    let world = World::new().await;
    let (_shim, id) = checkpointed(&world, world.hello()).await;
    let announced = world.daemon.sessions.table.announce_end(&id);
    let load = loaded(&world).await;
    assert!(load.contains("half way"), "the agent said that it is over: {load}");
    drop(announced);
    assert!(!loaded(&world).await.contains("half way"), "it did not end after all");
    let ending = world.daemon.sessions.table.end(&id);
    let load = loaded(&world).await;
    assert!(load.contains(SEEN) && load.contains("half way"), "{load}");
    drop(ending);
    assert!(loaded(&world).await.contains("half way"), "an end that was cut short");
}

#[tokio::test]
async fn a_continued_conversation_sees_its_work_as_its_own() {
    let world = World::new().await;
    let named = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let (shim, id) = checkpointed(&world, dead(named.clone())).await;
    drop(shim);
    until_away(&world, &id).await;
    let again = Hello { instance: uuid::Uuid::new_v4(), ..named };
    let mut shim = world.connect(again).await;
    shim.initialize("2025-06-18").await;
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("Staged by you and not saved yet: a summary"), "{load}");
    assert!(!load.contains("Kept from"), "{load}");
}

#[tokio::test]
async fn after_a_restart_a_session_has_ended_if_its_process_is_gone() {
    let world = World::new().await;
    let (_gone, _) = checkpointed(&world, dead(world.hello())).await;
    let (_live, live) = checkpointed(&world, world.hello()).await;
    let world = world.restart(true).await;
    let load = loaded(&world).await;
    assert_eq!(load.matches("Kept from a session").count(), 1, "{load}");
    assert!(memory_staged(&world, &live));
}

fn memory_staged(world: &World, id: &SessionId) -> bool {
    world.daemon.projects.open.all().iter().any(|open| open.memory().staged_by(id).is_some())
}
