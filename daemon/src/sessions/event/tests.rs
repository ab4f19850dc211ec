//! Tests of which project a conversation's events and calls are written to.

use std::path::Path;

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::testing::{World, hello_from};

fn told(name: &str, session: &str, more: &Value) -> Value {
    let mut event = json!({ "hook_event_name": name, "session_id": session });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn hook_in(directory: &Path) -> Hello {
    Hello { client: Some("claude-code".to_owned()), ..hello_from(directory) }
}

/// Asks for something, and ends the turn, so that the request is staged.
async fn asks(world: &World, hello: &Hello, session: &str, prompt: &str) {
    let event = told("UserPromptSubmit", session, &json!({ "prompt": prompt }));
    world.hook_by(hello.clone(), &event).await;
    world
        .hook_by(
            hello.clone(),
            &told("Stop", session, &json!({ "last_assistant_message": prompt })),
        )
        .await;
}

/// Returns what is staged in the project of a directory, with the sessions that staged it.
async fn staged_at(world: &World, directory: &Path) -> Vec<(String, String)> {
    let registry = world.daemon.projects.registry.snapshot();
    let Some(project) = registry.project_at(directory) else { return Vec::new() };
    let open = world.daemon.projects.open_project(project.id).await.unwrap();
    let memory = open.memory();
    memory
        .staged()
        .map(|(id, staged)| {
            let asked = staged.captured.as_ref().map(|captured| captured.row_summary());
            (id.to_string(), asked.unwrap_or_default())
        })
        .collect()
}

fn two(world: &World) -> [std::path::PathBuf; 2] {
    let directories = [world.directory("demo"), world.directory("other")];
    for directory in &directories {
        std::fs::create_dir_all(directory).unwrap();
    }
    directories
}

#[tokio::test]
async fn an_event_in_another_project_is_written_there() {
    for restarts in [false, true] {
        let world = World::new().await;
        let [here, there] = two(&world);
        asks(&world, &hook_in(&here), "talk", "Mend the first project's parser").await;
        let world = if restarts { world.restart(true).await } else { world };
        asks(&world, &hook_in(&there), "talk", "Mend the second project's parser").await;
        asks(&world, &hook_in(&here), "talk", "Mend the first project's printer").await;

        let (first, second) = (staged_at(&world, &here).await, staged_at(&world, &there).await);
        let [(session, of_first)] = &first[..] else { panic!("{restarts}: {first:?}") };
        let [(other, of_second)] = &second[..] else { panic!("{restarts}: {second:?}") };
        assert!(!of_first.contains("second") && of_first.contains("printer"), "{of_first}");
        assert!(!of_second.contains("first") && of_second.contains("second"), "{of_second}");
        assert_eq!(session, "claude-code:talk");
        assert!(other.starts_with("claude-code:talk@"), "{other}");

        // The conversation's end in one project leaves its work in the other alone.
        world.hook_by(hook_in(&there), &told("SessionEnd", "talk", &json!({}))).await;
        assert!(staged_at(&world, &there).await.is_empty(), "it is folded");
        assert_eq!(staged_at(&world, &here).await, first);
    }
}

#[tokio::test]
async fn a_conversation_in_two_projects_is_found_again_in_both() {
    let world = World::new().await;
    let [here, there] = two(&world);
    for directory in [&here, &there] {
        asks(&world, &hook_in(directory), "talk", "Mend the parser of this project").await;
    }
    let before = [staged_at(&world, &here).await, staged_at(&world, &there).await];
    assert!(before.iter().all(|staged| staged.len() == 1), "{before:?}");
    let world = world.restart(true).await;
    for directory in [&there, &here] {
        asks(&world, &hook_in(directory), "talk", "Mend the parser of this project").await;
    }
    for (directory, before) in [&here, &there].into_iter().zip(before) {
        let ids = |staged: &[(String, String)]| -> Vec<String> {
            staged.iter().map(|(id, _)| id.clone()).collect()
        };
        assert_eq!(ids(&staged_at(&world, directory).await), ids(&before));
    }
}

#[tokio::test]
async fn a_directory_within_the_project_does_not_divide_a_conversation() {
    let world = World::new().await;
    let [here, _] = two(&world);
    std::fs::create_dir_all(here.join("src")).unwrap();
    asks(&world, &hook_in(&here), "talk", "Mend the parser of this project").await;
    let world = world.restart(true).await;
    asks(&world, &hook_in(&here.join("src")), "talk", "Mend the printer of this project").await;
    // An agent may enter a directory that is no project.
    let home = world.directory("home");
    std::fs::create_dir_all(&home).unwrap();
    asks(&world, &hook_in(&home), "talk", "Mend the linter of this project").await;
    let staged = staged_at(&world, &here).await;
    let [(_, asked)] = &staged[..] else { panic!("{staged:?}") };
    assert!(asked.contains("(3 prompts)") && asked.contains("linter"), "{asked}");
}

#[tokio::test]
async fn a_call_in_another_project_is_written_there() {
    for restarts in [false, true] {
        let world = World::new().await;
        let [here, there] = two(&world);
        asks(&world, &hook_in(&here), "talk", "Mend the first project's parser").await;
        let world = if restarts { world.restart(true).await } else { world };
        let named = Hello { agent_session: Some("talk".to_owned()), ..hello_from(&there) };
        let mut shim = world.connect(named).await;
        shim.initialize_as("claude-code", "2025-06-18").await;
        let note = json!({ "content": "The second project prints in colour." });
        assert!(shim.call("memory_note", note).await.starts_with("Stored"), "{restarts}");
        let found = shim.call("memory_search", json!({ "query": "colour" })).await;
        assert!(found.contains("prints in colour"), "{restarts}: {found}");

        let mut first = world.connect(hello_from(&here)).await;
        first.initialize("2025-06-18").await;
        let found = first.call("memory_search", json!({ "query": "colour" })).await;
        assert!(!found.contains("prints in colour"), "{restarts}: {found}");

        // An event there belongs to the session that the calls began.
        asks(&world, &hook_in(&there), "talk", "Mend the second project's parser").await;
        let registry = world.daemon.projects.registry.snapshot();
        let project = registry.project_at(&there).unwrap().id;
        assert_eq!(registry.sessions().filter(|record| record.project == project).count(), 1);
    }
}

#[tokio::test]
async fn a_thread_of_two_projects_is_in_each_the_session_that_hooks_began_there() {
    let codex =
        |directory: &Path| Hello { client: Some("codex".to_owned()), ..hello_from(directory) };
    let world = World::new().await;
    let [here, there] = two(&world);
    for directory in [&here, &there] {
        asks(&world, &codex(directory), "talk", "Mend the parser of this project").await;
    }
    let world = world.restart(true).await;
    for directory in [&there, &here] {
        let mut shim = world.connect(hello_from(directory)).await;
        shim.initialize("2025-06-18").await;
        let name = directory.file_name().unwrap().to_str().unwrap();
        let arguments = json!({ "summary": format!("the parser of {name}") });
        let meta = json!({ "threadId": "talk" });
        let call = json!({ "name": "memory_checkpoint", "arguments": arguments, "_meta": meta });
        let id = shim.ask("tools/call", call).await;
        let said = shim.said(id).await;
        assert!(said.starts_with("Staged.") && !said.contains("another project"), "{said}");
        let staged = staged_at(&world, directory).await;
        let [(session, _)] = &staged[..] else { panic!("{name}: {staged:?}") };
        assert!(session.starts_with("codex:talk"), "{name}: {session}");
    }
}
