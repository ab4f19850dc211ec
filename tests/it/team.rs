//! A memory that a team shares through a real PostgreSQL. Each machine is an instance of its own.

use std::io::Write;
use std::process::Stdio;

use anchord_team::testing::{COMMIT, Cut, Proxy, Server};
use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, poll, skip, write};
use serde_json::{Value, json};

/// The statement of an append that comes before its COMMIT.
const INSERT: &str = "INSERT INTO anchord.entries";

/// One machine of a team: an instance, and a clone of the project.
pub(crate) struct Machine {
    pub(crate) instance: Instance,
    pub(crate) project: Project,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { instance: Instance::new(), project: Project::git() }
    }

    pub(crate) fn shell(&self) -> Shell<'_> {
        Shell::new(&self.instance, self.project.path())
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent::open(&self.instance, self.project.path())
    }

    pub(crate) fn agent_with_all_tools(&self) -> Agent {
        Agent::with_all_tools(&self.instance, self.project.path())
    }

    /// Creates the team's project, called `api`, from this machine's memory.
    pub(crate) fn create(&self, url: &str) -> String {
        self.shell().done(&["team", "create", url, "--name", "api"])
    }

    pub(crate) fn join(&self, url: &str) -> String {
        self.shell().done(&["team", "join", url, "--name", "api"])
    }

    pub(crate) fn team(&self) -> Value {
        self.shell().json(&["team", "status"]).pointer("/team").cloned().unwrap()
    }

    /// Waits until the machine's load has a text.
    pub(crate) fn sees(&self, text: &str) -> String {
        poll(PATIENCE, "a load with what another machine wrote", || {
            Some(self.shell().done(&["load"])).filter(|load| load.contains(text))
        })
    }

    pub(crate) fn revision(&self) -> u64 {
        self.team().get("revision").and_then(Value::as_u64).unwrap()
    }

    /// Returns all shared records, without those that stay on the machine.
    pub(crate) fn shared(&self) -> Vec<Value> {
        shared(&self.shell())
    }
}

/// Returns all shared records of a memory, without those that stay on the machine.
pub(crate) fn shared(shell: &Shell<'_>) -> Vec<Value> {
    let exported = shell.done(&["export", "--format", "json"]);
    let exported: Value = serde_json::from_str(&exported).unwrap();
    let records = exported.get("records").and_then(Value::as_array).unwrap().iter();
    let mut shared: Vec<Value> =
        records.filter(|record| !record["id"].as_str().unwrap().ends_with('p')).cloned().collect();
    shared.sort_by_key(|record| record["id"].as_str().unwrap().to_owned());
    shared
}

/// Returns a server with the members ada and bob; `None`, after saying so, without PostgreSQL.
pub(crate) fn server() -> Option<Server> {
    let Some(server) = Server::start() else {
        skip("PostgreSQL is not installed");
        return None;
    };
    server.psql("CREATE ROLE ada LOGIN CREATEROLE; CREATE ROLE bob LOGIN;");
    server.psql("GRANT CREATE ON DATABASE postgres TO ada;");
    Some(server)
}

/// Returns two machines of one team.
pub(crate) fn two(server: &Server) -> (Machine, Machine) {
    two_by(&server.url("ada"), server)
}

/// Returns two machines of one team, of which the first reaches the database by a URL of its own.
pub(crate) fn two_by(url: &str, server: &Server) -> (Machine, Machine) {
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(url);
    invite(&ada, server);
    bob.join(&server.url("bob"));
    (ada, bob)
}

pub(crate) fn invite(ada: &Machine, server: &Server) {
    let sql = ada.shell().done(&["team", "invite", "bob", "--called", "Bob"]);
    server.psql(&sql);
}

#[test]
fn two_machines_share_a_memory_and_keep_what_is_private() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.shell().done(&["note", "--key", "db", "Postgres 16"]);
    ada.shell().done(&["note", "--user", "only mine"]);
    let created = ada.create(&server.url("ada"));
    assert!(created.contains("shared as api"), "{created}");
    invite(&ada, &server);
    let joined = bob.join(&server.url("bob"));
    assert!(joined.contains("as in the database") && joined.contains("maintainer"), "{joined}");
    bob.sees("Postgres 16");

    let history = bob.shell().done(&["history"]);
    assert!(history.contains("a team shares the memory") && history.contains("Postgres 16"));

    let mut agent = bob.agent();
    let note = json!({ "items": [
        { "content": "Deploys run on Fridays." },
        { "content": "I am half done.", "scope": "session" },
    ] });
    let stored = agent.tool("memory_note", &note);
    assert!(stored.contains("n1p"), "a private note has an id of its own: {stored}");
    let saved = agent.tool("memory_save", &write::save("Cache"));
    assert!(saved.contains("Saved"), "{saved}");
    let late = json!({ "session_summary": "Late.", "expected_revision": 9_999 });
    let refused = agent.call("memory_save", &late).unwrap();
    assert!(refused.is_error && refused.text.starts_with("failed to save: "), "{refused:?}");
    let load = ada.sees("Deploys run on Fridays.");
    assert!(load.contains("Cache") && load.contains(" of Bob:"), "{load}");
    agent.tool("memory_note", &json!({ "key": "db", "content": "Postgres 17" }));
    ada.sees("Postgres 17");
    let fact = ada.shell().done(&["get", "db"]);
    assert!(fact.contains(" of Bob in session"), "{fact}");
    // It was written before a team shared the memory.
    assert!(!fact.contains("of ada"), "{fact}");
    let versions = ada.shell().done(&["history", "db"]);
    assert!(versions.contains(", note  Bob  "), "{versions}");
    poll(PATIENCE, "equal records on both machines", || {
        (ada.revision() == bob.revision()).then_some(())
    });
    assert_eq!(ada.shared(), bob.shared());
    let dump = server.dump();
    assert!(dump.contains("Deploys run on Fridays."));
    for private in ["I am half done.", "only mine"] {
        assert!(!dump.contains(private), "{private} left the machine");
    }
}

#[test]
fn a_save_without_the_database_is_kept_and_folded_once_when_it_is_back() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = ada.agent();
    agent.tool("memory_checkpoint", &write::checkpoint("Staged before"));
    server.stop_immediate();

    agent.tool("memory_checkpoint", &write::checkpoint("Staged without"));
    let kept = agent.tool("memory_save", &write::save("Lock"));
    assert!(kept.contains("Kept here, shared when the database is back"), "{kept}");
    let refused = agent.call("memory_note", &json!({ "content": "Later." })).unwrap();
    assert!(refused.is_error, "{}", refused.text);
    assert!(refused.text.contains("memory_checkpoint"), "{}", refused.text);
    let (code, text) = ada.shell().said(&["note", "Mine."]);
    assert!(code != 0 && !text.contains("memory_checkpoint"), "no tool of a person's: {text}");
    assert_eq!(ada.team()["waiting"], 1);
    // What is staged after the save is not part of it, even if the daemon dies meanwhile.
    agent.tool("memory_checkpoint", &write::checkpoint("Staged after"));
    ada.instance.kill9();
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("1 save waits for the team's database"), "{load}");
    assert!(load.contains("What you saved") && load.contains("Staged without"), "{load}");
    let found = agent.tool("memory_search", &json!({ "query": "staged" }));
    assert!(found.contains("Not searched: your save"), "{found}");

    server.restart();
    let load = bob.sees("Lock");
    assert!(load.contains("Staged before") && load.contains("Staged without"), "{load}");
    assert!(!load.contains("Staged after"), "{load}");
    poll(PATIENCE, "nothing left to fold", || (ada.team()["waiting"] == 0).then_some(()));
    agent.tool("memory_save", &write::save("Rest"));
    bob.sees("Staged after");
    let rows = bob.shell().json(&["list", "--kind", "session"]);
    assert_eq!(rows["records"].as_array().map(Vec::len), Some(1), "{rows}");
    assert_eq!(ada.shared(), bob.shared());
}

/// The agent was told that nothing is lost.
#[test]
fn what_a_save_that_waited_did_not_replace_is_told_and_stays_readable() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let fact = |text: &str| json!({ "notes": [{ "key": "port", "content": text }] });
    let (mut agent, mut ends) = (ada.agent(), ada.agent());
    agent.tool("memory_checkpoint", &fact("4000, as ada staged"));
    ends.tool("memory_checkpoint", &fact("5000, as one staged that ended"));
    proxy.refuse();
    bob.shell().done(&["note", "--key", "port", "6000"]);
    let kept = agent.tool("memory_save", &json!({ "session_summary": "Settled." }));
    assert!(kept.contains("do not save this again"), "{kept}");
    ends.close_stdin();
    poll(PATIENCE, "the end to wait", || (ada.team()["waiting"] == 2).then_some(()));
    proxy.resume();
    ada.sees("6000");
    poll(PATIENCE, "nothing left to fold", || (ada.team()["waiting"] == 0).then_some(()));
    let told = agent.tool("memory_status", &json!({}));
    assert!(told.contains("Your save that waited is shared now as s"), "{told}");
    assert!(told.contains("you staged: 4000, as ada staged"), "{told}");
    let row = |machine: &Machine, text: &str| {
        let found = machine.shell().done(&["search", text]);
        assert!(found.contains("was written later"), "{found}");
    };
    row(&bob, "4000 as ada staged");
    row(&ada, "5000 as one staged that ended");
    let load = ada.shell().done(&["load"]);
    assert!(load.contains("1 not taken"), "{load}");
    assert!(bob.shell().done(&["get", "port"]).contains("6000"));
}

#[test]
fn a_save_that_waits_is_folded_though_nobody_comes_back() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    server.stop_immediate();
    let mut agent = ada.agent();
    agent.tool("memory_save", &write::save("Lock"));
    agent.close_stdin();
    ada.instance.kill9();
    server.restart();
    ada.instance.start_daemon();
    bob.sees("Lock");
}

#[test]
fn a_write_whose_connection_is_cut_is_applied_once() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let mut agent = ada.agent();
    let cuts = [(INSERT, Cut::After), (COMMIT, Cut::Before), (COMMIT, Cut::After)];
    for (number, (pattern, cut)) in cuts.into_iter().enumerate() {
        let [title, noted, shell] =
            ["Decision", "Noted", "Typed"].map(|word| format!("{word} {number}"));
        proxy.on(pattern, cut);
        let saved = agent.tool("memory_save", &write::save(&title));
        assert!(saved.contains("Saved"), "{pattern} {cut:?}: {saved}");
        proxy.on(pattern, cut);
        agent.tool("memory_note", &json!({ "content": noted }));
        // It has no line of a shim, so the daemon makes its key.
        proxy.on(pattern, cut);
        ada.shell().done(&["note", &shell]);
        let load = bob.sees(&shell);
        assert!(load.contains(&title) && load.contains(&noted), "{load}");
    }
    let entries = "SELECT operation || count(*) FROM anchord.entries \
        WHERE operation IN ('note', 'save') GROUP BY operation ORDER BY operation";
    assert_eq!(server.psql(entries), "note6\nsave3");
    assert_eq!(ada.shared(), bob.shared());
}

#[test]
fn a_write_that_is_not_answered_in_time_says_what_is_known_of_it() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, bob) = two_by(&proxy.url("ada"), &server);
    let mut agent = ada.agent();
    let mut note = |content| agent.call("memory_note", &json!({ "content": content })).unwrap();
    proxy.on(INSERT, Cut::Hold);
    let busy = note("Held.");
    assert!(busy.is_error && busy.text.contains("not saved: busy, retry"), "{}", busy.text);
    proxy.resume();
    proxy.on(COMMIT, Cut::Stall);
    let unknown = note("Stalled.");
    assert!(unknown.is_error && unknown.text.contains("outcome unknown"), "{}", unknown.text);
    proxy.resume();
    // This one was committed.
    let load = bob.sees("Stalled.");
    assert!(!load.contains("Held."), "{load}");
    ada.sees("Stalled.");
    assert_eq!(ada.shared(), bob.shared());
}

#[test]
fn a_compaction_is_told_what_to_keep_while_the_database_is_silent() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let (ada, _bob) = two_by(&proxy.url("ada"), &server);
    let kept = "The release key is in the safe.";
    ada.agent().tool("memory_note", &json!({ "content": kept, "pinned": true }));
    let told = |trigger| {
        let event = json!({
            "hook_event_name": "PreCompact", "session_id": "a", "trigger": trigger,
        });
        let mut hook = ada.instance.command(&anchord_tests::binaries().anchord_hook);
        hook.arg("claude-code").current_dir(ada.project.path());
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        String::from_utf8(hook.wait_with_output().unwrap().stdout).unwrap()
    };
    // The first compaction binds the conversation to a topic. The next has nothing to write.
    let first = told("manual");
    assert!(first.contains(kept), "{first}");
    proxy.stall();
    let next = told("auto");
    assert!(next.contains(kept), "a hook that changes nothing waits for nobody: {next:?}");
}

#[test]
fn a_reader_cannot_write_and_keeps_what_it_staged() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    let sql = ada.shell().done(&["team", "invite", "bob", "--role", "reader"]);
    server.psql(&sql);
    bob.join(&server.url("bob"));
    let mut agent = bob.agent();
    let kept = agent.tool("memory_save", &write::save("Mine"));
    ada.shell().done(&["note", "From ada"]);
    assert!(kept.contains("Kept here") && kept.contains("a reader does not write"), "{kept}");
    assert!(!kept.contains("is back"), "the database is there: {kept}");
    assert_eq!(bob.team()["waiting"], 1);
    // Reads work meanwhile, and do not hide why the save waits.
    bob.sees("From ada");
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("does not take it") && !load.contains("cannot be used"), "{load}");
    for _ in 0..2 {
        let status = agent.tool("memory_status", &json!({}));
        let why = "a reader does not write";
        assert!(status.contains("1 save waits") && status.contains(why), "{status}");
        let team = bob.team();
        let error = team.get("error").and_then(Value::as_str).unwrap_or_default();
        assert!(error.contains(why), "{team}");
    }
    let items = json!([{ "content": "For all." }, { "content": "Only mine.", "scope": "session" }]);
    let refused = agent.call("memory_note", &json!({ "items": items })).unwrap();
    let why = "what is for this session alone was stored";
    assert!(refused.is_error && refused.text.contains(why), "{}", refused.text);
    let found = agent.tool("memory_search", &json!({ "query": "only mine" }));
    assert!(found.contains("n1p") && found.contains("Only mine."), "{found}");
    let load = ada.shell().done(&["load"]);
    assert!(!load.contains("Mine") && !load.contains("For all."), "{load}");
}

#[test]
fn a_memory_that_leaves_its_team_has_all_of_it() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Ours since Monday."]);
    bob.sees("Ours since Monday.");
    server.stop_immediate();
    let mut agent = bob.agent();
    agent.tool("memory_save", &write::save("Waiting"));
    let left = bob.shell().done(&["team", "leave", "--keep"]);
    assert!(left.contains("this machine's own"), "{left}");
    let load = bob.shell().done(&["load"]);
    assert!(load.contains("Ours since Monday.") && load.contains("Waiting"), "{load}");
    agent.tool("memory_save", &write::save("After"));
    assert_eq!(bob.shell().json(&["team", "status"])["team"], Value::Null);
    let checked = bob.shell().done(&["journal", "verify"]);
    assert!(!checked.contains("damaged"), "{checked}");
}

#[test]
fn a_creation_under_a_taken_name_sends_nothing() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    server.psql("GRANT anchord_member TO bob");
    bob.shell().done(&["note", "My own."]);
    let create = ["team", "create", &server.url("bob"), "--name", "api"];
    let (code, text) = bob.shell().said(&create);
    assert!(code != 0 && text.contains("another one has this name"), "{text}");
    let dump = server.dump();
    assert!(!dump.contains("unfinished") && !dump.contains("My own."), "{dump}");
    let (_, text) = bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(text.contains("ask a maintainer"), "no other name is given: {text}");
}

#[test]
fn what_cannot_be_joined_or_created_says_what_to_do() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    let (code, text) = ada.shell().said(&["team", "create", &server.url("ada")]);
    assert!(code != 0 && text.contains("anchord team leave --keep"), "{text}");
    let (code, text) = bob.shell().said(&["team", "join", &server.url("bob"), "--name", "api"]);
    assert!(code != 0 && text.contains("ask a maintainer"), "{text}");
    let (code, text) = bob.shell().said(&["team", "create", "postgres://bob:pw@localhost/x"]);
    assert!(code != 0 && text.contains("password") && !text.contains("pw@"), "{text}");
    let (code, text) = bob.shell().said(&["team", "leave", "--keep"]);
    assert!(code != 0 && text.contains("no team"), "{text}");
    // A memory is shared in one way.
    let (code, text) = ada.shell().said(&["init", "--shared", "--yes"]);
    assert!(code != 0 && text.contains("through its database"), "{text}");
    bob.shell().done(&["init", "--shared", "--yes"]);
    let (code, text) = bob.shell().said(&["team", "create", &server.url("bob"), "--name", "b"]);
    assert!(code != 0 && text.contains("init --unshare"), "{text}");
}
