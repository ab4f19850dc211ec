//! Set-up as a user runs it: real programs in the test's own home, and a daemon that they start.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchord_tests::{Project, Signal, binaries, process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with two agents in it, and anchord installed. Dropping it stops the daemon.
struct Machine {
    root: TempDir,
}

const CODEX: &str = "# mine\nmodel = \"x\"   # odd\n";
const GEMINI: &str = "{\n   // mine\n   \"mcpServers\": {}\n}";

impl Machine {
    fn new() -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap() };
        let programs = binaries();
        for folder in ["bin", "home/.codex", "home/.gemini"] {
            fs::create_dir_all(machine.root.path().join(folder)).unwrap();
        }
        for program in [&programs.anchord, &programs.anchord_mcp, &programs.anchord_hook] {
            let installed = machine.root.path().join("bin").join(program.file_name().unwrap());
            fs::copy(program, installed).unwrap();
        }
        fs::write(machine.home().join(".codex/config.toml"), CODEX).unwrap();
        fs::write(machine.home().join(".gemini/settings.json"), GEMINI).unwrap();
        machine
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("ANCHORD_HTTP", "off")
            .current_dir(self.home())
            .stdin(Stdio::null());
        command
    }

    /// Runs `anchord` in a folder. Returns the exit code and everything that it printed.
    fn said(&self, arguments: &[&str], folder: &Path) -> (i32, String) {
        let mut command = self.command(&self.root.path().join("bin/anchord"));
        let output = command.args(arguments).current_dir(folder).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }

    /// Returns the agents' files.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let folders = [".codex", ".gemini"].map(|folder| self.home().join(folder));
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
            .collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.command(&self.root.path().join("bin/anchord")).arg("stop").output();
    }
}

#[test]
fn set_up_asks_writes_checks_and_can_be_undone() {
    let (machine, project) = (Machine::new(), Project::git());
    let home = machine.home();
    let before = machine.files();
    let (code, text) = machine.said(&["setup"], &home);
    assert!(
        code == 2 && text.contains("+ mcp_servers.anchord: ") && text.contains("--yes"),
        "{text}"
    );
    let (code, text) = machine.said(&["setup", "--dry-run"], &home);
    assert!(code == 0 && text.contains("dry run"), "{text}");
    let (_, text) = machine.said(&["setup", "--scope", "project", "--dry-run"], project.path());
    assert!(!text.contains("already"), "{text}");
    assert_eq!(machine.files(), before, "nothing was written so far");
    let (code, text) = machine.said(&["init", "--dry-run"], project.path());
    assert!(code == 0 && text.contains("anchord setup"), "{text}");

    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "{text}");
    for agent in ["Codex", "Gemini CLI"] {
        assert!(text.contains(&format!("✓ {agent}: the server answers")), "{text}");
    }
    assert!(text.contains("type /hooks"), "what is left to the person: {text}");
    let manifest = home.join(".local/state/anchord/setup.json");
    let written = || (machine.files(), fs::metadata(&manifest).unwrap().modified().unwrap());
    let set_up = written();
    let (code, text) = machine.said(&["setup"], &home);
    assert!(code == 0 && text.contains("Already set up"), "nothing is asked: {text}");
    assert_eq!(written(), set_up, "nothing is written");
    let twice = "! for all your projects already: Codex, Gemini CLI.";
    let (code, text) = machine.said(&["setup", "--scope", "project", "--dry-run"], project.path());
    assert!(code == 0 && text.contains(twice), "{text}");
    machine.said(&["init"], project.path());
    for name in ["AGENTS.md", "GEMINI.md"] {
        let directive = fs::read_to_string(project.path().join(name)).unwrap();
        assert!(!directive.contains("- Load:"), "hooks load: {directive}");
    }
    assert!(!project.path().join("CLAUDE.md").exists(), "Claude Code is not set up");

    let (code, text) = machine.said(&["doctor", "--json"], &home);
    let findings: Vec<Value> = serde_json::from_str(&text).unwrap();
    let problems: Vec<&Value> =
        findings.iter().filter(|finding| finding["severity"] == "problem").collect();
    assert_eq!((code, problems.len()), (1, 1), "Codex wants trust, all else is well: {text}");
    assert!(problems[0]["what"].as_str().unwrap().contains("trust"), "{text}");

    let (code, text) = machine.said(&["setup", "--remove", "--yes"], &home);
    assert_eq!((code, machine.files()), (0, before), "{text}");
    assert!(!manifest.exists());
}

/// Codex trusts hooks by their text. Repaired hooks do not run until they are trusted again.
#[test]
fn doctor_says_that_repaired_codex_hooks_need_trust() {
    let machine = Machine::new();
    let home = fs::canonicalize(machine.home()).unwrap();
    machine.said(&["setup", "codex", "--yes"], &home);
    let (hooks, config) = (home.join(".codex/hooks.json"), home.join(".codex/config.toml"));
    let set_up = fs::read_to_string(&hooks).unwrap();
    let trusted = [
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "pre_compact",
        "post_compact",
        "stop",
        "subagent_start",
        "subagent_stop",
        "session_end",
    ]
    .map(|event| {
        let key = format!("{}:{event}:0:0", hooks.display());
        format!("\n[hooks.state.\"{key}\"]\ntrusted_hash = \"x\"\n")
    });
    let trust = fs::read_to_string(&config).unwrap() + &trusted.concat();
    fs::write(&config, trust).unwrap();
    let (code, text) = machine.said(&["doctor"], &home);
    assert!(!text.contains("/hooks"), "they are trusted: {code} {text}");

    let mut older: Value = serde_json::from_str(&set_up).unwrap();
    older["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 1.into();
    let mut fewer: Value = serde_json::from_str(&set_up).unwrap();
    fewer["hooks"].as_object_mut().unwrap().remove("Stop");
    for wrong in [older, fewer] {
        fs::write(&hooks, wrong.to_string()).unwrap();
        let (code, text) = machine.said(&["doctor", "--fix"], &home);
        assert!(
            code == 0 && text.contains("set up again. ") && text.contains("type /hooks"),
            "{text}"
        );
        let (code, text) = machine.said(&["doctor", "--fix"], &home);
        assert!(code == 0 && !text.contains("set up again"), "all is well: {text}");
    }
    let (code, text) = machine.said(&["setup", "--remove", "--yes"], &home);
    assert!(code == 0 && !hooks.exists(), "{text}");
    assert!(text.contains("Codex: your trust in hooks of "), "what the person did stays: {text}");
}

#[test]
fn uninstall_removes_only_the_units_of_the_users_own_instance() {
    let machine = Machine::new();
    let unit = machine.home().join(if cfg!(target_os = "macos") {
        "Library/LaunchAgents/dev.anchord.daemon.plist"
    } else {
        ".config/systemd/user/anchord.socket"
    });
    fs::create_dir_all(unit.parent().unwrap()).unwrap();
    fs::write(&unit, "").unwrap();
    let bin = machine.root.path().join("bin");
    let uninstall = |named: Option<PathBuf>| {
        let mut command = machine.command(&bin.join("anchord"));
        // This PATH hides the machine's service manager.
        command.args(["uninstall", "--yes"]).env("PATH", &bin);
        let output = command.envs(named.map(|named| ("ANCHORD_HOME", named))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = uninstall(Some(machine.root.path().join("another")));
    assert!(unit.exists() && !text.contains("This goes"), "{text}");
    let text = uninstall(None);
    assert!(!unit.exists() && text.contains(unit.file_name().unwrap().to_str().unwrap()), "{text}");
}

/// Agents that still name the shim, and shims that still run, must not undo a removal.
#[test]
fn nothing_starts_the_daemon_after_a_removal() {
    let machine = Machine::new();
    let home = machine.home();
    let before = machine.files();
    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "{text}");
    assert_ne!(machine.files(), before);

    machine.said(&["note", "--user", "kept through a removal"], &home);

    let (code, text) = machine.said(&["uninstall", "--yes"], &home);
    assert!(code == 0 && text.contains("taken back"), "{text}");
    assert_eq!(machine.files(), before, "what set-up wrote is gone, to the byte");
    let (code, text) = machine.said(&["load"], &home);
    let removed = "anchord was removed from this machine; `anchord setup` brings it back";
    assert!(code == 3 && text.contains(removed), "{text}");
    let mut server = machine.command(&machine.root.path().join("bin/anchord-mcp"));
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    }});
    writeln!(server.stdin.as_mut().unwrap(), "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains(removed), "{answer}");
    drop(server.stdin.take());
    server.wait().unwrap();
    for command in ["status", "doctor"] {
        let (_, text) = machine.said(&[command], &home);
        assert!(text.contains(removed) && !text.contains("first agent"), "{command}: {text}");
    }
    let (code, text) = machine.said(&["status"], &home);
    assert_eq!(code, 3, "no daemon runs: {text}");

    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "and it comes back when a person wants it: {text}");
    let (_, text) = machine.said(&["list", "--user"], &home);
    assert!(text.contains("kept through a removal"), "with the memory that was left: {text}");
}

#[test]
fn a_stopped_daemon_is_reported_once_for_all_agents_and_soon() {
    let machine = Machine::new();
    let home = machine.home();
    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "{text}");
    let (_, status) = machine.said(&["status", "--json"], &home);
    let status: Value = serde_json::from_str(&status).unwrap();
    let daemon = u32::try_from(status["pid"].as_u64().unwrap()).unwrap();
    process::signal(daemon, Signal::STOP);
    let said = |arguments: &[&str]| {
        let begin = Instant::now();
        let said = machine.said(arguments, &home);
        (said, begin.elapsed())
    };
    let set_up = said(&["setup", "--yes"]);
    let examined = said(&["doctor", "--fix"]);
    process::signal(daemon, Signal::CONT);
    let stopped = format!("the daemon (pid {daemon}) does not answer: it is stopped");
    for ((_, text), _) in [&set_up, &examined] {
        assert_eq!(text.matches(&stopped).count(), 1, "{text}");
        assert!(text.contains(&format!("`kill -CONT {daemon}`")), "{text}");
        assert!(!text.contains("-32050"), "{text}");
    }
    // Two waits take longer than this.
    for ((_, text), took) in [&set_up, &examined] {
        assert!(*took < Duration::from_millis(2_900), "{took:?}: {text}");
    }
    assert_eq!((set_up.0.0, examined.0.0), (3, 1));
}

/// One agent's file that cannot be read concerns that agent alone.
#[test]
fn a_broken_file_of_one_agent_stops_neither_set_up_nor_removal_of_the_others() {
    let machine = Machine::new();
    let home = machine.home();
    let before = machine.files();
    let gemini = home.join(".gemini/settings.json");
    let broken = "{\"mcpServers\": {\"anchord\": ]";
    let codex = || fs::read_to_string(home.join(".codex/config.toml")).unwrap();
    fs::write(&gemini, broken).unwrap();
    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert!(code == 1 && text.contains("error: cannot set up Gemini CLI"), "{text}");
    assert!(text.contains(".gemini/settings.json") && text.contains("✓ Codex"), "{text}");
    assert!(codex().contains("anchord"), "{text}");

    fs::write(&gemini, GEMINI).unwrap();
    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "{text}");
    let set_up = fs::read_to_string(&gemini).unwrap();
    for remove in [&["setup", "--remove", "--yes"][..], &["uninstall", "--yes"]] {
        machine.said(&["setup", "codex", "--yes"], &home);
        fs::write(&gemini, broken).unwrap();
        let (code, text) = machine.said(remove, &home);
        assert!(
            code == 1 && text.contains("error: cannot take anchord out of Gemini CLI"),
            "{text}"
        );
        assert!(text.contains("by hand: `mcpServers.anchord`, each hook"), "{text}");
        assert!(!text.contains("set up without"), "{text}");
        assert_eq!(codex(), CODEX, "{text}");
        fs::write(&gemini, &set_up).unwrap();
    }
    let (code, text) = machine.said(&["status"], &home);
    assert_eq!(code, 3, "uninstall has gone on, and stopped the daemon: {text}");
    let (code, text) = machine.said(&["setup", "--remove", "--yes"], &home);
    assert_eq!((code, machine.files()), (0, before), "{text}");
}

/// A file that nobody can read has one cause and one remedy, which only a person has.
#[test]
fn doctor_names_a_broken_file_once_and_promises_no_repair() {
    let machine = Machine::new();
    let home = machine.home();
    let (code, text) = machine.said(&["setup", "--yes"], &home);
    assert_eq!(code, 0, "{text}");
    fs::write(home.join(".codex/config.toml"), "x = [").unwrap();
    fs::write(home.join(".gemini/settings.json"), "{\"mcpServers\": {\"anchord\": ]").unwrap();
    for command in [&["doctor"][..], &["doctor", "--fix"]] {
        let (code, text) = machine.said(command, &home);
        assert_eq!(code, 1, "{text}");
        for broken in [
            "✗ Codex: ~/.codex/config.toml cannot be read: ",
            "✗ Gemini CLI: ~/.gemini/settings.json cannot be read: ",
        ] {
            assert!(text.contains(broken), "{text}");
        }
        assert!(text.contains("\n2 problems, ") && text.matches('✗').count() == 2, "{text}");
        for unwanted in ["no server is registered", "anchord setup", "--fix"] {
            assert!(!text.contains(unwanted), "{unwanted}: {text}");
        }
    }
}

#[test]
fn a_program_in_a_build_folder_is_not_set_up() {
    let machine = Machine::new();
    let built = machine.root.path().join("target/debug");
    fs::create_dir_all(&built).unwrap();
    fs::copy(machine.root.path().join("bin/anchord"), built.join("anchord")).unwrap();
    let output = machine.command(&built.join("anchord")).args(["setup", "--yes"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cargo install --path cli"), "{text}");
}
