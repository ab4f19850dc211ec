//! git's layout, read as files; git itself is never run, so nothing that a repository configures can
//! happen.
//!
//! A `.git` that is no directory of the place itself is only a claim, and whoever unpacks an archive may
//! have it made by a stranger. It holds when the other side says the same: a worktree's record, which lies
//! where git keeps them, names this `.git`; of any other git directory, `core.worktree` names this place,
//! or it says nothing and is a submodule's in a repository around us. What lies in the place itself (a bare
//! repository with a `.git` beside it) needs no witness. A record that names nothing any more, as after a
//! worktree was moved by hand, proves nothing until `git worktree repair`; and `git init
//! --separate-git-dir` leaves no sign of where it was used until `core.worktree` is set.
//!
//! As git does without `safe.directory`, a `.git` that another user owns is not believed, nor one
//! that leads to another user's git directory.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{ForeignMark, metadata, unless_absent};
use crate::limits::{GIT_CONFIG_BYTES_MAX, GIT_POINTER_BYTES_MAX};

mod config;

pub(in crate::projects) const DOT_GIT: &str = ".git";

/// A git repository as seen from one of its worktrees. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitPlace {
    /// What all worktrees share; the project's id is kept in it.
    pub common_dir: PathBuf,
    /// The worktree's root; of a bare repository, the repository itself.
    pub root: PathBuf,
    /// The worktree's own git directory, which holds its index.
    pub git_dir: PathBuf,
    /// Whether this is the repository itself, without files.
    pub bare: bool,
}

impl GitPlace {
    /// The main worktree where git's layout tells it, else this one.
    pub fn main_root(&self) -> &Path {
        match self.common_dir.parent() {
            Some(parent) if self.common_dir.file_name() == Some(OsStr::new(DOT_GIT)) => parent,
            _ => &self.root,
        }
    }
}

/// What a directory is to git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A worktree's root, or a repository itself.
    Repository(GitPlace),
    /// It names a repository that does not name it. It is no part of that one, nor of one around it.
    Claim,
    /// It belongs to another user, or leads to what does.
    Foreign(ForeignMark),
}

/// Reads git's layout at this canonical directory. An error says that it could not be looked at.
pub(super) fn at(directory: &Path, uid: u32) -> io::Result<Option<Found>> {
    if directory.iter().any(|name| name == DOT_GIT) {
        return Ok(None);
    }
    let root = directory.to_owned();
    let dot_git = directory.join(DOT_GIT);
    let Some(meta) = unless_absent(fs::metadata(&dot_git))? else {
        if !is_git_directory(directory)? {
            return Ok(None);
        }
        let (common_dir, git_dir) = (directory.to_owned(), directory.to_owned());
        let place = GitPlace { common_dir, root, git_dir, bare: true };
        let foreign = foreign(&[directory], uid)?;
        return Ok(Some(foreign.map_or(Found::Repository(place), Found::Foreign)));
    };
    // Of a stranger's `.git` nothing is read.
    if let Some(mark) = foreign(&[&dot_git], uid)? {
        return Ok(Some(Found::Foreign(mark)));
    }
    let git_dir = if meta.is_dir() {
        dot_git.clone()
    } else {
        match pointer(&dot_git, b"gitdir:")? {
            Some(target) => directory.join(target),
            None => return Ok(None),
        }
    };
    let Some(git_dir) = unless_absent(fs::canonicalize(git_dir))? else { return Ok(None) };
    let (common_dir, holds) = if let Some(common) = pointer(&git_dir.join("commondir"), b"")? {
        let common_dir = unless_absent(fs::canonicalize(git_dir.join(common)))?;
        let Some(common_dir) = common_dir else { return Ok(None) };
        let holds = is_record(&git_dir, &common_dir, &dot_git)?;
        (common_dir, holds)
    } else {
        let holds = belongs_to(&git_dir, directory)?;
        (git_dir.clone(), holds)
    };
    if !is_git_directory(&common_dir)? {
        return Ok(None);
    }
    if let Some(mark) = foreign(&[&git_dir, &common_dir], uid)? {
        return Ok(Some(Found::Foreign(mark)));
    }
    Ok(Some(if holds {
        Found::Repository(GitPlace { common_dir, root, git_dir, bare: false })
    } else {
        Found::Claim
    }))
}

/// Returns the first of these names that belongs to another user. Links are not followed.
fn foreign(paths: &[&Path], uid: u32) -> io::Result<Option<ForeignMark>> {
    for path in paths {
        if let Some(meta) = metadata(path)?.filter(|meta| meta.uid() != uid) {
            return Ok(Some(ForeignMark { path: path.to_path_buf(), uid: meta.uid() }));
        }
    }
    Ok(None)
}

/// Whether git would take this directory for a repository: `HEAD`, `objects` and `refs`.
pub(in crate::projects) fn is_git_directory(path: &Path) -> io::Result<bool> {
    let head = metadata(&path.join("HEAD"))?;
    if !head.is_some_and(|meta| meta.is_file() || meta.is_symlink()) {
        return Ok(false);
    }
    for name in ["objects", "refs"] {
        if !metadata(&path.join(name))?.is_some_and(|meta| meta.is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether this is the repository's own record of a worktree, and of the one with this `.git` file.
fn is_record(git_dir: &Path, common_dir: &Path, dot_git: &Path) -> io::Result<bool> {
    if git_dir.parent() != Some(&common_dir.join("worktrees")) {
        return Ok(false);
    }
    let Some(recorded) = pointer(&git_dir.join("gitdir"), b"")? else { return Ok(false) };
    let recorded = unless_absent(fs::canonicalize(git_dir.join(recorded)))?;
    Ok(recorded.is_some_and(|recorded| recorded == dot_git))
}

/// Whether a git directory that is no worktree's record says that it is this directory's.
fn belongs_to(git_dir: &Path, directory: &Path) -> io::Result<bool> {
    if git_dir.parent() == Some(directory) {
        return Ok(true);
    }
    let mut said = Vec::new();
    // git moves the setting to the second file where worktrees have settings of their own.
    for name in ["config", "config.worktree"] {
        let config = read(&git_dir.join(name), GIT_CONFIG_BYTES_MAX)?;
        said.extend(config.and_then(|config| config::core_worktree(&config)));
    }
    if said.is_empty() {
        let mut around = directory.ancestors().skip(1);
        return Ok(around.any(|above| git_dir.starts_with(above.join(".git/modules"))));
    }
    for worktree in said {
        if unless_absent(fs::canonicalize(git_dir.join(worktree)))?.as_deref() == Some(directory) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The path in a file of one line, behind a prefix.
fn pointer(path: &Path, prefix: &[u8]) -> io::Result<Option<PathBuf>> {
    let Some(bytes) = read(path, GIT_POINTER_BYTES_MAX)? else { return Ok(None) };
    let target = bytes.strip_prefix(prefix).map(<[u8]>::trim_ascii);
    let target = target.filter(|target| !target.is_empty());
    Ok(target.map(|target| PathBuf::from(OsStr::from_bytes(target))))
}

/// A file that is shorter than the limit. Not waited for, should it be no regular file.
fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(nonblocking).open(path);
    let Some(file) = unless_absent(opened)? else { return Ok(None) };
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() >= bytes_max {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
