//! Reads what a project shows: files and directories that git does not ignore and that hold no
//! secrets by their names.
//!
//! Links are resolved first, and the rules apply to the path behind them as well as to the one that
//! was asked for. Of a file that is too long, only the beginning is read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anchord_outline::is_secret_file;
use rustix::fs::{AtFlags, Dir, FileType};

use super::beneath::{self, Resolved};
use super::ignores::Ignores;
use super::{FileRefusal, ProjectFiles, is_git, open_regular};
use crate::clock;
use crate::limits::{
    LISTED_BYTES_MAX, LISTED_ENTRIES_MAX, LISTED_TIME_MAX, PROJECT_FILE_BYTES_MAX,
};

/// The bytes that are read of a file that is too long, to recognise it.
const HEAD_BYTES: u64 = 8 << 10;

/// A file's bytes, or the first of them if the file is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileBytes {
    pub(crate) bytes: Vec<u8>,
    /// The file's size.
    pub(crate) size: u64,
}

impl FileBytes {
    /// Returns whether these are all bytes of the file.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes.len() as u64 >= self.size
    }
}

/// A file or directory that a project shows. The path is relative to the root, without links.
#[derive(Debug)]
pub(crate) enum Visible<T> {
    File(PathBuf, FileBytes),
    Directory(PathBuf, Listing<T>),
}

/// The entries of a directory, by name.
#[derive(Debug)]
pub(crate) struct Listing<T> {
    pub(crate) entries: Vec<(String, Entry<T>)>,
    /// The number of entries that are ignored.
    pub(crate) ignored: usize,
    /// Whether all entries were read. Otherwise a limit was reached.
    pub(crate) is_complete: bool,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry<T> {
    /// A file, and what was made of its bytes.
    File(T),
    /// A file of this size that was not read, because enough was read before it.
    Unread(u64),
    /// A file that could not be read.
    Unreadable(String),
    /// A file whose name says that it holds secrets. It was not read.
    Secret,
    Directory,
    Link,
    /// A pipe, socket or device.
    Special,
}

impl ProjectFiles {
    /// Reads a file or lists a directory. `repository` is the root of the repository that the
    /// project is a part of; its ignore files apply too. `read` gets the relative path and the
    /// bytes of each file of a directory.
    pub(crate) fn visible<T>(
        &self,
        relative: &Path,
        repository: Option<&Path>,
        read: impl FnMut(&Path, &FileBytes) -> T,
    ) -> Result<Visible<T>, FileRefusal> {
        let asked = || relative.display().to_string();
        if is_secret_file(&relative.to_string_lossy()) {
            return Err(FileRefusal::Secret(asked()));
        }
        let Resolved { dirs, file } = beneath::resolve(self, relative)?;
        let mut ignores = Ignores::above(&self.path, repository);
        ignores.enter(&self.root, &self.path);
        let mut path = self.path.clone();
        for (name, dir) in &dirs {
            path.push(name);
            if ignores.has_directory(&path) {
                return Err(FileRefusal::Ignored(asked()));
            }
            ignores.enter(dir, &path);
        }
        let dir = dirs.last().map_or(&self.root, |(_, dir)| dir);
        let Some(name) = file else {
            let walk = Walk { root: &self.path, dir, path: &path, ignores: &ignores };
            let listing =
                walk.list(read).map_err(|source| FileRefusal::Io { path: asked(), source })?;
            return Ok(Visible::Directory(relative_to(&path, &self.path), listing));
        };
        path.push(&name);
        let inside = relative_to(&path, &self.path);
        if is_secret_file(&inside.to_string_lossy()) {
            return Err(FileRefusal::Secret(asked()));
        }
        if ignores.has_file(&path) {
            return Err(FileRefusal::Ignored(asked()));
        }
        let (file, size) = open_regular(dir, &name)
            .map_err(|source| FileRefusal::Io { path: asked(), source })?
            .map_err(|what| FileRefusal::NotAFile { path: asked(), what })?;
        let bytes = bytes_of(file, size, PROJECT_FILE_BYTES_MAX)
            .map_err(|source| FileRefusal::Io { path: asked(), source })?;
        Ok(Visible::File(inside, bytes))
    }
}

/// Reads a file, or the beginning of one that is longer than `bytes_max`.
fn bytes_of(file: File, size: u64, bytes_max: u64) -> std::io::Result<FileBytes> {
    let most = if size > bytes_max { HEAD_BYTES } else { bytes_max };
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // A file that grows meanwhile is read as far as it was.
    let size = if size > bytes_max { size } else { bytes.len() as u64 };
    Ok(FileBytes { bytes, size })
}

fn relative_to(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// A directory that is listed.
struct Walk<'a> {
    root: &'a Path,
    dir: &'a OwnedFd,
    path: &'a Path,
    ignores: &'a Ignores,
}

impl Walk<'_> {
    fn list<T>(&self, mut read: impl FnMut(&Path, &FileBytes) -> T) -> std::io::Result<Listing<T>> {
        let started = clock::start();
        let (names, mut is_complete) = self.names()?;
        let mut bytes_left = LISTED_BYTES_MAX;
        let (mut entries, mut ignored) = (Vec::new(), 0);
        for name in names {
            let path = self.path.join(&name);
            let Ok(meta) = rustix::fs::statat(self.dir, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                is_complete = false;
                continue;
            };
            let kind = FileType::from_raw_mode(meta.st_mode);
            let is_ignored = match kind {
                FileType::Directory => self.ignores.has_directory(&path),
                _ => self.ignores.has_file(&path),
            };
            if is_ignored {
                ignored += 1;
                continue;
            }
            let inside = relative_to(&path, self.root);
            let entry = match kind {
                FileType::Directory => Entry::Directory,
                FileType::Symlink => Entry::Link,
                FileType::RegularFile if is_secret_file(&inside.to_string_lossy()) => Entry::Secret,
                FileType::RegularFile => {
                    let size = u64::try_from(meta.st_size).unwrap_or(u64::MAX);
                    self.file(&name, size, &mut bytes_left, started, |bytes| read(&inside, bytes))
                }
                _ => Entry::Special,
            };
            is_complete &= !matches!(entry, Entry::Unread(_) | Entry::Unreadable(_));
            entries.push((shown(&name), entry));
        }
        Ok(Listing { entries, ignored, is_complete })
    }

    fn file<T>(
        &self,
        name: &OsStr,
        size: u64,
        bytes_left: &mut u64,
        started: Instant,
        read: impl FnOnce(&FileBytes) -> T,
    ) -> Entry<T> {
        let costs = if size > PROJECT_FILE_BYTES_MAX { HEAD_BYTES } else { size };
        if costs > *bytes_left || started.elapsed() > LISTED_TIME_MAX {
            return Entry::Unread(size);
        }
        *bytes_left -= costs;
        let bytes = open_regular(self.dir, name)
            .map(|opened| opened.map(|(file, size)| bytes_of(file, size, PROJECT_FILE_BYTES_MAX)));
        match bytes {
            Ok(Ok(Ok(bytes))) => Entry::File(read(&bytes)),
            Ok(Ok(Err(error))) | Err(error) => Entry::Unreadable(error.to_string()),
            // It was a file a moment ago.
            Ok(Err(what)) => Entry::Unreadable(format!("it is {what}")),
        }
    }

    /// Returns the sorted names in the directory, and whether these are all.
    fn names(&self) -> std::io::Result<(Vec<OsString>, bool)> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.dir.as_fd())? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || is_git(name) {
                continue;
            }
            if names.len() >= LISTED_ENTRIES_MAX {
                names.sort_unstable();
                return Ok((names, false));
            }
            names.push(name.to_owned());
        }
        names.sort_unstable();
        Ok((names, true))
    }
}

/// Replaces control characters in a name. A model reads it within other text.
fn shown(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests;
