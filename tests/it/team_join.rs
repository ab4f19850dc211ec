//! Joining a team: what a machine had before is lost in no case.

use std::path::PathBuf;

use anchord_team::testing::Server;
use anchord_tests::{PATIENCE, poll, write};
use serde_json::json;

use crate::team::{Machine, invite, server, two};

/// Joins bob's machine to the team's project, and adds what it has. Returns the exit code and what
/// is printed.
fn merge(bob: &Machine, server: &Server) -> (i32, String) {
    bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api", "--merge"])
}

#[test]
fn a_memory_of_its_own_is_set_aside_and_added_to_the_teams() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.shell().done(&["note", "--key", "db", "Postgres 16"]);
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    bob.shell().done(&["note", "My own."]);
    let (code, text) = bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(code != 0 && text.contains("a memory of its own"), "{text}");
    let (code, joined) = merge(&bob, &server);
    assert!(code == 0 && joined.contains("the memory before is in"), "{joined}");
    for machine in [&ada, &bob] {
        assert!(machine.sees("My own.").contains("Postgres 16"));
    }
    assert_eq!(ada.shared(), bob.shared());
    // It stays in sight as long as it is there, in the team and out of it.
    let is_in_sight = || {
        for command in [&["team", "status"][..], &["doctor"], &["purge", "--query", "nowhere"]] {
            let (_, text) = bob.shell().said(command);
            assert!(text.contains(".aside-1"), "{command:?}: {text}");
        }
    };
    is_in_sight();
    bob.shell().done(&["team", "leave", "--keep"]);
    is_in_sight();
    let aside = PathBuf::from(bob.shell().json(&["team", "status"])["asides"][0].as_str().unwrap());
    assert!(aside.is_dir());
    bob.shell().done(&["project", "delete", "--yes"]);
    assert!(!aside.exists(), "it goes with the project");
}

#[test]
fn a_merge_names_the_facts_of_the_team_that_it_replaces() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.shell().done(&["note", "--key", "deploy", "make deploy"]);
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    bob.shell().done(&["note", "--key", "deploy", "kubectl apply"]);
    let (code, joined) = merge(&bob, &server);
    assert_eq!(code, 0, "{joined}");
    assert!(joined.contains("older than yours and was replaced: n1 deploy"), "{joined}");
    ada.sees("kubectl apply");
    let history = ada.shell().done(&["history", "n1"]);
    assert!(history.contains("make deploy"), "{history}");
}

#[test]
fn a_merge_names_the_facts_of_its_own_that_are_older_and_their_place() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    bob.shell().done(&["note", "--key", "extra", "Added."]);
    bob.shell().done(&["note", "--key", "deploy", "kubectl apply"]);
    ada.shell().done(&["note", "--key", "deploy", "make deploy"]);
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    let (code, joined) = merge(&bob, &server);
    assert_eq!(code, 0, "{joined}");
    let named = "older than what is here and left out: deploy (n2 there)";
    assert!(joined.contains(named), "{joined}");
    let line = joined.lines().find(|line| line.contains("texts of what was left out remain"));
    let aside = line.and_then(|line| line.rsplit_once(": ")).map(|(_, path)| PathBuf::from(path));
    assert!(aside.is_some_and(|aside| aside.is_dir()), "{joined}");
    assert!(ada.sees("Added.").contains("make deploy"));
    for machine in [&ada, &bob] {
        let commits = machine.shell().done(&["history"]);
        assert!(commits.contains("merged from Bob's memory of this project"), "{commits}");
        let versions = machine.shell().done(&["history", "extra"]);
        assert!(versions.contains(", merge  Bob"), "{versions}");
    }
}

#[test]
fn a_merge_that_was_refused_is_made_by_joining_again() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    server.psql("REVOKE INSERT ON anchord.entries FROM anchord_member");
    bob.shell().done(&["note", "My own."]);
    for _ in 0..2 {
        let (code, text) = merge(&bob, &server);
        assert!(code != 0 && text.contains("the same command adds it"), "{text}");
    }
    let (code, text) = bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(code != 0 && text.contains("not merged yet"), "{text}");
    let status = bob.shell().done(&["team", "status"]);
    let (_, doctor) = bob.shell().said(&["doctor"]);
    for text in [&status, &doctor] {
        assert!(text.contains("--merge` completes it"), "{text}");
    }
    assert!(!doctor.contains("you miss nothing"), "{doctor}");
    server.psql("GRANT INSERT ON anchord.entries TO anchord_member");
    assert_eq!(merge(&bob, &server).0, 0);
    ada.sees("My own.");
    bob.join(&server.url("bob"));
}

#[test]
fn a_reader_with_a_memory_of_its_own_joins_nothing_and_keeps_it() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    server.psql(&ada.shell().done(&["team", "invite", "bob", "--role", "reader"]));
    bob.shell().done(&["note", "My own."]);
    let (code, text) = bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(code != 0 && !text.contains("--merge"), "it would be refused: {text}");
    let (code, text) = merge(&bob, &server);
    assert!(code != 0 && text.contains("ask a maintainer for the right to write"), "{text}");
    assert!(bob.shell().done(&["load"]).contains("My own."));
    server.psql(&ada.shell().done(&["team", "invite", "bob", "--role", "writer"]));
    assert_eq!(merge(&bob, &server).0, 0);
    ada.sees("My own.");
}

#[test]
fn notes_of_a_session_outlast_a_join_and_stay_on_their_machine() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    let mut agent = bob.agent();
    let mine = |text: &str| json!({ "content": text, "scope": "session" });
    agent.tool("memory_note", &mine("Freeze on Tuesday."));
    bob.join(&server.url("bob"));
    ada.shell().done(&["note", "Shared with bob."]);
    bob.sees("Shared with bob.");
    let found = agent.tool("memory_search", &json!({ "query": "Tuesday freeze" }));
    assert!(found.contains("n1p") && found.contains("Freeze on Tuesday."), "{found}");
    // So they do where there is more to merge.
    bob.shell().done(&["team", "leave", "--keep"]);
    agent.tool("memory_note", &mine("Thaw on Friday."));
    bob.shell().done(&["note", "My own."]);
    let (code, joined) = merge(&bob, &server);
    assert!(code == 0 && !joined.contains("left out"), "{joined}");
    ada.sees("My own.");
    let found = agent.tool("memory_search", &json!({ "query": "Tuesday Friday" }));
    assert!(found.contains("Freeze on") && found.contains("Thaw on"), "{found}");
    let dump = server.dump();
    assert!(!dump.contains("Freeze on") && !dump.contains("Thaw on"), "it left the machine");
}

/// Records of the team may have the ids that a session knows of its own.
#[test]
fn a_session_that_knows_ids_of_before_a_merge_names_no_other_record_by_them() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    let mut agent = bob.agent();
    let stored = agent.tool("memory_note", &json!({ "content": "To be forgotten." }));
    assert!(stored.contains("n1 "), "{stored}");
    ada.shell().done(&["note", "Precious to ada."]);
    assert_eq!(merge(&bob, &server).0, 0);
    // Another daemon has to know it as well.
    bob.instance.kill9();
    let refused = agent.call("memory_forget", &json!({ "record_id": "n1" })).unwrap();
    assert!(refused.is_error && refused.text.contains("other ids now"), "{}", refused.text);
    assert!(ada.shell().done(&["load"]).contains("Precious to ada."));
    // It is said once, and the agent may go on.
    let found = agent.tool("memory_search", &json!({ "query": "forgotten" }));
    assert!(found.contains("n2: To be forgotten.") && !found.contains("other ids"), "{found}");
    agent.tool("memory_forget", &json!({ "id": "n2" }));
}

#[test]
fn a_merge_adds_what_a_session_saved_while_it_was_away() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = bob.agent();
    agent.tool("memory_save", &write::save("Before"));
    ada.sees("Before");
    bob.shell().done(&["team", "leave", "--keep"]);
    agent.tool("memory_save", &write::save("Away"));
    assert_eq!(merge(&bob, &server).0, 0);
    ada.sees("Away");
    for machine in [&ada, &bob] {
        let rows = machine.shell().json(&["list", "--kind", "session"]);
        let id = rows["records"][0]["id"].as_str().unwrap().to_owned();
        let row = machine.shell().done(&["get", &id]);
        assert!(row.contains("Away") && row.contains("Before"), "{row}");
    }
    assert_eq!(ada.shared(), bob.shared());
}

#[test]
fn a_file_with_lost_commits_is_still_named_after_joining_again() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Before the backup."]);
    bob.sees("Before the backup.");
    let dump = server.dump();
    bob.shell().done(&["note", "Lost."]);
    ada.sees("Lost.");
    server.psql("DROP SCHEMA anchord CASCADE");
    server.restore(&dump);
    // Until its copy follows the database, a write is answered with "busy, retry".
    poll(PATIENCE, "a note after the backup", || {
        (ada.shell().said(&["note", "After it."]).0 == 0).then_some(())
    });
    bob.sees("After it.");
    let is_named = || bob.shell().done(&["team", "status"]).contains("the database has lost");
    assert!(is_named());
    bob.shell().done(&["team", "leave", "--keep"]);
    assert_eq!(merge(&bob, &server).0, 0);
    assert!(is_named());
}
