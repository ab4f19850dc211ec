//! Writes that no call makes keep to a budget, too.

use anchord_memory::SessionId;
use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Shim, World, dead, poll};

/// Notes of about a hundred tokens each.
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
    poll(|| (!world.daemon.sessions().is_connected(&id)).then_some(())).await;
    id
}

fn memory(world: &World) -> Arc<Memory> {
    world.daemon.projects.all()[0].memory()
}

#[tokio::test]
async fn what_is_kept_of_a_session_that_is_gone_keeps_to_the_budget() {
    let world = World::new().await;
    let mut first = shim_of(&world, world.hello()).await;
    first.call("memory_configure", json!({ "budget_tokens": 2_000 })).await;
    first.call("memory_note", json!({ "items": notes("here", 8) })).await;
    let mut dies = shim_of(&world, dead(world.hello())).await;
    let staged = dies.call("memory_checkpoint", json!({ "notes": notes("staged", 12) })).await;
    assert!(staged.starts_with("Staged."), "{staged}");
    gone(&world, dies).await;
    crate::sessions::sweep(&world.daemon).await;
    let memory = memory(&world);
    assert_eq!(memory.totals().notes_kept, 20, "all are kept");
    let used = Pool::Project.used(&memory);
    assert!((1..=1_600).contains(&used), "{used} of 2000 tokens");
    let stays = |id: &str| memory.record(id.parse().unwrap()).unwrap().standing.is_active();
    assert!((9..=20).any(|note| stays(&format!("n{note}"))), "of what was kept something stays");
}

#[tokio::test]
async fn notes_that_a_session_takes_over_keep_to_its_budget() {
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
