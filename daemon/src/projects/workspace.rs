//! Workspaces: directories above repositories that the user made one project.
//!
//! The mark is `.anchord/workspace`, a file that holds the directory's inode. A mark that came with
//! an archive, a clone or a copy was made for another directory, so it does not count.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::marker::{MARKER, is_anothers, make_marker, open_marker};
use crate::limits::PROJECT_ID_FILE_BYTES_MAX;

const FILE: &str = "workspace";

/// The state of a directory's workspace mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// There is no mark of ours.
    None,
    /// The user made this directory a workspace.
    Valid,
    /// The mark was made for another directory.
    Stale,
}

/// Reads the mark of a directory. Fails if the directory cannot be read.
pub fn read(directory: &Path, uid: u32) -> io::Result<Mark> {
    let absent = |error| matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
    let marker = match open_marker(directory) {
        Ok(marker) => marker,
        Err(error) if absent(error) => return Ok(Mark::None),
        Err(Errno::ACCESS) if !is_ours(directory, uid) => return Ok(Mark::None),
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(&marker, FILE, flags, Mode::empty()) {
        Ok(file) => file,
        Err(error) if absent(error) => return Ok(Mark::None),
        Err(error) => return Err(error.into()),
    };
    let seen = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(seen.st_mode) == FileType::RegularFile;
    if !is_file || seen.st_uid != uid || rustix::fs::fstat(&marker)?.st_uid != uid {
        return Ok(Mark::None);
    }
    let mut text = Vec::new();
    File::from(file).take(PROJECT_ID_FILE_BYTES_MAX).read_to_end(&mut text)?;
    let made_for = str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let inode = std::fs::symlink_metadata(directory)?.ino();
    Ok(if made_for == Some(inode) { Mark::Valid } else { Mark::Stale })
}

/// Returns whether a marker that cannot be opened is ours.
fn is_ours(directory: &Path, uid: u32) -> bool {
    // It is not ours if a directory above it denies us access.
    is_anothers(CWD, &directory.join(MARKER), uid).is_ok_and(|is_anothers| !is_anothers)
}

/// Makes a canonical directory a workspace. Returns whether it was not one before.
pub fn mark(directory: &Path, uid: u32) -> io::Result<bool> {
    if read(directory, uid)? == Mark::Valid {
        return Ok(false);
    }
    let inode = std::fs::symlink_metadata(directory)?.ino();
    make_marker(directory, uid)?;
    let marker = open_marker(directory)?;
    match rustix::fs::unlinkat(&marker, FILE, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&marker, FILE, flags, Mode::from_raw_mode(0o644))?;
    let mut file = File::from(file);
    writeln!(file, "{inode}")?;
    file.sync_all()?;
    Ok(true)
}

/// Removes a directory's mark. Returns whether there was one.
pub fn unmark(directory: &Path) -> io::Result<bool> {
    let marker = match open_marker(directory) {
        Ok(marker) => marker,
        Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match rustix::fs::unlinkat(&marker, FILE, AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
