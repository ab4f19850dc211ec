//! `anchord status`: the daily overview for a user.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anchord_daemon::api::{
    self, HooksStatus, HttpState, OutlinesStatus, ProjectQuery, ProjectStatus, SessionSummary,
    StatusReply,
};
use anchord_daemon::config::CONFIG_FILE;
use anchord_memory::Kind;
use anchord_proto::instance::InstanceDir;
use owo_colors::OwoColorize;

use super::setup::CHECKS;
use super::{home, print_json, shared, team};
use crate::client::Client;
use crate::exit::Error;
use crate::limits::{STATUS_COUNT_BYTES_MAX, STATUS_COUNT_MS, STATUS_COUNTED_MAX};
use crate::show;
use crate::table::{Align, Table};

/// Show the daemon, its live sessions and its projects
///
/// Starts no daemon: when none runs, it says so and exits with 3. Only where systemd or launchd
/// holds the socket does it start one, since the request is a connection like any other.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord status
  anchord status --json | jq '.sessions[].client'
  anchord status --ready")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only check that sessions are served, for probes of containers
    ///
    /// Exits with 1 while they are not: before the memory of the environment's team is joined, and
    /// if the daemon's own records cannot be written.
    #[arg(long, conflicts_with = "json")]
    ready: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut client = Client::running(&InstanceDir::locate()?)?;
        let mut status: StatusReply = client.get(api::STATUS, &())?;
        if self.ready {
            return ready(out, &status);
        }
        count_records(&mut client, &mut status.projects);
        if self.json {
            return print_json(out, &status);
        }
        Ok(render(out, &status, home().as_deref())?)
    }
}

/// Reports whether sessions can read and write.
fn ready(out: &mut dyn Write, status: &StatusReply) -> Result<(), Error> {
    match status.joining.as_ref().or(status.read_only.as_ref()) {
        None => Ok(writeln!(out, "ready")?),
        Some(why) => {
            Err(Error::failed(format!("sessions are not served yet: {}", show::plain(why))))
        }
    }
}

/// Has the projects counted that nobody has opened since the daemon began: the small ones, and only
/// as long as a person does not notice. A project that cannot be opened is so marked.
pub(super) fn count_records(client: &mut Client, projects: &mut [ProjectStatus]) {
    let begin = Instant::now();
    let uncounted = |project: &&mut ProjectStatus| {
        let is_small = !project.unread && project.bytes <= STATUS_COUNT_BYTES_MAX;
        project.records.is_none() && project.exists && is_small
    };
    for project in projects.iter_mut().filter(uncounted).take(STATUS_COUNTED_MAX) {
        if begin.elapsed() > Duration::from_millis(STATUS_COUNT_MS) {
            break;
        }
        let query = ProjectQuery { project: project.id.clone() };
        match client.get::<ProjectStatus>(api::PROJECT, &query) {
            Ok(counted) => *project = counted,
            Err(error) => drop(project.read_only.get_or_insert(error.message)),
        }
    }
}

fn render(out: &mut dyn Write, status: &StatusReply, home: Option<&Path>) -> io::Result<()> {
    // This is the daemon's own present. The two processes share a clock, but not the moment.
    let now = status.started.saturating_add(i64::try_from(status.uptime_ms).unwrap_or(i64::MAX));
    writeln!(
        out,
        "{} {}, up {}, pid {}",
        "anchord".bold(),
        show::plain(&status.build),
        show::duration(status.uptime_ms),
        status.pid
    )?;
    writeln!(out, "  memory   {}", show::path(&status.instance.data, home))?;
    writeln!(out, "  logs     {}", show::path(&status.instance.logs, home))?;
    let config = Path::new(&status.instance.config).join(CONFIG_FILE);
    let none = if config.exists() { "" } else { " (none yet)" };
    writeln!(out, "  config   {}{none}", show::path(&config.to_string_lossy(), home))?;
    writeln!(out, "  status   {}", port(&status.http))?;
    let counters = &status.counters;
    writeln!(
        out,
        "  since    {}, {} ({} failed)",
        show::count(counters.connections, "connection"),
        show::count(counters.calls, "call"),
        counters.calls_failed,
    )?;
    if counters.panics > 0 {
        let panics = show::count(counters.panics, "panic");
        writeln!(out, "  {}", format!("{panics} caught: the logs say where").red())?;
    }
    outlines(out, &status.outlines)?;
    if status.approvals_waiting > 0 {
        let waiting = show::count(status.approvals_waiting, "action");
        let them = if status.approvals_waiting == 1 { "it" } else { "them" };
        writeln!(out, "  rules    {waiting} to approve: `anchord approve` shows {them}")?;
    }
    hooks(out, &status.hooks, now)?;
    for why in &status.config_ignored {
        let text = show::plain(&format!("the defaults apply: cannot {why}"));
        writeln!(out, "  {}", text.yellow())?;
    }
    if let Some(why) = &status.joining {
        let text = format!("the team's memory is not joined yet: {}", show::plain(why));
        writeln!(out, "  {}", text.yellow())?;
    }
    if let Some(why) = &status.read_only {
        let text = format!("no new session can write: {}", show::plain(why));
        writeln!(out, "  {}", text.red())?;
    }
    writeln!(out)?;
    sessions(out, &status.sessions, &status.projects, now)?;
    writeln!(out)?;
    projects(out, &status.projects, now, home)?;
    personal(out, status.personal.as_ref())
}

/// Prints the line about the user's own memory, if there is one.
fn personal(out: &mut dyn Write, memory: Option<&ProjectStatus>) -> io::Result<()> {
    let Some(memory) = memory else { return Ok(()) };
    let notes = memory.records.map_or_else(
        || "your own notes".to_owned(),
        |records| show::count(records.total(), "note") + " of your own",
    );
    let bytes = size(memory);
    writeln!(out, "\n{notes}, in every project: {bytes}; `anchord list --user` shows them")?;
    if let Some(reason) = &memory.read_only {
        let text = format!("they {}", unusable(memory, reason));
        writeln!(out, "{}", show::plain(&text).red())?;
    }
    Ok(())
}

/// Returns a memory's size; `?` if it is not known.
fn size(memory: &ProjectStatus) -> String {
    if memory.unread { "?".to_owned() } else { show::bytes(memory.bytes) }
}

/// Says that a memory cannot be read or written, and why.
pub(super) fn unusable(memory: &ProjectStatus, reason: &str) -> String {
    if memory.unread {
        format!("cannot be read: {}", reason.strip_prefix("cannot read ").unwrap_or(reason))
    } else {
        format!("cannot be written: {reason}")
    }
}

/// Prints what outlines of files cost and saved, if any were given.
fn outlines(out: &mut dyn Write, outlines: &OutlinesStatus) -> io::Result<()> {
    let OutlinesStatus { given, cached, tokens_given, tokens_saved, .. } = *outlines;
    if given == 0 {
        return Ok(());
    }
    let given = show::count(given, "outline");
    writeln!(
        out,
        "  outlines {given} ({cached} from the cache): {tokens_given} tokens given, {tokens_saved} saved"
    )
}

/// Prints what agents' hooks reported, if anything.
fn hooks(out: &mut dyn Write, hooks: &HooksStatus, now: i64) -> io::Result<()> {
    if hooks.total() == 0 {
        return Ok(());
    }
    let events = show::count(hooks.total(), "event");
    let (whole, tenth) = (hooks.p50_micros / 1_000, hooks.p50_micros / 100 % 10);
    writeln!(out, "  hooks    {events}, half within {whole}.{tenth} ms")?;
    if hooks.doubled > 0 {
        let twice = format!("{} came twice: the hooks are in two places", hooks.doubled);
        writeln!(out, "  {}", twice.yellow())?;
    }
    if let Some(failure) = &hooks.last_failure {
        let ago = show::ago(now, failure.time);
        let (client, event) = (show::plain(&failure.client), show::plain(&failure.event));
        let text = format!("{client} {event}, {ago}: {}", show::plain(&failure.error));
        writeln!(out, "  {}", text.yellow())?;
    }
    Ok(())
}

fn port(http: &HttpState) -> String {
    match http {
        HttpState::Listening { address } => format!("http://{}/status", show::plain(address)),
        HttpState::Off => "port switched off".to_owned(),
        HttpState::Taken { port, reason } => {
            let text = format!("port {port} cannot be had: {}", show::plain(reason));
            text.yellow().to_string()
        }
    }
}

fn sessions(
    out: &mut dyn Write,
    sessions: &[SessionSummary],
    projects: &[ProjectStatus],
    now: i64,
) -> io::Result<()> {
    // Ended sessions of the checks by set-up and doctor are left out.
    let of_checks =
        |session: &&SessionSummary| !session.connected && session.client.starts_with(CHECKS);
    let sessions: Vec<&SessionSummary> =
        sessions.iter().filter(|session| !of_checks(session)).collect();
    if sessions.is_empty() {
        return writeln!(out, "No session is live.");
    }
    let connected = sessions.iter().filter(|session| session.connected).count();
    write!(out, "{}", show::count(connected as u64, "connected session").bold())?;
    match sessions.len() - connected {
        0 => writeln!(out)?,
        number => writeln!(out, " and {number} without a connection")?,
    }
    let mut table = Table::new(&[
        ("client", Align::Left),
        ("project", Align::Left),
        ("began", Align::Right),
        ("last call", Align::Right),
        ("staged", Align::Left),
    ]);
    for session in sessions {
        let name = session.project.as_ref().map(|project| {
            let known = projects.iter().find(|known| known.id == project.id);
            known.map_or_else(|| project.root.clone(), |known| known.name.clone())
        });
        let last = show::ago(now, session.last_call);
        table.row([
            if session.client.is_empty() { "unnamed".to_owned() } else { session.client.clone() },
            name.unwrap_or_else(|| "none yet".to_owned()),
            show::ago(now, session.since),
            if session.connected { last } else { format!("{last}, not connected") },
            staged(session),
        ]);
    }
    table.print(out)
}

fn staged(SessionSummary { staged, staged_unknown, .. }: &SessionSummary) -> String {
    if *staged_unknown {
        return "-".to_owned();
    }
    let staged_of = Kind::ALL.into_iter().map(|kind| (kind, staged.items.of(kind)));
    let mut parts: Vec<String> = staged_of
        .filter(|(_, number)| *number > 0)
        .map(|(kind, number)| kind.count(number.into()))
        .collect();
    if staged.summary {
        parts.push("a summary".to_owned());
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// Prints a table of projects, then the problems of any of them.
pub(super) fn projects(
    out: &mut dyn Write,
    projects: &[ProjectStatus],
    now: i64,
    home: Option<&Path>,
) -> io::Result<()> {
    if projects.is_empty() {
        return writeln!(
            out,
            "No project yet: the first save of an agent makes one, `anchord init` tells agents to."
        );
    }
    writeln!(out, "{}", show::count(projects.len() as u64, "project").bold())?;
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("records", Align::Right),
        ("revision", Align::Right),
        ("on disk", Align::Right),
        ("used", Align::Right),
        ("where", Align::Left),
    ]);
    for project in projects {
        let place = show::path(&project.root, home);
        // Neither is known of a project that was not opened since the daemon began.
        let revision = match (project.records, project.revision) {
            (None, 0) => "-".to_owned(),
            (_, revision) => revision.to_string(),
        };
        table.row([
            project.name.clone(),
            project.records.map_or_else(|| "-".to_owned(), |records| records.total().to_string()),
            revision,
            size(project),
            match project.last_used {
                Some(used) => show::ago(now, used),
                None if project.unread => "?".to_owned(),
                None => "never".to_owned(),
            },
            if project.exists { place } else { format!("{place} (not there)") },
        ]);
    }
    table.print(out)?;
    let mut is_unusable = false;
    for project in projects {
        if let Some(reason) = &project.read_only {
            let text = format!("{} {}", project.name, unusable(project, reason));
            writeln!(out, "{}", show::plain(&text).red())?;
            is_unusable = true;
        }
        if let Some(state) = &project.shared {
            let text = format!("{}: {}", show::plain(&project.name), shared::line(state));
            let is_odd = state.conflicts > 0 || state.paused.is_some();
            let text = if is_odd { text.yellow().to_string() } else { text };
            writeln!(out, "{text}")?;
        }
        if let Some(state) = &project.team {
            let text = format!("{}: {}", show::plain(&project.name), team::line(state, now));
            let text = if state.error.is_some() { text.yellow().to_string() } else { text };
            writeln!(out, "{text}")?;
        }
    }
    if is_unusable {
        writeln!(out, "`anchord doctor` says what to do.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
