//! History and rollback of a project with many commits, over a shim.

use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, Project, Shell, walk};
use serde_json::json;

use crate::table::Row;
use crate::times::{Times, show};

/// Commits in the project, each a new version of one of as many facts as [`FACTS`].
const COMMITS: u64 = 10_000;
const FACTS: u64 = 500;
/// Calls that are sent before their replies are awaited.
const AHEAD: u64 = 50;
const PAGES: usize = 200;
const ROLLBACKS: usize = 100;
/// Commits that a restore takes back.
const RESTORED: u64 = 1_000;
const RESTORES: usize = 5;
/// Runs of each command.
const COMMANDS: usize = 5;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let mut sent = Vec::new();
    for number in 0..COMMITS {
        let note = json!({ "key": format!("fact.{}", number % FACTS), "content": text(number) });
        sent.push(agent.call_later("memory_note", &note));
        if sent.len() as u64 == AHEAD {
            sent.drain(..).for_each(|id| drop(agent.reply(id).expect("a note is stored")));
        }
    }
    let floor = read_journals(&instance);
    let page = Times::of(PAGES, |_| {
        agent.tool("memory_history", &json!({}));
    });
    let deep = Times::of(PAGES, |number| {
        let cursor = (COMMITS / 2 + number as u64).to_string();
        agent.tool("memory_history", &json!({ "cursor": cursor }));
    });
    let rare = Times::of(PAGES / 20, |_| {
        agent.tool("memory_history", &json!({ "until": "2020-01-01" }));
    });
    let back = |number: usize| json!({ "record": format!("fact.{number}"), "steps": 1 });
    let first = Times::of(1, |number| drop(agent.tool("memory_rollback", &back(number))));
    let rollback = Times::of(ROLLBACKS, |number| {
        drop(agent.tool("memory_rollback", &back(number + 1)));
    });
    let back_to = COMMITS + 1 + ROLLBACKS as u64 - RESTORED;
    let restore = Times::measured(RESTORES, |_| {
        let start = Instant::now();
        let answer = agent.tool("memory_rollback", &json!({ "to_revision": back_to }));
        let took = start.elapsed();
        assert!(answer.contains(" records"), "{answer}");
        agent.tool("memory_rollback", &json!({ "last": 1 }));
        took
    });
    let shell = Shell::new(&instance, project.path());
    let file = project.path().join("backup.jsonl.gz");
    let path = file.to_str().expect("a scratch path is text");
    let backup = Times::of(COMMANDS, |_| drop(shell.done(&["backup", "--to", path])));
    let verify = Times::of(COMMANDS, |_| drop(shell.done(&["journal", "verify", path])));
    let middle = (COMMITS / 2).to_string();
    let past = Times::of(COMMANDS, |_| drop(shell.done(&["load", "--at", &middle])));
    let row = |what: &str, measured: String, target: &'static str| Row {
        what: format!("{what}, of {COMMITS} commits"),
        measured,
        floor: format!("{} (journal read)", show(floor)),
        target,
    };
    vec![
        row("the newest page of history", page.to_string(), "≤ 20 ms"),
        row("a page from the middle of history", deep.to_string(), "≤ 20 ms"),
        row("a search through all of history", rare.to_string(), ""),
        row("the first rollback of a record", show(first.median()), ""),
        row("a record's rollback by a step", rollback.to_string(), "≤ 20 ms"),
        row("a restore over 1000 commits", restore.to_string(), "≤ 1,000 ms"),
        row("`anchord backup`", backup.to_string(), ""),
        row("`anchord journal verify` of a backup", verify.to_string(), ""),
        row("`anchord load --at` the middle", past.to_string(), ""),
    ]
}

/// Returns a text of some 60 words.
fn text(number: u64) -> String {
    (0..60).map(|at| format!("word{} ", (number * 31 + at * 17) % 9_973)).collect()
}

fn read_journals(instance: &Instance) -> Duration {
    let start = Instant::now();
    walk(&instance.home(), &mut |path| {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            std::fs::read(path).expect("a journal can be read");
        }
    });
    start.elapsed()
}
