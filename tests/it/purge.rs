//! Content that must be gone, with real processes: no file of the instance contains any of it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anchord_tests::{Agent, Instance, PATIENCE, Project, poll};
use serde_json::{Value, json};

fn run(command: &mut Command, arguments: &[&str], project: &Project) -> Output {
    command.args(arguments).arg("--project").arg(project.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    let (out, error) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(error))
}

#[test]
fn purged_text_is_gone_while_sessions_continue() {
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
    assert!(!instance.holding(planted).is_empty());

    let asked = run(&mut instance.anchord(), &["purge", "--query", planted], &project);
    assert_eq!(asked.status.code(), Some(2), "{}", text(&asked));
    assert!(!instance.holding(planted).is_empty(), "nobody said yes");

    let mut purge = instance.anchord();
    purge.args(["purge", "--query", "-", "--yes", "--project"]).arg(project.path());
    let mut purge = purge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    purge.stdin.take().unwrap().write_all(planted.as_bytes()).unwrap();
    let done = purge.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert!(text(&done).contains("purged as revision"), "{}", text(&done));
    assert_eq!(instance.holding(planted), Vec::<PathBuf>::new(), "while the daemon runs");
    let history = text(&run(&mut instance.anchord(), &["history"], &project));
    assert!(history.contains("  a purge of l1, n3\n"), "{history}");

    assert!(agent.tool("memory_get", &json!({ "key": "kept" })).contains("a note that stays"));
    agent.tool("memory_note", &json!({ "content": "and one more" }));
    let verified = run(&mut instance.anchord(), &["journal", "verify"], &project);
    assert!(verified.status.success(), "{}", text(&verified));
    drop(agent);
    let stopped = instance.anchord().arg("stop").output().unwrap();
    assert!(stopped.status.success(), "{}", text(&stopped));
    assert_eq!(instance.holding(planted), Vec::<PathBuf>::new(), "after the daemon");
    let verified = run(&mut instance.anchord(), &["journal", "verify"], &project);
    assert!(verified.status.success(), "{}", text(&verified));
}

/// A key or a certificate has several lines. Its first line may also be in much text that is not
/// secret.
#[test]
fn a_text_of_several_lines_is_purged_by_all_of_them() {
    let secret = "apiVersion: v1\nkind: Secret\nvalue: open-barley";
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": secret, "key": "secret" }));
    let other = "the deployment says apiVersion: v1 as all do";
    agent.tool("memory_note", &json!({ "content": other, "key": "kept" }));
    let purge = |given: Vec<u8>| {
        let mut purge = instance.anchord();
        purge.args(["purge", "--query", "-", "--yes", "--project"]).arg(project.path());
        let pipes = purge.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut purge = pipes.spawn().unwrap();
        // A command that has read enough of its input closes it.
        let _ = purge.stdin.take().unwrap().write_all(&given);
        let done = purge.wait_with_output().unwrap();
        (done.status.code(), text(&done))
    };
    let (code, told) = purge(vec![b'x'; 2 << 20]);
    assert!(code == Some(2) && told.contains("1048576 bytes"), "{code:?} {told}");
    let (code, told) = purge(b"\n".to_vec());
    assert!(code == Some(2) && told.contains("nothing to purge"), "{code:?} {told}");
    let (code, told) = purge(format!("{secret}\n").into_bytes());
    assert!(code == Some(0) && told.contains("purged as revision"), "{code:?} {told}");
    assert!(agent.tool("memory_get", &json!({ "key": "kept" })).contains(other), "{told}");
    assert_eq!(instance.holding("open-barley"), Vec::<PathBuf>::new());
}

/// For a purge by id, only the record itself tells what to look for.
#[test]
fn a_record_purged_by_id_is_gone_from_replies_and_earlier_turns() {
    let instance = Instance::new();
    let project = Project::git();
    let mut shim = instance.shim(project.path());
    shim.args(["--tools", "all"]);
    let mut agent = Agent::start_by(shim);
    agent.initialize();
    // A compaction quotes the note with its white space folded, and does not change it.
    let content = format!("\tthe  planted words{}", " and more of them".repeat(60));
    agent.tool("memory_note", &json!({ "content": content, "key": "long" }));
    agent.tool("memory_note", &json!({ "content": "4711-x", "key": "short" }));
    agent.tool("memory_note", &json!({ "content": "a note that stays", "key": "kept" }));
    let compacted = agent.tool("memory_compact", &json!({}));
    assert!(compacted.contains("the planted words"), "{compacted}");

    let mut talk = Command::new("sleep").arg("600").spawn().unwrap();
    let tell = |name: &str, more: &Value| {
        let mut event = json!({ "hook_event_name": name, "session_id": "a" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut hook = instance.command(&anchord_tests::binaries().anchord_hook);
        hook.arg("claude-code")
            .current_dir(project.path())
            .env("CLAUDE_PID", talk.id().to_string());
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
    };
    tell("SessionStart", &json!({ "source": "startup" }));
    tell("UserPromptSubmit", &json!({ "prompt": "set up the vault" }));
    let run_it = json!({ "command": "make open-sesame" });
    tell("PostToolUse", &json!({ "tool_name": "Bash", "tool_input": run_it, "tool_response": {} }));
    tell("Stop", &json!({ "last_assistant_message": "The login is swordfish." }));
    tell("UserPromptSubmit", &json!({ "prompt": "go to treasure island" }));
    tell("Stop", &json!({ "last_assistant_message": "I am there." }));
    tell("SessionEnd", &json!({ "reason": "other" }));
    talk.kill().unwrap();
    talk.wait().unwrap();
    let sessions = agent.tool("memory_list", &json!({ "kinds": ["session"] }));
    let row = sessions
        .split_whitespace()
        .find(|word| word.strip_prefix('s').is_some_and(|number| number.parse::<u64>().is_ok()));
    let row = row.unwrap_or_else(|| panic!("{sessions}"));
    let told = agent.tool("memory_get", &json!({ "id": row }));
    assert!(told.contains("I am there.") && !told.contains("swordfish"), "{told}");

    let planted =
        ["planted words", "4711-x", "swordfish", "open-sesame", "the vault", "treasure island"];
    for value in planted {
        assert!(!instance.holding(value).is_empty() || value == "treasure island", "{value}");
    }
    let done = run(&mut instance.anchord(), &["purge", "long", "short", row, "--yes"], &project);
    assert!(done.status.success(), "{}", text(&done));
    for value in planted {
        assert_eq!(instance.holding(value), Vec::<PathBuf>::new(), "{value}");
    }
    assert!(agent.tool("memory_get", &json!({ "key": "kept" })).contains("a note that stays"));
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
    assert!(said.contains("A secret was taken out of the input (GitHub token)"), "{said}");
    agent.tool("memory_save", &json!({ "session_summary": format!("used {secret}") }));
    let scan = run(&mut instance.anchord(), &["secrets", "scan"], &project);
    assert!(scan.status.success() && text(&scan).contains("no secrets in"), "{}", text(&scan));
    assert_eq!(instance.holding(&secret), Vec::<PathBuf>::new());
}

/// A copy of a rule is written anew after the purge. A daemon that dies between the two leaves it.
#[test]
fn the_next_daemon_forgets_the_copy_of_a_purged_rule() {
    let planted = "no pushes by hand to the vault";
    let instance = Instance::new();
    let project = Project::git();
    let rule = ["rules", "add", planted, "--deny", "--fail-closed", "--reason", "never"];
    let rule = [&rule[..], &["--command", "git push"]].concat();
    let added = run(&mut instance.anchord(), &rule, &project);
    assert!(added.status.success(), "{}", text(&added));
    let copies = instance.home().join("guard");
    let holding = instance.holding(planted);
    let copy = holding.iter().find(|path| path.starts_with(&copies)).expect("hooks have a copy");
    let journal = holding.iter().find(|path| path.iter().any(|part| part == "journal"));
    let journal = journal.expect("the rule is stored").clone();
    let written = std::fs::read(copy).unwrap();

    let done = run(&mut instance.anchord(), &["purge", "r1", "--yes"], &project);
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!(instance.holding(planted), Vec::<PathBuf>::new());
    // As a daemon leaves it that dies in between.
    instance.kill9();
    std::fs::write(copy, written).unwrap();
    let directory = journal.ancestors().find(|path| path.ends_with("journal")).unwrap();
    let note = directory.with_file_name("purged.json");
    std::fs::write(&note, r#"{"ids":["r1"]}"#).unwrap();
    instance.start_daemon();
    poll(PATIENCE, "nothing has the text", || instance.holding(planted).is_empty().then_some(()));
    poll(PATIENCE, "nothing is left to be done", || (!note.exists()).then_some(()));
}
