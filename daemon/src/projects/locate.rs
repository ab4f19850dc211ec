//! Finds the project of a directory. In a git repository it is the repository, or the nearest part
//! of it with `.anchord/`. Outside git it is the nearest ancestor with `.anchord/`, else the
//! directory itself.
//!
//! A git root ends the search: above it only a directory that the user made a workspace counts. A
//! marker or a `.git` counts only if it belongs to our uid. The walk passes over HOME, `/`, the
//! temporary directories and the instance directory, even if they are marked. Named explicitly,
//! they are projects like any other. A directory that cannot be read is an error, since it may hold
//! anything.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::marker::MARKER;
use super::registry::ProjectDir;
use super::workspace;

mod git;

use git::GitLayout;
pub use git::GitPlace;
pub(crate) use git::branch;
pub(super) use git::{DOT_GIT, is_git_directory};

/// Facts about this machine and its user that the search depends on.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The temporary directory. `/tmp` and `/var/tmp` are known without it.
    pub tmp: Option<PathBuf>,
    /// anchord's own directory.
    pub instance_dir: Option<PathBuf>,
    /// The user whose markers and repositories count.
    pub uid: u32,
}

impl Surroundings {
    /// Returns the facts about this process's user.
    pub fn here(instance_dir: Option<PathBuf>) -> Self {
        Self {
            home: std::env::home_dir(),
            tmp: Some(std::env::temp_dir()),
            instance_dir,
            uid: rustix::process::geteuid().as_raw(),
        }
    }

    /// Returns a description of a canonical directory if the search never selects it.
    pub fn excluded(&self, directory: &Path) -> Option<&'static str> {
        Excluded::new(self).why(directory)
    }
}

/// A marker or a `.git` that does not count, because it belongs to another user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignMark {
    /// The marker or `.git`.
    pub path: PathBuf,
    /// Its owner.
    pub uid: u32,
}

/// The location of a project. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The directory beneath which files are read; in a worktree, the worktree's own root.
    pub root: PathBuf,
    /// The project's display name: its directory's name, followed by the part's path.
    pub name: String,
    /// The repository that the project is, or is a part of.
    pub git: Option<GitPlace>,
    /// The initialised part of that repository, relative to its root.
    pub part: Option<PathBuf>,
    /// The user whose files count here.
    pub uid: u32,
    /// Marks that the search passed over.
    pub passed: Box<PassedOver>,
}

/// Marks that a search met and did not use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Markers and repositories that belong to other users.
    pub foreign: Vec<ForeignMark>,
    /// The nearest marked directory above the repository that is not a workspace.
    pub marked: Option<PathBuf>,
    /// The nearest directory above the repository whose workspace mark was made for another
    /// directory.
    pub stale_workspace: Option<PathBuf>,
}

impl Located {
    /// Returns the project that consists of this directory alone.
    pub(crate) fn plain(root: &Path, uid: u32) -> Self {
        let (root, name) = (root.to_owned(), name_of(root));
        Self { root, name, git: None, part: None, uid, passed: Box::default() }
    }

    /// Returns the path of the directory that identifies this project, and the initialised part.
    pub(crate) fn directory(&self) -> (&Path, Option<&Path>) {
        let path = self.git.as_ref().map_or(&self.root, |git| &git.common_dir);
        (path, self.part.as_deref())
    }

    /// Returns whether both are of one project, such as two worktrees.
    pub(crate) fn is_with(&self, other: &Self) -> bool {
        self.directory() == other.directory()
    }

    /// Reads the directory that identifies this project, in its current state.
    pub fn place(&self) -> io::Result<ProjectDir> {
        let path = self.git.as_ref().map_or(&self.root, |git| &git.common_dir);
        ProjectDir::of(path.clone(), self.git.is_some(), self.part.clone())
    }

    /// Returns the root under which the user knows the project: the main one of several worktrees.
    pub fn main_root(&self) -> PathBuf {
        let Some(git) = &self.git else { return self.root.clone() };
        let repository = git.main_root();
        match &self.part {
            Some(part) => repository.join(part),
            None => repository.to_owned(),
        }
    }
}

/// The reason why a directory has no project.
#[derive(Debug, thiserror::Error)]
pub enum NotAProject {
    /// The directory cannot be entered, or is not a directory.
    #[error("use {} as a project: {source}", path.display())]
    Unreadable {
        /// The requested path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The search never selects this directory.
    #[error(
        "find a project: {} is {what}, not a project; work in the project's directory, or name \
         it with `--project DIR` or ANCHORD_PROJECT",
        path.display()
    )]
    Excluded {
        /// The directory.
        path: PathBuf,
        /// The kind of directory it is.
        what: &'static str,
    },
}

/// The words for the home directory, which is no project.
const HOME: &str = "your home directory";

impl NotAProject {
    /// Returns whether the directory is the user's home. Notes that are taken there are the user's
    /// own.
    pub(crate) fn is_home(&self) -> bool {
        matches!(self, Self::Excluded { what: HOME, .. })
    }
}

/// Finds the project of a directory in which somebody works.
pub fn locate(start: &Path, facts: &Surroundings) -> Result<Located, NotAProject> {
    search(start, Start::Current, facts)
}

/// Finds the project of a directory that the user named. It is one even where no project would be
/// looked for, as in the home directory.
pub fn locate_named(start: &Path, facts: &Surroundings) -> Result<Located, NotAProject> {
    search(start, Start::Named, facts)
}

/// The relation of the user to the directory in which a search starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// They work there.
    Current,
    /// They named it.
    Named,
}

fn search(start: &Path, how: Start, facts: &Surroundings) -> Result<Located, NotAProject> {
    let is_named = how == Start::Named;
    let start = directory(start)
        .map_err(|source| NotAProject::Unreadable { path: start.to_owned(), source })?;
    let excluded = Excluded::new(facts);
    let candidates: Vec<&Path> = start
        .ancestors()
        .filter(|path| (is_named && *path == start) || excluded.why(path).is_none())
        .collect();

    let mut walk = Walk::of(facts.uid);
    let search = walk.search(&candidates);
    let found = search.map_err(|(path, source)| NotAProject::Unreadable { path, source })?;
    let located = match found {
        Some(located) => located,
        None => match excluded.why(&start) {
            Some(what) if !is_named => {
                return Err(NotAProject::Excluded { path: start, what });
            }
            _ => Located::plain(&start, facts.uid),
        },
    };
    Ok(Located { passed: Box::new(walk.passed), ..located })
}

/// Returns the project that a directory is once it has a marker: in a repository, the part that
/// begins there.
pub fn locate_part(directory: &Path, facts: &Surroundings) -> Result<Located, NotAProject> {
    let located = locate(directory, facts)?;
    let root = self::directory(directory)
        .map_err(|source| NotAProject::Unreadable { path: directory.to_owned(), source })?;
    match &located.git {
        Some(git) if located.root != root => {
            let part = in_git(git.clone(), &root, facts.uid);
            Ok(Located { passed: located.passed, ..part })
        }
        _ => Ok(located),
    }
}

/// A search upwards for marks and repositories of one user.
struct Walk {
    uid: u32,
    passed: PassedOver,
}

/// A directory that could not be read, with the error.
type Unseen = (PathBuf, io::Error);

impl Walk {
    fn of(uid: u32) -> Self {
        Self { uid, passed: PassedOver::default() }
    }

    /// Returns the project that marks or git's layout show. `directories` run from the innermost
    /// outwards.
    fn search(&mut self, directories: &[&Path]) -> Result<Option<Located>, Unseen> {
        let mut marked = None;
        for (nth, path) in directories.iter().enumerate() {
            if marked.is_none() && self.is_marked(path)? {
                marked = Some(*path);
            }
            let Some(found) = self.git_at(path)? else { continue };
            if let Some(marked) = marked {
                return Ok(Some(self.beneath(found, marked)));
            }
            let above = directories.get(nth + 1..).unwrap_or_default();
            let workspace = self.workspace(above)?;
            return Ok(Some(workspace.unwrap_or_else(|| self.beneath(found, path))));
        }
        Ok(marked.map(|marked| Located::plain(marked, self.uid)))
    }

    /// Returns the project of the nearest workspace. `directories` are those above a git root.
    fn workspace(&mut self, directories: &[&Path]) -> Result<Option<Located>, Unseen> {
        for (nth, path) in directories.iter().enumerate() {
            let mark = workspace::read(path, self.uid);
            match mark.map_err(|source| (path.to_path_buf(), source))? {
                workspace::Mark::Valid => {
                    let around = directories.get(nth..).unwrap_or_default();
                    for above in around {
                        if let Some(found) = self.git_at(above)? {
                            return Ok(Some(self.beneath(found, path)));
                        }
                    }
                    return Ok(Some(Located::plain(path, self.uid)));
                }
                workspace::Mark::Stale => {
                    let stale = &mut self.passed.stale_workspace;
                    stale.get_or_insert_with(|| path.to_path_buf());
                }
                workspace::Mark::None => {
                    // Another user's marker up here changes nothing.
                    if self.passed.marked.is_none() && Self::of(self.uid).is_marked(path)? {
                        self.passed.marked = Some(path.to_path_buf());
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a directory has a marker of ours.
    fn is_marked(&mut self, directory: &Path) -> Result<bool, Unseen> {
        let path = directory.join(MARKER);
        let seen = metadata(&path).map_err(|source| (path.clone(), source))?;
        Ok(match seen {
            Some(meta) if meta.is_dir() && meta.uid() != self.uid => {
                self.disregard(ForeignMark { path, uid: meta.uid() });
                false
            }
            Some(meta) => meta.is_dir(),
            None => false,
        })
    }

    fn git_at(&mut self, directory: &Path) -> Result<Option<GitLayout>, Unseen> {
        let found = git::at(directory, self.uid);
        match found.map_err(|source| (directory.join(DOT_GIT), source))? {
            Some(GitLayout::Foreign(mark)) => {
                self.disregard(mark);
                Ok(None)
            }
            found => Ok(found),
        }
    }

    fn disregard(&mut self, mark: ForeignMark) {
        if !self.passed.foreign.contains(&mark) {
            self.passed.foreign.push(mark);
        }
    }

    /// Returns the project at `root`, which is where git's layout was found or beneath it.
    fn beneath(&self, found: GitLayout, root: &Path) -> Located {
        match found {
            GitLayout::Repository(git) => in_git(git, root, self.uid),
            GitLayout::Claim | GitLayout::Foreign(_) => Located::plain(root, self.uid),
        }
    }
}

/// Returns the project that is exactly this directory. A repository's root keeps that repository,
/// and directories above do not matter.
pub fn locate_exactly(directory: &Path, uid: u32) -> Result<Located, NotAProject> {
    let root = self::directory(directory)
        .map_err(|source| NotAProject::Unreadable { path: directory.to_owned(), source })?;
    if root.iter().any(|name| name == DOT_GIT) {
        return Err(NotAProject::Excluded { path: root, what: "within a git directory" });
    }
    let mut walk = Walk::of(uid);
    let found = walk.git_at(&root);
    let found = found.map_err(|(path, source)| NotAProject::Unreadable { path, source })?;
    let located = match found {
        Some(found) => walk.beneath(found, &root),
        None => Located::plain(&root, uid),
    };
    Ok(Located { passed: Box::new(walk.passed), ..located })
}

/// Returns our repository around a canonical directory, regardless of the directory's own project.
pub(super) fn repository_around(directory: &Path, uid: u32) -> io::Result<Option<GitPlace>> {
    for path in directory.ancestors() {
        if let Some(GitLayout::Repository(git)) = git::at(path, uid)? {
            return Ok(Some(git));
        }
    }
    Ok(None)
}

/// Returns the project at `root`, which is the repository's root or beneath it.
fn in_git(git: GitPlace, root: &Path, uid: u32) -> Located {
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
    let part = part.map(Path::to_owned);
    Located { name, part, git: Some(git), ..Located::plain(root, uid) }
}

fn name_of(root: &Path) -> String {
    root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned()
}

/// Canonicalises a directory's path. Fails if the path is not a directory.
fn directory(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    if fs::metadata(&path)?.is_dir() { Ok(path) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Reads a path's metadata without following a link. Returns `None` if nothing of ours is there.
fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    unless_absent(fs::symlink_metadata(path))
}

/// Turns an error into `None` if it means that nothing of ours is there.
fn unless_absent<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                NotFound | NotADirectory | PermissionDenied | InvalidFilename
            ) || matches!(
                rustix::io::Errno::from_io_error(&error),
                Some(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO)
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The directories that the walk passes over, each with its description.
struct Excluded(Vec<(PathBuf, &'static str)>);

impl Excluded {
    fn new(facts: &Surroundings) -> Self {
        let named = [
            (facts.home.as_deref(), HOME),
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
