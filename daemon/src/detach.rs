//! Detaches a daemon from the shim that starts it: from its session, directory and mask.
//!
//! The shim has already reduced the environment and closed the descriptors. The runtime's own
//! signal handlers replace inherited dispositions, and `exec` has reset the rest.

use std::io;

use rustix::fs::Mode;

/// Becomes the leader of a new session in `/` with umask 077.
pub fn detach() -> io::Result<()> {
    // A process that already leads a group cannot do so. Then a shell started it, not a shim.
    if rustix::process::getpid() != rustix::process::getpgrp() {
        rustix::process::setsid()?;
    }
    rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::chdir("/")?;
    Ok(())
}
