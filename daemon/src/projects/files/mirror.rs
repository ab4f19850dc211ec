//! A directory of files that mirror records, beneath a project's root. People edit these files
//! while the daemon writes them, and neither may lose the other's text.
//!
//! A file is replaced by swapping it with a new one. What was displaced stays under another name
//! until the caller has seen it. An editor may have written it a moment before, or may be writing
//! it still. The directory is opened without following links and is never under `.git`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use anchord_memory::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{ProjectFiles, is_git, open_regular};
use crate::clock;
use crate::limits::{PROJECT_FILE_BYTES_MAX, SWAPS_MAX};

/// The ending of a new file's name until it takes its place.
const NEW: &str = ".new~";
/// The ending of a displaced file's name.
const DISPLACED: &str = ".old~";

/// A directory of mirrored files.
#[derive(Debug)]
pub(crate) struct MirrorDir {
    dir: OwnedFd,
}

/// The identity of a file's content, as far as it can be seen without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanos: i64,
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirrorFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: Timestamp,
    pub(crate) stamp: Stamp,
}

impl ProjectFiles {
    /// Opens a directory for mirrored files. `None` if it does not exist and is not to be created.
    pub(crate) fn mirror_dir(
        &self,
        relative: &Path,
        create: bool,
    ) -> io::Result<Option<MirrorDir>> {
        let mut dir = self.root.try_clone()?;
        for component in relative.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::other("the path of a mirror is not beneath its project"));
            };
            if is_git(name) {
                return Err(io::Error::other("a mirror is not put under .git"));
            }
            if create {
                match rustix::fs::mkdirat(&dir, name, Mode::from_bits_truncate(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            dir = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
                Ok(dir) => dir,
                Err(Errno::NOENT) if !create => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some(MirrorDir { dir }))
    }
}

impl MirrorDir {
    /// Lists the names of the files that have this ending, sorted; at most `files_max`.
    pub(crate) fn names(&self, ending: &str, files_max: usize) -> io::Result<Vec<String>> {
        self.entries(files_max, |name| {
            Some(name).filter(|name| name.ends_with(ending) && !name.starts_with('.'))
        })
    }

    /// Lists the names of the files with this ending of which a displaced one is left.
    pub(crate) fn displaced_names(
        &self,
        ending: &str,
        files_max: usize,
    ) -> io::Result<Vec<String>> {
        self.entries(files_max, |name| {
            name.strip_prefix('.')?.strip_suffix(DISPLACED).filter(|name| name.ends_with(ending))
        })
    }

    fn entries(
        &self,
        files_max: usize,
        wanted: impl Fn(&str) -> Option<&str>,
    ) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok().and_then(&wanted);
            names.extend(name.filter(|_| names.len() < files_max).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Returns a file's stamp; `None` if there is no regular file of this name.
    pub(crate) fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(meta) => Ok(is_regular(&meta).then(|| stamp_of(&meta))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a file; `None` if there is no regular file of this name.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<MirrorFile>> {
        let file = match open_regular(&self.dir, OsStr::new(name)) {
            Ok(Ok((file, _))) => file,
            Ok(Err(_what)) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let modified = clock::timestamp(file.metadata()?.modified()?);
        let stamp = stamp_of(&rustix::fs::fstat(&file)?);
        let mut bytes = Vec::new();
        file.take(PROJECT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > PROJECT_FILE_BYTES_MAX {
            let what = format!("it has more than {PROJECT_FILE_BYTES_MAX} bytes");
            return Err(io::Error::other(what));
        }
        Ok(Some(MirrorFile { bytes, modified, stamp }))
    }

    /// Puts a file in place of the one of this name, at once. Returns its stamp. What was there
    /// before stays as the [displaced](Self::displaced) file. Nothing may be displaced yet.
    ///
    /// A crash half-way leaves the new file as the displaced one, or the old one. Neither is lost.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<Stamp> {
        let (new, old) = (hidden(name, NEW), hidden(name, DISPLACED));
        self.remove_named(&new)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_bits_truncate(0o666);
        let fd = rustix::fs::openat(&self.dir, &new, flags | OFlags::CLOEXEC, mode)?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        file.sync_all()?;
        let stamp = stamp_of(&rustix::fs::fstat(&file)?);
        self.rename(&new, &old, RenameFlags::NOREPLACE)?;
        self.swap(&old, name)?;
        rustix::fs::fsync(self.dir.as_fd())?;
        Ok(stamp)
    }

    /// Swaps two files, or moves the first if the second does not exist. A link is swapped, not
    /// followed.
    fn swap(&self, new: &str, name: &str) -> io::Result<()> {
        // A file that appears or disappears between two attempts is met by the next one.
        for _ in 0..SWAPS_MAX {
            match self.rename(new, name, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                done => return Ok(done?),
            }
            match self.rename(new, name, RenameFlags::EXCHANGE) {
                Err(Errno::NOENT) => {}
                done => return Ok(done?),
            }
        }
        Err(io::Error::other("the file appears and disappears all the time"))
    }

    fn rename(&self, from: &str, to: &str, flags: RenameFlags) -> Result<(), Errno> {
        rustix::fs::renameat_with(&self.dir, from, &self.dir, to, flags)
    }

    /// Reads what was displaced, if it is still there.
    pub(crate) fn displaced(&self, name: &str) -> io::Result<Option<MirrorFile>> {
        self.read(&hidden(name, DISPLACED))
    }

    /// Removes what was displaced, once the caller has seen it.
    pub(crate) fn drop_displaced(&self, name: &str) -> io::Result<()> {
        self.remove_named(&hidden(name, DISPLACED))
    }

    /// Takes a file away. It is then the displaced one. Nothing may be displaced yet.
    pub(crate) fn displace(&self, name: &str) -> io::Result<()> {
        match self.rename(name, &hidden(name, DISPLACED), RenameFlags::NOREPLACE) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn remove_named(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn hidden(name: &str, ending: &str) -> String {
    format!(".{name}{ending}")
}

fn is_regular(meta: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(meta.st_mode) == rustix::fs::FileType::RegularFile
}

#[expect(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
fn stamp_of(meta: &rustix::fs::Stat) -> Stamp {
    Stamp {
        inode: meta.st_ino as u64,
        bytes: u64::try_from(meta.st_size).unwrap_or_default(),
        seconds: meta.st_mtime as i64,
        nanos: i64::try_from(meta.st_mtime_nsec).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
