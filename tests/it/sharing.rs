//! A memory shared through real git. Two users have a clone, a daemon and a memory each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anchord_tests::{Instance, Project, Shell};

/// Returns the shared files of a clone, by path.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(root.join(".anchord/memory")).unwrap() {
        let folder = folder.unwrap().path();
        for file in std::fs::read_dir(&folder).into_iter().flatten() {
            let file = file.unwrap().path();
            let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(path, std::fs::read_to_string(&file).unwrap());
        }
    }
    files
}

/// Runs git where it may fail, as a merge with a conflict does. Returns whether it succeeded.
fn git_succeeds(project: &Project, arguments: &[&str]) -> bool {
    let run = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .current_dir(project.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", project.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output();
    run.unwrap().status.success()
}

/// Commits everything that git sees.
fn commit(project: &Project) {
    project.run_git(&["add", "."]);
    project.run_git(&["commit", "--quiet", "--allow-empty", "-m", "work"]);
}

fn pull(project: &Project, from: &Project) -> bool {
    let from = from.path().to_str().unwrap();
    git_succeeds(project, &["pull", "--quiet", "--no-rebase", "--no-edit", from, "main"])
}

#[test]
fn two_clones_share_a_memory_through_git() {
    let (ada, bob) = (Instance::new(), Instance::new());
    let (one, other) = (Project::git(), Project::plain());
    one.run_git(&["branch", "old"]);
    let shell = Shell::new(&ada, one.path());
    shell.done(&["note", "--key", "db", "Postgres 16"]);
    shell.done(&["note", "--user", "only mine"]);
    let plan = shell.done(&["init", "--shared", "--dry-run"]);
    assert!(plan.contains("1 record of this memory"), "{plan}");
    assert!(!one.path().join(".anchord/memory").exists());
    let shared = shell.done(&["init", "--shared", "--yes"]);
    assert!(shared.contains("shared through git: 1 file"), "{shared}");
    commit(&one);
    let origin = one.path().to_str().unwrap();
    other.run_git(&["clone", "--quiet", origin, "."]);

    // Nothing is taken in before the second user agrees.
    let theirs = Shell::new(&bob, other.path());
    let load = theirs.done(&["load"]);
    assert!(!load.contains("Postgres") && load.contains("anchord init --shared"), "{load}");
    let (code, text) = theirs.said(&["init", "--shared"]);
    assert!(code != 0 && text.contains("take in   1 file"), "nobody can be asked: {text}");
    theirs.done(&["init", "--shared", "--yes"]);
    theirs.done(&["shared", "status"]);
    assert!(theirs.done(&["load"]).contains("Postgres 16"));

    // Both add something, and each gets the other's.
    shell.done(&["note", "alpha"]);
    theirs.done(&["note", "beta"]);
    for (shell, project) in [(&shell, &one), (&theirs, &other)] {
        shell.done(&["shared", "status"]);
        commit(project);
    }
    assert!(pull(&one, &other) && pull(&other, &one));
    for shell in [&shell, &theirs] {
        // A load that follows another look within a second does not look again.
        shell.done(&["shared", "status"]);
        let load = shell.done(&["load"]);
        assert!(load.contains("alpha") && load.contains("beta"), "{load}");
    }
    assert_eq!(files(one.path()), files(other.path()));

    // Both change one fact, and git leaves the conflict in the file.
    shell.done(&["note", "--key", "db", "MySQL 8"]);
    theirs.done(&["note", "--key", "db", "SQLite 3"]);
    for (shell, project) in [(&shell, &one), (&theirs, &other)] {
        shell.done(&["shared", "status"]);
        commit(project);
    }
    assert!(!pull(&one, &other));
    let state = shell.done(&["shared", "status"]);
    assert!(state.contains("1 conflict") && state.contains("conflict markers"), "{state}");
    assert!(shell.done(&["load"]).contains("MySQL 8"), "the memory keeps its side");
    one.run_git(&["checkout", "--quiet", "--theirs", ".anchord"]);
    commit(&one);
    let state = shell.done(&["shared", "status"]);
    assert!(!state.contains("conflict"), "{state}");
    assert!(pull(&other, &one));
    for (shell, project) in [(&shell, &one), (&theirs, &other)] {
        shell.done(&["shared", "status"]);
        assert!(shell.done(&["load"]).contains("SQLite 3"));
        // Neither clone has anything left to commit, and nothing else of anchord's is seen.
        assert!(git_succeeds(project, &["diff", "--quiet", "HEAD"]));
        commit(project);
        assert!(git_succeeds(project, &["diff", "--quiet", "HEAD~1"]));
    }
    let (a, b) = (files(one.path()), files(other.path()));
    assert_eq!((a.len(), &a), (3, &b));
    assert!(a.values().all(|text| !text.contains("only mine")));

    // A branch without the files leaves the memory as it is, and going back brings nothing new.
    one.run_git(&["checkout", "--quiet", "old"]);
    let state = shell.done(&["shared", "status"]);
    assert!(state.contains("paused: this branch has no shared memory"), "{state}");
    assert!(shell.done(&["load"]).contains("SQLite 3"));
    one.run_git(&["checkout", "--quiet", "main"]);
    assert!(shell.done(&["shared", "status"]).contains("3 files"));
    let doctor = shell.said(&["doctor"]).1;
    assert!(doctor.contains("shared through git"), "{doctor}");
    shell.done(&["init", "--unshare"]);
    assert!(shell.done(&["load"]).contains("SQLite 3"));
    assert_eq!(files(one.path()), b);
}
