//! Starting a daemon: with nothing of this process but a few variables, once however many try.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anchord_proto::instance::{InstanceDir, InstanceError};
use anchord_proto::launch::{ARGUMENTS, PASSED_PREFIX, PASSED_VARIABLES, Report};
use anchord_proto::limits::{REPORT_BYTES_MAX, START_DEADLINE_MS, STARTER_DEADLINE_MS, millis};
use anchord_proto::line::{LineRead, LineSplitter};
use rustix::event::{PollFd, PollFlags, Timespec};

/// The program to start daemons with, found when the shim starts: later its own file may have been
/// replaced by an upgrade, and its path would read as deleted.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// Starts daemons with this program.
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// The `anchord` beside this program's own file, else the first one on PATH.
    pub fn beside_this_program() -> Self {
        let sibling = env::current_exe().ok().map(|this| this.with_file_name("anchord"));
        Self::new(sibling.filter(|path| path.is_file()).unwrap_or_else(|| "anchord".into()))
    }

    /// Starts a daemon and waits for its report. `since` is when the caller found out that it
    /// needs one; until a while after, a start by another shim is waited for.
    pub(crate) fn start(&self, dir: &InstanceDir, since: Instant) -> Result<Report, StartError> {
        dir.ensure()?;
        let lock = starter_lock(dir).map_err(|reason| {
            StartError::Instance(InstanceError::Io { path: dir.starting(), reason })
        })?;
        if lock.try_lock().is_err() && since.elapsed() < millis(STARTER_DEADLINE_MS) {
            return Ok(Report::Running);
        }
        let mut command = Command::new(&self.program);
        command
            .args(ARGUMENTS)
            .env_clear()
            .envs(env::vars_os().filter(|(name, _)| is_passed(name)))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if dir.is_named() {
            command.env("ANCHORD_HOME", dir.path());
        }
        let mut child = command
            .spawn()
            .map_err(|reason| StartError::Program { program: self.program.clone(), reason })?;
        let stdout = child.stdout.take();
        // Collects the exit status, now or in a month: a zombie would hold the daemon's place in the
        // process table for as long as this shim lives. Where no thread can be had, init collects it
        // when the shim ends.
        let reaper = thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024);
        let _ = reaper.spawn(move || child.wait());
        stdout.as_ref().and_then(read_report).ok_or(StartError::Silent)
    }
}

/// Why no daemon was started.
#[derive(Debug)]
pub(crate) enum StartError {
    Instance(InstanceError),
    Program { program: PathBuf, reason: io::Error },
    Silent,
}

impl From<InstanceError> for StartError {
    fn from(error: InstanceError) -> Self {
        Self::Instance(error)
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Instance(error) => error.fmt(f),
            Self::Program { program, reason } => {
                write!(f, "cannot start {}: {reason}", program.display())
            }
            Self::Silent => f.write_str("the daemon ended or hung while it started"),
        }
    }
}

fn starter_lock(dir: &InstanceDir) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(dir.starting())
}

fn is_passed(name: &OsString) -> bool {
    PASSED_VARIABLES.iter().any(|passed| OsStr::new(passed) == name)
        || name.as_bytes().starts_with(PASSED_PREFIX.as_bytes())
}

/// Reads the one line that the daemon says, within the deadline for starting.
fn read_report(stdout: &ChildStdout) -> Option<Report> {
    let until = Instant::now() + millis(START_DEADLINE_MS);
    let mut line = LineSplitter::new(REPORT_BYTES_MAX);
    let mut buffer = [0; 1024];
    loop {
        wait_readable(stdout, until.saturating_duration_since(Instant::now()))?;
        let length = match rustix::io::read(stdout, &mut buffer) {
            Ok(length) => length,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        };
        let mut piece = buffer.get(..length).unwrap_or_default();
        let found = line.take(&mut piece);
        if length == 0 || found == Some(LineRead::Line) {
            return Report::parse(&String::from_utf8_lossy(line.line()));
        }
    }
}

fn wait_readable(stdout: &ChildStdout, limit: Duration) -> Option<()> {
    let limit = Timespec::try_from(limit).ok()?;
    let ready =
        rustix::event::poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&limit)).ok()?;
    (ready > 0).then_some(())
}

#[cfg(test)]
mod tests;
