//! Ignore files, as git applies them. They are read by the same rules as any file.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{ProjectFiles, open_regular};
use crate::limits::IGNORE_FILE_BYTES_MAX;

/// The rules that apply in a directory, from the outermost to the innermost. The innermost rule
/// that matches decides.
pub(super) struct Ignores(Vec<Gitignore>);

impl Ignores {
    /// Reads the ignore files from a repository's root down to the directory above a part of it.
    pub(super) fn above(part: &Path, repository: Option<&Path>) -> Self {
        let Some(repository) = repository else { return Self(Vec::new()) };
        let mut above: Vec<&Path> =
            part.ancestors().skip(1).take_while(|path| path.starts_with(repository)).collect();
        above.reverse();
        let open = |path: &&Path| ProjectFiles::open(path).ok();
        let rules = above.iter().filter_map(open);
        Self(rules.map(|files| ignore_file(&files.root, &files.path)).collect())
    }

    /// Adds the rules of a directory.
    pub(super) fn enter(&mut self, dir: impl AsFd, path: &Path) {
        self.0.push(ignore_file(dir, path));
    }

    /// Removes the rules of the directory that was entered last.
    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// Returns whether a file in the directory entered last is ignored.
    pub(super) fn has_file(&self, path: &Path) -> bool {
        self.has(path, false)
    }

    /// Returns whether a directory in the directory entered last is ignored.
    pub(super) fn has_directory(&self, path: &Path) -> bool {
        self.has(path, true)
    }

    fn has(&self, path: &Path, is_dir: bool) -> bool {
        let verdicts = self.0.iter().rev().map(|ignore| ignore.matched(path, is_dir));
        matches!(verdicts.into_iter().find(|verdict| !verdict.is_none()), Some(Match::Ignore(_)))
    }
}

/// Returns the rules of a directory's `.gitignore`; none if it is not a regular file or is too
/// long. Skips a line that is not a valid pattern, as git does.
fn ignore_file(dir: impl AsFd, path: &Path) -> Gitignore {
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
