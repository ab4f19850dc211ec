//! Edge cases of answers: no room, repeated calls, and pages that end at odd places.

use anchord_memory::Memory;
use anchord_proto::hello::Hello;
use serde_json::json;

use super::notes::long;
use crate::project::WriteError;
use crate::store::Store;
use crate::testing::{Shim, World, dead, poll};

async fn gone(world: &World, shim: Shim) {
    let id = anchord_memory::SessionId::new(shim.welcome.session.clone().unwrap());
    drop(shim);
    poll(|| (!world.daemon.sessions.table.is_connected(&id)).then_some(())).await;
}

fn pinned(scope: &str) -> serde_json::Value {
    let text: Vec<String> = (0..470).map(|word| format!("rule{word}")).collect();
    json!({ "content": text.join(" "), "pinned": true, "scope": scope })
}

#[tokio::test]
async fn a_new_note_stays_when_pinned_ones_fill_the_budget() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    for scope in ["project", "session"] {
        let budget = json!({ "budget_tokens": 1_000, "scope": scope });
        shim.call("memory_configure", budget).await;
        let said = shim.call("memory_note", pinned(scope)).await;
        assert!(said.contains("The budget is full of pinned notes"), "{said}");
    }
    let said = shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let full = |said: &str| {
        let lines = said.lines().filter(|line| line.starts_with("The budget is full of pinned"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let said = full(&said);
    assert_eq!(said.len(), 1, "of the project, which the note is of: {said:?}");
    assert!(said[0].contains(" n3 stays active, and other notes make room for it; "), "{said:?}");
    assert!(said[0].contains("unpin some (memory_update with pinned: false)"), "{said:?}");
    let found = shim.call("memory_search", json!({ "query": "port" })).await;
    assert!(found.contains("the port is 7717") && !found.contains("[archived]"), "{found}");
    // The next note takes its place.
    shim.call("memory_note", json!({ "content": "the host is home" })).await;
    let found = shim.call("memory_search", json!({ "query": "port" })).await;
    assert!(found.contains("[archived]"), "{found}");
}

#[tokio::test]
async fn an_invalid_importance_is_answered_with_the_valid_range() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let note = json!({ "content": "x", "importance": 300 });
    insta::assert_snapshot!(shim.call("memory_note", note.clone()).await, @"ERROR memory_note: importance: is 300; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_note", json!({ "items": [note] })).await, @"ERROR failed to note: items[0].importance cannot be read: is 300; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_update", json!({ "id": "n1", "importance": -3 })).await, @"ERROR memory_update: importance: is -3; give a number from 1 to 10");
    insta::assert_snapshot!(shim.call("memory_note", json!({ "content": "x", "importance": 11 })).await, @"ERROR failed to note: importance is 11; give a number from 1 to 10");
}

#[tokio::test]
async fn private_versions_of_a_shared_note_stay_private() {
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

/// Private notes are seen even long after the earlier process has ended.
#[tokio::test]
async fn the_next_session_of_a_conversation_sees_its_private_notes() {
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
            crate::sessions::sweep(&world.daemon.sessions).await;
            assert_eq!(
                world.daemon.projects.registry.snapshot().sessions_by_agent(&talk).count(),
                0
            );
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

/// A shim that sends a line again gets the first reply, and nothing is done twice.
#[tokio::test]
async fn a_resent_compaction_is_not_repeated() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_note", long(0..6)).await;
    let call = json!({ "name": "memory_compact", "arguments": { "target_usage": 0.001 } });
    let id = shim.ask("tools/call", call.clone()).await;
    let first = shim.said(id).await;
    assert!(first.starts_with("Compacted from "), "{first}");
    let project = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let seq = || world.daemon.projects.open.get(project).unwrap().memory().seq();
    let before = seq();
    shim.ask_as(id, "tools/call", call).await;
    assert_eq!(shim.said(id).await, first);
    assert_eq!(seq(), before);
}

#[tokio::test]
async fn a_leading_minus_excludes_nothing() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({ "content": "the port is 7717" })).await;
    let all = shim.call("memory_search", json!({ "query": "nowhere" })).await;
    for query in ["-host", "-\"the host\"", "- -"] {
        assert_eq!(shim.call("memory_search", json!({ "query": query })).await, all, "{query}");
    }
    let found = shim.call("memory_search", json!({ "query": "-port" })).await;
    assert!(found.starts_with("n1"), "{found}");
}

#[tokio::test]
async fn out_of_range_arguments_are_refused_in_plain_words() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("memory_search", json!({ "query": "x", "limit": 500 })),
        ("memory_search", json!({ "query": "x", "limit": 0 })),
        ("memory_search", json!({ "query": "x", "limit": "ten" })),
        ("memory_list", json!({ "limit": 201 })),
        ("memory_list", json!({ "limit": -1 })),
        ("memory_compact", json!({ "target_usage": "half" })),
        ("memory_note", json!({ "items": 7 })),
        ("memory_search", json!({ "explain": "usize, expected yes" })),
    ] {
        said.push(shim.call(tool, arguments).await);
    }
    let notes = json!([{ "content": "x" }, { "content": " " }]);
    said.push(shim.call("memory_note", json!({ "items": notes })).await);
    insta::assert_snapshot!(said.join("\n"), @r#"
    ERROR failed to search: limit is 500; give a number from 1 to 100
    ERROR failed to search: limit is 0; give a number from 1 to 100
    ERROR memory_search: limit: invalid type: string "ten", expected a whole number, 0 or more
    ERROR failed to list: limit is 201; give a number from 1 to 200
    ERROR memory_list: limit: invalid value: integer `-1`, expected a whole number, 0 or more
    ERROR memory_compact: target_usage: invalid type: string "half", expected a number
    ERROR failed to note: items[0] cannot be read: invalid type: integer `7`, expected a text, or an object with content, key, summary
    ERROR memory_search: explain: invalid type: string "usize, expected yes", expected true or false
    Stored n1 (1 token)
    FAILED item 1: content is empty
    1 stored, 1 failed; send those again corrected.
    Budget: 1/100000 tokens (0.0%), 1 note
    "#);
}

#[tokio::test]
async fn a_note_that_expires_within_a_day_shows_the_time() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for expires in ["2h", "3d"] {
        let note = json!({ "content": format!("for {expires}"), "expires": expires });
        shim.call("memory_note", note).await;
    }
    let soon = shim.call("memory_get", json!({ "id": "n1" })).await;
    assert!(soon.lines().next().unwrap().ends_with(" UTC):"), "{soon}");
    let later = shim.call("memory_get", json!({ "id": "n2" })).await;
    assert!(!later.contains("UTC"), "{later}");
}

/// The writer waits for a disk, say, and what is queued waits for it.
#[tokio::test]
async fn an_earlier_version_is_found_while_the_writer_is_blocked() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for content in ["make all", "cargo build"] {
        shim.call("memory_note", json!({ "key": "build.command", "content": content })).await;
    }
    let owner = world.daemon.projects.open.all()[0].owner.clone();
    let (hold, held_by) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = tokio::sync::oneshot::channel();
    let held = owner.clone();
    let holding = tokio::spawn(async move {
        let wait = move |_: &mut dyn Store<Memory>, _: &Memory| {
            begun.send(()).unwrap();
            held_by.recv().is_err()
        };
        held.ask(wait).await
    });
    begins.await.unwrap();
    let got = shim.call("memory_get", json!({ "key": "build.command", "version": 1 })).await;
    assert!(got.contains("make all"), "{got}");
    drop(hold);
    assert!(holding.await.unwrap().unwrap());
    owner.close().await;
    assert!(matches!(owner.look_up(), Err(WriteError::Closed)), "its files may go now");
}
