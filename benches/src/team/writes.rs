//! Saves a second of many sessions in one project, and their size in the database.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anchord_team::testing::Server;
use serde_json::json;

use super::{Machine, bare, per_second};
use crate::client::Client;
use crate::notes;
use crate::table::Row;
use crate::times::{Times, show};

/// The numbers of daemons and of sessions on all of them.
const RUNS: [(usize, usize); 6] = [(1, 1), (1, 16), (1, 64), (4, 4), (4, 16), (4, 64)];
const TIME: Duration = Duration::from_secs(5);

/// The connections that one daemon uses for appends at most.
const POOL: usize = anchord_team::limits::APPEND_CONNECTIONS_MAX;

/// The approximate size of a save's row.
const ROW_BYTES: usize = 1_500;

pub(super) fn run(server: &Server, _records: u64) -> Vec<Row> {
    RUNS.into_iter().flat_map(|(daemons, sessions)| with(server, daemons, sessions)).collect()
}

fn with(server: &Server, daemons: usize, sessions: usize) -> Vec<Row> {
    let connections = sessions.min(POOL * daemons);
    let floor = bare::inserts_per_second(server, connections, ROW_BYTES, TIME / 2);
    let name = format!("p{daemons}-{sessions}");
    let machines = Machine::team(server, &name, daemons);
    let before = Counters::read(server, &name);
    let (start, end) = (Barrier::new(sessions + 1), AtomicBool::new(false));
    let (took, saves) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..sessions)
            .zip(machines.iter().cycle())
            .map(|(session, machine)| {
                let (start, end) = (&start, &end);
                scope.spawn(move || save(machine, session, start, end))
            })
            .collect();
        start.wait();
        let begin = Instant::now();
        while let Some(left) = TIME.checked_sub(begin.elapsed()) {
            std::thread::park_timeout(left);
        }
        end.store(true, Ordering::Relaxed);
        let saves: Vec<Duration> = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("the saves succeed"))
            .collect();
        (begin.elapsed(), saves)
    });
    let after = Counters::read(server, &name);
    let times = Times::measured(saves.len(), |at| saves.get(at).copied().unwrap_or_default());
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let count = |count: u64| count as f64;
    let rate = count(saves.len() as u64) / took.as_secs_f64();
    let commits = count(after.entries - before.entries);
    let (wal, syncs) = (count(after.wal - before.wal), count(after.syncs - before.syncs));
    vec![Row {
        what: format!("saves a second, {sessions} sessions on {daemons} daemons, one project"),
        measured: format!(
            "{}, each p50 {}, p99 {}; {:.1} commits a flush, {:.0} B of WAL a commit",
            per_second(rate),
            show(times.median()),
            show(times.p99()),
            commits / syncs,
            wal / commits
        ),
        floor: format!("{} (bare INSERT + COMMIT, {connections} connections)", per_second(floor)),
        target: "",
    }]
}

fn save(machine: &Machine, session: usize, start: &Barrier, end: &AtomicBool) -> Vec<Duration> {
    let mut client = Client::open(&machine.instance, &machine.project, session);
    let mut saves = Vec::new();
    let mut number = u64::try_from(session).unwrap_or_default() << 32;
    let mut save = |client: &mut Client| {
        number += 1;
        let note = json!({ "content": notes::text(number) });
        let call = json!({ "session_summary": "Worked.", "notes": [note] });
        let saved = client.tool("memory_save", &call);
        assert!(saved.starts_with("Saved"), "{saved}");
    };
    save(&mut client);
    start.wait();
    while !end.load(Ordering::Relaxed) {
        let begin = Instant::now();
        save(&mut client);
        saves.push(begin.elapsed());
    }
    saves
}

/// Counters of the server.
struct Counters {
    entries: u64,
    wal: u64,
    syncs: u64,
}

impl Counters {
    fn read(server: &Server, project: &str) -> Self {
        let number = |sql: &str| {
            let number = server.psql(sql);
            number.parse::<f64>().unwrap_or_default()
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counters are whole and not negative"
        )]
        let count = |sql: &str| number(sql) as u64;
        Self {
            entries: count(&format!("SELECT seq FROM anchord.projects WHERE name = '{project}'")),
            wal: count("SELECT wal_bytes FROM pg_stat_wal"),
            syncs: count("SELECT wal_sync FROM pg_stat_wal"),
        }
    }
}
