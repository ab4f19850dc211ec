//! A daemon that a shim starts leaves the shim's world: its session, directory, mask.
//!
//! The shim has already reduced the environment and closed the descriptors; the runtime's own signal
//! handlers replace whatever dispositions were inherited, and `exec` has reset the rest.

use std::io;

use rustix::fs::Mode;

/// Becomes the leader of a new session in `/` with umask 077.
pub fn detach() -> io::Result<()> {
    // A process that leads a group already cannot; then it was started by a shell, not by a shim.
    if rustix::process::getpid() != rustix::process::getpgrp() {
        rustix::process::setsid()?;
    }
    rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::chdir("/")?;
    Ok(())
}
