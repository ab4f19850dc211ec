//! Lists the files changed in a project since some time, as git would see them, without running
//! git.
//!
//! The walk uses descriptors and follows no links. Ignore files are read by the same rules as any
//! file: git's own readers would wait for a pipe called `.gitignore`. Other projects in this one (a
//! repository, an initialised part) are left out. Deleted files are not seen.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anchord_memory::Timestamp;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::{ProjectFiles, is_git, open_regular};
use crate::clock;
use crate::limits::{
    CHANGED_DEPTH_MAX, CHANGED_ENTRIES_MAX, CHANGED_FILES_MAX, CHANGED_TIME_MAX,
    IGNORE_FILE_BYTES_MAX,
};
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
            ignores: repository.map_or_else(Vec::new, |root| outer_ignores(root, &self.path)),
            files: Vec::new(),
            entries_left: CHANGED_ENTRIES_MAX,
            started: clock::start(),
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

struct Walk {
    since: Timestamp,
    /// Ordered from the outermost to the innermost; the innermost rule that matches decides.
    ignores: Vec<Gitignore>,
    files: Vec<PathBuf>,
    entries_left: u32,
    started: Instant,
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
        self.ignores.push(ignore_file(dir, path));
        for name in names.iter().filter(|name| !other_project(name)) {
            if self.started.elapsed() > CHANGED_TIME_MAX {
                self.complete = false;
                break;
            }
            if let Ok(meta) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                self.entry(dir, name, path.join(name), &meta, depth);
            }
        }
        self.ignores.pop();
    }

    fn entry(&mut self, dir: &OwnedFd, name: &OsStr, path: PathBuf, meta: &Stat, depth: usize) {
        match FileType::from_raw_mode(meta.st_mode) {
            FileType::RegularFile
                if modified(meta) > self.since.0 && !self.ignored(&path, false) =>
            {
                self.files.push(path);
            }
            FileType::Directory if !self.ignored(&path, true) => {
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

    fn ignored(&self, path: &Path, is_dir: bool) -> bool {
        let verdicts = self.ignores.iter().rev().map(|ignore| ignore.matched(path, is_dir));
        matches!(verdicts.into_iter().find(|verdict| !verdict.is_none()), Some(Match::Ignore(_)))
    }
}

/// Reads the ignore files from the repository's root down to the directory above the part.
fn outer_ignores(repository: &Path, part: &Path) -> Vec<Gitignore> {
    let mut above: Vec<&Path> =
        part.ancestors().skip(1).take_while(|path| path.starts_with(repository)).collect();
    above.reverse();
    let open = |path: &&Path| ProjectFiles::open(path).ok();
    above.iter().filter_map(open).map(|files| ignore_file(&files.root, &files.path)).collect()
}

/// Returns the rules of a directory's `.gitignore`; none if it is not a regular file or is too
/// long. Skips a line that is not a valid pattern, as git does.
fn ignore_file(dir: &OwnedFd, path: &Path) -> Gitignore {
    let Ok(Ok((file, bytes))) = open_regular(dir, OsStr::new(".gitignore")) else {
        return Gitignore::empty();
    };
    let mut text = Vec::new();
    let read = file.take(IGNORE_FILE_BYTES_MAX).read_to_end(&mut text);
    if read.is_err() || bytes > IGNORE_FILE_BYTES_MAX {
        return Gitignore::empty();
    }
    let mut rules = GitignoreBuilder::new(path);
    for line in String::from_utf8_lossy(&text).lines() {
        let _ = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
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
