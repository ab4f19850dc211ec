//! What must not stay, with real processes: nothing of it is in any file of the instance.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anchord_tests::{Agent, Instance, Project, walk};
use serde_json::json;

/// The files of an instance whose bytes hold a value.
fn holding(instance: &Instance, value: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(&instance.home(), &mut |path| {
        // A socket, or a file that goes while it is looked for.
        let Ok(bytes) = fs::read(path) else { return };
        if bytes.windows(value.len()).any(|part| part == value.as_bytes()) {
            found.push(path.to_owned());
        }
    });
    found
}

fn run(command: &mut Command, arguments: &[&str], project: &Project) -> Output {
    command.args(arguments).arg("--project").arg(project.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    let (out, error) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(error))
}

#[test]
fn what_is_purged_is_gone_while_sessions_go_on() {
    let planted = "a value that nobody should have written";
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    let staged = json!({
        "summary": format!("staged {planted}"),
        "lessons": [{ "summary": "about locks", "detail": planted }],
    });
    agent.tool("memory_checkpoint", &staged);
    agent.tool("memory_save", &json!({ "session_summary": "saved it" }));
    agent.tool("memory_note", &json!({ "content": planted, "key": "planted" }));
    agent.tool("memory_note", &json!({ "content": "a note that stays", "key": "kept" }));
    assert!(!holding(&instance, planted).is_empty());

    let asked = run(&mut instance.anchord(), &["purge", "--query", planted], &project);
    assert_eq!(asked.status.code(), Some(2), "{}", text(&asked));
    assert!(!holding(&instance, planted).is_empty(), "nobody said yes");

    let mut purge = instance.anchord();
    purge.args(["purge", "--query", "-", "--yes", "--project"]).arg(project.path());
    let mut purge = purge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    purge.stdin.take().unwrap().write_all(planted.as_bytes()).unwrap();
    let done = purge.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert!(text(&done).contains("purged as revision"), "{}", text(&done));
    assert_eq!(holding(&instance, planted), Vec::<PathBuf>::new(), "while the daemon runs");

    assert!(agent.tool("memory_get", &json!({ "key": "kept" })).contains("a note that stays"));
    agent.tool("memory_note", &json!({ "content": "and one more" }));
    let verified = run(&mut instance.anchord(), &["journal", "verify"], &project);
    assert!(verified.status.success(), "{}", text(&verified));
    drop(agent);
    let stopped = instance.anchord().arg("stop").output().unwrap();
    assert!(stopped.status.success(), "{}", text(&stopped));
    assert_eq!(holding(&instance, planted), Vec::<PathBuf>::new(), "after the daemon");
    let verified = run(&mut instance.anchord(), &["journal", "verify"], &project);
    assert!(verified.status.success(), "{}", text(&verified));
}

#[test]
fn a_secret_is_stored_nowhere_and_a_scan_finds_none() {
    let secret = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    let said = agent.tool("memory_note", &json!({ "content": format!("deploy with {secret}") }));
    assert!(said.contains("A secret was taken out (GitHub token)"), "{said}");
    agent.tool("memory_save", &json!({ "session_summary": format!("used {secret}") }));
    let scan = run(&mut instance.anchord(), &["secrets", "scan"], &project);
    assert!(scan.status.success() && text(&scan).contains("no secrets in"), "{}", text(&scan));
    assert_eq!(holding(&instance, &secret), Vec::<PathBuf>::new());
}
