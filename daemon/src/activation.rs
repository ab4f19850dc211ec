//! A socket that a service manager passes, instead of one that the daemon binds itself.

use std::io;
use std::os::unix::net::UnixListener;

use service_binding::{Binding, Listener};

/// The variable that the launchd plist sets to the socket's name. launchd itself gives no sign that
/// it passes a socket. An empty value counts as unset.
const LAUNCHD_SOCKET: &str = "ANCHORD_LAUNCHD_SOCKET";

/// Returns the listener that systemd (`LISTEN_FDS` meant for this process) or launchd passes, if
/// any.
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

/// Tells systemd that the daemon is ready. Does nothing without systemd.
pub fn notify_ready() {
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Ready]) {
        tracing::warn!(%error, "failed to tell the service manager that the daemon is ready");
    }
}

/// Tells systemd that the daemon is draining.
pub fn notify_stopping() {
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Stopping]) {
        tracing::warn!(%error, "failed to tell the service manager that the daemon is stopping");
    }
}

/// Returns the socket with this name. An empty name means systemd's only socket.
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
