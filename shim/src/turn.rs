//! A turn among all shims of an instance, taken before a connection is made on which a request that may have killed
//! a daemon is sent again, and held while that is in flight alone. Without it every shim would send its own again at
//! the same moment, and the one that kills would take the others with it a second time; with it from the sending on
//! alone, what is sent could go to the daemon that the last holder's has just killed.
//!
//! The turn is a file lock, which ends with its holder. It is a courtesy: where it cannot be had in
//! time, or at all, the shim goes on without.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchord_proto::limits::{TURN_DEADLINE_MS, millis};

/// See the module's header.
#[derive(Debug)]
pub(crate) struct Turn {
    /// None where the instance directory could not be found.
    path: Option<PathBuf>,
    held: Option<File>,
    waits_since: Option<Instant>,
}

impl Turn {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, held: None, waits_since: None }
    }

    /// Takes the turn if it is free, or gives up waiting for it. True: go on.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        const PATIENCE: Duration = millis(TURN_DEADLINE_MS);
        if self.held.is_some() {
            return true;
        }
        let file = self.path.as_ref().and_then(|path| {
            OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok()
        });
        let Some(file) = file else {
            return true;
        };
        if file.try_lock().is_ok() {
            self.held = Some(file);
            return true;
        }
        now.duration_since(*self.waits_since.get_or_insert(now)) >= PATIENCE
    }

    /// Gives the turn back.
    pub(crate) fn release(&mut self) {
        self.held = None;
        self.waits_since = None;
    }
}

#[cfg(test)]
mod tests;
