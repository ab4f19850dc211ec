//! Four machines of a team write while daemons, shims, the database and connections fail. Then
//! every write is counted.
//!
//! `ANCHORD_TEAM_TORTURE=WRITES` makes each agent write so often, and has 16 agents for each
//! machine instead of 3.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anchord_team::testing::{COMMIT, Cut, Proxy, Server};
use anchord_tests::{Agent, poll, skip};
use serde_json::{Value, json};

use crate::team::Machine;

const MACHINES: usize = 4;

/// The faults of the short version, in turn, each at a share of the writes.
const FAULTS: [Fault; 9] = [
    Fault::CutBefore,
    Fault::KillDaemon,
    Fault::CutAfter,
    Fault::CrashDatabase,
    Fault::KillShim,
    Fault::Stall,
    Fault::KillDaemon,
    Fault::CutAfter,
    Fault::CutAll,
];

/// A fault of one machine, of its way to the database, or of the database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    CutBefore,
    CutAfter,
    CutAll,
    Stall,
    KillDaemon,
    KillShim,
    CrashDatabase,
}

/// The tags of writes that were tried, and of those that were acknowledged.
#[derive(Default)]
pub(crate) struct Tags {
    tried: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
}

impl Tags {
    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    /// Checks that all machines have what was acknowledged, once each, when nothing waits any more.
    pub(crate) fn check(self, machines: &[Machine], server: &Server) {
        let Self { tried, acknowledged } = self;
        assert!(acknowledged.len() * 2 > tried.len(), "most writes are acknowledged");
        let patience = Duration::from_mins(3);
        poll(patience, "every save folded, and every machine up to date", || {
            let head = server.psql("SELECT seq FROM anchord.projects").parse::<u64>().unwrap();
            let is_done = |machine: &Machine| {
                let team = machine.team();
                team.get("waiting") == Some(&json!(0)) && team.get("revision") == Some(&json!(head))
            };
            machines.iter().all(is_done).then_some(())
        });
        let found = counted(&server.psql("SELECT changes FROM anchord.entries ORDER BY seq"));
        let lost: Vec<&String> =
            acknowledged.iter().filter(|tag| !found.contains_key(*tag)).collect();
        assert_eq!(lost, Vec::<&String>::new(), "lost of {} acknowledged", acknowledged.len());
        let doubled: Vec<_> = found.iter().filter(|(_, count)| **count != 1).collect();
        assert_eq!(doubled, Vec::new(), "written more than once");
        assert!(found.keys().all(|tag| tried.contains(tag)));
        let (first, others) = machines.split_first().unwrap();
        let shared = first.shared();
        for machine in others {
            assert_eq!(machine.shared(), shared, "all machines have the same");
        }
    }
}

/// Sizes of a run.
struct Size {
    agents: usize,
    writes: usize,
    rounds: usize,
}

impl Size {
    fn of_run() -> Self {
        match std::env::var("ANCHORD_TEAM_TORTURE").ok().and_then(|writes| writes.parse().ok()) {
            Some(writes) => Self { agents: 16, writes, rounds: writes / 20 + 1 },
            None => Self { agents: 3, writes: 10, rounds: 1 },
        }
    }

    fn all(&self) -> usize {
        MACHINES * self.agents * self.writes
    }
}

#[test]
fn nothing_is_lost_or_doubled_whatever_dies() {
    let Some(mut server) = Server::start() else { return skip("PostgreSQL is not installed") };
    server.psql("CREATE ROLE ada LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO ada;");
    let size = Size::of_run();
    let machines: Vec<Machine> = (0..MACHINES).map(|_| Machine::new()).collect();
    let proxies: Vec<Proxy> = (0..MACHINES).map(|_| Proxy::start(server.port())).collect();
    for (at, (machine, proxy)) in machines.iter().zip(&proxies).enumerate() {
        match at {
            0 => machine.create(&proxy.url("ada")),
            _ => machine.join(&proxy.url("ada")),
        };
    }
    let tags = Mutex::new(Tags::default());
    let done = AtomicUsize::new(0);
    // A shim of each machine that the faults kill: its agent goes on as a new session.
    let shims: Vec<Mutex<Option<u32>>> = (0..MACHINES).map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for (at, machine) in machines.iter().enumerate() {
            for agent in 0..size.agents {
                let shim = (agent == 0).then(|| &shims[at]);
                let (tags, done, name) = (&tags, &done, format!("m{at}a{agent}"));
                let writes = size.writes;
                scope.spawn(move || write(machine, &name, writes, shim, tags, done));
            }
        }
        let sites = sites(&machines, &proxies, &shims);
        let faults: Vec<Fault> = FAULTS.repeat(size.rounds);
        inflict(&faults, size.all(), &mut server, &sites, &done);
    });
    for proxy in &proxies {
        proxy.resume();
    }
    tags.into_inner().unwrap().check(&machines, &server);
}

/// Returns the places of faults.
pub(crate) fn sites<'a>(
    machines: &'a [Machine],
    proxies: &'a [Proxy],
    shims: &'a [Mutex<Option<u32>>],
) -> Vec<Site<'a>> {
    let places = machines.iter().zip(proxies).zip(shims);
    places.map(|((machine, proxy), shim)| Site { machine, proxy, shim }).collect()
}

/// Writes from one agent: notes, and saves of what was staged before.
pub(crate) fn write(
    machine: &Machine,
    name: &str,
    writes: usize,
    shim: Option<&Mutex<Option<u32>>>,
    tags: &Mutex<Tags>,
    done: &AtomicUsize,
) {
    let begin = || {
        let agent = machine.agent();
        if let Some(shim) = shim {
            *shim.lock().unwrap() = Some(agent.pid());
        }
        agent
    };
    let mut agent: Option<Agent> = None;
    for number in 0..writes {
        let tag = format!("{name}w{number:04}.");
        tags.lock().unwrap().tried.insert(tag.clone());
        let open = agent.get_or_insert_with(begin);
        // The harness panics if the shim is killed.
        let answered = catch_unwind(AssertUnwindSafe(|| match number % 3 {
            0 => open.call("memory_note", &json!({ "content": tag })),
            1 => {
                let notes = json!([{ "content": tag }]);
                let save = json!({ "session_summary": format!("Wrote {tag}"), "notes": notes });
                open.call("memory_save", &save)
            }
            _ => {
                let staged = json!({ "notes": [{ "content": tag }] });
                let staged = open.call("memory_checkpoint", &staged);
                let summary = json!({ "session_summary": format!("Saved {tag}") });
                staged.and_then(|_| open.call("memory_save", &summary))
            }
        }));
        match answered {
            Ok(Ok(reply)) if !reply.is_error => {
                tags.lock().unwrap().acknowledged.insert(tag);
            }
            // Refused without the database.
            Ok(Ok(_)) => {}
            Ok(Err(_)) | Err(_) => agent = None,
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// A machine that faults meet.
pub(crate) struct Site<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) proxy: &'a Proxy,
    /// A shim of one of its agents.
    pub(crate) shim: &'a Mutex<Option<u32>>,
}

/// Inflicts the faults on the machines in turn, spread over all writes.
pub(crate) fn inflict(
    faults: &[Fault],
    writes: usize,
    server: &mut Server,
    sites: &[Site<'_>],
    done: &AtomicUsize,
) {
    let patience = Duration::from_secs(15) * u32::try_from(faults.len()).unwrap();
    let deadline = Instant::now() + patience;
    for ((at, fault), site) in faults.iter().enumerate().zip(sites.iter().cycle()) {
        let Site { machine, proxy, shim } = site;
        let due = writes * (at + 1) / (faults.len() + 2);
        while done.load(Ordering::SeqCst) < due && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        match fault {
            Fault::CutBefore => proxy.on(COMMIT, Cut::Before),
            Fault::CutAfter => proxy.on(COMMIT, Cut::After),
            Fault::CutAll => proxy.cut(),
            Fault::Stall => {
                proxy.stall();
                std::thread::park_timeout(Duration::from_millis(500));
                proxy.resume();
            }
            Fault::KillDaemon => {
                machine.instance.kill9();
            }
            Fault::KillShim => {
                if let Some(pid) = shim.lock().unwrap().take() {
                    anchord_tests::process::signal(pid, anchord_tests::Signal::KILL);
                }
            }
            Fault::CrashDatabase => {
                server.stop_immediate();
                server.restart();
            }
        }
    }
}

/// Counts the times that each tag was written, as a note of its own or as a repetition.
fn counted(entries: &str) -> BTreeMap<String, u64> {
    let mut found: BTreeMap<String, (BTreeSet<String>, u64)> = BTreeMap::new();
    for line in entries.lines() {
        let changes: Vec<Value> = serde_json::from_str(line).unwrap();
        for change in changes {
            let Some(note) = change.pointer("/put/body/note") else { continue };
            let tag = note.get("content").and_then(Value::as_str).unwrap();
            let (ids, repeats) = found.entry(tag.to_owned()).or_default();
            ids.insert(change.pointer("/put/id").unwrap().to_string());
            *repeats = note.get("repeats").and_then(Value::as_u64).unwrap_or(0);
        }
    }
    found.into_iter().map(|(tag, (ids, repeats))| (tag, ids.len() as u64 + repeats)).collect()
}
