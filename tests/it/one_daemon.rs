//! There is one daemon. A second one leaves, one that lost its place leaves, and a newer instance
//! is not touched.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use anchord_tests::{
    Agent, Instance, PATIENCE, Project, Shell, Signal, binaries, poll, process, skip, walk, write,
};
use serde_json::{Value, json};

/// glibc reads the settings once, when a process starts. Without them the daemon needs twice the
/// memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_daemon_has_its_allocator_settings_however_it_was_started() {
    let instance = Instance::new();
    let settings = |pid: u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environ = String::from_utf8(environ).unwrap();
        let ours = environ.split('\0').filter(|pair| pair.starts_with("MALLOC_"));
        let mut ours: Vec<String> = ours.map(str::to_owned).collect();
        ours.sort();
        ours
    };
    let own = ["MALLOC_ARENA_MAX=2", "MALLOC_MMAP_THRESHOLD_=16384"];
    assert_eq!(settings(instance.start_daemon()), own, "in the foreground");
    instance.wait_gone(instance.kill9());

    let agent = Agent::open(&instance, Project::git().path());
    assert_eq!(settings(instance.daemon_pid().unwrap()), own, "by a shim");
    drop(agent);
    instance.wait_gone(instance.kill9());

    let mut chosen = instance.anchord();
    chosen.arg("daemon").env("MALLOC_ARENA_MAX", "1");
    let chosen = settings(instance.start_daemon_by(chosen));
    assert_eq!(chosen, ["MALLOC_ARENA_MAX=1", own[1]], "what was set stays");
}

#[test]
fn a_second_daemon_says_why_it_exits() {
    let instance = Instance::new();
    let project = Project::git();
    let first = instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    let second = instance.anchord().arg("daemon").output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains("another") || said.contains("already"), "said only: {said}");
    assert_eq!(instance.daemon_pid(), Some(first));
    agent.tool("memory_status", &json!({}));
}

/// The lock tells whether there is a daemon. One that hangs may be in the middle of a write.
#[test]
fn a_silent_daemon_is_not_mistaken_for_a_missing_one() {
    let instance = Instance::new();
    let project = Project::git();
    let daemon = instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before it hung"));
    process::signal(daemon, Signal::STOP);
    let shell = Shell::new(&instance, project.path());
    let hangs = |command: &[&str]| {
        let (code, text) = shell.said(command);
        assert_eq!(code, 3, "{command:?}: {text}");
        let named = format!("the daemon (pid {daemon}) does not answer: it is stopped");
        assert!(text.contains(&named), "{text}");
        assert!(text.contains(&format!("`kill -CONT {daemon}`")), "{text}");
    };
    // In parallel, since the commands that stop it keep trying for a while.
    std::thread::scope(|scope| {
        for command in [
            &["stop"][..],
            &["restart"],
            &["status"],
            &["uninstall", "--data", "--yes"],
            &["load"],
            &["note", "while it hangs"],
        ] {
            scope.spawn(|| hangs(command));
        }
    });
    let (code, text) = shell.said(&["doctor"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&format!("✗ daemon: the daemon (pid {daemon}) does not")), "{text}");
    // The caller of a call in flight is told, and the call continues when the daemon does.
    let call = agent.request_later(
        "tools/call",
        &json!({
            "name": "memory_note",
            "arguments": { "content": "sent while it hung" },
            "_meta": { "progressToken": "p1" },
        }),
    );
    let line = agent.next_line(PATIENCE).expect("the shim lives");
    let progress: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p1", "{progress}");
    let waits = "the daemon does not answer: it is stopped, hangs, or starts on a busy disk";
    assert!(progress["params"]["message"].as_str().unwrap().starts_with(waits), "{progress}");
    poll(PATIENCE, "stderr has it", || agent.stderr().contains(waits).then_some(()));
    process::signal(daemon, Signal::CONT);
    assert!(!agent.reply(call).unwrap().is_error);
    poll(PATIENCE, "stderr says so", || agent.stderr().contains("answers again").then_some(()));
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("before it hung"), "nothing was taken from under it: {load}");
    assert_eq!(instance.daemon_pid(), Some(daemon));
    drop(agent);
    let text = shell.done(&["stop"]);
    assert!(text.starts_with("stopped (pid "), "{text}");
    assert_eq!(shell.done(&["stop"]), "no daemon is running\n");
}

#[test]
fn a_daemon_that_lost_its_socket_stops() {
    let instance = Instance::new();
    let project = Project::git();
    let first = instance.start_daemon();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before the loss"));
    fs::remove_file(instance.socket()).unwrap();
    instance.wait_gone(first);
    assert!(agent.tool("memory_load", &json!({})).contains("before the loss"));
    assert_ne!(instance.daemon_pid(), Some(first));
}

#[test]
fn an_instance_of_a_newer_build_is_left_alone() {
    let instance = Instance::new();
    let project = Project::git();
    let first = instance.start_daemon();
    process::signal(first, Signal::TERM);
    instance.wait_gone(first);
    let path = instance.home().join("instance.json");
    let mut newer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    newer["format"] = json!(99);
    newer["from_the_future"] = json!(true);
    fs::write(&path, newer.to_string()).unwrap();

    let refused = instance.anchord().arg("daemon").output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("99") && said.contains("update"), "said only: {said}");

    let mut agent = Agent::start(&instance, project.path());
    let error = agent.request("tools/list", &json!({})).expect_err("no daemon can be had");
    assert!(error.message.contains("update"), "an agent hears what to do: {}", error.message);
    let kept: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(kept, newer);
}

#[test]
fn socket_activation_takes_over_from_a_self_started_daemon() {
    if Command::new("systemd-socket-activate").arg("--version").output().is_err() {
        return skip("systemd-socket-activate is not installed");
    }
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before activation"));
    let first = instance.daemon_pid().unwrap();

    let mut activator = instance.command("systemd-socket-activate".as_ref());
    activator.arg("--listen").arg(instance.socket()).args(["--fdname", "anchord"]);
    for name in ["HOME", "PATH", "ANCHORD_HOME", "ANCHORD_HTTP", "ANCHORD_TEST_TOOLS"] {
        activator.args(["--setenv", name]);
    }
    activator.arg(&binaries().anchord).arg("daemon");
    let mut activator =
        activator.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();

    // The old daemon sees that another owns the socket. The activated one waits for its lock.
    instance.wait_gone(first);
    let text = agent.tool("memory_load", &json!({}));
    assert!(text.contains("before activation"), "{text}");
    agent.tool("memory_save", &write::save("after activation"));
    poll(PATIENCE, "the activated daemon is the only one", || {
        (instance.daemons() == [activator.id()]).then_some(())
    });
    let text = Agent::open(&instance, project.path()).tool("memory_load", &json!({}));
    assert!(text.contains("after activation"), "{text}");
    activator.kill().unwrap();
    activator.wait().unwrap();
}

/// Memory and logs are readable by the user alone, under any umask of the daemon.
#[test]
fn every_file_of_an_instance_is_readable_only_by_its_user() {
    let instance = Instance::new();
    let project = Project::git();
    instance.configure("");
    let logs = instance.home().join("logs");
    DirBuilder::new().mode(0o700).create(&logs).unwrap();
    let earlier = logs.join("anchord.2026-01-01.log");
    fs::write(&earlier, "as an earlier build left it").unwrap();
    fs::set_permissions(&earlier, Permissions::from_mode(0o644)).unwrap();
    let daemon = binaries().anchord.display().to_string();
    let mut open = instance.command("/bin/sh".as_ref());
    open.args(["-c", "umask 000; exec \"$0\" daemon", &daemon]);
    instance.start_daemon_by(open);
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "for our eyes"]);
    shell.done(&["note", "--user", "for my eyes"]);
    shell.done(&["search", "eyes"]);
    shell.done(&["stop"]);
    let mut files = 0;
    walk(&instance.home(), &mut |path: &Path| {
        let mode = fs::symlink_metadata(path).unwrap().permissions().mode();
        let is_config = path.starts_with(instance.home().join("config"));
        let for_others = mode & 0o077;
        assert!(is_config || for_others == 0, "{}: {mode:o}", path.display());
        files += 1;
    });
    assert!(files > 10 && earlier.exists(), "{files} files");
}
