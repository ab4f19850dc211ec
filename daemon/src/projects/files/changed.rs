//! Lists the files changed in a project since some time, as git would see them, without running
//! git.
//!
//! The walk uses descriptors and follows no links. Ignore files are read by the same rules as any
//! file: git's own readers would wait for a pipe called `.gitignore`. Other projects in this one (a
//! repository, an initialised part) are left out. Deleted files are not seen.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anchord_memory::Timestamp;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::ignores::Ignores;
use super::{ProjectFiles, is_git};
use crate::clock;
use crate::limits::{CHANGED_DEPTH_MAX, CHANGED_ENTRIES_MAX, CHANGED_FILES_MAX, CHANGED_TIME_MAX};
use crate::projects::marker::MARKER;

/// Files changed since some time. The default is an incomplete, empty listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The paths relative to the root, in order; at most [`CHANGED_FILES_MAX`]. Control characters
    /// are replaced.
    pub files: Vec<String>,
    /// The number of changed files beyond those listed.
    pub more: u32,
    /// Whether the whole project was walked. Otherwise a limit was reached, and more files may have
    /// changed.
    pub complete: bool,
}

impl ProjectFiles {
    /// Returns the files changed after `since`. `repository` is the root of the repository that the
    /// project is a part of. Its ignore files apply to the part too.
    pub fn changed_since(&self, since: Timestamp, repository: Option<&Path>) -> Changed {
        let mut walk = Walk {
            since,
            ignores: Ignores::above(&self.path, repository),
            files: Vec::new(),
            entries_left: CHANGED_ENTRIES_MAX,
            started: clock::start(),
            time_max: CHANGED_TIME_MAX,
            complete: true,
        };
        match self.root.try_clone() {
            Ok(root) => walk.directory(&root, &self.path, 0),
            Err(_) => walk.complete = false,
        }
        walk.files.sort_unstable();
        let more = walk.files.len().saturating_sub(CHANGED_FILES_MAX);
        let files = walk.files.iter().take(CHANGED_FILES_MAX);
        Changed {
            files: files.map(|path| shown(path, &self.path)).collect(),
            more: u32::try_from(more).unwrap_or(u32::MAX),
            complete: walk.complete,
        }
    }
}

impl ProjectFiles {
    /// Returns the paths of all files that git would see, and whether the time was enough for all.
    pub(crate) fn all_files(
        &self,
        repository: Option<&Path>,
        time_max: Duration,
    ) -> (Vec<String>, bool) {
        let mut walk = Walk {
            since: Timestamp(i64::MIN),
            ignores: Ignores::above(&self.path, repository),
            files: Vec::new(),
            entries_left: CHANGED_ENTRIES_MAX,
            started: clock::start(),
            time_max,
            complete: true,
        };
        match self.root.try_clone() {
            Ok(root) => walk.directory(&root, &self.path, 0),
            Err(_) => walk.complete = false,
        }
        let files =
            walk.files.iter().filter_map(|path| path.strip_prefix(&self.path).ok()?.to_str());
        (files.map(str::to_owned).collect(), walk.complete)
    }
}

struct Walk {
    since: Timestamp,
    ignores: Ignores,
    files: Vec<PathBuf>,
    entries_left: u32,
    started: Instant,
    time_max: Duration,
    complete: bool,
}

impl Walk {
    fn directory(&mut self, dir: &OwnedFd, path: &Path, depth: usize) {
        let Ok(names) = self.names(dir) else {
            self.complete = false;
            return;
        };
        let other_project = |name: &OsString| is_git(name) || name == MARKER;
        if depth > 0 && names.iter().any(other_project) {
            return;
        }
        self.ignores.enter(dir, path);
        for name in names.iter().filter(|name| !other_project(name)) {
            if self.started.elapsed() > self.time_max {
                self.complete = false;
                break;
            }
            if let Ok(meta) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                self.entry(dir, name, path.join(name), &meta, depth);
            }
        }
        self.ignores.leave();
    }

    fn entry(&mut self, dir: &OwnedFd, name: &OsStr, path: PathBuf, meta: &Stat, depth: usize) {
        match FileType::from_raw_mode(meta.st_mode) {
            FileType::RegularFile
                if modified(meta) > self.since.0 && !self.ignores.has_file(&path) =>
            {
                self.files.push(path);
            }
            FileType::Directory if !self.ignores.has_directory(&path) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                    Ok(next) if depth < CHANGED_DEPTH_MAX => {
                        self.directory(&next, &path, depth + 1);
                    }
                    _ => self.complete = false,
                }
            }
            _ => {}
        }
    }

    /// Returns the sorted names in a directory, as many as the entry limit still allows.
    fn names(&mut self, dir: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.entries_left == 0 {
                self.complete = false;
                break;
            }
            self.entries_left -= 1;
            names.push(OsStr::from_bytes(name).to_owned());
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Returns the modification time in milliseconds since the epoch.
fn modified(meta: &Stat) -> i64 {
    let nanos = i64::try_from(meta.st_mtime_nsec).unwrap_or(0);
    meta.st_mtime.saturating_mul(1_000).saturating_add(nanos / 1_000_000)
}

/// Replaces control characters in a relative path. A model reads the list within other text, so no
/// name may begin a line of its own.
fn shown(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    relative.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
