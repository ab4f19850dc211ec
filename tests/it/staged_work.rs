//! Staged work is private while its session lives: through restarts, stops, and the ends of others.

use std::time::SystemTime;

use anchord_tests::{Agent, Instance, PATIENCE, Project, Signal, poll, write};
use serde_json::{Value, json};

#[test]
fn a_stopped_agents_staged_work_survives_a_restart() {
    let instance = Instance::new();
    let project = Project::git();
    let mut stopped = Agent::open(&instance, project.path());
    stopped.tool("memory_checkpoint", &write::checkpoint("staged by the stopped"));
    stopped.signal(Signal::STOP);
    instance.kill9();

    let mut other = Agent::open(&instance, project.path());
    let text = other.tool("memory_load", &json!({}));
    assert!(!text.contains("staged by the stopped"), "private until saved: {text}");
    other.tool("memory_save", &write::save("saved meanwhile"));
    let text = other.tool("memory_load", &json!({}));
    assert!(!text.contains("staged by the stopped"), "private until saved: {text}");

    stopped.signal(Signal::CONT);
    stopped.tool("memory_save", &json!({"session_summary": "back again"}));
    let text = other.tool("memory_load", &json!({}));
    assert!(text.contains("staged by the stopped"), "{text}");
}

#[test]
fn a_live_sessions_staged_work_is_untouched_by_others() {
    let instance = Instance::new();
    let project = Project::git();
    let mut live = Agent::open(&instance, project.path());
    live.tool("memory_checkpoint", &write::checkpoint("staged by the live"));

    let mut saver = Agent::open(&instance, project.path());
    saver.tool("memory_save", &write::save("saved by another"));
    let mut crasher = Agent::open(&instance, project.path());
    crasher.tool("memory_checkpoint", &write::checkpoint("staged by the crashed"));
    crasher.kill9();
    instance.kill9();

    let mut reader = Agent::open(&instance, project.path());
    let text = reader.tool("memory_load", &json!({}));
    assert!(text.contains("saved by another"), "{text}");
    assert!(!text.contains("staged by the live"), "not folded, not shown: {text}");
    assert_eq!(instance.entries_with("checkpoint", "staged by the live"), 1);

    live.tool("memory_save", &json!({"session_summary": "done"}));
    let text = reader.tool("memory_load", &json!({}));
    assert!(text.contains("staged by the live"), "{text}");
}

#[test]
fn a_new_shim_of_the_same_agent_session_continues_its_staged_work() {
    let instance = Instance::new();
    let project = Project::git();
    let open = || {
        let mut command = instance.shim(project.path());
        command.env("CLAUDE_CODE_SESSION_ID", "resumed-later");
        let mut agent = Agent::start_by(command);
        agent.initialize();
        agent
    };
    let mut dead = open();
    dead.tool("memory_checkpoint", &write::checkpoint("staged before the end"));
    dead.kill9();
    open().tool("memory_save", &json!({"session_summary": "went on"}));
    let text = Agent::open(&instance, project.path()).tool("memory_load", &json!({}));
    assert!(text.contains("staged before the end"), "{text}");
    assert_eq!(instance.written("save").get("staged before the end"), Some(&1));
}

#[test]
fn the_very_next_load_has_an_ended_sessions_staged_work() {
    let instance = Instance::new();
    let project = Project::git();
    let mut next = Agent::open(&instance, project.path());
    let mut ended = Agent::open(&instance, project.path());
    ended.tool("memory_checkpoint", &write::checkpoint("staged by the ended"));
    let text = next.tool("memory_load", &json!({}));
    assert!(!text.contains("staged by the ended"), "private while it lives: {text}");
    ended.close_stdin();
    ended.wait_exit(PATIENCE);
    // The daemon reads the end of a connection a moment after the process is gone.
    poll(PATIENCE, "one session is connected", || (connected(&instance) == 1).then_some(()));

    let text = next.tool("memory_load", &json!({}));
    let (_, kept) = text.split_once("Kept from a session that ended without saving").unwrap();
    assert!(kept.contains("staged by the ended"), "{text}");
    assert!(!text.contains("crash") && !text.contains("Recovered"), "{text}");
    assert_eq!(instance.entries_with("keep", "staged by the ended"), 0, "the grace is not over");
}

#[test]
fn the_first_load_after_a_restart_has_an_ended_sessions_staged_work() {
    let instance = Instance::new();
    let project = Project::git();
    let mut ended = Agent::open(&instance, project.path());
    ended.tool("memory_checkpoint", &write::checkpoint("staged by the ended"));
    let mut live = Agent::open(&instance, project.path());
    live.tool("memory_checkpoint", &write::checkpoint("staged by the live"));
    ended.kill9();
    instance.kill9();

    let text = Agent::open(&instance, project.path()).tool("memory_load", &json!({}));
    assert!(text.contains("staged by the ended"), "{text}");
    assert!(!text.contains("staged by the live"), "{text}");
}

#[test]
fn work_of_an_ended_session_is_kept_and_reported_once() {
    let instance = Instance::new();
    instance.configure("[sessions]\ngrace_seconds = 1\n");
    let project = Project::git();
    let mut gone = Agent::open(&instance, project.path());
    gone.tool("memory_checkpoint", &write::checkpoint("staged by the gone"));
    gone.close_stdin();
    gone.wait_exit(PATIENCE);

    let mut next = Agent::open(&instance, project.path());
    let text = poll(PATIENCE, "the work is folded", || {
        let folded = |text: &String| {
            text.contains("staged by the gone") && text.contains("Kept for session")
        };
        Some(next.tool("memory_load", &json!({}))).filter(folded)
    });
    let (memory, notices) = text.split_at(text.find("staged by the gone").unwrap());
    assert!(!memory.contains("crash") && !notices.contains("crash"), "an end is no crash: {text}");
}

#[test]
fn after_a_crash_the_next_load_names_what_changed_since() {
    let instance = Instance::new();
    instance.configure("[sessions]\ngrace_seconds = 1\n");
    let project = Project::git();
    let mut crashed = Agent::open(&instance, project.path());
    crashed.tool("memory_checkpoint", &write::checkpoint("staged before the crash"));
    let acknowledged = SystemTime::now();
    poll(PATIENCE, "the file is newer than the checkpoint", || {
        // The timestamps of file systems are coarser than the checkpoint's.
        let file = project.write("src/lib.rs", "// changed after the checkpoint\n");
        file.metadata().unwrap().modified().is_ok_and(|time| time > acknowledged).then_some(())
    });
    crashed.kill9();
    instance.kill9();

    let mut next = Agent::open(&instance, project.path());
    let text = poll(PATIENCE, "the work is recovered", || {
        Some(next.tool("memory_load", &json!({})))
            .filter(|text| text.contains("Recovered after a crash"))
    });
    assert!(text.contains("staged before the crash"), "{text}");
    assert!(text.contains("src/lib.rs"), "the changed file is named: {text}");
}

/// Counts the sessions that the daemon holds a connection to.
fn connected(instance: &Instance) -> usize {
    let status = instance.anchord().args(["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let sessions = status.get("sessions").and_then(Value::as_array).unwrap();
    sessions.iter().filter(|session| session.get("connected") == Some(&json!(true))).count()
}
