//! One session sends many calls and reads no answers. Another session's calls are answered
//! meanwhile.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use anchord_tests::{Agent, Instance, PATIENCE, Peer, Project, hello, poll, write};
use serde_json::{Value, json};

/// Reads of the session that takes no answers, of 8 kB each. Shim, socket and daemon hold less for
/// it: 4 MiB, 64 answers, and the system's buffers.
const READS: usize = 800;

/// All calls of that session, including the writes after the reads. A shim keeps more unanswered
/// calls than that.
const CALLS: usize = 1_000;

/// Calls of the other session.
const ROUNDS: usize = 20;

fn works(other: &mut Agent) {
    for round in 0..ROUNDS {
        let title = format!("round {round} of the other");
        other.tool("memory_save", &write::save(&title));
        assert!(other.tool("memory_search", &json!({ "query": title })).contains(&title));
    }
}

/// Returns the number of calls that the daemon has handled, of all sessions.
fn calls(instance: &Instance) -> u64 {
    let status = instance.anchord().args(["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    status.pointer("/counters/calls").and_then(Value::as_u64).unwrap()
}

#[test]
fn a_session_that_reads_no_answers_does_not_block_others() {
    let (instance, project) = (Instance::new(), Project::git());
    let mut other = Agent::open(&instance, project.path());
    let long = "a line of the long note\n".repeat(600);
    other.tool("memory_note", &json!({ "content": long, "key": "long" }));

    let mut shim = instance.shim(project.path());
    let shim = shim.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shim = shim.spawn().unwrap();
    let (mut stdin, stdout) = (shim.stdin.take().unwrap(), shim.stdout.take().unwrap());
    let told = std::thread::spawn(move || {
        let mut send = |message: &Value| stdin.write_all(format!("{message}\n").as_bytes());
        let client = json!({ "name": "flood", "version": "0" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        send(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }))?;
        send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        for call in 0..CALLS {
            let params = if call < READS {
                json!({ "name": "memory_get", "arguments": { "key": "long" } })
            } else {
                json!({ "name": "memory_note", "arguments": { "content": format!("flood {call} of many") } })
            };
            send(
                &json!({ "jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params }),
            )?;
        }
        // Stays open until the answers are read, since its end would end the session.
        Ok::<_, std::io::Error>(stdin)
    });
    let (mut last, mut looks) = (0, 0);
    poll(PATIENCE, "the flood stands still", || {
        let calls = calls(&instance);
        looks = if calls == last { looks + 1 } else { 0 };
        last = calls;
        (looks > 5 && calls > 10).then_some(())
    });
    works(&mut other);
    let stored = || instance.entries_with("note", "flood ");
    assert_eq!(stored(), 0, "nobody takes the answers, and what comes after them is done");

    let mut left = CALLS;
    let mut lines = BufReader::new(stdout).lines();
    while left > 0 {
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if answer["id"].is_u64() {
            assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
            left -= 1;
        }
    }
    assert_eq!(stored(), CALLS - READS, "what waited was not lost");
    drop(told.join().unwrap().unwrap());
    assert!(shim.wait().unwrap().success());
}

/// The client leaks its connections.
#[test]
fn a_process_with_many_connections_does_not_lock_out_others() {
    let (instance, project) = (Instance::new(), Project::git());
    let mut before = Agent::open(&instance, project.path());
    let mut held = Vec::new();
    let greet = |number: usize| {
        let mut hello = hello(1, "mcp");
        hello["instance"] = format!("0197a6a0-0000-7000-8000-{number:012x}").into();
        let mut peer = Peer::connect(&instance);
        peer.send(&hello.to_string());
        let answer: Value = serde_json::from_str(&peer.next_line().unwrap()).unwrap();
        (peer, answer)
    };
    let refused = loop {
        let (peer, answer) = greet(held.len());
        if answer.get("refused").is_some() {
            break answer;
        }
        held.push(peer);
        assert!(held.len() < 1_100, "nothing is refused");
    };
    assert_eq!(refused.pointer("/refused/code"), Some(&json!("busy")), "{refused}");
    let message = refused.pointer("/refused/message").and_then(Value::as_str).unwrap();
    assert!(message.contains("connections open"), "{message}");
    works(&mut before);
    let mut after = Agent::open(&instance, project.path());
    works(&mut after);
    drop(held);
    poll(PATIENCE, "connections are given back", || {
        let (_peer, answer) = greet(0);
        answer.get("welcome").map(|_| ())
    });
}
