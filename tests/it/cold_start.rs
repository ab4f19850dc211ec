//! Many agents start on a machine where no daemon runs yet. One daemon starts, and all agents are
//! answered.

use std::sync::Barrier;

use anchord_tests::{Agent, Instance, PATIENCE, Project, poll, write};
use serde_json::json;

const AGENTS: usize = 32;

#[test]
fn thirty_two_shims_at_once_start_one_daemon() {
    let instance = Instance::new();
    let project = Project::git();
    anchord_tests::binaries();
    let start = Barrier::new(AGENTS);
    let agents: Vec<Agent> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..AGENTS)
            .map(|number| {
                let (instance, project, start) = (&instance, &project, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut agent = Agent::open(instance, project.path());
                    agent.tool("memory_checkpoint", &write::checkpoint(&format!("cold {number}")));
                    agent
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });

    let daemon = instance.daemon_pid().unwrap();
    if cfg!(target_os = "linux") {
        // Daemons that lost the race see the lock and leave.
        poll(PATIENCE, "only one daemon is left", || {
            (instance.daemons() == [daemon]).then_some(())
        });
    }
    let expected = (0..AGENTS).map(|number| (format!("cold {number}"), 1)).collect();
    assert_eq!(instance.written("checkpoint"), expected);
    drop(agents);
}

#[test]
fn the_first_handshake_starts_the_daemon_and_opens_no_store() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::start(&instance, project.path());
    let result = agent.initialize();
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "anchord");
    let list = agent.request("tools/list", &json!({})).unwrap();
    let names: Vec<_> =
        list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for expected in [
        "memory_load",
        "memory_checkpoint",
        "memory_save",
        "memory_get",
        "memory_forget",
        "memory_status",
    ] {
        assert!(names.contains(&expected), "no {expected} in {names:?}");
    }
    let data = instance.home().join("data");
    assert!(data.join("daemon").exists(), "this is where a daemon has its data");
    assert!(!data.join("projects").read_dir().is_ok_and(|mut all| all.next().is_some()));
    assert!(!project.path().join(".git/anchord").exists(), "a probe leaves nothing in a project");
}
