//! The reports of a team's database that does not answer, or does not let this machine in: `anchord
//! status`, `anchord doctor` and the metrics.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use anchord_team::testing::Proxy;
use anchord_tests::{Instance, PATIENCE, poll, write};
use serde_json::{Value, json};

use crate::team::{Machine, server, two, two_by};

/// Returns what the doctor found about teams.
fn diagnosis(machine: &Machine) -> (i32, Vec<Value>) {
    let output = machine.shell().run(&["doctor", "--json"]);
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let is_of_team = |finding: &Value| finding.get("about").and_then(Value::as_str) == Some("team");
    (output.status.code().unwrap(), found.into_iter().filter(is_of_team).collect())
}

fn field<'a>(finding: &'a Value, name: &str) -> &'a str {
    finding.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a metric without labels.
fn metric(instance: &Instance, name: &str) -> String {
    let status = instance.anchord().args(["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let address = status.pointer("/http/address").and_then(Value::as_str).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(&format!("anchord_{name} ")));
    value.ok_or_else(|| format!("no {name} in {text}")).unwrap().to_owned()
}

#[test]
fn a_database_that_is_away_is_reported_with_what_waits() {
    let Some(mut server) = server() else { return };
    let (ada, _bob) = two(&server);
    let mut command = ada.instance.anchord();
    command.arg("daemon").env("ANCHORD_HTTP", "0");
    ada.shell().done(&["stop"]);
    ada.instance.start_daemon_by(command);
    let status = || ada.shell().done(&["status"]);
    poll(PATIENCE, "a database that answers", || {
        status().contains("shared with a team as api; the database answers").then_some(())
    });
    let (_, found) = diagnosis(&ada);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(field(finding, "severity"), "good", "{finding}");
    assert_eq!(metric(&ada.instance, "team_projects"), "1");
    assert_eq!(metric(&ada.instance, "team_projects_unreachable"), "0");

    server.stop_immediate();
    ada.agent().tool("memory_save", &write::save("Lock"));
    let shown = poll(PATIENCE, "a database that is away", || {
        Some(status()).filter(|text| text.contains("reach the database"))
    });
    assert!(shown.contains("as api, 1 save waits; the database answered"), "{shown}");
    let (code, found) = diagnosis(&ada);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code, field(finding, "severity")), (1, "problem"), "{finding}");
    let what = field(finding, "what");
    assert!(
        what.contains("1 save not shared yet") && what.contains("reach the database"),
        "{what}"
    );
    assert!(field(finding, "action").contains("anchord team status --project"), "{finding}");
    assert_eq!(metric(&ada.instance, "team_saves_waiting"), "1");
    assert_eq!(metric(&ada.instance, "team_projects_unreachable"), "1");
}

#[test]
fn a_password_that_cannot_be_read_is_a_problem_that_names_the_file() {
    let Some(server) = server() else { return };
    server.psql("ALTER ROLE ada PASSWORD 'hunter2'");
    server.require_passwords();
    let ada = Machine::new();
    let file = ada.instance.user_home().join("password");
    std::fs::write(&file, "hunter2\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.to_str().unwrap();
    ada.shell().done(&["team", "create", &server.url("ada"), "--password-file", file]);
    std::fs::remove_file(file).unwrap();
    ada.shell().done(&["stop"]);
    ada.instance.start_daemon();
    let (code, found) = diagnosis(&ada);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code, field(finding, "severity")), (1, "problem"), "{finding}");
    assert!(field(finding, "what").contains(file), "{finding}");
}

/// The memory can be read meanwhile, and is linked again by the command that is named.
#[test]
fn a_damaged_team_file_is_a_problem_that_joining_again_repairs() {
    let Some(server) = server() else { return };
    let ada = Machine::new();
    ada.shell().done(&["note", "Ours."]);
    ada.create(&server.url("ada"));
    ada.shell().done(&["stop"]);
    let mut files = Vec::new();
    anchord_tests::walk(&ada.instance.home(), &mut |file| {
        files.extend(file.ends_with("team.json").then(|| file.to_owned()));
    });
    let [file] = files.as_slice() else { panic!("{files:?}") };
    std::fs::write(file, "{").unwrap();
    assert!(ada.shell().done(&["load"]).contains("Ours."));
    let (code, refused) = ada.shell().said(&["note", "Mine alone."]);
    assert!(code != 0 && refused.contains("`anchord team join`"), "{refused}");
    let (code, found) = diagnosis(&ada);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code, field(finding, "severity")), (1, "problem"), "{finding}");
    let what = field(finding, "what");
    assert!(what.contains("team.json") && what.contains("`anchord team join`"), "{what}");
    let joined = ada.join(&server.url("ada"));
    assert!(joined.contains("as in the database"), "{joined}");
    let (_, found) = diagnosis(&ada);
    assert!(found.iter().all(|finding| field(finding, "severity") == "good"), "{found:?}");
}

#[test]
fn the_first_load_of_a_daemon_has_what_others_wrote_or_says_that_it_may_not() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let load_of_a_new_daemon = || {
        ada.shell().done(&["stop"]);
        ada.shell().done(&["load"])
    };
    let not_yet = "The team's database has not answered yet";
    bob.shell().done(&["note", "While ada was away."]);
    let load = load_of_a_new_daemon();
    assert_ne!(load.contains("While ada was away."), load.contains(not_yet), "{load}");
    proxy.stall();
    assert!(load_of_a_new_daemon().contains(not_yet));
    proxy.resume();
    poll(PATIENCE, "an answer of the database", || {
        let load = ada.shell().done(&["load"]);
        (load.contains("While ada was away.") && !load.contains(not_yet)).then_some(())
    });
}

/// The limits are those of docs/team.md, with time for a busy machine. Meanwhile the daemon tries
/// again and again to fold what waits.
#[test]
fn a_database_that_hangs_keeps_no_caller_waiting_and_no_checkpoint() {
    const ANSWERED_WITHIN: Duration = Duration::from_secs(8);
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let mut agent = ada.agent();
    agent.tool("memory_note", &json!({ "content": "Before." }));
    proxy.stall();
    let kept = agent.tool("memory_save", &write::save("Lock"));
    assert!(kept.contains("Kept here"), "{kept}");
    for number in 0..2 {
        let begin = Instant::now();
        let note = json!({ "content": format!("Note {number}.") });
        let refused = agent.call("memory_note", &note).unwrap();
        assert!(refused.is_error && refused.text.contains("not saved"), "{refused:?}");
        assert!(begin.elapsed() < ANSWERED_WITHIN, "{:?}", begin.elapsed());
        let begin = Instant::now();
        for step in 0..5 {
            let step = json!({ "summary": format!("Step {step} after note {number}.") });
            agent.tool("memory_checkpoint", &step);
        }
        agent.tool("memory_note", &json!({ "content": "Only mine.", "scope": "session" }));
        assert!(begin.elapsed() < ANSWERED_WITHIN / 2, "{:?}", begin.elapsed());
    }
    proxy.resume();
    bob.sees("Lock");
}

/// An agent sends several calls at once. Those that need no database come first.
#[test]
fn a_note_that_waits_delays_no_read_and_lets_no_write_go_past() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, _bob) = two_by(&proxy.url("ada"), &server);
    let mut agent = ada.agent();
    agent.tool("memory_note", &json!({ "content": "Before." }));
    proxy.stall();
    let begin = Instant::now();
    let note = agent.call_later("memory_note", &json!({ "content": "Silent." }));
    let calls = [
        ("memory_search", json!({ "query": "before" })),
        (
            "memory_save",
            json!({ "summary": "First.", "notes": [{ "key": "port", "content": "It is one." }] }),
        ),
        ("memory_checkpoint", json!({ "notes": [{ "key": "port", "content": "It is two." }] })),
        ("memory_checkpoint", json!({ "notes": [{ "key": "port", "content": "It is three." }] })),
        ("memory_load", json!({})),
        ("memory_status", json!({})),
    ];
    let calls = calls.map(|(tool, arguments)| (tool, agent.call_later(tool, &arguments)));
    let (writes, reads): (Vec<_>, Vec<_>) = calls
        .into_iter()
        .partition(|(tool, _)| ["memory_save", "memory_checkpoint"].contains(tool));
    for (_, call) in reads {
        let reply = agent.reply(call).unwrap();
        assert!(!reply.is_error, "{reply:?}");
    }
    // The note has 5 s.
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let refused = agent.reply(note).unwrap();
    assert!(refused.is_error && refused.text.contains("not saved"), "{refused:?}");
    for (_, call) in writes {
        let reply = agent.reply(call).unwrap();
        assert!(!reply.is_error, "{reply:?}");
    }
    let begin = Instant::now();
    let refused = agent.call("memory_note", &json!({ "content": "Still silent." })).unwrap();
    assert!(refused.is_error && refused.text.contains("not saved"), "{refused:?}");
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    proxy.resume();
    agent.tool("memory_save", &json!({ "summary": "Second." }));
    poll(PATIENCE, "the fact of the last checkpoint", || {
        let port = agent.tool("memory_get", &json!({ "key": "port" }));
        port.contains("It is three.").then_some(())
    });
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
fn a_status_does_not_wait_long_for_a_silent_database() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, _bob) = two_by(&proxy.url("ada"), &server);
    ada.team();
    proxy.stall();
    let start = Instant::now();
    let team = ada.team();
    assert!(start.elapsed() < Duration::from_secs(12), "{:?}", start.elapsed());
    let error = team.get("error").and_then(Value::as_str).unwrap_or_default();
    assert!(error.starts_with("failed to reach the database"), "{team}");
}
