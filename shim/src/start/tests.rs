//! A started daemon inherits little from its starter, and only one of many starters starts it.

use std::fs;

use super::*;
use crate::testing::{Instance, SOON, program, reported, wait_until};

#[test]
fn a_daemon_gets_the_root_and_a_few_variables() {
    let instance = Instance::new();
    let log = instance.dir.path().join("log");
    let script = format!("{{ pwd; env; }} > {0}.new; mv {0}.new {0}; echo ready", log.display());
    assert_eq!(reported(&program(&instance, &script), &instance), Report::Ready);
    let log = fs::read_to_string(log).unwrap();
    let mut lines = log.lines();
    assert_eq!(lines.next(), Some("/"));
    let home = format!("ANCHORD_HOME={}", instance.dir.path().display());
    assert!(log.lines().any(|line| line == home), "{log}");
    for line in lines {
        let name = OsString::from(line.split('=').next().unwrap());
        // The shell itself sets these.
        let of_shell = ["PWD", "OLDPWD", "SHLVL", "_"].iter().any(|of_shell| name == *of_shell);
        assert!(of_shell || is_passed(&name), "{line}");
    }
}

#[test]
fn only_listed_variables_are_passed_on() {
    for name in ["HOME", "USER", "PATH", "LANG", "TMPDIR", "ANCHORD_HOME", "ANCHORD_HTTP"] {
        assert!(is_passed(&name.into()), "{name}");
    }
    for name in ["XDG_RUNTIME_DIR", "ANTHROPIC_API_KEY", "HOMER", "ANCHOR", "LD_PRELOAD", ""] {
        assert!(!is_passed(&name.into()), "{name}");
    }
}

#[test]
fn only_one_of_many_shims_starts_the_daemon() {
    let instance = Instance::new();
    let log = instance.dir.path().join("log");
    let gate = instance.dir.path().join("gate");
    let launcher = program(
        &instance,
        &format!("echo x >> {}; until_there {}; echo ready", log.display(), gate.display()),
    );
    let mut first = launcher.start(&instance.dir, Instant::now()).unwrap().unwrap();
    for _ in 0..8 {
        assert!(launcher.start(&instance.dir, Instant::now()).unwrap().is_none());
    }
    assert!(first.report_within(Duration::ZERO).is_none());
    fs::write(&gate, "").unwrap();
    assert_eq!(first.report_within(SOON).unwrap().unwrap(), Report::Ready);
    assert_eq!(fs::read_to_string(&log).unwrap(), "x\n");
}

#[test]
fn a_start_continues_after_its_starter_left_and_is_not_repeated() {
    let instance = Instance::new();
    let (gate, ended) = (instance.dir.path().join("gate"), instance.dir.path().join("ended"));
    let launcher =
        program(&instance, &format!("until_there {}; touch {}", gate.display(), ended.display()));
    // A hook does the same, since it has only a second.
    drop(launcher.start(&instance.dir, Instant::now()).unwrap().unwrap());
    assert!(launcher.start(&instance.dir, Instant::now()).unwrap().is_none());
    fs::write(&gate, "").unwrap();
    wait_until("it has ended", || ended.exists());
    wait_until("the next is started", || {
        launcher.start(&instance.dir, Instant::now()).unwrap().is_some()
    });
}

#[test]
fn a_hanging_starter_is_waited_for_only_for_a_while() {
    let instance = Instance::new();
    let launcher = program(&instance, "echo ready");
    let hangs = starter_lock(&instance.dir).unwrap();
    hangs.lock().unwrap();
    assert!(launcher.start(&instance.dir, Instant::now()).unwrap().is_none());
    let long_ago = Instant::now().checked_sub(millis(STARTER_DEADLINE_MS)).unwrap();
    assert!(launcher.start(&instance.dir, long_ago).unwrap().is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_ends_leaves_no_zombie() {
    let instance = Instance::new();
    let log = instance.dir.path().join("pid");
    let launcher = program(
        &instance,
        &format!("echo $$ > {0}.new; mv {0}.new {0}; echo ready", log.display()),
    );
    reported(&launcher, &instance);
    let pid: u32 = fs::read_to_string(log).unwrap().trim().parse().unwrap();
    wait_until("the process is gone", || anchord_proto::host::process_start(pid).is_none());
}
