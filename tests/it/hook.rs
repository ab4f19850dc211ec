//! `anchord-hook` never gets in an agent's way: whatever happens, it exits 0, in time, and prints only what
//! the daemon replied.

use std::io::Write;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use anchord_tests::{Instance, Project, Signal, process};

const EVENT: &str =
    r#"{"session_id":"s","transcript_path":"/t","cwd":"/c","hook_event_name":"Notification"}"#;
const EVER: Duration = Duration::from_secs(3);

#[test]
fn an_event_is_handed_over() {
    let instance = Instance::new();
    instance.start_daemon();
    assert_silent(&hook(&instance, EVENT));
}

#[test]
fn without_a_daemon_that_answers_it_leaves_in_time() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    process::signal(daemon, Signal::STOP);
    assert_silent(&hook(&instance, EVENT));
}

#[test]
fn what_is_no_event_is_no_reason_to_fail() {
    let instance = Instance::new();
    instance.start_daemon();
    for event in ["", "not JSON", "[]"] {
        assert_silent(&hook(&instance, event));
    }
}

#[test]
fn an_instance_that_cannot_be_made_is_no_reason_to_fail() {
    let instance = Instance::new();
    std::fs::write(instance.home(), "a file where the directory would be").unwrap();
    assert_silent(&hook(&instance, EVENT));
}

fn hook(instance: &Instance, event: &str) -> Output {
    let project = Project::plain();
    let start = Instant::now();
    let mut hook = instance.command(&anchord_tests::binaries().anchord_hook);
    hook.current_dir(project.path());
    let mut hook =
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have left without reading, which is its right.
    hook.stdin.take().unwrap().write_all(event.as_bytes()).ok();
    let output = hook.wait_with_output().unwrap();
    let took = start.elapsed();
    assert!(took < EVER, "took {took:?}");
    output
}

#[track_caller]
fn assert_silent(output: &Output) {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.trim().is_empty() || said.trim() == "{}", "{said}");
}
