//! A directory of files that mirror records, beneath a project's root. People edit these files
//! while the daemon writes them, and neither may lose the other's text.
//!
//! A file is replaced by swapping it with a new one. What was displaced stays under another name
//! until the caller has seen it. An editor may have written it a moment before, or may be writing
//! it still. Each directory on the way is opened from its parent without following links, and
//! nothing here enters a `.git`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use anchord_memory::Timestamp;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ProjectFiles, is_git, open_regular};
use crate::limits::SWAPS_MAX;

/// The ending of a new file's name until it takes its place.
const NEW: &str = ".new~";
/// The ending of a displaced file's name.
const DISPLACED: &str = ".old~";

/// The digest of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileDigest(String);

impl FileDigest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        Self(base16ct::lower::encode_string(&digest[..16]))
    }

    /// Returns the digest that was written as this text.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the digest as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The facts by which a changed file is recognised without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// The size in bytes.
    pub bytes: u64,
    /// The time of the last change of the content, in nanoseconds since the epoch.
    pub modified: i64,
    /// The inode.
    pub inode: u64,
}

impl FileStamp {
    #[expect(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
    pub(super) fn of(stat: &Stat) -> Self {
        let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or_default();
        Self {
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(nanos),
            inode: stat.st_ino as u64,
        }
    }

    /// Returns the time of the last change of the content.
    pub fn time(&self) -> Timestamp {
        Timestamp(self.modified / 1_000_000)
    }
}

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its facts.
    pub stamp: FileStamp,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A regular file.
    File(FileStamp),
    /// A directory.
    Directory,
    /// Anything else: a link, a pipe, a device.
    Other,
}

/// The reason why a file was not listed, read, written or removed.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The path is not one that anchord uses, or leads through a link.
    #[error("use `{0}`: there is a link or something else where a directory or file belongs")]
    NotPlain(String),
    /// Somebody changed the file meanwhile.
    #[error("replace `{0}`: it has been changed meanwhile")]
    Changed(String),
    /// The file or directory is larger than the limit.
    #[error("read `{path}`: it has more than {max} {unit}")]
    TooLarge {
        /// The path.
        path: String,
        /// The limit.
        max: u64,
        /// The counted unit.
        unit: &'static str,
    },
    /// The system refused.
    #[error("{verb} `{path}`: {source}")]
    Io {
        /// The attempted action.
        verb: &'static str,
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

/// A directory of mirrored files.
#[derive(Debug)]
pub(crate) struct MirrorDir {
    dir: OwnedFd,
    /// Its path beneath the root, for errors.
    path: String,
    /// The permissions of the project's directory. New files are as readable as it is.
    mode: u32,
}

/// The treatment of a directory that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingDirectory {
    /// It is not opened.
    Leave,
    /// It is created, with those above it.
    Create,
}

impl ProjectFiles {
    /// Opens a directory for mirrored files. Returns `None` if it is missing and left so.
    pub(crate) fn mirror_dir(
        &self,
        directory: &Path,
        missing: MissingDirectory,
    ) -> Result<Option<MirrorDir>, MirrorError> {
        let path = directory.display().to_string();
        let not_plain = || MirrorError::NotPlain(path.clone());
        let fail = |source| MirrorError::Io { verb: "open", path: path.clone(), source };
        let mode = rustix::fs::fstat(&self.root).map_err(|errno| fail(errno.into()))?;
        let mode = mode.st_mode & 0o777;
        let mut dir = self.root.try_clone().map_err(fail)?;
        for component in directory.components() {
            let Component::Normal(name) = component else { return Err(not_plain()) };
            if is_git(name) {
                return Err(not_plain());
            }
            dir = match open_directory(&dir, name) {
                Ok(next) => next,
                Err(Errno::NOENT) if missing == MissingDirectory::Leave => return Ok(None),
                Err(Errno::NOENT) => {
                    make_directory(&dir, name, mode).map_err(|errno| fail(errno.into()))?
                }
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_plain()),
                Err(errno) => return Err(fail(errno.into())),
            };
        }
        Ok(Some(MirrorDir { dir, path, mode }))
    }
}

fn open_directory(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

fn make_directory(dir: &OwnedFd, name: &OsStr, mode: u32) -> Result<OwnedFd, Errno> {
    let mode = Mode::from_raw_mode(mode as rustix::fs::RawMode);
    match rustix::fs::mkdirat(dir, name, mode) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let made = open_directory(dir, name)?;
    // The daemon's umask is stricter than the user's.
    rustix::fs::fchmod(&made, mode)?;
    Ok(made)
}

impl MirrorDir {
    /// Lists the entries, at most `entries_max`.
    pub(crate) fn list(&self, entries_max: usize) -> Result<Vec<(String, Listed)>, MirrorError> {
        let fail = |errno: Errno| MirrorError::Io {
            verb: "list",
            path: self.path.clone(),
            source: errno.into(),
        };
        let mut listed = Vec::new();
        for entry in Dir::read_from(&self.dir).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            if listed.len() == entries_max {
                let (path, max) = (self.path.clone(), entries_max as u64);
                return Err(MirrorError::TooLarge { path, max, unit: "entries" });
            }
            let Some(stat) = self.stat(name)? else { continue };
            let what = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Listed::File(FileStamp::of(&stat)),
                FileType::Directory => Listed::Directory,
                _ => Listed::Other,
            };
            listed.push((name.to_owned(), what));
        }
        listed.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(listed)
    }

    /// Returns a file's stamp; `None` if there is no regular file of this name.
    pub(crate) fn stamp(&self, name: &str) -> Result<Option<FileStamp>, MirrorError> {
        let is_regular =
            |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Ok(self.stat(name)?.filter(is_regular).map(|stat| FileStamp::of(&stat)))
    }

    fn stat(&self, name: &str) -> Result<Option<Stat>, MirrorError> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.failed("look at", name, errno)),
        }
    }

    /// Reads a file of at most `bytes_max` bytes; `None` if there is nothing of this name.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> Result<Option<FileRead>, MirrorError> {
        let fail = |error| self.failed("read", name, error);
        let opened = match open_regular(&self.dir, OsStr::new(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
            Ok(Err(_what)) => return Err(MirrorError::NotPlain(self.path_of(name))),
            Ok(Ok((opened, _))) => opened,
        };
        let stat = rustix::fs::fstat(&opened).map_err(|errno| fail(errno.into()))?;
        let mut bytes = Vec::new();
        opened.take(bytes_max + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > bytes_max {
            let path = self.path_of(name);
            return Err(MirrorError::TooLarge { path, max: bytes_max, unit: "bytes" });
        }
        Ok(Some(FileRead { bytes, stamp: FileStamp::of(&stat) }))
    }

    /// Puts a file in place of the one of this name, at once. Returns its stamp. What was there
    /// before stays as the [displaced](displaced_name) file. Nothing may be displaced yet.
    ///
    /// A crash half-way leaves the new file as the displaced one, or the old one. Neither is lost.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<FileStamp, MirrorError> {
        let (new, old) = (hidden(name, NEW), displaced_name(name));
        self.remove(&new)?;
        let written = self.write_new(name, &new, bytes);
        let placed = written.and_then(|stamp| {
            self.rename(&new, &old, RenameFlags::NOREPLACE)
                .map_err(|errno| self.failed("write", &old, errno))?;
            self.swap(&old, name)?;
            Ok(stamp)
        });
        if placed.is_err() {
            // If this fails too, a file stays whose name says what it is. The next try removes it.
            let _ = self.remove(&new);
        }
        placed
    }

    fn write_new(&self, name: &str, new: &str, bytes: &[u8]) -> Result<FileStamp, MirrorError> {
        let mode = match self.stat(name)? {
            Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                stat.st_mode & 0o777
            }
            _ => self.mode & 0o666,
        };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = || {
            let opened = rustix::fs::openat(&self.dir, new, flags, Mode::from_raw_mode(0o600))?;
            let mut opened = File::from(opened);
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode as rustix::fs::RawMode))?;
            opened.write_all(bytes)?;
            opened.sync_all()?;
            Ok(FileStamp::of(&rustix::fs::fstat(&opened)?))
        };
        written().map_err(|error: io::Error| self.failed("write", name, error))
    }

    /// Swaps a file with its displaced one.
    pub(crate) fn swap_back(&self, name: &str) -> Result<(), MirrorError> {
        self.swap(&displaced_name(name), name)
    }

    /// Swaps two files, or moves the first if the second does not exist. A link is swapped, not
    /// followed.
    fn swap(&self, new: &str, name: &str) -> Result<(), MirrorError> {
        let fail = |errno| self.failed("write", name, errno);
        // A file that appears or disappears between two attempts is met by the next one.
        for _ in 0..SWAPS_MAX {
            match self.rename(new, name, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                done => return done.map_err(fail).and_then(|()| self.sync()),
            }
            match self.rename(new, name, RenameFlags::EXCHANGE) {
                Err(Errno::NOENT) => {}
                done => return done.map_err(fail).and_then(|()| self.sync()),
            }
        }
        let what = io::Error::other("it appears and disappears all the time");
        Err(self.failed("write", name, what))
    }

    fn sync(&self) -> Result<(), MirrorError> {
        rustix::fs::fsync(self.dir.as_fd()).map_err(|errno| MirrorError::Io {
            verb: "sync",
            path: self.path.clone(),
            source: errno.into(),
        })
    }

    fn rename(&self, from: &str, to: &str, flags: RenameFlags) -> Result<(), Errno> {
        rustix::fs::renameat_with(&self.dir, from, &self.dir, to, flags)
    }

    /// Reads what was displaced, if it is still there.
    pub(crate) fn displaced(
        &self,
        name: &str,
        bytes_max: u64,
    ) -> Result<Option<FileRead>, MirrorError> {
        self.read(&displaced_name(name), bytes_max)
    }

    /// Removes what was displaced, once the caller has seen it.
    pub(crate) fn drop_displaced(&self, name: &str) -> Result<(), MirrorError> {
        self.remove(&displaced_name(name))
    }

    /// Takes a file away. It is then the displaced one. Nothing may be displaced yet.
    pub(crate) fn displace(&self, name: &str) -> Result<(), MirrorError> {
        match self.rename(name, &displaced_name(name), RenameFlags::NOREPLACE) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.failed("remove", name, errno)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), MirrorError> {
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.failed("remove", name, errno)),
        }
    }

    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    fn failed(&self, verb: &'static str, name: &str, error: impl Into<io::Error>) -> MirrorError {
        MirrorError::Io { verb, path: self.path_of(name), source: error.into() }
    }
}

/// Returns the name of the file that a replacement of `name` displaces.
pub(crate) fn displaced_name(name: &str) -> String {
    hidden(name, DISPLACED)
}

/// Returns the name of the file of which this one was displaced.
pub(crate) fn name_of_displaced(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(DISPLACED)
}

fn hidden(name: &str, ending: &str) -> String {
    format!(".{name}{ending}")
}

#[cfg(test)]
mod tests;
