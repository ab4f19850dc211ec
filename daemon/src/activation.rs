//! A socket given by a service manager, instead of one that the daemon binds itself.

use std::io;
use std::os::unix::net::UnixListener;

use service_binding::{Binding, Listener};

/// Set by the launchd plist to the socket's name there, since launchd leaves no sign of its own that a
/// socket is given. Empty counts as unset.
const LAUNCHD_SOCKET: &str = "ANCHORD_LAUNCHD_SOCKET";

/// The listener of systemd (`LISTEN_FDS` meant for this process) or launchd, if there is one.
pub fn given() -> io::Result<Option<UnixListener>> {
    let launchd = std::env::var(LAUNCHD_SOCKET).ok().filter(|name| !name.is_empty());
    if launchd.is_none() && !is_meant_for_us() {
        return Ok(None);
    }
    match binding(&launchd.unwrap_or_default())?.try_into()? {
        Listener::Unix(listener) => Ok(Some(listener)),
        _ => Err(io::Error::other("the service manager's socket is no Unix socket")),
    }
}

/// Tells systemd that the daemon answers; nothing where there is no systemd.
pub fn notify_ready() {
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Ready]) {
        tracing::warn!(%error, "the service manager did not hear that the daemon is ready");
    }
}

/// Tells systemd that the daemon drains.
pub fn notify_stopping() {
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Stopping]) {
        tracing::warn!(%error, "the service manager did not hear that the daemon stops");
    }
}

/// The socket with this name; systemd's one socket where the name is empty.
fn binding(name: &str) -> io::Result<Binding> {
    format!("fd://{name}").parse().map_err(|error: service_binding::Error| {
        io::Error::other(format!("the service manager's socket cannot be used: {error}"))
    })
}

fn is_meant_for_us() -> bool {
    let pid = std::env::var("LISTEN_PID").ok().and_then(|pid| pid.parse::<u32>().ok());
    pid == Some(std::process::id())
}

#[cfg(test)]
mod tests;
