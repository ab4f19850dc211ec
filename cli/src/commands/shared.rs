//! `anchord shared`: the state of a memory that is shared through git, and conflicts to resolve.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anchord_daemon::api::{self, SharedAction, SharedParams, SharedRemark, SharedReply};
use anchord_memory::RecordId;
use anchord_proto::instance::InstanceDir;
use clap::ValueEnum;

use super::{ProjectArg, home, print_json};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::Error;
use crate::show;

/// Show how a memory is shared through git, and resolve conflicts
///
/// `anchord init --shared` shares a memory, `anchord init --unshare` stops it.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Status(StatusArgs),
    Resolve(ResolveArgs),
}

/// Show the state of the shared files: conflicts, and files that are left alone
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord shared status
  anchord shared status --json | jq '.status.conflicts'")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Decide for one side where a record and its file were both changed
///
/// To keep something of both, edit the file first and then keep it. The other side stays in the
/// record's history: `anchord history --record ID`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord shared resolve n12 --keep file
  anchord shared resolve b3 --keep memory")]
pub(crate) struct ResolveArgs {
    /// The record
    #[arg(value_name = "ID")]
    record: RecordId,
    /// The side that stays
    #[arg(long, value_enum)]
    keep: Side,
    #[command(flatten)]
    project: ProjectArg,
}

/// A side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// The memory's side
    Memory,
    /// The file's side
    File,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Status(args) => args.run(out),
            Self::Resolve(args) => args.run(out),
        }
    }
}

impl StatusArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let reply = request(&self.project, SharedAction::Look)?;
        if self.json {
            return print_json(out, &reply);
        }
        Ok(write!(out, "{}", state(&reply, home().as_deref()))?)
    }
}

impl ResolveArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let action = match self.keep {
            Side::Memory => SharedAction::KeepMemory(self.record),
            Side::File => SharedAction::KeepFile(self.record),
        };
        let reply = request(&self.project, action)?;
        if let Some(done) = &reply.remark {
            writeln!(out, "{}", show::plain(done))?;
        }
        Ok(write!(out, "{}", state(&reply, home().as_deref()))?)
    }
}

/// Shares a memory after showing what that does. `yes` is the answer to the question.
pub(super) fn share(
    project: &ProjectArg,
    dry_run: bool,
    yes: bool,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let now = request(project, SharedAction::Look)?;
    write!(out, "{}", plan(&now, home().as_deref()))?;
    out.flush()?;
    if dry_run || is_done(&now) {
        return Ok(false);
    }
    if !confirmed("Share this memory?", yes)? {
        writeln!(out, "nothing was changed")?;
        return Ok(false);
    }
    let shared = request(project, SharedAction::Share)?;
    if let Some(remark) = &shared.remark {
        writeln!(out, "{}", show::plain(remark))?;
    }
    write!(out, "{}", state(&shared, home().as_deref()))?;
    Ok(true)
}

/// Returns whether nothing is left to do. If the worktree with the files is gone, another one takes
/// over.
fn is_done(now: &SharedReply) -> bool {
    now.is_on && now.lost.is_none()
}

/// Stops sharing a memory.
pub(super) fn unshare(
    project: &ProjectArg,
    dry_run: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let now = request(project, SharedAction::Look)?;
    if !now.is_on {
        return Ok(writeln!(out, "the memory is not shared")?);
    }
    if !dry_run {
        request(project, SharedAction::Unshare)?;
    }
    let is = if dry_run { "would not be" } else { "is not" };
    Ok(writeln!(
        out,
        "the memory {is} shared any more; all records and files stay. Remove {} from git if nobody \
         else uses it",
        show::plain(&now.directory)
    )?)
}

fn request(project: &ProjectArg, action: SharedAction) -> Result<SharedReply, Error> {
    let mut client = Client::started(&InstanceDir::locate()?)?;
    let params = SharedParams { project: project.resolve()?, action };
    client.post(api::PROJECT_SHARED, &params)
}

/// Renders what sharing a memory would do.
fn plan(now: &SharedReply, home: Option<&Path>) -> String {
    let root = show::path(&now.root, home);
    let directory = show::plain(&now.directory);
    let mut text = String::new();
    if is_done(now) {
        let _ = writeln!(text, "{root}: the memory is shared already");
        return text;
    }
    let _ = writeln!(text, "{root}: share the memory through git");
    if let Some(lost) = &now.lost {
        let _ = writeln!(text, "  instead   of {}, which is gone", show::path(lost, home));
    }
    let records = show::count(now.records as u64, "record");
    let _ = writeln!(text, "  write     {records} of this memory as files in {directory}");
    if now.has_files {
        let files = show::count(now.files as u64, "file");
        let whose = if now.was_on { "are there from before" } else { "others shared there" };
        let _ = writeln!(text, "  take in   {files} that {whose}");
    }
    let _ = writeln!(text, "  from now  every change on one side becomes one on the other");
    let _ = writeln!(
        text,
        "  never     notes of your own, private notes, staged work, session rows, records made by rule"
    );
    text
}

/// Renders the state of a shared memory.
fn state(now: &SharedReply, home: Option<&Path>) -> String {
    let root = show::path(&now.root, home);
    let mut text = String::new();
    let Some(status) = now.status.as_ref().filter(|_| now.is_on) else {
        let _ = write!(text, "{root}: the memory is not shared");
        let files = show::count(now.files as u64, "file");
        if now.has_files && now.was_on {
            let directory = show::plain(&now.directory);
            let _ = write!(
                text,
                " any more; {files} from before are still in {directory}. `git rm -r {directory}` \
                 removes them, and `anchord init --shared` shares the memory again"
            );
        } else if now.has_files {
            let _ = write!(
                text,
                "; {files} of others are there, and `anchord init --shared` takes them in"
            );
        }
        text.push('\n');
        return text;
    };
    let _ = writeln!(text, "{root}: {}", line(status));
    for remark in &status.remarks {
        let _ = writeln!(text, "  {}", remark_line(remark));
    }
    if status.more > 0 {
        let _ = writeln!(text, "  and {} more", status.more);
    }
    text
}

/// Returns the state in one line, as status and doctor show it.
pub(super) fn line(status: &api::SharedStatus) -> String {
    let mut parts = vec![show::count(status.files as u64, "file")];
    if status.conflicts > 0 {
        parts.push(show::count(status.conflicts as u64, "conflict"));
    }
    let others = status.remarks.len() + status.more - status.conflicts.min(status.remarks.len());
    if others > 0 {
        parts.push(show::count(others as u64, "remark"));
    }
    match &status.paused {
        Some(why) => format!("shared through git, paused: {}", show::plain(why)),
        None if status.is_unseen => "shared through git, not compared yet".to_owned(),
        None => format!("shared through git: {}", parts.join(", ")),
    }
}

fn remark_line(remark: &SharedRemark) -> String {
    let sign = if remark.is_conflict { "conflict" } else { "remark" };
    let about = remark.file.as_deref().map(show::plain);
    match about {
        Some(file) => format!("{sign}  {file}: {}", show::plain(&remark.what)),
        None => format!("{sign}  {}", show::plain(&remark.what)),
    }
}

#[cfg(test)]
mod tests;
