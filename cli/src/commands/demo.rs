//! `anchord demo`: kills real daemons and real shims in a scratch instance, and shows what
//! survives.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Context;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::agent::{Agent, CallError};
use crate::exit::Error;
use crate::limits::{DEMO_KEPT_SECONDS_MAX, POLL_MILLISECONDS};
use crate::scratch::Scratch;
use crate::show;
use crate::tally::{Tally, tally, texts};

/// The number of checkpoints in progress when the daemon is killed.
const UNDER_WAY: usize = 16;

/// Watch agents share a memory while processes are killed; nothing of yours is touched
///
/// Runs in a scratch instance that it makes and removes; it cannot be pointed at your own. Exits
/// with 1 if anything acknowledged is lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord demo
  cargo run --bin anchord -- demo")]
pub(crate) struct Args {}

/// The demo's events, printed as they happen.
struct Story<'a> {
    out: &'a mut dyn Write,
    begun: Instant,
    acknowledged: BTreeSet<String>,
}

impl Args {
    #[expect(clippy::unused_self, reason = "the form that every command has")]
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let program = std::env::current_exe().context("cannot find out where this program is")?;
        let scratch = Scratch::new("demo", program)?;
        writeln!(out, "In {}; your own memory is not touched.\n", scratch.path().display())?;
        let mut story = Story { out, begun: Instant::now(), acknowledged: BTreeSet::new() };
        story.two_at_once(&scratch)?;
        story.one_is_killed(&scratch)?;
        story.the_daemon_is_killed(&scratch)?;
        let tally = story.a_third_loads(&scratch)?;
        writeln!(story.out, "\n{}", verdict(&tally).bold())?;
        if tally.lost.is_empty() && tally.twice.is_empty() {
            return Ok(());
        }
        Err(Error::failed("the demo found writes that are lost or there twice"))
    }
}

impl Story<'_> {
    fn two_at_once(&mut self, scratch: &Scratch) -> Result<(), Error> {
        let status = scratch.start_daemon()?;
        self.say(&format!("a daemon runs, pid {}", status.pid))?;
        let start = Barrier::new(2);
        let work = |name: &'static str| {
            let mut agent = scratch.agent(name)?;
            let mut acknowledged = Vec::new();
            start.wait();
            for number in 1..=4 {
                let tag = format!("{name}-{number:02}");
                checkpoint(&mut agent, &tag).map_err(|error| failed(name, &error))?;
                acknowledged.push(tag);
            }
            let tag = format!("{name}-05");
            save(&mut agent, name, &tag).map_err(|error| failed(name, &error))?;
            acknowledged.push(tag);
            Ok::<_, Error>(acknowledged)
        };
        let (ada, bob) = std::thread::scope(|scope| {
            let ada = scope.spawn(|| work("ada"));
            let bob = scope.spawn(|| work("bob"));
            (ada.join(), bob.join())
        });
        for acknowledged in [ada, bob] {
            let acknowledged =
                acknowledged.map_err(|_| Error::failed("an agent of the demo panicked"))??;
            self.acknowledged.extend(acknowledged);
        }
        self.say(
            "ada and bob, two sessions, made four checkpoints and a save each at the same time",
        )
    }

    fn one_is_killed(&mut self, scratch: &Scratch) -> Result<(), Error> {
        let mut eve = scratch.agent("eve")?;
        for number in 1..=3 {
            let tag = format!("eve-{number:02}");
            checkpoint(&mut eve, &tag).map_err(|error| failed("eve", &error))?;
            self.acknowledged.insert(tag);
        }
        eve.shim().kill();
        self.say("eve made three checkpoints and was killed with SIGKILL before saving")
    }

    fn the_daemon_is_killed(&mut self, scratch: &Scratch) -> Result<(), Error> {
        let mut cal = scratch.agent("cal")?;
        let old = scratch.status()?.pid;
        let mut calls = Vec::new();
        for number in 1..=UNDER_WAY {
            let tag = format!("cal-{number:02}");
            let id =
                cal.send("memory_checkpoint", &finding(&tag)).map_err(|e| failed("cal", &e))?;
            calls.push((id, tag));
        }
        let mut answers = calls.into_iter();
        let killed = Instant::now();
        for (nth, (id, tag)) in answers.by_ref().enumerate() {
            cal.receive(id).map_err(|error| failed("cal", &error))?;
            self.acknowledged.insert(tag);
            if nth == 0 {
                scratch.kill_daemon(old)?;
                self.say(&format!(
                    "cal sent {UNDER_WAY} checkpoints at once; when the first was answered, the \
                     daemon was killed with SIGKILL"
                ))?;
            }
        }
        let waited = killed.elapsed().as_millis();
        let new = scratch.wait_for_daemon(Some(old))?.pid;
        self.say(&format!(
            "cal's shim started another daemon, pid {new}, and sent again what was open: all \
             {UNDER_WAY} answered within {waited} ms, no error"
        ))?;
        save(&mut cal, "cal", "cal-99").map_err(|error| failed("cal", &error))?;
        self.acknowledged.insert("cal-99".to_owned());
        self.say("cal saved")
    }

    fn a_third_loads(&mut self, scratch: &Scratch) -> Result<Tally, Error> {
        let deadline = Instant::now() + Duration::from_secs(DEMO_KEPT_SECONDS_MAX);
        while !scratch.export()?.staged.is_empty() && Instant::now() < deadline {
            if scratch.interrupted() {
                return Err(Error::failed("interrupted"));
            }
            std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
        }
        let left = scratch.export()?;
        self.say(if left.staged.is_empty() {
            "eve is gone for good: what she had staged was kept on her behalf"
        } else {
            "eve's work is still staged; her session may yet come back"
        })?;
        let mut dan = scratch.agent("dan")?;
        let load = dan.call("memory_load", &json!({})).map_err(|error| failed("dan", &error))?;
        self.say("dan begins and loads:")?;
        writeln!(self.out)?;
        for line in load.lines() {
            let line = show::plain(line);
            writeln!(self.out, "    {}", line.trim_end().dimmed())?;
        }
        writeln!(self.out)?;
        // What dan saw counts, and so does what only the whole memory has: a load is cut to its
        // budget.
        let all = texts(&left);
        let seen: Vec<&str> = all.iter().map(String::as_str).collect();
        let tally = tally(&self.acknowledged, seen);
        let shown = self.acknowledged.iter().filter(|tag| load.contains(tag.as_str())).count();
        self.say(&format!("dan saw {shown} of them in his load"))?;
        Ok(tally)
    }

    fn say(&mut self, text: &str) -> Result<(), Error> {
        let time = format!("{:>6} ms", self.begun.elapsed().as_millis());
        writeln!(self.out, "{}  {text}", time.dimmed())?;
        Ok(self.out.flush()?)
    }
}

fn checkpoint(agent: &mut Agent, tag: &str) -> Result<String, CallError> {
    agent.call("memory_checkpoint", &finding(tag))
}

fn save(agent: &mut Agent, name: &str, tag: &str) -> Result<String, CallError> {
    let summary = match name {
        "ada" => "Retries are bounded and jittered. Open: nothing shows how many are under way.",
        "bob" => "Orders have a state of their own. Open: old rows are still without one.",
        _ => "The import table is through, all rows of it.",
    };
    let mut arguments = finding(tag);
    if let Some(fields) = arguments.as_object_mut() {
        fields.insert("session_summary".to_owned(), summary.into());
    }
    agent.call("memory_save", &arguments)
}

/// Returns an agent's finding. Its tag is searched for afterwards.
fn finding(tag: &str) -> Value {
    let blueprint = |category, title: &str, content| {
        let title = format!("{title} ({tag})");
        json!({"blueprints": [{"category": category, "title": title, "content": content}]})
    };
    let anchor = |file, lines, concept: &str| json!({"anchors": [{"file": file, "lines": lines, "concept": format!("{concept} ({tag})")}]});
    let lesson = |summary: &str| json!({"lessons": [{"summary": format!("{summary} ({tag})")}]});
    match tag {
        "ada-01" => blueprint(
            "decision",
            "Five attempts, then the caller hears of it",
            "A sixth one never helped in the logs. The error of the last attempt is given on as it is.",
        ),
        "ada-02" => anchor("src/retry.rs", "42-67", "backoff with jitter"),
        "ada-03" => {
            lesson("A test that measures with the wall clock fails when the runner's jumps")
        }
        "ada-04" => {
            blueprint("architecture", "One queue for each tenant", "A slow tenant waits alone.")
        }
        "ada-05" => anchor("src/queue.rs", "10-31", "where a tenant's queue is bounded"),
        "bob-01" => blueprint(
            "schema",
            "orders.state has four values",
            "new, paid, sent, closed; nothing else is ever written.",
        ),
        "bob-02" => anchor("migrations/0007.sql", "1-12", "adds orders.state"),
        "bob-03" => {
            lesson("A migration that failed keeps its lock: release it before the next try")
        }
        "bob-04" => anchor("src/orders/state.rs", "88-120", "the only place that changes a state"),
        "bob-05" => {
            blueprint("convention", "States change by event", "Never by an update from elsewhere.")
        }
        "eve-01" => lesson("The upload test needs a port of its own"),
        "eve-02" => anchor("src/upload.rs", "5-40", "streams, never buffers a whole file"),
        "eve-03" => {
            blueprint("dependency", "No second HTTP client", "The one there is follows redirects.")
        }
        row => lesson(&format!(
            "Row {} of the import table wants its header trimmed",
            row.trim_start_matches("cal-")
        )),
    }
}

fn failed(name: &str, error: &CallError) -> Error {
    Error::failed(format!("a call of {name} failed: {error}"))
}

/// Returns the last line.
fn verdict(tally: &Tally) -> String {
    let counted =
        format!("({} of {} acknowledged writes found)", tally.found(), tally.acknowledged);
    let mut words = if tally.lost.is_empty() {
        format!("lost: nothing {counted}")
    } else {
        format!("lost: {} {counted}", tally.lost.join(", "))
    };
    if !tally.twice.is_empty() {
        words = format!("twice: {}; {words}", tally.twice.join(", "));
    }
    words
}

#[cfg(test)]
mod tests;
