//! Failed commands, from the hook event to the next session.

use serde_json::{Value, json};

use crate::testing::World;

const HEADS: &str =
    "Exit code 255\n  FAILED: Multiple head revisions are present for given argument 'head'";

async fn tell(world: &World, name: &str, more: &Value) {
    let mut event = json!({"hook_event_name": name, "session_id": "a"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.hook("claude-code", &event).await;
}

fn bash(id: u32, command: &str) -> Value {
    let id = format!("toolu_{id}");
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}})
}

fn failed(id: u32, command: &str, error: &str) -> Value {
    let mut run = bash(id, command);
    run["error"] = json!(error);
    run
}

#[tokio::test]
async fn a_fix_is_a_lesson_for_the_next_session() {
    let world = World::new().await;
    tell(&world, "SessionStart", &json!({"source": "startup"})).await;
    tell(&world, "UserPromptSubmit", &json!({"prompt": "migrate the database"})).await;
    tell(&world, "PostToolUseFailure", &failed(1, "alembic upgrade head 2>&1", HEADS)).await;
    tell(&world, "Stop", &json!({"last_assistant_message": "There are two heads."})).await;
    tell(&world, "PostToolUse", &bash(2, "alembic merge heads")).await;
    tell(&world, "PostToolUse", &bash(3, "alembic upgrade head")).await;
    tell(&world, "SessionEnd", &json!({"reason": "other"})).await;
    let load = world.shim().await.call("memory_load", json!({"sections": ["lessons"]})).await;
    let lesson = "`alembic upgrade head` failed with `Multiple head revisions are present for given \
                  argument 'head'`: run `alembic merge heads`";
    assert!(load.contains(lesson) && load.contains("(captured "), "{load}");
}

#[tokio::test]
async fn a_command_interrupted_by_a_person_has_not_failed() {
    let world = World::new().await;
    tell(&world, "UserPromptSubmit", &json!({"prompt": "migrate the database"})).await;
    let mut stopped =
        failed(1, "make migrate", "Exit code 130\nwaiting for the lock of the database");
    stopped["is_interrupt"] = json!(true);
    tell(&world, "PostToolUseFailure", &stopped).await;
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.py"}});
    tell(&world, "PostToolUse", &edit).await;
    tell(&world, "PostToolUse", &bash(2, "make migrate")).await;
    tell(&world, "SessionEnd", &json!({"reason": "other"})).await;
    let load = world.shim().await.call("memory_load", json!({})).await;
    assert!(load.contains("migrate the database") && !load.contains("make migrate"), "{load}");
}
