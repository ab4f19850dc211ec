//! A scratch instance for the demo. All its files are in one temporary folder, and its processes
//! are real ones. It never touches the user's own instance: HOME is in the folder too.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anchord_daemon::api::{self, ExportDocument, ExportFormat, ExportQuery, StatusReply};
use anchord_proto::hello::ToolSet;
use anchord_proto::host;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, kill_process};

use crate::agent::Agent;
use crate::client::Client;
use crate::exit::Error;
use crate::limits::{POLL_MILLISECONDS, SCRATCH_START_SECONDS_MAX};

/// The configuration: a session may be away for 1 s before its staged work is kept on its behalf.
/// The user's own daemon waits longer.
const CONFIG: &str = "[sessions]\ngrace_seconds = 1\n";

/// The folder, and the daemon that was started in it.
#[derive(Debug)]
pub struct Scratch {
    folder: Option<tempfile::TempDir>,
    program: PathBuf,
    dir: InstanceDir,
    project: PathBuf,
    first_daemon: Mutex<Option<Child>>,
    interrupted: Arc<AtomicBool>,
}

impl Scratch {
    /// Creates the folder. `name` is part of its name. `program` is the daemon and the shim.
    pub fn new(name: &str, program: PathBuf) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("anchord-{name}-"))
            .tempdir()
            .context("cannot make a scratch folder")?;
        let root = fs::canonicalize(folder.path()).context("cannot find the scratch folder")?;
        let dir = InstanceDir::named(root.join("instance"));
        let project = root.join("project");
        let home = root.join("home");
        dir.ensure()?;
        for path in [&project, &home, &dir.path().join("config")] {
            fs::create_dir(path).context("cannot make a scratch folder")?;
        }
        fs::write(dir.path().join("config/config.toml"), CONFIG)
            .context("cannot configure the scratch instance")?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .context("cannot listen for signals")?;
        }
        let folder = Some(folder);
        let first_daemon = Mutex::new(None);
        Ok(Self { folder, program, dir, project, first_daemon, interrupted })
    }

    /// Returns the folder itself.
    pub fn path(&self) -> &Path {
        self.dir.path().parent().unwrap_or(self.dir.path())
    }

    /// Returns the instance directory.
    pub fn dir(&self) -> &InstanceDir {
        &self.dir
    }

    /// Returns the project in which all agents work, as the daemon names it.
    pub fn project(&self) -> String {
        self.project.to_string_lossy().into_owned()
    }

    /// Keeps the folder when this is dropped.
    pub fn keep(&mut self) {
        self.folder = self.folder.take().map(|mut folder| {
            folder.disable_cleanup(true);
            folder
        });
    }

    /// Returns whether the user wants to stop.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Starts the daemon and waits until it answers.
    pub fn start_daemon(&self) -> Result<StatusReply, Error> {
        let daemon = self
            .command(["daemon"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the daemon")?;
        *self.first_daemon() = Some(daemon);
        self.wait_for_daemon(None)
    }

    /// Waits until a daemon other than `not` answers.
    pub fn wait_for_daemon(&self, not: Option<u32>) -> Result<StatusReply, Error> {
        let deadline = Instant::now() + Duration::from_secs(SCRATCH_START_SECONDS_MAX);
        loop {
            let error = match self.status() {
                Ok(status) if Some(status.pid) != not => return Ok(status),
                Ok(_) => Error::failed("the old daemon still answers"),
                Err(error) => error,
            };
            if Instant::now() > deadline || self.interrupted() {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
        }
    }

    /// Returns the daemon's status. Starts none.
    pub fn status(&self) -> Result<StatusReply, Error> {
        Client::running(&self.dir)?.get(api::STATUS, &())
    }

    /// Returns a connection. Starts a daemon if none runs.
    pub fn client(&self) -> Result<Client, Error> {
        Client::running(&self.dir).or_else(|_| {
            // An agent starts the daemon, so that it gets the scratch environment.
            drop(self.agent("anchord")?);
            Client::running(&self.dir)
        })
    }

    /// Kills the daemon with this number with SIGKILL.
    pub fn kill_daemon(&self, pid: u32) -> Result<(), Error> {
        kill_process(process(pid)?, Signal::KILL).context("cannot kill the daemon")?;
        if let Some(mut child) = self.first_daemon().take_if(|child| child.id() == pid) {
            child.wait().context("cannot collect the daemon")?;
        }
        Ok(())
    }

    /// Asks the daemon to end in order, and waits until it has.
    pub fn stop_daemon(&self) -> Result<(), Error> {
        let pid = self.status()?.pid;
        let start = host::process_start(pid);
        kill_process(process(pid)?, Signal::TERM).context("cannot end the daemon")?;
        let deadline = Instant::now() + Duration::from_secs(SCRATCH_START_SECONDS_MAX);
        while host::process_alive(pid, start) == Some(true) {
            if Instant::now() > deadline {
                return Err(Error::failed("the daemon does not end"));
            }
            self.collect();
            std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
        }
        Ok(())
    }

    /// Starts an agent in the project.
    pub fn agent(&self, client: &str) -> Result<Agent, Error> {
        self.agent_with(client, ToolSet::Default)
    }

    /// Starts an agent in the project with another set of tools.
    pub fn agent_with(&self, client: &str, tools: ToolSet) -> Result<Agent, Error> {
        let mut command = self.command(["mcp", "--tools", tools.name()]);
        command.current_dir(&self.project);
        let agent = Agent::start(command, client);
        Ok(agent.with_context(|| format!("cannot start the agent {client}"))?)
    }

    /// Returns everything that the project remembers.
    pub fn export(&self) -> Result<ExportDocument, Error> {
        let query = ExportQuery { project: self.project(), format: ExportFormat::Json };
        let text = self.client()?.text(api::EXPORT, &query)?;
        Ok(serde_json::from_str(&text).context("cannot read the export")?)
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(&self.program);
        let passed = ["PATH", "LANG", "TMPDIR"].map(|name| (name, std::env::var_os(name)));
        command
            .args(arguments)
            .env_clear()
            .envs(passed.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
            .env("HOME", self.path().join("home"))
            .env("ANCHORD_HOME", self.dir.path())
            .env("ANCHORD_HTTP", OsStr::new("off"))
            .current_dir(self.path())
            // Control-C is for this process, which ends the others.
            .process_group(0);
        command
    }

    /// Ends the daemon, regardless of who started it.
    fn end_daemon(&self) {
        // A daemon that ignores this ends below, when its folder disappears.
        let _ = self.stop_daemon();
        if let Some(mut child) = self.first_daemon().take() {
            // This fails only for a process that has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn collect(&self) {
        let mut first = self.first_daemon();
        if first.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)))) {
            *first = None;
        }
    }

    fn first_daemon(&self) -> MutexGuard<'_, Option<Child>> {
        self.first_daemon.lock()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.end_daemon();
    }
}

/// The id of a process, for system calls.
pub fn process(pid: u32) -> Result<Pid, Error> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    process.ok_or_else(|| Error::failed(format!("{pid} is not a process id")))
}
