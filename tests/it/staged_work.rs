//! What a session has staged is its own while it lives: through restarts, stops, and others' lives.

use anchord_tests::{Agent, Instance, Project, Signal, write};
use serde_json::json;

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
fn a_dead_sessions_staged_work_is_kept_and_named() {
    let instance = Instance::new();
    let project = Project::git();
    let mut dead = {
        let mut command = instance.shim(project.path());
        command.env("CLAUDE_CODE_SESSION_ID", "resumed-later");
        Agent::start_by(command)
    };
    dead.initialize();
    dead.tool("memory_checkpoint", &write::checkpoint("staged before the end"));
    dead.kill9();

    // The same agent session in a new shim takes over what its dead predecessor staged.
    let mut command = instance.shim(project.path());
    command.env("CLAUDE_CODE_SESSION_ID", "resumed-later");
    let mut resumed = Agent::start_by(command);
    resumed.initialize();
    resumed.tool("memory_save", &json!({"session_summary": "went on"}));
    let text = Agent::open(&instance, project.path()).tool("memory_load", &json!({}));
    assert!(text.contains("staged before the end"), "{text}");
}
