//! Reads a project's files, beneath its root and nowhere else.
//!
//! Every path component is opened from its parent directory without following links. A link is read
//! and walked by the same rules, so nothing swapped in meanwhile leads out of the project. Only
//! regular files are opened. A read never waits, stops at [`PROJECT_FILE_BYTES_MAX`], and never
//! enters a `.git`, even through a link. The same code runs on every system; there is no weaker
//! path.
//!
//! Open a new [`ProjectFiles`] for each use: the root may be replaced, as worktrees are.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use anchord_memory::Timestamp;
use anchord_outline::is_secret_file;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use crate::clock;
use crate::limits::PROJECT_FILE_BYTES_MAX;

mod beneath;
mod changed;
mod ignores;
mod mirror;
mod visible;
mod whole;

pub use changed::Changed;
pub use mirror::{FileDigest, FileRead, FileStamp, Listed, MirrorError};
pub(crate) use mirror::{MirrorDir, MissingDirectory, name_of_displaced};
pub(crate) use visible::{Entry, FileBytes, Listing, Visible};

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// The path, or a link on it, leaves the project.
    #[error("read `{0}`: it is outside the project")]
    Outside(String),
    /// The path leads into git's own files.
    #[error("read `{0}`: it is under `.git`")]
    UnderGit(String),
    /// git ignores the path, or a directory above it.
    #[error("read `{0}`: git ignores it; read it yourself")]
    Ignored(String),
    /// The path's name says that it holds secrets.
    #[error("read `{0}`: files of secrets are never read")]
    Secret(String),
    /// The path does not exist.
    #[error("read `{0}`: no such file")]
    Missing(String),
    /// The path is not a regular file.
    #[error("read `{path}`: it is {what}, not a file")]
    NotAFile {
        /// The requested path.
        path: String,
        /// The kind of thing that is there.
        what: &'static str,
    },
    /// The file is too long.
    #[error("read `{path}`: its {bytes} bytes are more than the {max} that are read")]
    TooLarge {
        /// The requested path.
        path: String,
        /// The file's size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The system refused.
    #[error("read `{path}`: {source}")]
    Io {
        /// The requested path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines without their line ends. Bytes that are not UTF-8 are replaced.
    pub lines: Vec<String>,
    /// The number of the first line, from 1.
    pub first: u32,
    /// The number of lines in the file.
    pub total: u32,
    /// The time of the file's last change.
    pub modified: Timestamp,
}

/// Whether a file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A file or directory of that name exists.
    Present,
    /// Nothing of that name exists.
    Absent,
    /// Unknown: permission is missing, or the path leads out of the project.
    Unknown,
}

/// A project's files.
#[derive(Debug)]
pub struct ProjectFiles {
    root: OwnedFd,
    path: PathBuf,
}

impl ProjectFiles {
    /// Opens a project's root, given as a canonical path.
    pub fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        Ok(Self { root: fd, path: root.to_owned() })
    }

    /// Reads the lines from `first` to `last`, inclusive and counted from 1. Returns fewer if the
    /// file is shorter.
    pub fn read_lines(
        &self,
        relative: &Path,
        first: u32,
        last: u32,
    ) -> Result<Excerpt, FileRefusal> {
        let (text, modified) = self.read(relative)?;
        let text = String::from_utf8_lossy(&text);
        let first = first.max(1);
        let wanted = last.saturating_add(1).saturating_sub(first);
        let lines = text.lines().skip(to_usize(first - 1)).take(to_usize(wanted));
        let lines = lines.map(str::to_owned).collect();
        let total = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Ok(Excerpt { lines, first, total, modified })
    }

    /// Returns whether there is a file or directory of this name.
    pub fn exists(&self, relative: &Path) -> Presence {
        match beneath::find(self, relative) {
            Ok(_) | Err(FileRefusal::NotAFile { .. }) => Presence::Present,
            Err(FileRefusal::Missing(_)) => Presence::Absent,
            Err(_) => Presence::Unknown,
        }
    }

    /// Returns the stamp of a file without reading it.
    pub(crate) fn stamp(&self, relative: &Path) -> Result<FileStamp, FileRefusal> {
        let path = || relative.display().to_string();
        let found = beneath::find(self, relative)?;
        let stat = rustix::fs::statat(&found.dir, &found.name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| FileRefusal::Io { path: path(), source: error.into() })?;
        match not_a_file(FileType::from_raw_mode(stat.st_mode)) {
            None => Ok(FileStamp::of(&stat)),
            Some(what) => Err(FileRefusal::NotAFile { path: path(), what }),
        }
    }

    /// Reads a file with its stamp. A file of secrets is refused.
    pub(crate) fn read_stamped(&self, relative: &Path) -> Result<FileRead, FileRefusal> {
        if is_secret_file(&relative.to_string_lossy()) {
            return Err(FileRefusal::Secret(relative.display().to_string()));
        }
        // A file that changes meanwhile has another stamp afterwards.
        let stamp = self.stamp(relative)?;
        let (bytes, _) = self.read(relative)?;
        Ok(FileRead { bytes, stamp })
    }

    fn read(&self, relative: &Path) -> Result<(Vec<u8>, Timestamp), FileRefusal> {
        let path = relative.display().to_string();
        let found = beneath::find(self, relative)?;
        let (file, bytes) = open_regular(&found.dir, &found.name)
            .map_err(|source| FileRefusal::Io { path: path.clone(), source })?
            .map_err(|what| FileRefusal::NotAFile { path: path.clone(), what })?;
        let max = PROJECT_FILE_BYTES_MAX;
        let fail = |source| FileRefusal::Io { path: path.clone(), source };
        if bytes > max {
            return Err(FileRefusal::TooLarge { path, bytes, max });
        }
        let modified = file.metadata().and_then(|meta| meta.modified()).map_err(fail)?;
        let mut text = Vec::new();
        file.take(max + 1).read_to_end(&mut text).map_err(fail)?;
        let bytes = text.len() as u64;
        if bytes > max {
            return Err(FileRefusal::TooLarge { path, bytes, max });
        }
        Ok((text, clock::timestamp(modified)))
    }
}

/// Opens a regular file and returns it with its size, or says what it is instead. Checks the type
/// before opening, since opening a device may have effects. Checks again afterwards, since names
/// change.
fn open_regular(
    dir: impl AsFd,
    name: &std::ffi::OsStr,
) -> io::Result<Result<(File, u64), &'static str>> {
    let meta = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if let Some(what) = not_a_file(FileType::from_raw_mode(meta.st_mode)) {
        return Ok(Err(what));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::openat(&dir, name, flags | OFlags::CLOEXEC, Mode::empty())?;
    let meta = rustix::fs::fstat(&file)?;
    Ok(match not_a_file(FileType::from_raw_mode(meta.st_mode)) {
        Some(what) => Err(what),
        None => Ok((File::from(file), u64::try_from(meta.st_size).unwrap_or(u64::MAX))),
    })
}

fn not_a_file(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile => None,
        FileType::Directory => Some("a directory"),
        FileType::Symlink => Some("a link"),
        FileType::Fifo => Some("a pipe"),
        FileType::Socket => Some("a socket"),
        _ => Some("a device"),
    }
}

/// Returns whether a name is git's own, also on file systems that ignore case.
fn is_git(name: &std::ffi::OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
