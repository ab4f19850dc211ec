//! Resources that a person attaches by their URI.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use crate::testing::{Shim, World, poll};

async fn read(shim: &mut Shim, uri: &str) -> Value {
    shim.request("resources/read", json!({ "uri": uri })).await
}

async fn text(shim: &mut Shim, uri: &str) -> String {
    let reply = read(shim, uri).await;
    let contents = &reply["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{reply}");
    contents["text"].as_str().unwrap().to_owned()
}

async fn saved(world: &World) -> Shim {
    let mut shim = world.shim().await;
    let save = json!({
        "session_summary": "Made the cache warm up.",
        "lessons": [{ "summary": "a cold cache times out" }],
        "topic": {
            "name": "Cache warm-up/2",
            "status": "warming works",
            "decisions": [{ "question": "LRU?", "decision": "yes" }, { "question": "Which size?" }],
            "files": ["src/gone.rs"],
        },
    });
    let said = shim.call("memory_save", save).await;
    assert!(said.starts_with("Saved"), "{said}");
    shim
}

#[tokio::test]
async fn listing_resources_opens_no_project() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let list = shim.request("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(
        (world.daemon.projects.open.all().len(), world.daemon.sessions.table.all().len()),
        (0, 0)
    );
    let templates = shim.request("resources/templates/list", json!({})).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
    let uris: Vec<&str> =
        templates.iter().filter_map(|template| template["uriTemplate"].as_str()).collect();
    assert_eq!(uris, ["anchord://topic/{name}", "anchord://record/{id}"]);

    let mut shim = saved(&world).await;
    let list = shim.request("resources/list", json!({})).await;
    assert_eq!(
        list["result"]["resources"][1]["uri"], "anchord://topic/Cache%20warm-up/2",
        "{list}"
    );
}

#[tokio::test]
async fn topics_are_listed_even_if_calls_belong_to_the_hooks_session() {
    let world = World::new().await;
    saved(&world).await;
    let hello = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let event = json!({
        "hook_event_name": "SessionStart", "session_id": "a", "source": "startup",
    });
    world.hook("claude-code", &event).await;
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    let mut listed = async |expected: usize| {
        let list = shim.request("resources/list", json!({})).await;
        let resources = list["result"]["resources"].as_array().unwrap().len();
        assert_eq!(resources, expected, "{list}");
        shim.call("memory_load", json!({})).await;
    };
    listed(1).await;
    listed(2).await;

    // An agent that names its threads has no call outside of them.
    let mut shim = world.connect(world.hello()).await;
    shim.initialize("2025-06-18").await;
    let thread = json!({ "name": "memory_load", "arguments": {}, "_meta": { "threadId": "t" } });
    shim.request("tools/call", thread).await;
    let list = shim.request("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 2, "{list}");
}

#[tokio::test]
async fn a_resource_has_the_same_text_as_the_tools_answer() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    let topic = text(&mut shim, "anchord://topic/Cache%20warm-up/2").await;
    insta::assert_snapshot!(topic.replace(&crate::clock::now().date(), "DAY"), @r"
    t2 Cache warm-up/2: warming works
      open: Which size?
      decided: LRU? -> yes (DAY)
      files: src/gone.rs (gone)
    ");
    assert_eq!(topic, text(&mut shim, "anchord://topic/cache warm-up/2").await);
    let record = text(&mut shim, "anchord://record/l1").await;
    assert!(record.starts_with("l1 a cold cache times out"), "{record}");
    let mut other = world.shim().await;
    let memory = text(&mut other, "anchord://memory").await;
    assert!(memory.starts_with("Memory of demo") && memory.contains("warm-up/2"), "{memory}");
}

#[tokio::test]
async fn a_missing_resource_is_a_protocol_error() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    for (uri, why) in [
        ("anchord://rules", "no resource `anchord://rules`; there are anchord://memory,"),
        ("file:///etc/passwd", "no resource"),
        ("anchord://topic/wire", "there is no topic `wire` yet; there are `Cache warm-up/2`"),
        ("anchord://record/b99", "there is no record b99"),
        ("anchord://topic/%ff", "no resource"),
    ] {
        let reply = read(&mut shim, uri).await;
        assert_eq!(reply["error"]["code"], -32002, "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(why), "{reply}");
    }
}

#[tokio::test]
async fn resources_can_be_read_without_a_handshake() {
    let world = World::new().await;
    drop(saved(&world).await);
    let mut shim = world.connect(world.hello()).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test-agent", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = shim.request("server/discover", json!({ "_meta": meta })).await;
    let offered = &found["result"]["capabilities"];
    assert!(offered["prompts"].is_object() && offered["resources"].is_object(), "{found}");
    let params = json!({ "uri": "anchord://memory", "_meta": meta });
    let reply = shim.request("resources/read", params).await;
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    let params = json!({ "uri": "anchord://nothing", "_meta": meta });
    assert_eq!(shim.request("resources/read", params).await["error"]["code"], -32602);
    let params = json!({ "name": "save", "_meta": meta });
    let reply = shim.request("prompts/get", params).await;
    assert_eq!(reply["result"]["messages"][0]["role"], "user", "{reply}");
}

/// One session's private notes are not another session's resource.
#[tokio::test]
async fn a_resource_is_read_in_the_session_of_its_connection() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let note = json!({ "content": "mine alone", "scope": "session" });
    let said = shim.call("memory_note", note).await;
    assert!(said.starts_with("Stored n1"), "{said}");
    assert!(text(&mut shim, "anchord://record/n1").await.contains("mine alone"));
    let mut other = world.shim().await;
    let reply = read(&mut other, "anchord://record/n1").await;
    assert_eq!(reply["error"]["code"], -32002, "{reply}");
    assert!(!text(&mut other, "anchord://memory").await.contains("mine alone"));
}

#[tokio::test]
async fn reading_a_resource_is_logged() {
    let world = World::new().await;
    let mut shim = saved(&world).await;
    text(&mut shim, "anchord://record/l1").await;
    shim.request("prompts/get", json!({ "name": "resume" })).await;
    world.daemon.projects.open.retrievals().flush().await;
    let id = poll(|| world.daemon.projects.open.all().first().map(|open| open.id)).await;
    let directory = world.daemon.projects.open.directory(id);
    let log = std::fs::read_to_string(directory.join("retrievals.jsonl")).unwrap();
    assert!(
        log.contains(
            r#""tool":"resources/read","asked":{"uri":"anchord://record/l1"},"ids":["l1"]"#
        ),
        "{log}"
    );
    assert!(log.contains(r#""tool":"prompts/get""#), "{log}");
}

#[tokio::test]
async fn compatibility_tool_sets_have_no_resources_or_prompts() {
    let world = World::new().await;
    for set in ["zipmem", "compactor"] {
        let mut shim = world.shim_with(set).await;
        let list = shim.request("resources/list", json!({})).await;
        assert_eq!(list["result"]["resources"], json!([]), "{set}: {list}");
        assert_eq!(read(&mut shim, "anchord://memory").await["error"]["code"], -32601);
        let list = shim.request("prompts/list", json!({})).await;
        assert_eq!(list["result"]["prompts"], json!([]), "{set}: {list}");
    }
}
