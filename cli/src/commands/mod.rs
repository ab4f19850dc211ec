//! The commands, one file each, and the arguments that they share.

mod add;
mod anchors;
mod approve;
mod backup;
mod compact;
mod completions;
mod daemon;
mod dashboard;
mod demo;
mod diff;
mod doctor;
mod edit;
mod export;
mod forget;
mod get;
mod history;
mod hook;
mod import;
mod init;
mod journal;
mod list;
mod load;
mod log;
mod man;
mod mcp;
mod merge;
mod note;
mod outline;
mod parse_outline;
mod pin;
mod project;
mod purge;
mod restart;
mod restore;
mod rules;
mod search;
mod secrets;
mod service;
mod setup;
mod shared;
mod show;
mod status;
mod stop;
mod team;
mod top;
mod undo;
mod uninstall;
mod unpin;
mod why;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anchord_daemon::api;
use anchord_daemon::projects::{Located, Surroundings, locate, locate_named};
use anchord_memory::RecordId;
use anchord_memory::defuse::defuse_json;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde::Serialize;

use crate::exit::Error;

/// A command of `anchord`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Mcp(mcp::Args),
    Hook(hook::Args),
    Daemon(daemon::Args),
    Status(status::Args),
    Load(load::Args),
    #[command(alias = "find")]
    Search(search::Args),
    Get(get::Args),
    #[command(alias = "ls")]
    List(list::Args),
    Note(note::Args),
    #[command(subcommand)]
    Add(add::Command),
    Edit(edit::Args),
    Pin(pin::Args),
    Unpin(unpin::Args),
    Why(why::Args),
    Outline(outline::Args),
    Forget(forget::Args),
    Compact(compact::Args),
    History(history::Args),
    Show(show::Args),
    Diff(diff::Args),
    Undo(undo::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Log(log::Args),
    Dashboard(dashboard::Args),
    Top(top::Args),
    #[command(subcommand, alias = "rule")]
    Rules(rules::Command),
    Approve(approve::Args),
    #[command(subcommand)]
    Anchors(anchors::Command),
    Setup(setup::Args),
    Init(init::Args),
    #[command(subcommand)]
    Shared(shared::Command),
    #[command(subcommand)]
    Team(team::Command),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Service(service::Command),
    Import(import::Args),
    #[command(subcommand, alias = "projects")]
    Project(project::Command),
    #[command(subcommand)]
    Journal(journal::Command),
    Export(export::Args),
    Merge(merge::Args),
    #[command(subcommand)]
    Secrets(secrets::Command),
    Purge(purge::Args),
    Stop(stop::Args),
    Restart(restart::Args),
    Uninstall(uninstall::Args),
    Completions(completions::Args),
    Demo(demo::Args),
    #[command(hide = true)]
    Man(man::Args),
    #[command(hide = true)]
    ParseOutline(parse_outline::Args),
}

impl Command {
    /// Runs the command. The shims have exit codes of their own, for agents.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let done = ExitCode::SUCCESS;
        match self {
            Self::Mcp(args) => Ok(args.run()),
            Self::Hook(args) => Ok(args.run(out)),
            Self::Daemon(args) => args.run().map(|()| done),
            Self::Status(args) => args.run(out).map(|()| done),
            Self::Load(args) => args.run(out).map(|()| done),
            Self::Search(args) => args.run(out),
            Self::Get(args) => args.run(out).map(|()| done),
            Self::List(args) => args.run(out).map(|()| done),
            Self::Note(args) => args.run(out).map(|()| done),
            Self::Add(command) => command.run(out).map(|()| done),
            Self::Edit(args) => args.run(out).map(|()| done),
            Self::Pin(args) => args.run(out).map(|()| done),
            Self::Unpin(args) => args.run(out).map(|()| done),
            Self::Why(args) => args.run(out).map(|()| done),
            Self::Outline(args) => args.run(out).map(|()| done),
            Self::Forget(args) => args.run(out).map(|()| done),
            Self::Compact(args) => args.run(out).map(|()| done),
            Self::History(args) => args.run(out).map(|()| done),
            Self::Show(args) => args.run(out).map(|()| done),
            Self::Diff(args) => args.run(out).map(|()| done),
            Self::Undo(args) => args.run(out).map(|()| done),
            Self::Backup(args) => args.run(out).map(|()| done),
            Self::Restore(args) => args.run(out).map(|()| done),
            Self::Log(args) => args.run(out).map(|()| done),
            Self::Dashboard(args) => args.run(out).map(|()| done),
            Self::Top(args) => args.run(out).map(|()| done),
            Self::Rules(command) => command.run(out),
            Self::Approve(args) => args.run(out).map(|()| done),
            Self::Anchors(command) => command.run(out),
            Self::Setup(args) => args.run(out),
            Self::Doctor(args) => args.run(out),
            Self::Service(command) => command.run(out).map(|()| done),
            Self::Init(args) => args.run(out).map(|()| done),
            Self::Shared(command) => command.run(out).map(|()| done),
            Self::Team(command) => command.run(out).map(|()| done),
            Self::Import(args) => args.run(out).map(|()| done),
            Self::Project(command) => command.run(out).map(|()| done),
            Self::Journal(command) => command.run(out).map(|()| done),
            Self::Export(args) => args.run(out).map(|()| done),
            Self::Merge(args) => args.run(out).map(|()| done),
            Self::Secrets(command) => command.run(out).map(|()| done),
            Self::Purge(args) => args.run(out).map(|()| done),
            Self::Stop(args) => args.run(out).map(|()| done),
            Self::Restart(args) => args.run(out).map(|()| done),
            Self::Uninstall(args) => args.run(out).map(|()| done),
            Self::Completions(args) => args.run(out).map(|()| done),
            Self::Demo(args) => args.run(out).map(|()| done),
            Self::Man(args) => args.run(out).map(|()| done),
            Self::ParseOutline(args) => args.run(out).map(|()| done),
        }
    }
}

/// The project that a command uses.
#[derive(Debug, clap::Args)]
struct ProjectArg {
    /// A directory of the project, or its id [default: the working directory]
    #[arg(long, value_name = "DIR|ID", env = "ANCHORD_PROJECT", hide_env_values = true)]
    project: Option<String>,
}

/// The memory that a command uses: a project's, or the user's own.
#[derive(Debug, clap::Args)]
struct MemoryArg {
    #[command(flatten)]
    project: ProjectArg,
    /// Use your own notes, which are in every project, instead of a project's memory
    #[arg(long)]
    user: bool,
}

impl MemoryArg {
    /// Resolves the memory to the form that the daemon takes: an id, an absolute directory, or the
    /// name of the user's own memory.
    fn resolve(&self) -> Result<String, Error> {
        if !self.user {
            return self.project.resolve();
        }
        if self.names_two() {
            return Err(Error::usage("--user and --project name two memories; give only one"));
        }
        Ok(api::USER.to_owned())
    }

    /// Resolves the memory that has a record. An id of a user's own note needs no --user.
    fn resolve_for(&self, name: &str) -> Result<String, Error> {
        if name.parse().is_ok_and(RecordId::is_personal) && !self.names_two() {
            return Ok(api::USER.to_owned());
        }
        self.resolve()
    }

    /// Whether the options name two memories, which [`Self::resolve`] refuses.
    fn names_two(&self) -> bool {
        self.user && self.project.is_given()
    }
}

impl ProjectArg {
    /// Resolves the project to the form that the daemon takes: an id, or an absolute directory.
    fn resolve(&self) -> Result<String, Error> {
        match self.named() {
            Some(id) if uuid::Uuid::try_parse(id).is_ok() => Ok(id.to_owned()),
            _ => utf8(self.directory()?),
        }
    }

    /// Returns the named directory as an absolute path. The daemon follows its links.
    fn directory(&self) -> Result<PathBuf, Error> {
        directory(Path::new(self.named().unwrap_or(".")))
    }

    /// Finds the project by searching from the directory, without the daemon.
    fn locate(&self, surroundings: &Surroundings) -> Result<Located, Error> {
        let search = if self.named().is_some() { locate_named } else { locate };
        let located = search(&self.directory()?, surroundings);
        located.map_err(|error| Error::usage(format!("failed to {error}")))
    }

    /// Returns whether the command names a project. `$ANCHORD_PROJECT` applies to all commands, so
    /// a flag that names no project overrides it.
    fn is_given(&self) -> bool {
        let named = self.named().map(str::to_owned);
        named.is_some() && named != std::env::var("ANCHORD_PROJECT").ok()
    }

    fn named(&self) -> Option<&str> {
        self.project.as_deref().filter(|name| !name.is_empty())
    }
}

/// Returns an existing directory as an absolute path.
fn directory(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Err(Error::usage(format!("{} is not a directory", path.display())));
    }
    // Collecting the components drops `.` components and a trailing slash.
    let absolute = std::path::absolute(path).context("cannot find the working directory")?;
    Ok(absolute.components().collect())
}

fn utf8(path: PathBuf) -> Result<String, Error> {
    path.into_os_string().into_string().map_err(|name| {
        Error::usage(format!("{} is not UTF-8", Path::new(&name).display()))
            .with_action("Name the project by its id: `anchord project list` shows it.")
    })
}

/// Returns the facts on which the search for a project depends.
fn surroundings() -> Surroundings {
    Surroundings::here(InstanceDir::locate().ok().map(|dir| dir.path().to_owned()))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Prints a value as JSON. JSON's own escapes make it safe for a terminal, so a program reads the
/// values unchanged.
pub(crate) fn print_json(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    Ok(writeln!(out, "{}", defuse_json(&text))?)
}
