//! Builds of other protocol versions at the socket. They work, or are told what to do.

use anchord_tests::{Instance, Peer};
use serde_json::{Value, json};

#[test]
fn adjacent_versions_are_welcome_and_can_call() {
    let instance = Instance::new();
    instance.start_daemon();
    for (theirs, spoken) in [(0, 0), (1, 1), (2, 1)] {
        let (mut peer, answer) = Peer::hello(&instance, theirs, "mcp");
        assert_eq!(answer["welcome"]["anchord"], spoken, "{answer}");
        let initialize = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "peer", "version": "0"},
        }});
        peer.send(&format!("1 0 {initialize}"));
        let reply: Value = serde_json::from_str(&peer.next_line().unwrap()).unwrap();
        assert_eq!(reply["id"], "a");
        assert_eq!(reply["result"]["protocolVersion"], "2025-06-18");
    }
}

#[test]
fn distant_versions_are_refused_with_advice() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    for theirs in [3, 99] {
        let (mut peer, answer) = Peer::hello(&instance, theirs, "mcp");
        let refused = &answer["refused"];
        assert_eq!(refused["code"], "too_old", "the daemon is: {answer}");
        assert!(refused["action"].as_str().is_some_and(|action| !action.is_empty()), "{answer}");
        assert_eq!(peer.next_line(), None, "the daemon closes");
    }
    assert_eq!(instance.daemon_pid(), Some(daemon));
}

#[test]
fn an_invalid_hello_is_refused_without_harm() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    for line in ["GET / HTTP/1.1", "{}", "{\"anchord\":1,\"role\":\"emperor\"}", ""] {
        let mut peer = Peer::connect(&instance);
        peer.send(line);
        let answer: Value = serde_json::from_str(&peer.next_line().unwrap()).unwrap();
        assert_eq!(answer["refused"]["code"], "bad_hello", "to {line:?}: {answer}");
        assert_eq!(peer.next_line(), None);
    }
    assert_eq!(instance.daemon_pid(), Some(daemon));
}
