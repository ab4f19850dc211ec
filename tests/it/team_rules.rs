//! Rules of a memory that a team shares, each with the event that would break it.

use anchord_team::testing::{Proxy, Server};
use anchord_tests::{PATIENCE, Reply, poll, write};
use serde_json::{Value, json};

use crate::team::{Machine, invite, server, two, two_by};

#[test]
fn a_lost_repeated_or_forged_notice_changes_nothing() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let project = server.psql("SELECT id FROM anchord.projects");
    // A revision that is not there, an old one, another project, and no notice at all.
    for notice in [&*format!("{project} 900"), &*format!("{project} 1"), "other 1", ""] {
        server.psql(&format!("NOTIFY anchord, '{notice}'"));
    }
    let before = ada.shared();
    ada.shell().done(&["note", "After forged notices."]);
    bob.sees("After forged notices.");
    // The connections that hear notices are gone, and whoever asks finds the commit all the same.
    let listening = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = ''";
    let ended = server.psql(&format!("SELECT count(pg_terminate_backend(pid)) {listening}"));
    assert_ne!(ended, "0");
    ada.shell().done(&["note", "Without a notice."]);
    bob.sees("Without a notice.");
    poll(PATIENCE, "equal machines", || (ada.revision() == bob.revision()).then_some(()));
    assert_eq!(ada.shared(), bob.shared());
    assert_eq!(ada.shared().len(), before.len() + 2);
    let entries = server.psql("SELECT count(*) FROM anchord.entries");
    assert_eq!(entries, server.psql("SELECT seq FROM anchord.projects"));
}

#[test]
fn a_save_that_waits_comes_before_what_its_session_writes_next() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = ada.agent();
    let fact = |content: &str| json!({ "key": "port", "content": content });
    agent.tool("memory_note", &fact("one"));
    server.stop_immediate();
    let save = json!({ "session_summary": "Settled.", "notes": [fact("two")] });
    let kept = agent.tool("memory_save", &save);
    assert!(kept.contains("Kept here"), "{kept}");
    server.restart();
    // Its next write may be faster than the pass that folds what waits.
    poll(PATIENCE, "the database is back", || {
        let noted = agent.call("memory_note", &fact("three")).unwrap();
        (!noted.is_error).then_some(())
    });
    bob.sees("three");
    poll(PATIENCE, "nothing left to fold", || (ada.team()["waiting"] == 0).then_some(()));
    poll(PATIENCE, "equal machines", || (ada.revision() == bob.revision()).then_some(()));
    for machine in [&ada, &bob] {
        let fact = machine.shell().json(&["get", "port"]);
        let content = fact.pointer("/records/0/body/note/content").and_then(Value::as_str);
        assert_eq!(content, Some("three"), "{fact}");
    }
}

#[test]
fn a_member_who_was_removed_keeps_what_waits_and_reads_why() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Ours."]);
    bob.sees("Ours.");
    let sql = ada.shell().done(&["team", "remove", "bob"]);
    server.psql(&sql);
    let mut agent = bob.agent();
    let kept = agent.tool("memory_save", &write::save("Mine"));
    assert!(kept.contains("Kept here"), "{kept}");
    let team = bob.team();
    assert_eq!(team["waiting"], 1, "{team}");
    let error = team.get("error").and_then(Value::as_str).unwrap_or_default();
    assert!(error.contains("member") || error.contains("role"), "{team}");
    let refused = agent.call("memory_note", &json!({ "content": "Later." })).unwrap();
    assert!(refused.is_error && refused.text.contains("not saved"), "{}", refused.text);
    // Reads give what bob had, and the team gets nothing more.
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("Ours."), "{load}");
    ada.shell().done(&["note", "Only ours."]);
    assert!(!ada.shell().done(&["load"]).contains("Mine"));
    assert!(!bob.shell().done(&["load"]).contains("Only ours."));
}

/// Has ada's agent update a fact that bob has just replaced, before her machine hears of it.
/// Returns bob's machine and the answer.
fn update_not_knowing(server: &Server, update: &Value) -> (Machine, Reply) {
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), server);
    ada.shell().done(&["note", "--key", "port", "one"]);
    bob.sees("one");
    let mut agent = ada.agent();
    agent.tool("memory_status", &json!({}));
    proxy.stall();
    bob.shell().done(&["note", "--key", "port", "two"]);
    let asked = agent.call_later("memory_update", update);
    proxy.resume();
    let reply = agent.reply(asked).unwrap();
    (bob, reply)
}

#[test]
fn a_decision_that_others_were_faster_than_is_made_on_what_they_wrote() {
    let Some(server) = server() else { return };
    let update = json!({ "id": "port", "content": "mine", "expected_version": 1 });
    let (bob, refused) = update_not_knowing(&server, &update);
    assert!(refused.is_error && refused.text.contains("is at 2 now"), "{}", refused.text);
    assert!(bob.shell().done(&["load"]).contains("two"));
}

#[test]
fn a_refusal_is_of_the_newest_commit() {
    let Some(server) = server() else { return };
    let update = json!({ "id": "port", "content": "mine", "expected_version": 2 });
    let (bob, updated) = update_not_knowing(&server, &update);
    assert!(!updated.is_error, "{}", updated.text);
    bob.sees("mine");
}

#[test]
fn a_write_that_changes_nothing_is_of_the_newest_commit() {
    let Some(server) = server() else { return };
    let (bob, updated) = update_not_knowing(&server, &json!({ "id": "port", "content": "one" }));
    assert!(!updated.is_error, "{}", updated.text);
    bob.sees("one");
    assert!(!bob.shell().done(&["load"]).contains("two"), "the last write is lost");
}

#[test]
fn a_save_that_waits_and_expects_another_revision_stays_staged() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let mut agent = ada.agent();
    agent.tool("memory_status", &json!({}));
    let expected = ada.revision();
    proxy.refuse();
    bob.shell().done(&["note", "Bob was faster."]);
    let notes = json!([{ "content": "Built on an old state." }]);
    let save = json!({
        "session_summary": "Settled.", "notes": notes, "expected_revision": expected,
    });
    let kept = agent.tool("memory_save", &save);
    assert!(kept.contains("Kept here"), "{kept}");
    proxy.resume();
    ada.sees("Bob was faster.");
    poll(PATIENCE, "a decision on what waits", || (ada.team()["waiting"] == 0).then_some(()));
    assert!(!bob.shell().done(&["load"]).contains("Built on an old state."));
    // Its session reads why, and may save it on what it knows now.
    let told = agent.tool("memory_status", &json!({}));
    let refused = "Your save that waited for the team's database was refused: ";
    assert!(told.contains(refused) && told.contains("staged again"), "{told}");
    let load = agent.tool("memory_load", &json!({}));
    assert!(!load.contains(refused), "{load}");
    assert!(load.contains("Staged by you and not saved yet: 1 note"), "{load}");
    agent.tool("memory_save", &json!({ "session_summary": "Settled again." }));
    bob.sees("Built on an old state.");
}

#[test]
fn rules_in_force_and_settings_are_a_maintainers() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = bob.agent_with_all_tools();
    let rule = json!({
        "title": "No force", "reason": "It loses work.", "effect": "deny",
        "commands": ["git push --force"],
    });
    let proposed = agent.tool("memory_rule_set", &rule);
    assert!(proposed.contains("proposed"), "{proposed}");
    let rules = |machine: &Machine| machine.shell().done(&["rules", "list"]);
    let (code, said) = bob.shell().said(&["rules", "accept", "r1"]);
    assert!(code == 1 && said.contains("only a maintainer changes rules"), "{code}: {said}");
    assert!(said.contains("not saved") && rules(&bob).contains("proposed"), "{said}");
    let settings = json!({ "budget_tokens": 50_000 });
    let refused = agent.call("memory_configure", &settings).unwrap();
    let is_explained = refused.text.contains("only a maintainer changes the settings");
    assert!(refused.is_error && is_explained, "{}", refused.text);
    assert!(ada.agent_with_all_tools().tool("memory_configure", &settings).contains("50000"));

    poll(PATIENCE, "the proposal", || rules(&ada).contains("proposed").then_some(()));
    ada.shell().done(&["rules", "accept", "r1"]);
    poll(PATIENCE, "the rule in force", || (!rules(&bob).contains("proposed")).then_some(()));
    let (code, said) = bob.shell().said(&["rules", "disable", "r1"]);
    assert!(code == 1 && said.contains("only a maintainer changes rules"), "{code}: {said}");
    assert_eq!(rules(&ada), rules(&bob));
    // What may be written is.
    agent.tool("memory_note", &json!({ "content": "Bob goes on." }));
    ada.sees("Bob goes on.");
}

#[test]
fn the_rules_of_a_memory_that_joins_are_proposals() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    bob.shell().done(&["note", "Bob's own."]);
    let rule = ["--deny", "--reason", "It loses work.", "--command", "git push --force"];
    bob.shell().done(&[&["rules", "add", "No force"], &rule[..]].concat());
    let join = ["team", "join", &server.url("bob"), "--name", "api", "--merge"];
    let joined = bob.shell().done(&join);
    assert!(joined.contains("1 rule is a proposal here until you accept it"), "{joined}");
    ada.sees("Bob's own.");
    for machine in [&ada, &bob] {
        let rules = machine.shell().done(&["rules", "list"]);
        assert!(rules.contains("No force") && rules.contains("proposed"), "{rules}");
    }
}

#[test]
fn a_session_is_judged_on_its_own_machine_alone() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = bob.agent();
    agent.tool("memory_note", &json!({ "content": "Bob begins." }));
    agent.tool("memory_checkpoint", &json!({ "lessons": [{ "summary": "Half a lesson" }] }));
    ada.sees("Bob begins.");
    bob.instance.kill9();
    drop(agent);
    // A daemon that starts looks for sessions that have ended meanwhile.
    ada.shell().done(&["stop"]);
    ada.shell().done(&["note", "Ada goes on."]);
    assert!(!ada.shell().done(&["load"]).contains("Half a lesson"));
    bob.sees("Half a lesson");
    ada.sees("Half a lesson");
    let writers = "SELECT string_agg(member, ', ') FROM anchord.entries \
        WHERE changes LIKE '%Half a lesson%'";
    assert_eq!(server.psql(writers), "bob");
}

#[test]
fn only_a_member_is_removed() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let (code, text) = ada.shell().said(&["team", "remove", "bbo", "--run"]);
    assert!(code != 0 && text.contains("no member of the project"), "{text}");
    let (code, text) = ada.shell().said(&["team", "invite", "bobb", "--run"]);
    assert!(code != 0 && text.contains("no role called bobb"), "{text}");
    assert_eq!(server.psql("SELECT count(*) FROM pg_roles WHERE rolname = 'bobb'"), "0");
    let (code, text) = bob.shell().said(&["team", "invite", "bob", "--run"]);
    assert!(code != 0 && text.contains("only a maintainer invites a member"), "{text}");
    let (code, text) = ada.shell().said(&["team", "remove", "ada", "--run"]);
    assert!(code != 0 && text.contains("ada is the only maintainer"), "{text}");
    ada.shell().done(&["team", "remove", "bob", "--run"]);
}

#[test]
fn a_save_and_an_undo_name_their_member_on_every_machine() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    bob.agent().tool("memory_save", &write::save("Lock"));
    bob.shell().done(&["undo"]);
    poll(PATIENCE, "the undo", || (ada.revision() == bob.revision()).then_some(()));
    for machine in [&ada, &bob] {
        let history = machine.shell().done(&["history"]);
        for operation in ["  save  ", "  undo  "] {
            let commit = history.lines().find(|line| line.contains(operation));
            assert!(commit.is_some_and(|line| line.contains("  Bob  ")), "{history}");
        }
    }
}

#[test]
fn a_member_who_was_renamed_writes_under_the_new_name_after_the_next_connection() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    bob.shell().done(&["note", "Of Bob."]);
    ada.sees("Of Bob.");
    server.psql(&ada.shell().done(&["team", "invite", "bob", "--called", "Robert"]));
    bob.instance.kill9();
    let mut number = 0;
    poll(PATIENCE, "a record with the new name", || {
        number += 1;
        bob.shell().done(&["note", "--key", "port", &format!("The port is {number}.")]);
        let fact = bob.shell().done(&["get", "port"]);
        fact.contains(" of Robert in session").then_some(())
    });
    // Her daemon knew the old name, and has run on.
    poll(PATIENCE, "a commit with the new name", || {
        ada.shell().done(&["history"]).contains("  Robert  ").then_some(())
    });
    // The file has it, so the next daemon needs no database to know it.
    bob.instance.kill9();
    assert!(bob.shell().done(&["history", "port", "--limit", "1"]).contains("  Robert  "));
}
