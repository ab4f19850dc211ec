//! Subagents: the context that each gets, and the session that its work belongs to.

use super::*;

#[tokio::test]
async fn a_subagent_is_given_a_slice_unless_its_type_is_excluded() {
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

/// Makes a call as Claude Code does, with its own id for the call.
async fn called(shim: &mut Shim, id: &str, tool: &str, arguments: Value) -> String {
    let meta = json!({"claudecode/toolUseId": id});
    let call = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let asked = shim.ask("tools/call", call).await;
    shim.said(asked).await
}

#[tokio::test]
async fn a_subagents_staged_work_is_its_own_and_kept_when_it_ends() {
    let world = World::new().await;
    let named = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let mut shim = world.connect(named).await;
    shim.initialize("2025-06-18").await;
    told(&world, &[started("a", "startup"), prompt("a", "make it fast")]).await;
    let agent = |name: &str, more: &Value| {
        let mut fields = json!({"agent_id": "x1", "agent_type": "Explore"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event(name, "a", &fields)
    };
    let begins =
        |id: &str| agent("PreToolUse", &json!({"tool_name": "mcp__anchord__x", "tool_use_id": id}));
    assert_eq!(told(&world, &[agent("SubagentStart", &json!({})), begins("t1")]).await, "");
    called(&mut shim, "t0", "memory_checkpoint", json!({"summary": "The parent's half."})).await;
    let lesson = json!({"summary": "The subagent's.", "lessons": [{"summary": "Loops are hot"}]});
    called(&mut shim, "t1", "memory_checkpoint", lesson).await;
    // Each sees only its own staged work.
    let load = called(&mut shim, "t0", "memory_load", json!({"sections": ["lessons"]})).await;
    assert!(load.contains("not saved yet: a summary") && !load.contains("Loops"), "{load}");
    let load = called(&mut shim, "t1", "memory_load", json!({})).await;
    assert!(load.contains("not saved yet: 1 lesson"), "{load}");

    // Both count as one conversation, to themselves and to others.
    for id in ["t0", "t1"] {
        let status = called(&mut shim, id, "memory_status", json!({})).await;
        assert!(status.contains("other live sessions here: none"), "{id}: {status}");
    }
    let status = world.shim().await.call("memory_status", json!({})).await;
    assert!(status.contains("other live sessions here: 1 (test-agent)"), "{status}");

    told(&world, &[agent("SubagentStop", &json!({"last_assistant_message": "Looked."}))]).await;
    let load = loaded(&world).await;
    assert!(load.contains("Loops are hot"), "kept on its behalf: {load}");
    assert!(!load.contains("The parent's half."), "that one goes on: {load}");
    let row = "test-agent (a subagent, not saved by its agent): The subagent's.";
    assert!(load.contains(row), "{load}");

    // No hook reported this call, so it belongs to the conversation.
    called(&mut shim, "t2", "memory_checkpoint", json!({"summary": "The parent's other half."}))
        .await;
    told(&world, &[begins("t3")]).await;
    called(&mut shim, "t3", "memory_checkpoint", json!({"summary": "Once more."})).await;
    told(&world, &[ended("a")]).await;
    let load = loaded(&world).await;
    for part in ["The parent's other half.", "not saved by its agent): Once more."] {
        assert!(load.contains(part), "`{part}` is missing in {load}");
    }
    assert!(world.daemon.sessions.table.all().iter().all(|it| it.session.id.parent().is_none()));
}

/// A call may wait long for a permission while other tools run.
#[tokio::test]
async fn many_file_events_do_not_displace_a_subagents_expected_call() {
    let world = World::new().await;
    let named = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let mut shim = world.connect(named).await;
    shim.initialize("2025-06-18").await;
    let begins = |tool: &str, id: &str| {
        let fields = json!({"agent_id": "x1", "agent_type": "Explore", "tool_name": tool,
            "tool_use_id": id, "tool_input": {"file_path": "src/store.rs"}});
        event("PreToolUse", "a", &fields)
    };
    told(&world, &[started("a", "startup")]).await;
    let own = "mcp__plugin_anchord_anchord__memory_checkpoint";
    told(&world, &[begins(own, "t1")]).await;
    for number in 0..=limits::CALLS_EXPECTED_MAX {
        let tool = if number % 2 == 0 { "Read" } else { "Edit" };
        told(&world, &[begins(tool, &format!("f{number}"))]).await;
    }
    called(&mut shim, "t1", "memory_checkpoint", json!({"summary": "Looked."})).await;
    let all = world.daemon.sessions.table.all();
    assert_eq!(all.iter().filter(|it| it.session.id.parent().is_some()).count(), 1);
    called(&mut shim, "f1", "memory_load", json!({})).await;
    assert_eq!(world.daemon.sessions.table.all().len(), all.len(), "a file's is not expected");
}

#[tokio::test]
async fn records_given_to_a_subagent_at_its_start_are_reset_too() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let lesson =
        json!({"summary": "Close the reader before the rename", "files": ["src/store.rs"]});
    let save = json!({"session_summary": "Learned.", "lessons": [lesson]});
    let said = shim.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    let agent = |name: &str, file: &str| {
        let fields = json!({"agent_id": "x1", "agent_type": "Explore", "tool_name": "Read",
            "tool_input": {"file_path": file}});
        event(name, "a", &fields)
    };
    let lesson = "Close the reader before the rename";
    let slice = context(&told(&world, &[agent("SubagentStart", "")]).await);
    assert!(slice.contains(lesson), "{slice}");
    let project = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    world.daemon.hooks.state.forget_given_of(project);
    let given = context(&told(&world, &[agent("PreToolUse", "src/store.rs")]).await);
    assert!(given.contains(lesson), "{given}");
}
