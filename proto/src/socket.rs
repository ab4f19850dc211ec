//! The socket of an instance: binding it, connecting to it, and identifying the peer.
//!
//! A socket address holds about a hundred bytes, and a path may be longer. Both sides therefore
//! hold the checked directory open and use the short name `sock` in it. On Linux that is the path
//! `/proc/self/fd/<directory>/sock`, which is safe in any thread. Elsewhere, and without `/proc`,
//! the full path is used if it fits. If it does not, the working directory is changed for the
//! length of one system call. It belongs to the process, not to the thread. Callers there bind and
//! connect before they start threads that use relative paths, or never use any. Ours never do.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use interprocess::ConnectWaitMode;
use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{ConnectOptions, GenericFilePath, ListenerOptions, PeerCreds};
use interprocess::os::unix::local_socket::ListenerOptionsExt;
use interprocess::os::unix::uds_local_socket;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::instance::{InstanceDir, InstanceDirError};
use crate::limits::ADDRESS_BYTES_MAX;
use crate::limits::{BACKOFF_MAX_MS, millis};

/// The socket's name in the instance directory.
const NAME: &str = "sock";

/// The reason why there is no connection, named after what the client does next.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens: start a daemon.
    #[error("no daemon is running in {0:?}")]
    NoDaemon(PathBuf),
    /// The directory must not be used: tell the user.
    #[error(transparent)]
    Instance(#[from] InstanceDirError),
    /// Another user's process listens: tell the user.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The system refused: try again.
    #[error("cannot connect to the daemon: {0}")]
    Io(#[from] io::Error),
}

/// The process at the other end is not, or not known to be, this user's.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The process belongs to another user.
    #[error("the process at the other end of the socket belongs to user {0}")]
    NotOurs(u32),
    /// The system does not report its user.
    #[error("cannot tell who is at the other end of the socket: {0}")]
    Unknown(io::Error),
}

/// The process at the other end, known to be of the same user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its process id, if the system reports it and its PID namespace is visible to us.
    pub pid: Option<u32>,
}

/// Connects to the instance's daemon, and checks that it is this user's. Waits at most `deadline`
/// for a full queue.
pub fn connect(dir: &InstanceDir, deadline: Duration) -> Result<UnixStream, ConnectError> {
    let no_daemon = || ConnectError::NoDaemon(dir.path().to_owned());
    let entered = match dir.check() {
        Err(InstanceDirError::Missing(_)) => return Err(no_daemon()),
        checked => checked?,
    };
    let connected = by_short_name(dir, &entered, |path| {
        ConnectOptions::new()
            .name(path.to_fs_name::<GenericFilePath>()?)
            .wait_mode(ConnectWaitMode::Timeout(deadline))
            .connect_sync_as::<uds_local_socket::Stream>()
    });
    let stream = match connected {
        Err(reason)
            if matches!(
                reason.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Err(no_daemon());
        }
        connected => connected?,
    };
    // On Linux a full queue is reported as a connection in progress that then "succeeds".
    stream.inner().peer_addr()?;
    check_peer(stream.peer_creds())?;
    Ok(UnixStream::from(OwnedFd::from(stream)))
}

/// Binds the instance's socket, mode 0600, and removes a dead daemon's. Only the holder of the
/// instance's lock may call this. A socket on which another process listens stays. That process is
/// a service manager, which starts the daemon itself and would never learn of another socket.
pub fn bind(dir: &InstanceDir) -> Result<UnixListener, InstanceDirError> {
    let entered = dir.check()?;
    match connect(dir, millis(BACKOFF_MAX_MS)) {
        Err(ConnectError::NoDaemon(_)) => {}
        Err(ConnectError::Instance(error)) => return Err(error),
        // A full queue also has a listener.
        Ok(_) | Err(ConnectError::Peer(_) | ConnectError::Io(_)) => {
            return Err(InstanceDirError::Taken { path: dir.sock() });
        }
    }
    bind_in(dir, &entered).map_err(|reason| InstanceDirError::Io { path: dir.sock(), reason })
}

fn bind_in(dir: &InstanceDir, entered: &OwnedFd) -> io::Result<UnixListener> {
    match rustix::fs::unlinkat(entered, NAME, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let listen = |mode: Option<u16>| {
        by_short_name(dir, entered, |path| {
            let options = ListenerOptions::new()
                .name(path.to_fs_name::<GenericFilePath>()?)
                .reclaim_name(false);
            match mode {
                Some(mode) => options.mode(mode.into()),
                None => options,
            }
            .create_sync_as::<uds_local_socket::Listener>()
        })
    };
    let listener = match listen(Some(0o600)) {
        // Some systems cannot give a socket its mode before it has a name. The directory lets
        // nobody else in, so the moment between the two calls is harmless.
        Err(reason) if reason.kind() == io::ErrorKind::Unsupported => {
            let listener = listen(None)?;
            rustix::fs::chmodat(entered, NAME, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
            listener
        }
        listener => listener?,
    };
    Ok(listener.into())
}

/// Checks the result of `peer_creds()` of an accepted or connected stream.
///
/// A peer in a PID namespace that we cannot see (a container with HOME mounted) has no process id.
/// The crate interprocess reports that as a reset connection. Such a peer is accepted: it came
/// through a directory and a socket that only this user can use.
pub fn check_peer(creds: io::Result<PeerCreds>) -> Result<Peer, PeerError> {
    let creds = match creds {
        Err(reason) if reason.kind() == io::ErrorKind::ConnectionReset => {
            return Ok(Peer { pid: None });
        }
        creds => creds.map_err(PeerError::Unknown)?,
    };
    check_user(creds.euid(), rustix::process::geteuid().as_raw())?;
    Ok(Peer { pid: creds.pid().and_then(|pid| u32::try_from(pid).ok()) })
}

fn check_user(uid: Option<u32>, ours: u32) -> Result<(), PeerError> {
    match uid {
        Some(uid) if uid == ours => Ok(()),
        Some(uid) => Err(PeerError::NotOurs(uid)),
        None => Err(PeerError::Unknown(io::ErrorKind::Unsupported.into())),
    }
}

/// Calls `act` with a path to the socket that fits a socket address.
fn by_short_name<T>(
    dir: &InstanceDir,
    entered: &OwnedFd,
    act: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let by_descriptor = Path::new("/proc/self/fd").join(entered.as_raw_fd().to_string());
    if by_descriptor.exists() {
        return act(&by_descriptor.join(NAME));
    }
    let full = dir.sock();
    if full.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return act(&full);
    }
    inside(entered, || act(Path::new(OsStr::from_bytes(NAME.as_bytes()))))
}

/// Calls `act` with `dir` as the working directory, and then restores the former one.
fn inside<T>(dir: impl AsFd, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let former = env::current_dir()?;
    rustix::process::fchdir(dir)?;
    let result = act();
    env::set_current_dir(former)?;
    result
}

#[cfg(test)]
mod tests;
