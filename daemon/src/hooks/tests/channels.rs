//! The channels through which a client can carry a text, and the fallback if it cannot.

use std::cell::Cell;

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
async fn records_not_shown_at_an_action_come_with_the_next_prompt() {
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
async fn a_text_dropped_while_waiting_is_given_again() {
    let world = World::new().await;
    let lessons = [
        json!({"summary": "Merge the heads when alembic says: FAILED: Multiple head revisions are \
                           present for given argument 'head'"}),
        json!({"summary": "The parser eats tabs", "files": ["src/parse.rs"]}),
        json!({"summary": "The writer syncs twice", "files": ["src/write.rs"]}),
        json!({"summary": "The cache is never cold", "files": ["src/cache.rs"]}),
    ];
    let save = json!({"session_summary": "Learned.", "lessons": lessons});
    let said = world.shim().await.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    let count = Cell::new(0);
    let tell = async |name: &str, more: Value| {
        count.set(count.get() + 1);
        let mut event = json!({"hook_event_name": name, "session_key": "agent:main:x",
            "session_id": "1", "call_id": count.get().to_string()});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.hook("openclaw", &event).await
    };
    let output = "FAILED: Multiple head revisions are present for given argument 'head'";
    let failed =
        json!({"tool": "exec", "command": "alembic upgrade head", "exit": 1, "output": output});
    let read = |file: &str| json!({"tool": "read", "file": file});
    let say = async || {
        let id = count.get().to_string();
        tell("prompt_submitted", json!({"message_id": id, "prompt": "go on"})).await
    };
    let fail = async || tell("after_tool_call", failed.clone()).await;
    say().await;
    fail().await;
    for file in ["src/parse.rs", "src/write.rs", "src/cache.rs"] {
        assert_eq!(tell("after_tool_call", read(file)).await, "", "{file}");
    }
    let given = say().await;
    for (part, is_given) in [
        ("Merge the heads", false),
        ("eats tabs", false),
        ("syncs twice", true),
        ("never cold", true),
    ] {
        assert_eq!(given.contains(part), is_given, "{part}: {given}");
    }
    // Dropped records may be given again; the others count as given.
    fail().await;
    for file in ["src/parse.rs", "src/write.rs", "src/cache.rs"] {
        assert_eq!(tell("after_tool_call", read(file)).await, "", "{file}");
    }
    let given = say().await;
    for (part, is_given) in [
        ("Merge the heads", true),
        ("eats tabs", true),
        ("syncs twice", false),
        ("never cold", false),
    ] {
        assert_eq!(given.contains(part), is_given, "{part}: {given}");
    }
}

#[tokio::test]
async fn a_subagents_task_is_not_the_conversations_prompt() {
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
async fn a_client_that_resumes_without_its_context_gets_the_load_again() {
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
async fn a_shell_command_that_reads_or_patches_a_file_brings_its_records() {
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
