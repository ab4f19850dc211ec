//! `anchord restart` while agents work, deaths, and daemons that are slow to start. Calls are
//! delayed, but none fails.

use std::collections::BTreeSet;

use anchord_tests::{Agent, Instance, PATIENCE, Project, poll, under_load, write};

const AGENTS: usize = 6;
const RESTARTS: usize = 3;

#[test]
fn a_restart_under_load_fails_no_call() {
    let instance = Instance::new();
    let project = Project::git();
    let saved = under_load(&instance, project.path(), AGENTS, |load| {
        for _ in 0..RESTARTS {
            load.wait_for_each(3);
            let before = instance.daemon_pid();
            let output = instance.anchord().arg("restart").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            poll(PATIENCE, "another daemon answers", || {
                instance.daemon_pid().filter(|pid| Some(*pid) != before)
            });
        }
        load.wait_for_each(3);
    });
    assert_eq!(instance.written("save"), saved);
}

#[test]
fn kills_under_load_fail_no_call() {
    let instance = Instance::new();
    let project = Project::git();
    let saved = under_load(&instance, project.path(), AGENTS, |load| {
        for _ in 0..RESTARTS {
            load.wait_for_each(3);
            instance.kill9();
        }
        load.wait_for_each(3);
    });
    assert_eq!(instance.written("save"), saved);
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_is_slow_to_start_fails_no_call() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before"));
    instance.kill9();
    let slow = instance.slow_starts();
    let call = agent.call_later("memory_save", &write::save("meanwhile"));
    let mut seen = BTreeSet::new();
    poll(PATIENCE, "two daemons have waited in vain and left", || {
        seen.extend(instance.daemons());
        (seen.len() > 2).then_some(())
    });
    drop(slow);
    let saved = agent.reply(call).expect("the daemon came late, but it came");
    assert!(!saved.is_error, "{}", saved.text);
    let expected = ["before", "meanwhile"].map(|title| (title.to_owned(), 1));
    assert_eq!(instance.written("save"), expected.into());
}
