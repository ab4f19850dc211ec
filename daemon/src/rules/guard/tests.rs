//! Copies hold the rules that fail closed, and are found from below the project's root.

use anchord_memory::rules::Matches;

use super::*;

fn rule(command: &str, fail_closed: bool) -> Rule {
    Rule {
        id: command.replace(' ', "-"),
        title: command.to_owned(),
        reason: String::new(),
        effect: Effect::Deny,
        matches: Matches { commands: vec![command.to_owned()], ..Matches::default() },
        windows: Vec::new(),
        expires: None,
        fail_closed,
    }
}

#[tokio::test]
async fn a_copy_stops_what_fails_closed_and_logs_what_passes() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("demo");
    fs::create_dir_all(root.join("src")).unwrap();
    let directory = scratch.path().join("guard");
    let copies = Copies::new(directory.clone());
    let effect = |command: &str, cwd: &Path| {
        let action = Action { command: Some(command), ..Action::default() };
        guard(&directory, cwd, &action).unwrap().map(|guarded| guarded.verdict.effect)
    };
    assert_eq!(effect("git push", &root), None, "there is no copy");
    copies.keep(&root, &[rule("git push", true), rule("make deploy", false)]).await;
    assert_eq!(effect("git push", &root.join("src")), Some(Effect::Deny));
    assert_eq!(effect("make deploy", &root), Some(Effect::Allow), "it does not fail closed");
    assert_eq!(effect("git push", scratch.path()), None, "another directory");
    let results: Vec<_> = guard_log(&directory, &root)
        .unwrap()
        .iter()
        .map(|line| line["result"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(results, ["deny", "passed without the daemon"]);
    copies.keep(&root, &[rule("make deploy", false)]).await;
    assert_eq!(effect("git push", &root), None, "the copy is gone with its rules");
}
