//! `anchord restart` while agents work: calls are delayed, none fails.

use anchord_tests::{Instance, PATIENCE, Project, poll, under_load};

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
fn kills_under_load_fail_no_call_either() {
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
