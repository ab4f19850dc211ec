//! Facts about this host and its processes, so that two sides of a socket can check whether they
//! run on the same one. If a system does not provide a fact, the answer is `None`, never a guess:
//! only Linux has `/proc`, and it may be missing there.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::Pid;

/// Returns the id of this boot. Two hosts, or one host before and after a restart, differ.
pub fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim_end().to_owned())
}

/// Returns the inode of this process's PID namespace. Between different namespaces, process ids
/// mean nothing.
pub fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|link| link.ino())
}

/// Returns when a process started, in clock ticks since boot. Together with its id it names a
/// process for as long as the boot lasts. Returns `None` if the process is gone or not visible to
/// us.
pub fn process_start(pid: u32) -> Option<u64> {
    ProcessStat::read(pid).map(|stat| stat.start)
}

/// Returns a process's parent and the parent's program: a name of at most 15 bytes. Returns `None`
/// as [`process_start`] does.
pub fn process_parent(pid: u32) -> Option<(u32, String)> {
    ProcessStat::read(pid).map(|stat| (stat.parent, stat.name))
}

/// Returns the process that started this one.
pub fn parent_pid() -> Option<u32> {
    let parent = rustix::process::getppid()?;
    u32::try_from(parent.as_raw_nonzero().get()).ok()
}

/// Returns whether the process that had this id and start time still runs; a zombie does not.
/// Returns `None` if a process has the id, but nothing shows whether it is the same one.
pub fn process_alive(pid: u32, start: Option<u64>) -> Option<bool> {
    let id = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    if rustix::process::test_kill_process(id) == Err(Errno::SRCH) {
        return Some(false);
    }
    let process = ProcessStat::read(pid)?;
    if process.ended {
        return Some(false);
    }
    start.map(|start| process.start == start)
}

/// Returns whether a process is stopped, by a signal or a debugger. Returns `None` if that is
/// unknown.
pub fn process_stopped(pid: u32) -> Option<bool> {
    ProcessStat::read(pid).map(|stat| stat.stopped)
}

/// The fields of `/proc/<pid>/stat` that are used.
#[derive(Debug, PartialEq, Eq)]
struct ProcessStat {
    name: String,
    ended: bool,
    stopped: bool,
    parent: u32,
    start: u64,
}

impl ProcessStat {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses a line. The second field is the program's name in brackets, and may itself contain
    /// spaces and brackets. So the fields are counted after its last bracket, beginning with the
    /// third field.
    fn parse(line: &str) -> Option<Self> {
        let (before, after_name) = line.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let mut fields = after_name.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let start = fields.nth(22 - 5)?.parse().ok()?;
        let ended = matches!(state, "Z" | "X" | "x");
        let stopped = matches!(state, "T" | "t");
        Some(Self { name: name.to_owned(), ended, stopped, parent, start })
    }
}

#[cfg(test)]
mod tests;
