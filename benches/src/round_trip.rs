//! A request and its reply, through a shim and directly at the daemon's socket.

use anchord_tests::{Agent, Instance, Peer, Project};
use serde_json::{Value, json};

use crate::floor;
use crate::table::Row;
use crate::times::{Times, show};

const COUNT: usize = 5_000;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_status", &json!({}));
    let through = Times::of(COUNT, |_| {
        agent.request("ping", &json!({})).expect("a ping is answered");
    });
    let tool = Times::of(COUNT, |_| {
        agent.tool("memory_status", &json!({}));
    });

    let (mut peer, _) = Peer::hello(&instance, 1, "mcp");
    let mut number = 0_u64;
    let mut ask = |method: &str, parameters: Value| {
        number += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters});
        peer.send(&format!("{number} {} {request}", number - 1));
        peer.next_line().expect("the daemon answers");
    };
    let client = json!({"name": "bench", "version": "0"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    ask("initialize", hello);
    let direct = Times::of(COUNT, |_| ask("ping", json!({})));

    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}).to_string();
    let floor = floor::socket_echo(COUNT, &line);
    let added = through.median().saturating_sub(direct.median());
    let row = |what: &str, measured: String, target| Row {
        what: what.to_owned(),
        measured,
        floor: format!("{floor} (socket echo)"),
        target,
    };
    vec![
        row("`ping` at the daemon's socket", direct.to_string(), ""),
        row("`ping` through the shim", through.to_string(), ""),
        row("what the shim adds", format!("p50 {}", show(added)), "p50 ≤ 0.2 ms"),
        row("`memory_status` through the shim", tool.to_string(), ""),
    ]
}
