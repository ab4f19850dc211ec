//! Torture: many shims write while daemons and shims are killed. Then every write is
//! counted.

mod applied;
mod faults;
mod killer;
mod limits;
mod report;
mod scratch;
mod session;
mod writes;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anchord_daemon::api::{self, ProjectParams, VerifyReply};
use anyhow::Context;
use clap::Parser;
use serde_json::json;

use self::applied::{note_applied, repeated};
use self::faults::{Grounds, OwnDisk};
use self::killer::{Killer, Moments, Progress};
use self::report::Report;
use self::session::{Outcome, Session, Shared, Slot};
use self::writes::{Dice, search};
use crate::limits::{FAULT_SECONDS_MAX, SECONDS_MIN, SESSIONS_MAX, WRITE_MILLISECONDS_MAX};
use crate::scratch::Scratch;
use anchord::client::Client;
use anchord::exit::Error;
use anchord::tally::{WordCounts, tally, texts};

/// Write from many sessions while shims and daemons are killed, and count what is lost
///
/// Runs in a scratch instance that it creates and removes; it never touches your own. Exits with 1
/// if an acknowledged write is lost, a write is applied twice, or a client that kept its shim gets
/// an error. An archived note counts as found, but a search for it has to find it.
///
/// A refused write is an error too unless a fault explains it. So are damage that is not reported,
/// and a session that cannot write after a fault.
#[derive(Debug, clap::Parser)]
#[command(
    name = "torture",
    after_help = "Examples:
  torture
  torture --sessions 64 --writes 1000 --daemon-kills 20 --shim-kills 20
  torture --notes --sessions 16 --writes 200 --daemon-kills 10
  torture --faults --sessions 16 --daemon-kills 10
  torture --hours 8 --faults --sessions 16 --writes 200
  torture --seed 7 --keep --json"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Args {
    /// The `anchord` to torture, instead of one that cargo builds
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Mostly store notes, with searches and compactions in between, under a budget so small that
    /// much is archived
    #[arg(long)]
    notes: bool,
    /// Number of concurrent sessions, each with its own shim
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SESSIONS_MAX)))]
    sessions: u32,
    /// Number of writes per session; with --faults, the minimum
    #[arg(long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    writes: u32,
    /// Number of times that the daemon is killed
    #[arg(long, value_name = "N", default_value_t = 3)]
    daemon_kills: u32,
    /// Inflict faults between the daemon's deaths
    ///
    /// After each of these deaths, also kills a daemon while it starts, and suspends one by a
    /// signal. Once for every four deaths, and at least once, each of the following happens too. A
    /// daemon is killed while it replays the journal. The disk is filled, files are kept from
    /// growing, and the daemon's descriptors are taken. Segments of the journal are removed, cut,
    /// replaced and swapped.
    ///
    /// Sessions keep writing until all of this is done. They repeat a write that is refused
    /// meanwhile.
    ///
    /// The result counts each fault, and says why one could not be inflicted. Filling the disk
    /// needs the right to mount one: root has it, and so does `unshare --map-root-user --mount`.
    /// Only on Linux can torture change the limits of a running daemon.
    #[arg(long)]
    faults: bool,
    /// Number of times that a random session's shim is killed
    #[arg(long, value_name = "N", default_value_t = 2)]
    shim_kills: u32,
    /// Seed of an earlier run, to repeat its writes and the moments of its kills and faults
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Soak test: repeat the run for this many hours, each time with another seed and in a new
    /// instance
    #[arg(long, value_name = "HOURS")]
    hours: Option<f64>,
    /// Keep the scratch folder
    #[arg(long)]
    keep: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    // The daemons and shims that are started inherit no descriptors.
    anchord_shim::descriptors::keep_from_children();
    match Args::parse().run(&mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => anchord::fail(&error),
    }
}

/// The largest number of notes that are searched for at the end.
const SEARCHES: usize = 100;

/// The token budget with `--notes`. A few dozen notes fill it.
const NOTES_BUDGET_TOKENS: u32 = 2_000;

impl Args {
    fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        // The daemon and the shims run in other directories.
        let program = &match &self.program {
            Some(program) => std::path::absolute(program)?,
            None => anchord_tests::shipped().anchord.clone(),
        };
        let until =
            self.hours.map(|hours| Duration::from_secs_f64(hours.clamp(0.0, 1_000.0) * 3_600.0));
        let begun = Instant::now();
        let mut seed = self.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
        let mut dice = Dice(seed);
        loop {
            self.round(out, program, seed)?;
            if until.is_none_or(|until| begun.elapsed() >= until) {
                return Ok(());
            }
            seed = dice.next();
        }
    }

    fn round(&self, out: &mut dyn Write, program: &Path, seed: u64) -> Result<(), Error> {
        let scratch = Scratch::new(program.to_owned(), self.keep)?;
        if !self.json {
            writeln!(out, "seed {seed}, in {}", scratch.path().display())?;
            out.flush()?;
        }
        let report = self.torture(&scratch, seed)?;
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &report).context("cannot write the result")?;
            writeln!(out)?;
        } else {
            write!(out, "{}", report.words())?;
        }
        let Some(complaint) = report.complaint() else { return Ok(()) };
        Err(Error::failed(complaint).with_action(format!(
            "Run it again with --seed {seed} --keep and look at the journal."
        )))
    }

    fn torture(&self, scratch: &Scratch, seed: u64) -> Result<Report, Error> {
        let begun = Instant::now();
        let mut dice = Dice(seed);
        let disk = self.faults.then(|| OwnDisk::mount(scratch, self.keep)).transpose()?;
        scratch.start_daemon()?;
        let grounds = disk.map(|disk| Grounds::prepare(scratch, disk, &mut dice)).transpose()?;
        if self.notes {
            let tight = json!({"budget_tokens": NOTES_BUDGET_TOKENS});
            scratch.tool("memory_configure", tight)?;
        }
        let mut report =
            Report { seed, sessions: self.sessions, writes: self.writes, ..Report::default() };
        let (outcomes, _disk) = self.write_and_kill(scratch, dice, grounds, &mut report)?;
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
        let mut applied = WordCounts::default();
        let mut client = scratch.client()?;
        client.entries(&scratch.project(), 1, u32::MAX, &mut |_, line| {
            note_applied(&mut applied, &line);
            Ok(())
        })?;
        let applied_again = repeated(&applied, &attempted).into_iter().cloned();
        let duplicated: BTreeSet<String> = applied_again.chain(tally.twice.clone()).collect();
        if self.notes {
            report.errors.extend(not_found_by_search(scratch, &acknowledged, &texts)?);
        }
        report.errors.extend(unsound(&mut client, &scratch.project())?);
        report.acknowledged = tally.acknowledged;
        report.found = tally.found();
        report.lost = tally.lost;
        report.duplicated = duplicated.into_iter().collect();
        report.milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(report)
    }

    /// Runs the sessions and the killer. Also returns the grounds, because dropping them unmounts
    /// the disk that holds the data.
    fn write_and_kill(
        &self,
        scratch: &Scratch,
        mut dice: Dice,
        grounds: Option<Grounds>,
        report: &mut Report,
    ) -> Result<(Vec<Outcome>, Option<Grounds>), Error> {
        let total = u64::from(self.sessions) * u64::from(self.writes);
        let slots: Vec<Slot> = (0..self.sessions).map(|_| Slot::default()).collect();
        let shared = Shared::default();
        let (sender, events) = channel();
        let writers: Vec<Dice> = slots.iter().map(|_| Dice(dice.next())).collect();
        let mut moments = Moments::new(total, self.daemon_kills, self.shim_kills, &mut dice);
        if self.faults {
            moments = moments.with_faults(total, self.daemon_kills.div_ceil(4).max(1), &mut dice);
        }
        shared.set_more_to_come(self.faults);
        let seconds = SECONDS_MIN
            + total * WRITE_MILLISECONDS_MAX / 1000
            + moments.faults.len() as u64 * FAULT_SECONDS_MAX;
        std::thread::scope(|scope| {
            let threads: Vec<_> = slots
                .iter()
                .zip(writers)
                .enumerate()
                .map(|(index, (slot, dice))| {
                    let session = Session {
                        scratch,
                        index,
                        slot,
                        events: sender.clone(),
                        shared: &shared,
                        answered_in: Cell::new(0),
                        notes: self.notes,
                    };
                    let writes = self.writes;
                    scope.spawn(move || session.run(writes, dice))
                })
                .collect();
            drop(sender);
            let mut killer = Killer {
                scratch,
                shared: &shared,
                slots: &slots,
                events,
                deadline: Instant::now() + Duration::from_secs(seconds),
                report,
                moments,
                dice,
                grounds,
                progress: Progress::new(slots.len()),
            };
            let ended = killer.run();
            shared.end();
            let outcomes = threads.into_iter().map(|thread| {
                thread.join().map_err(|_| Error::failed("a thread of torture panicked"))
            });
            let outcomes: Result<Vec<Outcome>, Error> = outcomes.collect();
            ended.and(outcomes).map(|outcomes| (outcomes, killer.grounds))
        })
    }
}

/// Searches for a sample of the acknowledged notes, from new sessions. Returns an error text for
/// each note that is not found.
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

/// Verifies the whole journal at the end. Returns a text for each problem.
fn unsound(client: &mut Client, project: &str) -> Result<Vec<String>, Error> {
    let params = ProjectParams { project: project.to_owned() };
    let verified: VerifyReply = client.post(api::JOURNAL_VERIFY, &params)?;
    let problems = verified.problems.into_iter();
    Ok(problems
        .map(|problem| format!("{}:{}: {}", problem.file, problem.line, problem.what))
        .collect())
}

#[cfg(test)]
mod tests;
