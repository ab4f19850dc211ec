//! `anchord restart` while agents work: calls are delayed, none fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use anchord_tests::{Agent, Instance, PATIENCE, Project, poll, write};

const AGENTS: usize = 6;
const RESTARTS: usize = 3;

#[test]
fn a_restart_under_load_fails_no_call() {
    let instance = Instance::new();
    let project = Project::git();
    let restarts = AtomicUsize::new(0);
    let calls = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|number| {
                let (instance, project, restarts, calls) = (&instance, &project, &restarts, &calls);
                scope.spawn(move || {
                    let mut agent = Agent::open(instance, project.path());
                    let mut written = 0;
                    while restarts.load(Ordering::Relaxed) < RESTARTS {
                        let title = format!("load-{number}-{written}-");
                        agent.tool("memory_checkpoint", &write::checkpoint(&title));
                        written += 1;
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                    written
                })
            })
            .collect();
        for _ in 0..RESTARTS {
            let so_far = calls.load(Ordering::Relaxed);
            poll(PATIENCE, "the agents are at work", || {
                (calls.load(Ordering::Relaxed) > so_far + 3 * AGENTS).then_some(())
            });
            let before = instance.daemon_pid();
            let output = instance.anchord().arg("restart").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            poll(PATIENCE, "another daemon answers", || {
                instance.daemon_pid().filter(|pid| Some(*pid) != before)
            });
            restarts.fetch_add(1, Ordering::Relaxed);
        }
        for (number, agent) in agents.into_iter().enumerate() {
            let written = agent.join().unwrap();
            for call in 0..written {
                assert_eq!(instance.entries("checkpoint", &format!("load-{number}-{call}-")), 1);
            }
        }
    });
}
