//! `anchord project`: the daemon's registry of projects.

use std::io::Write;
use std::path::PathBuf;

use anchord_daemon::api::{
    self, DeleteParams, ForgetParams, LinkParams, ProjectQuery, ProjectStatus, ProjectsReply,
    RecordsStatus, RemovedReply,
};
use anchord_proto::instance::InstanceDir;

use super::{MemoryArg, ProjectArg, directory, home, print_json, status, utf8};
use crate::client::Client;
use crate::confirm::confirmed;
use crate::exit::Error;
use crate::show;

/// List, link, forget or delete projects
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(ListArgs),
    Link(LinkArgs),
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

/// Make a directory part of a project: a copy goes on with the memory of its original
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

/// Take a project off the list; its memory stays on disk and comes back when it is used again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord project forget
  anchord project forget --project ~/src/old
  anchord project forget --user     # begin without your own notes, if their files are lost")]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    memory: MemoryArg,
}

/// Delete a project's memory from disk, for good
///
/// Shows the path, the records and the bytes, and asks. Without a terminal it wants --yes.
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
            Self::Forget(args) => args.run(out, &mut client),
            Self::Delete(args) => args.run(out, &mut client),
        }
    }
}

impl ListArgs {
    fn run(self, out: &mut dyn Write, client: &mut Client) -> Result<(), Error> {
        let reply: ProjectsReply = client.get(api::PROJECTS, &())?;
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
        let linked: ProjectStatus = client.post(api::PROJECT_LINK, &params)?;
        let here = show::path(&params.path, home().as_deref());
        let root = show::path(&linked.root, home().as_deref());
        Ok(writeln!(out, "{here} is part of {} ({root}) from now on", show::plain(&linked.name))?)
    }
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

/// What is about to go.
fn summary(project: &ProjectStatus) -> String {
    let records = match project.records {
        None => "unknown, its store cannot be read".to_owned(),
        Some(RecordsStatus { blueprints, anchors, lessons, notes, topics, sessions }) => format!(
            "{}, {}, {}, {}, {}, {}",
            show::count(blueprints, "blueprint"),
            show::count(anchors, "anchor"),
            show::count(lessons, "lesson"),
            show::count(notes, "note"),
            show::count(topics, "topic"),
            show::count(sessions, "session row"),
        ),
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
