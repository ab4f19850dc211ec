//! A test's own instance of anchord: its directories, its environment, its daemon.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::poll::{PATIENCE, poll};
use crate::{Binaries, binaries, process, shipped};

/// A scratch instance. Dropping it kills its daemon and every process with its `ANCHORD_HOME`.
#[derive(Debug)]
pub struct Instance {
    root: TempDir,
    programs: &'static Binaries,
    /// The daemons that [`Self::start_daemon`] started, kept to be reaped. Shims start others.
    children: Mutex<Vec<Child>>,
}

impl Instance {
    /// Creates the directories. Nothing runs yet.
    pub fn new() -> Self {
        Self::at(scratch())
    }

    /// Creates an instance of the programs as they are shipped, for measurements.
    pub fn shipped() -> Self {
        Self::of(scratch(), shipped())
    }

    /// Creates an instance in a directory that the test has prepared.
    pub fn at(root: TempDir) -> Self {
        Self::of(root, binaries())
    }

    fn of(root: TempDir, programs: &'static Binaries) -> Self {
        std::fs::create_dir_all(root.path().join("user")).expect("a scratch directory is ours");
        Self { root, programs, children: Mutex::default() }
    }

    /// Returns `ANCHORD_HOME`, which the daemon creates.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("a")
    }

    /// Returns `HOME`, which is empty at first.
    pub fn user_home(&self) -> PathBuf {
        self.root.path().join("user")
    }

    /// Writes `config.toml`. Call this before a daemon starts.
    pub fn configure(&self, text: &str) {
        let folder = self.home().join("config");
        let private = |folder: &Path| DirBuilder::new().recursive(true).mode(0o700).create(folder);
        private(&self.home()).and_then(|()| private(&folder)).expect("a scratch directory is ours");
        std::fs::write(folder.join("config.toml"), text).expect("a scratch directory is ours");
    }

    /// Returns the socket's path.
    pub fn socket(&self) -> PathBuf {
        self.home().join("sock")
    }

    /// Prepares a command in the stripped environment that some agents pass on, with this
    /// instance's variables.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let own = self.programs.anchord.parent().expect("a program is in a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path)));
        command
            .env_clear()
            .env("PATH", path.expect("the target directory has no colon in its name"))
            .env("HOME", self.user_home())
            .env("ANCHORD_HOME", self.home())
            .env("ANCHORD_HTTP", "off")
            .env("ANCHORD_TEST_TOOLS", "1")
            .current_dir(self.root.path());
        command
    }

    /// Prepares the command line, without arguments.
    pub fn anchord(&self) -> Command {
        self.command(&self.programs.anchord)
    }

    /// Prepares the shim that agents run, in a directory.
    pub fn shim(&self, directory: &Path) -> Command {
        let mut command = self.command(&self.programs.anchord_mcp);
        command.current_dir(directory);
        command
    }

    /// Starts the daemon in this test's foreground and waits until it answers. Returns its pid.
    pub fn start_daemon(&self) -> u32 {
        let mut command = self.anchord();
        command.arg("daemon");
        self.start_daemon_by(command)
    }

    /// Starts the daemon with a command that may add settings, such as a limit or a variable.
    pub fn start_daemon_by(&self, mut command: Command) -> u32 {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program was built and can be run");
        let pid = child.id();
        poll(PATIENCE, "the daemon answers", || {
            if let Some(status) = child.try_wait().expect("the child is ours") {
                panic!("the daemon ended at once: {status}");
            }
            (self.daemon_pid() == Some(pid)).then_some(())
        });
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        pid
    }

    /// Returns the process that listens at the socket now, whoever started it.
    #[cfg(target_os = "linux")]
    pub fn daemon_pid(&self) -> Option<u32> {
        let stream = UnixStream::connect(self.socket()).ok()?;
        let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok().filter(|pid| process::alive(*pid))
    }

    /// Returns the process that listens at the socket now, whoever started it.
    #[cfg(not(target_os = "linux"))]
    pub fn daemon_pid(&self) -> Option<u32> {
        UnixStream::connect(self.socket()).ok()?;
        let holders = Command::new("lsof").arg("-t").arg(self.socket()).output().ok()?;
        String::from_utf8(holders.stdout).ok()?.lines().next()?.parse().ok()
    }

    /// Kills the daemon and waits until it is gone. Returns its former pid.
    pub fn kill9(&self) -> u32 {
        let pid = self.daemon_pid().expect("a daemon runs");
        process::signal(pid, Signal::KILL);
        self.wait_gone(pid);
        pid
    }

    /// Takes the lock of a daemon that has ended. Until the returned file is dropped, a new daemon
    /// starts as slowly as possible. It waits for the lock, and after some seconds leaves it to the
    /// next.
    pub fn slow_starts(&self) -> std::fs::File {
        let lock = std::fs::File::open(self.home().join("lock")).expect("a daemon has made it");
        lock.lock().expect("a lock can be taken");
        lock
    }

    /// Waits until a process has ended, and reaps it if this instance started it.
    pub fn wait_gone(&self, pid: u32) {
        poll(PATIENCE, &format!("process {pid} is gone"), || {
            let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
            children.retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_))));
            (!process::alive(pid)).then_some(())
        });
    }

    /// Returns the titles that entries of this operation wrote, and how many entries contain each.
    /// It reads all projects' journals, which contain every acknowledged entry.
    pub fn written(&self, operation: &str) -> BTreeMap<String, usize> {
        let mut entries = BTreeMap::new();
        self.each_entry(operation, |entry| {
            let mut titles = BTreeSet::new();
            collect_titles(entry.get("changes").unwrap_or(&Value::Null), &mut titles);
            for title in titles {
                *entries.entry(title).or_default() += 1;
            }
        });
        entries
    }

    /// Counts the acknowledged entries of this operation that contain this text anywhere.
    pub fn entries_with(&self, operation: &str, text: &str) -> usize {
        let mut count = 0;
        self.each_entry(operation, |entry| count += usize::from(entry.to_string().contains(text)));
        count
    }

    fn each_entry(&self, operation: &str, mut each: impl FnMut(&Value)) {
        walk(&self.home(), &mut |path| {
            let in_journal = path.parent().is_some_and(|folder| folder.ends_with("journal"));
            if !in_journal || path.extension().is_none_or(|extension| extension != "jsonl") {
                return;
            }
            let bytes = std::fs::read(path).expect("a journal can be read");
            String::from_utf8_lossy(&bytes)
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .filter(|entry| entry.get("op").and_then(Value::as_str) == Some(operation))
                .for_each(|entry| each(&entry));
        });
    }

    /// Returns this instance's files whose bytes contain a value.
    pub fn holding(&self, value: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.home(), &mut |path| {
            // Sockets, and files that are gone by now, cannot be read.
            let Ok(bytes) = std::fs::read(path) else { return };
            if bytes.windows(value.len()).any(|part| part == value.as_bytes()) {
                found.push(path.to_owned());
            }
        });
        found
    }

    /// Returns every living daemon of this instance, even if it has lost the socket or does not
    /// serve yet. Linux only; elsewhere there are none.
    pub fn daemons(&self) -> Vec<u32> {
        let is_daemon = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                let mut arguments = line.split(|byte| *byte == 0);
                arguments.next().is_some_and(|name| name.ends_with(b"anchord"))
                    && arguments.next() == Some(b"daemon")
                    // With this flag, the process starts the daemon and ends.
                    && arguments.next() != Some(b"--detach")
            })
        };
        process::of_instance(&self.home()).into_iter().filter(is_daemon).collect()
    }
}

impl Default for Instance {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let mut ours = process::of_instance(&self.home());
        ours.extend(self.daemon_pid());
        for pid in ours {
            process::signal(pid, Signal::KILL);
        }
        for child in self.children.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // It is killed or has ended already, so only its status is left to collect.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn collect_titles(value: &Value, titles: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            titles.extend(fields.get("title").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect_titles(field, titles));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_titles(item, titles)),
        _ => {}
    }
}

fn scratch() -> TempDir {
    let root = tempfile::Builder::new().prefix("anchord-").tempdir();
    root.expect("the temporary directory can be written")
}

/// Calls `each` for every file below a folder. Does not follow links.
pub fn walk(folder: &Path, each: &mut impl FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), each),
            Ok(_) => each(&entry.path()),
            // Gone since it was listed.
            Err(_) => {}
        }
    }
}
