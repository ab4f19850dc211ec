//! A memory shared through real git. Two users have a clone, a daemon and a memory each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anchord_tests::{Agent, Instance, Project, Shell, poll};
use serde_json::{Value, json};

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

/// Somebody with a clone, a daemon and a memory.
struct Member {
    name: &'static str,
    instance: Instance,
    project: Project,
}

impl Member {
    fn shell(&self) -> Shell<'_> {
        Shell::new(&self.instance, self.project.path())
    }

    fn agent(&self) -> Agent {
        Agent::with_all_tools(&self.instance, self.project.path())
    }

    /// Saves to the topic `main`, and commits all that git sees once the files are written.
    fn save(&self, topic: &Value) {
        let summary = format!("{} worked", self.name);
        self.agent().tool("memory_save", &json!({"session_summary": summary, "topic": topic}));
        let state = self.shell().done(&["shared", "status"]);
        assert!(!state.contains("conflict"), "{state}");
        commit(&self.project);
    }

    /// Merges another's branch. The daemon then has nothing to write.
    #[track_caller]
    fn pull(&self, from: &Self) {
        assert!(pull(&self.project, &from.project), "{} merges {}", self.name, from.name);
        let state = self.shell().done(&["shared", "status"]);
        assert!(!state.contains("conflict"), "{state}");
        let files = files(self.project.path());
        let is_clean = git_succeeds(&self.project, &["diff", "--quiet", "HEAD"]);
        assert!(is_clean, "the daemon of {} wrote after a pull: {files:#?}", self.name);
        commit(&self.project);
        let is_same = git_succeeds(&self.project, &["diff", "--quiet", "HEAD~1"]);
        assert!(is_same, "the daemon of {} added a file after a pull: {files:#?}", self.name);
    }

    /// Returns the lines of the topic `main`, sorted, without the ids of this memory.
    fn main(&self) -> Vec<String> {
        let text = self.agent().tool("memory_topic", &json!({"action": "read", "name": "main"}));
        let (_, text) = text.split_once(' ').unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Returns the paths of the files of topics.
    fn topics(&self) -> Vec<String> {
        let files = files(self.project.path());
        files.into_keys().filter(|path| path.contains("/topic/")).collect()
    }
}

/// Begins a project with a shared memory. `names` are those of its members, each with a clone.
fn members<const N: usize>(names: [&'static str; N]) -> [Member; N] {
    let mut origin: Option<String> = None;
    names.map(|name| {
        let project = if origin.is_none() { Project::git() } else { Project::plain() };
        let member = Member { name, instance: Instance::new(), project };
        if let Some(origin) = &origin {
            member.project.run_git(&["clone", "--quiet", origin, "."]);
        }
        member.agent().tool("memory_note", &json!({"content": format!("{name} is here")}));
        member.shell().done(&["init", "--shared", "--yes"]);
        member.shell().done(&["shared", "status"]);
        commit(&member.project);
        origin.get_or_insert_with(|| member.project.path().to_str().unwrap().to_owned());
        member
    })
}

/// Returns what a member does to a topic in a round.
fn work(name: &str, round: usize) -> Value {
    json!({
        "status": format!("{name} did part {round}"),
        "decisions": [
            {"question": format!("What does {name} do in round {round}?")},
            {"question": format!("How does {name} end round {round}?"), "decision": "with a test"},
        ],
        "history": [{"text": format!("{name} wrote part {round}."), "files": [format!("src/{name}.rs")]}],
        "files": [format!("src/{name}{round}.rs"), "src/both.rs"],
    })
}

/// Returns the words that a topic has to have after these rounds.
fn worked(names: &[&str], rounds: usize) -> Vec<String> {
    let of = |(name, round): (&&str, usize)| {
        [
            format!("What does {name} do in round {round}?"),
            format!("How does {name} end round {round}?"),
            format!("{name} wrote part {round}."),
            format!("{name} did part {round}"),
            format!("src/{name}{round}.rs"),
        ]
    };
    (0..rounds).flat_map(|round| names.iter().map(move |name| (name, round))).flat_map(of).collect()
}

/// Checks that all members have the same topic, with these words, and the same files.
#[track_caller]
fn assert_equal<const N: usize>(members: [&Member; N], words: &[String]) {
    let mut all: Vec<_> =
        members.iter().map(|it| (it.name, it.main(), files(it.project.path()))).collect();
    let (_, main, files) = all.remove(0);
    for (name, other, other_files) in all {
        assert_eq!(other, main, "{name} has another topic");
        assert_eq!(other_files, files, "{name} has other files");
    }
    let lost: Vec<_> = words.iter().filter(|it| !main.join("\n").contains(*it)).collect();
    assert!(lost.is_empty(), "lost {lost:?}: {main:#?}");
}

#[test]
fn two_clones_that_both_save_to_one_topic_never_conflict() {
    let [ada, bob] = members(["ada", "bob"]);
    bob.pull(&ada);
    ada.pull(&bob);
    for round in 0..3 {
        for member in [&ada, &bob] {
            member.save(&work(member.name, round));
            member.save(&json!({"files": [format!("src/{}.rs", member.name)]}));
        }
        let (first, second) = if round == 1 { (&bob, &ada) } else { (&ada, &bob) };
        first.pull(second);
        second.pull(first);
        assert_equal([&ada, &bob], &worked(&["ada", "bob"], round + 1));
        assert_eq!(ada.topics().len(), 2);
    }
    assert!(ada.main().join("\n").contains("bob did part 2"));

    // Both merge at the same time, in branches that do not know each other.
    ada.save(&work("ada", 3));
    bob.save(&work("bob", 3));
    bob.project.run_git(&["branch", "before"]);
    bob.pull(&ada);
    ada.project.run_git(&["fetch", "--quiet", bob.project.path().to_str().unwrap(), "before"]);
    ada.project.run_git(&["merge", "--quiet", "--no-edit", "FETCH_HEAD"]);
    ada.shell().done(&["shared", "status"]);
    ada.pull(&bob);
    bob.pull(&ada);
    assert_equal([&ada, &bob], &worked(&["ada", "bob"], 4));

    // One answers the other's questions, while the other goes on.
    ada.save(&json!({"decisions": [
        {"question": "What does bob do in round 0?", "decision": "he reads"},
        {"question": "What does ada do in round 0?", "decision": "she writes"},
    ]}));
    bob.save(&work("bob", 4));
    ada.pull(&bob);
    bob.pull(&ada);
    assert_equal([&ada, &bob], &["he reads".to_owned(), "she writes".to_owned()]);

    // Forgetting the topic removes both files, for both.
    let main = bob.agent().tool("memory_topic", &json!({"action": "read", "name": "main"}));
    let id = main
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| word.strip_prefix('t').is_some_and(|number| number.parse::<u32>().is_ok()));
    bob.agent().tool("memory_forget", &json!({"id": id.unwrap()}));
    bob.shell().done(&["shared", "status"]);
    commit(&bob.project);
    assert!(bob.topics().is_empty());
    assert!(pull(&ada.project, &bob.project));
    poll(Duration::from_secs(30), "the topic is forgotten", || {
        ada.shell().done(&["shared", "status"]);
        let listed = ada.agent().tool("memory_topic", &json!({"action": "list"}));
        listed.contains("No topics yet").then_some(())
    });
}

#[test]
fn three_clones_that_save_to_one_topic_never_conflict() {
    let [ada, bob, eve] = members(["ada", "bob", "eve"]);
    for round in 0..2 {
        for member in [&ada, &bob, &eve] {
            member.save(&work(member.name, round));
        }
        // Merges cross each other.
        ada.pull(&bob);
        bob.pull(&eve);
        eve.pull(&ada);
        ada.pull(&bob);
        bob.pull(&eve);
        eve.pull(&ada);
        ada.pull(&eve);
        bob.pull(&eve);
        assert_equal([&ada, &bob, &eve], &worked(&["ada", "bob", "eve"], round + 1));
        assert_eq!(eve.topics().len(), 3);
    }
}
