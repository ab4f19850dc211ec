//! The file that holds a project's id. Unless the user shares a memory, anchord writes only this
//! file and `.anchord/.gitignore`, which keeps it out of commits, into a project.
//!
//! Each directory on the way is opened from its parent without following links, so a prepared
//! repository cannot lead the write elsewhere. The id is written only into a directory that we own,
//! and into git only where git's common directory is a real one. Above repositories it is written
//! only where a marker exists.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use uuid::Uuid;

use crate::clock;
use crate::limits::{LOCK_POLL, PROJECT_ID_FILE_BYTES_MAX, PROJECT_ID_WAIT_MAX};
use crate::projects::locate::is_git_directory;
use crate::projects::marker::{MARKER, ignore_in, is_anothers};
use crate::projects::nested::{self, Nested, Unknown};
use crate::projects::registry::{ProjectDir, ProjectId};

pub(super) const FILE: &str = "project-id";

/// The reason why an id was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteIdError {
    #[error("the directory belongs to another user")]
    NotOurs,
    #[error("git's directory has no HEAD, objects and refs")]
    NotGit,
    #[error("another process holds the id's directory")]
    Busy,
    #[error("the id file contains no id")]
    Damaged,
    #[error("{} is a repository beneath it", .0.display())]
    AboveRepository(PathBuf),
    #[error("it is unknown whether repositories are beneath it: {0}")]
    MayBeAboveRepositories(Unknown),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for WriteIdError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Returns the directory names from a place to its id file.
pub(super) fn components(place: &ProjectDir) -> impl Iterator<Item = &OsStr> {
    let base = if place.git { "anchord" } else { MARKER };
    let sub = place.part.as_ref().map(|_| OsStr::new("sub"));
    let part = place.part.as_deref().unwrap_or(Path::new("")).components();
    let part = part.filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    [OsStr::new(base)].into_iter().chain(sub).chain(part)
}

/// The content of an id file, or of the path where it would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There is no file that we may read: it is absent, a link, a directory or another user's.
    Nothing,
    /// The file holds no id.
    NoId,
    /// The file holds a project's id.
    Id(ProjectId),
}

impl Kept {
    pub(super) fn id(self) -> Option<ProjectId> {
        match self {
            Self::Id(id) => Some(id),
            Self::Nothing | Self::NoId => None,
        }
    }
}

/// Reads the id that a user's file keeps at a place. Fails if the place cannot be read.
pub(super) fn read(place: &ProjectDir, uid: u32) -> io::Result<Kept> {
    let is_absent = |error: Errno| matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
    let mut dir = match open_place(&place.path) {
        Err(error) if is_absent(error) => return Ok(Kept::Nothing),
        opened => opened?,
    };
    for name in components(place) {
        dir = match open_dir(&dir, name) {
            Err(error) if is_absent(error) => return Ok(Kept::Nothing),
            Err(Errno::ACCESS) if is_anothers(&dir, Path::new(name), uid)? => {
                return Ok(Kept::Nothing);
            }
            opened => opened?,
        };
        if rustix::fs::fstat(&dir)?.st_uid != uid {
            return Ok(Kept::Nothing);
        }
    }
    match read_in(&dir, uid) {
        Ok(kept) => Ok(kept),
        Err(WriteIdError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Stores `wanted` at a place and returns it. If the place already has an id other than `replaced`,
/// returns that id instead.
pub(super) fn write(
    place: &ProjectDir,
    wanted: ProjectId,
    replaced: Option<ProjectId>,
    uid: u32,
) -> Result<ProjectId, WriteIdError> {
    if let Some(id) = read(place, uid)?.id().filter(|id| Some(*id) != replaced) {
        ignore(place)?;
        return Ok(id);
    }
    if place.git && !is_git_directory(&place.path)? {
        return Err(WriteIdError::NotGit);
    }
    let ours = |dir: &OwnedFd| {
        if rustix::fs::fstat(dir)?.st_uid == uid { Ok(()) } else { Err(WriteIdError::NotOurs) }
    };
    let mut dir = open_place(&place.path)?;
    ours(&dir)?;
    if !place.git && matches!(open_dir(&dir, OsStr::new(MARKER)), Err(Errno::NOENT)) {
        match nested::find_repository(&place.path) {
            Nested::None => {}
            Nested::Found(path) => return Err(WriteIdError::AboveRepository(path)),
            Nested::Unknown(why) => return Err(WriteIdError::MayBeAboveRepositories(why)),
        }
    }
    for name in components(place) {
        match rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => dir = open_dir(&dir, name)?,
            Err(error) => return Err(error.into()),
        }
        ours(&dir)?;
    }
    ignore(place)?;
    let dir = File::from(dir);
    lock(&dir)?;
    // Read again under the lock: another of the user's instances may have been first.
    match read_in(&dir, uid)?.id() {
        Some(id) if Some(id) != replaced => return Ok(id),
        None if exists(&dir)? => return Err(WriteIdError::Damaged),
        _ => {}
    }
    put(&dir, wanted, replaced.is_some())?;
    read_in(&dir, uid)?.id().ok_or(WriteIdError::Damaged)
}

/// Keeps the id of a place without git out of the commits of a repository around it.
fn ignore(place: &ProjectDir) -> Result<(), WriteIdError> {
    if place.git {
        return Ok(());
    }
    let marker = open_dir(&open_place(&place.path)?, OsStr::new(MARKER))?;
    Ok(ignore_in(&marker)?)
}

/// Writes the id to a temporary file, so that nobody reads half an id, and then gives it its name.
///
/// A hard link is the first choice: it never replaces the id of a faster writer on a file system
/// without locks. A rename replaces a copy's old id, and serves where there are no hard links.
fn put(dir: &File, id: ProjectId, replace: bool) -> Result<(), WriteIdError> {
    let temporary = format!("{FILE}.{}", Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(dir, &temporary, flags, Mode::from_raw_mode(0o644))?;
    let written = (|| {
        let mut file = File::from(file);
        writeln!(file, "{id}")?;
        file.sync_all()?;
        let linked = if replace {
            Err(Errno::NOTSUP)
        } else {
            rustix::fs::linkat(dir, &temporary, dir, FILE, AtFlags::empty())
        };
        match linked {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(_) => rustix::fs::renameat(dir, &temporary, dir, FILE)?,
        }
        dir.sync_all()
    })();
    // Already gone if it was renamed. Otherwise the leftover is small, and its name says what it
    // is.
    let _ = rustix::fs::unlinkat(dir, &temporary, AtFlags::empty());
    Ok(written?)
}

fn read_in(dir: &impl AsFd, uid: u32) -> Result<Kept, WriteIdError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, FILE, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP) => return Ok(Kept::Nothing),
        Err(error) => return Err(error.into()),
    };
    let seen = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(seen.st_mode) == FileType::RegularFile;
    if !is_file || seen.st_uid != uid {
        return Ok(Kept::Nothing);
    }
    let mut text = Vec::new();
    File::from(file).take(PROJECT_ID_FILE_BYTES_MAX).read_to_end(&mut text)?;
    let id = str::from_utf8(&text).ok().and_then(|text| Uuid::try_parse(text.trim()).ok());
    let id = id.filter(|id| !id.is_nil()).map(ProjectId).filter(|id| !id.is_personal());
    Ok(id.map_or(Kept::NoId, Kept::Id))
}

fn exists(dir: &File) -> Result<bool, WriteIdError> {
    match rustix::fs::statat(dir, FILE, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Locks the directory against other daemons that write here. Waits at most
/// [`PROJECT_ID_WAIT_MAX`].
fn lock(dir: &File) -> Result<(), WriteIdError> {
    let started = clock::start();
    loop {
        match dir.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < PROJECT_ID_WAIT_MAX => {
                std::thread::sleep(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => return Err(WriteIdError::Busy),
            // An error means a file system without locks, such as some network ones.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

/// Opens a directory by its canonical path.
fn open_place(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, directory_flags(), Mode::empty())
}

fn open_dir(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, name, directory_flags(), Mode::empty())
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
