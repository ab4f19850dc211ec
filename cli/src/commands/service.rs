//! `anchord service`: lets systemd or launchd start the daemon with the first connection.
//!
//! The service is optional, since agents start the daemon by themselves. The actions are planned as
//! steps, which --dry-run shows.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use anchord_agents::setup::Programs;
use anchord_proto::instance::InstanceDir;
use owo_colors::OwoColorize;

use super::{setup, stop};
use crate::edit::{Edit, Original};
use crate::exit::Error;
use crate::show;

const SOCKET: &str = include_str!("../../../systemd/anchord.socket");
const SERVICE: &str = include_str!("../../../systemd/anchord.service");
const PLIST: &str = include_str!("../../../launchd/dev.anchord.daemon.plist");

/// The program's path in the repository's unit files: systemd's and, below, launchd's.
const SYSTEMD_PROGRAM: &str = "%h/.cargo/bin/anchord";
const LAUNCHD_PROGRAM: &str = "@HOME@/.cargo/bin/anchord";

/// The directory in which `systemctl enable` puts its link to the socket's unit.
const SOCKET_WANTED: &str = "sockets.target.wants";

/// launchd's name for the daemon.
const LABEL: &str = "dev.anchord.daemon";

/// Have systemd or launchd start the daemon with the first connection
///
/// Optional: without it the first agent starts the daemon, and that works as well. A service
/// manager restarts it after a failure and shows its state.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Write the units, stop a daemon that runs by itself, and listen
    #[command(after_help = "Examples:
  anchord service install --dry-run
  anchord service install")]
    Install(Args),
    /// Stop, and remove the units; agents then start the daemon by themselves
    #[command(after_help = "Examples:
  anchord service uninstall")]
    Uninstall(Args),
    /// Show whether units are there, what they run, and what the service manager says
    #[command(after_help = "Examples:
  anchord service status")]
    Status {},
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show what would be done and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// A service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Systemd,
    Launchd,
}

/// A step of an installation or a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A change of a file.
    Write(Edit),
    /// The end of the daemon, regardless of who started it.
    StopDaemon,
    /// A program of the service manager to run.
    Run(Vec<String>),
    /// A program of the service manager to run. Its failure means that there was nothing to end.
    TryRun(Vec<String>),
    /// A link to remove, if it still exists.
    Unlink(PathBuf),
    /// A folder to remove, if it is empty.
    RemoveIfEmpty(PathBuf),
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let dir = InstanceDir::locate()?;
        if dir.is_named() {
            return Err(Error::usage(
                "ANCHORD_HOME names an instance; units serve the one in your home directory",
            )
            .with_action("Unset it."));
        }
        let home = env::home_dir().ok_or_else(|| Error::usage("no home directory: set HOME"))?;
        let (manager, folder) = here(&home);
        match self {
            Self::Install(Args { dry_run }) => {
                let programs = Programs::here()?;
                let steps = install(manager, &folder, &home, programs.anchord())?;
                carry_out(manager, &steps, &dir, dry_run, &home, out)?;
                if !dry_run {
                    setup::allow_starts(&dir)?;
                    writeln!(
                        out,
                        "The daemon starts with the first connection. `anchord status` is one."
                    )?;
                }
            }
            Self::Uninstall(Args { dry_run }) => {
                let steps = uninstall(manager, &folder)?;
                if steps.is_empty() {
                    writeln!(out, "no unit of anchord's is installed")?;
                }
                carry_out(manager, &steps, &dir, dry_run, &home, out)?;
            }
            Self::Status {} => status(manager, &folder, &home, out)?,
        }
        Ok(())
    }
}

impl Manager {
    /// Returns the folder of the manager's files.
    fn folder(self, home: &Path, config: Option<OsString>) -> PathBuf {
        match self {
            Self::Systemd => config
                .map(PathBuf::from)
                .filter(|folder| folder.is_absolute())
                .unwrap_or_else(|| home.join(".config"))
                .join("systemd/user"),
            Self::Launchd => home.join("Library/LaunchAgents"),
        }
    }

    /// Returns the files, filled in for this home and program.
    fn files(self, home: &Path, program: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Systemd => {
                // A per cent sign begins a specifier, and a quoted word may contain spaces.
                let word = program.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
                let service = SERVICE.replace(SYSTEMD_PROGRAM, &format!("\"{word}\""));
                vec![("anchord.socket", own(SOCKET)), ("anchord.service", own(&service))]
            }
            Self::Launchd => {
                let text = PLIST
                    .replace(LAUNCHD_PROGRAM, &xml(program))
                    .replace("@HOME@", &xml(&home.to_string_lossy()));
                vec![("dev.anchord.daemon.plist", text)]
            }
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Systemd => &["anchord.socket", "anchord.service"],
            Self::Launchd => &["dev.anchord.daemon.plist"],
        }
    }

    /// Returns the steps before and after the removal of files. Both may fail, if nothing was
    /// loaded or the manager does not run.
    fn releases(self) -> (Vec<Step>, Vec<Step>) {
        match self {
            Self::Systemd => {
                let units = ["disable", "--now", "anchord.socket", "anchord.service"];
                let before = vec![Step::TryRun(systemctl(&units))];
                (before, vec![Step::TryRun(systemctl(&["daemon-reload"]))])
            }
            Self::Launchd => {
                let label = format!("{}/{LABEL}", domain());
                (vec![Step::TryRun(launchctl(&["bootout", &label]))], Vec::new())
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }

    /// Returns whether the manager runs for this user.
    fn is_there(self) -> bool {
        let asked: &[&str] = match self {
            Self::Systemd => &["systemctl", "--user", "show-environment"],
            Self::Launchd => &["launchctl", "version"],
        };
        run(&asked.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).is_ok()
    }
}

/// Returns a unit without the lines on how to install it by hand.
fn own(unit: &str) -> String {
    let from = unit.find("[Unit]").unwrap_or_default();
    let rest = unit.get(from..).unwrap_or_default();
    format!(
        "# Written by `anchord service install`; `anchord service uninstall` removes it.\n\n{rest}"
    )
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn systemctl(words: &[&str]) -> Vec<String> {
    ["systemctl", "--user"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

fn launchctl(words: &[&str]) -> Vec<String> {
    ["launchctl"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// Plans the steps of an installation, in order.
fn install(
    manager: Manager,
    folder: &Path,
    home: &Path,
    program: &str,
) -> Result<Vec<Step>, Error> {
    let (mut writes, mut is_new) = (Vec::new(), true);
    for (name, text) in manager.files(home, program) {
        let original = Original::read(&folder.join(name))?;
        is_new &= original.text.is_none();
        writes.extend(original.becomes(Some(text)).map(Step::Write));
    }
    // A daemon that hangs cannot be stopped, and then nothing is written. Existing units may have
    // to be repaired first: a manager that cannot start the program listens but does not answer.
    let mut steps = if is_new { vec![Step::StopDaemon] } else { Vec::new() };
    steps.extend(writes);
    match manager {
        Manager::Systemd => {
            steps.push(Step::Run(systemctl(&["daemon-reload"])));
            // The holder of the socket's path must release it, even if an agent started that daemon
            // meanwhile.
            steps.push(Step::StopDaemon);
            steps.push(Step::Run(systemctl(&["enable", "anchord.socket"])));
            steps.push(Step::Run(systemctl(&["restart", "anchord.socket"])));
        }
        Manager::Launchd => {
            let file = folder.join("dev.anchord.daemon.plist");
            steps.push(Step::TryRun(launchctl(&["bootout", &format!("{}/{LABEL}", domain())])));
            steps.push(Step::StopDaemon);
            steps.push(Step::Run(launchctl(&["bootstrap", &domain(), &file.to_string_lossy()])));
        }
    }
    Ok(steps)
}

/// Plans the steps of a removal, in order. There are none if no file exists.
fn uninstall(manager: Manager, folder: &Path) -> Result<Vec<Step>, Error> {
    let mut removals = Vec::new();
    for name in manager.names() {
        removals.extend(Original::read(&folder.join(name))?.becomes(None).map(Step::Write));
    }
    removals.extend(links(manager, folder).into_iter().map(Step::Unlink));
    if removals.is_empty() {
        return Ok(Vec::new());
    }
    let (before, after) = manager.releases();
    Ok([before, removals, after, emptied(manager, folder)].concat())
}

/// Returns the links that enable units, including dangling ones.
fn links(manager: Manager, folder: &Path) -> Vec<PathBuf> {
    let wanted = match manager {
        Manager::Systemd => vec![folder.join(SOCKET_WANTED).join("anchord.socket")],
        Manager::Launchd => Vec::new(),
    };
    wanted.into_iter().filter(|link| fs::symlink_metadata(link).is_ok()).collect()
}

/// Plans the removal of the folders that an installation creates, unless they contain something
/// else.
fn emptied(manager: Manager, folder: &Path) -> Vec<Step> {
    match manager {
        Manager::Systemd => {
            let above = folder.parent().map(Path::to_owned);
            let folders = [folder.join(SOCKET_WANTED), folder.to_owned()];
            folders.into_iter().chain(above).map(Step::RemoveIfEmpty).collect()
        }
        Manager::Launchd => Vec::new(),
    }
}

/// Returns the manager and its folder for this system and home.
fn here(home: &Path) -> (Manager, PathBuf) {
    let manager = if cfg!(target_os = "macos") { Manager::Launchd } else { Manager::Systemd };
    (manager, manager.folder(home, env::var_os("XDG_CONFIG_HOME")))
}

/// Returns the existing files and links of this user's units.
pub(super) fn files(home: &Path) -> Vec<PathBuf> {
    let (manager, folder) = here(home);
    let units = manager.names().iter().map(|name| folder.join(name));
    let units: Vec<PathBuf> = units.filter(|unit| fs::symlink_metadata(unit).is_ok()).collect();
    [units, links(manager, &folder)].concat()
}

/// Makes the service manager stop the units, if it runs.
pub(super) fn let_go(home: &Path) {
    here(home).0.releases().0.iter().for_each(Step::try_run);
}

/// Makes the service manager notice that the units' files are gone.
pub(super) fn forget(home: &Path) {
    let (manager, folder) = here(home);
    let steps = [manager.releases().1, emptied(manager, &folder)].concat();
    steps.iter().for_each(Step::try_run);
}

fn carry_out(
    manager: Manager,
    steps: &[Step],
    dir: &InstanceDir,
    dry_run: bool,
    home: &Path,
    out: &mut dyn Write,
) -> Result<(), Error> {
    // Files can be removed without the manager, but an installation needs it to run them.
    let installs = steps.iter().any(|step| matches!(step, Step::Run(_)));
    if !dry_run && installs && !manager.is_there() {
        let name = manager.name();
        return Err(Error::failed(format!("{name} does not run for this user, so nothing was changed")).with_action(
            "In containers and on servers without a login session that is so. Nothing is needed: agents start the \
             daemon by themselves.",
        ));
    }
    for step in steps {
        if !matches!(step, Step::RemoveIfEmpty(_)) {
            writeln!(out, "{}", step.line(home))?;
        }
        if dry_run {
            if let Step::Write(Edit { text: Some(text), .. }) = step {
                for line in text.lines() {
                    writeln!(out, "    {}", line.dimmed())?;
                }
            }
            continue;
        }
        out.flush()?;
        match step {
            Step::Write(edit) => edit.apply()?,
            Step::StopDaemon => {
                stop::stop(dir)?;
            }
            Step::Run(words) => run(words).map_err(|why| {
                Error::failed(format!("`{}` failed: {why}", words.join(" ")))
                    .with_action("Agents start the daemon by themselves meanwhile.")
            })?,
            Step::TryRun(_) | Step::Unlink(_) | Step::RemoveIfEmpty(_) => step.try_run(),
        }
    }
    if dry_run && !steps.is_empty() {
        writeln!(out, "Nothing was done: this was a dry run.")?;
    }
    Ok(())
}

impl Step {
    /// Carries out a step that may be done already, and ignores failures.
    fn try_run(&self) {
        match self {
            Self::TryRun(words) => drop(run(words)),
            // `systemctl disable` may have removed it.
            Self::Unlink(path) => drop(fs::remove_file(path)),
            Self::RemoveIfEmpty(path) => drop(fs::remove_dir(path)),
            Self::Write(_) | Self::StopDaemon | Self::Run(_) => {}
        }
    }

    fn line(&self, home: &Path) -> String {
        match self {
            Self::Write(edit) => {
                let path = show::path(&edit.path.to_string_lossy(), Some(home));
                let verb = if edit.text.is_some() { "write" } else { "remove" };
                format!("{verb} {path}")
            }
            Self::Unlink(path) | Self::RemoveIfEmpty(path) => {
                format!("remove {}", show::path(&path.to_string_lossy(), Some(home)))
            }
            Self::StopDaemon => "stop the daemon, if one runs".to_owned(),
            Self::Run(words) | Self::TryRun(words) => {
                format!("run {}", show::shell_line(words))
            }
        }
    }
}

/// Runs a program. Returns its stderr as the reason of a failure.
fn run(words: &[String]) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("nothing to run")?;
    let ended = Process::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|reason| reason.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(show::plain(said.trim().lines().next().unwrap_or("no reason was given")))
}

fn status(manager: Manager, folder: &Path, home: &Path, out: &mut dyn Write) -> Result<(), Error> {
    let mut installed = false;
    for name in manager.names() {
        let original = Original::read(&folder.join(name))?;
        let path = show::path(&folder.join(name).to_string_lossy(), Some(home));
        let Some(text) = original.text else {
            writeln!(out, "{path}: not there")?;
            continue;
        };
        installed = true;
        match text.lines().find_map(|line| line.strip_prefix("ExecStart=")) {
            Some(runs) => writeln!(out, "{path}: runs {}", show::plain(runs))?,
            None => writeln!(out, "{path}: there")?,
        }
    }
    if !manager.is_there() {
        return Ok(writeln!(out, "{} does not run for this user", manager.name())?);
    }
    if !installed {
        return Ok(writeln!(out, "agents start the daemon by themselves")?);
    }
    let asked = match manager {
        Manager::Systemd => vec![
            ("anchord.socket", systemctl(&["is-active", "--quiet", "anchord.socket"])),
            ("anchord.service", systemctl(&["is-active", "--quiet", "anchord.service"])),
        ],
        Manager::Launchd => vec![(LABEL, launchctl(&["print", &format!("{}/{LABEL}", domain())]))],
    };
    for (unit, words) in asked {
        let state = if run(&words).is_ok() { "active" } else { "not active" };
        writeln!(out, "{unit}: {state}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
