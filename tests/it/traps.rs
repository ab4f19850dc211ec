//! Planted traps: a hostile repository and hostile arguments get nothing run, read or blocked.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use anchord_tests::{Agent, Instance, Project, write};
use rustix::fs::{CWD, Mode};
use serde_json::json;

/// A repository whose configuration makes git run a program that leaves a trace, wherever git
/// allows it.
struct Hostile {
    project: Project,
    trace: tempfile::TempDir,
}

impl Hostile {
    fn new() -> Self {
        let project = Project::git();
        let trace = tempfile::tempdir().unwrap();
        let program = project.write(
            "trap.sh",
            &format!("#!/bin/sh\necho \"$0 $*\" >> {}/trace\ncat\n", trace.path().display()),
        );
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        let program = program.display().to_string();
        project.write(".gitattributes", "* filter=trap diff=trap\n");
        project.run_git(&["add", "."]);
        project.run_git(&["commit", "--quiet", "-m", "trap"]);
        for key in [
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "diff.external",
            "diff.trap.textconv",
            "diff.trap.command",
            "filter.trap.clean",
            "filter.trap.smudge",
            "filter.trap.process",
        ] {
            project.run_git(&["config", key, &program]);
        }
        let hooks = project.path().join(".git/hooks");
        for hook in ["post-index-change", "post-checkout", "reference-transaction"] {
            symlink(&program, hooks.join(hook)).unwrap();
        }
        project.write("src/lib.rs", "pub fn answer() -> u32 {\n    43\n}\n");
        Self { project, trace }
    }

    fn sprung(&self) -> Option<String> {
        std::fs::read_to_string(self.trace.path().join("trace")).ok()
    }
}

#[test]
fn a_plain_git_status_triggers_the_trap() {
    let hostile = Hostile::new();
    Command::new("git")
        .arg("status")
        .current_dir(hostile.project.path())
        .env("HOME", hostile.trace.path())
        .output()
        .unwrap();
    assert!(hostile.sprung().is_some());
}

#[test]
fn git_runs_nothing_for_a_hostile_repository() {
    let hostile = Hostile::new();
    let instance = Instance::new();
    let project = hostile.project.path();
    let mut agent = Agent::open(&instance, project);
    let anchor = json!({"file": "src/lib.rs", "lines": "1-3", "concept": "the answer"});
    agent.tool("memory_checkpoint", &json!({"summary": "before", "anchors": [anchor]}));
    agent.tool("memory_save", &write::save("in a hostile place"));
    agent.tool("memory_checkpoint", &write::checkpoint("staged in a hostile place"));
    hostile.project.write("src/lib.rs", "// changed after the checkpoint\n");
    agent.kill9();
    instance.kill9();
    // After a death, the load asks which files changed.
    let mut next = Agent::open(&instance, project);
    next.tool("memory_load", &json!({}));
    next.tool("memory_status", &json!({}));
    let output = instance.anchord().arg("status").current_dir(project).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(hostile.sprung(), None);
}

#[test]
fn fifos_and_links_out_of_the_project_are_not_read() {
    let instance = Instance::new();
    let project = Project::git();
    let outside = Project::plain();
    let secret = outside.write("secret.txt", "TOP-SECRET-CONTENT\n");
    symlink(&secret, project.path().join("link.txt")).unwrap();
    symlink(outside.path(), project.path().join("folder")).unwrap();
    rustix::fs::mkfifoat(CWD, project.path().join("fifo"), Mode::from_raw_mode(0o600)).unwrap();

    let mut agent = Agent::open(&instance, project.path());
    for file in ["link.txt", "folder/secret.txt", "../secret.txt", "fifo", ".git/config"] {
        let anchor = json!({"file": file, "lines": "1", "concept": format!("trap {file}")});
        // Accepted as text or refused, but never followed and never waited for.
        agent.call("memory_checkpoint", &json!({"summary": file, "anchors": [anchor]})).unwrap();
    }
    let absolute = json!({"file": secret.display().to_string(), "lines": "1", "concept": "out"});
    agent
        .call("memory_checkpoint", &json!({"summary": "absolute", "anchors": [absolute]}))
        .unwrap();
    agent.tool("memory_save", &json!({"session_summary": "traps"}));
    let text = agent.tool("memory_load", &json!({}));
    assert!(!text.contains("TOP-SECRET-CONTENT"), "{text}");
    assert_eq!(instance.entries_with("checkpoint", "TOP-SECRET-CONTENT"), 0);
    assert_eq!(instance.entries_with("save", "TOP-SECRET-CONTENT"), 0);
}

#[test]
fn another_project_cannot_be_named_in_a_call() {
    let instance = Instance::new();
    let (own, other) = (Project::git(), Project::git());
    let mut neighbour = Agent::open(&instance, other.path());
    neighbour.tool("memory_save", &write::save("the neighbour's own"));

    let mut command = instance.shim(own.path());
    command.args(["--tools", "zipmem"]);
    let mut agent = Agent::start_by(command);
    agent.initialize();
    let load = |directory: &str| json!({"project_dir": directory});
    agent.tool("zipmem_load_memory", &load(&own.path().display().to_string()));
    for elsewhere in [other.path().display().to_string(), "/".into(), "../..".into()] {
        let reply = agent.call("zipmem_load_memory", &load(&elsewhere)).unwrap();
        assert!(reply.is_error, "{elsewhere}: {}", reply.text);
        assert!(!reply.text.contains("the neighbour's own"), "{}", reply.text);
    }
}
