//! The instance directory: the one place where a user's shims and daemon meet.
//!
//! It is found from HOME alone, because agents strip the environment that they give to what they
//! start; anything taken from `XDG_*` would give one user two daemons. `ANCHORD_HOME` names another
//! instance on purpose. It is checked before every use: a directory (no link to one), ours, not
//! writable by anyone else.

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

/// The version of `instance.json` that this build writes and the newest that it reads.
pub const INSTANCE_FORMAT: u32 = 1;

/// The directory of an instance. Only a path: nothing is touched until a method says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceDir {
    path: PathBuf,
    named: bool,
}

/// Why the instance directory cannot be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
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
    /// The directory is not there. A client takes it as "no daemon".
    #[error("{0:?} does not exist: `anchord daemon` makes it")]
    Missing(PathBuf),
    /// Something else has the place.
    #[error("{0:?} is a link or no directory: remove it, or set ANCHORD_HOME to another path")]
    NotADirectory(PathBuf),
    /// Another user's directory.
    #[error(
        "{path:?} belongs to user {owner}, not to {us}: set ANCHORD_HOME to a path of your own"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Who we are.
        us: u32,
    },
    /// Others could put a socket of theirs in the place of ours.
    #[error("{path:?} has mode {mode:03o}, others may write to it: run `chmod 700` on it")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Somebody listens there, and it is no daemon of ours: that one would hold the lock.
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
    /// `instance.json` comes from a build after this one.
    #[error(
        "{path:?} has format {format}, this build reads up to {INSTANCE_FORMAT}: update anchord"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
    /// `instance.json` is not what it should be.
    #[error("{path:?} cannot be read: {reason}; restore it, or move the directory away")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system said no.
    #[error("cannot use {path:?}: {reason}")]
    Io {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
}

impl InstanceDir {
    /// Finds this user's instance: `$ANCHORD_HOME`, else `.local/state/anchord` in the home
    /// directory (`$HOME`, else what the user database says). An empty variable counts as unset.
    pub fn locate() -> Result<Self, InstanceError> {
        Self::locate_from(env::var_os("ANCHORD_HOME"), env::home_dir())
    }

    /// An instance at a path of one's choice, as `ANCHORD_HOME` names it.
    pub fn named(path: impl AsRef<Path>) -> Self {
        // Without its last slash: behind one, "do not follow a link" would not hold.
        Self { path: path.as_ref().components().collect(), named: true }
    }

    fn locate_from(named: Option<OsString>, home: Option<PathBuf>) -> Result<Self, InstanceError> {
        let absolute = |variable, path: PathBuf| {
            if path.is_absolute() {
                Ok(path)
            } else {
                Err(InstanceError::Relative { variable, path })
            }
        };
        if let Some(path) = named.filter(|path| !path.is_empty()) {
            return Ok(Self::named(absolute("ANCHORD_HOME", path.into())?));
        }
        let home = home.filter(|path| !path.as_os_str().is_empty()).ok_or(InstanceError::NoHome)?;
        let path = absolute("HOME", home)?.join(".local/state/anchord");
        Ok(Self { path, named: false })
    }

    /// Whether the instance was named on purpose. Then data, configuration and logs lie beneath it.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file whose lock is held by the instance's daemon for its whole life.
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The daemon's socket. For people and messages; to use it, see [`crate::socket`].
    pub fn sock(&self) -> PathBuf {
        self.path.join("sock")
    }

    /// Where data, configuration and logs were put: [`InstanceFile`].
    pub fn instance_json(&self) -> PathBuf {
        self.path.join("instance.json")
    }

    /// Held by a shim while it starts a daemon and by that daemon until it is ready, so that of many that find none, one
    /// starts it and the others wait. Only to save work: which daemon stays is decided by [`Self::lock`].
    pub fn starting(&self) -> PathBuf {
        self.path.join("starting")
    }

    /// Held by a shim that has a request which may have killed a daemon, from before it connects again until that
    /// request was in flight alone, so that at a second death no other shim's request is beside it.
    pub fn resending(&self) -> PathBuf {
        self.path.join("resending")
    }

    /// The secret with which the daemon signs resume tokens.
    pub fn key(&self) -> PathBuf {
        self.path.join("key")
    }

    /// Makes the directory (and its parents, all 0700 as XDG asks) if it is not there, then checks it.
    pub fn ensure(&self) -> Result<OwnedFd, InstanceError> {
        match make_directory(&self.path, Mode::RWXU) {
            // Something has the place; the check says what.
            Err(Errno::EXIST) | Ok(()) => self.check(),
            Err(errno) => Err(self.io(errno.into())),
        }
    }

    /// Checks the directory and returns it open, so that what is used is what was checked.
    pub fn check(&self) -> Result<OwnedFd, InstanceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir =
            rustix::fs::open(&self.path, flags, Mode::empty()).map_err(|errno| match errno {
                Errno::NOENT => InstanceError::Missing(self.path.clone()),
                Errno::NOTDIR | Errno::LOOP => InstanceError::NotADirectory(self.path.clone()),
                errno => self.io(errno.into()),
            })?;
        let dir = fs::File::from(dir);
        let found = dir.metadata().map_err(|reason| self.io(reason))?;
        let us = rustix::process::geteuid().as_raw();
        if found.uid() != us {
            return Err(InstanceError::NotOurs { path: self.path.clone(), owner: found.uid(), us });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o022 != 0 {
            return Err(InstanceError::Open { path: self.path.clone(), mode });
        }
        Ok(dir.into())
    }

    fn io(&self, reason: io::Error) -> InstanceError {
        InstanceError::Io { path: self.path.clone(), reason }
    }
}

/// `instance.json`: what was decided when the instance was made and holds for its whole life,
/// whatever the environment of a later start says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceFile {
    /// [`INSTANCE_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The instance's own id.
    pub id: Uuid,
    /// The data directory.
    pub data: PathBuf,
    /// The directory of `config.toml`.
    pub config: PathBuf,
    /// The directory of the logs.
    pub logs: PathBuf,
    /// When the instance was made, RFC 3339 in UTC. For people.
    pub created: String,
}

impl InstanceFile {
    /// Reads the file of an instance; `None` if it has none yet.
    pub fn read(dir: &InstanceDir) -> Result<Option<Self>, InstanceError> {
        let path = dir.instance_json();
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes, path).map(Some),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(reason) => Err(InstanceError::Io { path, reason }),
        }
    }

    /// The file's text, with its last newline. Writing it is the daemon's, under its lock.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The format is judged first: a newer file may lack what this build wants.
    fn parse(bytes: &[u8], path: PathBuf) -> Result<Self, InstanceError> {
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
            Ok(Err(format)) => Err(InstanceError::TooNew { path, format }),
            Err(reason) => Err(InstanceError::Corrupt { path, reason: reason.to_string() }),
        }
    }
}

/// Makes a directory and those above it, unless it is there. std's own does the same, and is larger.
///
/// # Errors
/// What the system says; `EXIST` when something that is no directory has the place.
pub fn make_directory(path: &Path, mode: Mode) -> Result<(), Errno> {
    let made = match rustix::fs::mkdir(path, mode) {
        Err(Errno::NOENT) => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            make_directory(above.ok_or(Errno::NOENT)?, mode)?;
            // Once: where nothing can be made, as in /proc, the same is said again.
            rustix::fs::mkdir(path, mode)
        }
        made => made,
    };
    match made {
        // Another one may have made it meanwhile.
        Err(Errno::EXIST) if path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests;
