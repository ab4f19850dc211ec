//! A project over the years: its size on disk, and the time to open and to load it.
//!
//! The store is used in this process, by the plans that tools make, with a simulated clock. Each
//! session checkpoints, replaces facts, learns something now and then, and saves. A session's
//! entries are one batch, so that the disk's syncs do not take most of the time. Session rows and
//! plain notes stay in the state for ever; facts, the topic and lessons are replaced.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anchord_daemon::store::{
    Call, Entry, JournalStore, Opened, Options, PendingFlush, Replies, StateMachine as _,
    Store as _,
};
use anchord_memory::limits::LOAD_TOKENS;
use anchord_memory::render::{self, LoadView, Tight};
use anchord_memory::{
    Anchor, Audience, Blueprint, Category, Change, Kind, Lesson, Memory, NewNote, Provenance,
    Reader, Revision, Save, Seq, SessionId, Staged, Timestamp, TopicPart, plan_checkpoint,
    plan_notes, plan_save,
};
use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::times::{Times, show};

const DAYS: u64 = 365;
/// The simulation's start, 22 November 2025, in milliseconds since the Unix epoch.
const BEGINNING: i64 = 1_763_760_000_000;
/// The number of facts that sessions replace.
const FACTS: u64 = 400;
/// The number of files that have anchors.
const FILES: u64 = 300;
/// The intervals, in sessions, at which one stores a note without a key, a lesson or a blueprint.
const NOTE_EVERY: u64 = 5;
const LESSON_EVERY: u64 = 10;
const BLUEPRINT_EVERY: u64 = 50;
/// The maximum time to wait for the store's upkeep.
const UPKEEP: Duration = Duration::from_mins(10);
const MEASURED: usize = 5;

struct Arguments {
    years: u64,
    sessions: u64,
    /// The project's directory; a temporary one if absent.
    directory: Option<PathBuf>,
}

/// Runs the simulation and prints a row for each year.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Arguments { years, sessions, directory } = parse(arguments)?;
    if cfg!(debug_assertions) {
        println!("Not a release build: the times say little.\n");
    }
    let scratch = tempfile::tempdir()?;
    let directory = directory.unwrap_or_else(|| scratch.path().to_owned());
    println!("{sessions} sessions a day for {years} years\n");
    println!(
        "| year | entries | records | journal | of that archived | snapshots | index | state | \
         index to state | open | load |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut first: Option<Year> = None;
    let mut last = None;
    for year in 1..=years {
        live(&directory, year, sessions)?;
        let measured = Year::measure(&directory)?;
        println!("| {year} {measured}");
        first.get_or_insert(measured);
        last = Some(measured);
    }
    if let (Some(first), Some(last)) = (first, last) {
        println!("\n{}", last.compared_to(&first));
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Arguments> {
    let mut parsed = Arguments { years: 5, sessions: 30, directory: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--years" => parsed.years = value.parse()?,
            "--sessions" => parsed.sessions = value.parse()?,
            "--dir" => parsed.directory = Some(PathBuf::from(value)),
            _ => bail!("unknown argument {word:?}; --years N, --sessions N, --dir PATH"),
        }
    }
    if parsed.years == 0 || parsed.sessions == 0 {
        bail!("at least one year of one session a day");
    }
    Ok(parsed)
}

/// A project that is being written to.
struct Project {
    store: JournalStore<Memory>,
    memory: Memory,
    replies: Replies,
}

/// Simulates one year of work.
fn live(directory: &Path, year: u64, sessions: u64) -> Result<()> {
    let Opened { store, state, replies, .. } =
        JournalStore::<Memory>::open(directory, Options::real(directory))?;
    let mut project = Project { store, memory: state, replies };
    for day in (year - 1) * DAYS..year * DAYS {
        for session in 0..sessions {
            let time = BEGINNING
                + i64::try_from(day)? * Timestamp::DAY_MILLIS
                + i64::try_from(session)? * (Timestamp::DAY_MILLIS / i64::try_from(sessions)?);
            project.session(day * sessions + session, Timestamp(time))?;
        }
        if day % 7 == 0 {
            project.flush()?;
        }
    }
    project.flush()?;
    Box::new(project.store).close();
    Ok(())
}

impl Project {
    /// Writes the entries of one session.
    fn session(&mut self, number: u64, time: Timestamp) -> Result<()> {
        let id = SessionId::new(format!("01J{number:08}"));
        let at = |minute: i64| {
            Provenance::new(id.clone(), "claude-code".into(), Timestamp(time.0 + minute * 60_000))
        };
        let mut head = self.memory.clone();
        let mut entries = Vec::new();
        let mut write = |origin: &Provenance,
                         operation: &'static str,
                         changes: Vec<Change>,
                         memory: &mut Memory| {
            let seq = Seq(memory.seq().0 + 1);
            let count = entries.len() as u64;
            let entry = Entry {
                seq,
                revision: Memory::is_commit(&changes).then(|| Revision(memory.revision().0 + 1)),
                time: origin.time,
                session: Some(id.clone()),
                call: Some(Call {
                    instance: format!("{number:032x}").as_str().into(),
                    number: count + 1,
                    acknowledged: count,
                }),
                operation: operation.into(),
                changes,
                reply: Some(json!({ "done": operation, "of": number, "revision": seq.0 })),
            };
            memory.apply(seq, &entry.changes);
            entries.push(entry);
        };
        for (minute, part) in [(5, 0), (25, 1)] {
            let origin = at(minute);
            let plan = plan_checkpoint(&head, &origin, staged(number * 2 + part))?;
            write(&origin, "checkpoint", plan.changes, &mut head);
        }
        for (minute, fact) in [(10, 0), (15, 1)] {
            let origin = at(minute);
            let key = (number * 7 + fact * 131) % FACTS;
            let note = NewNote {
                content: text(number * 3 + fact, 45),
                key: Some(format!("service/{key}/setting")),
                ..NewNote::default()
            };
            let plan = plan_notes(&head, &origin, vec![Ok(note)])?;
            write(&origin, "note", plan.changes, &mut head);
        }
        if number.is_multiple_of(NOTE_EVERY) {
            let origin = at(30);
            let note = NewNote { content: text(number * 11, 60), ..NewNote::default() };
            let plan = plan_notes(&head, &origin, vec![Ok(note)])?;
            write(&origin, "note", plan.changes, &mut head);
        }
        let origin = at(40);
        let summary = text(number * 13, 30);
        let save = Save {
            started: time,
            session_summary: &summary,
            part: learned(number),
            ..Save::default()
        };
        let plan = plan_save(&head, &origin, save)?;
        write(&origin, "save", plan.changes, &mut head);
        self.store.append(self.memory.seq(), &entries)?;
        for entry in &entries {
            if let (Some(call), Some(reply)) = (&entry.call, &entry.reply) {
                self.replies.record(call, entry.time, reply.clone());
            }
        }
        self.memory = head;
        self.store.advance_index(&self.memory, &mut self.replies)?;
        Ok(())
    }

    /// Waits until the store has caught up, as a daemon does in a quiet moment.
    fn flush(&mut self) -> Result<()> {
        let begun = Instant::now();
        while self.store.flush() != PendingFlush::Nothing {
            if begun.elapsed() > UPKEEP {
                bail!("the store's upkeep does not end");
            }
            std::thread::yield_now();
        }
        if let Some(why) = self.store.health().read_only {
            bail!("the project is read-only: {why}");
        }
        Ok(())
    }
}

/// Returns the checkpoint of a session in progress.
fn staged(number: u64) -> Staged {
    let line = 10 + number % 40 * 25;
    Staged {
        summary: Some(text(number * 17, 25)),
        anchors: vec![Anchor::new(
            format!("src/module_{}/part.rs", number % FILES),
            format!("{line}-{}", line + 12).into(),
            text(number * 19, 8),
        )],
        topics: vec![TopicPart { status: Some(text(number * 23, 12)), ..TopicPart::default() }],
        ..Staged::default()
    }
}

/// Returns the blueprints and lessons of a session; most have none.
fn learned(number: u64) -> Staged {
    let mut part = Staged::default();
    if number.is_multiple_of(LESSON_EVERY) {
        part.lessons.push(Lesson {
            summary: text(number % 2000 * 29, 10),
            detail: text(number * 31, 30),
            ..Lesson::default()
        });
    }
    if number.is_multiple_of(BLUEPRINT_EVERY) {
        let (title, content) = (text(number * 37, 5), text(number * 41, 120));
        part.blueprints.push(Blueprint::new(Category::Decision, title, content));
    }
    part
}

/// Returns words distributed roughly by Zipf's law, as notes have them.
fn text(seed: u64, words: u64) -> String {
    let words: Vec<String> = (0..words).map(|at| crate::notes::word(seed * 131 + at)).collect();
    words.join(" ")
}

/// A project after a year.
#[derive(Clone, Copy)]
struct Year {
    entries: u64,
    records: usize,
    journal_bytes: u64,
    archive_bytes: u64,
    snapshot_bytes: u64,
    index_bytes: u64,
    state_bytes: u64,
    open: Duration,
    load: Duration,
}

impl Year {
    fn measure(directory: &Path) -> Result<Self> {
        let mut opened: Option<Opened<Memory, JournalStore<Memory>>> = None;
        let mut failed = None;
        let open = Times::of(MEASURED, |_| {
            opened = None;
            match JournalStore::open(directory, Options::real(directory)) {
                Ok(store) => opened = Some(store),
                Err(error) => failed = Some(error),
            }
        });
        let opened = opened.with_context(|| format!("cannot open: {failed:?}"))?;
        if let Some(why) = &opened.report.read_only {
            bail!("the project is read-only: {why}");
        }
        let (none, seen, session) = (BTreeSet::new(), BTreeSet::new(), SessionId::new("01JLOAD"));
        let reader = Reader::session(session.clone());
        let view = LoadView {
            project: "aged",
            sections: &Kind::ALL,
            chars_max: None,
            tokens_max: Some(LOAD_TOKENS),
            task: None,
            topic: None,
            gone: &none,
            tight: Tight::default(),
            cursor: None,
            reader: &reader,
            session: &session,
            notices_seen: &seen,
            live: &[],
            others_changed: None,
            now: Timestamp(i64::MAX / 2),
            personal: None,
            just_ended: &[],
            read_only: None,
            file_rules: render::FileRulesView::default(),
            last: "",
            part: false,
            audience: &Audience::Agent,
        };
        let load = Times::of(MEASURED, |_| {
            let loaded = render::load(&opened.state, &view).expect("the budget is large enough");
            assert!(!loaded.text.is_empty(), "a load says something");
        });
        let sizes = opened.store.sizes();
        let of = |part: &str, end: &str| bytes(&directory.join(part), end);
        Ok(Self {
            entries: sizes.entries,
            records: opened.state.records().count(),
            journal_bytes: of("journal", "")?,
            archive_bytes: of("journal", ".gz")?,
            snapshot_bytes: of("snapshot", "")?,
            index_bytes: of("sled", "")?,
            state_bytes: sizes.state_bytes,
            open: open.median(),
            load: load.median(),
        })
    }

    fn bytes(&self) -> u64 {
        self.journal_bytes + self.snapshot_bytes + self.index_bytes
    }

    /// Compares the figures with those of an earlier year.
    fn compared_to(&self, first: &Self) -> String {
        let times = |now: f64, before: f64| format!("{:.1}", now / before.max(f64::MIN_POSITIVE));
        format!(
            "Against year one: {} times the entries, {} times the bytes on disk, {} times the \
             time to open, {} times the time to load.",
            times(number(self.entries), number(first.entries)),
            times(number(self.bytes()), number(first.bytes())),
            times(self.open.as_secs_f64(), first.open.as_secs_f64()),
            times(self.load.as_secs_f64(), first.load.as_secs_f64()),
        )
    }
}

impl std::fmt::Display for Year {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mega = |bytes: u64| format!("{:.1} MB", number(bytes) / 1e6);
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {} | {} |",
            self.entries,
            self.records,
            mega(self.journal_bytes),
            mega(self.archive_bytes),
            mega(self.snapshot_bytes),
            mega(self.index_bytes),
            mega(self.state_bytes),
            number(self.index_bytes) / number(self.state_bytes).max(1.0),
            show(self.open),
            show(self.load),
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes and counts, shown with three digits")]
fn number(number: u64) -> f64 {
    number as f64
}

/// Returns the size, in bytes, of the files beneath a directory whose names end with `end`.
fn bytes(directory: &Path, end: &str) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sum += bytes(&entry.path(), end)?;
        } else if entry.file_name().to_string_lossy().ends_with(end) {
            sum += entry.metadata()?.len();
        }
    }
    Ok(sum)
}
