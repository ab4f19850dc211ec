//! Lowers resource limits of a running daemon. Only Linux lets another process of the same user do
//! that.

use rustix::process::Resource;

use super::Lift;

/// Lowers a process's limit until the result is dropped.
#[cfg(target_os = "linux")]
pub(crate) fn lower(pid: u32, resource: Resource, to: u64) -> Result<Lift, String> {
    use rustix::process::{Rlimit, getrlimit, prlimit};

    let process = anchord::scratch::process(pid).map_err(|error| error.message)?;
    // The daemon inherited its maximum from this process, through a shim.
    let maximum = getrlimit(resource).maximum;
    let lowered = prlimit(Some(process), resource, Rlimit { current: Some(to), maximum });
    let before = lowered.map_err(|error| format!("the daemon's limit cannot be set: {error}"))?;
    Ok(Lift::by(move || {
        // If this fails, the daemon keeps refusing writes, which torture reports.
        let _ = prlimit(Some(process), resource, before);
    }))
}

/// Returns the number of descriptors that a process has open.
#[cfg(target_os = "linux")]
pub(crate) fn descriptors_of(pid: u32) -> Result<u64, String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.map_err(|error| format!("the daemon's descriptors are not known: {error}"))?;
    Ok(open.count() as u64)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn lower(pid: u32, _resource: Resource, _to: u64) -> Result<Lift, String> {
    Err(format!("the limits of process {pid} can be set by another one only on Linux"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn descriptors_of(pid: u32) -> Result<u64, String> {
    Err(format!("the descriptors of process {pid} can be limited by another one only on Linux"))
}
