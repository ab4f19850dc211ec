//! A tool that panics and a tool that ends the process. Only their callers get an error.

use anchord_tests::{Agent, Instance, Project, under_load, write};
use serde_json::json;

#[test]
fn a_panic_is_answered_as_an_error_and_survived() {
    let instance = Instance::new();
    let project = Project::git();
    let daemon = instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    let mut other = Agent::open(&instance, project.path());
    let error = agent.call("test_panic", &json!({})).expect_err("a fault of ours is an error");
    assert_eq!(error.code, -32603, "internal error: {}", error.message);
    agent.tool("memory_save", &write::save("after the panic"));
    assert!(other.tool("memory_load", &json!({})).contains("after the panic"));
    assert_eq!(instance.daemon_pid(), Some(daemon), "the daemon goes on");
}

#[test]
fn an_abort_causes_one_error_for_its_caller_and_none_for_others() {
    let instance = Instance::new();
    let project = Project::git();
    let mut caller = Agent::open(&instance, project.path());
    let saved = under_load(&instance, project.path(), 3, |load| {
        load.wait_for_each(3);
        caller.tool("memory_checkpoint", &write::checkpoint("before the abort"));
        let error = caller.call("test_abort", &json!({})).expect_err("the call kills each daemon");
        assert!(error.message.contains("failed twice"), "{}", error.message);
        load.wait_for_each(3);
    });
    assert_eq!(instance.written("save"), saved);
    caller.tool("memory_save", &write::save("after the abort"));
    // A load may leave out some of that many blueprints.
    let text = caller.tool("memory_search", &json!({"query": "abort"}));
    assert!(text.contains("before the abort") && text.contains("after the abort"), "{text}");
}
