//! Joining a team: what a machine had before is lost in no case.

use serde_json::json;

use crate::team::{Machine, invite, server, two};
use anchord_tests::{PATIENCE, poll, write};

#[test]
fn a_memory_of_its_own_is_set_aside_and_added_to_the_teams() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.shell().done(&["note", "--key", "db", "Postgres 16"]);
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    bob.shell().done(&["note", "My own."]);
    let url = server.url("bob");
    let join = ["team", "join", &url, "--name", "api"];
    let (code, text) = bob.shell().said(&join);
    assert!(code != 0 && text.contains("a memory of its own"), "{text}");
    let joined = bob.shell().done(&[&join[..], &["--merge"]].concat());
    assert!(joined.contains("the memory before is in"), "{joined}");
    for machine in [&ada, &bob] {
        assert!(machine.sees("My own.").contains("Postgres 16"));
    }
    assert_eq!(ada.shared(), bob.shared());
}

#[test]
fn a_merge_that_was_refused_is_made_by_joining_again() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    server.psql("REVOKE INSERT ON anchord.entries FROM anchord_member");
    bob.shell().done(&["note", "My own."]);
    let url = server.url("bob");
    let join = ["team", "join", &url, "--name", "api"];
    let (code, text) = bob.shell().said(&[&join[..], &["--merge"]].concat());
    assert!(code != 0 && text.contains("the same command adds it"), "{text}");
    let (code, text) = bob.shell().said(&join);
    assert!(code != 0 && text.contains("not merged yet"), "{text}");
    server.psql("GRANT INSERT ON anchord.entries TO anchord_member");
    bob.shell().done(&[&join[..], &["--merge"]].concat());
    ada.sees("My own.");
    bob.shell().done(&join);
}

#[test]
fn a_reader_with_a_memory_of_its_own_joins_nothing_and_keeps_it() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    server.psql(&ada.shell().done(&["team", "invite", "bob", "--role", "reader"]));
    bob.shell().done(&["note", "My own."]);
    let url = server.url("bob");
    let join = ["team", "join", &url, "--name", "api", "--merge"];
    let (code, text) = bob.shell().said(&join);
    assert!(code != 0 && text.contains("ask a maintainer for the right to write"), "{text}");
    assert!(bob.shell().done(&["load"]).contains("My own."));
    server.psql(&ada.shell().done(&["team", "invite", "bob", "--role", "writer"]));
    bob.shell().done(&join);
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
    let url = server.url("bob");
    let joined = bob.shell().done(&["team", "join", &url, "--name", "api", "--merge"]);
    assert!(!joined.contains("left out"), "{joined}");
    ada.sees("My own.");
    let found = agent.tool("memory_search", &json!({ "query": "Tuesday Friday" }));
    assert!(found.contains("Freeze on") && found.contains("Thaw on"), "{found}");
    let dump = server.dump();
    assert!(!dump.contains("Freeze on") && !dump.contains("Thaw on"), "it left the machine");
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
    let url = server.url("bob");
    bob.shell().done(&["team", "join", &url, "--name", "api", "--merge"]);
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
    let url = server.url("bob");
    bob.shell().done(&["team", "join", &url, "--name", "api", "--merge"]);
    assert!(is_named());
}

#[test]
fn a_database_of_a_newer_version_is_not_used() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Before the update."]);
    bob.sees("Before the update.");
    server.psql(
        "INSERT INTO anchord.schema_history VALUES (7, 'later', '2030-01-01T00:00:00Z', '1')",
    );
    server.stop_immediate();
    server.restart();
    let (code, text) = ada.shell().said(&["note", "After it."]);
    assert!(code != 0 && text.contains("update anchord"), "{text}");
    let cat = Machine::new();
    let (code, text) = cat.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(code != 0 && text.contains("update anchord"), "{text}");
    assert!(bob.shell().done(&["load"]).contains("Before the update."));
}

#[test]
fn only_a_member_is_removed() {
    let Some(server) = server() else { return };
    let (ada, _bob) = two(&server);
    let (code, text) = ada.shell().said(&["team", "remove", "bbo", "--run"]);
    assert!(code != 0 && text.contains("no member of the project"), "{text}");
    ada.shell().done(&["team", "remove", "bob", "--run"]);
}
