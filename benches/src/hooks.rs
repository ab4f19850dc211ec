//! A hook's duration from start to end, as an agent waits for it, with and without a running
//! daemon.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, Project, Signal, process, shipped, write};
use serde_json::json;

use crate::table::Row;
use crate::times::Times;

const WARM: usize = 200;
const COLD: usize = 20;
const FLOOR: usize = 100;
const RULES: usize = 50;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    instance.start_daemon();
    let mut agent = Agent::start(&instance, project.path());
    agent.initialize();
    for number in 0..50 {
        agent.tool("memory_save", &write::save(&format!("decision number {number}")));
    }
    for number in 0..RULES {
        add_rule(&instance, project.path(), number);
    }
    let floors = format!(
        "{} (`/bin/true`); {}",
        process_times("/bin/true", &[]),
        match Command::new("node").arg("-e").arg("0").output() {
            Ok(_) => format!("{} (`node -e 0`)", process_times("node", &["-e", "0"])),
            Err(_) => "no `node` here".to_owned(),
        }
    );
    let start = |number: usize| {
        json!({"hook_event_name": "SessionStart", "session_id": number.to_string(),
            "source": "startup", "cwd": project.path()})
    };
    let tool = |number: usize| {
        json!({"hook_event_name": "PostToolUse", "session_id": "0", "cwd": project.path(),
            "tool_use_id": number.to_string(), "tool_name": "Bash",
            "tool_input": {"command": "cargo test"}})
    };
    let command = |number: usize, line: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "0", "cwd": project.path(),
            "tool_use_id": format!("r{number}"), "tool_name": "Bash",
            "tool_input": {"command": line}})
    };
    let hook = |event: serde_json::Value, answer: &str| {
        told(&instance, project.path(), &event.to_string(), answer)
    };
    let restart = || {
        let daemon = instance.daemon_pid().expect("a daemon runs");
        process::signal(daemon, Signal::TERM);
        instance.wait_gone(daemon);
    };
    let row = |what: &str, times: Times, target| Row {
        what: what.to_owned(),
        measured: times.to_string(),
        floor: floors.clone(),
        target,
    };
    hook(start(0), LOAD);
    let warm = "p50 ≤ 20 ms";
    let cold = "≤ 1 s";
    let rule = "p50 ≤ 10 ms";
    vec![
        row(
            "hook `SessionStart`, daemon running",
            Times::measured(WARM, |n| hook(start(n), LOAD)),
            warm,
        ),
        row(
            "hook `PostToolUse`, daemon running",
            Times::measured(WARM, |n| hook(tool(n), "")),
            warm,
        ),
        row(
            "hook `PreToolUse`, a compound command that 50 rules let pass",
            Times::measured(WARM, |n| {
                hook(command(n, "cd app && env A=1 make test | tail -5"), "")
            }),
            rule,
        ),
        row(
            "hook `PreToolUse`, a command that one of 50 rules denies",
            Times::measured(WARM, |n| hook(command(WARM + n, "sudo make deploy7"), "deny")),
            rule,
        ),
        row(
            "hook `SessionStart`, daemon to be started",
            Times::measured(COLD, |n| {
                restart();
                hook(start(WARM + n), LOAD)
            }),
            cold,
        ),
        row(
            "hook `PostToolUse`, daemon to be started",
            Times::measured(COLD, |n| {
                restart();
                hook(tool(WARM + n), "")
            }),
            cold,
        ),
    ]
}

/// Adds a rule that denies a command of its own.
fn add_rule(instance: &Instance, directory: &Path, number: usize) {
    let (title, pattern) = (format!("No deploy {number}"), format!("make deploy{number}"));
    let mut add = instance.command(&shipped().anchord);
    add.args(["rules", "add", &title, "--deny", "--command", &pattern, "--reason", "not today"]);
    let status = add.current_dir(directory).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "a rule can be added");
}

/// Words of every load.
const LOAD: &str = "memory_";

/// Runs a hook's whole process: starts it, passes its event, awaits its end. Returns the duration.
/// Panics if it does not print the words of `answer`, since it ends well even after a failure.
fn told(instance: &Instance, directory: &Path, event: &str, answer: &str) -> Duration {
    let mut hook = instance.command(&shipped().anchord_hook);
    hook.arg("claude-code").current_dir(directory);
    hook.stdin(Stdio::piped()).stdout(Stdio::piped());
    let begin = Instant::now();
    let mut hook = hook.spawn().expect("the hook was built");
    let mut stdin = hook.stdin.take().expect("stdin is piped");
    stdin.write_all(event.as_bytes()).expect("the hook reads");
    drop(stdin);
    let output = hook.wait_with_output().expect("the hook is ours");
    let took = begin.elapsed();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains(answer), "{event}: {printed}");
    took
}

fn process_times(program: &str, arguments: &[&str]) -> Times {
    Times::of(FLOOR, |_| {
        let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "{program} does nothing");
    })
}
