//! Events as the daemon hears them, through its socket's own code.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::testing::{Shim, World};

/// An event in Claude Code's form, of the conversation `session`.
fn event(name: &str, session: &str, more: &Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": session});
    let fields = event.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    event
}

fn started(session: &str, source: &str) -> Value {
    event("SessionStart", session, &json!({"source": source}))
}

/// The context that Claude Code would put into the model's.
fn context(printed: &str) -> String {
    if printed.is_empty() {
        return String::new();
    }
    let output: Value = serde_json::from_str(printed).unwrap();
    output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

async fn saved(world: &World, title: &str) -> Shim {
    let mut shim = world.shim().await;
    let blueprint = json!({"category": "decision", "title": title, "content": "Because."});
    let said = json!({"session_summary": "Decided.", "blueprints": [blueprint]});
    let said = shim.call("memory_save", said).await;
    assert!(said.starts_with("Saved"), "{said}");
    shim
}

#[tokio::test]
async fn a_session_that_starts_is_given_the_memory() {
    let world = World::new().await;
    saved(&world, "Sockets, not ports").await;
    let printed = world.hook("claude-code", &started("a", "startup")).await;
    let context = context(&printed);
    assert!(context.starts_with("<anchord-memory "), "{context}");
    assert!(context.ends_with("</anchord-memory>\n"), "{context}");
    assert!(context.contains("Sockets, not ports"), "{context}");
    assert!(context.chars().count() <= 9_000);
}

#[tokio::test]
async fn an_event_that_comes_twice_is_answered_once() {
    let world = World::new().await;
    saved(&world, "Sockets, not ports").await;
    let first = world.hook("claude-code", &started("a", "startup")).await;
    let second = world.hook("claude-code", &started("a", "startup")).await;
    assert!(!first.is_empty() && second.is_empty(), "{second}");
    assert!(!world.hook("claude-code", &started("b", "startup")).await.is_empty());
    assert_eq!(world.daemon.metrics().hooks().doubled, 1);
}

#[tokio::test]
async fn a_load_after_a_hook_gave_it_says_so_and_what_changed() {
    let world = World::new().await;
    let mut other = saved(&world, "Sockets, not ports").await;
    let hello = world.hello();
    let named = Hello { agent_session: Some("a".to_owned()), ..hello.clone() };
    let mut shim = world.connect(named).await;
    shim.initialize("2025-06-18").await;
    world.hook_by(claude(hello), &started("a", "startup")).await;
    let load = shim.call("memory_load", json!({"task": "anything"})).await;
    assert!(load.starts_with("Memory is already loaded in your context, at revision 1"), "{load}");
    assert!(load.contains("Nothing changed since revision 1."), "{load}");

    let lesson =
        json!({"session_summary": "More.", "lessons": [{"summary": "Sync the folder too"}]});
    other.call("memory_save", lesson).await;
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("Sync the folder too") && !load.contains("Sockets"), "{load}");
    assert!(shim.call("memory_load", json!({})).await.contains("Nothing changed since"), "once");
    let part = shim.call("memory_load", json!({"sections": ["blueprints"]})).await;
    assert!(part.contains("Sockets, not ports"), "{part}");
}

fn claude(hello: Hello) -> Hello {
    Hello { client: Some("claude-code".to_owned()), ..hello }
}
