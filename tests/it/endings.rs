//! The end of a session. It is immediate, whatever the client does first, and leaves nothing
//! behind.
//!
//! The promise is 100 ms. A loaded machine may keep any process from running for longer than that.
//! Therefore the fastest of [`TRIES`] must keep the promise, and none may take [`EVER`].

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, PATIENCE, Project, Signal, poll, process};
use serde_json::json;

const PROMISE: Duration = Duration::from_millis(100);
const TRIES: usize = 5;
const EVER: Duration = Duration::from_secs(3);

#[test]
fn a_shim_ends_when_stdin_closes() {
    ends_in_time(Agent::close_stdin);
}

#[test]
fn a_shim_ends_on_sigint() {
    ends_in_time(|agent| agent.signal(Signal::INT));
}

#[test]
fn a_shim_ends_on_sigterm() {
    ends_in_time(|agent| agent.signal(Signal::TERM));
}

#[test]
fn a_shim_ends_while_a_call_is_in_flight() {
    ends_in_time(|agent| {
        agent.call_later("test_delay", &json!({"ms": 60_000}));
        agent.signal(Signal::TERM);
    });
}

#[test]
fn a_shim_ends_while_the_daemon_is_stopped() {
    let instance = Instance::new();
    let project = Project::plain();
    let daemon = instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    process::signal(daemon, Signal::STOP);
    agent.call_later("memory_status", &json!({}));
    agent.close_stdin();
    let (_, took) = agent.wait_exit(PATIENCE);
    assert!(took < EVER, "took {took:?}");
}

#[test]
fn a_shim_ends_when_its_parent_is_gone() {
    let instance = Instance::new();
    let project = Project::plain();
    instance.start_daemon();
    let fastest = (0..TRIES)
        .map(|_| {
            let shim = anchord_tests::binaries().anchord_mcp.display().to_string();
            // The shell's stdin stays open here, so only the parent's death can end the shim.
            let mut parent = instance.command("/bin/sh".as_ref());
            parent
                .args(["-c", "exec 3<&0; \"$0\" <&3 3<&- & echo $!; wait", &shim])
                .current_dir(project.path());
            let mut parent = parent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut pid = String::new();
            BufReader::new(parent.stdout.take().unwrap()).read_line(&mut pid).unwrap();
            let shim: u32 = pid.trim().parse().unwrap();
            poll(PATIENCE, "the shim is connected", || connected(shim).then_some(()));
            let start = Instant::now();
            parent.kill().unwrap();
            poll(PATIENCE, "the shim ends", || (!process::alive(shim)).then_some(()));
            let took = start.elapsed();
            parent.wait().unwrap();
            took
        })
        .min();
    assert!(fastest < Some(PROMISE), "took {fastest:?}");
}

#[test]
fn five_hundred_sessions_leave_nothing_behind() {
    let instance = Instance::new();
    let project = Project::git();
    let daemon = instance.start_daemon();
    let open_and_close = |count: usize| {
        for number in 0..count {
            let mut agent = Agent::open(&instance, project.path());
            agent.request("tools/list", &json!({})).unwrap();
            if number % 50 == 0 {
                agent.tool("memory_status", &json!({}));
            }
            agent.close_stdin();
            assert!(agent.wait_exit(PATIENCE).0.success());
        }
    };
    open_and_close(20);
    let Some(before) = process::descriptors(daemon) else {
        return anchord_tests::skip("no /proc to count descriptors in");
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| open_and_close(125));
        }
    });
    poll(PATIENCE, "the daemon has closed what the sessions opened", || {
        process::descriptors(daemon).filter(|now| *now <= before)
    });
    assert_eq!(process::of_instance(&instance.home()), [daemon]);
}

#[track_caller]
fn ends_in_time(end: impl Fn(&mut Agent)) {
    let instance = Instance::new();
    let project = Project::plain();
    instance.start_daemon();
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let mut agent = Agent::open(&instance, project.path());
        end(&mut agent);
        let (_, took) = agent.wait_exit(PATIENCE);
        assert!(took < EVER, "took {took:?}");
        times.push(took);
    }
    assert!(times.iter().min() < Some(&PROMISE), "took {times:?}");
}

/// Returns whether the process holds a socket, as a shim does once it has found the daemon.
fn connected(pid: u32) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        // There is no /proc here, so `lsof` must do.
        let open = Command::new("lsof").args(["-U", "-p", &pid.to_string()]).output();
        return open.is_ok_and(|open| !open.stdout.is_empty());
    };
    descriptors.flatten().any(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    })
}
