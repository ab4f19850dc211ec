//! Texts in JSON, and every way in: a planted value is nowhere in the instance, and shown text is
//! not stored.

use std::path::Path;

use anchord_memory::export;
use anchord_memory::import::NamedText;
use anchord_memory::injected::frame;
use serde_json::json;

use super::*;
use crate::api::ImportParams;
use crate::clock;
use crate::testing::{Shim, World, holding};

/// Returns a token that is assembled here, so that no file of ours contains one.
fn token(n: u32) -> String {
    ["gh", "p_", &format!("{n:04}"), "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"].concat()
}

#[test]
fn every_text_in_a_value_is_cleaned() {
    let mut value = json!({
        "title": format!("it is {}", token(1)),
        "items": [{ "key": "stripe_token", "content": "aB3dE5fG7hJ9kL1mN2pQ4rS6" }, token(2)],
        (token(3)): 1,
        "n": 7,
    });
    let mut removed = Removed::default();
    clean_json(&mut value, &mut removed);
    let marker = "[secret removed: GitHub token]";
    let expected = json!({
        "title": format!("it is {marker}"),
        "items": [{ "key": "stripe_token", "content": "[secret removed: secret value]" }, marker],
        (marker): 1,
        "n": 7,
    });
    assert_eq!(value, expected);
    assert_eq!(removed.kinds(), "GitHub token (3 times), secret value");
}

/// The reader takes each of these names for the text, so the filter has to judge it as one.
#[test]
fn a_secret_is_found_under_any_name_of_a_facts_parts() {
    for key in ["key", "name", "title", "headline"] {
        for text in ["content", "text", "value", "fact", "note", "fix"] {
            let mut value = json!({ key: "stripe_token", text: "aB3dE5fG7hJ9kL1mN2pQ4rS6" });
            clean_json(&mut value, &mut Removed::default());
            assert_eq!(value[text], "[secret removed: secret value]", "{key}, {text}");
        }
    }
}

/// Stops the daemon's stores and looks for the value in every file of the instance.
async fn expect_nowhere(world: &World, value: &str) {
    world.daemon.projects.open.close_all().await;
    world.daemon.projects.registry.close().await;
    let instance = world.directory("instance");
    assert_eq!(holding(&instance, value), Vec::<std::path::PathBuf>::new(), "{value}");
    assert!(holding(&instance, "[secret removed: GitHub token]").iter().any(|p| is_journal(p)));
}

fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

const TOLD: &str = "\nA secret was taken out of the input (GitHub token). \
                    Note where it is kept, never the secret itself.";

#[tokio::test]
async fn no_tool_stores_a_secret_and_the_reply_says_what_was_removed() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let blueprint = |content: &str| json!({ "category": "decision", "title": "deploys", "content": content, "immutable": false });
    let said = shim
        .call(
            "memory_checkpoint",
            json!({
                "summary": format!("used {}", token(4)),
                "blueprints": [blueprint(&format!("with {}", token(4)))],
                "anchors": [{ "file": "a.rs", "lines": "1-2", "concept": token(4) }],
            }),
        )
        .await;
    let told = TOLD.replace("(GitHub token)", "(GitHub token (3 times))");
    assert!(said.ends_with(&told), "{said}");
    let lesson =
        json!({ "session_summary": "s", "lessons": [{ "summary": token(4), "detail": token(4) }] });
    shim.call("memory_save", lesson).await;
    let clean = shim.call("memory_save", json!({ "session_summary": "nothing secret" })).await;
    assert!(!clean.contains("secret was taken out"), "{clean}");
    expect_nowhere(&world, &token(4)).await;
}

#[tokio::test]
async fn a_resent_line_gets_the_same_reply() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let save = json!({ "name": "memory_save", "arguments": { "session_summary": token(5) } });
    let said = |reply: Value| reply["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let id = shim.ask("tools/call", save.clone()).await;
    let first = said(shim.reply(id).await);
    assert!(first.ends_with(TOLD), "{first}");
    shim.ask_as(id, "tools/call", save).await;
    assert_eq!(said(shim.reply(id).await), first);
    expect_nowhere(&world, &token(5)).await;
}

#[tokio::test]
async fn an_error_does_not_repeat_a_secret() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let said = shim.call("memory_get", json!({ "id": token(6) })).await;
    assert!(said.starts_with("ERROR ") && !said.contains(&token(6)), "{said}");
    assert!(said.ends_with("\nA secret was taken out of the input (GitHub token)."), "{said}");
    let unknown = shim.call("memory_get", json!({ (token(6)): 1 })).await;
    assert!(unknown.starts_with("ERROR ") && !unknown.contains(&token(6)), "{unknown}");
}

/// A client may give itself and its threads any name.
#[tokio::test]
async fn names_of_clients_and_threads_are_cleaned() {
    let world = World::new().await;
    let mut hello = world.hello();
    hello.agent_session = Some(token(7));
    hello.client = Some(token(7));
    let mut shim: Shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    let call = |meta: Value| json!({ "name": "memory_save", "arguments": { "session_summary": "s" }, "_meta": meta });
    shim.request("tools/call", call(json!({}))).await;
    shim.request("tools/call", call(json!({ "threadId": token(7) }))).await;
    let named = call(json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": token(7), "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    }));
    shim.request("tools/call", named).await;
    expect_nowhere(&world, &token(7)).await;
}

#[tokio::test]
async fn an_import_stores_no_secret() {
    let world = World::new().await;
    let state = json!({
        "blueprints": [{ "category": "DECISION", "title": "keys", "content": token(8) }],
        "lessons": [{ "summary": format!("leaked {}", token(8)) }],
    });
    let params = ImportParams {
        project: world.hello().cwd.unwrap(),
        part: false,
        source: "zipmem".to_owned(),
        path: String::new(),
        texts: vec![NamedText::new("state.json", state.to_string())],
        dry_run: false,
    };
    let reply = crate::admin::import_memory(&world.daemon.sessions, params).await.unwrap();
    assert!(reply.applied, "{reply:?}");
    let told = "secrets were taken out: GitHub token (2 times)";
    assert!(reply.remarks.iter().any(|remark| remark == told), "{:?}", reply.remarks);
    expect_nowhere(&world, &token(8)).await;
}

/// Returns the texts that an agent sees at its start, and in a hook of every other kind.
fn injected(world: &World) -> Vec<String> {
    let memory = world.daemon.projects.open.all().first().map(|open| open.memory());
    let text =
        memory.map(|memory| export::markdown(&memory, "project", clock::now())).unwrap_or_default();
    let whole = frame(&text, usize::MAX);
    let cut = whole.get(..whole.len() / 2).unwrap().to_owned();
    let quoted = format!("SessionStart hook additional context: {whole}");
    vec![whole, cut, quoted]
}

/// Returns the number of records, and of bytes in the project's journals.
fn stored(world: &World) -> (usize, u64) {
    let open = world.daemon.projects.open.all();
    let records = open.iter().map(|open| open.memory().records().count()).sum();
    let bytes = open
        .iter()
        .map(|open| bytes_beneath(&world.daemon.projects.open.directory(open.id).join("journal")));
    (records, bytes.sum())
}

fn bytes_beneath(directory: &Path) -> u64 {
    std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn replaying_injected_text_stores_nothing() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let lessons = json!([{ "summary": "the proxy drops idle connections", "detail": "ping it" }]);
    shim.call("memory_save", json!({ "session_summary": "learnt", "lessons": lessons })).await;
    let shown = injected(&world);
    let before = stored(&world);
    assert!(before.0 > 0 && before.1 > 0);
    for round in 0..100 {
        let [whole, cut, quoted] = shown.as_slice() else { panic!("{shown:?}") };
        let said = shim.call("memory_note", json!({ "content": whole })).await;
        assert!(said.starts_with("ERROR ") && said.ends_with("write what is yours."), "{said}");
        shim.call("memory_note", json!({ "items": [{ "content": cut }, { "content": whole }] }))
            .await;
        shim.call("memory_checkpoint", json!({ "summary": whole })).await;
        let lesson = json!([{ "summary": whole, "detail": cut }]);
        shim.call("memory_checkpoint", json!({ "lessons": lesson })).await;
        shim.call("memory_save", json!({ "session_summary": cut })).await;
        assert_eq!(stored(&world), before, "round {round}: {quoted}");
    }
}

#[tokio::test]
async fn only_the_text_around_injected_text_is_kept() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({ "content": "the sea is deep" })).await;
    let shown = injected(&world).remove(0);
    let content = format!("ebb at nine\n{shown}");
    let said = shim.call("memory_note", json!({ "content": content })).await;
    assert!(said.ends_with("\nanchord's own injected text was taken out."), "{said}");
    let got = shim.call("memory_get", json!({ "id": "n2" })).await;
    assert!(got.contains("ebb at nine") && !got.contains("deep"), "{got}");
}

#[tokio::test]
async fn an_import_stores_no_injected_text() {
    let world = World::new().await;
    let content = format!("ours\n{}", frame("b1 [decision] shown before", usize::MAX));
    let state = json!({ "lessons": [{ "summary": "a lesson", "detail": content }] });
    let params = ImportParams {
        project: world.hello().cwd.unwrap(),
        part: false,
        source: "zipmem".to_owned(),
        path: String::new(),
        texts: vec![NamedText::new("state.json", state.to_string())],
        dry_run: false,
    };
    let reply = crate::admin::import_memory(&world.daemon.sessions, params).await.unwrap();
    let told = "anchord's own injected text was taken out";
    assert!(reply.remarks.iter().any(|remark| remark == told), "{:?}", reply.remarks);
    world.daemon.projects.open.close_all().await;
    let instance = world.directory("instance");
    assert_eq!(holding(&instance, "shown before"), Vec::<std::path::PathBuf>::new());
}
