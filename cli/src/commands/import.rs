//! `anchord import`: plans and then imports another system's memory. The original is only read.

mod database;
mod parts;
mod reading;
mod sessions;

use std::io::Write;
use std::path::{Path, PathBuf};

use anchord_agents::setup::instruction_files;
use anchord_daemon::api::{self, ImportParams, ImportReply};
use anchord_daemon::limits::ADMIN_BODY_BYTES_MAX;
use anchord_daemon::projects::{locate, make_marker};
use anchord_memory::import::{NamedText, Parts, Source, ZIPMEM};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;

use self::reading::Recognised;
use super::{MemoryArg, home, print_json, utf8};
use crate::client::Client;
use crate::confirm::{can_ask, confirmed};
use crate::exit::Error;
use crate::limits::{IMPORT_PART_BYTES, IMPORT_REVISIONS_NAMED_MAX};
use crate::progress;
use crate::show;
use crate::table::{Align, Table};

/// Import past sessions, or another system's memory
///
/// The file or folder shows which system it is. Shows the plan and, on a terminal, asks. Importing
/// the same again changes nothing; the original is never touched.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  anchord import sessions --dry-run
  anchord import .zipmem --dry-run
  anchord import .zipmem
  anchord import ~/old/.zipmem --project ~/src/parser --yes
  anchord import ~/.compactor/state.json
  anchord import memory-bank
  anchord import memory.db --from parser
  anchord import --instructions --dry-run")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// A file or folder of a system: .zipmem, a state.json, a memory.json, a database, Markdown
    /// notes, or what `anchord export --format json` wrote
    #[arg(required_unless_present = "instructions")]
    path: Option<PathBuf>,
    /// Take sections of the project's instruction files as blueprints
    #[arg(long, conflicts_with = "path")]
    instructions: bool,
    /// The project's name in a database of several; else the name of its directory
    #[arg(long, value_name = "NAME", conflicts_with = "instructions")]
    from: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
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

/// Sources that need no path.
#[derive(Debug, clap::Subcommand)]
enum What {
    Sessions(sessions::Args),
}

/// Imports past sessions that worked in this directory, or all, without another question.
pub(super) fn past_sessions(project: Option<PathBuf>, out: &mut dyn Write) -> Result<(), Error> {
    sessions::Args::agreed(project).run(out)
}

impl Args {
    pub(super) fn run(mut self, out: &mut dyn Write) -> Result<(), Error> {
        if let Some(What::Sessions(args)) = self.what.take() {
            return args.run(out);
        }
        let mut import = self.read()?;
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let plan = import.hand_over(&mut client)?;
        if !self.json {
            show_plan(out, &plan, import.source, &import.params)?;
            out.flush()?;
        }
        let goes_on = !self.dry_run && !plan.already && !plan.nothing;
        if !goes_on {
            return if self.json { print_json(out, &plan) } else { Ok(()) };
        }
        if can_ask() && !confirmed("Bring this over?", self.yes)? {
            return Ok(writeln!(out, "nothing was imported")?);
        }
        import.params.dry_run = false;
        if import.params.part {
            let package = Path::new(&import.params.project);
            make_marker(package, super::surroundings().uid)
                .with_context(|| format!("cannot mark {}", package.display()))?;
        }
        let done = import.hand_over(&mut client)?;
        if self.json {
            return print_json(out, &done);
        }
        for remark in done.remarks.iter().filter(|remark| !plan.remarks.contains(remark)) {
            writeln!(out, "  {}", show::plain(remark))?;
        }
        let path = show::plain(&import.params.path);
        let revisions = as_revisions(&done, &self.memory_of(&done, &import.params));
        Ok(writeln!(out, "imported{revisions}; {path} was not touched")?)
    }

    /// Returns the options with which other commands find the memory that was imported into.
    fn memory_of(&self, done: &ImportReply, params: &ImportParams) -> String {
        match &done.project {
            _ if self.memory.user => " --user".to_owned(),
            Some(project) if params.part || self.memory.project.is_given() => {
                format!(" --project {}", project.id)
            }
            _ => String::new(),
        }
    }

    fn read(&self) -> Result<Import, Error> {
        let (named, recognised) = self.recognise()?;
        let Recognised { source, texts, left_out } = recognised;
        let named = named.as_path();
        let path = std::path::absolute(named).context("cannot find the working directory")?;
        let parts = parts::split(source.parts, texts, IMPORT_PART_BYTES)
            .map_err(|reason| reading::not_json(named, &reason))?;
        let package = if source.name == ZIPMEM { self.package_of(named)? } else { None };
        let params = ImportParams {
            project: match &package {
                Some(package) => utf8(package.directory.clone())?,
                None => self.memory.resolve()?,
            },
            part: package.is_some_and(|package| !package.is_project),
            source: source.name.to_owned(),
            path: utf8(path)?,
            texts: Vec::new(),
            dry_run: true,
        };
        let import = Import { source, params, parts, left_out };
        import.check(named)?;
        Ok(import)
    }

    /// Reads what was named, and returns it with its path.
    fn recognise(&self) -> Result<(PathBuf, Recognised), Error> {
        if self.instructions {
            let root = self.root()?;
            let recognised = reading::instructions(&root, &instruction_files())?;
            return Ok((root, recognised));
        }
        let named = self.path.as_ref().ok_or_else(|| Error::usage("no path was named"))?;
        let recognised = match database::find(named)? {
            Some(database) => database::read(&database, &self.name_there()?)?,
            None if self.from.is_some() => {
                let what = format!("{} is not a database of several projects", named.display());
                return Err(Error::usage(what).with_action("Leave out --from."));
            }
            None => reading::recognise(named)?,
        };
        Ok((named.clone(), recognised))
    }

    /// Returns the project's name in a database.
    fn name_there(&self) -> Result<String, Error> {
        if let Some(name) = &self.from {
            return Ok(name.clone());
        }
        let root = self.root()?;
        let name = root.file_name().ok_or_else(|| Error::usage("the project has no name"))?;
        utf8(PathBuf::from(name))
    }

    fn root(&self) -> Result<PathBuf, Error> {
        let directory = self.memory.project.directory()?;
        let located = locate(&directory, &super::surroundings());
        Ok(located.map_err(|error| Error::usage(format!("failed to {error}")))?.root)
    }

    /// Returns the package of a repository that a folder `.zipmem` belongs to, if no project was
    /// named. Such packages have memories of their own there, and so they do here.
    fn package_of(&self, named: &Path) -> Result<Option<Package>, Error> {
        if self.memory.user || self.memory.project.named().is_some() {
            return Ok(None);
        }
        let named = std::fs::canonicalize(named)
            .with_context(|| format!("cannot look at {}", named.display()))?;
        let folder = named.ancestors().take(2).find(|path| path.ends_with(".zipmem"));
        let Some(package) = folder.and_then(Path::parent) else { return Ok(None) };
        let surroundings = super::surroundings();
        let located = locate(package, &surroundings);
        let located = located.map_err(|error| Error::usage(format!("failed to {error}")))?;
        let is_project = located.root == package;
        let is_part = located.git.is_some() && (!is_project || located.part.is_some());
        Ok(is_part.then(|| Package { directory: package.to_owned(), is_project }))
    }
}

/// A package of a repository with a memory of its own.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    directory: PathBuf,
    /// Whether it is a project here already.
    is_project: bool,
}

/// An import that is to be planned and carried out.
struct Import {
    source: &'static Source,
    /// The request without texts.
    params: ImportParams,
    /// The texts of each request.
    parts: Vec<Vec<NamedText>>,
    /// One line for each file that could not be read.
    left_out: Vec<String>,
}

impl Import {
    /// Refuses a part that is too large for one request. Records of an export never are.
    fn check(&self, path: &Path) -> Result<(), Error> {
        if self.source.parts == Parts::Records {
            return Ok(());
        }
        for texts in &self.parts {
            // This is the longer of the two requests.
            let params = ImportParams { dry_run: false, ..self.part(texts) };
            let bytes = serde_json::to_vec(&params).context("cannot write the request")?.len();
            if bytes > ADMIN_BODY_BYTES_MAX {
                let limit = ADMIN_BODY_BYTES_MAX >> 20;
                let what =
                    format!("{} is too large for one request of {limit} MiB", path.display());
                return Err(Error::usage(what)
                    .with_action("Take out of a copy of it what is not needed, and import that."));
            }
        }
        Ok(())
    }

    /// Returns the request for one part.
    fn part(&self, texts: &[NamedText]) -> ImportParams {
        ImportParams { texts: texts.to_vec(), ..self.params.clone() }
    }

    /// Sends all parts to the daemon, to plan or to import them.
    fn hand_over(&self, client: &mut Client) -> Result<ImportReply, Error> {
        let mut all: Option<ImportReply> = None;
        let of = self.parts.len();
        let bar = progress::bar(of as u64, "{bar:30} part {pos} of {len}, {eta} left");
        for (at, texts) in self.parts.iter().enumerate() {
            let params = self.part(texts);
            let reply = client.post(api::IMPORT, &params).map_err(|error: Error| {
                if at == 0 || params.dry_run {
                    return error;
                }
                error.and_action(&format!(
                    "Of {of} parts {at} are brought over; the same command goes on."
                ))
            })?;
            bar.inc(1);
            let reply = parts::of_part(reply, at + 1, of);
            all = Some(match all {
                Some(before) => parts::joined(before, reply),
                None => reply,
            });
        }
        bar.finish_and_clear();
        let mut all = all.ok_or_else(|| Error::failed("there is nothing to bring over"))?;
        all.remarks.extend(self.left_out.iter().cloned());
        Ok(all)
    }
}

fn show_plan(
    out: &mut dyn Write,
    plan: &ImportReply,
    source: &Source,
    params: &ImportParams,
) -> Result<(), Error> {
    let home = home();
    let known = plan.project.as_ref().filter(|_| !params.part);
    let root = known.map_or(params.project.as_str(), |known| known.root.as_str());
    let from = show::path(&params.path, home.as_deref());
    let into = show::path(root, home.as_deref());
    if plan.already {
        return Ok(writeln!(out, "{from} was imported into {into} before; nothing to do")?);
    }
    writeln!(out, "{from} into {into}")?;
    if params.part {
        let part = show::path(&params.project, home.as_deref());
        writeln!(out, "{part} becomes a project of its own within its repository")?;
    }
    let mut table =
        Table::new(&[("", Align::Left), ("found", Align::Right), ("new", Align::Right)]);
    for kind in source.kinds {
        let counts = plan.counts.of(*kind);
        table.row([kind.plural().to_owned(), counts.found.to_string(), counts.new.to_string()]);
    }
    table.print(out)?;
    if plan.merged > 0 {
        let items = show::count(plan.merged.into(), "item");
        writeln!(out, "  here already, or going into records that are: {items}")?;
    }
    for remark in &plan.remarks {
        writeln!(out, "  {}", show::plain(remark))?;
    }
    if plan.nothing {
        writeln!(out, "nothing to bring over: all of it is here or left out")?;
    }
    Ok(())
}

/// Names the commits of an import. All of them have to be taken back, and none that others made
/// between them. `options` names the memory for `anchord undo`.
fn as_revisions(done: &ImportReply, options: &str) -> String {
    let commits: Vec<String> = parts::revisions(done).iter().map(u64::to_string).collect();
    let named: Vec<&str> = commits.iter().map(String::as_str).collect();
    match named.as_slice() {
        [] => String::new(),
        [only] => format!(" as revision {only}"),
        [first, .., last] if named.len() > IMPORT_REVISIONS_NAMED_MAX => {
            let count = named.len();
            format!(
                " as {count} revisions from {first} to {last}; `anchord history{options}` lists them"
            )
        }
        _ => {
            let list = show::listed(&named, "and");
            // A later part may build on an earlier one.
            let newest_first: Vec<&str> = named.iter().rev().copied().collect();
            let typed = newest_first.join(" ");
            format!(" as revisions {list}; `anchord undo {typed}{options}` takes them back")
        }
    }
}

#[cfg(test)]
mod tests;
