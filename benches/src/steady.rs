//! Sessions that note and search without a pause, in a project that is held at its budget and in
//! one without compaction. Clients connect to the daemon's socket directly. A shim for each session
//! would take processor time from the measured daemon.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anchord_tests::{Instance, Project};
use serde_json::{Value, json};

use crate::client::Client;
use crate::compaction::Dice;
use crate::table::Row;
use crate::times::{Times, show};

const SESSIONS: [usize; 3] = [1, 8, 32];
const TIME: Duration = Duration::from_secs(5);
/// The number of notes at the start; together they have about as many tokens as the default budget.
const NOTES: usize = 1_500;
const NOTES_AT_ONCE: usize = 100;

/// The results of one run, over all its sessions.
struct Work {
    calls_per_second: f64,
    saves: Times,
    errors: usize,
}

pub(crate) fn run() -> Vec<Row> {
    SESSIONS
        .into_iter()
        .map(|sessions| {
            let free = work(sessions, "[memory]\nauto_compact = false\n");
            let held = work(sessions, "");
            let share = held.calls_per_second / free.calls_per_second;
            let slower = held.saves.p99().as_secs_f64() / free.saves.p99().as_secs_f64();
            Row {
                what: format!("notes and searches in turn, {sessions} sessions, at the budget"),
                measured: format!("{held}: {share:.2} of the calls, {slower:.1} of the p99"),
                floor: format!("{free} (without compaction)"),
                target: if sessions == 32 {
                    "≥ 0.85 of the calls, ≤ 2 of the p99; ≥ 6,000 calls/s without compaction"
                } else {
                    "≥ 0.85 of the calls, ≤ 2 of the p99"
                },
            }
        })
        .collect()
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} calls/s, save p99 {}", self.calls_per_second, show(self.saves.p99()))?;
        if self.errors > 0 {
            write!(f, ", {} ERRORS", self.errors)?;
        }
        Ok(())
    }
}

/// Runs `sessions` sessions in one project of an instance with this configuration.
fn work(sessions: usize, configuration: &str) -> Work {
    let instance = Instance::shipped();
    let project = Project::git();
    instance.configure(configuration);
    instance.start_daemon();
    fill(&mut Worker::open(&instance, &project, 0));
    let (start, end) = (Barrier::new(sessions + 1), AtomicBool::new(false));
    let (took, done) = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=sessions)
            .map(|session| {
                let (instance, project, start, end) = (&instance, &project, &start, &end);
                scope.spawn(move || {
                    let mut worker = Worker::open(instance, project, session);
                    start.wait();
                    worker.work_until(end);
                    worker
                })
            })
            .collect();
        start.wait();
        let begin = Instant::now();
        // The end of a thread of the previous run may wake this one early.
        while let Some(left) = TIME.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::park_timeout(left);
        }
        end.store(true, Ordering::Relaxed);
        let done: Vec<Worker> =
            threads.into_iter().map(|thread| thread.join().expect("a client works")).collect();
        (begin.elapsed(), done)
    });
    let saves: Vec<Duration> = done.iter().flat_map(|worker| worker.saves.clone()).collect();
    let calls: u32 = done.iter().map(|worker| worker.calls).sum();
    Work {
        calls_per_second: f64::from(calls) / took.as_secs_f64(),
        saves: Times::measured(saves.len(), |at| saves.get(at).copied().unwrap_or_default()),
        errors: done.iter().map(|worker| worker.errors).sum(),
    }
}

fn fill(worker: &mut Worker) {
    for _ in 0..NOTES / NOTES_AT_ONCE {
        let notes = (0..NOTES_AT_ONCE).map(|_| json!({"content": worker.note()}));
        let items: Vec<Value> = notes.collect();
        worker.call("memory_note", &json!({"items": items}));
    }
    assert_eq!(worker.errors, 0, "the notes to begin with are stored");
}

/// A session that notes and searches.
struct Worker {
    client: Client,
    dice: Dice,
    calls: u32,
    saves: Vec<Duration>,
    errors: usize,
}

impl Worker {
    fn open(instance: &Instance, project: &Project, session: usize) -> Self {
        let client = Client::open(instance, project, session);
        let dice = Dice::thrown(session);
        Self { client, dice, calls: 0, saves: Vec::new(), errors: 0 }
    }

    fn work_until(&mut self, end: &AtomicBool) {
        while !end.load(Ordering::Relaxed) {
            let note = json!({"content": self.note()});
            let begin = Instant::now();
            self.call("memory_note", &note);
            self.saves.push(begin.elapsed());
            let query = self.dice.text(3);
            self.call("memory_search", &json!({"query": query}));
            self.calls += 2;
        }
    }

    /// Generates a note of 20 to 60 words.
    fn note(&mut self) -> String {
        let words = 20 + self.dice.below(41);
        self.dice.text(words)
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        self.errors += usize::from(self.client.call(tool, arguments).is_err());
    }
}
