//! The search index of a memory that was just opened: a call waits for it only if it searches.

use std::sync::Arc;

use anchord_memory::{Audience, Memory};
use serde_json::{Value, json};

use crate::clock;
use crate::mcp::call_by_name;
use crate::project::history::PastMemory;
use crate::sessions::{Session, SessionLocation};
use crate::testing::World;

/// Returns whether a call builds the index of a memory that has none.
async fn builds_index(world: &World, tool: &str, arguments: Value) -> bool {
    let [project] = &world.daemon.projects.open.all()[..] else { panic!("one project is open") };
    let mut memory = Memory::clone(&project.memory());
    memory.drop_search_index();
    let memory = Arc::new(memory);
    let past = PastMemory { memory: Arc::clone(&memory), committed: None, now: clock::now() };
    let session = Session::ephemeral("test", SessionLocation::Foreign(project.id)).in_past(past);
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let tools = &world.daemon.admin.tools;
    let called = call_by_name(tools, Arc::new(session), tool, arguments, Audience::Agent).await;
    let answer = called.expect("the tool exists").outcome;
    answer.unwrap_or_else(|error| panic!("{tool}: {error}"));
    memory.is_searchable()
}

#[tokio::test]
async fn only_calls_that_search_wait_for_the_index() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({ "key": "port", "content": "The port is 5432." })).await;
    for (tool, arguments) in [
        ("memory_load", json!({})),
        ("memory_status", json!({})),
        ("memory_list", json!({})),
        ("memory_get", json!({ "id": "n1" })),
        ("memory_get", json!({ "key": "port" })),
    ] {
        assert!(!builds_index(&world, tool, arguments.clone()).await, "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("memory_load", json!({ "task": "change the port" })),
        ("memory_search", json!({ "query": "port" })),
        ("memory_why", json!({ "prompt": "change the port" })),
    ] {
        assert!(builds_index(&world, tool, arguments.clone()).await, "{tool} {arguments}");
    }
}
