//! Searches for repositories beneath a directory, so that no marker is created above them.
//!
//! The search is bounded. A search that ends early, or meets an unreadable directory, does not
//! prove that there is no repository.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::locate::{DOT_GIT, is_git_directory};
use crate::clock;
use crate::limits::{NESTED_ENTRIES_MAX, NESTED_TIME_MAX};

/// The result of a search for repositories beneath a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Nested {
    /// There is no repository.
    None,
    /// There is at least one repository: this one.
    Found(PathBuf),
    /// The search was incomplete.
    Unknown(Unknown),
}

/// The reason why a search was incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// There are more entries than the limit.
    TooMany,
    /// The search took too long.
    TooSlow,
    /// A directory cannot be read.
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => {
                write!(f, "it has more than {NESTED_ENTRIES_MAX} files and directories")
            }
            Self::TooSlow => write!(f, "it took longer than {} s", NESTED_TIME_MAX.as_secs_f32()),
            Self::Unreadable { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

/// Searches for a repository beneath a directory, the nearest first. Links are not followed, and
/// the directory's own `.git` does not count.
pub(super) fn find_repository(directory: &Path) -> Nested {
    let started = clock::start();
    let mut entries = 0;
    let mut waiting = VecDeque::from([directory.to_owned()]);
    while let Some(path) = waiting.pop_front() {
        if started.elapsed() > NESTED_TIME_MAX {
            return Nested::Unknown(Unknown::TooSlow);
        }
        let unreadable = |source: io::Error| {
            let (path, why) = (path.clone(), source.to_string());
            Nested::Unknown(Unknown::Unreadable { path, why })
        };
        let is_below = path != directory;
        match is_git_directory(&path) {
            Ok(true) if is_below => return Nested::Found(path),
            Ok(_) => {}
            Err(error) => return unreadable(error),
        }
        let names = match fs::read_dir(&path) {
            Ok(names) => names,
            // The directory disappeared after it was listed.
            Err(error) if is_below && error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return unreadable(error),
        };
        for entry in names {
            entries += 1;
            if entries > NESTED_ENTRIES_MAX {
                return Nested::Unknown(Unknown::TooMany);
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return unreadable(error),
            };
            if entry.file_name().eq_ignore_ascii_case(DOT_GIT) {
                if is_below {
                    return Nested::Found(path);
                }
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push_back(entry.path()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return unreadable(error),
            }
        }
    }
    Nested::None
}

#[cfg(test)]
mod tests;
