//! `anchord init`: tells the agents of a project to use its memory.
//!
//! Every change is planned as a value first; where one file cannot be touched, none is. Files are
//! replaced whole and keep their permissions. A link is followed only inside the project.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;

use super::{ProjectArg, home};
use crate::directive::{self, Without};
use crate::exit::Error;
use crate::show;
use crate::wiring;

mod files;
mod register;

use files::{Edit, Original};

/// The instruction files that agents read, the first made when there is none.
const INSTRUCTIONS: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "memory.md"];

/// The line for `.gitignore`, with the comment by which it is known as ours.
const IGNORE: &str = "# anchord: the project's id on this machine\n.anchord/";

/// Lines that ignore the same.
const IGNORED: [&str; 6] =
    [".anchord", ".anchord/", "/.anchord", "/.anchord/", "**/.anchord", "**/.anchord/"];

/// Tell the agents of a project to load, checkpoint and save its memory
///
/// Writes a marked block into CLAUDE.md, AGENTS.md and memory.md, those that exist, or a new CLAUDE.md. A second
/// time replaces the block; --remove takes it out again. Then prints how to register anchord with each agent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord init
  anchord init --checkpoint aggressive
  anchord init --remove --dry-run")]
pub(crate) struct Args {
    /// How often agents are told to checkpoint [default: what the block says now, else balanced]
    #[arg(long, value_enum, conflicts_with = "remove")]
    checkpoint: Option<Mode>,
    /// Take out what init put in
    #[arg(long)]
    remove: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project: ProjectArg,
}

/// How often agents are told to checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// At milestones
    Conservative,
    /// After each step worth keeping
    Balanced,
    /// After every finding
    Aggressive,
}

impl Mode {
    /// The name on the command line and in the block.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Conservative => "conservative",
            Self::Balanced => "balanced",
            Self::Aggressive => "aggressive",
        }
    }
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let root = wiring::project_root(&self.project.directory()?)?;
        let edits = if self.remove { removal(&root)? } else { placement(&root, self.checkpoint)? };
        let home = home();
        if edits.is_empty() {
            writeln!(
                out,
                "{}: nothing to change",
                show::path(&root.to_string_lossy(), home.as_deref())
            )?;
        }
        for edit in &edits {
            if !self.dry_run {
                edit.apply()?;
            }
            let would = if self.dry_run { "would be " } else { "" };
            let path = show::path(&edit.path.to_string_lossy(), home.as_deref());
            writeln!(out, "{path}: {would}{}", edit.done())?;
        }
        if self.remove {
            return Ok(writeln!(
                out,
                "The memory itself stays: `anchord project delete` removes it."
            )?);
        }
        if root.join(".zipmem/state.json").is_file() {
            writeln!(
                out,
                "\nThere is a zipmem memory here. Bring it over; the original stays as it is:"
            )?;
            writeln!(out, "  anchord import .zipmem")?;
        }
        let program = std::env::current_exe().map_err(|reason| {
            Error::failed(format!("cannot find out where this program is: {reason}"))
        })?;
        Ok(write!(out, "\n{}", register::lines(&program.to_string_lossy()))?)
    }
}

/// What `init` changes.
fn placement(root: &Path, mode: Option<Mode>) -> Result<Vec<Edit>, Error> {
    let mut targets = instructions(root)?;
    if targets.is_empty() {
        targets.push(Original { path: root.join(INSTRUCTIONS[0]), text: None });
    }
    let mut edits = Vec::new();
    for original in targets {
        let found = find(&original)?;
        let kept = found.as_ref().and_then(|found| found.mode.as_deref());
        let mode = mode.map_or_else(|| known(kept, &original.path), Ok)?;
        let text =
            directive::placed(original.text.as_deref(), found.as_ref(), &wiring::block(mode));
        edits.extend(original.becomes(Some(text)));
    }
    if root.join(".anchord").is_dir() && wiring::in_git(root) {
        let ignore = files::read(root, &root.join(".gitignore"))?
            .unwrap_or(Original { path: root.join(".gitignore"), text: None });
        if let Some(text) = directive::with_line(ignore.text.as_deref(), IGNORE, &IGNORED) {
            edits.extend(ignore.becomes(Some(text)));
        }
    }
    Ok(edits)
}

/// What `init --remove` changes.
fn removal(root: &Path) -> Result<Vec<Edit>, Error> {
    let mut edits = Vec::new();
    for original in instructions(root)? {
        if let (Some(found), Some(text)) = (find(&original)?, &original.text) {
            let rest = directive::removed(text, &found);
            edits.extend(original.becomes(rest));
        }
    }
    if let Some(ignore) = files::read(root, &root.join(".gitignore"))? {
        match directive::without_line(ignore.text.as_deref().unwrap_or_default(), IGNORE) {
            Without::NotThere => {}
            Without::NothingLeft => edits.extend(ignore.becomes(None)),
            Without::Left(text) => edits.extend(ignore.becomes(Some(text))),
        }
    }
    Ok(edits)
}

/// The instruction files that exist, each once however many names lead to it.
fn instructions(root: &Path) -> Result<Vec<Original>, Error> {
    let mut found: Vec<Original> = Vec::new();
    for name in INSTRUCTIONS {
        let Some(original) = files::read(root, &root.join(name))? else { continue };
        if !found.iter().any(|known| known.path == original.path) {
            found.push(original);
        }
    }
    Ok(found)
}

fn find(original: &Original) -> Result<Option<directive::Found>, Error> {
    let Some(text) = &original.text else { return Ok(None) };
    directive::find(text, wiring::MARKERS).map_err(|broken| {
        Error::failed(format!("{}: {broken}", original.path.display()))
            .with_action("Nothing was changed. Repair the markers by hand, or update anchord.")
    })
}

fn known(mode: Option<&str>, path: &Path) -> Result<Mode, Error> {
    let Some(name) = mode else { return Ok(Mode::Balanced) };
    Mode::from_str(name, false).map_err(|_| {
        Error::failed(format!("{}: anchord's block has the mode {name:?}", path.display()))
            .with_action("Say --checkpoint conservative, balanced or aggressive.")
    })
}

#[cfg(test)]
mod tests;
