//! What a started daemon gets of its starter, and that one of many starts it.

use std::fs;

use super::*;
use crate::testing::{Instance, program, wait_until};

#[test]
fn a_daemon_gets_the_root_and_a_few_variables() {
    let instance = Instance::new();
    let log = instance.dir.path().join("log");
    let script = format!("{{ pwd; env; }} > {0}.new; mv {0}.new {0}; echo ready", log.display());
    let report = program(&instance, &script).start(&instance.dir, Instant::now()).unwrap();
    assert_eq!(report, Report::Ready);
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
fn only_what_is_listed_is_passed() {
    for name in ["HOME", "USER", "PATH", "LANG", "TMPDIR", "ANCHORD_HOME", "ANCHORD_HTTP"] {
        assert!(is_passed(&name.into()), "{name}");
    }
    for name in ["XDG_RUNTIME_DIR", "ANTHROPIC_API_KEY", "HOMER", "ANCHOR", "LD_PRELOAD", ""] {
        assert!(!is_passed(&name.into()), "{name}");
    }
}

#[test]
fn of_many_that_find_none_one_starts_it() {
    let instance = Instance::new();
    let log = instance.dir.path().join("log");
    let gate = instance.dir.path().join("gate");
    let launcher = program(
        &instance,
        &format!(
            "echo x >> {}; while [ ! -e {} ]; do sleep 0.01; done; echo ready",
            log.display(),
            gate.display()
        ),
    );
    let begin = Instant::now();
    let reports = thread::scope(|scope| {
        let first = scope.spawn(|| launcher.start(&instance.dir, begin).unwrap());
        wait_until("the first has started it", || log.exists());
        let others: Vec<Report> =
            (0..8).map(|_| launcher.start(&instance.dir, Instant::now()).unwrap()).collect();
        fs::write(&gate, "").unwrap();
        (first.join().unwrap(), others)
    });
    assert_eq!(reports.0, Report::Ready);
    assert!(reports.1.iter().all(|report| *report == Report::Running));
    assert_eq!(fs::read_to_string(&log).unwrap(), "x\n");
}

#[test]
fn a_starter_that_hangs_is_waited_for_in_vain_only_for_a_while() {
    let instance = Instance::new();
    let launcher = program(&instance, "echo ready");
    let hangs = starter_lock(&instance.dir).unwrap();
    hangs.lock().unwrap();
    assert_eq!(launcher.start(&instance.dir, Instant::now()).unwrap(), Report::Running);
    let long_ago = Instant::now().checked_sub(millis(STARTER_DEADLINE_MS)).unwrap();
    assert_eq!(launcher.start(&instance.dir, long_ago).unwrap(), Report::Ready);
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_ends_is_no_zombie() {
    let instance = Instance::new();
    let log = instance.dir.path().join("pid");
    let launcher = program(
        &instance,
        &format!("echo $$ > {0}.new; mv {0}.new {0}; echo ready", log.display()),
    );
    launcher.start(&instance.dir, Instant::now()).unwrap();
    let pid: u32 = fs::read_to_string(log).unwrap().trim().parse().unwrap();
    wait_until("the process is gone", || anchord_proto::host::process_start(pid).is_none());
}
