//! Answers at their edges: when there is no room, when something comes again, when a page ends where nobody would.

use anchord_proto::hello::Hello;
use serde_json::json;

use super::notes::long;
use crate::testing::{Shim, World, dead, poll};

async fn gone(world: &World, shim: Shim) {
    let id = anchord_memory::SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    poll(|| (!world.daemon.sessions().is_connected(&id)).then_some(())).await;
}

fn pinned(scope: &str) -> serde_json::Value {
    let text: Vec<String> = (0..470).map(|word| format!("rule{word}")).collect();
    json!({ "content": text.join(" "), "pinned": true, "scope": scope })
}

#[tokio::test]
async fn a_note_stays_when_pinned_ones_fill_the_budget_and_each_budget_is_kept() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for scope in ["project", "session"] {
        let budget = json!({ "budget_tokens": 1_000, "scope": scope });
        shim.call("memory_configure", budget).await;
        let said = shim.call("memory_note", pinned(scope)).await;
        assert!(said.contains("The budget is full of pinned notes"), "{said}");
    }
    let said = shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let full = said.lines().filter(|line| line.starts_with("The budget is full of pinned notes: "));
    assert_eq!(full.count(), 2, "of the project and of the session: {said}");
    assert!(said.contains("unpin some (memory_update with pinned: false)"), "{said}");
    let found = shim.call("memory_search", json!({ "query": "port" })).await;
    assert!(found.contains("the port is 7717") && !found.contains("[archived]"), "{found}");
    // The next one takes its place.
    shim.call("memory_note", json!({ "content": "the host is home" })).await;
    let found = shim.call("memory_search", json!({ "query": "port" })).await;
    assert!(found.contains("[archived]"), "{found}");
}

#[tokio::test]
async fn a_number_that_is_no_importance_is_told_what_is() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let note = json!({ "content": "x", "importance": 300 });
    insta::assert_snapshot!(shim.call("memory_note", note.clone()).await, @"ERROR memory_note: importance: is 300; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_note", json!({ "items": [note] })).await, @"ERROR failed to note: items[0].importance cannot be read: is 300; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "n1", "importance": -3 })).await, @"ERROR memory_update: importance: is -3; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_note", json!({ "content": "x", "importance": 11 })).await, @"ERROR failed to note: importance is 11; give a number from 1 to 10");
}

#[tokio::test]
async fn the_pages_of_a_version_are_of_that_version() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for text in ["old", "new"] {
        let content = format!("{text} line\n").repeat(2_000);
        shim.call("memory_note", json!({ "key": "log", "content": content })).await;
    }
    let first = shim.call("memory_get", json!({ "id": "n1", "version": 1 })).await;
    let (_, hint) = first.split_once("The rest: memory_get ").unwrap();
    let hint = hint.lines().next().unwrap().trim_end_matches('.');
    let rest = shim.call("memory_get", serde_json::from_str(hint).unwrap()).await;
    assert!(rest.contains("old line") && !rest.contains("new line\n"), "{hint}: {rest}");
}

/// What one kept for itself before it shared is its own still.
#[tokio::test]
async fn what_was_private_before_it_was_shared_is_its_owners() {
    let world = World::new().await;
    let (mut owner, mut other) = (world.shim().await, world.shim().await);
    let note = |text: &str| json!({ "content": text, "key": "plan", "scope": "session" });
    owner.call("memory_note", note("between us")).await;
    owner.call("memory_note", note("for all to see")).await;
    owner.call("memory_update", json!({ "id": "n1", "scope": "project" })).await;
    let get = |version: u32| json!({ "id": "n1", "version": version });
    assert!(owner.call("memory_get", get(1)).await.contains("between us"));
    assert!(other.call("memory_get", get(3)).await.contains("for all to see"));
    for version in [1, 2] {
        let said = other.call("memory_get", get(version)).await;
        assert!(said.starts_with("ERROR failed to get: n1 has no version"), "{said}");
    }
}

/// Also long after the earlier process has ended.
#[tokio::test]
async fn the_next_session_of_a_conversation_sees_what_it_kept_for_itself() {
    let world = World::new().await;
    let of = |hello: Hello, talk: &str| Hello { agent_session: Some(talk.to_owned()), ..hello };
    let private = json!({ "content": "my next step", "key": "step", "scope": "session" });
    for swept in [false, true] {
        let talk = format!("talk-{swept}");
        let mut first = world.connect(of(dead(world.hello()), &talk)).await;
        first.initialize("2025-06-18").await;
        first.call("memory_note", private.clone()).await;
        gone(&world, first).await;
        if swept {
            crate::sessions::sweep(&world.daemon).await;
            assert_eq!(world.daemon.registry.snapshot().sessions_by_agent(&talk).count(), 0);
        }
        let mut stranger = world.connect(of(world.hello(), "another talk")).await;
        stranger.initialize("2025-06-18").await;
        stranger.call("memory_note", json!({ "content": format!("not mine {swept}") })).await;
        let said = stranger.call("memory_get", json!({ "key": "step" })).await;
        assert!(said.starts_with("ERROR"), "{said}");

        let mut next = world.connect(of(world.hello(), &talk)).await;
        next.initialize("2025-06-18").await;
        // Its first write binds it to the project.
        next.call("memory_note", json!({ "content": format!("going on {swept}") })).await;
        let said = next.call("memory_get", json!({ "key": "step" })).await;
        assert!(said.contains("my next step"), "swept: {swept}: {said}");
    }
}

/// A shim that sends a line again gets the reply of the first time, and nothing is done twice.
#[tokio::test]
async fn a_compaction_that_is_sent_again_is_not_done_again() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", long(0..6)).await;
    let call = json!({ "name": "memory_compact", "arguments": { "target_usage": 0.001 } });
    let id = shim.ask("tools/call", call.clone()).await;
    let first = shim.said(id).await;
    assert!(first.starts_with("Compacted from "), "{first}");
    let project = world.daemon.registry.snapshot().projects().next().unwrap().id;
    let seq = || world.daemon.projects.get(project).unwrap().memory().seq();
    let before = seq();
    shim.ask_as(id, "tools/call", call).await;
    assert_eq!(shim.said(id).await, first);
    assert_eq!(seq(), before);
}

#[tokio::test]
async fn a_cursor_past_all_numbers_is_answered() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let most = usize::MAX;
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("memory_export", json!({ "cursor": most })),
        ("memory_search", json!({ "query": "port", "cursor": most.to_string() })),
        ("memory_search", json!({ "query": "port", "cursor": format!("{most}0") })),
        ("memory_list", json!({ "cursor": format!("{most}0") })),
        ("memory_get", json!({ "id": "n1", "cursor": most.to_string() })),
    ] {
        said.push(shim.call(tool, arguments).await.trim_end().to_owned());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    ERROR failed to export: the cursor 18446744073709551615 is past the end; leave it out
    Nothing more.
    ERROR failed to search: `184467440737095516150` is no cursor of a search; leave it out
    ERROR failed to list: cursor `184467440737095516150` is none of a list; list without it
    ERROR failed to get: cursor is no cursor of n1: `18446744073709551615`; leave it out
    ");
}

#[tokio::test]
async fn a_search_goes_on_page_by_page_with_the_least_tokens() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items: Vec<_> = (0..8)
        .map(|n| json!({ "content": format!("tide {n}: {}", "the sea came in ".repeat(60)) }))
        .collect();
    shim.call("memory_note", json!({ "items": items })).await;
    let few = shim.call("memory_search", json!({ "query": "tide", "max_tokens": 249 })).await;
    insta::assert_snapshot!(few, @"ERROR failed to search: max_tokens is 249; give 250 or more");
    let mut seen = std::collections::BTreeSet::new();
    let mut arguments = json!({ "query": "tide", "max_tokens": 250 });
    for page in 0..20 {
        let said = shim.call("memory_search", arguments.clone()).await;
        let ids = said.lines().filter_map(|line| line.split([':', ' ']).next());
        let before = seen.len();
        seen.extend(ids.filter(|id| id.starts_with('n') && id.len() == 2).map(str::to_owned));
        let Some((_, cursor)) = said.split_once("\"cursor\":\"") else { break };
        assert!(seen.len() > before, "page {page} shows nothing new: {said}");
        arguments["cursor"] = cursor.split('"').next().unwrap().into();
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[tokio::test]
async fn what_is_not_wanted_alone_finds_nothing() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let all = shim.call("memory_search", json!({ "query": "nowhere" })).await;
    for query in ["-port", "-\"the host\"", "- -"] {
        assert_eq!(shim.call("memory_search", json!({ "query": query })).await, all, "{query}");
    }
}
