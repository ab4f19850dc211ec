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

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::is_directory;
use crate::limits::{GIT_CONFIG_BYTES_MAX, GIT_POINTER_BYTES_MAX};

mod config;

pub(super) const DOT_GIT: &str = ".git";

/// A git repository as seen from one of its worktrees. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitPlace {
    /// What all worktrees share; the project's id is kept in it.
    pub common_dir: PathBuf,
    /// The worktree's root; of a bare repository, the repository itself.
    pub root: PathBuf,
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
}

/// What git's layout makes of this canonical directory.
pub(super) fn at(directory: &Path) -> Option<Found> {
    if directory.iter().any(|name| name == DOT_GIT) {
        return None;
    }
    let root = directory.to_owned();
    let dot_git = directory.join(DOT_GIT);
    let Ok(meta) = fs::metadata(&dot_git) else {
        return is_git_directory(directory).then(|| {
            Found::Repository(GitPlace { common_dir: directory.to_owned(), root, bare: true })
        });
    };
    let git_dir = if meta.is_dir() {
        dot_git.clone()
    } else {
        directory.join(pointer(&dot_git, b"gitdir:")?)
    };
    let git_dir = fs::canonicalize(git_dir).ok()?;
    let (common_dir, holds) = if let Some(common) = pointer(&git_dir.join("commondir"), b"") {
        let common_dir = fs::canonicalize(git_dir.join(common)).ok()?;
        let holds = is_record(&git_dir, &common_dir, &dot_git);
        (common_dir, holds)
    } else {
        let holds = belongs_to(&git_dir, directory);
        (git_dir, holds)
    };
    if !is_git_directory(&common_dir) {
        return None;
    }
    Some(if holds {
        Found::Repository(GitPlace { common_dir, root, bare: false })
    } else {
        Found::Claim
    })
}

/// Whether git would take this directory for a repository: `HEAD`, `objects` and `refs`.
pub(in crate::projects) fn is_git_directory(path: &Path) -> bool {
    fs::symlink_metadata(path.join("HEAD")).is_ok_and(|meta| meta.is_file() || meta.is_symlink())
        && is_directory(&path.join("objects"))
        && is_directory(&path.join("refs"))
}

/// Whether this is the repository's own record of a worktree, and of the one with this `.git` file.
fn is_record(git_dir: &Path, common_dir: &Path, dot_git: &Path) -> bool {
    git_dir.parent() == Some(&common_dir.join("worktrees"))
        && pointer(&git_dir.join("gitdir"), b"")
            .and_then(|recorded| fs::canonicalize(git_dir.join(recorded)).ok())
            .is_some_and(|recorded| recorded == dot_git)
}

/// Whether a git directory that is no worktree's record says that it is this directory's.
fn belongs_to(git_dir: &Path, directory: &Path) -> bool {
    if git_dir.parent() == Some(directory) {
        return true;
    }
    // git moves the setting to the second file where worktrees have settings of their own.
    let said = ["config", "config.worktree"].map(|name| {
        let config = read(&git_dir.join(name), GIT_CONFIG_BYTES_MAX)?;
        config::core_worktree(&config)
    });
    let mut said = said.into_iter().flatten().peekable();
    if said.peek().is_none() {
        let mut around = directory.ancestors().skip(1);
        return around.any(|above| git_dir.starts_with(above.join(".git/modules")));
    }
    said.any(|worktree| {
        fs::canonicalize(git_dir.join(worktree)).is_ok_and(|worktree| worktree == directory)
    })
}

/// The path in a file of one line, behind a prefix.
fn pointer(path: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = read(path, GIT_POINTER_BYTES_MAX)?;
    let target = bytes.strip_prefix(prefix)?.trim_ascii();
    (!target.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(target)))
}

/// A file that is shorter than the limit. Not waited for, should it be no regular file.
fn read(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    let file = File::options().read(true).custom_flags(nonblocking).open(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() >= bytes_max {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
