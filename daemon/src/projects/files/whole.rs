//! Files that anchord keeps in a project next to the user's own: read whole, written atomically,
//! and never over somebody's edit.
//!
//! Each directory on the way is opened from its parent without following links. Nothing here enters
//! a `.git`. A file is replaced only if it still has the bytes that the caller last saw.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{ProjectFiles, is_git, open_regular};

/// The digest of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileDigest(String);

impl FileDigest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        Self(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
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
    fn of(stat: &Stat) -> Self {
        let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or_default();
        Self {
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos),
            inode: stat.st_ino,
        }
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

impl ProjectFiles {
    /// Lists a directory, at most `entries_max` entries. Returns `None` if there is none.
    pub fn list(
        &self,
        directory: &Path,
        entries_max: usize,
    ) -> Result<Option<Vec<(String, Listed)>>, MirrorError> {
        let fail = |errno| failed("list", directory, errno);
        let Some(dir) = self.enter(directory, false)? else { return Ok(None) };
        let mut listed = Vec::new();
        for entry in Dir::read_from(&dir).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            if listed.len() == entries_max {
                let (path, max) = (directory.display().to_string(), entries_max as u64);
                return Err(MirrorError::TooLarge { path, max, unit: "entries" });
            }
            let stat = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(fail(errno)),
            };
            let what = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Listed::File(FileStamp::of(&stat)),
                FileType::Directory => Listed::Directory,
                _ => Listed::Other,
            };
            listed.push((name.to_owned(), what));
        }
        Ok(Some(listed))
    }

    /// Reads a file of at most `bytes_max` bytes. Returns `None` if there is none.
    pub fn read_whole(&self, file: &Path, bytes_max: u64) -> Result<Option<FileRead>, MirrorError> {
        let Some((dir, name)) = self.parent(file, false)? else { return Ok(None) };
        read_in(&dir, name, file, bytes_max)
    }

    /// Writes a file so that readers see the old or the new bytes. Replaces only a file that has
    /// `expected`, or creates one if that is `None`. Directories are created as needed.
    pub fn write_whole(
        &self,
        file: &Path,
        bytes: &[u8],
        expected: Option<&FileDigest>,
    ) -> Result<FileStamp, MirrorError> {
        let fail = |source| MirrorError::Io { verb: "write", path: shown(file), source };
        let found = self.parent(file, true)?;
        let Some((dir, name)) = found else { return Err(fail(io::ErrorKind::NotFound.into())) };
        let stat = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(fail(errno.into())),
        };
        check_unchanged(&dir, name, file, expected)?;
        let mode = match stat {
            Some(stat) => stat.st_mode & 0o777,
            None => self.mode()? & 0o666,
        };
        let temporary = format!(".{name}.{}.tmp", Uuid::new_v4().simple());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&dir, &temporary, flags, Mode::from_raw_mode(0o600));
        let opened = opened.map_err(|errno| fail(errno.into()))?;
        let written = (|| {
            let mut opened = File::from(opened);
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?;
            opened.write_all(bytes)?;
            opened.sync_all()?;
            let stat = rustix::fs::fstat(&opened)?;
            Ok::<_, io::Error>(FileStamp::of(&stat))
        })();
        // The file may have been edited while the new bytes were written.
        let renamed = written.map_err(fail).and_then(|stamp| {
            check_unchanged(&dir, name, file, expected)?;
            let renamed = rustix::fs::renameat(&dir, &temporary, &dir, name);
            renamed.map(|()| stamp).map_err(|errno| fail(errno.into()))
        });
        if renamed.is_err() {
            // If this fails too, a small file stays whose name says what it is.
            let _ = rustix::fs::unlinkat(&dir, &temporary, AtFlags::empty());
        }
        renamed
    }

    /// Removes a file that has `expected`. Returns whether there was one.
    pub fn remove_whole(&self, file: &Path, expected: &FileDigest) -> Result<bool, MirrorError> {
        let Some((dir, name)) = self.parent(file, false)? else { return Ok(false) };
        match check_unchanged(&dir, name, file, Some(expected)) {
            Ok(()) => {}
            Err(MirrorError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        match rustix::fs::unlinkat(&dir, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(failed("remove", file, errno)),
        }
    }

    /// Returns the permissions of the project's directory, which new files and directories get.
    fn mode(&self) -> Result<u32, MirrorError> {
        let stat = rustix::fs::fstat(&self.root);
        Ok(stat.map_err(|errno| failed("look at", Path::new("."), errno))?.st_mode & 0o777)
    }

    /// Opens the directory of a file, and returns it with the file's name.
    fn parent<'f>(
        &self,
        file: &'f Path,
        create: bool,
    ) -> Result<Option<(OwnedFd, &'f str)>, MirrorError> {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| MirrorError::NotPlain(shown(file)))?;
        let dir = self.enter(file.parent().unwrap_or(Path::new("")), create)?;
        Ok(dir.map(|dir| (dir, name)))
    }

    /// Opens a directory beneath the root. Returns `None` if there is none.
    fn enter(&self, directory: &Path, create: bool) -> Result<Option<OwnedFd>, MirrorError> {
        let not_plain = || MirrorError::NotPlain(shown(directory));
        let fail = |errno| failed("open", directory, errno);
        let mut dir = self.root.try_clone().map_err(|source| MirrorError::Io {
            verb: "open",
            path: shown(directory),
            source,
        })?;
        for component in directory.components() {
            let Component::Normal(name) = component else { return Err(not_plain()) };
            if is_git(name) {
                return Err(not_plain());
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            dir = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::NOENT) if !create => return Ok(None),
                Err(Errno::NOENT) => {
                    let mode = Mode::from_raw_mode(self.mode()?);
                    match rustix::fs::mkdirat(&dir, name, mode) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(fail(errno)),
                    }
                    let next = rustix::fs::openat(&dir, name, flags, Mode::empty());
                    let next = next.map_err(fail)?;
                    // The daemon's umask is stricter than the user's.
                    rustix::fs::fchmod(&next, mode).map_err(fail)?;
                    next
                }
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_plain()),
                Err(errno) => return Err(fail(errno)),
            };
        }
        Ok(Some(dir))
    }
}

fn check_unchanged(
    dir: &OwnedFd,
    name: &str,
    file: &Path,
    expected: Option<&FileDigest>,
) -> Result<(), MirrorError> {
    let now = read_in(dir, name, file, crate::limits::PROJECT_FILE_BYTES_MAX)?;
    let now = now.map(|now| FileDigest::of(&now.bytes));
    match (&now, expected) {
        (None, Some(_)) => Err(failed("find", file, Errno::NOENT)),
        (now, expected) if now.as_ref() == expected => Ok(()),
        _ => Err(MirrorError::Changed(shown(file))),
    }
}

fn read_in(
    dir: &OwnedFd,
    name: &str,
    file: &Path,
    bytes_max: u64,
) -> Result<Option<FileRead>, MirrorError> {
    let fail = |source| MirrorError::Io { verb: "read", path: shown(file), source };
    let opened = match open_regular(dir, std::ffi::OsStr::new(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
        Ok(Err(_)) => return Err(MirrorError::NotPlain(shown(file))),
        Ok(Ok((opened, _))) => opened,
    };
    let stat = rustix::fs::fstat(&opened).map_err(|errno| fail(errno.into()))?;
    let mut bytes = Vec::new();
    opened.take(bytes_max + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > bytes_max {
        return Err(MirrorError::TooLarge { path: shown(file), max: bytes_max, unit: "bytes" });
    }
    Ok(Some(FileRead { bytes, stamp: FileStamp::of(&stat) }))
}

fn failed(verb: &'static str, path: &Path, errno: Errno) -> MirrorError {
    MirrorError::Io { verb, path: shown(path), source: errno.into() }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests;
