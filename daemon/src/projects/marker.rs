//! The directory `.anchord`, which marks a project.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

/// The name of the directory that marks a project, and holds its id where there is no git.
pub(super) const MARKER: &str = ".anchord";

/// Returns whether a file belongs to another user, who may not let us open it.
pub(super) fn is_anothers(dir: impl AsFd, path: &Path, uid: u32) -> io::Result<bool> {
    let seen = rustix::fs::statat(dir, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(seen.st_uid != uid)
}

/// Makes the marker of a directory, unless it has one. In a git repository, the directory is then a
/// project of its own. Returns whether there was none.
pub fn make_marker(directory: &Path, uid: u32) -> io::Result<bool> {
    let made = match rustix::fs::mkdirat(CWD, directory.join(MARKER), Mode::from_raw_mode(0o755)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let marker = open_marker(directory)?;
    if rustix::fs::fstat(&marker)?.st_uid != uid {
        return Err(io::Error::other(format!("its {MARKER} belongs to another user")));
    }
    ignore_in(&marker)?;
    Ok(made)
}

/// Opens the marker of a directory.
pub(super) fn open_marker(directory: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, directory.join(MARKER), flags, Mode::empty())
}

/// Creates a `.gitignore` that ignores everything in a marker, unless there is one.
pub(super) fn ignore_in(marker: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(marker, ".gitignore", flags, Mode::from_raw_mode(0o644)) {
        Ok(file) => File::from(file).write_all(b"*\n"),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
