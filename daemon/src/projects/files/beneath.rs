//! Walks a path component by component beneath a root, links included.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{FileRefusal, ProjectFiles, is_git, not_a_file};
use crate::limits::PROJECT_PATH_LINKS_MAX;

/// A name and the open directory that holds it. The name was a regular file a moment ago.
pub(super) struct ResolvedFile {
    pub(super) dir: OwnedFd,
    pub(super) name: OsString,
}

/// A path with its links resolved, as it was a moment ago.
pub(super) struct Resolved {
    /// The directories from beneath the root down to the last one, each with its name.
    pub(super) dirs: Vec<(OsString, OwnedFd)>,
    /// The regular file in the last directory; `None` if the path is that directory.
    pub(super) file: Option<OsString>,
}

/// Finds a regular file.
pub(super) fn find(files: &ProjectFiles, relative: &Path) -> Result<ResolvedFile, FileRefusal> {
    let asked = || relative.display().to_string();
    let Resolved { mut dirs, file } = resolve(files, relative)?;
    let name = file.ok_or_else(|| FileRefusal::NotAFile { path: asked(), what: "a directory" })?;
    let dir = dirs.pop().map_or_else(|| files.root.try_clone(), |(_, dir)| Ok(dir));
    let dir = dir.map_err(|source| FileRefusal::Io { path: asked(), source })?;
    Ok(ResolvedFile { dir, name })
}

/// Finds a regular file or directory.
pub(super) fn resolve(files: &ProjectFiles, relative: &Path) -> Result<Resolved, FileRefusal> {
    let asked = || relative.display().to_string();
    let fail = |error: Errno| match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => FileRefusal::Missing(asked()),
        error => FileRefusal::Io { path: asked(), source: error.into() },
    };
    // The names still to be walked, the next one last.
    let mut ahead = Vec::new();
    push(&mut ahead, relative).map_err(|Absolute| FileRefusal::Outside(asked()))?;
    let mut dirs: Vec<(OsString, OwnedFd)> = Vec::new();
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == ".." {
            dirs.pop().ok_or_else(|| FileRefusal::Outside(asked()))?;
            continue;
        }
        if is_git(&name) {
            return Err(FileRefusal::UnderGit(asked()));
        }
        let dir = dirs.last().map_or(&files.root, |(_, dir)| dir);
        let meta = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
        match FileType::from_raw_mode(meta.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > PROJECT_PATH_LINKS_MAX {
                    return Err(fail(Errno::LOOP));
                }
                let target = rustix::fs::readlinkat(dir, &name, Vec::new()).map_err(fail)?;
                let target = Path::new(OsStr::from_bytes(target.as_bytes()));
                let inside = target.strip_prefix(&files.path).ok();
                if inside.is_some() {
                    dirs.clear();
                }
                push(&mut ahead, inside.unwrap_or(target))
                    .map_err(|Absolute| FileRefusal::Outside(asked()))?;
            }
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let next = rustix::fs::openat(dir, &name, flags, Mode::empty()).map_err(fail)?;
                dirs.push((name, next));
            }
            FileType::RegularFile if ahead.is_empty() => {
                return Ok(Resolved { dirs, file: Some(name) });
            }
            _ if !ahead.is_empty() => return Err(fail(Errno::NOTDIR)),
            kind => {
                let what = not_a_file(kind).unwrap_or("something else");
                return Err(FileRefusal::NotAFile { path: asked(), what });
            }
        }
    }
    Ok(Resolved { dirs, file: None })
}

/// The path begins at the root of the file system.
struct Absolute;

fn push(ahead: &mut Vec<OsString>, path: &Path) -> Result<(), Absolute> {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => ahead.push(name.to_owned()),
            Component::ParentDir => ahead.push(OsString::from("..")),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(Absolute),
        }
    }
    Ok(())
}
