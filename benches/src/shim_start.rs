//! The time from a shim's start to its reply to `initialize`, with and without a running daemon.

use std::time::Instant;

use anchord_tests::{Agent, Instance, Project, Signal, process, shipped};

use crate::floor;
use crate::table::Row;
use crate::times::Times;

const WARM: usize = 200;
const COLD: usize = 20;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let start = |_| {
        let start = Instant::now();
        let mut agent = Agent::start(&instance, project.path());
        agent.initialize();
        start.elapsed()
    };
    instance.start_daemon();
    let warm = Times::measured(WARM, start);
    let cold = Times::measured(COLD, |number| {
        let daemon = instance.daemon_pid().expect("a daemon runs");
        process::signal(daemon, Signal::TERM);
        instance.wait_gone(daemon);
        start(number)
    });
    let floor = floor::process_echo(WARM, "{}").to_string();
    let size = shipped().anchord_mcp.metadata().expect("the shim was built").len() / 1000;
    vec![
        Row {
            what: "shim start to `initialize` reply, daemon running".to_owned(),
            measured: warm.to_string(),
            floor: format!("{floor} (`cat`)"),
            target: "p50 ≤ 5 ms",
        },
        Row {
            what: "the same, daemon to be started".to_owned(),
            measured: cold.to_string(),
            floor: format!("{floor} (`cat`)"),
            target: "≤ 200 ms",
        },
        Row {
            what: "size of `anchord-mcp`".to_owned(),
            measured: format!("{size} kB"),
            floor: "–".to_owned(),
            target: "≤ 500 kB",
        },
    ]
}
