//! git's layout, read as files; git itself is never run, so nothing that a repository configures can
//! happen.
//!
//! A `.git` that is a file or a link is only a claim. A worktree's claim holds when git's own record of
//! the worktree points back at it, or at nothing any more (the worktree was moved); a claim on the `.git`
//! of another directory never holds. A claim that does not hold is treated as if it were not there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::is_directory;
use crate::limits::GIT_POINTER_BYTES_MAX;

const DOT_GIT: &str = ".git";

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

/// The repository whose worktree's root, or which itself, is this canonical directory.
pub(super) fn at(directory: &Path) -> Option<GitPlace> {
    if directory.iter().any(|name| name == DOT_GIT) {
        return None;
    }
    let dot_git = directory.join(DOT_GIT);
    let Ok(meta) = fs::metadata(&dot_git) else {
        return is_git_directory(directory).then(|| GitPlace {
            common_dir: directory.to_owned(),
            root: directory.to_owned(),
            bare: true,
        });
    };
    let git_dir = if meta.is_dir() {
        dot_git.clone()
    } else {
        directory.join(pointer(&dot_git, b"gitdir:")?)
    };
    let git_dir = fs::canonicalize(git_dir).ok()?;
    if git_dir.file_name() == Some(OsStr::new(DOT_GIT)) && git_dir.parent() != Some(directory) {
        return None;
    }
    let common_dir = match pointer(&git_dir.join("commondir"), b"") {
        Some(common) => {
            points_back(&git_dir, &dot_git).then_some(())?;
            fs::canonicalize(git_dir.join(common)).ok()?
        }
        None => git_dir,
    };
    is_git_directory(&common_dir).then(|| GitPlace {
        common_dir,
        root: directory.to_owned(),
        bare: false,
    })
}

/// Whether git would take this directory for a repository: `HEAD`, `objects` and `refs`.
pub(in crate::projects) fn is_git_directory(path: &Path) -> bool {
    fs::symlink_metadata(path.join("HEAD")).is_ok_and(|meta| meta.is_file() || meta.is_symlink())
        && is_directory(&path.join("objects"))
        && is_directory(&path.join("refs"))
}

/// Whether the record of a worktree names this `.git` file, or one that no longer exists.
fn points_back(git_dir: &Path, dot_git: &Path) -> bool {
    let Some(recorded) = pointer(&git_dir.join("gitdir"), b"") else { return false };
    match fs::canonicalize(git_dir.join(recorded)) {
        Ok(recorded) => fs::canonicalize(dot_git).is_ok_and(|dot_git| dot_git == recorded),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The path in a file of one line, behind a prefix. Not waited for, should it be no regular file.
fn pointer(path: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    let file = File::options().read(true).custom_flags(nonblocking).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(GIT_POINTER_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let target = bytes.strip_prefix(prefix)?.trim_ascii();
    (!target.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(target)))
}
