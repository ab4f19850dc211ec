//! A project's id: read without touching the project, and assigned at the project's first write.
//!
//! The id is a UUID in a file. In a git repository it is in git's common directory:
//! `anchord/project-id`, or `anchord/sub/<path>/project-id` for an initialised part. Elsewhere it
//! is in `.anchord/project-id`. A folder that becomes a repository later keeps its id.
//!
//! An id is a hint. The registry knows which directory carried it. An id found in any other
//! directory belongs to a copy, which gets an id of its own. A copy changes nothing about the
//! original, so the original is never mistaken for the copy when it returns. An id that git tracks
//! came with a clone and does not count. Without a writable id file, only the registry remembers
//! the place.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::Timestamp;
use uuid::Uuid;

use super::git_index;
use super::locate::{Located, repository_around};
use super::registry::{ProjectDir, ProjectId, ProjectRecord, Registry, RegistryChange};

mod id_file;

use id_file::{Kept, WriteIdError};

/// The registry's view of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The project was written to before, at this path.
    Known,
    /// This instance has never written to the project. The place may carry another instance's id.
    New,
    /// The project was written to before, and the same directory was at another path.
    Moved {
        /// The earlier path.
        from: PathBuf,
    },
    /// The place carries the id of a project in another directory. It gets an id and a memory of
    /// its own.
    Copy {
        /// The project whose id the place carries.
        of: ProjectId,
        /// The directory where that project was last found.
        original: PathBuf,
    },
    /// Another project was here, and its id is gone: a fresh clone, or a file that was cleaned
    /// away.
    Lost {
        /// The project that was here.
        of: ProjectId,
    },
}

impl Status {
    /// Returns the text that the user should see, if any.
    pub fn notice(&self, root: &Path) -> Option<String> {
        match self {
            Self::Known | Self::New => None,
            Self::Moved { from } => Some(format!(
                "the project moved here from {}; its memory came along",
                from.display()
            )),
            Self::Lost { of } => Some(format!(
                "{root} had a memory, but its id is missing; to use that memory again: \
                 anchord project link {word} --project {of}",
                root = root.display(),
                word = word(root),
            )),
            Self::Copy { of, original } if original == root => Some(format!(
                "{root} is not the directory that was here before (it was restored, unpacked or \
                 cloned again), so it starts with an empty memory; to use the earlier one: \
                 anchord project link {word} --project {of}",
                root = root.display(),
                word = word(root),
            )),
            Self::Copy { of, original } => Some(format!(
                "{root} carries the id of {original}, which is another directory, so it has a \
                 memory of its own; to share that one's: anchord project link {word} --project {of}",
                root = root.display(),
                word = word(root),
                original = original.display(),
            )),
        }
    }
}

/// The project that a place belongs to, as far as reading alone can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The project's id. `None` before the first write, and for a copy not yet written to.
    pub id: Option<ProjectId>,
    /// The registry's view of the place.
    pub status: Status,
    /// An id file here that does not count, because git tracks it.
    pub tracked: Option<PathBuf>,
    /// Another project with a memory that was at this place before, and that the user has neither
    /// linked nor forgotten.
    pub earlier: Option<ProjectId>,
}

impl Resolution {
    /// Words what the user should know about the place. Returns `None` if there is nothing to say.
    pub fn notice(&self, located: &Located, registry: &Registry) -> Option<String> {
        let root = &located.root;
        let mut lines: Vec<String> = self.status.notice(root).into_iter().collect();
        if let Some(of) = self.earlier {
            lines.push(format!(
                "{root} had another memory before this one; to use that one again: anchord project \
                 link {word} --project {of}; to hear no more of it: anchord project forget \
                 --project {of}",
                root = root.display(),
                word = word(root),
            ));
        }
        if self.status != Status::Known {
            lines.extend(located.passed.foreign.iter().map(|mark| {
                format!(
                    "{} belongs to another user (uid {}), so it is ignored; to work in that project \
                     anyway, name it with `--project DIR` or ANCHORD_PROJECT",
                    mark.path.display(),
                    mark.uid,
                )
            }));
        }
        if let Some(workspace) = &located.passed.stale_workspace {
            lines.push(format!(
                "the workspace mark in {dir} was made for another directory (it was copied, \
                 restored or unpacked), so it is ignored; if {dir} is a workspace: \
                 anchord init --workspace --project {word}",
                dir = workspace.display(),
                word = word(workspace),
            ));
        }
        if let Some(file) = &self.tracked {
            lines.push(format!(
                "git tracks {file}, so its id may be another directory's and is ignored; to \
                 untrack it: git rm --cached {word}",
                file = file.display(),
                word = word(file),
            ));
        }
        let covered = located.passed.marked.as_ref().filter(|_| self.status == Status::New);
        if let Some(above) = covered.filter(|above| registry.has_mixed(above, root)) {
            lines.push(format!(
                "earlier versions of anchord used the memory of {above} for {root}; to move what was \
                 written here: anchord project split --project {word}; to share that memory with all \
                 repositories beneath {above}: anchord init --workspace --project {word}",
                above = above.display(),
                word = word(above),
                root = root.display(),
            ));
        }
        joined(lines)
    }
}

/// Quotes a path as one word of a shell command line. The notice tells its reader to run that
/// command, and a directory's name must not change what the command does.
fn word(path: &Path) -> String {
    let path = path.to_string_lossy();
    // Only a NUL cannot be quoted, and no path contains one.
    shlex::try_quote(&path).map_or_else(|_| path.to_string(), Cow::into_owned)
}

/// Joins lines. Returns `None` if there are none.
fn joined(lines: impl IntoIterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.into_iter().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The place where a project's id is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdPlace {
    /// The project carries its id, which survives moves.
    InProject,
    /// The id could not be written; only the registry remembers the place.
    InRegistry {
        /// The reason for the failure.
        why: String,
    },
    /// Repositories are, or may be, beneath the project, so no marker was created. Only the
    /// registry remembers the place.
    AboveRepositories {
        /// The repository that was found, or the reason why the search was inconclusive.
        what: String,
    },
    /// The place is linked to another project and carries no id of its own.
    Linked,
}

impl IdPlace {
    /// Words what the user should know about a project that is new to the registry.
    fn notice(&self, root: &Path) -> Option<String> {
        let Self::AboveRepositories { what } = self else { return None };
        Some(format!(
            "{what}, so anchord leaves no mark in {root} and knows this memory by its path. \
             Each repository keeps its own memory; to use this one for everything beneath {root}: \
             anchord init --workspace --project {word}",
            root = root.display(),
            word = word(root),
        ))
    }
}

/// A project that can be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The project's id.
    pub id: ProjectId,
    /// The registry's view of the place before this.
    pub status: Status,
    /// The place where the id is kept.
    pub stored: IdPlace,
    /// The change that the registry must record before the first write is answered.
    pub change: Option<RegistryChange>,
    /// A notice for the user.
    pub notice: Option<String>,
}

/// The project's directory cannot be read, so its identity is unknown.
#[derive(Debug, thiserror::Error)]
pub enum EstablishError {
    /// The directory or the id file is unreadable.
    #[error("look at the project's directory {}: {source}", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// git's list of tracked files is unreadable.
    #[error(
        "tell whether git tracks {}: failed to {why}; if the file came from another machine, remove it",
        file.display()
    )]
    UnknownIfTracked {
        /// The id file.
        file: PathBuf,
        /// The reason for the failure.
        why: String,
    },
}

/// Identifies the project at a place and writes nothing.
pub fn identify(located: &Located, registry: &Registry) -> Result<Resolution, EstablishError> {
    Here::read(located)?.resolve(registry)
}

/// A project that was found at another path than the registry has.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// The registry's record, as it was read.
    pub(crate) before: Arc<ProjectRecord>,
    /// The record with the new place. All else is as before.
    pub(crate) now: ProjectRecord,
}

/// Returns the move that `resolution` found, if it found one. The project itself stays untouched,
/// so that a read can record it.
pub(crate) fn moved(
    located: &Located,
    registry: &Registry,
    resolution: &Resolution,
    time: Timestamp,
) -> Option<Move> {
    if !matches!(resolution.status, Status::Moved { .. }) {
        return None;
    }
    let before = registry.known_or_forgotten(resolution.id?)?;
    let places = [located.place(), ProjectDir::of(located.root.clone(), false, None)];
    let mut found = places.into_iter().filter_map(Result::ok);
    let place = found.find(|place| place.is_same_directory(&before.place))?;
    let (name, root) = (located.name.clone(), located.main_root());
    let now = ProjectRecord { name, root, place, time, ..ProjectRecord::clone(before) };
    Some(Move { before: Arc::clone(before), now })
}

/// Assigns an id to a project that has none. Concurrent callers all get the id that was written
/// first. This reads files and takes time, so the writer of the registry checks again which id was
/// first.
pub fn establish(
    located: &Located,
    registry: &Registry,
    now: Timestamp,
) -> Result<Established, EstablishError> {
    let here = Here::read(located)?;
    if let Some(id) = registry.link(&here.place.id_dir()) {
        let (status, stored) = (Status::Known, IdPlace::Linked);
        return Ok(Established { id, status, stored, change: None, notice: None });
    }
    // The first look of a session has named an earlier memory.
    let resolution = Resolution { earlier: None, ..here.resolve(registry)? };
    let wanted = resolution.id.unwrap_or_else(|| ProjectId(Uuid::new_v4()));
    let (id, stored) = here.store(wanted, registry);
    let record = ProjectRecord {
        id,
        name: located.name.clone(),
        root: located.main_root(),
        place: here.place,
        carries_id: stored == IdPlace::InProject,
        stored: false,
        forgotten: false,
        shared: registry.project(id).is_some_and(|known| known.shared),
        unshared: registry.project(id).is_some_and(|known| known.unshared),
        time: now,
    };
    let known = registry
        .project(id)
        .is_some_and(|known| known.place == record.place && known.carries_id == record.carries_id);
    let unmarked = stored.notice(&located.root).filter(|_| !known);
    let notice = joined(resolution.notice(located, registry).into_iter().chain(unmarked));
    let change = (!known).then_some(RegistryChange::ProjectSeen(record));
    Ok(Established { id, status: resolution.status, stored, change, notice })
}

/// Returns the change that makes the project at `located` use another project's memory from now on.
pub fn link(located: &Located, id: ProjectId) -> Result<RegistryChange, EstablishError> {
    let fail = |source| EstablishError::Unreadable { path: located.root.clone(), source };
    Ok(RegistryChange::Linked { path: located.place().map_err(fail)?.id_dir(), id })
}

/// Returns the change that gives a project another directory in place of its own. The directory
/// carries the id from its first write on.
pub(crate) fn replace_directory(
    located: &Located,
    project: &ProjectRecord,
    time: Timestamp,
) -> Result<RegistryChange, EstablishError> {
    let fail = |source| EstablishError::Unreadable { path: located.root.clone(), source };
    let place = located.place().map_err(fail)?;
    let (name, root) = (located.name.clone(), located.main_root());
    let now = ProjectRecord { name, root, place, carries_id: false, time, ..project.clone() };
    Ok(RegistryChange::ProjectSeen(now))
}

/// A project's place and the id found there.
struct Here {
    uid: u32,
    root: PathBuf,
    place: ProjectDir,
    /// The place where the project would be without git. It holds an id made before `git init`.
    plain: ProjectDir,
    found: Kept,
    /// An id file that does not count, because git tracks it.
    tracked: Option<PathBuf>,
}

impl Here {
    fn read(located: &Located) -> Result<Self, EstablishError> {
        let fail = |source| EstablishError::Unreadable { path: located.root.clone(), source };
        let uid = located.uid;
        let place = located.place().map_err(fail)?;
        let plain = ProjectDir::of(located.root.clone(), false, None).map_err(fail)?;
        let mut found = id_file::read(&place, uid).map_err(fail)?;
        let mut at = &place;
        if found == Kept::Nothing {
            at = &plain;
            found = id_file::read(&plain, uid).map_err(fail)?;
        }
        let tracked = if found == Kept::Nothing || at.git { None } else { tracked(at, uid)? };
        if tracked.is_some() {
            found = Kept::Nothing;
        }
        Ok(Self { uid, root: located.main_root(), place, plain, found, tracked })
    }

    fn resolve(&self, registry: &Registry) -> Result<Resolution, EstablishError> {
        if let Some(id) = registry.link(&self.place.id_dir()) {
            let (id, tracked) = (Some(id), self.tracked.clone());
            return Ok(Resolution { id, status: Status::Known, tracked, earlier: None });
        }
        let resolved = |id: Option<ProjectId>, status| {
            let earlier = id.filter(|_| status == Status::Known);
            let earlier = earlier.and_then(|id| registry.memory_before(&self.place, id));
            Ok(Resolution { id, status, tracked: self.tracked.clone(), earlier })
        };
        let remembered = registry
            .project_without_id(&self.place)
            .or_else(|| registry.project_without_id(&self.plain))
            .map(|known| known.id);
        let found = self.found.id();
        let known = found.and_then(|id| registry.known_or_forgotten(id));
        if let Some(known) = known {
            if self.places().any(|place| place.is_still(&known.place)) {
                return resolved(found, Status::Known);
            }
            if self.places().any(|place| place.is_same_directory(&known.place)) {
                let status = if is_gone(&known.place) {
                    Status::Moved { from: known.root.clone() }
                } else {
                    Status::Known
                };
                return resolved(found, status);
            }
        }
        // The same holds for a copy that could not be given an id, regardless of the id in its
        // file.
        if remembered.is_some() {
            return resolved(remembered, Status::Known);
        }
        if let Some(known) = known {
            return resolved(None, Status::Copy { of: known.id, original: known.root.clone() });
        }
        let lost = registry.project_before([&self.place, &self.plain], &self.root);
        match lost.map(|lost| lost.id) {
            None => resolved(found, Status::New),
            // Perhaps only the file's content is wrong.
            Some(of) if self.found == Kept::NoId => Err(self.without_id(of)),
            Some(of) => resolved(found, Status::Lost { of }),
        }
    }

    /// Stores the id in the project if possible.
    fn store(&self, wanted: ProjectId, registry: &Registry) -> (ProjectId, IdPlace) {
        let other = self.found.id().filter(|found| *found != wanted);
        // An id that came with a copy must go. One of another instance of anchord must not.
        let replaced = other.filter(|other| registry.known_or_forgotten(*other).is_some());
        let why = match (&self.tracked, other) {
            (Some(file), _) if !self.place.git => format!("git tracks {}", file.display()),
            (_, Some(_)) if replaced.is_none() => "its file holds another id".to_owned(),
            _ => match id_file::write(&self.place, wanted, replaced, self.uid) {
                Ok(id) => return (id, IdPlace::InProject),
                Err(
                    error @ (WriteIdError::AboveRepository(_)
                    | WriteIdError::MayBeAboveRepositories(_)),
                ) => return (wanted, IdPlace::AboveRepositories { what: error.to_string() }),
                Err(error) => error.to_string(),
            },
        };
        (wanted, IdPlace::InRegistry { why })
    }

    fn without_id(&self, of: ProjectId) -> EstablishError {
        let why = format!(
            "its file {} no longer contains an id; write {of} into it",
            self.place.id_dir().join(id_file::FILE).display()
        );
        EstablishError::Unreadable { path: self.place.path.clone(), source: io::Error::other(why) }
    }

    fn places(&self) -> impl Iterator<Item = &ProjectDir> {
        [&self.place, &self.plain].into_iter()
    }
}

/// Returns the id file of a place without git, if the repository around it tracks the file.
fn tracked(place: &ProjectDir, uid: u32) -> Result<Option<PathBuf>, EstablishError> {
    let file = place.id_dir().join(id_file::FILE);
    let around = repository_around(&place.path, uid);
    let around =
        around.map_err(|source| EstablishError::Unreadable { path: place.path.clone(), source })?;
    let Some(git) = around.filter(|git| !git.bare) else { return Ok(None) };
    let Ok(relative) = file.strip_prefix(&git.root) else { return Ok(None) };
    match git_index::tracks(&git, relative) {
        Ok(true) => Ok(Some(file)),
        Ok(false) => Ok(None),
        Err(error) => Err(EstablishError::UnknownIfTracked { file, why: error.to_string() }),
    }
}

impl ProjectRecord {
    /// Returns whether the project's directory is still at its place. One that was removed and
    /// recreated may have the same inode, so an id in it must be the project's.
    pub(crate) fn is_there(&self) -> io::Result<bool> {
        if !self.place.is_there()? {
            return Ok(false);
        }
        let uid = rustix::process::geteuid().as_raw();
        Ok(!self.carries_id || id_file::read(&self.place, uid)?.id() == Some(self.id))
    }
}

/// Returns whether a recorded directory is certainly no longer at its path. One directory may have
/// two paths (a bind mount), and a disk that does not answer proves nothing.
fn is_gone(recorded: &ProjectDir) -> bool {
    match ProjectDir::of(recorded.path.clone(), recorded.git, None) {
        Ok(now) => (now.dev, now.ino) != (recorded.dev, recorded.ino),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

impl ProjectDir {
    /// Reads a directory's device and inode. Fails if the path is not a directory.
    pub(super) fn of(path: PathBuf, git: bool, part: Option<PathBuf>) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::symlink_metadata(&path)?;
        if !meta.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { dev: meta.dev(), ino: meta.ino(), path, git, part })
    }

    /// Returns the directory that keeps the id file. It is unique to a project, so links are keyed
    /// by it.
    pub(super) fn id_dir(&self) -> PathBuf {
        id_file::components(self).fold(self.path.clone(), |path, part| path.join(part))
    }
}

#[cfg(test)]
mod tests;
