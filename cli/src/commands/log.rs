//! `anchord log`: prints the calls to a project's memory and their results.

mod checks;

use std::io::Write;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use anchord_daemon::api::{self, LogQuery, LogReply, Retrieval};
use anchord_daemon::rules::guard_log;
use anchord_memory::Timestamp;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use owo_colors::OwoColorize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{MemoryArg, journal};
use crate::client::Client;
use crate::exit::Error;
use crate::limits::{FOLLOWED_CHECKS_POLL_MS, LOG_PAGE_LINES_MAX};
use crate::{show, terminal, text};
use checks::Check;

/// Show what agents asked of the memory and what they were given, newest last
///
/// Every answer of a tool that reads is a line: who asked, with what, and which records were given.
/// It also has the number of tokens and the time it took. Lines are cut to the terminal's width, or
/// to $COLUMNS; a pipe without $COLUMNS gets them whole. The log is bounded and stays on this
/// machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord log
  anchord log --since yesterday
  anchord log --since 2h --json | jq -r .asked
  anchord log -n 100 --json | jq -r 'select(.truncated) | .asked'
  anchord log --rules --follow
  anchord log --follow --project ~/src/parser")]
pub(crate) struct Args {
    /// Number of lines; 20, or with --since all
    #[arg(short = 'n', long = "lines", value_name = "N")]
    lines: Option<u32>,
    /// Show only lines since this time: yesterday, 2h or 2026-11-20
    #[arg(long, value_name = "TIME", value_parser = text::past)]
    since: Option<Timestamp>,
    /// Show only checks of actions against rules
    #[arg(long)]
    rules: bool,
    /// Keep printing new lines
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print the lines as JSON, one each
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let dir = InstanceDir::locate()?;
        let mut query = LogQuery {
            project: self.memory.resolve()?,
            after: None,
            // Even if no line is to be shown, the last one says where to continue. Checks are
            // among other lines.
            limit: if self.rules { LOG_PAGE_LINES_MAX } else { self.lines().max(1) },
            wait: false,
        };
        let daemons = self.daemons(&dir, &query);
        let guarded = checks_without_daemon(&dir, &query.project)?;
        let known = guarded.len();
        let (lines, last, missing) = match daemons {
            Ok((LogReply { lines, fault }, last)) => (lines, last, fault.map(incomplete)),
            // What hooks checked without a daemon is in a file.
            Err(error) if self.rules && known > 0 => {
                let message = format!("the daemon's own checks are missing: {}", error.message);
                (Vec::new(), 0, Some(Error { message, ..error }))
            }
            Err(error) => return Err(error),
        };
        let lines = self.newest(lines, guarded);
        if !self.json {
            let layout = Layout::here();
            let head = if self.rules { layout.checks_head() } else { layout.head() };
            writeln!(out, "{}", head.dimmed())?;
        }
        self.print(out, &lines)?;
        if let Some(error) = missing {
            return Err(error);
        }
        if !self.follow {
            return Ok(());
        }
        let after = Some(last);
        query = LogQuery { after, limit: LOG_PAGE_LINES_MAX, wait: true, ..query };
        self.follow(out, &dir, query, known)
    }

    /// Reads the daemon's lines. Returns those to show at first, and the number of the last.
    fn daemons(&self, dir: &InstanceDir, query: &LogQuery) -> Result<(LogReply, u64), Error> {
        let mut client = Client::started(dir)?;
        if self.since.is_some() {
            return self.read_all(&mut client, query);
        }
        let reply: LogReply = client.get(api::LOG, query)?;
        let last = reply.lines.last().map_or(0, |line| line.number);
        Ok((reply, last))
    }

    /// Prints new lines of the daemon, and new checks that hooks made without it. Of these, `known`
    /// are shown.
    fn follow(
        &self,
        out: &mut dyn Write,
        dir: &InstanceDir,
        query: LogQuery,
        mut known: usize,
    ) -> Result<(), Error> {
        let project = query.project.clone();
        let arriving = arriving(dir.clone(), query);
        let mut late = Vec::new();
        loop {
            out.flush()?;
            let pause = Duration::from_millis(FOLLOWED_CHECKS_POLL_MS);
            let mut lines = match arriving.recv_timeout(pause) {
                Ok(lines) => {
                    // The hook's own check of the action may only just be under way.
                    let (is_late, lines) = lines?.into_iter().partition(checks::is_late);
                    late.extend::<Vec<Retrieval>>(is_late);
                    lines
                }
                Err(RecvTimeoutError::Timeout) => std::mem::take(&mut late),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::failed("following the log ended in a panic"));
                }
            };
            let guarded = checks_without_daemon(dir, &project)?;
            checks::without_doubles(&mut lines, &guarded);
            lines.extend(unseen(guarded, &mut known));
            lines.sort_by_key(|line| line.time);
            self.print(out, &lines)?;
        }
    }

    /// Returns the lines to show at first, of these and of what hooks checked without the daemon.
    fn newest(&self, mut lines: Vec<Retrieval>, guarded: Vec<Retrieval>) -> Vec<Retrieval> {
        checks::without_doubles(&mut lines, &guarded);
        lines.extend(guarded);
        lines.sort_by_key(|line| line.time);
        lines.retain(|line| self.shows(line));
        let shown = usize::try_from(self.lines()).unwrap_or(usize::MAX);
        lines.drain(..lines.len().saturating_sub(shown));
        lines
    }

    /// Returns the number of lines to show at first.
    fn lines(&self) -> u32 {
        let all = if self.since.is_some() { u32::MAX } else { LINES };
        self.lines.unwrap_or(all)
    }

    /// Reads the whole log, page by page. Returns the lines to show, and the number of the last.
    fn read_all(&self, client: &mut Client, query: &LogQuery) -> Result<(LogReply, u64), Error> {
        let (mut lines, mut last) = (Vec::new(), 0);
        loop {
            let page = LogQuery { after: Some(last), limit: LOG_PAGE_LINES_MAX, ..query.clone() };
            let LogReply { lines: page, fault } = client.get(api::LOG, &page)?;
            let Some(newest) = page.last() else { return Ok((LogReply { lines, fault }, last)) };
            last = newest.number;
            lines.extend(page.into_iter().filter(|line| self.shows(line)));
        }
    }

    fn shows(&self, line: &Retrieval) -> bool {
        self.is_since(line.time) && (!self.rules || is_check(line) || line.lost.is_some())
    }

    fn is_since(&self, millis: i64) -> bool {
        self.since.is_none_or(|since| millis >= since.0)
    }

    fn print(&self, out: &mut dyn Write, lines: &[Retrieval]) -> Result<(), Error> {
        let layout = Layout::here();
        for line in lines.iter().filter(|line| self.shows(line)) {
            if let Some(lost) = line.lost.filter(|_| !self.json) {
                writeln!(out, "{}", layout.fitted(missing(lost)).yellow())?;
            }
            // This one only says that others, which may have been checks, are missing.
            if self.rules && !is_check(line) {
                continue;
            }
            if self.json {
                let text = serde_json::to_string(line).context("cannot write JSON")?;
                writeln!(out, "{text}")?;
            } else if self.rules {
                writeln!(out, "{}", layout.check(&Check::logged(line)))?;
            } else {
                writeln!(out, "{}", layout.words(line))?;
            }
        }
        Ok(())
    }
}

/// Returns what hooks checked without the daemon, oldest first.
fn checks_without_daemon(dir: &InstanceDir, project: &str) -> Result<Vec<Retrieval>, Error> {
    let lines = guard_log(&dir.guard(), Path::new(project));
    let lines = lines.context("cannot read the log of hooks without a daemon")?;
    Ok(lines.into_iter().map(checks::without_daemon).collect())
}

/// Returns the checks after the first `known`, and counts them as known. A full log begins anew.
fn unseen(guarded: Vec<Retrieval>, known: &mut usize) -> Vec<Retrieval> {
    let from = if guarded.len() < *known { 0 } else { *known };
    *known = guarded.len();
    guarded.into_iter().skip(from).collect()
}

/// Reads the daemon's new lines on a thread, since a daemon that hangs does not answer. The last
/// item is the reason why it ended.
fn arriving(dir: InstanceDir, query: LogQuery) -> Receiver<Result<Vec<Retrieval>, Error>> {
    // Whoever does not read, as behind a pager, keeps it waiting.
    let (lines, arriving) = mpsc::sync_channel(1);
    thread::spawn(move || {
        if let Err(error) = send_new(&dir, query, &lines) {
            // Fails if nobody follows any more.
            let _ = lines.send(Err(error));
        }
    });
    arriving
}

/// Sends new lines until nobody receives them.
fn send_new(
    dir: &InstanceDir,
    mut query: LogQuery,
    to: &SyncSender<Result<Vec<Retrieval>, Error>>,
) -> Result<(), Error> {
    let mut client = Client::started(dir)?;
    loop {
        // A daemon that ends is followed by another one. There is only one try, since the project
        // may be gone.
        let LogReply { lines, fault } = client.get(api::LOG, &query).or_else(|_| {
            client = Client::started(dir)?;
            client.get(api::LOG, &query)
        })?;
        query.after = lines.last().map(|line| line.number).or(query.after);
        if to.send(Ok(lines)).is_err() {
            return Ok(());
        }
        if let Some(fault) = fault {
            return Err(incomplete(fault));
        }
    }
}

fn is_check(line: &Retrieval) -> bool {
    line.tool == api::RULE_CHECK
}

/// Says in place of lines that they were lost.
fn missing(lost: NonZeroU64) -> String {
    let are = if lost == NonZeroU64::MIN { "is" } else { "are" };
    let lines = show::count(lost.get(), "line");
    format!("{lines} {are} missing here: the log could not be written")
}

fn incomplete(fault: String) -> Error {
    Error::failed(format!("lines may be missing: {fault}"))
}

/// The number of lines that are shown without any option.
const LINES: u32 = 20;

/// The most ids of records that a line of limited width shows.
const IDS: usize = 6;
/// The least columns for a call's arguments where a line is limited.
const ASKED_COLUMNS_MIN: usize = 12;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Every column, each text whole: for a pipe or a file, in which somebody searches.
    Whole,
    /// No wider than this many columns.
    Fitted(usize),
}

impl Layout {
    /// The width from which a line also has its session and its time in ms.
    const WIDE_COLUMNS: usize = 140;

    /// Chooses the form for standard output.
    fn here() -> Self {
        terminal::columns().map_or(Self::Whole, Self::Fitted)
    }

    fn is_wide(self) -> bool {
        match self {
            Self::Whole => true,
            Self::Fitted(columns) => columns >= Self::WIDE_COLUMNS,
        }
    }

    fn head(self) -> String {
        let line = if self.is_wide() {
            format!(
                "{:19}  {:8}  {:14}  {:15}  {:>6}  {:>8}  asked -> given",
                "time (UTC)", "session", "client", "tool", "tokens", "ms"
            )
        } else {
            format!(
                "{:11}  {:11}  {:11}  {:>6}  asked -> given",
                "time (UTC)", "client", "tool", "tokens"
            )
        };
        self.fitted(line)
    }

    fn words(self, line: &Retrieval) -> String {
        let tool = line.tool.strip_prefix("memory_").unwrap_or(&line.tool);
        let time = self.time(line.time);
        let start = if self.is_wide() {
            let micros = u32::try_from(line.micros).unwrap_or(u32::MAX);
            format!(
                "{time}  {:8}  {}  {}  {:>6}  {:>8.2}  ",
                show::plain(&journal::short(&line.session)),
                self.cell(&line.client, 14),
                self.cell(tool, 15),
                line.tokens,
                f64::from(micros) / 1000.0,
            )
        } else {
            let (client, tool) = (self.cell(&line.client, 11), self.cell(tool, 11));
            format!("{time}  {client}  {tool}  {:>6}  ", line.tokens)
        };
        self.line(&start, show::plain(&asked(&line.asked)), &self.given(line))
    }

    /// Returns a time, where a line is narrow as the month, the day and the minute.
    fn time(self, millis: i64) -> String {
        let time = journal::time(millis);
        if self.is_wide() { time } else { time.chars().skip(5).take(11).collect() }
    }

    /// Joins the columns of a line. If it is limited, the arguments get the room that is left.
    fn line(self, start: &str, asked: String, given: &str) -> String {
        let asked = match self {
            Self::Fitted(columns) => {
                let rest = columns.saturating_sub(start.width() + ARROW.width() + given.width());
                show::cut(&asked, rest.max(ASKED_COLUMNS_MIN))
            }
            Self::Whole => asked,
        };
        let arrow = if asked.is_empty() { "" } else { ARROW };
        self.fitted(format!("{start}{asked}{arrow}{given}"))
    }

    /// Fills a cell up to its column. Only a pipe's cell may be longer.
    fn cell(self, text: &str, columns: usize) -> String {
        let text = show::plain(text);
        let text = if self == Self::Whole { text } else { show::cut(&text, columns) };
        let fill = columns.saturating_sub(text.width());
        text + &" ".repeat(fill)
    }

    fn given(self, line: &Retrieval) -> String {
        let shown = if self == Self::Whole { usize::MAX } else { IDS };
        let mut words: Vec<String> = line.ids.iter().take(shown).cloned().collect();
        let more = line.ids.len().saturating_sub(shown) as u64 + line.more;
        match (line.refused, words.is_empty(), more) {
            (true, ..) => words.push("refused".to_owned()),
            (_, true, _) => words.push("nothing".to_owned()),
            (_, _, 0) => {}
            (_, _, more) => words.push(format!("and {more} more")),
        }
        if line.truncated {
            words.push("(truncated)".to_owned());
        }
        show::plain(&words.join(" "))
    }

    fn fitted(self, line: String) -> String {
        match self {
            Self::Whole => line,
            Self::Fitted(columns) => show::cut(&line, columns),
        }
    }
}

const ARROW: &str = " -> ";

/// Returns the query itself, followed by the other arguments; empty if there are none.
fn asked(arguments: &Value) -> String {
    let Some(fields) = arguments.as_object() else {
        return arguments.as_str().unwrap_or_default().to_owned();
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let named = |name: &&str| fields.contains_key(*name);
    let first = ["result", "query", "id", "key", "task"].iter().find(|name| named(name)).copied();
    let rest = fields.iter().filter(|(name, _)| Some(name.as_str()) != first);
    let words: Vec<String> = first
        .and_then(|name| fields.get(name))
        .map(text)
        .into_iter()
        .chain(rest.map(|(name, value)| format!("{name}={}", text(value))))
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
