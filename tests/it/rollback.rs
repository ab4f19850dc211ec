//! History, undo and restore at a shell, also after the daemon died.

use anchord_tests::{Agent, Instance, Project, Shell};
use serde_json::{Value, json};

#[test]
fn commits_are_listed_undone_and_restored_at_a_shell() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let port = || shell.json(&["get", "n1"])["records"][0]["body"]["note"]["content"].clone();
    shell.done(&["note", "--key", "port", "1"]);
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "key": "port", "content": "2" }));
    shell.done(&["note", "--key", "port", "3"]);

    let history = shell.json(&["history"]);
    let revisions = |history: &Value| -> Vec<u64> {
        let commits = history["commits"].as_array().unwrap();
        commits.iter().map(|commit| commit["revision"].as_u64().unwrap()).collect()
    };
    assert_eq!(revisions(&history), [3, 2, 1]);
    assert_eq!(revisions(&shell.json(&["history", "--limit", "2"])), [3, 2]);
    let session = history["commits"][1]["session"].as_str().unwrap();
    let own = shell.json(&["history", "--session", session]);
    assert_eq!(revisions(&own), [2]);
    let lines = &shell.json(&["diff", "1"])["records"][0]["fields"][0]["lines"];
    assert_eq!(lines[1], json!({ "change": "added", "text": "3" }));
    assert_eq!(shell.json(&["history", "port"])["versions"].as_array().unwrap().len(), 3);

    // Without a terminal there is nobody to ask.
    let (code, text) = shell.said(&["undo", "--session", session]);
    assert_eq!((code, text.contains("(changed again in commit 3)")), (4, true), "{text}");
    shell.done(&["undo", "3", "--dry-run"]);
    assert_eq!(port(), "3");
    instance.wait_gone(instance.kill9());
    shell.done(&["undo", "--session", session, "--force"]);
    assert_eq!(port(), "1");
    shell.done(&["undo"]);
    assert_eq!(port(), "3");
    let (code, text) = shell.said(&["restore", "--to", "2", "--record", "port"]);
    assert_eq!((code, port()), (0, json!("2")), "{text}");
    shell.done(&["restore", "--to", "0"]);
    assert_eq!(shell.json(&["list"])["records"], json!([]));
    shell.done(&["undo"]);
    assert_eq!(port(), "2");
    shell.done(&["note", "--key", "port", "4"]);
    shell.done(&["note", "between"]);
    shell.done(&["note", "--key", "port", "5"]);
    let newest = revisions(&shell.json(&["history", "--limit", "3"]));
    let [last, _, first] = newest[..] else { panic!("{newest:?}") };
    let (last, first) = (last.to_string(), first.to_string());
    let (code, text) = shell.said(&["undo", &last, &first, "--dry-run"]);
    assert_eq!((code, text.contains("as if it were the only one")), (0, true), "{text}");
    assert_eq!(port(), "5");
    let told = shell.done(&["undo", &last, &first, "--json"]);
    let values = serde_json::Deserializer::from_str(&told).into_iter::<Value>();
    let values: Vec<Value> = values.map(Result::unwrap).collect();
    assert!(values.len() == 2 && values.iter().all(|it| it["commits"] == 1), "{told}");
    assert_eq!(port(), "2", "each is taken back, and not the one between them");
    assert_eq!(shell.json(&["list"])["records"].as_array().unwrap().len(), 2);
    shell.done(&["journal", "verify"]);
    let (code, text) = shell.said(&["restore", "--to", "2026-13-40"]);
    assert_eq!((code, text.contains("it names a day that does not exist")), (2, true), "{text}");
    for command in [&["restore", "--to", "99"][..], &["diff", "1", "99"]] {
        let (code, text) = shell.said(command);
        assert_eq!((code, text.contains("there is no revision 99")), (2, true), "{text}");
    }
    // No colours and no pager, since this is not a terminal.
    assert!(!shell.done(&["show", "2"]).contains('\u{1b}'));
    assert_eq!(shell.said(&["show", "99"]).0, 1);
}

/// Nothing came later than nothing.
#[test]
fn a_memory_without_a_commit_has_no_earlier_moment() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    for at in ["0", "1h"] {
        let text = shell.done(&["load", "--at", at]);
        assert!(text.ends_with("\nNothing is recorded yet.\n"), "{text}");
    }
    let (code, text) = shell.said(&["load", "--at", "5"]);
    assert!(code == 2 && text.contains("there is no revision 5 yet"), "{code}: {text}");
}

#[test]
fn memory_is_loaded_and_searched_as_it_was() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "--key", "port", "the service listens on 7717"]);
    shell.done(&["note", "--user", "--key", "editor", "helix"]);
    shell.done(&["note", "--key", "port", "the service listens on 7718"]);
    shell.done(&["forget", "port"]);

    let first = shell.done(&["load", "--at", "1"]);
    assert!(first.starts_with("As of revision 1, 20") && first.contains("7717"), "{first}");
    assert!(!first.contains("7718") && !first.contains("helix"), "{first}");
    assert!(shell.done(&["load", "--at", "2"]).contains("7718"));
    assert!(!shell.done(&["load", "--at", "3"]).contains("7718"));
    let before = shell.done(&["load", "--at", "0"]);
    assert_eq!(
        before,
        "Before the first commit:\n\
         Nothing was recorded then. `anchord history` lists what came later.\n"
    );
    assert_eq!(shell.done(&["load", "--at", "2000-01-01"]), before);
    let found = shell.json(&["search", "service", "--at", "2"]);
    assert_eq!(found["as_of"]["revision"], 2);
    assert_eq!(found["records"][0]["body"]["note"]["content"], "the service listens on 7718");
    assert_eq!(shell.said(&["search", "service"]).0, 1);
    // A time is a moment too, and the user's own memory has its own revisions.
    assert_eq!(shell.json(&["load", "--at", "0s"])["as_of"]["revision"], 3);
    assert!(shell.done(&["search", "helix", "--user", "--at", "1"]).contains("helix"));

    for (at, why) in
        [("9", "there is no revision 9 yet; the newest is 3"), ("nine", "it is neither a date")]
    {
        let (code, text) = shell.said(&["load", "--at", at]);
        assert!(code == 2 && text.contains(why), "{code}: {text}");
    }
    // What was purged stays purged, at every moment.
    shell.done(&["purge", "n1", "--yes"]);
    for at in ["1", "2"] {
        let purged = shell.done(&["load", "--at", at]);
        assert!(!purged.contains("7717") && !purged.contains("7718"), "{purged}");
    }
    let undo = shell.said(&["undo"]).1;
    assert!(undo.contains("commit 4 is a purge, which cannot be taken back."), "{undo}");
}
