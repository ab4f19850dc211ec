//! Whether a peer's process still exists, and whether this daemon can see it at all.

use std::os::unix::fs::MetadataExt;

use anchord_proto::hello::Hello;
use anchord_proto::host;

/// Returns whether pids of this namespace mean other processes here.
pub(crate) fn is_foreign_process(pidns: Option<u64>) -> bool {
    pidns.zip(host::pid_namespace()).is_some_and(|(theirs, ours)| theirs != ours)
}

/// Returns whether a process is certainly gone: it does not exist, its pid was reused, or it ran
/// before the last boot.
pub(super) fn is_dead(pid: u32, start: Option<u64>, boot: Option<&str>) -> bool {
    if let (Some(then), Some(now)) = (boot, host::boot_id())
        && then != now
    {
        return true;
    }
    host::process_alive(pid, start) == Some(false)
}

/// Returns whether the sender's processes are invisible to this daemon, because it runs in a
/// container or on another machine.
pub(crate) fn is_elsewhere(hello: &Hello) -> bool {
    let differs = |theirs: Option<&str>, ours: Option<String>| match (theirs, ours) {
        (Some(theirs), Some(ours)) => theirs != ours,
        _ => false,
    };
    differs(hello.boot.as_deref(), host::boot_id()) || is_foreign_process(hello.pidns)
}

/// Returns whether this daemon sees neither the sender's processes nor its files.
pub(super) fn is_foreign(hello: &Hello) -> bool {
    if is_elsewhere(hello) {
        return true;
    }
    match (&hello.cwd, hello.cwd_dev, hello.cwd_ino) {
        (Some(cwd), Some(dev), Some(ino)) => {
            !std::fs::metadata(cwd).is_ok_and(|seen| (seen.dev(), seen.ino()) == (dev, ino))
        }
        _ => false,
    }
}
