//! The user's own notes, with real processes: across a daemon's death, at the shell, and purged
//! from the disk.

use std::fs;
use std::path::PathBuf;

use anchord_tests::{Agent, Instance, Project, Shell, walk};
use serde_json::{Value, json};

#[test]
fn notes_of_the_user_survive_a_killed_daemon_and_are_written_once() {
    let instance = Instance::new();
    let (one, two) = (Project::git(), Project::git());
    let mut agent = Agent::open(&instance, one.path());
    let write = |round: usize, number: usize| json!({ "content": format!("habit {round} {number}"), "scope": "user" });
    agent.tool("memory_status", &json!({}));
    for round in 0..6 {
        let calls: Vec<u64> =
            (0..6).map(|number| agent.call_later("memory_note", &write(round, number))).collect();
        for id in calls.iter().take(round) {
            assert!(!agent.reply(*id).unwrap().is_error);
        }
        instance.kill9();
        for id in calls.iter().skip(round) {
            let reply = agent.reply(*id).unwrap();
            assert!(!reply.is_error && reply.text.starts_with("Stored u"), "{}", reply.text);
        }
    }
    // Replies from before the last kill may be read after it, while no other daemon runs yet.
    agent.tool("memory_status", &json!({}));
    instance.kill9();
    let mut other = Agent::open(&instance, two.path());
    let listed =
        other.tool("memory_search", &json!({ "query": "habit", "scope": "user", "limit": 50 }));
    for (round, number) in (0..6).flat_map(|round| (0..6).map(move |number| (round, number))) {
        let text = format!("habit {round} {number}");
        assert_eq!(listed.matches(&text).count(), 1, "{text} in {listed}");
        assert_eq!(instance.entries_with("note", &text), 1, "{text} is one entry");
    }
}

#[test]
fn a_person_manages_user_notes_outside_any_project() {
    let instance = Instance::new();
    let project = Project::git();
    let home = instance.user_home();
    let (nowhere, here) = (Shell::new(&instance, &home), Shell::new(&instance, project.path()));
    let (code, text) = nowhere.said(&["list"]);
    assert!(code == 0 && text.contains("Nothing is recorded yet"), "of the user's own: {text}");
    for load in [&["load"][..], &["load", "--user"]] {
        let (code, text) = nowhere.said(load);
        assert!(code == 0 && text.contains("Nothing is recorded yet"), "{load:?}: {text}");
    }
    let (code, text) = nowhere.said(&["journal", "verify", "--user"]);
    assert!(code != 0 && text.contains("anchord note --user"), "{text}");

    let stored = nowhere.done(&["note", "--user", "answers in German", "--tag", "language"]);
    assert!(stored.starts_with("Stored u1 "), "{stored}");
    nowhere.done(&["note", "--user", "helix", "--key", "editor"]);
    here.done(&["note", "vim", "--key", "editor"]);
    assert!(nowhere.done(&["list", "--user"]).starts_with("2 of 2"));
    assert!(nowhere.done(&["get", "u1"]).starts_with("u1 (#language, the user's):"));
    assert!(nowhere.done(&["get", "editor", "--user"]).starts_with("u2 editor"));
    assert!(here.done(&["get", "editor"]).contains("u2, the user's own, has this key too"));
    assert!(here.done(&["search", "german"]).starts_with("u1 "));
    assert_eq!(here.said(&["search", "german", "--scope", "project"]).0, 1);
    assert!(nowhere.done(&["search", "german", "--user"]).starts_with("u1 "));
    let listed: Value = serde_json::from_str(&here.done(&["list", "--json"])).unwrap();
    let ids: Vec<&str> =
        listed["records"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["n1", "u2", "u1"]);

    for (shell, load) in [(&nowhere, &["load"][..]), (&here, &["load", "--user"])] {
        let text = shell.done(load);
        for note in ["answers in German", "helix"] {
            assert_eq!(text.matches(note).count(), 1, "{load:?}: {text}");
        }
        assert!(!text.contains("vim"), "{text}");
    }
    assert_eq!(here.said(&["load", "--user", "--project", "."]).0, 2, "two memories are named");
    assert!(here.done(&["load", "--user", "--at", "1"]).contains("answers in German"));

    let status = nowhere.done(&["status"]);
    assert!(status.contains("2 notes of your own, in every project"), "{status}");
    assert!(!nowhere.done(&["project", "list"]).contains("user"), "it is not a project");
    assert!(
        nowhere
            .done(&["journal", "verify", "--user"])
            .starts_with("the user's own notes: 2 entries intact")
    );
    assert!(nowhere.done(&["journal", "show", "--user"]).contains("put u2"));
    assert!(nowhere.done(&["journal", "rebuild", "--user"]).contains("2 entries read"));
    assert!(nowhere.done(&["secrets", "scan", "--user"]).contains("no secrets in 2 journal lines"));
    assert!(nowhere.done(&["log", "--user"]).contains("german"));
    assert_eq!(here.said(&["list", "--user", "--project", "."]).0, 2, "two memories are named");

    assert!(nowhere.done(&["forget", "u1"]).starts_with("Forgotten, kept in history: u1"));
    assert!(here.done(&["forget", "editor"]).contains("n1 editor"));
    assert!(here.done(&["forget", "editor"]).contains("u2 editor"));
}

#[test]
fn user_notes_are_exported_separately_and_imported_nowhere_else() {
    let (instance, other) = (Instance::new(), Instance::new());
    let project = Project::git();
    let here = Shell::new(&instance, project.path());
    here.done(&["note", "--user", "answers in German", "--key", "language"]);
    here.done(&["note", "the port is 7717"]);
    for format in ["markdown", "json", "compactor", "zipmem"] {
        let text = here.done(&["export", "--format", format]);
        assert!(!text.contains("German"), "{format}: {text}");
    }
    let own = here.done(&["export", "--user", "--format", "json"]);
    assert!(own.contains("answers in German") && !own.contains("7717"), "{own}");
    assert!(here.done(&["export", "--user"]).contains("answers in German"));

    let file = project.path().join("own.json");
    fs::write(&file, &own).unwrap();
    let there = Shell::new(&other, project.path());
    let text = there.done(&["import", "own.json", "--yes"]);
    assert!(text.contains("1 note of the user's own is left out"), "{text}");
    assert_eq!(other.holding("answers in German"), Vec::<PathBuf>::new());
    let text = there.done(&["import", "own.json", "--user", "--yes"]);
    assert!(text.contains("imported as revision 1"), "{text}");
    assert!(there.done(&["get", "language", "--user"]).contains("answers in German"));
    // Records that a project exports do not belong in the user's own memory.
    fs::write(&file, here.done(&["export", "--format", "json"])).unwrap();
    let text = there.done(&["import", "own.json", "--user", "--yes"]);
    assert!(text.contains("1 record of a project is left out"), "{text}");
    assert!(there.done(&["list", "--user"]).starts_with("1 of 1"));
}

#[test]
fn purged_user_notes_are_gone_from_the_disk() {
    let planted = "signs with the words open barley";
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": planted, "scope": "user", "key": "signature" }));
    agent.tool("memory_note", &json!({ "content": "a note that stays", "scope": "user" }));
    agent.tool("memory_note", &json!({ "content": "of the project" }));
    // The project's query log contains the text now.
    agent.tool("memory_search", &json!({ "query": planted }));
    agent.tool("memory_get", &json!({ "id": "u1" }));
    let here = Shell::new(&instance, project.path());
    assert!(!instance.holding("open barley").is_empty());
    let (code, text) = here.said(&["purge", "u1", "n1", "--yes"]);
    assert!(code == 2 && text.contains("`anchord purge u1` takes your own notes"), "{text}");
    let text = here.done(&["purge", "u1", "--yes"]);
    assert!(text.contains("purged as revision"), "{text}");
    assert_eq!(instance.holding("open barley"), Vec::<PathBuf>::new(), "while the daemon runs");
    assert!(agent.tool("memory_get", &json!({ "id": "u2" })).contains("a note that stays"));
    assert!(agent.tool("memory_get", &json!({ "id": "n1" })).contains("of the project"));
    let (_, text) = here.said(&["get", "u1"]);
    assert!(text.contains("was purged on"), "{text}");
    let again = json!({ "content": planted, "scope": "user" });
    assert!(agent.call("memory_note", &again).unwrap().is_error, "it is not taken in again");
    here.done(&["purge", "--user", "--query", "note that stays", "--yes"]);
    assert_eq!(instance.holding("a note that stays"), Vec::<PathBuf>::new());
    here.done(&["journal", "verify", "--user"]);
    drop(agent);
    here.done(&["stop"]);
    assert_eq!(instance.holding("open barley"), Vec::<PathBuf>::new(), "after the daemon");
}

#[test]
fn damaged_user_notes_are_reported_and_affect_no_project() {
    let instance = Instance::new();
    let project = Project::git();
    let here = Shell::new(&instance, project.path());
    here.done(&["note", "the port is 7717"]);
    for note in ["answers in German", "prefers tabs", "signs off"] {
        here.done(&["note", "--user", note]);
    }
    here.done(&["stop"]);
    let mut journal = None;
    walk(&instance.home(), &mut |path| {
        if path.ends_with("user/journal/000001.jsonl") {
            journal = Some(path.to_owned());
        }
    });
    let journal = journal.expect("the user's own memory is beside the projects");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("prefers tabs", "prefers tubs", 1)).unwrap();

    assert!(here.done(&["search", "port"]).contains("the port is 7717"));
    here.done(&["note", "the project goes on"]);
    let (code, text) = here.said(&["note", "--user", "one more"]);
    assert_eq!(code, 5, "{text}");
    let (code, text) = here.said(&["journal", "verify", "--user"]);
    assert!(code == 5 && text.contains("000001.jsonl line 3"), "{code} {text}");
    let (_, text) = here.said(&["doctor"]);
    assert!(text.contains("your own notes cannot be written"), "{text}");
    assert!(here.done(&["status"]).contains("they cannot be written"));
}
