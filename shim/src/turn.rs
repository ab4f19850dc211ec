//! A turn among all shims of an instance. A shim takes it before it connects to resend a request
//! that may have killed a daemon. It holds the turn while that request is in flight alone.
//!
//! Without the turn, every shim would resend at the same moment, and the request that kills would
//! take the others down a second time. The turn must come before the connection. Otherwise the
//! connection could lead to the daemon that the last holder's request has just killed.
//!
//! The turn is a file lock, which ends with its holder. It is a courtesy: a shim that cannot get it
//! in time, or at all, continues without it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchord_proto::limits::{TURN_DEADLINE_MS, millis};

/// See the module's header.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The lock file; `None` if the instance directory could not be found.
    path: Option<PathBuf>,
    held: Option<File>,
    waits_since: Option<Instant>,
}

impl Turn {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, held: None, waits_since: None }
    }

    /// Takes the turn if it is free, or gives up waiting for it. Returns whether the caller may
    /// continue.
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
