//! One connection: handshakes, the order of calls, faults, and repeated lines.

use std::collections::BTreeSet;

use anchord_proto::hello::{Hello, ToolSet, Welcome};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::sync::Semaphore;

use super::*;
use crate::mcp::context::Context;
use crate::mcp::tool::Effect;
use crate::testing::{Shim, World};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test-agent", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[tokio::test]
async fn each_revision_with_a_handshake_is_supported() {
    let world = World::new().await;
    for revision in LEGACY {
        let mut shim = world.connect(world.hello()).await;
        let result = shim.initialize(revision).await;
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "anchord");
        assert_eq!(result["instructions"], anchord_memory::guide::INSTRUCTIONS);
        let tools = shim.request("tools/list", json!({})).await;
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 9, "{tools}");
        assert!(shim.call("memory_status", json!({})).await.starts_with("project: demo\n"));
        let prompts = shim.request("prompts/list", json!({})).await;
        assert_eq!(prompts["result"]["prompts"].as_array().unwrap().len(), 3, "{prompts}");
        let memory = shim.request("resources/read", json!({ "uri": "anchord://memory" })).await;
        let text = memory["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Memory of demo"), "{memory}");
    }
    let mut shim = world.connect(world.hello()).await;
    let offered = shim.initialize("2099-01-01").await["protocolVersion"].clone();
    assert!(LEGACY.contains(&offered.as_str().unwrap()), "{offered}");
}

#[tokio::test]
async fn the_revision_without_a_handshake_is_supported() {
    let world = World::new().await;
    let mut shim = world.connect(world.hello()).await;
    let call = json!({ "name": "memory_save", "arguments": { "session_summary": "s" } });
    let saved = shim.request("tools/call", modern(call)).await;
    assert!(
        saved["result"]["content"][0]["text"].as_str().unwrap().starts_with("Saved"),
        "{saved}"
    );
    let client = world.daemon.sessions.table.all()[0].session.client();
    assert_eq!(client.as_ref(), "test-agent");
}

#[tokio::test]
async fn a_probe_may_be_followed_by_a_handshake() {
    let world = World::new().await;
    let mut shim = world.connect(world.hello()).await;
    let found = shim.request("server/discover", modern(json!({}))).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap().len();
    assert_eq!(versions, LEGACY.len() + 1, "{found}");
    let result = shim.initialize("2025-11-25").await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert!(shim.call("memory_load", json!({})).await.contains("Nothing is recorded yet"));
}

#[tokio::test]
async fn a_handshake_opens_nothing() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.request("tools/list", json!({})).await;
    assert_eq!(world.daemon.projects.open.all().len(), 0);
    assert_eq!(world.daemon.sessions.table.all().len(), 0);
}

#[tokio::test]
async fn an_unknown_tool_or_method_is_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    insta::assert_snapshot!(shim.call("memory_recall", json!({})).await, @r#"FAULT -32602 "unknown tool `memory_recall`; this server offers memory_load, memory_checkpoint, memory_save, memory_note, memory_search, memory_get, memory_update, memory_forget, memory_status""#);
    let reply = shim.request("memory/recall", json!({})).await;
    assert_eq!(reply["error"]["code"], -32601, "{reply}");
}

#[tokio::test]
async fn a_read_sees_the_writes_sent_before_it() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let mut sent = Vec::new();
    for n in 0..10 {
        let lesson =
            json!({ "session_summary": "s", "lessons": [{ "summary": format!("word{n}") }] });
        sent.push((shim.ask_call("memory_save", lesson).await, None));
        sent.push((shim.ask_call("memory_load", json!({})).await, Some(format!("word{n}"))));
    }
    for (id, expected) in sent {
        let said = shim.said(id).await;
        if let Some(word) = expected {
            assert!(said.contains(&word), "{word} is not in {said}");
        }
    }
}

/// Returns a connection that serves only the test's tools.
fn serve_tools(world: &World, tools: Vec<ToolSpec>) -> Shim {
    let hello = world.hello();
    let (connection, resume) = world.daemon.socket.connect(hello.clone(), ToolSet::Default);
    let welcome = Welcome {
        anchord: 1,
        build: String::new(),
        session: Some(connection.id.to_string()),
        resume: Some(resume),
    };
    let tools = Arc::new(ToolList::of(tools, ToolSet::Default));
    let stop = connection.stop.clone();
    let service = Service { service: Arc::clone(&world.daemon.admin.tools), connection, tools };
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(ours);
    tokio::spawn(service.serve_lines(LineReader::new(BufReader::new(reader), 1), writer, stop));
    Shim::over(theirs, hello, welcome)
}

type Ended = Arc<Mutex<Vec<&'static str>>>;

/// Returns tools that record their end: `held` ends when it is released, `quick` at once.
fn held_and_quick() -> (Vec<ToolSpec>, Arc<Semaphore>, Ended) {
    let (gate, ended) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(Vec::new())));
    let held = {
        let (gate, ended) = (Arc::clone(&gate), Arc::clone(&ended));
        move |_: Context, _: Nothing| {
            let (gate, ended) = (Arc::clone(&gate), Arc::clone(&ended));
            async move {
                gate.acquire().await.unwrap().forget();
                ended.lock().push("held");
                Ok("held".to_owned())
            }
        }
    };
    let quick = {
        let ended = Arc::clone(&ended);
        move |_: Context, _: Nothing| {
            ended.lock().push("quick");
            std::future::ready(Ok("quick".to_owned()))
        }
    };
    let tools = vec![
        ToolSpec::new("held", "Waits", Effect::Reads, held),
        ToolSpec::new("quick", "Does not wait", Effect::Reads, quick),
    ];
    (tools, gate, ended)
}

#[tokio::test]
async fn requests_without_a_turn_do_not_let_calls_overtake() {
    let world = World::new().await;
    let (tools, gate, ended) = held_and_quick();
    let mut shim = serve_tools(&world, tools);
    shim.initialize("2025-06-18").await;
    let held = shim.ask_call("held", json!({})).await;
    let listed = shim.ask("tools/list", json!({})).await;
    let unknown = shim.ask_call("unknown", json!({})).await;
    let cancelled = shim.ask_call("quick", json!({})).await;
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": cancelled },
    });
    shim.send(cancelled + 1, &cancel.to_string()).await;
    shim.ask_as(cancelled + 2, "tools/call", json!({ "name": "quick", "arguments": {} })).await;
    shim.reply(listed).await;
    shim.reply(unknown).await;
    // This gives the last call time to run, if nothing held it back.
    shim.request("ping", json!({})).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(*ended.lock(), [""; 0]);
    gate.add_permits(1);
    assert_eq!(shim.said(cancelled + 2).await, "quick");
    assert_eq!(shim.said(held).await, "held");
    assert_eq!(*ended.lock(), ["held", "quick"]);
}

async fn panics(_: Context, _: Nothing) -> Result<String, ToolError> {
    panic!("on purpose")
}

fn panics_at_once(_: Context, _: Nothing) -> std::future::Ready<Result<String, ToolError>> {
    panic!("on purpose")
}

#[tokio::test]
async fn a_panic_is_answered_as_an_error_and_the_next_call_works() {
    let world = World::new().await;
    let (mut tools, ..) = held_and_quick();
    tools.push(ToolSpec::new("panics", "Panics", Effect::Reads, panics));
    tools.push(ToolSpec::new("panics_at_once", "Panics", Effect::Reads, panics_at_once));
    let mut shim = serve_tools(&world, tools);
    shim.initialize("2025-06-18").await;
    for tool in ["panics", "panics_at_once"] {
        let (panicked, next) =
            (shim.ask_call(tool, json!({})).await, shim.ask_call("quick", json!({})).await);
        let said = shim.said(panicked).await;
        assert!(said.starts_with("FAULT -32603 \"internal error "), "{tool}: {said}");
        assert_eq!(shim.said(next).await, "quick");
    }
    assert_eq!(
        (world.daemon.admin.metrics.panics(), world.daemon.admin.metrics.calls()),
        (2, (2, 2))
    );
}

#[tokio::test]
async fn a_draining_daemon_answers_accepted_calls() {
    let world = World::new().await;
    let (tools, gate, _) = held_and_quick();
    let mut shim = serve_tools(&world, tools);
    shim.initialize("2025-06-18").await;
    let held = shim.ask_call("held", json!({})).await;
    // The ping's answer shows that the call has been read.
    shim.request("ping", json!({})).await;
    world.daemon.shutdown.start("asked by a test");
    tokio::task::yield_now().await;
    gate.add_permits(1);
    assert_eq!(shim.said(held).await, "held");
    assert_eq!(shim.receive().await, None);
}

fn save(summary: &str) -> Value {
    json!({ "name": "memory_save", "arguments": { "session_summary": summary } })
}

#[tokio::test]
async fn a_line_sent_again_on_a_new_connection_gets_the_stored_reply() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.ask_as(10, "tools/call", save("once")).await;
    let saved = shim.reply(10).await;

    // The shim believes its connection lost, but the daemon has not noticed.
    let hello = shim.hello.clone();
    let token = shim.welcome.resume.clone();
    let resume = token.map(|token| anchord_proto::hello::Resume { token, revision: None });
    let mut again = world.connect(Hello { resume, ..hello }).await;
    assert_eq!(again.welcome.session, shim.welcome.session);
    assert_eq!(shim.receive().await, None, "the older connection is over");
    again.initialize("2025-06-18").await;
    again.ask_as(10, "tools/call", save("once")).await;
    assert_eq!(again.reply(10).await, saved);
    again.ask_as(11, "tools/call", save("twice")).await;
    let next = again.said(11).await;
    assert!(next.contains("revision 2"), "{next}");
}

#[tokio::test]
async fn two_shims_that_use_the_same_numbers_do_not_mix() {
    let world = World::new().await;
    let (mut one, mut two) = (world.shim().await, world.shim().await);
    one.ask_as(10, "tools/call", save("of one")).await;
    two.ask_as(10, "tools/call", save("of two")).await;
    let said = [one.said(10).await, two.said(10).await];
    let revisions: BTreeSet<bool> = said.iter().map(|text| text.contains("revision 1")).collect();
    assert_eq!(revisions.len(), 2, "{said:?}");
    let load = one.call("memory_load", json!({})).await;
    assert!(load.contains("of one") && load.contains("of two"), "{load}");
}

#[tokio::test]
async fn each_thread_of_an_agent_stages_for_itself() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let in_conversation = |thread: &str, tool: &str, arguments: Value| {
        json!({
            "name": tool,
            "arguments": arguments,
            "_meta": { "threadId": thread },
        })
    };
    let lesson = |n: u32| json!({ "lessons": [{ "summary": format!("word{n}") }] });
    for n in 0..2 {
        let call = in_conversation("0199-a", "memory_checkpoint", lesson(n));
        let id = shim.ask("tools/call", call).await;
        assert!(shim.said(id).await.contains(&format!("{} lesson", n + 1)));
    }
    let id =
        shim.ask("tools/call", in_conversation("0199-b", "memory_checkpoint", lesson(2))).await;
    assert!(shim.said(id).await.contains("1 lesson."));
    assert!(
        shim.call("memory_status", json!({})).await.contains("staged by this session: nothing")
    );
    let call = in_conversation("0199-b", "memory_save", json!({ "session_summary": "b is done" }));
    let id = shim.ask("tools/call", call).await;
    assert!(shim.said(id).await.contains("1 lesson (+1)"));
    let id = shim.ask("tools/call", in_conversation("0199-a", "memory_status", json!({}))).await;
    let status = shim.said(id).await;
    assert!(status.contains("staged by this session: 2 lessons"), "{status}");
}

#[tokio::test]
async fn a_call_from_one_thread_too_many_is_refused_with_advice() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let call = |thread: usize| {
        let thread = format!("0199-{thread}");
        json!({ "name": "memory_status", "arguments": {}, "_meta": { "threadId": thread } })
    };
    for thread in 0..limits::CONNECTION_SESSIONS_MAX {
        let id = shim.ask("tools/call", call(thread)).await;
        assert!(shim.said(id).await.starts_with("project: demo"), "{thread}");
    }
    let id = shim.ask("tools/call", call(limits::CONNECTION_SESSIONS_MAX)).await;
    insta::assert_snapshot!(shim.said(id).await, @"ERROR this connection already serves the most agent threads it may, and this call is from another one; nothing was done. Use memory from a thread that has used it, or restart the agent");
    let id = shim.ask("tools/call", call(0)).await;
    assert!(shim.said(id).await.starts_with("project: demo"), "the others go on");
}

#[tokio::test]
async fn a_client_with_an_outdated_tool_list_is_told_to_list_again() {
    let world = World::new().await;
    let shim = world.shim().await;
    let hello = Hello { tools: Some("zipmem".to_owned()), ..shim.hello.clone() };
    let token = shim.welcome.resume.clone();
    let resume = token.map(|token| anchord_proto::hello::Resume { token, revision: None });
    let mut changed = world.connect(Hello { resume: resume.clone(), ..hello }).await;
    changed.initialize("2025-06-18").await;
    let told = changed.receive().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");

    let mut same = world.connect(Hello { resume, ..shim.hello.clone() }).await;
    same.initialize("2025-06-18").await;
    let pong = same.ask("ping", json!({})).await;
    assert_eq!(same.receive().await.unwrap()["id"], pong);
}

/// A line longer than a shim accepts would end its connection.
#[test]
fn an_answer_too_long_for_a_line_is_cut_and_says_so() {
    let fits = "ü".repeat(limits::ANSWER_BYTES_MAX / 2);
    assert_eq!(shortened(fits.clone()), fits);
    let cut = shortened(format!("x{fits}"));
    let (kept, said) = cut.split_once('\n').unwrap();
    assert_eq!(kept.len(), limits::ANSWER_BYTES_MAX - 1, "between characters");
    insta::assert_snapshot!(said, @"truncated: true; 1900000 of 1900001 bytes; `anchord export` writes all of it to a file");
    let escaped = serde_json::to_string(&"\"".repeat(limits::ANSWER_BYTES_MAX)).unwrap();
    assert!(escaped.len() < anchord_proto::limits::LINE_BYTES_MAX);
}

#[test]
fn a_remark_follows_a_text_but_not_json() {
    let remark = || Some("A remark.".to_owned());
    let text = ToolAnswer::from("[1] a list, but not JSON".to_owned());
    let json = ToolAnswer { is_json: true, ..ToolAnswer::from("[1]".to_owned()) };
    assert_eq!(blocks(text, remark()).len(), 1);
    assert_eq!(blocks(json, remark()).len(), 2);
}
