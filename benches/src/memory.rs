//! The memory that each session costs and that no other process shares.

use anchord_tests::{Agent, Instance, Project, process};
use serde_json::json;

use crate::table::Row;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let daemon = instance.start_daemon();
    let Some(idle) = process::private_bytes(daemon) else {
        anchord_tests::skip("no /proc to read memory from");
        return Vec::new();
    };
    let floor = {
        let cat = Agent::start_by(std::process::Command::new("cat"));
        process::private_bytes(cat.pid()).unwrap_or_default()
    };
    let mut agents: Vec<Agent> = Vec::new();
    [1_u32, 16, 64]
        .into_iter()
        .map(|sessions| {
            while agents.len() < sessions as usize {
                let mut agent = Agent::open(&instance, project.path());
                agent.tool("memory_status", &json!({}));
                agents.push(agent);
            }
            let shims: u64 =
                agents.iter().filter_map(|agent| process::private_bytes(agent.pid())).sum();
            let grown = process::private_bytes(daemon).unwrap_or_default().saturating_sub(idle);
            let each = u64::from(sessions);
            Row {
                what: format!("private memory a session, {sessions} open"),
                measured: format!(
                    "shim {} kB, daemon +{} kB (idle {} kB)",
                    shims / each / 1000,
                    grown / each / 1000,
                    idle / 1000
                ),
                floor: format!("{} kB (`cat`)", floor / 1000),
                target: "shim ≤ 1,500 kB",
            }
        })
        .collect()
}
