//! `anchord import`: plans and then imports another system's memory. The original is only read.

mod parts;
mod sessions;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anchord_daemon::api::{self, ImportParams, ImportReply, ImportSource};
use anchord_daemon::limits::ADMIN_BODY_BYTES_MAX;
use anchord_memory::Kind;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde_json::value::RawValue;

use super::{MemoryArg, home, print_json, utf8};
use crate::client::Client;
use crate::confirm::{can_ask, confirmed};
use crate::exit::Error;
use crate::limits::{EXPORT_BYTES_MAX, IMPORT_PART_BYTES};
use crate::show;
use crate::table::{Align, Table};

/// Import past sessions, a .zipmem folder's memory, or the compactor's state.json
///
/// Includes the staged work of a folder. Shows the plan and, on a terminal, asks. The same again
/// changes nothing; the original is never touched.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  anchord import sessions --dry-run
  anchord import .zipmem --dry-run
  anchord import .zipmem
  anchord import ~/old/.zipmem --project ~/src/parser --yes
  anchord import ~/.compactor/state.json")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// A .zipmem folder, a state.json of zipmem or the compactor, or what
    /// `anchord export --format json` wrote
    #[arg(required = true)]
    path: Option<PathBuf>,
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
        let mut source = self.read()?;
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let plan = source.hand_over(&mut client)?;
        if !self.json {
            show_plan(out, &plan, &source.params)?;
            out.flush()?;
        }
        let goes_on = !self.dry_run && !plan.already && !plan.nothing;
        if !goes_on {
            return if self.json { print_json(out, &plan) } else { Ok(()) };
        }
        if can_ask() && !confirmed("Bring this over?", self.yes)? {
            return Ok(writeln!(out, "nothing was imported")?);
        }
        source.params.dry_run = false;
        let done = source.hand_over(&mut client)?;
        if self.json {
            return print_json(out, &done);
        }
        for remark in done.remarks.iter().filter(|remark| !plan.remarks.contains(remark)) {
            writeln!(out, "  {}", show::plain(remark))?;
        }
        let revision = done.revision.map(|revision| format!(" as revision {revision}"));
        Ok(writeln!(
            out,
            "imported{}; {} was not touched",
            revision.unwrap_or_default(),
            show::plain(&source.params.path)
        )?)
    }

    /// Reads the source. The daemon gets texts, never a path to open.
    fn read(&self) -> Result<Source, Error> {
        let named = self.path.as_ref().ok_or_else(|| Error::usage("no path was named"))?;
        let (state, session) = if named.is_dir() {
            (named.join("state.json"), Some(named.join("session.json")))
        } else {
            (named.clone(), None)
        };
        let state_text = text_of(&state)?.ok_or_else(|| {
            Error::usage(format!("{} does not exist", state.display())).with_action(TAKES)
        })?;
        let session = session.map(|path| text_of(&path)).transpose()?.flatten();
        let path = std::path::absolute(named).context("cannot find the working directory")?;
        let source = source_of(&state, &state_text)?;
        let parts = match source {
            ImportSource::Anchord => parts::split(state_text, IMPORT_PART_BYTES)
                .map_err(|reason| not_json(&state, &reason))?,
            ImportSource::Zipmem | ImportSource::Compactor => vec![state_text],
        };
        let params = ImportParams {
            project: self.memory.resolve()?,
            source,
            path: utf8(path)?,
            state: String::new(),
            session,
            dry_run: true,
        };
        let source = Source { params, parts };
        source.check(named)?;
        Ok(source)
    }
}

/// The source of an import.
struct Source {
    /// The request without a state.
    params: ImportParams,
    /// The state, or the parts of an export.
    parts: Vec<String>,
}

impl Source {
    /// Refuses a source other than an export if it is too large for one request. A source that is
    /// parsed as a whole cannot be sent in parts.
    fn check(&self, path: &Path) -> Result<(), Error> {
        if self.params.source == ImportSource::Anchord {
            return Ok(());
        }
        for state in &self.parts {
            // This is the longer of the two requests.
            let params = ImportParams { dry_run: false, ..self.part(state) };
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
    fn part(&self, state: &str) -> ImportParams {
        ImportParams { state: state.to_owned(), ..self.params.clone() }
    }

    /// Sends all parts to the daemon, to plan or to import them.
    fn hand_over(&self, client: &mut Client) -> Result<ImportReply, Error> {
        let mut all: Option<ImportReply> = None;
        let of = self.parts.len();
        for (at, state) in self.parts.iter().enumerate() {
            let params = self.part(state);
            let reply = client.post(api::IMPORT, &params).map_err(|error: Error| {
                if at == 0 || params.dry_run {
                    return error;
                }
                error.and_action(&format!(
                    "Of {of} parts {at} are brought over; the same command goes on."
                ))
            })?;
            let reply = parts::of_part(reply, at + 1, of);
            all = Some(match all {
                Some(before) => parts::joined(before, reply),
                None => reply,
            });
        }
        all.ok_or_else(|| Error::failed("there is nothing to bring over"))
    }
}

/// A hint that lists the accepted sources.
const TAKES: &str = "Name a folder that holds zipmem's state.json, such a file of zipmem's or the compactor's, or what \
    `anchord export --format json` wrote.";

/// Fields of zipmem's state. Each state has some of them.
const ZIPMEM: [&str; 6] =
    ["version", "project_name", "blueprints", "anchors", "lessons", "session_log"];

/// Returns the system whose format a file has, judged by its fields.
fn source_of(path: &Path, text: &str) -> Result<ImportSource, Error> {
    // Some editors put a byte order mark there.
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|reason| not_json(path, &reason))?;
    let has = |name: &str| fields.contains_key(name);
    if has("items") {
        Ok(ImportSource::Compactor)
    } else if has("records") && has("revision") {
        Ok(ImportSource::Anchord)
    } else if ZIPMEM.into_iter().any(has) {
        Ok(ImportSource::Zipmem)
    } else {
        let what = format!("{} has nothing in it that anchord can bring over", path.display());
        Err(Error::usage(what).with_action(TAKES))
    }
}

fn not_json(path: &Path, reason: &serde_json::Error) -> Error {
    Error::usage(format!("{} is not a JSON object: {reason}", path.display())).with_action(TAKES)
}

fn text_of(path: &Path) -> Result<Option<String>, Error> {
    let file = match File::open(path) {
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.with_context(|| format!("cannot open {}", path.display()))?,
    };
    let mut text = String::new();
    let read = file.take(EXPORT_BYTES_MAX + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    if text.len() as u64 > EXPORT_BYTES_MAX {
        let limit = show::bytes(EXPORT_BYTES_MAX);
        return Err(Error::usage(format!("{} is larger than {limit}", path.display())));
    }
    Ok(Some(text))
}

fn show_plan(out: &mut dyn Write, plan: &ImportReply, params: &ImportParams) -> Result<(), Error> {
    let home = home();
    let root = plan.project.as_ref().map_or(params.project.as_str(), |p| p.root.as_str());
    let from = show::path(&params.path, home.as_deref());
    let into = show::path(root, home.as_deref());
    if plan.already {
        return Ok(writeln!(out, "{from} was imported into {into} before; nothing to do")?);
    }
    writeln!(out, "{from} into {into}")?;
    let mut table =
        Table::new(&[("", Align::Left), ("found", Align::Right), ("new", Align::Right)]);
    let kinds: &[Kind] = match params.source {
        ImportSource::Zipmem => &[Kind::Blueprint, Kind::Anchor, Kind::Lesson, Kind::SessionRow],
        ImportSource::Compactor => &[Kind::Note],
        ImportSource::Anchord => &Kind::ALL,
    };
    for kind in kinds {
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

#[cfg(test)]
mod tests;
