//! The memory of sessions and of the daemon, while they work and once they are idle.

use std::time::Duration;

use anchord_tests::{Agent, Instance, Project, process};
use serde_json::{Value, json};

use crate::table::Row;

/// Sessions whose memory is added up with the daemon's.
const TOGETHER: usize = 16;
/// Sessions that work before the daemon is left alone, the calls of each, and the notes of a call.
const WORKING: usize = 4;
const CALLS: usize = 40;
const NOTES: usize = 20;
/// Words of a note.
const WORDS: usize = 80;
/// A project is closed a minute after its last session, at the next of the daemon's rounds.
const UNTIL_IDLE: Duration = Duration::from_secs(105);

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
    let mut together = 0;
    let mut rows: Vec<Row> = [1_u32, 16, 64]
        .into_iter()
        .map(|sessions| {
            while agents.len() < sessions as usize {
                let mut agent = Agent::open(&instance, project.path());
                agent.tool("memory_status", &json!({}));
                agents.push(agent);
            }
            if agents.len() == TOGETHER {
                let all = agents.iter().map(Agent::pid).chain([daemon]);
                together = all.filter_map(process::memory).map(|it| it.proportional).sum();
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
        .collect();
    rows.push(Row {
        what: format!("{TOGETHER} sessions and the daemon together, proportional set size"),
        measured: format!("{:.1} MiB", tenths(together, 1 << 20)),
        floor: "–".to_owned(),
        target: "≤ 18 MiB",
    });
    rows.push(after_work());
    rows
}

/// A daemon whose sessions have noted, searched and gone.
fn after_work() -> Row {
    let (instance, project) = (Instance::shipped(), Project::git());
    let daemon = instance.start_daemon();
    let anonymous = || {
        let bytes = process::memory(daemon).unwrap_or_default().anonymous;
        format!("{:.1} MB", tenths(bytes, 1_000_000))
    };
    let start = anonymous();
    let mut agents: Vec<Agent> =
        (0..WORKING).map(|_| Agent::open(&instance, project.path())).collect();
    for call in 0..CALLS {
        for (session, agent) in agents.iter_mut().enumerate() {
            let first = (call * WORKING + session) * NOTES;
            let notes: Vec<Value> =
                (first..first + NOTES).map(|note| json!({ "content": text(note) })).collect();
            agent.tool("memory_checkpoint", &json!({ "notes": notes }));
            if call % 10 == 9 {
                agent.tool("memory_save", &json!({ "session_summary": "noted" }));
            }
            agent.tool("memory_search", &json!({ "query": format!("word{call} word{session}") }));
        }
    }
    let busy = anonymous();
    drop(agents);
    std::thread::sleep(UNTIL_IDLE);
    Row {
        what: format!(
            "anonymous memory of the daemon, idle after {} notes of {WORKING} sessions",
            WORKING * CALLS * NOTES
        ),
        measured: anonymous(),
        floor: format!("{start} (daemon just started; {busy} at work)"),
        target: "≤ 15 MB",
    }
}

fn text(note: usize) -> String {
    (0..WORDS).map(|at| format!("word{} ", (note * 7919 + at * at * 31) % 5_000)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn tenths(bytes: u64, unit: u32) -> f64 {
    bytes as f64 / f64::from(unit)
}
