//! A large memory of a team: its size in the database, and the time to open it. Loads and searches
//! should take as long as without a team.

use std::time::{Duration, Instant};

use anchord_daemon::store::{IndexPlace as _, SledPlace, StoredText};
use anchord_team::testing::Server;
use serde_json::{Value, json};

use super::Machine;
use crate::client::Client;
use crate::notes;
use crate::table::Row;
use crate::times::{Times, show};

/// The notes of one commit.
const NOTES_A_COMMIT: u64 = 10;
const LOADS: usize = 5;
const SEARCHES: usize = 300;
const OPENED: usize = 3;

pub(super) fn run(server: &Server, records: u64) -> Vec<Row> {
    let (name, a_commit) = ("large", NOTES_A_COMMIT);
    let one = Machine::start();
    fill(&one, records, a_commit);
    let alone = Reads::of(&one);
    let open_alone = opened(&one);
    let before = Size::of(server);
    let begin = Instant::now();
    one.shell(&["team", "create", &server.url("ada"), "--name", name]);
    let created = begin.elapsed();
    let size = Size::of(server);
    let shared = Reads::of(&one);

    let other = Machine::start();
    let fetched = fetch(server, name);
    let begin = Instant::now();
    other.shell(&["team", "join", &server.url("ada"), "--name", name]);
    let joined = begin.elapsed();
    let mut client = Client::open(&other.instance, &other.project, 0);
    client.tool("memory_search", &json!({ "query": notes::query(1) }));
    let cold = begin.elapsed();
    let warm = opened(&other);
    let joined_reads = Reads::of(&other);
    let index = index_read(&other);

    let commits = records / a_commit;
    let row = |what: &str, measured: String, floor: String, target: &'static str| Row {
        what: format!("{what}, {records} records in {commits} commits"),
        measured,
        floor,
        target,
    };
    let of_alone = |times: &Times| format!("{times} (without a team)");
    vec![
        row(
            "size in the database",
            format!(
                "{} a record, {} a commit; of that indexes {} a commit",
                (size.all - before.all) / records,
                (size.all - before.all) / commits,
                (size.indexes - before.indexes) / commits,
            ),
            format!("{} a record (the texts of the entries)", size.texts(&before) / records),
            "",
        ),
        row("`anchord team create`", show(created), String::new(), ""),
        row(
            "cold: `anchord team join` on an empty machine, and a search",
            format!("{}, of that the command {}", show(cold), show(joined)),
            format!("{} (the entries fetched and parsed)", show(fetched)),
            "≤ 2 s",
        ),
        row(
            "warm: start of the daemon to the first answer",
            warm.to_string(),
            format!("{}; {index} (the index opened and read)", of_alone(&open_alone)),
            "≤ 100 ms",
        ),
        row("`memory_load`", shared.ratio(&alone, |it| &it.loads), of_alone(&alone.loads), "1.0"),
        row(
            "`memory_search`",
            shared.ratio(&alone, |it| &it.searches),
            of_alone(&alone.searches),
            "1.0",
        ),
        row(
            "`memory_search` on the machine that joined",
            joined_reads.ratio(&alone, |it| &it.searches),
            of_alone(&alone.searches),
            "1.0",
        ),
    ]
}

fn fill(machine: &Machine, records: u64, a_commit: u64) {
    let mut client = Client::open(&machine.instance, &machine.project, 0);
    for first in (0..records).step_by(usize::try_from(a_commit).unwrap_or(1)) {
        let items: Vec<Value> = (first..first + a_commit)
            .map(|number| json!({ "content": notes::text(number) }))
            .collect();
        client.tool("memory_note", &json!({ "items": items }));
    }
}

/// Measures the time from the start of a daemon to its first answer from memory.
fn opened(machine: &Machine) -> Times {
    Times::measured(OPENED, |_| {
        let daemon = machine.instance.daemon_pid().expect("it runs");
        machine.shell(&["stop"]);
        machine.instance.wait_gone(daemon);
        let begin = Instant::now();
        machine.instance.start_daemon();
        let mut client = Client::open(&machine.instance, &machine.project, 0);
        client.tool("memory_search", &json!({ "query": notes::query(7) }));
        begin.elapsed()
    })
}

/// Measures the time in which sled opens a project's index and reads its rows, and nothing else.
fn index_read(machine: &Machine) -> Times {
    let daemon = machine.instance.daemon_pid().expect("it runs");
    machine.shell(&["stop"]);
    machine.instance.wait_gone(daemon);
    let projects = machine.instance.home().join("data/projects");
    let mut found = std::fs::read_dir(projects).expect("it has projects");
    let project = found.next().expect("it has one").expect("it can be read").path();
    let place = SledPlace::new(project.join("sled"));
    Times::of(OPENED, |_| {
        let mut bytes = 0;
        let index = place.open().expect("nobody has it");
        let mut visit = |key: &str, text: StoredText<'_>| {
            let (StoredText::Plain(text) | StoredText::Packed(text)) = text;
            bytes += key.len() + text.len();
        };
        index.scan_stored("d/", &mut visit).expect("it can be read");
        assert!(bytes > 0, "it has rows");
    })
}

/// The times of reads.
struct Reads {
    loads: Times,
    searches: Times,
}

impl Reads {
    fn of(machine: &Machine) -> Self {
        let mut client = Client::open(&machine.instance, &machine.project, 1);
        client.tool("memory_status", &json!({}));
        let loads = Times::of(LOADS, |_| {
            client.tool("memory_load", &json!({}));
        });
        let searches = Times::of(SEARCHES, |number| {
            client.tool("memory_search", &json!({ "query": notes::query(number as u64) }));
        });
        Self { loads, searches }
    }

    /// Words times, and the ratio of their median to that of others.
    fn ratio(&self, others: &Self, of: impl Fn(&Self) -> &Times) -> String {
        let (own, others) = (of(self), of(others));
        let ratio = own.median().as_secs_f64() / others.median().as_secs_f64();
        format!("{own}; {ratio:.2} of the median without a team")
    }
}

/// Returns the least time to get all entries of a project to this machine.
fn fetch(server: &Server, name: &str) -> Duration {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let connected = tokio_postgres::connect(&server.url("ada"), tokio_postgres::NoTls).await;
        let (client, driver) = connected.expect("the server runs");
        tokio::spawn(driver);
        let sql = "SELECT e.changes FROM anchord.entries e \
            JOIN anchord.projects p ON p.id = e.project WHERE p.name = $1 ORDER BY e.seq";
        let begin = Instant::now();
        let rows = client.query(sql, &[&name]).await.expect("the role is a member");
        for row in rows {
            let changes: &str = row.get(0);
            serde_json::from_str::<Value>(changes).expect("changes are JSON");
        }
        begin.elapsed()
    })
}

/// The bytes of the journal in the database.
struct Size {
    all: u64,
    indexes: u64,
    texts: u64,
}

impl Size {
    fn of(server: &Server) -> Self {
        let exists = server.psql("SELECT to_regclass('anchord.entries') IS NOT NULL") == "t";
        let number = |sql: &str| if exists { server.psql(sql).parse().unwrap_or(0) } else { 0 };
        Self {
            all: number("SELECT pg_total_relation_size('anchord.entries')"),
            indexes: number("SELECT pg_indexes_size('anchord.entries')"),
            texts: number("SELECT coalesce(sum(octet_length(changes)), 0) FROM anchord.entries"),
        }
    }

    fn texts(&self, before: &Self) -> u64 {
        self.texts - before.texts
    }
}
