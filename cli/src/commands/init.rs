//! `anchord init`: tells the agents of a project to use its memory.
//!
//! All changes are planned as values first; if one file cannot be changed, none is. Files are
//! replaced whole and keep their permissions. A link is followed only inside the project.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anchord_agents::setup::{Agent, instruction_files};
use anchord_daemon::projects::{Located, Surroundings, locate_part, make_marker, workspace};
use anchord_memory::guide::{self, CheckpointMode, DirectiveTools, Loading};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{ProjectArg, home, shared};
use crate::agents::manifest::Manifest;
use crate::directive::{self, Markers, Without};
use crate::edit::{Edit, Original, refused};
use crate::exit::Error;
use crate::show;

/// anchord's block in instruction files.
const MARKERS: Markers = Markers {
    start: guide::MARKER_START,
    end: guide::MARKER_END,
    version: guide::DIRECTIVE_VERSION,
};

/// zipmem's block. It has no version.
const ZIPMEM_MARKERS: Markers =
    Markers { start: "<!-- zipmem:start", end: "<!-- zipmem:end -->", version: u32::MAX };

/// The name of zipmem's set of tools.
const ZIPMEM: &str = "zipmem";

/// The directory that makes a part of a repository a project.
const MARKER: &str = ".anchord";

/// The lines for `.gitignore`, with the comment by which they are recognised as ours.
const IGNORE: &str = "# anchord: the project's id on this machine\n.anchord/";

/// The directory of shared records. Its own `.gitignore` keeps everything else out of git.
const SHARED: &str = ".anchord/memory";

/// Lines that ignore the same.
const IGNORED: [&str; 6] =
    [".anchord", ".anchord/", "/.anchord", "/.anchord/", "**/.anchord", "**/.anchord/"];

/// Tell the agents of a project to load, checkpoint and save its memory
#[derive(Debug, clap::Args)]
#[command(long_about = long_about())]
#[command(after_help = "Examples:
  anchord init
  anchord init --checkpoint aggressive
  anchord init --workspace --project ~/src/shop
  anchord init --shared             # share the memory through git, after showing the plan
  anchord init --shared --dry-run
  anchord init --unshare
  anchord init --remove --dry-run")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// Frequency at which agents are told to checkpoint [default: what the block says now, else
    /// balanced]
    #[arg(long, value_name = "MODE", value_parser = modes(), conflicts_with = "remove")]
    checkpoint: Option<CheckpointMode>,
    /// The set of tools that your agents have here [default: what the block says now, else
    /// anchord's own]. With zipmem, zipmem's own block is replaced
    #[arg(long, value_name = "SET", value_parser = tool_sets(), conflicts_with = "remove")]
    tools: Option<DirectiveTools>,
    /// Make the directory a workspace: everything beneath it, repositories too, shares one memory
    #[arg(long)]
    workspace: bool,
    /// Share the memory through git: one file for each record in .anchord/memory
    #[arg(long, conflicts_with_all = ["workspace", "remove"])]
    shared: bool,
    /// Stop sharing the memory; all records and files stay
    #[arg(long, conflicts_with_all = ["workspace", "remove", "shared", "checkpoint"])]
    unshare: bool,
    /// Do not ask before sharing
    #[arg(long)]
    yes: bool,
    /// Remove what init added
    #[arg(long)]
    remove: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project: ProjectArg,
}

fn long_about() -> String {
    let files = instruction_files();
    let usual = files.first().copied().unwrap_or_default();
    format!(
        "Tell the agents of a project to load, checkpoint and save its memory\n\nWrites a marked \
         block into {}: those that exist, and those of the agents that are set up, or else a new \
         {usual}. Running it again replaces the block; --remove takes it out again. Optional: `anchord setup` makes your agents use anchord, and \
         with its hooks they load by themselves, so that the block says only what to keep.",
        show::listed(&files, "and")
    )
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        if self.unshare {
            return shared::unshare(&self.project, self.dry_run, out);
        }
        let surroundings = super::surroundings();
        if self.shared {
            return self.share(&surroundings, out);
        }
        let workspace = if self.workspace { Some(self.workspace(&surroundings)?) } else { None };
        let located = self.located(&surroundings)?;
        let part = located.part.is_some() && workspace.is_none();
        let root = workspace.as_ref().unwrap_or(&located.root);
        let agents = Manifest::read(&InstanceDir::locate()?)?;
        let loading = if agents.hooked(root) { Loading::ByHooks } else { Loading::ByAgent };
        let edits = if self.remove {
            removal(root)?
        } else {
            let wanted = Wanted { mode: self.checkpoint, tools: self.tools, loading };
            placement(root, located.git.is_some(), wanted, &agents.serving(root))?
        };
        let makes_part = part && !self.remove && !root.join(MARKER).is_dir();
        let home = home();
        if edits.is_empty() && !self.workspace && !makes_part {
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
        if makes_part {
            self.mark_part(root, surroundings.uid, out)?;
        }
        if let Some(root) = &workspace {
            self.mark(root, surroundings.uid, out)?;
        }
        if self.remove && part {
            writeln!(out, ".anchord stays: it makes this a project of its own.")?;
        }
        if self.remove {
            return Ok(writeln!(
                out,
                "The memory itself stays: `anchord project delete` removes it."
            )?);
        }
        self.suggest(root, &edits, &agents, out)
    }

    /// Names what a user may want to do next.
    fn suggest(
        &self,
        root: &Path,
        edits: &[Edit],
        agents: &Manifest,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        if self.tools.is_none() && edits.iter().any(has_zipmems_block) {
            writeln!(
                out,
                "\nThere is a block of zipmem. `anchord init --tools zipmem` replaces it; so do it \
                 if your agents have these tools."
            )?;
        }
        if root.join(".zipmem/state.json").is_file() {
            writeln!(
                out,
                "\nThere is a zipmem memory here. Bring it over; the original stays as it is:"
            )?;
            writeln!(out, "  anchord import .zipmem")?;
        }
        if agents.files.is_empty() {
            writeln!(
                out,
                "\nYour agents do not know anchord yet. Once, for all projects:\n  anchord setup"
            )?;
        }
        Ok(())
    }
}

impl Args {
    /// Shares the memory, and lets git see its files.
    fn share(&self, surroundings: &Surroundings, out: &mut dyn Write) -> Result<(), Error> {
        let located = self.project.locate(surroundings)?;
        if located.git.is_none() {
            writeln!(out, "Without git, the files are shared in whatever way the directory is.")?;
        }
        if !shared::share(&self.project, self.dry_run, self.yes, out)? {
            return Ok(());
        }
        let root = located.main_root();
        let home = home();
        for edit in unignored(&root)? {
            edit.apply()?;
            let path = show::path(&edit.path.to_string_lossy(), home.as_deref());
            writeln!(out, "{path}: {}", edit.done())?;
        }
        if located.git.is_some() {
            writeln!(
                out,
                "\nNext:\n  git add .anchord && git commit -m \"Share anchord's memory\""
            )?;
        }
        Ok(())
    }

    fn located(&self, surroundings: &Surroundings) -> Result<Located, Error> {
        let located = self.project.locate(surroundings)?;
        if located.git.is_none() {
            return Ok(located);
        }
        // Where the user runs this in a part of a repository, that part is meant.
        locate_part(&self.project.directory()?, surroundings)
            .map_err(|error| Error::usage(format!("failed to {error}")))
    }

    /// Makes a part of a repository a project of its own.
    fn mark_part(&self, root: &Path, uid: u32, out: &mut dyn Write) -> Result<(), Error> {
        let shown = show::path(&root.to_string_lossy(), home().as_deref());
        if self.dry_run {
            return Ok(writeln!(out, "{shown} would be a project of its own")?);
        }
        make_marker(root, uid).with_context(|| format!("cannot mark {}", root.display()))?;
        Ok(writeln!(
            out,
            "{shown} is a project of its own now; what its repository's memory has stays there"
        )?)
    }

    /// Returns the directory that becomes a workspace, or stops being one.
    fn workspace(&self, surroundings: &Surroundings) -> Result<PathBuf, Error> {
        let directory = self.project.directory()?;
        let directory = fs::canonicalize(&directory)
            .with_context(|| format!("cannot look at {}", directory.display()))?;
        match surroundings.excluded(&directory) {
            None => Ok(directory),
            Some(what) => {
                let path = directory.display();
                Err(Error::usage(format!("{path} is {what} and cannot be a workspace")))
            }
        }
    }

    /// Makes a directory a workspace, or a plain directory again.
    fn mark(&self, root: &Path, uid: u32, out: &mut dyn Write) -> Result<(), Error> {
        let shown = show::path(&root.to_string_lossy(), home().as_deref());
        let changed = || format!("cannot mark {}", root.display());
        let mark = workspace::read(root, uid).with_context(changed)?;
        // A stale mark does not make a workspace, but there is still something to remove.
        let was = match mark {
            workspace::Mark::Valid => true,
            workspace::Mark::Stale => self.remove,
            workspace::Mark::None => false,
        };
        let said = match (self.remove, was) {
            (true, false) => "is not a workspace",
            (false, true) => "is a workspace already",
            (true, true) if self.dry_run => "would not be a workspace any more",
            (false, false) if self.dry_run => "would be made a workspace",
            (true, true) => {
                workspace::unmark(root).with_context(changed)?;
                "is not a workspace any more; each repository beneath it has a memory of its own"
            }
            (false, false) => {
                workspace::mark(root, uid).with_context(changed)?;
                "is a workspace now: everything beneath it, repositories too, shares one memory. \
                 Memories that repositories had are kept; `anchord init --workspace --remove` \
                 brings them back"
            }
        };
        Ok(writeln!(out, "{shown} {said}")?)
    }
}

fn tool_sets() -> impl TypedValueParser<Value = DirectiveTools> {
    PossibleValuesParser::new(["anchord", ZIPMEM]).map(|name| match name.as_str() {
        ZIPMEM => DirectiveTools::Zipmem,
        _ => DirectiveTools::Anchord,
    })
}

fn modes() -> impl TypedValueParser<Value = CheckpointMode> {
    PossibleValuesParser::new(CheckpointMode::ALL.map(CheckpointMode::name))
        .try_map(|name| name.parse::<CheckpointMode>())
}

/// The wanted block.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// The mode, if one is given.
    mode: Option<CheckpointMode>,
    /// The set of tools, if one is given.
    tools: Option<DirectiveTools>,
    loading: Loading,
}

/// Plans the changes of `init`. A block goes into every instruction file that exists, and into a
/// new one for each of the agents without.
fn placement(
    root: &Path,
    in_git: bool,
    wanted: Wanted,
    agents: &[Agent],
) -> Result<Vec<Edit>, Error> {
    let Wanted { mode, tools, loading } = wanted;
    let mut targets = instructions(root)?;
    let mut missing: Vec<&str> =
        agents.iter().filter_map(|agent| agent.facts().instructions).collect();
    if targets.is_empty() && missing.is_empty() {
        missing.extend(instruction_files().first());
    }
    missing.sort_unstable();
    missing.dedup();
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let paths = missing.into_iter().map(|name| root.join(name)).filter(is_free);
    targets.extend(paths.map(|path| Original { path, text: None }));
    let mut edits = Vec::new();
    for original in targets {
        let mut found = find(&original)?;
        let said = found.as_ref().and_then(|found| found.tools.as_deref());
        let kept = said.filter(|tools| *tools == ZIPMEM).map(|_| DirectiveTools::Zipmem);
        let tools = tools.or(kept).unwrap_or_default();
        let mut text = original.text.clone();
        let mut kept = found.as_ref().and_then(|found| found.mode.clone());
        if let (DirectiveTools::Zipmem, Some(before)) = (tools, &text)
            && let Some(theirs) = find_marked(before, ZIPMEM_MARKERS, &original.path)?
        {
            kept = kept.or_else(|| Some(zipmem_mode(theirs.of(before)).name().to_owned()));
            if found.is_none() {
                found = Some(theirs);
            } else {
                text = directive::removed(before, &theirs);
                found = text
                    .as_deref()
                    .map(|text| find_marked(text, MARKERS, &original.path))
                    .transpose()?
                    .flatten();
            }
        }
        let mode = mode.map_or_else(|| known(kept.as_deref(), &original.path), Ok)?;
        let block = guide::directive(mode, loading, tools);
        let text = directive::placed(text.as_deref(), found.as_ref(), &block);
        edits.extend(original.becomes(Some(text)));
    }
    if in_git && root.join(MARKER).is_dir() && !root.join(SHARED).is_dir() {
        let ignore = inside(root, &root.join(".gitignore"))?
            .unwrap_or(Original { path: root.join(".gitignore"), text: None });
        if let Some(text) = directive::with_line(ignore.text.as_deref(), IGNORE, &IGNORED) {
            edits.extend(ignore.becomes(Some(text)));
        }
    }
    Ok(edits)
}

/// Plans the removal of the line that keeps shared files out of git.
fn unignored(root: &Path) -> Result<Vec<Edit>, Error> {
    let Some(ignore) = inside(root, &root.join(".gitignore"))? else { return Ok(Vec::new()) };
    let text = ignore.text.clone().unwrap_or_default();
    let rest = match directive::without_line(&text, IGNORE) {
        Without::NotThere => Some(text),
        Without::NothingLeft => None,
        Without::Left(rest) => Some(rest),
    };
    let lines = rest.as_deref().unwrap_or_default().lines().map(str::trim);
    if let Some(line) = lines.into_iter().find(|line| IGNORED.contains(line)) {
        let path = ignore.path.display();
        return Err(Error::failed(format!("{path} has the line `{line}`"))
            .with_action("The memory is shared. Remove that line, so that git sees its files."));
    }
    Ok(ignore.becomes(rest).into_iter().collect())
}

/// Plans the changes of `init --remove`.
fn removal(root: &Path) -> Result<Vec<Edit>, Error> {
    let mut edits = Vec::new();
    for original in instructions(root)? {
        if let (Some(found), Some(text)) = (find(&original)?, &original.text) {
            let rest = directive::removed(text, &found);
            edits.extend(original.becomes(rest));
        }
    }
    if let Some(ignore) = inside(root, &root.join(".gitignore"))? {
        match directive::without_line(ignore.text.as_deref().unwrap_or_default(), IGNORE) {
            Without::NotThere => {}
            Without::NothingLeft => edits.extend(ignore.becomes(None)),
            Without::Left(text) => edits.extend(ignore.becomes(Some(text))),
        }
    }
    Ok(edits)
}

/// Returns the instruction files that exist, each once however many names lead to it.
fn instructions(root: &Path) -> Result<Vec<Original>, Error> {
    let mut found: Vec<Original> = Vec::new();
    for name in instruction_files() {
        let Some(original) = inside(root, &root.join(name))? else { continue };
        if !found.iter().any(|known| known.path == original.path) {
            found.push(original);
        }
    }
    Ok(found)
}

/// Reads a file of the project, if it exists. Follows a link only inside the project.
fn inside(root: &Path, path: &Path) -> Result<Option<Original>, Error> {
    let original = Original::read(path)?;
    if original.text.is_none() {
        return Ok(None);
    }
    let root =
        fs::canonicalize(root).with_context(|| format!("cannot look at {}", root.display()))?;
    if !original.path.starts_with(&root) {
        return Err(refused(format!("{} is a link out of the project", path.display())));
    }
    Ok(Some(original))
}

fn find(original: &Original) -> Result<Option<directive::DirectiveBlock>, Error> {
    let Some(text) = &original.text else { return Ok(None) };
    find_marked(text, MARKERS, &original.path)
}

fn find_marked(
    text: &str,
    markers: Markers,
    path: &Path,
) -> Result<Option<directive::DirectiveBlock>, Error> {
    directive::find(text, markers).map_err(|broken| {
        Error::failed(format!("{}: {broken}", path.display()))
            .with_action("Nothing was changed. Repair the markers by hand, or update anchord.")
    })
}

fn has_zipmems_block(edit: &Edit) -> bool {
    edit.text.as_ref().is_some_and(|text| text.contains(ZIPMEM_MARKERS.end))
}

/// Returns the mode of zipmem's block. Its markers do not name it, so the words of its section on
/// checkpoints decide.
fn zipmem_mode(block: &str) -> CheckpointMode {
    if block.contains("Do NOT call") {
        CheckpointMode::Conservative
    } else if block.contains("milestones") || !block.contains("zipmem_checkpoint") {
        CheckpointMode::Balanced
    } else {
        CheckpointMode::Aggressive
    }
}

fn known(mode: Option<&str>, path: &Path) -> Result<CheckpointMode, Error> {
    let Some(name) = mode else { return Ok(CheckpointMode::default()) };
    name.parse().map_err(|unknown| {
        Error::failed(format!("{}: anchord's block: {unknown}", path.display()))
            .with_action("Name the mode with --checkpoint.")
    })
}

#[cfg(test)]
mod tests;
