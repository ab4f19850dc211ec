//! `anchord-hook` never gets in an agent's way. In any case it exits with 0, in time, and prints
//! only the daemon's reply. The work of an agent that calls no tool is kept all the same.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, Signal, poll, process, write};
use serde_json::{Value, json};

use crate::damage::{Immutable, journal};

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
fn a_hook_leaves_in_time_if_the_daemon_does_not_answer() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    process::signal(daemon, Signal::STOP);
    assert_silent(&hook(&instance, EVENT));
}

#[cfg(target_os = "linux")]
#[test]
fn hooks_start_one_daemon_and_do_not_wait_for_a_slow_start() {
    let instance = Instance::new();
    instance.start_daemon();
    instance.wait_gone(instance.kill9());
    let slow = instance.slow_starts();
    for _ in 0..3 {
        assert_silent(&hook(&instance, EVENT));
    }
    let daemons = instance.daemons();
    assert!(daemons.len() <= 1, "started at once: {daemons:?}");
    drop(slow);
    poll(PATIENCE, "a daemon that a hook has started serves", || {
        assert_silent(&hook(&instance, EVENT));
        instance.daemon_pid()
    });
    poll(PATIENCE, "its start is over for others, too", || {
        fs::File::open(instance.home().join("starting")).unwrap().try_lock().ok()
    });
}

#[test]
fn a_hook_does_not_fail_on_an_invalid_event() {
    let instance = Instance::new();
    instance.start_daemon();
    for event in ["", "not JSON", "[]"] {
        assert_silent(&hook(&instance, event));
    }
}

#[test]
fn a_hook_does_not_fail_if_the_instance_cannot_be_created() {
    let instance = Instance::new();
    fs::write(instance.home(), "a file where the directory would be").unwrap();
    assert_silent(&hook(&instance, EVENT));
}

/// A hook leaves after a second. A daemon that is too busy to answer by then still gets the event.
#[test]
fn an_event_for_a_stopped_daemon_is_received_when_it_continues() {
    let instance = Instance::new();
    instance.configure("[sessions]\ngrace_seconds = 1\n");
    let daemon = instance.start_daemon();
    let mut talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    process::signal(daemon, Signal::STOP);
    assert_eq!(talk.tell("UserPromptSubmit", &json!({"prompt": "make it faster"})), "");
    process::signal(daemon, Signal::CONT);
    talk.tell("Stop", &json!({"last_assistant_message": "It is."}));
    talk.agent.kill().unwrap();
    talk.agent.wait().unwrap();
    poll(PATIENCE, "the session is kept", || {
        (instance.entries_with("keep", "make it faster") > 0).then_some(())
    });
}

/// A daemon that hangs is as good as gone. Rules that fail closed still stop a tool, and others
/// let it pass.
#[test]
fn rules_that_fail_closed_stop_a_tool_without_the_daemon() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    let rule = |title: &str, command: &str, more: &[&str]| {
        let mut add = instance.anchord();
        add.args(["rules", "add", title, "--deny", "--command", command, "--reason", "never"]);
        let added = add.args(more).current_dir(talk.project.path()).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    };
    rule("No force push", "git push --force", &["--fail-closed"]);
    rule("No deploy", "make deploy", &[]);
    let about_to = |line: &str| {
        talk.tell("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": line}}))
    };
    assert!(about_to("make deploy").contains("deny"));
    process::signal(daemon, Signal::STOP);
    let stopped = about_to("cd x; git push --force");
    assert!(stopped.contains("deny") && stopped.contains("No force push: never."), "{stopped}");
    assert_eq!(about_to("make deploy now"), "");
    assert_eq!(about_to("ls"), "");
    // A log that cannot be written, as on a full disk, lets nothing pass.
    let checks = instance.home().join("guard/log");
    fs::rename(&checks, instance.home().join("kept")).unwrap();
    fs::write(&checks, "not a directory").unwrap();
    assert!(about_to("git push --force").contains("deny"));
    fs::remove_file(&checks).unwrap();
    fs::rename(instance.home().join("kept"), &checks).unwrap();
    process::signal(daemon, Signal::CONT);
    let mut log = instance.anchord();
    let log = log.args(["log", "--rules"]).current_dir(talk.project.path()).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("  deny      cd x; git push --force -> "), "{log}");
    assert!(log.contains("  passed    make deploy now -> none (without the daemon)"), "{log}");
    // The hooks' own log is read where no daemon can start, too.
    instance.wait_gone(instance.kill9());
    fs::rename(instance.home().join("data"), instance.home().join("away")).unwrap();
    let (code, log) = Shell::new(&instance, talk.project.path()).said(&["log", "--rules"]);
    assert_eq!(code, 3, "{log}");
    assert!(log.contains("  deny      cd x; git push --force -> "), "{log}");
    assert!(log.contains("error: the daemon's own checks are missing: "), "{log}");
}

#[test]
fn a_compaction_is_told_what_to_keep_of_a_memory_that_takes_no_writes() {
    let instance = Instance::new();
    instance.start_daemon();
    let talk = Talk::new(&instance, "a");
    let shell = Shell::new(&instance, talk.project.path());
    let rule = ["rules", "add", "No force push", "--deny", "--command", "git push --force"];
    shell.done(&[&rule[..], &["--reason", "never"]].concat());
    shell.done(&["stop"]);
    let Some(_immutable) = Immutable::make(&journal(&instance, false)) else { return };
    instance.start_daemon();
    assert!(talk.tell("SessionStart", &json!({ "source": "startup" })).contains("READ-ONLY"));
    let prompt = json!({ "prompt": "push the branch with the parser" });
    talk.tell("UserPromptSubmit", &prompt);
    let told = talk.tell("PreCompact", &json!({ "trigger": "auto" }));
    assert!(told.contains("Rules in force") && told.contains("No force push"), "{told}");
}

/// A file's content makes a call large, and nothing about it less forbidden.
#[test]
fn a_rule_stops_a_large_call_too() {
    let instance = Instance::new();
    instance.start_daemon();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    for (title, path, more) in
        [("Keep prod", "prod.env", &[][..]), ("Keep key", "key.pem", &["--fail-closed"])]
    {
        let mut add = instance.anchord();
        add.args(["rules", "add", title, "--deny", "--path", path, "--reason", "never"]).args(more);
        let added = add.current_dir(talk.project.path()).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    }
    let writes = |file: &str, bytes: usize| {
        let path = talk.project.path().join(file);
        let input = json!({"file_path": path, "content": "x".repeat(bytes)});
        talk.tell("PreToolUse", &json!({"tool_name": "Write", "tool_input": input}))
    };
    let large = 2 * 1024 * 1024;
    assert!(writes("prod.env", large).contains("deny"));
    assert_eq!(writes("notes.txt", large), "");
    // The daemon takes no event of this size.
    assert!(writes("key.pem", 3 * large).contains("deny"));
}

/// A rule that fails closed stops what cannot be checked, and says why.
#[test]
fn a_rule_that_fails_closed_stops_a_call_that_is_too_long_or_damaged() {
    let instance = Instance::new();
    instance.start_daemon();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    let mut add = instance.anchord();
    add.args(["rules", "add", "No force push", "--deny", "--fail-closed", "--reason", "never"]);
    let add = add.args(["--command", "git push --force"]).current_dir(talk.project.path());
    assert!(add.output().unwrap().status.success());
    let about_to = |command: &Value| {
        talk.tell("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": command}}))
    };
    for mebibytes in [5, 12] {
        let long = format!("git push --force && echo {}", "x".repeat(mebibytes << 20));
        let stopped = about_to(&json!(long));
        assert!(stopped.contains("ask") && stopped.contains("No force push"), "{stopped}");
        assert!(stopped.contains("too long for anchord's daemon"), "{stopped}");
        assert!(!stopped.contains("cannot be reached"), "{stopped}");
    }
    let torn = talk.send(r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"#);
    assert!(torn.contains("could not be checked"), "{torn}");
    let mut log = instance.anchord();
    let log = log.args(["log", "--rules"]).current_dir(talk.project.path()).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("Bash -> none (could not be checked: the call is not"), "{log}");
    let listed = about_to(&json!(["bash", "-lc", "git push --force"]));
    assert!(listed.contains("deny"), "{listed}");
    assert_eq!(about_to(&json!(["bash", "-lc", "git status"])), "");
}

#[test]
fn a_killed_agent_leaves_its_activity() {
    let instance = Instance::new();
    instance.configure("[sessions]\ngrace_seconds = 1\n");
    // Started beforehand. An event for a daemon that takes longer than a second to start is lost,
    // which is another matter.
    instance.start_daemon();
    let mut talk = Talk::new(&instance, "a");
    talk.work();
    talk.agent.kill().unwrap();
    talk.agent.wait().unwrap();
    poll(PATIENCE, "the session is kept", || {
        (instance.entries_with("keep", "make it faster") > 0).then_some(())
    });
    let row = load(&instance, talk.project.path());
    assert!(row.contains("Asked: make it faster"), "{row}");
    assert!(row.contains("Edited: src/lib.rs") && row.contains("Said last: It is."), "{row}");
}

#[test]
fn a_daemon_killed_between_two_turns_loses_nothing_of_the_first() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.work();
    instance.kill9();
    talk.tell("UserPromptSubmit", &json!({"prompt": "and smaller"}));
    talk.tell("Stop", &json!({"last_assistant_message": "It is both."}));
    talk.tell("SessionEnd", &json!({"reason": "other"}));
    let load = load(&instance, talk.project.path());
    assert!(load.contains("Asked: make it faster (2 prompts)"), "{load}");
    assert!(load.contains("Said last: It is both."), "{load}");
}

#[test]
fn the_very_next_start_has_a_killed_agents_work() {
    let instance = Instance::new();
    let mut talk = Talk::new(&instance, "a");
    talk.work();
    talk.agent.kill().unwrap();
    talk.agent.wait().unwrap();
    let start = talk.of("b").tell("SessionStart", &json!({"source": "startup"}));
    assert!(start.contains("Kept from a session that ended without saving"), "{start}");
    assert!(start.contains("Said last: It is."), "{start}");
}

#[test]
fn the_very_next_start_has_an_ended_sessions_work() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.work();
    talk.tell("SessionEnd", &json!({"reason": "other"}));
    let start = talk.of("b").tell("SessionStart", &json!({"source": "startup"}));
    assert!(start.contains("Said last: It is."), "{start}");
}

#[test]
fn a_session_that_staged_something_leaves_its_last_message_too() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    let mut shim = talk.shim();
    shim.tool("memory_checkpoint", &write::checkpoint("Gross prices come from one place"));
    talk.tell("UserPromptSubmit", &json!({"prompt": "show gross prices"}));
    let said = "Net prices are still shown; that is open.";
    talk.tell("Stop", &json!({"last_assistant_message": said}));
    talk.tell("SessionEnd", &json!({"reason": "other"}));
    let load = load(&instance, talk.project.path());
    assert!(load.contains("Gross prices come from one place"), "{load}");
    assert!(load.contains("Staged 1 blueprint.") && load.contains(said), "{load}");
}

#[test]
fn a_session_that_continues_after_saving_leaves_both() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    talk.tell("UserPromptSubmit", &json!({"prompt": "show gross prices"}));
    let mut shim = talk.shim();
    shim.tool("memory_save", &json!({"session_summary": "Gross prices are shown."}));
    talk.tell("Stop", &json!({"last_assistant_message": "Saved."}));
    talk.tell("UserPromptSubmit", &json!({"prompt": "and net prices"}));
    let said = "Net prices need a tax table; that is open.";
    talk.tell("Stop", &json!({"last_assistant_message": said}));
    talk.tell("SessionEnd", &json!({"reason": "other"}));
    let load = load(&instance, talk.project.path());
    assert!(load.contains("Gross prices are shown.") && load.contains(said), "{load}");
    assert!(load.contains("(after its last save)"), "{load}");
}

#[test]
fn a_closing_message_about_the_save_does_not_change_the_saved_row() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    talk.tell("UserPromptSubmit", &json!({"prompt": "show gross prices"}));
    let mut shim = talk.shim();
    shim.tool("memory_save", &json!({"session_summary": "Gross prices are shown."}));
    talk.tell("Stop", &json!({"last_assistant_message": "It is all in memory now."}));
    talk.tell("SessionEnd", &json!({"reason": "other"}));
    let load = load(&instance, talk.project.path());
    assert!(load.contains("Gross prices are shown."), "{load}");
    assert!(!load.contains("It is all in memory now."), "{load}");
}

/// Nothing would mean that nothing is recorded.
#[test]
fn a_start_says_that_the_memory_cannot_be_read() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    let shell = Shell::new(&instance, talk.project.path());
    shell.done(&["note", "--key", "test.command", "cargo test --workspace"]);
    shell.done(&["stop"]);
    let projects = instance.home().join("data/projects");
    let away = instance.home().join("away");
    fs::rename(&projects, &away).unwrap();
    let startup = json!({ "source": "startup" });
    let unreadable = |said: &str| said.contains("cannot be shown") && said.contains("is missing");
    for source in ["startup", "resume", "compact"] {
        let said = talk.tell("SessionStart", &json!({ "source": source }));
        assert!(unreadable(&said), "{source}: {said}");
    }
    // A client without a start learns it at its first prompt, once.
    let other = talk.of("b");
    let prompt = json!({ "prompt": "run the tests" });
    let said = other.tell("UserPromptSubmit", &prompt);
    assert!(unreadable(&said), "{said}");
    assert_eq!(other.tell("UserPromptSubmit", &json!({ "prompt": "and the benches" })), "");
    assert_eq!(talk.tell("UserPromptSubmit", &prompt), "");
    let (_, doctor) = shell.said(&["doctor"]);
    assert!(doctor.contains("the last that failed: UserPromptSubmit"), "{doctor}");

    shell.done(&["stop"]);
    fs::rename(&away, &projects).unwrap();
    let said = talk.tell("SessionStart", &startup);
    assert!(said.contains("cargo test --workspace"), "{said}");
}

/// A disk that is not mounted is no empty memory, also where it keeps the daemon from starting.
#[test]
fn a_start_says_that_no_daemon_can_start() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    let shell = Shell::new(&instance, talk.project.path());
    shell.done(&["note", "ports are fixed"]);
    shell.done(&["stop"]);
    let (data, away) = (instance.home().join("data"), instance.home().join("away"));
    fs::rename(&data, &away).unwrap();
    let startup = json!({ "source": "startup" });
    let said = talk.tell("SessionStart", &startup);
    let event: Value = serde_json::from_str(&said).unwrap();
    let context = event["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("cannot be shown: anchord's daemon cannot be reached"), "{context}");
    assert!(context.contains("where this instance keeps its memory; restore it"), "{context}");
    assert_eq!(talk.tell("UserPromptSubmit", &json!({ "prompt": "open the port" })), "");
    assert_eq!(talk.tell("SessionEnd", &json!({ "reason": "other" })), "");
    // After an uninstall, no agent is to hear of it.
    fs::write(instance.home().join("removed"), "").unwrap();
    assert_eq!(talk.tell("SessionStart", &startup), "");
    fs::remove_file(instance.home().join("removed")).unwrap();
    fs::rename(&away, &data).unwrap();
    assert!(talk.tell("SessionStart", &startup).contains("ports are fixed"));
}

/// A daemon that stands still is no empty memory either.
#[test]
fn a_start_says_that_the_daemon_did_not_answer_in_time() {
    let instance = Instance::new();
    let daemon = instance.start_daemon();
    let talk = Talk::new(&instance, "a");
    process::signal(daemon, Signal::STOP);
    for source in ["startup", "resume", "clear", "compact"] {
        let said = talk.tell("SessionStart", &json!({ "source": source }));
        let event: Value = serde_json::from_str(&said).unwrap();
        let context = event["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.contains("could not be read in time"), "{source}: {context}");
        assert!(context.contains("Call memory_load"), "{source}: {context}");
    }
    assert_eq!(talk.tell("UserPromptSubmit", &json!({ "prompt": "open the port" })), "");
    process::signal(daemon, Signal::CONT);
}

#[test]
fn two_sessions_see_each_others_changes_at_their_next_prompt() {
    let instance = Instance::new();
    let talk = Talk::new(&instance, "a");
    talk.tell("SessionStart", &json!({"source": "startup"}));
    let mut other = Agent::start(&instance, talk.project.path());
    other.initialize();
    other.tool("memory_save", &write::save("Sockets, not ports"));
    let news = talk.tell("UserPromptSubmit", &json!({"prompt": "go on"}));
    assert!(news.contains("Sockets, not ports"), "{news}");
    let again = talk.tell("UserPromptSubmit", &json!({"prompt": "go on again"}));
    assert!(!again.contains("Sockets, not ports"), "{again}");
    // Checkpoints are private to their session.
    other.tool("memory_checkpoint", &write::checkpoint("Ports after all"));
    assert_eq!(talk.tell("UserPromptSubmit", &json!({"prompt": "well"})), "");
}

/// A conversation: the agent as a process, and its hooks.
struct Talk<'a> {
    instance: &'a Instance,
    project: Arc<Project>,
    session: &'a str,
    agent: Child,
}

impl<'a> Talk<'a> {
    fn new(instance: &'a Instance, session: &'a str) -> Self {
        let agent = Command::new("sleep").arg("600").spawn().unwrap();
        Self { instance, project: Arc::new(Project::git()), session, agent }
    }

    /// Starts a conversation of another agent in the same project.
    fn of(&self, session: &'a str) -> Self {
        let mut other = Self::new(self.instance, session);
        other.project = Arc::clone(&self.project);
        other
    }

    /// Sends an event and returns what the hook printed.
    fn tell(&self, name: &str, more: &Value) -> String {
        let mut event = json!({"hook_event_name": name, "session_id": self.session});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send(&event.to_string())
    }

    /// Sends a text in place of an event and returns what the hook printed.
    fn send(&self, event: &str) -> String {
        let mut hook = self.instance.command(&anchord_tests::binaries().anchord_hook);
        hook.arg("claude-code").current_dir(self.project.path());
        hook.env("CLAUDE_PID", self.agent.id().to_string());
        let output = run(hook, event);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts the shim of this conversation's agent.
    fn shim(&self) -> Agent {
        let mut shim = self.instance.shim(self.project.path());
        shim.env("CLAUDE_CODE_SESSION_ID", self.session);
        let mut shim = Agent::start_by(shim);
        shim.initialize();
        shim
    }

    /// Plays a first turn, in which no tool of ours is called.
    fn work(&self) {
        self.tell("SessionStart", &json!({"source": "startup"}));
        self.tell("UserPromptSubmit", &json!({"prompt": "make it faster"}));
        let file = self.project.path().join("src/lib.rs");
        let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": file}});
        self.tell("PostToolUse", &edit);
        self.tell("Stop", &json!({"last_assistant_message": "It is."}));
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        // The test may have killed it already.
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Returns the load of another session.
fn load(instance: &Instance, project: &Path) -> String {
    let mut agent = Agent::start(instance, project);
    agent.initialize();
    agent.tool("memory_load", &json!({}))
}

fn hook(instance: &Instance, event: &str) -> Output {
    let project = Project::plain();
    let mut hook = instance.command(&anchord_tests::binaries().anchord_hook);
    hook.arg("claude-code").current_dir(project.path());
    run(hook, event)
}

fn run(mut hook: Command, event: &str) -> Output {
    let start = Instant::now();
    let mut hook =
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The hook may leave without reading.
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
    assert!(said.is_empty(), "{said}");
}
