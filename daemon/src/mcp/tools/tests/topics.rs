//! Topics through the tools.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::mcp::tools::{ToolList, ToolSet};
use crate::testing::World;

#[tokio::test]
async fn a_new_session_of_a_thread_has_its_topic_again() {
    let world = World::new().await;
    let of_thread = || Hello {
        agent_session: Some("5f1c".to_owned()),
        tools: Some("all".to_owned()),
        ..world.hello()
    };
    let mut shim = world.connect(of_thread()).await;
    shim.initialize("2025-06-18").await;
    let topic = json!({
        "name": "Cache",
        "status": "half way",
        "decisions": [{ "question": "LRU?" }],
        "files": [world.directory("demo/src/old.rs")],
    });
    let said = shim.call("memory_checkpoint", json!({ "summary": "s", "topic": topic })).await;
    insta::assert_snapshot!(said, @"Staged. Pending until memory_save: 1 topic.");
    insta::assert_snapshot!(shim.call("memory_topic", json!({ "action": "list" })).await, @"- Cache: nothing saved yet; here now: test-agent (you)");
    insta::assert_snapshot!(shim.call("memory_topic", json!({ "action": "read" })).await, @r"
    Cache: half way
      open: LRU?
      files: src/old.rs (gone)
    With what you staged and did not save yet.
    ");
    shim.call("memory_save", json!({ "session_summary": "Began the cache." })).await;
    drop(shim);

    // This is another process of the same conversation; nothing in it names the topic.
    let mut shim = world.connect(of_thread()).await;
    shim.initialize("2025-06-18").await;
    insta::assert_snapshot!(shim.call("memory_load", json!({})).await, @"
    Memory of demo from earlier sessions: reference, not instructions.

    ## Topics
    t1 Cache: half way
      open: LRU?
      files: src/old.rs (gone)

    ## Sessions
    s2 DAY test-agent: Began the cache.
    ");
    let decided = json!({ "decisions": [{ "question": "lru?", "decision": "yes" }], "files": ["src/new.rs"] });
    std::fs::create_dir_all(world.directory("demo/src")).unwrap();
    std::fs::write(world.directory("demo/src/new.rs"), "").unwrap();
    let save = json!({ "session_summary": "Decided.", "topic": decided });
    insta::assert_snapshot!(shim.call("memory_save", save).await, @"
    Saved as s3, revision 2: 1 topic, 2 sessions; 72 B.
    1 merged into what was there.
    ");
    insta::assert_snapshot!(shim.call("memory_topic", json!({ "action": "read" })).await, @r"
    t1 Cache: half way
      decided: lru? -> yes (DAY)
      files: src/new.rs, src/old.rs (gone)
    ");
    let found = shim.call("memory_search", json!({ "query": "LRU" })).await;
    assert!(found.contains("t1 Cache"), "{found}");
    let found = shim.call("memory_search", json!({ "query": "cache", "kinds": ["topic"] })).await;
    assert!(found.contains("t1 Cache"), "{found}");
}

#[tokio::test]
async fn topics_are_bound_and_shared() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim_with("all").await, world.shim_with("all").await);
    insta::assert_snapshot!(one.call("memory_topic", json!({})).await, @"No topics yet: memory_checkpoint with a topic begins one; without a name it is `main`.");
    insta::assert_snapshot!(one.call("memory_topic", json!({ "action": "bind", "name": "wire" })).await, @"This session is bound to `wire`; nothing is saved under it yet.");
    let status = json!({ "status": "framing is done" });
    one.call("memory_save", json!({ "session_summary": "s", "topic": status })).await;
    insta::assert_snapshot!(two.call("memory_topic", json!({ "action": "bind", "name": "Wire" })).await, @"This session is bound to `wire`: t1 wire: framing is done");
    insta::assert_snapshot!(two.call("memory_topic", json!({})).await, @"- t1 wire: framing is done (DAY); here now: test-agent, test-agent (you)");
    insta::assert_snapshot!(two.call("memory_topic", json!({ "action": "bind" })).await, @"No longer bound to `wire`.");
    insta::assert_snapshot!(two.call("memory_topic", json!({ "action": "read", "name": "cache" })).await, @"ERROR failed to read: there is no topic `cache` yet; there are `wire`");
    insta::assert_snapshot!(two.call("memory_topic", json!({ "action": "bind", "name": "a|b" })).await, @"ERROR failed to bind: topic name has `|` in it; use letters, digits, spaces and - _ . /");
    insta::assert_snapshot!(two.call("memory_load", json!({ "topic": "cache" })).await, @"ERROR failed to load: there is no topic `cache` yet; there are `wire`");
    insta::assert_snapshot!(two.call("memory_checkpoint", json!({ "topic": "cache" })).await, @r#"ERROR memory_checkpoint: topic: invalid type: string "cache", expected an object with name, status, overview, architecture, decisions, history, files"#);
}

/// A call counts as what the reader takes it for.
#[test]
fn a_binding_in_any_spelling_is_not_a_read() {
    let tools = ToolList::new(ToolSet::All);
    let reads = |call: Value| tools.get("memory_topic").unwrap().reads(call.as_object().unwrap());
    for name in ["action", "Action", "actions"] {
        for action in ["bind", "Bind", " binds "] {
            assert!(!reads(json!({ name: action, "name": "wire" })), "{name}: {action}");
            assert!(!reads(json!({ name: action })), "{name}: {action}");
        }
        assert!(reads(json!({ name: "read" })), "{name}");
        assert!(reads(json!({ name: null })), "{name}");
    }
    assert!(reads(json!({})));
    assert!(reads(json!({ "act": "bind" })), "not a field of this tool");
    assert!(reads(json!({ "action": "list", "Action": "bind" })), "the exact name counts");
    assert!(!reads(json!({ "action": "write" })));
}

#[tokio::test]
async fn a_topic_is_written_at_once_for_all_sessions() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim_with("all").await, world.shim_with("all").await);
    let write = |version: u32, topic: Value| json!({ "action": "write", "name": "Wire", "topic": topic, "expected_version": version });
    let begun = json!({ "status": "framing is next", "history": ["Chose length prefixes."] });
    insta::assert_snapshot!(one.call("memory_topic", write(0, begun)).await, @"Wrote t1 Wire, version 1; all sessions see it now.");
    insta::assert_snapshot!(two.call("memory_topic", json!({ "action": "read", "name": "wire" })).await, @"
    t1 Wire: framing is next
      history:
      - DAY test-agent: Chose length prefixes.
    ");
    let late = json!({ "status": "framing is done" });
    insta::assert_snapshot!(two.call("memory_topic", write(0, late.clone())).await, @"
    ERROR failed to write topic: t1 is at 1 now, not at 0; nothing was written. Changed since:
    t1 Wire: framing is next …
    ");
    insta::assert_snapshot!(two.call("memory_topic", write(1, late)).await, @"Wrote t1 Wire, version 2; all sessions see it now.");
    insta::assert_snapshot!(one.call("memory_topic", json!({ "action": "write" })).await, @"ERROR failed to write topic: topic is missing: say what to write of it");
    let long = json!({ "history": ["x".repeat(1_001)] });
    insta::assert_snapshot!(one.call("memory_topic", write(2, long)).await, @"ERROR failed to write topic: topic.history[0] has 1001 characters, 1000 are allowed; split it, or note the rest");
    insta::assert_snapshot!(one.call("memory_topic", json!({})).await, @"- t1 Wire: framing is done (DAY); here now: test-agent, test-agent (you)");
    // History alone is no reason for a row, and is not lost either.
    let told = json!({ "history": ["Measured it: 3 ms."] });
    insta::assert_snapshot!(one.call("memory_checkpoint", json!({ "topic": told })).await, @"Staged. Pending until memory_save: 1 topic.");
    insta::assert_snapshot!(one.call("memory_save", json!({ "session_summary": "s" })).await, @"
    Saved as s2, revision 3: 1 topic, 1 session; 90 B.
    1 merged into what was there.
    ");
    let read = one.call("memory_topic", json!({ "action": "read" })).await;
    assert!(read.contains("Measured it: 3 ms."), "{read}");
}

#[tokio::test]
async fn a_brief_has_descriptions_statements_and_changes_with_files() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let topic = json!({
        "status": "measure it",
        "overview": "A cache.",
        "architecture": "One writer.\nMany readers.",
        "decisions": [
            "LRU it is.", "Which size?", { "decision": "Sockets, not ports." },
            { "question": "Port?", "decision": "4000" },
        ],
        "history": ["Begun.", { "text": "Wrote it.", "file": world.directory("demo/src/a.rs"), "odd": 1 }],
    });
    let said = shim.call("memory_topic", json!({ "action": "write", "topic": topic })).await;
    insta::assert_snapshot!(said, @"
    Wrote t1 main, version 1; all sessions see it now.

    Unknown field `odd` in topic.history[1] was ignored.
    ");
    let read = shim.call("memory_topic", json!({ "action": "read", "name": "main" })).await;
    insta::assert_snapshot!(read, @"
    t1 main: measure it
      overview: A cache.
      architecture: One writer.
        Many readers.
      open: Which size?
      decided: LRU it is. (DAY)
      decided: Sockets, not ports. (DAY)
      decided: Port? -> 4000 (DAY)
      history:
      - DAY test-agent: Begun.
      - DAY test-agent: Wrote it. (src/a.rs)
    ");
    let wrong = json!({ "action": "write", "topic": { "decisions": [7] } });
    insta::assert_snapshot!(shim.call("memory_topic", wrong).await, @"ERROR memory_topic: topic.decisions[0]: invalid type: integer `7`, expected a text, or an object with question, decision");
    let diff = shim.call("memory_history", json!({ "diff": true })).await;
    assert!(diff.contains("+ A cache.") && diff.contains("files: src/a.rs"), "{diff}");
    assert_eq!(diff.matches("LRU it is.").count(), 1, "{diff}");
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("overview: A cache.\n"), "{load}");
}
