//! git's layout, read as files. git is never run, so nothing that a repository configures can
//! execute.
//!
//! A `.git` that is not a directory in the place itself is only a claim, which an untrusted archive
//! may contain. A claim holds when the other side agrees. A worktree's record must lie where git
//! keeps such records, and must name this `.git`. For any other git directory, `core.worktree` must
//! name this place. Without that setting, it must be a submodule's directory in a repository around
//! us. A bare repository in the place itself, with a `.git` next to it, needs no witness.
//!
//! A record that no longer names an existing path, as after a worktree was moved by hand, proves
//! nothing until `git worktree repair`. Likewise, `git init --separate-git-dir` leaves no sign of
//! where it was used until `core.worktree` is set.
//!
//! As git does without `safe.directory`, this ignores a `.git` that another user owns, and one that
//! leads to another user's git directory.

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
    /// The directory that all worktrees share; it keeps the project's id.
    pub common_dir: PathBuf,
    /// The worktree's root; for a bare repository, the repository itself.
    pub root: PathBuf,
    /// The worktree's own git directory, which holds its index.
    pub git_dir: PathBuf,
    /// Whether this is the repository itself, without files.
    pub bare: bool,
}

impl GitPlace {
    /// Returns the main worktree's root if git's layout shows it, else this one's.
    pub fn main_root(&self) -> &Path {
        match self.common_dir.parent() {
            Some(parent) if self.common_dir.file_name() == Some(OsStr::new(DOT_GIT)) => parent,
            _ => &self.root,
        }
    }
}

/// The role of a directory in git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GitLayout {
    /// A worktree's root, or a repository itself.
    Repository(GitPlace),
    /// A directory that names a repository which does not name it back. It belongs neither to that
    /// repository nor to one around it.
    Claim,
    /// A directory that belongs to another user, or leads to one that does.
    Foreign(ForeignMark),
}

/// Reads git's layout at this canonical directory. Fails if it cannot be read.
pub(super) fn at(directory: &Path, uid: u32) -> io::Result<Option<GitLayout>> {
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
        return Ok(Some(foreign.map_or(GitLayout::Repository(place), GitLayout::Foreign)));
    };
    // Nothing of another user's `.git` is read.
    if let Some(mark) = foreign(&[&dot_git], uid)? {
        return Ok(Some(GitLayout::Foreign(mark)));
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
        return Ok(Some(GitLayout::Foreign(mark)));
    }
    Ok(Some(if holds {
        GitLayout::Repository(GitPlace { common_dir, root, git_dir, bare: false })
    } else {
        GitLayout::Claim
    }))
}

/// Returns the first of these paths that belongs to another user. Links are not followed.
fn foreign(paths: &[&Path], uid: u32) -> io::Result<Option<ForeignMark>> {
    for path in paths {
        if let Some(meta) = metadata(path)?.filter(|meta| meta.uid() != uid) {
            return Ok(Some(ForeignMark { path: path.to_path_buf(), uid: meta.uid() }));
        }
    }
    Ok(None)
}

/// Returns whether git would accept this directory as a repository: `HEAD`, `objects` and `refs`.
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

/// Returns whether `git_dir` is the repository's own record of the worktree with this `.git` file.
fn is_record(git_dir: &Path, common_dir: &Path, dot_git: &Path) -> io::Result<bool> {
    if git_dir.parent() != Some(&common_dir.join("worktrees")) {
        return Ok(false);
    }
    let Some(recorded) = pointer(&git_dir.join("gitdir"), b"")? else { return Ok(false) };
    let recorded = unless_absent(fs::canonicalize(git_dir.join(recorded)))?;
    Ok(recorded.is_some_and(|recorded| recorded == dot_git))
}

/// Returns whether a git directory, which is not a worktree's record, names this directory as its
/// own.
fn belongs_to(git_dir: &Path, directory: &Path) -> io::Result<bool> {
    if git_dir.parent() == Some(directory) {
        return Ok(true);
    }
    let mut worktrees = Vec::new();
    // git moves the setting to the second file where worktrees have settings of their own.
    for name in ["config", "config.worktree"] {
        let config = read(&git_dir.join(name), GIT_CONFIG_BYTES_MAX)?;
        worktrees.extend(config.and_then(|config| config::core_worktree(&config)));
    }
    if worktrees.is_empty() {
        let mut around = directory.ancestors().skip(1);
        return Ok(around.any(|above| git_dir.starts_with(above.join(".git/modules"))));
    }
    for worktree in worktrees {
        if unless_absent(fs::canonicalize(git_dir.join(worktree)))?.as_deref() == Some(directory) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the path in a one-line file, after a prefix.
/// Returns the branch that a worktree has checked out; `None` if HEAD names a commit.
pub(crate) fn branch(git: &GitPlace) -> io::Result<Option<String>> {
    let head = read(&git.git_dir.join("HEAD"), GIT_POINTER_BYTES_MAX)?.unwrap_or_default();
    let name = head.trim_ascii().strip_prefix(b"ref: refs/heads/");
    Ok(name.map(|name| String::from_utf8_lossy(name).into_owned()))
}

fn pointer(path: &Path, prefix: &[u8]) -> io::Result<Option<PathBuf>> {
    let Some(bytes) = read(path, GIT_POINTER_BYTES_MAX)? else { return Ok(None) };
    let target = bytes.strip_prefix(prefix).map(<[u8]>::trim_ascii);
    let target = target.filter(|target| !target.is_empty());
    Ok(target.map(|target| PathBuf::from(OsStr::from_bytes(target))))
}

/// Reads a regular file below the size limit. Never waits for anything else.
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
