//! Recorded histories of a team: facts with expected versions, saves and rollbacks on several
//! machines, while connections, shims, daemons and the database fail.
//!
//! A checker then looks for one order of all operations that explains every answer. Unknown
//! outcomes stay open. The team's journal must be such an order, too.
//!
//! A read shows the machine's copy, which may be older than the journal. So does a refusal while
//! the database does not answer. So each only has to fit a state that there was before its answer,
//! not one that its machine was beyond.
//!
//! `ANCHORD_TEAM_HISTORY=ROUNDS` runs so many rounds, each with facts of its own, and more agents.
//! `ANCHORD_TEAM_SEED=NUMBER` makes the choices of an earlier run again.
#![expect(clippy::panic, reason = "a test says that it fails by panicking")]

mod facts;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anchord_daemon::store::Random;
use anchord_team::testing::{Proxy, Server};
use anchord_tests::linear::{Event, Unexplained, explain};
use anchord_tests::{Agent, PATIENCE, poll, skip};
use serde_json::{Value as Json, json};

use self::facts::{Facts, Key, Operation, Outcome, Specification, Value};
use crate::team::Machine;
use crate::team_torture::{Fault, inflict, sites};

/// The facts of a round. Few facts make many conflicts.
const KEYS: [Key; 3] = ["port", "host", "user"];

/// The faults of a round, each at a share of its writes.
const FAULTS: [Fault; 5] =
    [Fault::CutAfter, Fault::KillDaemon, Fault::CrashDatabase, Fault::CutBefore, Fault::KillShim];

/// Sizes of a run.
struct Size {
    machines: usize,
    agents: usize,
    writes: usize,
    rounds: usize,
}

impl Size {
    fn of_run() -> Self {
        let rounds = std::env::var("ANCHORD_TEAM_HISTORY").ok();
        match rounds.and_then(|rounds| rounds.parse().ok()) {
            Some(rounds) => Self { machines: 4, agents: 3, writes: 20, rounds },
            None => Self { machines: 3, agents: 2, writes: 14, rounds: 1 },
        }
    }
}

/// An operation as its caller saw it.
#[derive(Debug)]
struct Record {
    machine: usize,
    event: Event<(Operation, Outcome)>,
    /// The revision that the answer names.
    revision: Option<u64>,
    /// Whether it is a save that the machine keeps until the database takes it.
    kept: bool,
}

/// The record of a round.
#[derive(Default)]
struct History {
    clock: AtomicU64,
    values: AtomicUsize,
    records: Mutex<Vec<Record>>,
    /// The values of writes that were answered as not saved.
    unsaved: Mutex<BTreeSet<Value>>,
    /// The newest version that any answer named, which all agents use.
    versions: Mutex<BTreeMap<Key, usize>>,
}

/// An answer, as far as the checker needs it.
struct Answer {
    outcome: Outcome,
    revision: Option<u64>,
    kept: bool,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, revision: None, kept: false }
    }
}

#[test]
fn one_order_explains_what_every_agent_was_answered() {
    let Some(mut server) = Server::start() else { return skip("PostgreSQL is not installed") };
    server.psql("CREATE ROLE ada LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO ada;");
    let size = Size::of_run();
    let seed = std::env::var("ANCHORD_TEAM_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed =
        seed.unwrap_or_else(|| u64::from(std::process::id()) ^ u64::from(server.port()) << 32);
    println!("ANCHORD_TEAM_SEED={seed}");
    let machines: Vec<Machine> = (0..size.machines).map(|_| Machine::new()).collect();
    let proxies: Vec<Proxy> = machines.iter().map(|_| Proxy::start(server.port())).collect();
    for (at, (machine, proxy)) in machines.iter().zip(&proxies).enumerate() {
        match at {
            0 => machine.create(&proxy.url("ada")),
            _ => machine.join(&proxy.url("ada")),
        };
    }
    let mut dice = Dice(Random(seed));
    for round in 0..size.rounds {
        let history = History::default();
        let facts = begin(round, &machines, &server, &history);
        let shims: Vec<Mutex<Option<u32>>> = machines.iter().map(|_| Mutex::default()).collect();
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for (at, machine) in machines.iter().enumerate() {
                for agent in 0..size.agents {
                    let shim = (agent == 0).then(|| &shims[at]);
                    let (history, done, dice) = (&history, &done, dice.split());
                    let mut session =
                        Session { machine, at, shim, round, history, dice, agent: None };
                    let writes = size.writes;
                    scope.spawn(move || {
                        for _ in 0..writes {
                            session.step();
                            done.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                }
                let all = size.machines * size.agents * size.writes;
                let (history, done) = (&history, &done);
                scope.spawn(move || {
                    watch(machine, at, round, history, || done.load(Ordering::SeqCst) >= all);
                });
            }
            let sites = sites(&machines, &proxies, &shims);
            let all = size.machines * size.agents * size.writes;
            inflict(&dice.shuffled(&FAULTS), all, &mut server, &sites, &done);
        });
        proxies.iter().for_each(Proxy::resume);
        history.check(round, seed, facts, &machines, &server);
    }
}

/// Writes two versions of each fact of a round, and waits until all machines have them.
fn begin(round: usize, machines: &[Machine], server: &Server, history: &History) -> Facts {
    let mut agent = machines.first().unwrap().agent();
    for _ in 0..2 {
        for key in KEYS {
            let value = history.value();
            let called = history.now();
            agent.tool("memory_note", &json!({ "key": name(round, key), "content": text(value) }));
            history.record(0, called, Operation::Set(key, value), Outcome::Done.into());
        }
    }
    history.versions.lock().unwrap().extend(KEYS.map(|key| (key, 2)));
    settled(round, machines, server);
    Facts::default()
}

/// Reads the facts of a round on a machine until all writes are done.
fn watch(
    machine: &Machine,
    at: usize,
    round: usize,
    history: &History,
    is_over: impl Fn() -> bool,
) {
    let mut agent = machine.agent();
    poll(PATIENCE * 10, "the end of all writes", || {
        for key in KEYS {
            let called = history.now();
            let text = agent.tool("memory_get", &json!({ "key": name(round, key) }));
            let version = number_after(&text, " version ").map(small);
            let value = number_after(&text, ":\nv").and_then(|value| u32::try_from(value).ok());
            let shown = version.zip(value).unwrap_or_else(|| panic!("no version: {text}"));
            let (version, read) = (shown.0, Operation::Read(key, shown.1));
            history.record(at, called, read, Outcome::At(version).into());
        }
        is_over().then_some(())
    });
}

/// A save: its revision, and the facts in it.
type Saved = (u64, Vec<(Key, Value)>);

/// One agent's session, and the next one after its shim was killed.
struct Session<'a> {
    machine: &'a Machine,
    /// The machine's number.
    at: usize,
    shim: Option<&'a Mutex<Option<u32>>>,
    round: usize,
    history: &'a History,
    dice: Dice,
    agent: Option<(Agent, Option<Saved>)>,
}

impl Session<'_> {
    /// Makes one operation and records it.
    fn step(&mut self) {
        let (history, round) = (self.history, self.round);
        let (machine, shim) = (self.machine, self.shim);
        let begin = || {
            let agent = machine.agent_with_all_tools();
            if let Some(shim) = shim {
                *shim.lock().unwrap() = Some(agent.pid());
            }
            (agent, None)
        };
        let key = self.dice.one_of(&KEYS);
        let choice = self.dice.below(20);
        let (agent, last_save) = self.agent.get_or_insert_with(begin);
        // Only the last save of a session is taken back, right after it.
        let (operation, undo) = match (last_save.take(), choice) {
            (Some((revision, values)), ..9) => (Operation::Undo(values), Some(revision)),
            (_, ..9) => {
                let expected = history.versions.lock().unwrap().get(key).copied().unwrap();
                (Operation::Update(key, expected, history.value()), None)
            }
            (_, 9..12) => (Operation::Set(key, history.value()), None),
            (_, 12..15) => (Operation::Rollback(key), None),
            _ => {
                let one = (key, history.value());
                let others =
                    KEYS.into_iter().find(|other| *other != key && choice.is_multiple_of(2));
                let other = others.map(|other| (other, history.value()));
                (Operation::Save([one].into_iter().chain(other).collect()), None)
            }
        };
        let (tool, arguments) = call(round, &operation, undo);
        let called = history.now();
        // The harness panics if the shim is killed.
        let answered = catch_unwind(AssertUnwindSafe(|| agent.call(tool, &arguments)));
        let reply = answered.ok().and_then(Result::ok);
        let answer = match &reply {
            Some(reply) => read(&operation, &reply.text),
            None => Some(Outcome::Open.into()),
        };
        let Some(answer) = answer else {
            return history.unsaved(&operation);
        };
        match (&operation, &answer) {
            (Operation::Save(values), Answer { revision: Some(revision), .. }) => {
                *last_save = Some((*revision, values.clone()));
            }
            (Operation::Set(key, _) | Operation::Update(key, ..), answer) => {
                if let Outcome::At(version) | Outcome::Not(version) = answer.outcome {
                    let mut versions = history.versions.lock().unwrap();
                    versions.entry(key).and_modify(|known| *known = version.max(*known));
                }
            }
            _ => {}
        }
        // What an unknown write of a session does later, the next session does not build on.
        if answer.outcome == Outcome::Open {
            self.agent = None;
        }
        history.record(self.at, called, operation, answer);
    }
}

/// Returns the tool and the arguments of an operation.
fn call(round: usize, operation: &Operation, undo: Option<u64>) -> (&'static str, Json) {
    let note = |key, value: &Value| json!({ "key": name(round, key), "content": text(*value) });
    match operation {
        Operation::Set(key, value) => ("memory_note", note(key, value)),
        Operation::Update(key, expected, value) => {
            let id = name(round, key);
            let update = json!({ "id": id, "content": text(*value), "expected_version": expected });
            ("memory_update", update)
        }
        Operation::Save(values) => {
            let notes: Vec<Json> = values.iter().map(|(key, value)| note(key, value)).collect();
            let summary = format!("Settled {}.", notes.len());
            ("memory_save", json!({ "session_summary": summary, "notes": notes }))
        }
        Operation::Rollback(key) => {
            ("memory_rollback", json!({ "record": name(round, key), "steps": 1 }))
        }
        Operation::Undo(_) => ("memory_rollback", json!({ "undo": undo })),
        Operation::Read(..) => unreachable!("the end is read in another way"),
    }
}

/// Reads an answer. `None` says that nothing was written and nothing will be.
fn read(operation: &Operation, text: &str) -> Option<Answer> {
    let after = |word: &str| number_after(text, word);
    if text.contains("outcome unknown") {
        return Some(Outcome::Open.into());
    }
    if text.contains("not saved") || text.contains("try again") {
        return None;
    }
    if text.starts_with("Kept here") {
        return Some(Answer { kept: true, ..Outcome::Open.into() });
    }
    let outcome = match operation {
        Operation::Set(..) => after(", version ").map(|version| Outcome::At(small(version))),
        Operation::Update(..) => {
            let updated = after("Updated, version ").map(|version| Outcome::At(small(version)));
            updated.or_else(|| after(" is at ").map(|version| Outcome::Not(small(version))))
        }
        Operation::Save(_) => after("revision ").map(|_| Outcome::Done),
        Operation::Rollback(_) | Operation::Undo(_) if text.starts_with("Took back") => {
            Some(Outcome::Done)
        }
        Operation::Undo(_) if text.starts_with("Later commits build on") => Some(Outcome::Conflict),
        _ => None,
    };
    let outcome = outcome.unwrap_or_else(|| panic!("{operation:?} was answered with {text}"));
    let revision = match operation {
        Operation::Save(_) => after("revision "),
        Operation::Rollback(_) | Operation::Undo(_) => after(" in commit "),
        _ => None,
    };
    Some(Answer { outcome, revision, kept: false })
}

impl History {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn value(&self) -> Value {
        u32::try_from(self.values.fetch_add(1, Ordering::SeqCst)).unwrap()
    }

    fn record(&self, machine: usize, called: u64, operation: Operation, answer: Answer) {
        let answered = (answer.outcome != Outcome::Open).then(|| self.now());
        let event = Event { called, answered, operation: (operation, answer.outcome) };
        let record = Record { machine, event, revision: answer.revision, kept: answer.kept };
        // Another agent may have panicked, which its own thread reports.
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    fn unsaved(&self, operation: &Operation) {
        self.unsaved.lock().unwrap().extend(written(operation).map(|(_, value)| value));
    }

    /// Checks the round once nothing waits any more.
    fn check(self, round: usize, seed: u64, facts: Facts, machines: &[Machine], server: &Server) {
        let last = settled(round, machines, server);
        let end = self.now();
        let mut records = self.records.into_inner().unwrap();
        for record in records.iter_mut().filter(|record| record.kept) {
            // Nothing waits, so it is done by now.
            record.event.answered = Some(end);
            record.event.operation.1 = Outcome::Done;
        }
        let journal = Journal::read(round, server);
        let unsaved = self.unsaved.into_inner().unwrap();
        let leaked: Vec<&Value> = unsaved.iter().filter(|value| journal.has(**value)).collect();
        assert_eq!(leaked, Vec::<&Value>::new(), "not saved and yet there, seed {seed}");
        journal.check(round, &records);

        let called = self.clock.load(Ordering::SeqCst);
        // The search is shorter if it tries the journal's order first.
        records.sort_by_key(|record| journal.place(record).unwrap_or(u64::MAX));
        let mut history: Vec<_> = records.into_iter().map(|record| record.event).collect();
        for event in &mut history {
            // Others may have replaced the state that it is of.
            let is_local = read_of(&event.operation).is_some() || is_refusal(event.operation.1);
            event.called = if is_local { 0 } else { event.called };
        }
        history.extend(last.into_iter().map(|(key, (version, value))| Event {
            called,
            answered: Some(called + 1),
            operation: (Operation::Read(key, value), Outcome::At(version)),
        }));
        let open = history.iter().filter(|event| event.operation.1 == Outcome::Open).count();
        assert!(open * 3 < history.len(), "most outcomes are known");
        if let Err(why) = explain::<Specification>(facts, &history) {
            let (Unexplained::NoOrder { stuck, .. } | Unexplained::TooHard { stuck, .. }) = why;
            let stuck = history.get(stuck).cloned();
            history.sort_by_key(|event| event.called);
            let lines: Vec<String> = history.iter().map(|event| format!("{event:?}")).collect();
            panic!("{why:?}, seed {seed}: {stuck:?}\n{}", lines.join("\n"));
        }
    }
}

/// The commits of a round in the team's journal: the facts that each has written.
struct Journal(BTreeMap<u64, Vec<(String, usize, String)>>);

impl Journal {
    fn read(round: usize, server: &Server) -> Self {
        let rows = server.psql("SELECT seq, changes FROM anchord.entries ORDER BY seq");
        let commits = rows.lines().map(|row| {
            let (seq, changes) = row.split_once('|').unwrap();
            let changes: Vec<Json> = serde_json::from_str(changes).unwrap();
            let facts = changes.iter().filter_map(|change| fact(change.get("put")?));
            let own = facts.filter(|(key, ..)| KEYS.iter().any(|it| name(round, it) == *key));
            (seq.parse().unwrap(), own.collect())
        });
        Self(commits.collect())
    }

    fn has(&self, value: Value) -> bool {
        self.0.values().flatten().any(|(.., content)| *content == text(value))
    }

    /// Returns the commit that first wrote a value, and the version that this made.
    fn of(&self, value: Value) -> Option<(u64, usize)> {
        self.0.iter().find_map(|(seq, facts)| {
            let written = facts.iter().find(|(.., content)| *content == text(value));
            written.map(|(_, version, _)| (*seq, *version))
        })
    }

    /// Returns the commit that an operation made, if it made one.
    fn place(&self, record: &Record) -> Option<u64> {
        let mut written = written(&record.event.operation.0).map(|(_, value)| self.of(value));
        let Some(first) = written.next() else { return record.revision };
        let first = first.map(|(seq, _)| seq);
        let is_one = written.all(|other| other.map(|(seq, _)| seq) == first);
        assert!(is_one, "a save is one commit: {record:?}");
        first
    }

    /// Returns the version of a fact that a machine had shown or committed before an operation.
    fn seen(&self, round: usize, key: Key, record: &Record, records: &[Record]) -> usize {
        let called = record.event.called;
        let own = records.iter().filter(|other| {
            other.machine == record.machine && other.event.answered.is_some_and(|it| it < called)
        });
        let shown = own.clone().filter_map(|other| read_of(&other.event.operation));
        let shown = shown.filter(|(other, _)| *other == key).map(|(_, version)| version);
        let last = own.filter_map(|other| self.place(other)).max().unwrap_or_default();
        let facts = self.0.range(..=last).flat_map(|(_, facts)| facts);
        let committed = facts.filter(|fact| fact.0 == name(round, key)).map(|fact| fact.1);
        shown.chain(committed).max().unwrap_or_default()
    }

    /// Checks that the journal has each acknowledged write, as it was answered, and after all that
    /// were answered before it began. A read or a refusal shows a state with at least what its
    /// machine answered before.
    fn check(&self, round: usize, records: &[Record]) {
        let mut order: Vec<(u64, &Record)> = Vec::new();
        for record in records {
            let Event { operation: (operation, outcome), .. } = &record.event;
            if let Some((key, version)) = read_of(&record.event.operation) {
                let seen = self.seen(round, key, record, records);
                assert!(version >= seen, "version {seen} was seen before: {record:?}");
                continue;
            }
            if is_refusal(*outcome) {
                continue;
            }
            let in_journal = self.place(record);
            if let (Outcome::At(version), Some((_, value))) = (outcome, written(operation).next()) {
                assert_eq!(self.of(value).map(|it| it.1), Some(*version), "{record:?}");
            }
            let is_open = *outcome == Outcome::Open;
            assert!(in_journal.is_some() || is_open, "lost: {record:?}");
            assert!(record.revision.is_none_or(|it| Some(it) == in_journal), "{record:?}");
            order.extend(in_journal.map(|seq| (seq, record)));
        }
        order.sort_by_key(|(seq, _)| *seq);
        let mut called = 0;
        for (at, (seq, record)) in order.iter().enumerate() {
            assert!(order.get(at + 1).is_none_or(|(next, _)| next > seq), "{record:?}");
            called = called.max(record.event.called);
            let answered = record.event.answered.unwrap_or(u64::MAX);
            assert!(answered > called, "{seq} is before a commit that began after it: {record:?}");
        }
    }
}

/// Waits until nothing waits and all machines are equal. Returns each fact's version and value.
fn settled(round: usize, machines: &[Machine], server: &Server) -> BTreeMap<Key, (usize, Value)> {
    poll(Duration::from_mins(2), "every save folded, and every machine up to date", || {
        let head = server.psql("SELECT seq FROM anchord.projects").parse::<u64>().unwrap();
        let is_done = |machine: &Machine| {
            let team = machine.team();
            team.get("waiting") == Some(&json!(0)) && team.get("revision") == Some(&json!(head))
        };
        let is_quiet = machines.iter().all(is_done);
        let (first, others) = machines.split_first().unwrap();
        let shared = first.shared();
        let is_equal = is_quiet && others.iter().all(|machine| machine.shared() == shared);
        let facts = is_equal.then(|| shared.iter().filter_map(fact).collect::<Vec<_>>())?;
        let of = |key: Key| {
            let (_, version, content) = facts.iter().find(|fact| fact.0 == name(round, key))?;
            Some((key, (*version, content.strip_prefix('v')?.parse().ok()?)))
        };
        KEYS.into_iter().map(of).collect()
    })
}

/// Returns the key, the version and the content of a record that is a fact.
fn fact(record: &Json) -> Option<(String, usize, String)> {
    let note = record.pointer("/body/note")?;
    let word = |field| note.get(field).and_then(Json::as_str).map(str::to_owned);
    let version = record.get("version").and_then(Json::as_u64)?;
    Some((word("key")?, small(version), word("content")?))
}

/// Returns the values that an operation writes for the first time.
fn written(operation: &Operation) -> impl Iterator<Item = (Key, Value)> {
    let values = match operation {
        Operation::Set(key, value) | Operation::Update(key, _, value) => vec![(*key, *value)],
        Operation::Save(values) => values.clone(),
        Operation::Rollback(_) | Operation::Undo(_) | Operation::Read(..) => Vec::new(),
    };
    values.into_iter()
}

/// Returns the fact and the version that an answer shows without a commit.
fn read_of((operation, outcome): &(Operation, Outcome)) -> Option<(Key, usize)> {
    match (operation, outcome) {
        (Operation::Update(key, ..), Outcome::Not(version))
        | (Operation::Read(key, _), Outcome::At(version)) => Some((*key, *version)),
        _ => None,
    }
}

fn is_refusal(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Not(_) | Outcome::Conflict | Outcome::Nothing)
}

fn name(round: usize, key: &str) -> String {
    format!("{key}-{round}")
}

fn text(value: Value) -> String {
    format!("v{value}")
}

fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn small(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// Random choices that a seed determines.
struct Dice(Random);

impl Dice {
    fn split(&mut self) -> Self {
        Self(Random(self.0.below(u64::MAX)))
    }

    fn below(&mut self, count: usize) -> usize {
        small(self.0.below(u64::try_from(count).unwrap()))
    }

    fn one_of(&mut self, keys: &[Key]) -> Key {
        let at = self.below(keys.len());
        keys.get(at).copied().unwrap()
    }

    fn shuffled(&mut self, faults: &[Fault]) -> Vec<Fault> {
        let mut shuffled = faults.to_vec();
        for at in (1..shuffled.len()).rev() {
            let other = self.below(at + 1);
            shuffled.swap(at, other);
        }
        shuffled
    }
}
