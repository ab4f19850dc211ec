//! The instance directory: the one place where a user's shims and daemon meet.
//!
//! It is found from HOME alone, because agents strip the environment that they pass on. Anything
//! taken from `XDG_*` would give one user two daemons. `ANCHORD_HOME` names another instance on
//! purpose. It is checked before every use: it must be a real directory, not a link, and ours, and
//! nobody else may write to it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The version of `instance.json` that this build writes, and the newest that it reads.
pub const INSTANCE_FORMAT: u32 = 1;

/// The directory of an instance. Creating this value touches no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceDir {
    path: PathBuf,
    named: bool,
}

/// The reason why the instance directory cannot be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum InstanceDirError {
    /// Neither variable leads to a directory.
    #[error("no home directory: set HOME, or ANCHORD_HOME to an absolute path")]
    NoHome,
    /// A relative path would mean another instance in each working directory.
    #[error("{variable} is {path:?}, not an absolute path: set it to one")]
    Relative {
        /// The variable that was read.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The directory does not exist. A client takes that as "no daemon".
    #[error("{0:?} does not exist: `anchord daemon` creates it")]
    Missing(PathBuf),
    /// The path is a link, or not a directory.
    #[error("{0:?} is a link or not a directory: remove it, or set ANCHORD_HOME to another path")]
    NotADirectory(PathBuf),
    /// The directory belongs to another user.
    #[error(
        "{path:?} belongs to user {owner}, not to {us}: set ANCHORD_HOME to a path of your own"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// This process's user.
        us: u32,
    },
    /// Others may write to the directory, and could replace our socket by theirs.
    #[error("{path:?} has mode {mode:03o}, others may write to it: run `chmod 700` on it")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another process listens on the socket. It is not our daemon, which would hold the lock.
    #[error(
        "another process listens on {path:?} without the daemon's lock, as a service manager does: \
         run `{start}`",
        start = if cfg!(target_os = "macos") {
            "launchctl kickstart gui/$(id -u)/dev.anchord.daemon"
        } else {
            "systemctl --user start anchord"
        }
    )]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// `instance.json` comes from a newer build.
    #[error(
        "{path:?} has format {format}, this build reads up to {INSTANCE_FORMAT}: update anchord"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
    /// `instance.json` is invalid.
    #[error("{path:?} cannot be read: {reason}; restore it, or move the directory away")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        reason: String,
    },
    /// The system refused.
    #[error("cannot use {path:?}: {reason}")]
    Io {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
}

impl InstanceDir {
    /// Finds this user's instance: `$ANCHORD_HOME`, else `.local/state/anchord` in the home
    /// directory (`$HOME`, else the entry in the user database). An empty variable counts as unset.
    pub fn locate() -> Result<Self, InstanceDirError> {
        Self::locate_from(env::var_os("ANCHORD_HOME"), env::home_dir())
    }

    /// Returns the instance at a chosen path, as with `ANCHORD_HOME`.
    pub fn named(path: impl AsRef<Path>) -> Self {
        // Drops a trailing slash: with one, "do not follow a link" would have no effect.
        Self { path: path.as_ref().components().collect(), named: true }
    }

    fn locate_from(
        named: Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<Self, InstanceDirError> {
        let absolute = |variable, path: PathBuf| {
            if path.is_absolute() {
                Ok(path)
            } else {
                Err(InstanceDirError::Relative { variable, path })
            }
        };
        if let Some(path) = named.filter(|path| !path.is_empty()) {
            return Ok(Self::named(absolute("ANCHORD_HOME", path.into())?));
        }
        let home =
            home.filter(|path| !path.as_os_str().is_empty()).ok_or(InstanceDirError::NoHome)?;
        let path = absolute("HOME", home)?.join(".local/state/anchord");
        Ok(Self { path, named: false })
    }

    /// Returns whether the instance was named on purpose. Then data, configuration and logs lie
    /// beneath it.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Returns the directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file whose lock the instance's daemon holds for its whole life.
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Returns the daemon's socket, for people and messages. To use it, see [`crate::socket`].
    pub fn sock(&self) -> PathBuf {
        self.path.join("sock")
    }

    /// Returns the file that records where data, configuration and logs are: [`InstanceFile`].
    pub fn instance_json(&self) -> PathBuf {
        self.path.join("instance.json")
    }

    /// Returns the lock file of a start. A shim holds it while it starts a daemon, and that daemon
    /// until it is ready. So one of many shims starts the daemon, and the others wait. This only
    /// saves work: [`Self::lock`] decides which daemon stays.
    pub fn starting(&self) -> PathBuf {
        self.path.join("starting")
    }

    /// Returns the file that a removal leaves. As long as it exists, no shim and no command starts
    /// a daemon, since agents may still have the shim in their configuration. Set-up removes it.
    pub fn removed(&self) -> PathBuf {
        self.path.join("removed")
    }

    /// The directory with copies of the rules that hooks apply without the daemon.
    pub fn guard(&self) -> PathBuf {
        self.path().join("guard")
    }

    /// Returns the lock file of a resend. A shim takes it if one of its requests may have killed a
    /// daemon. It holds it from before it reconnects until that request was in flight alone. So at
    /// a second death, no other shim's request is in flight.
    pub fn resending(&self) -> PathBuf {
        self.path.join("resending")
    }

    /// Returns the file of the secret with which the daemon signs resume tokens.
    pub fn key(&self) -> PathBuf {
        self.path.join("key")
    }

    /// Creates the directory and its parents if needed, all 0700 as XDG asks. Then checks it.
    pub fn ensure(&self) -> Result<OwnedFd, InstanceDirError> {
        match make_directory(&self.path, Mode::RWXU) {
            // If something else has the path, the check says what.
            Err(Errno::EXIST) | Ok(()) => self.check(),
            Err(errno) => Err(self.io(errno.into())),
        }
    }

    /// Checks the directory and returns it open, so that the checked directory is the one in use.
    pub fn check(&self) -> Result<OwnedFd, InstanceDirError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir =
            rustix::fs::open(&self.path, flags, Mode::empty()).map_err(|errno| match errno {
                Errno::NOENT => InstanceDirError::Missing(self.path.clone()),
                Errno::NOTDIR | Errno::LOOP => InstanceDirError::NotADirectory(self.path.clone()),
                errno => self.io(errno.into()),
            })?;
        let dir = fs::File::from(dir);
        let found = dir.metadata().map_err(|reason| self.io(reason))?;
        let us = rustix::process::geteuid().as_raw();
        if found.uid() != us {
            return Err(InstanceDirError::NotOurs {
                path: self.path.clone(),
                owner: found.uid(),
                us,
            });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o022 != 0 {
            return Err(InstanceDirError::Open { path: self.path.clone(), mode });
        }
        Ok(dir.into())
    }

    fn io(&self, reason: io::Error) -> InstanceDirError {
        InstanceDirError::Io { path: self.path.clone(), reason }
    }
}

/// The content of `instance.json`: decisions made when the instance was created. They hold for its
/// whole life, regardless of the environment of a later start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceFile {
    /// The [`INSTANCE_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The instance's own id.
    pub id: Uuid,
    /// The data directory.
    pub data: PathBuf,
    /// The directory of `config.toml`.
    pub config: PathBuf,
    /// The directory of the logs.
    pub logs: PathBuf,
    /// The time of the instance's creation, RFC 3339 in UTC. For people.
    pub created: String,
}

impl InstanceFile {
    /// Reads the file of an instance. Returns `None` if it has none yet.
    pub fn read(dir: &InstanceDir) -> Result<Option<Self>, InstanceDirError> {
        let path = dir.instance_json();
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes, path).map(Some),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(reason) => Err(InstanceDirError::Io { path, reason }),
        }
    }

    /// Returns the file's text, with its final newline. Only the daemon writes it, under its lock.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Parses the file. The format is checked first: a newer file may lack fields that this build
    /// needs.
    fn parse(bytes: &[u8], path: PathBuf) -> Result<Self, InstanceDirError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let read = || -> Result<_, serde_json::Error> {
            let Format { format } = serde_json::from_slice(bytes)?;
            if format > INSTANCE_FORMAT {
                return Ok(Err(format));
            }
            serde_json::from_slice(bytes).map(Ok)
        };
        match read() {
            Ok(Ok(file)) => Ok(file),
            Ok(Err(format)) => Err(InstanceDirError::TooNew { path, format }),
            Err(reason) => Err(InstanceDirError::Corrupt { path, reason: reason.to_string() }),
        }
    }
}

/// Creates a directory and its parents, unless it exists. std's own function does the same, and is
/// larger.
///
/// # Errors
/// Returns the system's error; `EXIST` if something that is not a directory has the path.
pub fn make_directory(path: &Path, mode: Mode) -> Result<(), Errno> {
    let made = match rustix::fs::mkdir(path, mode) {
        Err(Errno::NOENT) => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            make_directory(above.ok_or(Errno::NOENT)?, mode)?;
            // Only once: where nothing can be created, as in /proc, the error stays the same.
            rustix::fs::mkdir(path, mode)
        }
        made => made,
    };
    match made {
        // Another process may have created it meanwhile.
        Err(Errno::EXIST) if path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests;
