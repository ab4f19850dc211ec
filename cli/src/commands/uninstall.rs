//! `anchord uninstall`: removes anchord from this machine, and says what stays.
//!
//! The removal is planned as a value first. Only files that anchord creates are removed, by name; a
//! directory is removed if nothing else is in it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anchord_daemon::config::CONFIG_FILE;
use anchord_daemon::instance::DATA_MARK;
use anchord_proto::instance::{InstanceDir, InstanceFile};
use anyhow::Context;

use super::{home, service, setup, stop};
use crate::agents::manifest::{self, Manifest};
use crate::agents::plan::{Plans, Refusal};
use crate::confirm::confirmed;
use crate::exit::Error;
use crate::show;

/// Stop the daemon and remove units, socket, logs and the instance directory; the memory stays
/// unless asked for
///
/// Shows what goes, and asks. Without a terminal it needs --yes. Where agents are set up, it first
/// offers to take that back, as `anchord setup --remove` does; --yes accepts. Afterwards no agent
/// starts the daemon again, until `anchord setup`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord uninstall
  anchord uninstall --data --yes")]
pub(crate) struct Args {
    /// Remove the memory of all projects and your own notes, too; backups stay
    #[arg(long)]
    data: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// The plan: what is removed and what stays.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    /// Paths to remove, with their contents.
    goes: Vec<PathBuf>,
    /// Directories to remove afterwards, if they are empty.
    emptied: Vec<PathBuf>,
    /// Paths that stay, and the reason.
    stays: Vec<(PathBuf, &'static str)>,
    /// Whether a service manager's units are among what is removed.
    units: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let dir = InstanceDir::locate()?;
        let home = home();
        let refused = self.take_back(&dir, home.as_deref(), out)?;
        let units = home.as_deref().map(service::files).unwrap_or_default();
        let plan = plan(&dir, units, self.data)?;
        let shown = |path: &Path| show::path(&path.to_string_lossy(), home.as_deref());
        if plan.goes.is_empty() {
            writeln!(out, "nothing of anchord's is here to remove")?;
        } else {
            writeln!(out, "This goes:")?;
            for path in &plan.goes {
                writeln!(out, "  {}", shown(path))?;
            }
            out.flush()?;
            if !confirmed("Stop the daemon and remove this?", self.yes)? {
                return Ok(writeln!(out, "nothing was removed")?);
            }
            if let Some(home) = home.as_deref().filter(|_| plan.units) {
                // This precedes stopping the daemon, which would otherwise be started again.
                service::let_go(home);
            }
            // This precedes it too: a shim whose daemon ends starts another.
            forbid_starts(&dir)?;
            if let Err(error) = stop::stop(&dir) {
                setup::allow_starts(&dir)?;
                return Err(not_stopped(error, plan.units));
            }
            carry_out(&plan)?;
            if let Some(home) = home.as_deref().filter(|_| plan.units) {
                service::forget(home);
            }
            writeln!(out, "removed")?;
        }
        writeln!(out, "This stays:")?;
        for (path, why) in &plan.stays {
            writeln!(out, "  {} ({why})", shown(path))?;
        }
        if let Ok(program) = std::env::current_exe() {
            writeln!(out, "  {} (this program)", shown(&program))?;
        }
        if dir.removed().exists() {
            let path = shown(&dir.removed());
            writeln!(
                out,
                "  {path} (no agent starts the daemon again; `anchord setup` removes it)"
            )?;
        }
        if Manifest::read(&dir).is_ok_and(|manifest| !manifest.files.is_empty()) {
            writeln!(out, "  what agents were told: `anchord setup --remove` takes it back")?;
        }
        writeln!(out, "  what projects say: `anchord init --remove` in each")?;
        writeln!(out, "  an id in each project, `project-id` in `.anchord` or in `.git/anchord`")?;
        setup::not_taken_back(&refused).map_or(Ok(()), Err)
    }

    /// Offers to take back what set-ups wrote for agents. Returns the files that could not be
    /// changed.
    fn take_back(
        &self,
        dir: &InstanceDir,
        home: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<Vec<Refusal>, Error> {
        if dir.is_named() {
            // Agents are set up for the user's own instance alone.
            return Ok(Vec::new());
        }
        let Plans { files: plans, mut refused } = setup::whole_removal(dir)?;
        if plans.is_empty() {
            setup::show_refused(&refused, out)?;
            return Ok(refused);
        }
        writeln!(out, "Agents are set up to run anchord. This can be taken back:")?;
        setup::show_plans(&plans, home.unwrap_or(Path::new("/")), out)?;
        setup::show_refused(&refused, out)?;
        out.flush()?;
        if !confirmed("Take it back first, so that agents no longer look for anchord?", self.yes)? {
            return Ok(Vec::new());
        }
        refused.extend(setup::take_back_all(&plans, dir)?);
        writeln!(out, "taken back\n")?;
        Ok(refused)
    }
}

/// Keeps shims that still run, and agents that still name them, from starting a daemon again.
fn forbid_starts(dir: &InstanceDir) -> Result<(), Error> {
    dir.ensure()?;
    let path = dir.removed();
    let why = "A person removed anchord. While this file exists, no agent starts its daemon.\n";
    fs::write(&path, why).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Adds to the error what has been done by then. Nothing was removed.
fn not_stopped(error: Error, units: bool) -> Error {
    if !units {
        return error;
    }
    error.and_action(
        "The units are off, nothing was removed; `anchord service install` brings them back.",
    )
}

fn plan(dir: &InstanceDir, units: Vec<PathBuf>, data: bool) -> Result<Plan, Error> {
    // Units belong to the user's own instance, not to a named one.
    let units: Vec<PathBuf> = units.into_iter().filter(|_| !dir.is_named()).collect();
    let mut plan = Plan { units: !units.is_empty(), goes: units, ..Plan::default() };
    let file = match dir.check() {
        Ok(_) => InstanceFile::read(dir)?,
        Err(anchord_proto::instance::InstanceDirError::Missing(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(file) = file else { return Ok(plan) };
    let logs = entries(&file.logs)?;
    plan.goes.extend(logs.into_iter().filter(|path| is_log(path)));
    // Without it, a later instance takes the memory over instead of refusing it.
    plan.goes.extend(Some(file.data.join(DATA_MARK)).filter(|path| exists(path)));
    let memory = entries(&file.data)?.into_iter().filter(|path| is_memory(path));
    if data {
        plan.goes.extend(memory);
    } else {
        plan.stays.extend(memory.map(|path| (path, "the memory; --data removes it")));
    }
    let backups = file.data.join("backups");
    plan.stays.extend(exists(&backups).then_some((backups, "your backups")));
    let config = file.config.join(CONFIG_FILE);
    if exists(&config) {
        plan.stays.push((config, "your configuration"));
    }
    let manifest = dir.path().join(manifest::NAME);
    if Manifest::read(dir).is_ok_and(|manifest| manifest.files.is_empty()) {
        plan.goes.extend(Some(manifest).filter(|path| exists(path)));
    } else if exists(&manifest) {
        plan.stays.push((manifest, "what set-up wrote; `anchord setup --remove` takes it back"));
    }
    let own = [
        dir.sock(),
        dir.lock(),
        dir.starting(),
        dir.resending(),
        dir.key(),
        dir.guard(),
        dir.instance_json(),
    ];
    plan.goes.extend(own.into_iter().filter(|path| exists(path)));
    plan.emptied = vec![file.logs, file.data, file.config, dir.path().to_owned()];
    Ok(plan)
}

fn carry_out(plan: &Plan) -> Result<(), Error> {
    for path in &plan.goes {
        let removed = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            // The daemon removed it when it ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.with_context(|| format!("cannot remove {}", path.display()))?,
        }
    }
    for path in &plan.emptied {
        match fs::remove_dir(path) {
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                return Err(Error::failed(format!("cannot remove {}: {error}", path.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot list {}", directory.display()))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| format!("cannot list {}", directory.display()))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("anchord") && name.contains("log")
}

/// Whether a path in the data directory is part of the memory. The user's own notes are too, even
/// if they were set aside, and so are outlines and what the dashboard keeps.
fn is_memory(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, "daemon" | "projects" | "user" | "outlines" | "dashboard.json")
        || name.starts_with("user.aside-")
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests;
