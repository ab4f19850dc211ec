//! A process as seen from outside, and signals to it.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};

/// Sends a signal. Does nothing if the process is gone.
pub fn signal(pid: u32, signal: Signal) {
    match kill_process(id(pid), signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(reason) => panic!("cannot signal {pid}: {reason}"),
    }
}

/// Sends a signal to a process group that this test has started. Does nothing if it is gone.
pub fn signal_group(leader: u32, signal: Signal) {
    match kill_process_group(id(leader), signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(reason) => panic!("cannot signal the group of {leader}: {reason}"),
    }
}

/// Returns whether the process runs. A zombie does not, unless one of its threads is still ending.
/// Until then its files are open and its locks held.
pub fn alive(pid: u32) -> bool {
    if test_kill_process(id(pid)).is_err() {
        return false;
    }
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => {
            let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
            let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
            !state.starts_with('Z') || threads > 1
        }
        // On Linux, it is gone by now. Elsewhere there is no such file, and the signal was right.
        Err(_) => !cfg!(target_os = "linux"),
    }
}

/// Counts the open file descriptors. Linux only.
pub fn descriptors(pid: u32) -> Option<usize> {
    Some(std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All resident memory, including programs and libraries.
    pub resident: u64,
    /// Resident memory, with its share of what other processes have as well.
    pub proportional: u64,
    /// Memory that no other process has.
    pub private: u64,
    /// Memory that is in no file: heaps and stacks.
    pub anonymous: u64,
}

/// Returns the memory of a process. Linux only.
pub fn memory(pid: u32) -> Option<Memory> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let mut memory = Memory::default();
    for line in rollup.lines() {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let kib = rest.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok());
        let bytes = kib.unwrap_or_default() * 1024;
        match name {
            "Rss" => memory.resident = bytes,
            "Pss" => memory.proportional = bytes,
            "Private_Clean" | "Private_Dirty" => memory.private += bytes,
            "Anonymous" => memory.anonymous = bytes,
            _ => {}
        }
    }
    Some(memory)
}

/// Memory that this process alone holds, in bytes. Linux alone.
pub fn private_bytes(pid: u32) -> Option<u64> {
    Some(memory(pid)?.private)
}

/// Returns every living process whose `ANCHORD_HOME` is this directory. Linux only; elsewhere none.
pub fn of_instance(home: &Path) -> Vec<u32> {
    let mark = format!("ANCHORD_HOME={}", home.display()).into_bytes();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|pair| pair == mark))
        })
        .filter(|pid| alive(*pid))
        .collect()
}

fn id(pid: u32) -> Pid {
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("process ids are positive")
}
