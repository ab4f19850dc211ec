//! Finds the project of a directory: its nearest ancestor with `.anchord/`, else its git root, else the
//! directory itself.
//!
//! A repository within another one is a project of its own, so the outer one's `.anchord/` does not
//! reach into it; one in a plain folder covers the repositories beneath. HOME, `/`, the temporary
//! directories and the instance directory are passed over on the way up, whatever they hold; named
//! explicitly, they are projects like any other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::registry::Place;

mod git;

use git::Found;
pub use git::GitPlace;
pub(super) use git::is_git_directory;

/// Names the directory that marks a project, and holds its id where there is no git.
pub(super) const MARKER: &str = ".anchord";

/// Directories of this machine that are never found by the walk.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The temporary directory; `/tmp` and `/var/tmp` are known without it.
    pub tmp: Option<PathBuf>,
    /// anchord's own directory.
    pub instance_dir: Option<PathBuf>,
}

/// Where a project is. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Files are read beneath this directory and nowhere else; in a worktree, the worktree's own.
    pub root: PathBuf,
    /// What people call it: its directory's name, and the part's path behind it.
    pub name: String,
    /// The repository it is, or is a part of.
    pub git: Option<GitPlace>,
    /// The initialised part of that repository, relative to its root.
    pub part: Option<PathBuf>,
}

impl Located {
    /// The directory that makes this project what it is, as it stands now.
    pub fn place(&self) -> io::Result<Place> {
        let path = self.git.as_ref().map_or(&self.root, |git| &git.common_dir);
        Place::of(path.clone(), self.git.is_some(), self.part.clone())
    }

    /// Where people find the project: of several worktrees, the main one.
    pub fn main_root(&self) -> PathBuf {
        let Some(git) = &self.git else { return self.root.clone() };
        let repository = git.main_root();
        match &self.part {
            Some(part) => repository.join(part),
            None => repository.to_owned(),
        }
    }
}

/// Why a directory has no project.
#[derive(Debug, thiserror::Error)]
pub enum NotAProject {
    /// The directory cannot be entered, or is none.
    #[error("use {} as a project: {source}", path.display())]
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory is one that the walk never takes.
    #[error(
        "find a project: {} is {what}, not a project; work in the project's directory, or name \
         it with `--project DIR` or ANCHORD_PROJECT",
        path.display()
    )]
    Excluded {
        /// The directory.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
}

/// Finds the project of `start`. `explicit` says that the user named `start` as a project's directory,
/// rather than being in it by chance.
pub fn locate(start: &Path, explicit: bool, facts: &Surroundings) -> Result<Located, NotAProject> {
    let start = directory(start)
        .map_err(|source| NotAProject::Unreadable { path: start.to_owned(), source })?;
    let excluded = Excluded::new(facts);
    let candidates: Vec<&Path> = start
        .ancestors()
        .filter(|path| (explicit && *path == start) || excluded.why(path).is_none())
        .collect();

    let mark = candidates.iter().position(|path| is_directory(&path.join(MARKER)));
    let repository =
        candidates.iter().enumerate().find_map(|(nth, path)| Some((nth, *path, git::at(path)?)));

    match (mark.and_then(|nth| Some((nth, *candidates.get(nth)?))), repository) {
        (Some((_, marked)), None) => Ok(plain(marked)),
        (Some((mark, marked)), Some((nth, _, found))) if mark <= nth => Ok(beneath(found, marked)),
        (Some((mark, marked)), Some((_, root, found))) => {
            let above = candidates.iter().skip(mark);
            if above.clone().any(|path| git::at(path).is_some()) {
                Ok(beneath(found, root))
            } else {
                Ok(plain(marked))
            }
        }
        (None, Some((_, root, found))) => Ok(beneath(found, root)),
        (None, None) => match excluded.why(&start) {
            Some(what) if !explicit => Err(NotAProject::Excluded { path: start, what }),
            _ => Ok(plain(&start)),
        },
    }
}

/// The project that is this directory itself: its own where it is a repository's root, whatever is above it.
pub fn locate_exactly(directory: &Path) -> Result<Located, NotAProject> {
    let root = self::directory(directory)
        .map_err(|source| NotAProject::Unreadable { path: directory.to_owned(), source })?;
    if root.iter().any(|name| name == git::DOT_GIT) {
        return Err(NotAProject::Excluded { path: root, what: "within a git directory" });
    }
    Ok(match git::at(&root) {
        Some(found) => beneath(found, &root),
        None => plain(&root),
    })
}

/// The project at `root`, which is where git's layout was found or beneath it.
fn beneath(found: Found, root: &Path) -> Located {
    match found {
        Found::Repository(git) => in_git(git, root),
        Found::Claim => plain(root),
    }
}

fn plain(root: &Path) -> Located {
    Located { root: root.to_owned(), name: name_of(root), git: None, part: None }
}

/// The project at `root`, which is the repository's root or beneath it.
fn in_git(git: GitPlace, root: &Path) -> Located {
    let part = root.strip_prefix(&git.root).ok().filter(|part| !part.as_os_str().is_empty());
    let repository = name_of(git.main_root());
    let repository = match repository.strip_suffix(".git") {
        Some(name) if git.bare && !name.is_empty() => name.to_owned(),
        _ => repository,
    };
    let name = match part {
        Some(part) => format!("{repository}/{}", part.display()),
        None => repository,
    };
    Located { root: root.to_owned(), name, part: part.map(Path::to_owned), git: Some(git) }
}

fn name_of(root: &Path) -> String {
    root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned()
}

/// The canonical path of a directory.
fn directory(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    if fs::metadata(&path)?.is_dir() { Ok(path) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Whether this is a directory itself, not a link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// The directories that are passed over, with what each is.
struct Excluded(Vec<(PathBuf, &'static str)>);

impl Excluded {
    fn new(facts: &Surroundings) -> Self {
        let named = [
            (facts.home.as_deref(), "your home directory"),
            (facts.instance_dir.as_deref(), "anchord's own directory"),
            (facts.tmp.as_deref(), "the temporary directory"),
            (Some(Path::new("/tmp")), "the temporary directory"),
            (Some(Path::new("/var/tmp")), "the temporary directory"),
            (Some(Path::new("/")), "the root of the file system"),
        ];
        let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self(named.into_iter().filter_map(|(path, what)| Some((canonical(path?), what))).collect())
    }

    fn why(&self, path: &Path) -> Option<&'static str> {
        self.0.iter().find(|(excluded, _)| excluded == path).map(|(_, what)| *what)
    }
}

#[cfg(test)]
mod tests;
