//! Raw transcripts through the shim: each MCP revision since 2024-11-05, and what clients really
//! send.

use std::collections::BTreeMap;

use anchord_tests::{Agent, Instance, PATIENCE, Project};
use serde_json::{Value, json};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

#[test]
fn each_legacy_revision_is_supported() {
    let instance = Instance::new();
    let project = Project::git();
    for revision in LEGACY {
        let mut agent = Agent::start(&instance, project.path());
        let result = agent.initialize_as(revision);
        assert_eq!(result["protocolVersion"], revision);
        assert!(result["capabilities"]["tools"].is_object(), "{result}");
        assert!(result["instructions"].as_str().is_some_and(|text| text.contains("memory_load")));
        agent.request("ping", &json!({})).unwrap();
        let list = agent.request("tools/list", &json!({})).unwrap();
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{revision}: {tool}");
            assert!(!tool.to_string().contains("\"format\":\"uint"), "ajv warns of this: {tool}");
        }
        agent.tool("memory_status", &json!({}));
        assert!(agent.call("memory_save", &json!({})).is_ok_and(|reply| reply.is_error));
    }
}

#[test]
fn an_unknown_revision_is_offered_a_known_one() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::start(&instance, project.path());
    let offered = agent.initialize_as("2099-01-01")["protocolVersion"].clone();
    assert!(LEGACY.contains(&offered.as_str().unwrap()), "{offered}");
    agent.tool("memory_status", &json!({}));
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::start(&instance, project.path());
    let discovered = agent.request("server/discover", &modern(json!({}))).unwrap();
    let spoken = discovered["supportedVersions"].as_array().unwrap();
    assert!(spoken.iter().any(|version| version == MODERN), "{discovered}");
    let list = agent.request("tools/list", &modern(json!({}))).unwrap();
    assert!(list["tools"].as_array().is_some_and(|tools| tools.len() >= 6), "{list}");
    assert!(list["ttlMs"].is_number() && list["cacheScope"].is_string(), "{list}");
    let call = json!({"name": "memory_save", "arguments": {"session_summary": "stateless"}});
    let saved = agent.request("tools/call", &modern(call)).unwrap();
    assert_ne!(saved["isError"], true, "{saved}");
    assert_eq!(saved["resultType"], "complete", "{saved}");

    // After a death, there is no handshake to repeat either.
    instance.kill9();
    let call = json!({"name": "memory_load", "arguments": {}});
    let loaded = agent.request("tools/call", &modern(call)).unwrap();
    assert!(loaded.to_string().contains("stateless"), "{loaded}");
}

#[test]
fn a_probe_for_the_stateless_revision_may_be_followed_by_a_handshake() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::start(&instance, project.path());
    let probe = json!({
        "jsonrpc": "2.0",
        "id": "server-discover-probe-1",
        "method": "server/discover",
        "params": modern(json!({})),
    });
    agent.send(&probe);
    let answer: Value = serde_json::from_str(&agent.next_line(PATIENCE).unwrap()).unwrap();
    assert_eq!(answer["id"], "server-discover-probe-1");
    let result = agent.initialize_as("2025-11-25");
    assert_eq!(result["protocolVersion"], "2025-11-25");
    agent.tool("memory_status", &json!({}));
    instance.kill9();
    agent.tool("memory_status", &json!({}));
}

#[test]
fn the_messages_of_each_client_are_understood() {
    let codex = json!({
        "threadId": "0197-thread",
        "sessionId": "0197-session",
        "callId": "call_1",
        "x-codex-turn-metadata": {"turn_id": "1", "workspaces": []},
    });
    let clients = BTreeMap::from([
        (
            "claude-code",
            (
                "2025-11-25",
                json!({"roots": {"listChanged": true}, "elicitation": {"form": {}, "url": {}}}),
                json!({"claudecode/toolUseId": "toolu_1", "progressToken": 3}),
            ),
        ),
        (
            "codex-mcp-client",
            (
                "2025-06-18",
                json!({"elicitation": {"form": {}, "url": {}}, "experimental": {"codex/auth-change": {}}}),
                codex,
            ),
        ),
        (
            "gemini-cli-mcp-client",
            ("2025-06-18", json!({"roots": {"listChanged": true}}), json!({"progressToken": 1})),
        ),
        ("opencode", ("2025-11-25", json!({"roots": {}}), json!({"progressToken": "1"}))),
        ("openclaw-bundle-mcp", ("2025-11-25", json!({}), json!({}))),
    ]);
    let instance = Instance::new();
    let project = Project::git();
    for (name, (revision, capabilities, meta)) in clients {
        let mut agent = Agent::start(&instance, project.path());
        let hello = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": name, "title": name, "version": "1.0.0", "websiteUrl": "https://example.org"},
        });
        agent.request("initialize", &hello).unwrap();
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        // Two clients send these even if they are not offered. Any answer will do.
        for method in ["prompts/list", "resources/list"] {
            drop(agent.request(method, &json!({})));
        }
        let call =
            json!({"name": "memory_checkpoint", "arguments": {"summary": name}, "_meta": meta});
        let reply = agent.request("tools/call", &call).unwrap();
        assert_ne!(reply["isError"], true, "{name}: {reply}");
        // opencode cancels requests that are already answered.
        let cancelled = json!({"requestId": 0, "reason": "late"});
        agent.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}),
        );
        agent.tool("memory_status", &json!({}));
    }
}

#[test]
fn invalid_lines_neither_end_nor_confuse_the_session() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.send_line("this is not JSON");
    agent.send_line("");
    agent.send_line("[]");
    agent.send_line("{\"jsonrpc\":\"2.0\"}");
    agent.tool("memory_status", &json!({}));
    let error = agent.request("no/such/method", &json!({})).expect_err("nothing of that name");
    assert_eq!(error.code, -32601);
    let error = agent.call("no_such_tool", &json!({}));
    assert!(error.is_err() || error.is_ok_and(|reply| reply.is_error));
}

#[test]
fn a_line_beyond_the_limit_is_answered_and_the_next_one_too() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    let long = "x".repeat(20 * 1024 * 1024);
    let error = agent.call("memory_checkpoint", &json!({"summary": long}));
    let error = error.expect_err("it is too long");
    assert!(error.code == -32600 && error.message.contains("bytes"), "{error:?}");
    agent.tool("memory_status", &json!({}));
}

/// Adds the metadata that each request of the stateless revision carries.
fn modern(mut parameters: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "anchord-tests", "version": "0"},
    });
    parameters.as_object_mut().unwrap().insert("_meta".to_owned(), meta);
    parameters
}
