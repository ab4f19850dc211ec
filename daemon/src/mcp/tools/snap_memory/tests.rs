//! Calls of that system as its users make them, and their replies.

use anchord_proto::hello::Hello;
use serde_json::json;

use crate::testing::World;

#[tokio::test]
async fn a_topic_is_saved_listed_and_read() {
    let world = World::new().await;
    let mut shim = world.shim_with("snap-memory").await;
    let list = json!({ "action": "list" });
    assert_eq!(shim.call("context_snap", list.clone()).await, "No context snap files found.");
    let checkpoint = json!({
        "action": "checkpoint",
        "topic": "fix: login",
        "status": "half way",
        "decisions": ["2026-11-02: Tokens expire after a day"],
        "historyLine": "2026-11-02: Found the cause",
        "color": "unknown parameters are ignored",
    });
    let saved = shim.call("context_snap", checkpoint).await;
    assert_eq!(saved, "✅ Context saved: context-fix: login.md");
    insta::assert_snapshot!(shim.call("context_snap", list).await, @r"
    Context snaps:
    - context-fix: login.md (bound: 1 session)
    ");
    let read = json!({ "action": "read", "topic": "fix: login" });
    insta::assert_snapshot!(shim.call("context_snap", read).await, @r"
    # fix: login

    ## Meta
    - **created**: DAY
    - **updated**: DAY

    ## Current Status
    half way

    ## Key Decisions
    - 2026-11-02: Tokens expire after a day

    ## History
    - 2026-11-02: Found the cause
    - DAY: Context created
    ");
    // It is everyone's at once, and nothing else was written.
    let mut other = world.shim().await;
    let load = other.call("memory_load", json!({})).await;
    assert!(load.contains("half way") && !load.contains("## Sessions"), "{load}");
    assert!(!load.contains("open:"), "a decision is not an open question: {load}");
}

#[tokio::test]
async fn errors_have_the_originals_words_and_are_errors() {
    let world = World::new().await;
    let mut shim = world.shim_with("snap-memory").await;
    for (call, error) in [
        (json!({ "action": "checkpoint" }), "Error: 'topic' required for checkpoint action."),
        (json!({ "action": "read", "topic": " " }), "Error: 'topic' required for read action."),
        (json!({ "action": "read", "topic": "x/../a" }), "Not found: context-x/../a.md"),
        (json!({ "action": "drop" }), "Unknown action: drop"),
        (json!({}), "Error: missing field `action`"),
        (
            json!({ "action": "checkpoint", "topic": "a", "historyLine": "x".repeat(1_001) }),
            "Error: topic.history[1] has 1001 characters, 1000 are allowed; split it, or note the rest",
        ),
    ] {
        assert_eq!(shim.call("context_snap", call).await, format!("ERROR {error}"));
    }
}

#[tokio::test]
async fn a_checkpoint_binds_its_own_conversation_and_no_other() {
    let world = World::new().await;
    let of = |session: &str| Hello {
        agent_session: Some(session.to_owned()),
        tools: Some("snap-memory".to_owned()),
        ..world.hello()
    };
    let mut shim = world.connect(of("agent:main:a")).await;
    shim.initialize("2025-06-18").await;
    let checkpoint = |topic: &str, session: &str| json!({ "action": "checkpoint", "topic": topic, "sessionId": session });
    for topic in ["one", "two"] {
        let said = shim.call("context_snap", checkpoint(topic, "agent:main:a")).await;
        assert_eq!(said, format!("✅ Context saved: context-{topic}.md"));
    }
    insta::assert_snapshot!(shim.call("context_snap", checkpoint("three", "agent:main:b")).await, @"ERROR Error: sessionId agent:main:b is not this conversation, and only its own topic can be bound; nothing was saved. Leave it out here. To bind that one, have it call context_snap, or memory_topic with action bind.");
    let list = shim.call("context_snap", json!({ "action": "list" })).await;
    assert_eq!(list, "Context snaps:\n- context-one.md\n- context-two.md (bound: 1 session)");
}

#[tokio::test]
async fn calls_of_several_conversations_on_one_connection_belong_to_their_own() {
    let world = World::new().await;
    let mut shim =
        world.connect(Hello { tools: Some("snap-memory".to_owned()), ..world.hello() }).await;
    shim.initialize_as("openclaw-bundle-mcp", "2025-11-25").await;
    let checkpoint = |topic: &str, conversation: &str| json!({ "action": "checkpoint", "topic": topic, "anchord_conversation": conversation });
    let one = shim.ask_call("context_snap", checkpoint("one", "agent:main:a")).await;
    let two = shim.ask_call("context_snap", checkpoint("two", "agent:main:b")).await;
    shim.said(one).await;
    shim.said(two).await;
    shim.call("context_snap", checkpoint("three", "agent:main:b")).await;
    let list = shim.call("context_snap", json!({ "action": "list" })).await;
    assert_eq!(
        list,
        "Context snaps:\n- context-one.md (bound: 1 session)\n- context-three.md (bound: 1 session)\n\
         - context-two.md"
    );
}

#[tokio::test]
async fn a_call_belongs_to_the_conversation_that_hooks_began() {
    let world = World::new().await;
    let hello = Hello { tools: Some("snap-memory".to_owned()), ..world.hello() };
    let mut shim = world.connect(hello).await;
    shim.initialize_as("openclaw-bundle-mcp", "2025-11-25").await;
    let event = |name: &str, conversation: &str| {
        json!({
            "hook_event_name": name,
            "session_key": conversation,
            "session_id": format!("run of {conversation}"),
            "cwd": world.directory("demo"),
            "pid": std::process::id(),
        })
    };
    let [one, other] = ["agent:main:a", "agent:main:b"];
    let given = world.hook("openclaw", &event("before_prompt_build", one)).await;
    world.hook("openclaw", &event("before_prompt_build", other)).await;
    // The last one that was heard of is b, and the call is a's.
    let call = json!({
        "action": "checkpoint",
        "topic": "one",
        "status": "on it",
        "anchord_conversation": one,
    });
    let saved = shim.call("context_snap", call).await;
    assert_eq!(saved, "✅ Context saved: context-one.md");
    let memory = world.daemon.projects.open.all().first().unwrap().memory();
    let bound: Vec<(&str, &str)> =
        memory.bindings().map(|(key, bound)| (key, bound.topic.as_str())).collect();
    assert_eq!(bound, [("openclaw:agent:main:a", "one")]);
    // The prompt has the same bytes until a reset.
    let again = world.hook("openclaw", &event("before_prompt_build", one)).await;
    assert_eq!(again, given);
    world.hook("openclaw", &event("before_reset", one)).await;
    let fresh = world.hook("openclaw", &event("before_prompt_build", one)).await;
    assert!(fresh.contains("on it"), "{fresh}");
}

#[tokio::test]
async fn another_clients_model_cannot_speak_for_a_conversation() {
    let world = World::new().await;
    let mut shim = world.shim_with("snap-memory").await;
    let call =
        json!({ "action": "checkpoint", "topic": "one", "anchord_conversation": "agent:main:a" });
    shim.call("context_snap", call).await;
    let memory = world.daemon.projects.open.all().first().unwrap().memory();
    assert!(memory.bound("openclaw:agent:main:a").is_none() && memory.bindings().count() == 1);
}

/// There, two sessions on one topic overwrite each other's text, and a status leaves no trace.
#[tokio::test]
async fn two_sessions_on_one_topic_keep_both_and_each_status() {
    let world = World::new().await;
    let mut one = world.shim_with("snap-memory").await;
    let mut two = world.shim_with("snap-memory").await;
    let checkpoint = |status: &str, decision: &str| json!({ "action": "checkpoint", "topic": "login", "status": status, "decisions": [decision] });
    let first = one.ask_call("context_snap", checkpoint("half way", "Tokens expire")).await;
    let second = two.ask_call("context_snap", checkpoint("nearly done", "No cookies")).await;
    one.said(first).await;
    two.said(second).await;
    let read = json!({ "action": "read", "topic": "login" });
    let text = one.call("context_snap", read).await;
    for kept in ["Tokens expire", "No cookies", "half way", "nearly done"] {
        assert!(text.contains(kept), "{kept} is missing: {text}");
    }
}

/// There, the same decision twice stands twice, and a topic cannot be deleted.
#[tokio::test]
async fn a_decision_stands_once_and_a_topic_can_be_forgotten() {
    let world = World::new().await;
    let mut shim = world.shim_with("snap-memory").await;
    let checkpoint = json!({ "action": "checkpoint", "topic": "login", "decisions": ["2026-11-02: No cookies"] });
    shim.call("context_snap", checkpoint.clone()).await;
    shim.call("context_snap", checkpoint).await;
    let text = shim.call("context_snap", json!({ "action": "read", "topic": "login" })).await;
    assert_eq!(text.matches("No cookies").count(), 1, "{text}");
    let mut all = world.shim_with("all").await;
    all.call("memory_forget", json!({ "id": "t1" })).await;
    let gone = shim.call("context_snap", json!({ "action": "read", "topic": "login" })).await;
    assert_eq!(gone, "ERROR Not found: context-login.md");
}

/// There, all agents of a gateway write into one folder.
#[tokio::test]
async fn each_project_has_its_own_topics() {
    let world = World::new().await;
    let mut shim = world.shim_with("snap-memory").await;
    shim.call("context_snap", json!({ "action": "checkpoint", "topic": "login" })).await;
    std::fs::create_dir_all(world.directory("other")).unwrap();
    let hello = Hello {
        tools: Some("snap-memory".to_owned()),
        ..crate::testing::hello_from(&world.directory("other"))
    };
    let mut other = world.connect(hello).await;
    other.initialize("2025-06-18").await;
    let list = other.call("context_snap", json!({ "action": "list" })).await;
    assert_eq!(list, "No context snap files found.");
}
