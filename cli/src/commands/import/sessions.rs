//! `anchord import sessions`: imports past sessions from the transcripts that their clients keep.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anchord_agents::limits::TRANSCRIPT_LINE_BYTES_MAX;
use anchord_agents::transcripts::{self, Places, Transcript, Unread};
use anchord_daemon::api::{
    self, PastSessionParams, PastSessionsLeftOut, PastSessionsParams, PastSessionsProject,
    PastSessionsReply,
};
use anchord_proto::instance::InstanceDir;
use serde::Serialize;

use crate::client::Client;
use crate::commands::{home, print_json};
use crate::confirm::{can_ask, confirmed};
use crate::exit::{Error, Kind};
use crate::limits::{PAST_SESSIONS_BATCH_MAX, TRANSCRIPT_REST_SECONDS_MIN};
use crate::progress;
use crate::show;
use crate::table::{Align, Table};

/// The maximum number of directories without a project that are named.
const NAMED_MAX: usize = 10;

/// Arguments of `anchord import sessions`.
#[derive(Debug, clap::Args)]
#[command(about = about(), long_about = long_about())]
#[command(after_help = "Examples:
  anchord import sessions --dry-run
  anchord import sessions --project ~/src/parser --yes

Exit codes: 5 where a transcript could not be read, or not all of it; the others are brought over all the same.")]
pub(super) struct Args {
    /// Only sessions that worked in this directory or beneath it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Show the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print JSON: the plan with --dry-run, the outcome otherwise
    #[arg(long)]
    json: bool,
}

fn about() -> String {
    format!("Import what past sessions of {} did, one row for each", clients("and"))
}

fn long_about() -> String {
    let about = about();
    format!(
        "{about}\n\nReads the transcripts that they keep on disk: the first prompt, files edited, \
         commands that failed and then passed, the last message. Secrets are taken out. Each goes \
         to the project that it worked in. Importing again changes nothing, but brings the \
         row of a session that has continued up to date. The transcripts are only read."
    )
}

/// Lists the clients whose transcripts are read.
fn clients(word: &str) -> String {
    let names: Vec<&str> = transcripts::readable().map(|client| client.name).collect();
    show::listed(&names, word)
}

/// Transcripts that were read, before they are sent to the daemon.
#[derive(Debug, Default)]
struct ReadTranscripts {
    sessions: Vec<PastSessionParams>,
    tally: Tally,
}

/// Counts of the transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Tally {
    /// Transcripts examined.
    transcripts: u64,
    /// Transcripts of sessions that may still be running.
    going_on: u64,
    /// Transcripts without any request and without any write.
    empty: u64,
    /// Lines that are not JSON, or are too long.
    unread_lines: u64,
    /// Transcripts that could not be read, in whole or in part.
    damaged: Vec<Damaged>,
}

/// A transcript that could not be read in whole or in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Damaged {
    path: String,
    /// The problem, as a lower-case fragment.
    what: String,
}

/// The plan or the outcome, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Report<'a> {
    applied: bool,
    #[serde(flatten)]
    tally: &'a Tally,
    #[serde(flatten)]
    reply: &'a PastSessionsReply,
}

impl Args {
    /// Returns the arguments for a user who has already agreed.
    pub(super) fn agreed(project: Option<PathBuf>) -> Self {
        Self { project, dry_run: false, yes: true, json: false }
    }

    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let home = home().ok_or_else(|| Error::failed("HOME is not set"))?;
        let within =
            match &self.project {
                Some(directory) => Some(directory.canonicalize().map_err(|reason| {
                    Error::usage(format!("{}: {reason}", directory.display()))
                })?),
                None => None,
            };
        let transcripts = Places::of(&home).transcripts();
        let found = read(&transcripts, within.as_deref(), SystemTime::now());
        if found.sessions.is_empty() {
            // Without sessions no daemon is started.
            let nothing = PastSessionsReply::default();
            if !self.json {
                show_plan(out, &nothing, &found.tally, &home)?;
                say_nothing_is_new(out, &found.tally)?;
            }
            return self.report(out, false, &found.tally, &nothing);
        }
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let plan = hand_over(&mut client, &found.sessions, true)?;
        if !self.json {
            show_plan(out, &plan, &found.tally, &home)?;
            out.flush()?;
        }
        if self.dry_run || changed(&plan).is_none() {
            if !self.json && changed(&plan).is_none() {
                say_nothing_is_new(out, &found.tally)?;
            }
            return self.report(out, false, &found.tally, &plan);
        }
        if can_ask() && !confirmed("Bring these over?", self.yes)? {
            return Ok(writeln!(out, "nothing was imported")?);
        }
        let done = hand_over(&mut client, &found.sessions, false)?;
        if let (false, Some(changed)) = (self.json, changed(&done)) {
            writeln!(out, "{changed}; the transcripts were not touched")?;
        }
        self.report(out, true, &found.tally, &done)
    }

    fn report(
        &self,
        out: &mut dyn Write,
        applied: bool,
        tally: &Tally,
        reply: &PastSessionsReply,
    ) -> Result<(), Error> {
        if self.json {
            print_json(out, &Report { applied, tally, reply })?;
        }
        if tally.damaged.is_empty() {
            return Ok(());
        }
        let damaged = show::count(tally.damaged.len() as u64, "transcript");
        let message = format!("{damaged} could not be read, or not all of it; see above");
        Err(Error::new(Kind::Damaged, message).with_action("Everything else was done."))
    }
}

/// Says that nothing would change, if there was anything to read.
fn say_nothing_is_new(out: &mut dyn Write, tally: &Tally) -> Result<(), Error> {
    if tally.transcripts > 0 {
        writeln!(out, "nothing is new")?;
    }
    Ok(())
}

/// Describes the changes, made or planned; `None` if there are none.
fn changed(reply: &PastSessionsReply) -> Option<String> {
    let sum = |of: fn(&PastSessionsProject) -> u32| -> u64 {
        reply.projects.iter().map(|project| u64::from(of(project))).sum()
    };
    let (added, updated) = (sum(|project| project.added), sum(|project| project.updated));
    let went_on = show::count(updated, "session");
    match (added, updated) {
        (0, 0) => None,
        (0, _) => Some(format!("{went_on} went on: brought up to date")),
        _ => {
            let into = reply.projects.iter().filter(|project| project.added > 0).count() as u64;
            let (rows, into) = (show::count(added, "session"), show::count(into, "project"));
            let more =
                if updated > 0 { format!(", {went_on} brought up to date") } else { String::new() };
            Some(format!("imported {rows} into {into}{more}"))
        }
    }
}

/// Reads transcripts, and shows a progress bar on a terminal.
fn read(transcripts: &[Transcript], within: Option<&Path>, now: SystemTime) -> ReadTranscripts {
    let bytes = transcripts.iter().map(|transcript| transcript.bytes).sum();
    let bar = progress::bar(bytes, OF_BYTES);
    let mut found = ReadTranscripts::default();
    for transcript in transcripts {
        found.take(transcript, within, now);
        bar.inc(transcript.bytes);
    }
    bar.finish_and_clear();
    found
}

/// The template of a bar that counts bytes.
const OF_BYTES: &str = "{bar:30} {decimal_bytes} of {decimal_total_bytes}, {eta} left";

impl ReadTranscripts {
    fn take(&mut self, transcript: &Transcript, within: Option<&Path>, now: SystemTime) {
        if !transcript.is_within(within) {
            return;
        }
        self.tally.transcripts += 1;
        let rest = now.duration_since(transcript.modified).unwrap_or_default();
        if rest < Duration::from_secs(TRANSCRIPT_REST_SECONDS_MIN) {
            self.tally.going_on += 1;
            return;
        }
        let past = match transcript.read() {
            Ok(past) => past,
            Err(reason) => return self.damaged(transcript, format!("cannot be read: {reason}")),
        };
        if transcript.bytes == 0 {
            return self.damaged(transcript, "is empty".to_owned());
        }
        if let Some(what) = faults(past.unread) {
            self.damaged(transcript, what);
        }
        self.tally.unread_lines += past.unread.lines();
        match past.cwd {
            _ if !past.captured.leaves_row() => self.tally.empty += 1,
            Some(cwd) => self.sessions.push(PastSessionParams {
                client: transcript.client.id.to_owned(),
                cwd,
                captured: past.captured,
            }),
            None => self.damaged(transcript, "its directory is not known".to_owned()),
        }
    }

    fn damaged(&mut self, transcript: &Transcript, what: String) {
        let path = transcript.path.to_string_lossy().into_owned();
        // Conversations of a database have one path.
        let what = match &transcript.conversation {
            Some(conversation) => format!("conversation {}: {what}", conversation.id),
            None => what,
        };
        self.tally.damaged.push(Damaged { path, what });
    }
}

/// Returns a transcript's faults, for people; `None` if it has none.
fn faults(unread: Unread) -> Option<String> {
    let are = |lines: u64| {
        let verb = if lines == 1 { "is" } else { "are" };
        format!("{} {verb}", show::count(lines, "line"))
    };
    let mut said = Vec::new();
    if unread.no_json > 0 {
        said.push(format!("{} not JSON", are(unread.no_json)));
    }
    if unread.too_long > 0 {
        let limit = show::bytes(TRANSCRIPT_LINE_BYTES_MAX);
        said.push(format!("{} longer than {limit}", are(unread.too_long)));
    }
    if unread.torn {
        said.push("the last line is torn".to_owned());
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// Sends the sessions to the daemon, a few hundred at once, and adds up its replies.
fn hand_over(
    client: &mut Client,
    sessions: &[PastSessionParams],
    dry_run: bool,
) -> Result<PastSessionsReply, Error> {
    let mut all = Sum::default();
    for batch in sessions.chunks(PAST_SESSIONS_BATCH_MAX) {
        let params = PastSessionsParams { sessions: batch.to_vec(), dry_run };
        all.add(client.post(api::SESSIONS, &params)?);
    }
    Ok(all.total())
}

#[derive(Debug, Default)]
struct Sum {
    projects: BTreeMap<String, PastSessionsProject>,
    left_out: BTreeMap<String, PastSessionsLeftOut>,
    remarks: Vec<String>,
}

impl Sum {
    fn add(&mut self, reply: PastSessionsReply) {
        for project in reply.projects {
            match self.projects.get_mut(&project.root) {
                Some(sum) => {
                    sum.added += project.added;
                    sum.updated += project.updated;
                    sum.known += project.known;
                    sum.empty += project.empty;
                }
                None => {
                    self.projects.insert(project.root.clone(), project);
                }
            }
        }
        for left_out in reply.left_out {
            match self.left_out.get_mut(&left_out.cwd) {
                Some(sum) => sum.sessions += left_out.sessions,
                None => {
                    self.left_out.insert(left_out.cwd.clone(), left_out);
                }
            }
        }
        for remark in reply.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }

    fn total(self) -> PastSessionsReply {
        PastSessionsReply {
            projects: self.projects.into_values().collect(),
            left_out: self.left_out.into_values().collect(),
            remarks: self.remarks,
        }
    }
}

fn show_plan(
    out: &mut dyn Write,
    plan: &PastSessionsReply,
    tally: &Tally,
    home: &Path,
) -> Result<(), Error> {
    if tally.transcripts == 0 {
        return Ok(writeln!(out, "no transcripts of {} were found", clients("or"))?);
    }
    writeln!(out, "{} read", show::count(tally.transcripts, "transcript"))?;
    if !plan.projects.is_empty() {
        let mut table = Table::new(&[
            ("project", Align::Left),
            ("sessions", Align::Right),
            ("new", Align::Right),
            ("went on", Align::Right),
        ]);
        for project in &plan.projects {
            let PastSessionsProject { added, updated, known, empty, .. } = project;
            let root = show::path(&project.root, Some(home));
            let sessions = added + updated + known + empty;
            table.row([root, sessions.to_string(), added.to_string(), updated.to_string()]);
        }
        table.print(out)?;
    }
    for left_out in plan.left_out.iter().take(NAMED_MAX) {
        let sessions = show::count(left_out.sessions.into(), "session");
        let cwd = show::path(&left_out.cwd, Some(home));
        writeln!(out, "  left out: {sessions} of {cwd}, which {}", show::plain(&left_out.why))?;
    }
    let unnamed = plan.left_out.get(NAMED_MAX..).unwrap_or_default();
    if !unnamed.is_empty() {
        let sessions = unnamed.iter().map(|left_out| u64::from(left_out.sessions)).sum();
        let directories = unnamed.len();
        let sessions = show::count(sessions, "session");
        writeln!(
            out,
            "  left out: {sessions} of {directories} more directories; --json names them"
        )?;
    }
    for (number, what) in [
        (tally.going_on, "written to just now, maybe still going on: left out"),
        (tally.empty, "without a prompt or an edit: left out"),
    ] {
        if number > 0 {
            writeln!(out, "  {} {what}", show::count(number, "transcript"))?;
        }
    }
    for Damaged { path, what } in tally.damaged.iter().take(NAMED_MAX) {
        writeln!(out, "  {}: {}", show::path(path, Some(home)), show::plain(what))?;
    }
    let unnamed = tally.damaged.len().saturating_sub(NAMED_MAX);
    if unnamed > 0 {
        writeln!(
            out,
            "  {} more with damage; --json names all",
            show::count(unnamed as u64, "transcript")
        )?;
    }
    for remark in &plan.remarks {
        writeln!(out, "  {}", show::plain(remark))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
