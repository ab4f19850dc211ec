//! Tests of which private notes a client gets if it names a conversation.

use anchord_proto::hello::ToolSet;
use serde_json::{Value, json};

use crate::testing::{Shim, World, hello_from};

const SECRET: &str = "the launch is on the ninth";

fn event(session: &str) -> Value {
    json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "hello there" })
}

async fn in_conversation(shim: &mut Shim, thread: &str, tool: &str, arguments: Value) -> String {
    let meta = json!({ "threadId": thread });
    let call = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let id = shim.ask("tools/call", call).await;
    shim.said(id).await
}

async fn shim_in(world: &World, directory: &str) -> Shim {
    let directory = world.directory(directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut shim = world.connect(hello_from(&directory)).await;
    shim.initialize("2025-06-18").await;
    shim
}

#[tokio::test]
async fn conversations_of_different_projects_share_nothing() {
    let world = World::new().await;
    // Before anything is written, the project has no id, and neither do its sessions know one.
    let started =
        json!({ "hook_event_name": "SessionStart", "session_id": "unbound", "source": "startup" });
    world.hook("codex", &started).await;
    let mut early = shim_in(&world, "early").await;
    let planted = json!({ "content": "planted early" });
    in_conversation(&mut early, "unbound", "memory_note", planted).await;
    assert!(!world.directory("demo/.anchord").exists());
    world.hook("codex", &event("bound")).await;
    let mut own = world.shim().await;
    let private = json!({ "content": SECRET, "scope": "session" });
    assert!(in_conversation(&mut own, "bound", "memory_note", private).await.starts_with("Stored"));
    let mine = json!({ "query": "launch", "scope": "session" });
    assert!(
        in_conversation(&mut own, "bound", "memory_search", mine.clone()).await.contains(SECRET)
    );

    let mut other = shim_in(&world, "other").await;
    for (nth, talk) in ["bound", "unbound"].into_iter().enumerate() {
        let mut said = Vec::new();
        for (tool, arguments) in [
            ("memory_search", mine.clone()),
            ("memory_load", json!({})),
            ("memory_note", json!({ "content": format!("planted for {talk}") })),
            ("memory_save", json!({ "session_summary": "planted" })),
        ] {
            said.push(in_conversation(&mut other, talk, tool, arguments).await);
        }
        assert!(said.iter().all(|said| !said.contains(SECRET)), "{talk}: {said:?}");
        let told = said.iter().filter(|said| said.contains("works in another project")).count();
        assert_eq!(told, usize::from(nth == 0), "it is told once: {said:?}");
        let all = json!({ "query": "planted" });
        let there = in_conversation(&mut own, talk, "memory_search", all.clone()).await;
        assert!(!there.contains("planted for"), "{there}");
        let here = other.call("memory_search", all).await;
        assert!(here.contains(&format!("planted for {talk}")), "{here}");
    }
}

#[tokio::test]
async fn a_conversation_is_the_same_by_any_path_to_its_project() {
    let world = World::new().await;
    world.hook("codex", &event("talk")).await;
    std::fs::create_dir_all(world.directory("demo/.anchord")).unwrap();
    std::os::unix::fs::symlink(world.directory("demo"), world.directory("link")).unwrap();
    let mut own = world.shim().await;
    let private = json!({ "content": SECRET, "scope": "session" });
    in_conversation(&mut own, "talk", "memory_note", private).await;
    let mine = json!({ "query": "launch", "scope": "session" });
    for directory in ["demo", "demo/src", "link"] {
        let mut same = shim_in(&world, directory).await;
        let found = in_conversation(&mut same, "talk", "memory_search", mine.clone()).await;
        assert!(found.contains(SECRET), "{directory}: {found}");
    }
    // A client whose own directory is not a project.
    let mut home = shim_in(&world, "home").await;
    let found = in_conversation(&mut home, "talk", "memory_search", mine).await;
    assert!(found.contains("is your home directory"), "{found}");
}

#[tokio::test]
async fn an_unshown_remark_is_kept_along_with_the_next() {
    let world = World::new().await;
    let (connection, _) = world.daemon.socket.connect(world.hello(), ToolSet::Default);
    let session = connection.session(None, None, None);
    for remark in ["it works elsewhere", "it moved", "it moved"] {
        session.remark_on(Some(remark.to_owned()));
    }
    assert_eq!(session.take_remarks().unwrap(), "it works elsewhere\nit moved");
    assert_eq!(session.take_remarks(), None);
}
