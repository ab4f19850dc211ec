//! `anchord restore`: sets a memory, or one record, back to an earlier moment by a new commit, or
//! restores a backup.

use std::io::Write;
use std::path::PathBuf;

use anchord_daemon::api::{self, MemoryHere, RestoreParams, RestorePlan, RestoreReply};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use clap::ArgGroup;
use serde_json::json;

use super::backup::{content, described};
use super::undo::{How, roll_back};
use super::{MemoryArg, print_json, utf8};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::Error;
use crate::history::person;
use crate::show;
use crate::text;

/// Set memory, or one record, back to what it was at a revision or time; or restore a backup
///
/// With --to, everything that came later is taken back by one commit, the work of all sessions
/// included. `anchord undo` brings it back. Private notes and staged work stay. What was purged
/// stays purged.
///
/// With a FILE, the plan first says what is in the backup and what is here. If the memory here only
/// continues the backup, its later commits are taken back in the same way. Otherwise the backup
/// takes its place, and the present files are kept under other names.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("what").required(true))]
#[command(after_help = "Examples:
  anchord restore --to 12 --dry-run
  anchord restore --to yesterday
  anchord restore --to '2026-11-02 09:30'
  anchord restore --to 12 --record n7
  anchord restore ~/backups/parser-2026-11-24T123005.jsonl.gz")]
pub(crate) struct Args {
    /// A backup, as `anchord backup` writes it
    #[arg(value_name = "FILE", group = "what", conflicts_with = "record")]
    file: Option<PathBuf>,
    /// A revision, as `anchord history` shows it, or a time: 2h, yesterday, 2026-11-02
    #[arg(long, value_name = "REV|TIME", value_parser = text::moment, group = "what")]
    to: Option<String>,
    /// Only this record, by its id or key
    #[arg(long, value_name = "ID|KEY")]
    record: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Restore a backup without asking
    #[arg(long, requires = "file")]
    yes: bool,
    #[command(flatten)]
    how: How,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        if let Some(file) = &self.file {
            let file = std::path::absolute(file).context("cannot name the file")?;
            return self.restore(out, utf8(file)?);
        }
        let revision = self.to.as_ref().and_then(|to| to.trim().parse::<u64>().ok());
        let time = self.to.as_ref().filter(|_| revision.is_none());
        let arguments = json!({ "to_revision": revision, "to_time": time, "record": self.record });
        let memory = self.memory.resolve_for(self.record.as_deref().unwrap_or_default())?;
        roll_back(out, memory, arguments, &self.how)
    }

    /// Restores a backup: shows the plan, asks, and carries it out.
    fn restore(&self, out: &mut dyn Write, file: String) -> Result<(), Error> {
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let mut params = RestoreParams { project: self.memory.resolve()?, file, plan: None };
        let planned: RestoreReply = client.post(api::RESTORE, &params)?;
        let json = self.how.json;
        if !json {
            write!(out, "{}", plan(&planned))?;
            out.flush()?;
        }
        if let MemoryHere::Later { revision } = planned.plan.here {
            let to = planned.plan.backup.revision;
            if revision == to {
                return if json { print_json(out, &planned) } else { Ok(()) };
            }
            if !self.how.dry_run && !confirmed("Set it back?", self.yes)? {
                return Ok(writeln!(out, "Nothing was changed.")?);
            }
            let arguments = json!({ "to_revision": to });
            return roll_back(out, params.project, arguments, &self.how);
        }
        if self.how.dry_run {
            return if json { print_json(out, &planned) } else { Ok(()) };
        }
        if !confirmed("Restore it like this?", self.yes)? {
            return Ok(writeln!(out, "Nothing was changed.")?);
        }
        params.plan = Some(planned.plan);
        let done: RestoreReply = client.post(api::RESTORE, &params)?;
        if json {
            return print_json(out, &done);
        }
        writeln!(out, "Restored: {}.", content(&done.plan.backup))?;
        if done.purged_again > 0 {
            let records = show::count(done.purged_again, "record");
            writeln!(out, "Purged again, because the purge is newer than the backup: {records}.")?;
        }
        Ok(())
    }
}

/// Words a plan to restore a backup.
fn plan(reply: &RestoreReply) -> String {
    let RestorePlan { backup, here } = &reply.plan;
    let mut lines = vec![described(backup)];
    let kept = "The present files are kept as `*.kept-…` and `sled.aside`.";
    match here {
        MemoryHere::Missing => lines.push("There is no memory here yet.".to_owned()),
        MemoryHere::Later { revision } if *revision == backup.revision => {
            lines.push("Nothing to do: the memory here has no later commit.".to_owned());
        }
        MemoryHere::Later { revision } => {
            let since = show::count(revision.0.saturating_sub(backup.revision.0), "later commit");
            lines.push(format!(
                "The memory here continues it with {since}, which a new commit takes back."
            ));
        }
        MemoryHere::Earlier { entries } => {
            lines.push(format!("The memory here is an earlier state of it, at entry {entries}. The backup takes its place."));
            lines.push(kept.to_owned());
        }
        MemoryHere::Other { entries, records, staged } => {
            let records = show::count(*records, "record");
            lines.push(format!(
                "There is another memory here, with {} and {records}. The backup takes its place.",
                show::entries(*entries)
            ));
            if *staged > 0 {
                let sessions = show::count(*staged, "session");
                lines.push(format!("What {sessions} staged and did not save goes with it."));
            }
            lines.push(kept.to_owned());
        }
        MemoryHere::Damaged { why, entries } => {
            lines
                .push(format!("The memory here is damaged, at {}: {why}", show::entries(*entries)));
            let repair = person().command(&["journal", "repair"]);
            lines.push(format!("{repair} shows what can be restored without the backup."));
            lines.push(kept.to_owned());
        }
    }
    lines.into_iter().map(|line| show::plain(&line) + "\n").collect()
}
