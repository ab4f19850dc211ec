//! The channels through which a client can carry a text, and the fallback if it cannot.

use super::*;

/// Saves a lesson about one file.
async fn learned(world: &World) {
    let mut shim = world.shim().await;
    let lesson = json!({"summary": "Close the reader before the rename, or Windows keeps the old file",
        "files": ["src/store.rs"]});
    let said = json!({"session_summary": "Learned.", "lessons": [lesson]});
    let said = shim.call("memory_save", said).await;
    assert!(said.starts_with("Saved"), "{said}");
}

const LEARNED: &str = "Close the reader before the rename";

#[tokio::test]
async fn what_a_client_cannot_carry_at_an_action_is_given_with_the_next_prompt() {
    let world = World::new().await;
    learned(&world).await;
    let about = |name: &str, more: &Value| {
        let mut event =
            json!({"hook_event_name": name, "session_key": "agent:main:x", "session_id": "1"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let say = |id: &str| about("prompt_submitted", &json!({"message_id": id, "prompt": "go on"}));
    assert_eq!(world.hook("openclaw", &say("1")).await, "");
    let read = json!({"call_id": "c1", "tool": "read", "file": "src/store.rs"});
    assert_eq!(world.hook("openclaw", &about("after_tool_call", &read)).await, "");
    let given = world.hook("openclaw", &say("2")).await;
    assert!(given.contains(LEARNED) && given.contains("src/store.rs"), "{given}");
    assert_eq!(world.hook("openclaw", &say("3")).await, "", "given once");
}

#[tokio::test]
async fn the_task_of_a_subagent_is_its_prompt_and_not_the_conversations() {
    let world = World::new().await;
    learned(&world).await;
    let asked = "Why does the rename fail on Windows when the reader has the old file?";
    let task = json!({"prompt": asked, "agent_id": "x", "agent_type": "default"});
    let given = context(&world.hook("codex", &event("UserPromptSubmit", "a", &task)).await);
    assert!(given.contains(LEARNED), "{given}");
    // No person wrote it, and the conversation was not given the lesson.
    world.hook("codex", &ended("a")).await;
    assert!(!loaded(&world).await.contains("Asked:"), "{}", loaded(&world).await);
    let again = context(&world.hook("codex", &prompt("a", asked)).await);
    assert!(again.contains(LEARNED), "{again}");
}

#[tokio::test]
async fn a_client_that_resumes_without_its_first_message_is_given_the_load_again() {
    let world = World::new().await;
    saved(&world, "Sockets, not ports").await;
    for source in ["startup", "resume"] {
        let load = context(&world.hook("gemini", &started("a", source)).await);
        assert!(load.contains("Sockets, not ports"), "{source}: {load}");
    }
    let load = context(&world.hook("codex", &started("b", "startup")).await);
    assert!(load.contains("Sockets, not ports"), "{load}");
    assert_eq!(world.hook("codex", &started("b", "resume")).await, "", "it has it still");
}

#[tokio::test]
async fn a_shell_that_prints_or_patches_a_file_is_told_of_it() {
    let world = World::new().await;
    learned(&world).await;
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/store.rs\n@@\n-a\n+b\n*** End Patch\nEOF";
    for (session, command) in
        [("a", "sed -n 1,20p src/store.rs"), ("b", "cat 'src/store.rs' | head"), ("c", patch)]
    {
        let tool =
            json!({"tool_name": "Bash", "tool_use_id": "1", "tool_input": {"command": command}});
        let given = context(&world.hook("codex", &event("PreToolUse", session, &tool)).await);
        assert!(given.contains(LEARNED), "{command}: {given}");
    }
    world.hook("codex", &prompt("c", "change the store")).await;
    world.hook("codex", &ended("c")).await;
    assert!(loaded(&world).await.contains("Edited: src/store.rs"), "{}", loaded(&world).await);
}

#[tokio::test]
async fn a_subagent_is_given_a_slice_unless_its_type_is_named() {
    let world = World::new().await;
    let mut other = saved(&world, "Sockets, not ports").await;
    let agent =
        |kind: &str| event("SubagentStart", "a", &json!({"agent_id": kind, "agent_type": kind}));
    let slice = context(&told(&world, &[agent("Explore")]).await);
    assert!(slice.contains("Sockets, not ports") && slice.chars().count() <= 1_500, "{slice}");
    other = {
        drop(other);
        world.shim_with("all").await
    };
    other.call("memory_configure", json!({"subagent_skip": ["Plan"]})).await;
    assert_eq!(told(&world, &[agent("Plan")]).await, "");
    let task = json!({"prompt": "move the sockets", "agent_id": "p", "agent_type": "Plan"});
    assert_eq!(told(&world, &[event("UserPromptSubmit", "a", &task)]).await, "");
}
