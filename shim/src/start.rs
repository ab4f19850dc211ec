//! Starts a daemon once, however many shims try. It gets only a few of this process's variables.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anchord_proto::instance::{InstanceDir, InstanceDirError};
use anchord_proto::launch::{ARGUMENTS, PASSED_PREFIX, PASSED_VARIABLES, Report};
use anchord_proto::limits::{REPORT_BYTES_MAX, STARTER_DEADLINE_MS, millis};
use anchord_proto::line::{LineRead, LineSplitter};
use rustix::event::{PollFd, PollFlags, Timespec};

/// The program that starts daemons. It is located when the shim starts. An upgrade may later
/// replace the shim's own file, whose path would then read as deleted.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// Creates a launcher for this program.
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Creates a launcher for the `anchord` beside this program's own file, else the first one on
    /// PATH.
    pub fn beside_this_program() -> Self {
        let sibling = env::current_exe().ok().map(|this| this.with_file_name("anchord"));
        Self::new(sibling.filter(|path| path.is_file()).unwrap_or_else(|| "anchord".into()))
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a daemon; returns `None` if another start is under way. `since` is when the caller
    /// found that it needs a daemon. After [`STARTER_DEADLINE_MS`] from then, it starts one all the
    /// same. Fails if a person has removed anchord.
    pub(crate) fn start(
        &self,
        dir: &InstanceDir,
        since: Instant,
    ) -> Result<Option<Starting>, StartError> {
        if dir.removed().exists() {
            return Err(StartError::Removed);
        }
        dir.ensure()?;
        let lock = starter_lock(dir).map_err(|reason| {
            StartError::Instance(InstanceDirError::Io { path: dir.starting(), reason })
        })?;
        if lock.try_lock().is_err() && since.elapsed() < millis(STARTER_DEADLINE_MS) {
            return Ok(None);
        }
        let inherited = lock.try_clone().map_err(|reason| {
            StartError::Instance(InstanceDirError::Io { path: dir.starting(), reason })
        })?;
        let mut command = Command::new(&self.program);
        command
            .args(ARGUMENTS)
            .env_clear()
            .envs(env::vars_os().filter(|(name, _)| is_passed(name)))
            .current_dir("/")
            .stdin(inherited)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if dir.is_named() {
            command.env("ANCHORD_HOME", dir.path());
        }
        let mut child = command
            .spawn()
            .map_err(|reason| StartError::Program { program: self.program.clone(), reason })?;
        let stdout = child.stdout.take();
        // Collects the exit status, now or in a month. A zombie would keep the daemon's place in
        // the process table for as long as this shim lives. If no thread can be created, init
        // collects it when the shim ends.
        let reaper = thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024);
        let _ = reaper.spawn(move || child.wait());
        let line = LineSplitter::new(REPORT_BYTES_MAX);
        Ok(stdout.map(|stdout| Starting { stdout, line, _lock: lock }))
    }
}

/// A started daemon that has not reported yet. Until it reports or ends, the lock on `starting` is
/// held. The daemon inherits the lock, since its starter may end or be stopped.
#[derive(Debug)]
pub(crate) struct Starting {
    stdout: ChildStdout,
    line: LineSplitter,
    /// Held for a daemon of another build, which releases what it inherited.
    _lock: File,
}

impl Starting {
    /// Returns the daemon's report; `None` if it lives and reports nothing within `limit`.
    pub(crate) fn report_within(&mut self, limit: Duration) -> Option<Result<Report, StartError>> {
        let until = Instant::now() + limit;
        let mut buffer = [0; 1024];
        loop {
            wait_readable(&self.stdout, until.saturating_duration_since(Instant::now()))?;
            let length = match rustix::io::read(&self.stdout, &mut buffer) {
                Ok(length) => length,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => 0,
            };
            let mut piece = buffer.get(..length).unwrap_or_default();
            let found = self.line.take(&mut piece);
            if length == 0 || found == Some(LineRead::Line) {
                let report = Report::parse(&String::from_utf8_lossy(self.line.line()));
                return Some(report.ok_or(StartError::Silent));
            }
        }
    }
}

/// The reason that no daemon was started.
#[derive(Debug)]
pub(crate) enum StartError {
    Instance(InstanceDirError),
    Program { program: PathBuf, reason: io::Error },
    Silent,
    Removed,
}

impl From<InstanceDirError> for StartError {
    fn from(error: InstanceDirError) -> Self {
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
            Self::Silent => f.write_str("the daemon ended while it started"),
            Self::Removed => f.write_str("anchord was removed from this machine"),
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

fn wait_readable(stdout: &ChildStdout, limit: Duration) -> Option<()> {
    let limit = Timespec::try_from(limit).ok()?;
    let ready =
        rustix::event::poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&limit)).ok()?;
    (ready > 0).then_some(())
}

#[cfg(test)]
mod tests;
