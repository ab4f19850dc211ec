//! `anchord undo`: takes commits back, by a new commit.

use std::io::Write;

use anchord_memory::render::{self, StyledLine};
use anchord_memory::{HistoryView, UndoEnd, UndoOutcome};
use serde_json::{Value, json};

use super::{MemoryArg, print_json};
use crate::confirm::{asked, can_ask};
use crate::exit::{Error, Kind};
use crate::history;
use crate::show;
use crate::tool::Caller;

/// Take commits back: the newest, others, the last few, or a session's
///
/// New records are forgotten, changed ones go back, forgotten and archived ones return. An undo is
/// a commit too, so undoing it brings everything back. If later commits have changed the same
/// again, they are named, and only --force takes them back as well. What was purged stays purged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord undo
  anchord undo 12 --dry-run
  anchord undo 12 9
  anchord undo --last 3
  anchord undo --session 019a3f
  anchord undo 12 --force --project ~/src/parser")]
pub(crate) struct Args {
    /// The number of the commit, as `anchord history` shows it [default: the newest]. Several are
    /// taken back one by one, in this order, and --json prints a value for each
    #[arg(value_name = "REV", value_parser = history::revision)]
    revisions: Vec<u64>,
    /// Take back every commit of this session; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["revisions", "last"])]
    session: Option<String>,
    /// Take back this many of the newest commits
    #[arg(long, value_name = "N", conflicts_with = "revisions")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    how: How,
}

/// The way in which a rollback is made.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Print what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Also take back later changes of the same records
    #[arg(long)]
    force: bool,
    /// Print JSON: what changed
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let memory = self.memory.resolve()?;
        if self.revisions.is_empty() {
            let newest = self.session.is_none().then_some(1);
            let arguments = json!({ "session": self.session, "last": self.last.or(newest) });
            return roll_back(out, memory, arguments, &self.how);
        }
        for revision in &self.revisions {
            roll_back(out, memory.clone(), json!({ "undo": revision }), &self.how)?;
        }
        if self.revisions.len() > 1 && self.how.dry_run && !self.how.json {
            writeln!(out, "{EACH_ALONE}")?;
        }
        Ok(())
    }
}

/// The remark below several plans, none of which knows the others.
const EACH_ALONE: &str = "Each is planned on the memory as it is now, as if it were the only one.";

/// Plans a rollback, asks if later commits are in its way, and makes it.
pub(super) fn roll_back(
    out: &mut dyn Write,
    memory: String,
    arguments: Value,
    how: &How,
) -> Result<(), Error> {
    let mut caller = Caller::new(memory)?;
    let mut call = |more: Value| -> Result<(UndoOutcome, String), Error> {
        let mut arguments = arguments.clone();
        if let (Value::Object(all), Value::Object(more)) = (&mut arguments, more) {
            all.extend(more);
        }
        match history::ask(&mut caller, "memory_rollback", arguments)? {
            (HistoryView::Rollback(outcome), reply) => Ok((outcome, reply.text)),
            _ => Err(Error::failed("the daemon answered something else than a rollback")),
        }
    };
    let (plan, _) = call(json!({ "dry_run": true, "force": how.force }))?;
    let mut force = how.force;
    if how.dry_run {
        let lines = render::planned_rollback(&plan, &history::person());
        return print(out, &plan, &lines, how.json);
    }
    if plan.end == UndoEnd::Conflicts {
        let lines = render::planned_rollback(&plan, &history::person());
        let named: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let named = named.join("\n");
        if how.json || !can_ask() {
            let show = history::person().command(&["show", "REV"]);
            return Err(Error::new(Kind::Refused, lowered(&named))
                .with_action(format!("Add --force to take these back too; {show} prints one.")));
        }
        let question = format!("{named}\nTake these back too?");
        force = asked(&question)?;
        if !force {
            return Ok(writeln!(out, "Nothing was changed.")?);
        }
    }
    // It applies to what was shown, or not at all.
    let (outcome, text) = call(json!({ "force": force, "expected_revision": plan.base }))?;
    if how.json || !matches!(outcome.end, UndoEnd::Done { .. }) {
        let lines = render::rollback(&outcome, &history::person());
        return print(out, &outcome, &lines, how.json);
    }
    // The text also names what a budget set aside.
    Ok(write!(out, "{}", show::plain_lines(&text))?)
}

fn print(
    out: &mut dyn Write,
    outcome: &UndoOutcome,
    lines: &[StyledLine],
    json: bool,
) -> Result<(), Error> {
    if json {
        return print_json(out, outcome);
    }
    history::print_lines(out, lines)
}

/// Begins a text in lower case, as error messages do.
fn lowered(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
