//! `anchord torture`: many shims write while shims and daemons are killed; then everything is counted.

mod writes;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anchord_proto::hello::ToolSet;
use serde::Serialize;
use serde_json::json;

use self::writes::{Dice, search, write, write_noting};
use super::{journal, print_json};
use crate::agent::{Agent, CallError, Shim};
use crate::exit::Error;
use crate::limits::{
    POLL_MILLISECONDS, TORTURE_SECONDS_MIN, TORTURE_SESSIONS_MAX, TORTURE_STOP_MILLISECONDS,
    TORTURE_WRITE_MILLISECONDS_MAX,
};
use crate::scratch::{Scratch, stop_for};
use crate::show;
use crate::tally::{Seen, tally, texts};

/// Write from many sessions while shims and daemons are killed, and count what is lost
///
/// Runs in a scratch instance that it makes and removes; it cannot be pointed at your own. Exits with 1 if
/// an acknowledged write is lost, a write was applied twice, or a client that kept its shim saw an error. An
/// archived note is there; one that a search for it does not find is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord torture
  anchord torture --sessions 64 --writes 1000 --daemon-kills 20 --shim-kills 20
  anchord torture --notes --sessions 16 --writes 200 --daemon-kills 10
  anchord torture --faults --sessions 16 --daemon-kills 10
  anchord torture --hours 8 --faults --sessions 16 --writes 200
  anchord torture --seed 7 --keep --json")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// Note most of the time, search and compact between: the budget is small, so that much is archived
    #[arg(long)]
    notes: bool,
    /// Sessions at once, a shim each
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(TORTURE_SESSIONS_MAX)))]
    sessions: u32,
    /// Writes of each session
    #[arg(long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    writes: u32,
    /// How often the daemon is killed
    #[arg(long, value_name = "N", default_value_t = 3)]
    daemon_kills: u32,
    /// After each death of a daemon, kill the next one while it starts, and stop the one after it
    /// by a signal for a while
    #[arg(long)]
    faults: bool,
    /// How often some shim is killed
    #[arg(long, value_name = "N", default_value_t = 2)]
    shim_kills: u32,
    /// Repeats the writes and the moments of an earlier run
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Soak: repeat it with other seeds, each time in a new instance, until so many hours have
    /// passed
    #[arg(long, value_name = "HOURS")]
    hours: Option<f64>,
    /// Leave the scratch folder
    #[arg(long)]
    keep: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// How many of the bad things are named.
const SAMPLES_MAX: usize = 20;

/// How many notes are searched for at the end.
const SEARCHES: usize = 100;

/// The budget when notes are written: a few dozen of them fill it.
const NOTES_BUDGET_TOKENS: u32 = 2_000;

/// What came of it.
#[derive(Debug, Default, Serialize)]
struct Report {
    seed: u64,
    sessions: u32,
    writes: u32,
    daemon_kills: u32,
    shim_kills: u32,
    /// Daemons that were killed while they started.
    starts_killed: u32,
    /// How often a daemon was stopped by a signal and continued.
    stops: u32,
    milliseconds: u64,
    /// Writes that a client was told are saved.
    acknowledged: usize,
    /// Of those, how many are there.
    found: usize,
    lost: Vec<String>,
    /// Applied more than once, or there more than once.
    duplicated: Vec<String>,
    /// Calls whose own shim was killed: they may be there or not.
    unknown: usize,
    /// What clients saw that kept their shim.
    errors: Vec<String>,
    /// Why it ended early, if it did.
    stopped: Option<&'static str>,
}

impl Report {
    fn is_good(&self) -> bool {
        self.lost.is_empty()
            && self.duplicated.is_empty()
            && self.errors.is_empty()
            && self.stopped.is_none()
    }
}

/// What a session's thread tells the one that kills.
enum Event {
    /// A write was acknowledged, or a call between writes answered.
    Answered {
        index: usize,
        /// How many daemons had died when it was asked.
        deaths: u32,
        wrote: bool,
    },
    Finished(usize),
}

/// A session's place, where its shim of the moment can be killed.
#[derive(Default)]
struct Slot {
    shim: Mutex<Option<Shim>>,
    killed: AtomicBool,
}

/// What a session's thread saw.
#[derive(Default)]
struct Outcome {
    attempted: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    /// Of the acknowledged ones, those that are notes, in their order.
    noted: Vec<String>,
    unknown: usize,
    errors: Vec<String>,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let until =
            self.hours.map(|hours| Duration::from_secs_f64(hours.clamp(0.0, 1_000.0) * 3_600.0));
        let begun = Instant::now();
        let mut seed = self.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
        let mut dice = Dice(seed);
        loop {
            self.round(out, seed)?;
            if until.is_none_or(|until| begun.elapsed() >= until) {
                return Ok(());
            }
            seed = dice.next();
        }
    }

    fn round(&self, out: &mut dyn Write, seed: u64) -> Result<(), Error> {
        let mut scratch = Scratch::new("torture")?;
        if self.keep {
            scratch.keep();
        }
        if !self.json {
            writeln!(out, "seed {seed}, in {}", scratch.path().display())?;
            out.flush()?;
        }
        let report = self.torture(&scratch, seed)?;
        if self.json {
            print_json(out, &report)?;
        } else {
            write!(out, "{}", words(&report))?;
        }
        if report.is_good() {
            return Ok(());
        }
        Err(Error::failed("torture found what must not be").with_action(format!(
            "Run it again with --seed {seed} --keep and look at the journal."
        )))
    }

    fn torture(&self, scratch: &Scratch, seed: u64) -> Result<Report, Error> {
        let begun = Instant::now();
        scratch.start_daemon()?;
        if self.notes {
            let tight = json!({"budget_tokens": NOTES_BUDGET_TOKENS});
            scratch.tool("memory_configure", tight)?;
        }
        let mut report =
            Report { seed, sessions: self.sessions, writes: self.writes, ..Report::default() };
        let outcomes = self.write_and_kill(scratch, &mut report)?;
        let mut attempted = BTreeSet::new();
        let mut acknowledged = BTreeSet::new();
        for outcome in outcomes {
            attempted.extend(outcome.attempted);
            acknowledged.extend(outcome.acknowledged);
            report.unknown += outcome.unknown;
            report.errors.extend(outcome.errors);
        }
        let texts = texts(&scratch.export()?);
        let tally = tally(&acknowledged, texts.iter().map(String::as_str));
        let mut applied = Seen::default();
        let mut client = scratch.client()?;
        journal::entries(&mut client, &scratch.project(), 1, u32::MAX, &mut |_, line| {
            applied.note_applied(&line);
            Ok(())
        })?;
        let applied_again = applied.repeated(&attempted).into_iter().cloned();
        let duplicated: BTreeSet<String> = applied_again.chain(tally.twice.clone()).collect();
        if self.notes {
            report.errors.extend(not_found_by_search(scratch, &acknowledged, &texts)?);
        }
        report.acknowledged = tally.acknowledged;
        report.found = tally.found();
        report.lost = tally.lost;
        report.duplicated = duplicated.into_iter().collect();
        report.milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(report)
    }

    fn write_and_kill(
        &self,
        scratch: &Scratch,
        report: &mut Report,
    ) -> Result<Vec<Outcome>, Error> {
        let total = u64::from(self.sessions) * u64::from(self.writes);
        let seconds = TORTURE_SECONDS_MIN + total * TORTURE_WRITE_MILLISECONDS_MAX / 1000;
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let mut dice = Dice(report.seed);
        let slots: Vec<Slot> = (0..self.sessions).map(|_| Slot::default()).collect();
        let stop = AtomicBool::new(false);
        let deaths = AtomicU32::new(0);
        let (sender, events) = channel();
        std::thread::scope(|scope| {
            let threads: Vec<_> = slots
                .iter()
                .enumerate()
                .map(|(index, slot)| {
                    let session = Session {
                        scratch,
                        index,
                        slot,
                        events: sender.clone(),
                        stop: &stop,
                        deaths: &deaths,
                        notes: self.notes,
                    };
                    let (writes, dice) = (self.writes, Dice(dice.next()));
                    scope.spawn(move || session.run(writes, dice))
                })
                .collect();
            drop(sender);
            let mut killer = Killer {
                scratch,
                faults: self.faults,
                slots: &slots,
                moments: Moments::new(total, self.daemon_kills, self.shim_kills, &mut dice),
                dice,
                deaths: &deaths,
                disturbed: vec![false; slots.len()],
                finished: BTreeSet::new(),
                acknowledged: 0,
            };
            let ended = killer.run(&events, deadline, report);
            stop.store(true, Ordering::Relaxed);
            let outcomes = threads.into_iter().map(|thread| {
                thread.join().map_err(|_| Error::failed("a thread of torture panicked"))
            });
            let outcomes: Result<Vec<Outcome>, Error> = outcomes.collect();
            ended.and(outcomes)
        })
    }
}

/// When to kill, counted in acknowledged writes, latest first.
struct Moments {
    daemon: Vec<u64>,
    shim: Vec<u64>,
}

impl Moments {
    fn new(total: u64, daemon: u32, shim: u32, dice: &mut Dice) -> Self {
        let mut moments = |kills: u32| {
            // Not at the very end, where nobody would be disturbed.
            let mut moments: Vec<u64> =
                (0..kills).map(|_| dice.below(total * 9 / 10 + 1)).collect();
            moments.sort_unstable_by(|a, b| b.cmp(a));
            moments
        };
        Self { daemon: moments(daemon), shim: moments(shim) }
    }
}

/// Kills when the moment has come.
struct Killer<'a> {
    scratch: &'a Scratch,
    faults: bool,
    slots: &'a [Slot],
    moments: Moments,
    dice: Dice,
    /// How many daemons have died, counted when each is dead.
    deaths: &'a AtomicU32,
    /// Sessions that may still have a call under way from before the last death.
    disturbed: Vec<bool>,
    finished: BTreeSet<usize>,
    acknowledged: u64,
}

impl Killer<'_> {
    fn run(
        &mut self,
        events: &Receiver<Event>,
        deadline: Instant,
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut running = self.slots.len();
        while running > 0 {
            match events.recv_timeout(Duration::from_millis(POLL_MILLISECONDS)) {
                Ok(Event::Answered { index, deaths, wrote }) => {
                    self.acknowledged += u64::from(wrote);
                    if deaths == self.deaths.load(Ordering::SeqCst) {
                        self.undisturbed(index);
                    }
                }
                Ok(Event::Finished(index)) => {
                    running -= 1;
                    self.finished.insert(index);
                    self.undisturbed(index);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.scratch.interrupted() {
                report.stopped = Some("interrupted");
                return Ok(());
            }
            if Instant::now() > deadline {
                report.stopped = Some("out of time");
                return Ok(());
            }
            if running > 0 {
                self.kill_what_is_due(report)?;
            }
        }
        Ok(())
    }

    fn kill_what_is_due(&mut self, report: &mut Report) -> Result<(), Error> {
        let now = self.acknowledged;
        if self.moments.shim.pop_if(|moment| *moment <= now).is_some() {
            let index = usize::try_from(self.dice.below(self.slots.len() as u64)).unwrap_or(0);
            report.shim_kills += u32::from(self.slots.get(index).is_some_and(Slot::kill));
        }
        // A call that is under way at two deaths is given up by contract, with its outcome unknown. So
        // each session first gets an answer to something that it asked after the death.
        if !self.disturbed.contains(&true)
            && self.moments.daemon.pop_if(|moment| *moment <= now).is_some()
        {
            let pid = self.scratch.wait_for_daemon(None)?.pid;
            self.scratch.kill_daemon(pid)?;
            report.daemon_kills += 1;
            self.deaths.fetch_add(1, Ordering::SeqCst);
            for (index, disturbed) in self.disturbed.iter_mut().enumerate() {
                *disturbed = !self.finished.contains(&index);
            }
            if self.faults && self.disturbed.contains(&true) {
                report.starts_killed += u32::from(self.scratch.kill_next_start(pid)?);
                let next = self.scratch.wait_for_daemon(None)?.pid;
                let time = Duration::from_millis(TORTURE_STOP_MILLISECONDS);
                stop_for(next, time)?;
                report.stops += 1;
            }
        }
        Ok(())
    }

    fn undisturbed(&mut self, index: usize) {
        if let Some(disturbed) = self.disturbed.get_mut(index) {
            *disturbed = false;
        }
    }
}

impl Slot {
    /// Kills the shim of the moment, if there is one.
    fn kill(&self) -> bool {
        let shim = self.shim.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(shim) = &*shim else { return false };
        self.killed.store(true, Ordering::SeqCst);
        shim.kill();
        true
    }

    fn settle(&self, shim: Option<Shim>) {
        *self.shim.lock().unwrap_or_else(PoisonError::into_inner) = shim;
    }
}

/// One agent: writes, and when its shim was killed, goes on as another session.
struct Session<'a> {
    scratch: &'a Scratch,
    index: usize,
    slot: &'a Slot,
    events: Sender<Event>,
    stop: &'a AtomicBool,
    deaths: &'a AtomicU32,
    notes: bool,
}

impl Session<'_> {
    fn run(&self, writes: u32, mut dice: Dice) -> Outcome {
        let mut outcome = Outcome::default();
        let mut agent: Option<Agent> = None;
        for number in 0..writes {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let current = match &mut agent {
                Some(agent) => agent,
                None => match self.begin() {
                    Ok(new) => agent.insert(new),
                    Err(error) => {
                        outcome.errors.push(error.message);
                        break;
                    }
                },
            };
            let tag = format!("t-{:04}-{number:06}", self.index);
            let gone = self.write(current, tag, &mut dice, &mut outcome)
                || (self.notes && self.between_writes(current, &mut dice, &mut outcome));
            if gone {
                self.slot.settle(None);
                agent = None;
            }
        }
        self.slot.settle(None);
        self.tell(Event::Finished(self.index));
        outcome
    }

    fn begin(&self) -> Result<Agent, Error> {
        let tools = if self.notes { ToolSet::All } else { ToolSet::Default };
        let agent = self.scratch.agent_with(&format!("torture-{}", self.index), tools)?;
        self.slot.settle(Some(agent.shim()));
        Ok(agent)
    }

    /// Makes one write. Returns whether the shim is gone.
    fn write(&self, agent: &mut Agent, tag: String, dice: &mut Dice, seen: &mut Outcome) -> bool {
        let (tool, arguments) =
            if self.notes { write_noting(&tag, dice.next()) } else { write(&tag, dice.next()) };
        seen.attempted.insert(tag.clone());
        let asked = self.deaths.load(Ordering::SeqCst);
        match agent.call(tool, &arguments) {
            Ok(_) => {
                if tool == "memory_note" {
                    seen.noted.push(tag.clone());
                }
                seen.acknowledged.insert(tag);
                self.tell(Event::Answered { index: self.index, deaths: asked, wrote: true });
                false
            }
            Err(CallError::Gone) if self.slot.killed.swap(false, Ordering::SeqCst) => {
                seen.unknown += 1;
                true
            }
            Err(error) => {
                seen.errors.push(format!("{tag}: {error}"));
                error == CallError::Gone
            }
        }
    }

    /// Now and then searches for one of its own notes, which has to be found, or compacts. Returns whether the shim
    /// is gone.
    fn between_writes(&self, agent: &mut Agent, dice: &mut Dice, seen: &mut Outcome) -> bool {
        let (roll, which) = (dice.below(8), dice.below(seen.noted.len() as u64));
        let tag = seen.noted.get(usize::try_from(which).unwrap_or(0)).cloned();
        let (tool, arguments) = match (roll, &tag) {
            (0, _) => ("memory_compact", json!({"target_usage": 0.5})),
            (1..4, Some(tag)) => ("memory_search", search(tag)),
            _ => return false,
        };
        let asked = self.deaths.load(Ordering::SeqCst);
        match (agent.call(tool, &arguments), tag) {
            (Ok(text), Some(tag)) if tool == "memory_search" && !text.contains(&tag) => {
                seen.errors.push(format!("a search does not find {tag}: {text}"));
            }
            (Ok(_), _) => {}
            (Err(CallError::Gone), _) if self.slot.killed.swap(false, Ordering::SeqCst) => {
                return true;
            }
            (Err(error), _) => {
                seen.errors.push(format!("{tool}: {error}"));
                return error == CallError::Gone;
            }
        }
        self.tell(Event::Answered { index: self.index, deaths: asked, wrote: false });
        false
    }

    fn tell(&self, event: Event) {
        // Fails when the killer has given up, and then nobody waits for it.
        let _ = self.events.send(event);
    }
}

/// Of the tags that notes carry, a sample that a search by a newcomer does not find.
fn not_found_by_search(
    scratch: &Scratch,
    acknowledged: &BTreeSet<String>,
    texts: &[String],
) -> Result<Vec<String>, Error> {
    let noted: Vec<&str> = texts
        .iter()
        .filter_map(|text| text.split_once(": ").map(|(tag, _)| tag))
        .filter(|tag| acknowledged.contains(*tag))
        .collect();
    let step = noted.len().div_ceil(SEARCHES).max(1);
    let mut missing = Vec::new();
    for tag in noted.into_iter().step_by(step) {
        let found = scratch.tool("memory_search", search(tag))?;
        if !found.text.contains(tag) {
            missing.push(format!("a search at the end does not find {tag}"));
        }
    }
    Ok(missing)
}

fn words(report: &Report) -> String {
    let mut lines = vec![format!(
        "{} x {} writes, {}, {}, {}",
        show::count(report.sessions.into(), "session"),
        report.writes,
        show::count(report.daemon_kills.into(), "daemon kill"),
        show::count(report.shim_kills.into(), "shim kill"),
        show::duration(report.milliseconds),
    )];
    if report.starts_killed + report.stops > 0 {
        lines.push(format!(
            "{} of a starting daemon, {}",
            show::count(report.starts_killed.into(), "kill"),
            show::count(report.stops.into(), "stop"),
        ));
    }
    let bad = report.lost.iter().map(|tag| format!("lost: {tag}"));
    let bad = bad.chain(report.duplicated.iter().map(|tag| format!("twice: {tag}")));
    let bad: Vec<String> =
        bad.chain(report.errors.iter().map(|error| format!("error: {error}"))).collect();
    lines.extend(bad.iter().take(SAMPLES_MAX).map(|line| format!("  {}", show::plain(line))));
    if bad.len() > SAMPLES_MAX {
        lines.push(format!("  and {} more", bad.len() - SAMPLES_MAX));
    }
    lines.extend(report.stopped.map(|why| format!("  stopped early: {why}")));
    lines.push(format!(
        "acknowledged {}, found {}, lost {}, duplicated {}, errors {}, unknown {}\n",
        report.acknowledged,
        report.found,
        report.lost.len(),
        report.duplicated.len(),
        report.errors.len(),
        report.unknown,
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests;
