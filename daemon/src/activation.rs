//! A socket given by a service manager, instead of one that the daemon binds itself.

use std::io;
use std::os::unix::net::UnixListener;

use service_binding::{Binding, Listener};

/// Set by the launchd plist, since launchd leaves no sign of its own that a socket is there.
const LAUNCHD_SOCKET: &str = "ANCHORD_LAUNCHD_SOCKET";

/// The listener of systemd (`LISTEN_FDS` meant for this process) or launchd, if there is one.
pub fn given() -> io::Result<Option<UnixListener>> {
    let address = if let Some(name) = std::env::var_os(LAUNCHD_SOCKET) {
        format!("launchd://{}", name.to_string_lossy())
    } else if is_meant_for_us() {
        "fd://".to_owned()
    } else {
        return Ok(None);
    };
    let binding: Binding = address.parse().map_err(|error: service_binding::Error| {
        io::Error::other(format!("the service manager's socket cannot be used: {error}"))
    })?;
    match binding.try_into()? {
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

fn is_meant_for_us() -> bool {
    let pid = std::env::var("LISTEN_PID").ok().and_then(|pid| pid.parse::<u32>().ok());
    pid == Some(std::process::id())
}
