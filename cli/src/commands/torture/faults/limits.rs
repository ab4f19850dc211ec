//! The limits of a running daemon, lowered from outside: the same user may do that, on Linux.

use rustix::process::Resource;

use super::Lift;

/// Lowers a limit of a process until the fault is lifted.
#[cfg(target_os = "linux")]
pub(super) fn lower(pid: u32, resource: Resource, to: u64) -> Result<Lift, String> {
    use rustix::process::{Rlimit, getrlimit, prlimit};

    let process = crate::scratch::process(pid).map_err(|error| error.message)?;
    // The daemon has it of us, by way of a shim.
    let maximum = getrlimit(resource).maximum;
    let lowered = prlimit(Some(process), resource, Rlimit { current: Some(to), maximum });
    let before = lowered.map_err(|error| format!("the daemon's limit cannot be set: {error}"))?;
    Ok(Lift::by(move || {
        // If it fails, no write is taken again, which is reported.
        let _ = prlimit(Some(process), resource, before);
    }))
}

/// Descriptors that a process has open.
#[cfg(target_os = "linux")]
pub(super) fn descriptors_of(pid: u32) -> Result<u64, String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.map_err(|error| format!("the daemon's descriptors are not known: {error}"))?;
    Ok(open.count() as u64)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn lower(pid: u32, _resource: Resource, _to: u64) -> Result<Lift, String> {
    Err(format!("the limits of process {pid} can be set by another one only on Linux"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn descriptors_of(pid: u32) -> Result<u64, String> {
    Err(format!("the descriptors of process {pid} can be limited by another one only on Linux"))
}
