//! What this host says about itself and its processes, so that two sides of a socket can see
//! whether they live on the same one. Where a system does not tell, the answer is `None`, never a
//! guess: `/proc` is Linux alone, and `/proc` may be missing there.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::Pid;

/// The id of this boot. Two hosts, or one host before and after a restart, differ.
pub fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim_end().to_owned())
}

/// The inode of this process's PID namespace: where it differs, process ids mean nothing.
pub fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|link| link.ino())
}

/// When a process started, in clock ticks since boot. Together with its id it names a process for
/// as long as the boot lasts. `None` for a process that is gone or not ours to see.
pub fn process_start(pid: u32) -> Option<u64> {
    ProcessStat::read(pid).map(|stat| stat.start)
}

/// The process above another one, and that one's program: a name of at most 15 bytes. `None` as before.
pub fn process_parent(pid: u32) -> Option<(u32, String)> {
    ProcessStat::read(pid).map(|stat| (stat.parent, stat.name))
}

/// The process that started this one.
pub fn parent_pid() -> Option<u32> {
    let parent = rustix::process::getppid()?;
    u32::try_from(parent.as_raw_nonzero().get()).ok()
}

/// Whether the process that had this id and start time still runs; a zombie does not.
/// `None`: a process has the id, but nothing tells whether it is the same one.
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

/// Whether a process is stopped, by a signal or a debugger. `None` if nothing tells.
pub fn process_stopped(pid: u32) -> Option<bool> {
    ProcessStat::read(pid).map(|stat| stat.stopped)
}

/// What is used of `/proc/<pid>/stat`.
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

    /// The second field is the program's name in brackets and may itself hold spaces and brackets:
    /// the fields are counted from behind its last one, the third field first.
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
