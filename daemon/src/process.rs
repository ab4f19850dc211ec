//! Limits and signals of the daemon's own process.

use std::io;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use crate::limits::DESCRIPTORS_WANTED;

/// Raises the limit of open files as far as possible and returns it. Each agent's session has a
/// connection.
pub(crate) fn raise_descriptors() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = DESCRIPTORS_WANTED.min(maximum.unwrap_or(u64::MAX));
    let is_less = current.is_some_and(|current| current < wanted);
    if is_less {
        let raised = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, wanted, "the limit of open files stays as it is");
        }
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(now).unwrap_or(usize::MAX)
}

/// Makes every file and directory that this process creates readable by its user alone.
pub(crate) fn keep_files_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Turns a write beyond the file size limit into an error. Without this, it ends the process. Must
/// be called within a runtime.
pub(crate) fn outlive_file_size_limit() -> io::Result<()> {
    // A signal with a handler has no other effect, even if nobody awaits it.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
