//! `anchord project`: the daemon's registry of projects.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use anchord_daemon::api::{
    self, DeleteParams, ForgetParams, LinkParams, ProjectQuery, ProjectStatus, ProjectsReply,
    RemovedReply, SplitParams, SplitReply,
};
use anchord_memory::Kind;
use anchord_proto::instance::InstanceDir;

use super::{MemoryArg, ProjectArg, directory, home, print_json, status, utf8};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::{Error, Kind as ErrorKind};
use crate::show;

/// List, link, separate, forget or delete projects
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(ListArgs),
    Link(LinkArgs),
    Split(SplitArgs),
    Forget(ForgetArgs),
    Delete(DeleteArgs),
}

/// List every project that the daemon knows, last used first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project list
  anchord project list --json | jq -r '.projects[] | [.id, .root] | @tsv'")]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Make a directory part of a project: a copy continues with the memory of its original
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project link --project ~/src/parser
  anchord project link ~/src/parser-copy --project 0b8e6a52-9a38-4a9b-b6cf-0d5b3c9f7c11")]
pub(crate) struct LinkArgs {
    /// The directory that joins [default: the working directory]
    path: Option<PathBuf>,
    /// A directory of the project it joins, or that project's id
    #[arg(long, value_name = "DIR|ID", required = true)]
    project: String,
}

/// Move what other projects wrote into a memory to their own memories
///
/// Earlier versions let a `.anchord/` in a parent directory hide the repositories beneath it. This
/// shows which records were written in which repository, and asks. Records that move are forgotten
/// here, which keeps them in history; --undo brings them back and takes out what is unchanged
/// there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project split --project ~/src --dry-run
  anchord project split --project ~/src
  anchord project split --project ~/src --undo")]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    project: ProjectArg,
    /// Take back the last split
    #[arg(long)]
    undo: bool,
    /// Show what would happen and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Take a project off the list; its memory stays on disk and comes back when it is used again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project forget
  anchord project forget --project ~/src/old
  anchord project forget --user     # start without your own notes, if their files are lost")]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    memory: MemoryArg,
}

/// Delete a project's memory from disk, for good
///
/// Shows the path, the records and the bytes, and asks. Without a terminal it needs --yes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project delete --project ~/src/old
  anchord project delete --project 0b8e6a52-9a38-4a9b-b6cf-0d5b3c9f7c11 --yes")]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    project: ProjectArg,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut client = Client::started(&InstanceDir::locate()?)?;
        match self {
            Self::List(args) => args.run(out, &mut client),
            Self::Link(args) => args.run(out, &mut client),
            Self::Split(args) => args.run(out, &mut client),
            Self::Forget(args) => args.run(out, &mut client),
            Self::Delete(args) => args.run(out, &mut client),
        }
    }
}

impl ListArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let mut reply: ProjectsReply = client.get(api::PROJECTS, &())?;
        status::count_records(client, &mut reply.projects);
        if self.json {
            return print_json(out, &reply);
        }
        let now = jiff::Timestamp::now().as_millisecond();
        Ok(status::projects(out, &reply.projects, now, home().as_deref())?)
    }
}

impl LinkArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let path = directory(&self.path.unwrap_or_else(|| PathBuf::from(".")))?;
        let project = ProjectArg { project: Some(self.project) }.resolve()?;
        let params = LinkParams { path: utf8(path)?, project };
        let query = ProjectQuery { project: params.path.clone() };
        let before: Result<ProjectStatus, Error> = client.get(api::PROJECT, &query);
        let linked: ProjectStatus = client.post(api::PROJECT_LINK, &params)?;
        let here = show::path(&params.path, home().as_deref());
        let root = show::path(&linked.root, home().as_deref());
        writeln!(out, "{here} is part of {} ({root}) from now on", show::plain(&linked.name))?;
        match before {
            Ok(before) if before.id != linked.id => {
                write!(out, "{}", left_behind(&before, &linked))?;
            }
            Ok(_) => {}
            // There was no memory here yet.
            Err(error) if error.kind == ErrorKind::NotFound => {}
            // A memory that cannot be read may be the reason for the link.
            Err(Error { message, .. }) => writeln!(
                out,
                "the memory that was used here until now could not be looked at: {}",
                show::plain(&message)
            )?,
        }
        Ok(())
    }
}

/// Describes the memory that a place had before it was linked, with the commands that bring it
/// over.
fn left_behind(before: &ProjectStatus, linked: &ProjectStatus) -> String {
    let counts = before.records.iter().flat_map(|records| {
        let stored = Kind::ALL.into_iter().filter(|kind| records.of(*kind) > 0);
        stored.map(|kind| kind.count_in_full(records.of(kind)))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let what = if counts.is_empty() { "its history" } else { &counts };
    let (id, to) = (show::plain(&before.id), show::plain(&linked.id));
    format!(
        "the memory that was used here until now stays on disk, with {what}; to bring it over:\n  \
         anchord export --project {id} --format json > {id}.json\n  \
         anchord import {id}.json --project {to} --yes\n"
    )
}

impl SplitArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let params =
            SplitParams { project: self.project.resolve()?, dry_run: true, undo: self.undo };
        let plan: SplitReply = client.post(api::PROJECT_SPLIT, &params)?;
        write!(out, "{}", split(&plan, self.undo))?;
        out.flush()?;
        if self.dry_run || (plan.parts.is_empty() && plan.restored == 0) {
            return Ok(());
        }
        let question = if self.undo { "Undo the last split?" } else { "Move them?" };
        if !confirmed(question, self.yes)? {
            return Ok(writeln!(out, "nothing was changed")?);
        }
        let params = SplitParams { dry_run: false, ..params };
        let done: SplitReply = client.post(api::PROJECT_SPLIT, &params)?;
        if self.undo {
            return Ok(writeln!(out, "brought back {}", records(done.restored))?);
        }
        for part in &done.parts {
            let root = show::path(&part.root, home().as_deref());
            writeln!(out, "moved {} to {root}", records(part.records))?;
            if part.left > 0 {
                let left = records(part.left);
                writeln!(out, "  {left} stay here: that memory has other content in their place")?;
            }
        }
        let id = plan.project.map(|project| project.id).unwrap_or_default();
        Ok(writeln!(out, "`anchord project split --undo --project {id}` undoes this")?)
    }
}

/// Renders the plan of a split, or of taking the last one back.
fn split(plan: &SplitReply, undo: bool) -> String {
    let root = plan.project.as_ref().map(|project| show::path(&project.root, home().as_deref()));
    let root = root.unwrap_or_default();
    let mut text = String::new();
    if undo {
        let _ = writeln!(text, "{} would come back to {root}", records(plan.restored));
    } else if plan.parts.is_empty() {
        let _ = writeln!(text, "{root}: no records from other projects found");
    }
    for part in &plan.parts {
        let there = show::path(&part.root, home().as_deref());
        let what = if undo { "would be forgotten in" } else { "would move to" };
        let _ = writeln!(text, "{} {what} {there}", records(part.records));
        for title in &part.titles {
            let _ = writeln!(text, "  {}", show::plain(title));
        }
        let more = (part.records as usize).saturating_sub(part.titles.len());
        if more > 0 && !part.titles.is_empty() {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    for (stay, why) in [
        (plan.unknown, "it is not known where they were written"),
        (plan.several, "they were written in more than one project"),
        (plan.outside, "they are about files outside the project in which they were written"),
        (plan.private, "sessions kept them for themselves"),
    ] {
        if stay > 0 && !undo {
            let _ = writeln!(text, "{} stay: {why}", records(stay));
        }
    }
    text
}

fn records(count: u32) -> String {
    show::count(count.into(), "record")
}

impl ForgetArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let params = ForgetParams { project: self.memory.resolve()? };
        let gone: RemovedReply = client.post(api::PROJECT_FORGET, &params)?;
        if params.project == api::USER {
            return Ok(writeln!(out, "your own notes start empty")?);
        }
        let root = show::path(&gone.project.root, home().as_deref());
        Ok(writeln!(
            out,
            "forgot {root}; its memory stays on disk under the id {}",
            gone.project.id
        )?)
    }
}

impl DeleteArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let query = ProjectQuery { project: self.project.resolve()? };
        let project: ProjectStatus = client.get(api::PROJECT, &query)?;
        write!(out, "{}", summary(&project))?;
        out.flush()?;
        if !confirmed("Delete this memory for good?", self.yes)? {
            return Ok(writeln!(out, "nothing was deleted")?);
        }
        let params = DeleteParams { project: project.id.clone(), confirm: project.id };
        let gone: RemovedReply = client.post(api::PROJECT_DELETE, &params)?;
        Ok(writeln!(out, "deleted, {} freed", show::bytes(gone.bytes))?)
    }
}

/// Describes what is about to be deleted.
fn summary(project: &ProjectStatus) -> String {
    let records = match project.records {
        None => "unknown, its store cannot be read".to_owned(),
        Some(records) => {
            let counts = Kind::ALL.map(|kind| kind.count_in_full(records.of(kind)));
            counts.join(", ")
        }
    };
    format!(
        "project  {}\npath     {}\nid       {}\nrecords  {records}\non disk  {}\n",
        show::plain(&project.name),
        show::plain(&project.root),
        show::plain(&project.id),
        show::bytes(project.bytes),
    )
}

#[cfg(test)]
mod tests;
