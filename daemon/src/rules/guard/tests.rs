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

/// Returns a project's root, and the copies, which have that of a rule about `git push`.
async fn with_copy() -> (tempfile::TempDir, PathBuf, Copies) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let copies = Copies::new(scratch.path().join("guard"));
    copies.keep(&root, None, &[rule("git push", true)]).await.unwrap();
    (scratch, root, copies)
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
        let guarded = guard(&directory, cwd, &action)?;
        log_guarded(&directory, &action, &guarded, WithoutDaemon::NoAnswer).unwrap();
        Some(guarded.verdict.effect)
    };
    assert_eq!(effect("git push", &root), None, "there is no copy");
    let rules = [rule("git push", true), rule("make deploy", false)];
    copies.keep(&root, None, &rules).await.unwrap();
    assert_eq!(effect("git push", &root.join("src")), Some(Effect::Deny));
    assert_eq!(effect("make deploy", &root), Some(Effect::Allow), "it does not fail closed");
    assert_eq!(effect("git push", scratch.path()), None, "another directory");
    let log = copies.logs().join(LOG);
    fs::write(&log, [fs::read(&log).unwrap(), b"{\"root\":\"\xc3".to_vec()].concat()).unwrap();
    let results: Vec<_> = guard_log(&directory, &root)
        .unwrap()
        .iter()
        .map(|line| line["result"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(results, ["deny", "passed without the daemon"], "all but a torn line");
    copies.keep(&root, None, &[rule("make deploy", false)]).await.unwrap();
    assert_eq!(effect("git push", &root), None, "the copy is gone with its rules");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_rules_that_change_at_once_are_written_one_after_the_other() {
    let (_scratch, root, copies) = with_copy().await;
    let rules: Vec<Rule> = (0..32).map(|number| rule(&format!("step {number}"), true)).collect();
    let keeping = rules.iter().map(|rule| copies.keep(&root, None, std::slice::from_ref(rule)));
    futures::future::join_all(keeping).await;
    let there = FileDigest::of(&fs::read(path(&copies.directory, &root)).unwrap());
    assert_eq!(copies.written.lock().get(&root), Some(&Some(there)), "the last one is there");
}

#[tokio::test]
async fn a_copy_that_cannot_be_read_lets_nothing_pass() {
    let (_scratch, root, copies) = with_copy().await;
    let directory = copies.directory.clone();
    let action = Action { command: Some("ls"), ..Action::default() };
    let effect = || guard(&directory, &root, &action).map(|guarded| guarded.verdict.effect);
    assert_eq!(effect(), Some(Effect::Allow));
    fs::write(path(&directory, &root), "{").unwrap();
    assert_eq!(effect(), Some(Effect::Ask), "it is damaged");
    fs::remove_file(path(&directory, &root)).unwrap();
    fs::create_dir(path(&directory, &root)).unwrap();
    assert_eq!(effect(), Some(Effect::Ask), "reading it fails");
}

#[tokio::test]
async fn the_log_has_no_secrets_and_no_copies_beside_it() {
    let (_scratch, root, copies) = with_copy().await;
    let directory = copies.directory.clone();
    let command = "git push https://ada:tr0ub4dor-and-3@example.org/shop";
    let action = Action { command: Some(command), ..Action::default() };
    let guarded = guard(&directory, &root, &action).unwrap();
    log_guarded(&directory, &action, &guarded, WithoutDaemon::NoAnswer).unwrap();
    let line = guard_log(&directory, &root).unwrap().remove(0);
    assert_eq!(line["result"], "deny");
    let command = line["command"].as_str().unwrap();
    assert!(command.starts_with("git push"), "{command}");
    assert!(!command.contains("tr0ub4dor"), "{command}");
    // A purge redacts what is in this directory. It must not change a rule.
    assert!(!path(&directory, &root).starts_with(copies.logs()));
}

#[tokio::test]
async fn the_log_names_each_file_once_and_relative_to_the_root() {
    let (_scratch, root, copies) = with_copy().await;
    let [written, read] =
        ["src/a.rs", "src/b.rs"].map(|file| root.join(file).to_str().unwrap().to_owned());
    let paths = [read, written.clone(), written.clone(), "/etc/hosts".to_owned()];
    let action = Action { paths: &paths, writes: &[written], ..Action::default() };
    let guarded = guard(&copies.directory, &root, &action).unwrap();
    log_guarded(&copies.directory, &action, &guarded, WithoutDaemon::NoAnswer).unwrap();
    let line = guard_log(&copies.directory, &root).unwrap().remove(0);
    assert_eq!(line["paths"], serde_json::json!(["src/a.rs", "src/b.rs", "/etc/hosts"]));
}

/// The filter for secrets takes time for each byte, and no rule reads so long a command.
#[tokio::test]
async fn a_long_command_is_cut_in_the_log() {
    let (_scratch, root, copies) = with_copy().await;
    let command = format!("git push && echo {}", "é".repeat(1 << 20));
    let action = Action { command: Some(&command), ..Action::default() };
    let guarded = guard(&copies.directory, &root, &action).unwrap();
    assert_eq!(guarded.verdict.effect, Effect::Ask, "it cannot be read");
    log_guarded(&copies.directory, &action, &guarded, WithoutDaemon::TooLong).unwrap();
    let line = guard_log(&copies.directory, &root).unwrap().remove(0);
    let logged = line["command"].as_str().unwrap();
    assert!(logged.starts_with("git push") && logged.ends_with('…'));
    assert!(logged.len() <= GUARD_LOG_COMMAND_BYTES_MAX + '…'.len_utf8());
    assert_eq!(line["checked"], "too long for the daemon");
}

#[tokio::test]
async fn a_call_that_could_not_be_checked_asks_where_rules_fail_closed() {
    let (scratch, root, copies) = with_copy().await;
    let guarded = guard_unchecked(&copies.directory, &root, "it is torn").unwrap();
    assert_eq!(guarded.verdict.effect, Effect::Ask);
    assert_eq!(guarded.verdict.deciding[0].reason, "it is torn");
    let action = Action { tool: Some("Bash"), ..Action::default() };
    log_guarded(&copies.directory, &action, &guarded, WithoutDaemon::NoAnswer).unwrap();
    let line = guard_log(&copies.directory, &root).unwrap().remove(0);
    assert_eq!(line["checked"], "could not be checked: it is torn");
    assert_eq!((&line["result"], &line["rules"]), (&"ask".into(), &serde_json::json!([])));
    let elsewhere = scratch.path().parent().unwrap();
    assert!(guard_unchecked(&copies.directory, elsewhere, "it is torn").is_none());
}

#[tokio::test]
async fn a_purge_leaves_its_text_in_no_copy_wherever_the_project_is() {
    let (scratch, other, copies) = with_copy().await;
    let memory = ProjectId(uuid::Uuid::from_u128(1));
    // A worktree that was removed.
    let gone = scratch.path().join("gone");
    let of_file = Rule { id: "file:deploys".to_owned(), ..rule("make deploy", true) };
    copies.keep(&gone, Some(memory), &[rule("git push", true), of_file]).await.unwrap();
    copies.renew(memory, &[], &BTreeSet::new()).await.unwrap();
    let titles = |root: &Path| {
        let (_, copied) = copy_for(&copies.directory, root).unwrap();
        copied.unwrap().rules.into_iter().map(|rule| rule.title).collect::<Vec<_>>()
    };
    assert_eq!(titles(&gone), ["make deploy"], "the file's rule stays");
    assert_eq!(titles(&other), ["git push"], "another memory's copy");
    let damaged = path(&copies.directory, &other);
    fs::write(&damaged, "{").unwrap();
    assert_eq!(copies.renew(memory, &[], &BTreeSet::new()).await, Err(vec![damaged]));
}

#[tokio::test]
async fn a_relative_name_counts_from_the_directory_in_which_the_command_runs() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("demo");
    let below = root.join("src");
    fs::create_dir_all(&below).unwrap();
    let copies = Copies::new(scratch.path().join("guard"));
    let matches = Matches { paths: vec!["src/app.py".to_owned()], ..Matches::default() };
    let rule = Rule { matches, ..rule("x", true) };
    copies.keep(&root, None, &[rule]).await.unwrap();
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&below, &link).unwrap();
    for (directory, effect) in
        [(&below, Effect::Deny), (&link, Effect::Deny), (&root, Effect::Allow)]
    {
        let name = directory.to_str();
        let action = Action { command: Some("rm app.py"), directory: name, ..Action::default() };
        let guarded = guard(&copies.directory, directory, &action).unwrap();
        assert_eq!(guarded.verdict.effect, effect, "{directory:?}");
    }
    let paths = [below.join("app.py").to_str().unwrap().to_owned()];
    let action = Action { paths: &paths, ..Action::default() };
    let guarded = guard(&copies.directory, &root, &action).unwrap();
    assert_eq!(guarded.verdict.effect, Effect::Deny);
}

#[tokio::test]
async fn a_purge_blackens_what_the_log_has_of_a_rules_actions() {
    let (_scratch, root, copies) = with_copy().await;
    let memory = ProjectId(uuid::Uuid::from_u128(1));
    copies.keep(&root, Some(memory), &[rule("git push", true)]).await.unwrap();
    let log = |command: &str| {
        let action = Action { command: Some(command), ..Action::default() };
        let guarded = guard(&copies.directory, &root, &action).unwrap();
        log_guarded(&copies.directory, &action, &guarded, WithoutDaemon::NoAnswer).unwrap();
    };
    log("git push to the vault");
    log("ls");
    let gone = BTreeSet::from(["git-push".to_owned()]);
    copies.renew(ProjectId(uuid::Uuid::from_u128(2)), &[], &gone).await.unwrap();
    let commands = || {
        let lines = guard_log(&copies.directory, &root).unwrap();
        lines.iter().map(|line| line["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(commands(), ["git push to the vault", "ls"], "another memory's rule");
    copies.renew(memory, &[], &gone).await.unwrap();
    assert_eq!(commands(), ["*", "ls"]);
}
