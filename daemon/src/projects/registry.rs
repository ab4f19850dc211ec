//! The daemon's own memory: projects and their places, links, and the sessions that have written.
//! It has a store of its own, with one journal entry for each change.
//!
//! A session is listed here from its first write until it ends. The sessions that have not ended
//! therefore name the projects that may hold staged work. Ended sessions stay in a ring of
//! [`ENDED_SESSIONS_MAX`] slots: one more overwrites the oldest, together with its row.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::ENDED_SESSIONS_MAX;
use crate::store::{Row, StateMachine};

pub(super) mod path_text;

/// A project's permanent id, wherever the project moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectId(pub Uuid);

impl ProjectId {
    /// The reserved id of the user's own memory. No directory can claim it: an id file with this id
    /// is ignored.
    pub const PERSONAL: Self = Self(Uuid::max());

    /// Returns whether this is the user's own memory, which is not a project.
    pub fn is_personal(self) -> bool {
        self == Self::PERSONAL
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The directory that identifies a project. In git it is the common directory, which all worktrees
/// share; elsewhere it is the project's own. An id found in another directory is a copy's, unless
/// the directory was moved and so has the same device and inode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectDir {
    /// The canonical path.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The device of `path`; 0 if it was not recorded.
    #[serde(default)]
    pub dev: u64,
    /// The inode of `path`; 0 if it was not recorded.
    #[serde(default)]
    pub ino: u64,
    /// Whether `path` is git's common directory.
    pub git: bool,
    /// The initialised part of the repository, relative to its root.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::optional")]
    pub part: Option<PathBuf>,
}

impl ProjectDir {
    /// Returns whether the recorded directory is still at its path.
    pub(crate) fn is_there(&self) -> std::io::Result<bool> {
        let now = Self::of(self.path.clone(), self.git, self.part.clone())?;
        Ok(now.is_still(self))
    }

    /// Returns whether both have the same path and part.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.path == other.path && self.part == other.part
    }

    /// Returns whether this is the recorded directory, still at its recorded path. The device is
    /// not compared: file systems without one of their own get another at each boot.
    pub(super) fn is_still(&self, recorded: &Self) -> bool {
        self.is(recorded) && [0, self.ino].contains(&recorded.ino)
    }

    /// Returns whether this is the recorded directory, wherever it is now.
    pub(super) fn is_same_directory(&self, recorded: &Self) -> bool {
        self.part == recorded.part
            && self.ino != 0
            && (self.dev, self.ino) == (recorded.dev, recorded.ino)
    }
}

/// A project that has been written to.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and so on disk")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRecord {
    /// The project's id.
    pub id: ProjectId,
    /// The display name: the name of the project's directory.
    pub name: String,
    /// The directory of its files; the main one of several worktrees.
    #[serde(with = "path_text")]
    pub root: PathBuf,
    /// The place where its id is kept, or would be.
    pub place: ProjectDir,
    /// Whether the id is kept there. Otherwise only the place's path and inode identify it.
    pub carries_id: bool,
    /// The time when it was last found at a new place.
    pub time: Timestamp,
    /// Whether a memory is stored. Read only from records of earlier builds, which kept
    /// [`RegistryChange::MemoryStored`] here.
    #[serde(default, skip_serializing)]
    pub stored: bool,
    /// Whether the user took it off the list. Its record stays, so that only the directory that it
    /// belonged to finds its memory again by the id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
    /// Whether the user shares its memory through files in the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Whether the user has stopped sharing it. So files that stay there are not those of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unshared: bool,
}

/// A session that has written, and its process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The session.
    pub session: SessionId,
    /// The project that it writes to.
    pub project: ProjectId,
    /// The agent, as it names itself.
    pub client: String,
    /// The agent's own id of the conversation, if it has sent one.
    pub agent_session: Option<String>,
    /// The shim's random id, under which its writes are numbered.
    pub instance: Arc<str>,
    /// The shim's process.
    pub pid: u32,
    /// The process's start time, in clock ticks since boot. With the pid it names one process.
    pub pid_start: Option<u64>,
    /// The boot for which the pid is valid.
    pub boot: Option<String>,
    /// The PID namespace in which the pid is valid.
    pub pidns: Option<u64>,
    /// The working directory.
    #[serde(with = "path_text")]
    pub cwd: PathBuf,
    /// The time of the session's first write.
    pub first_write: Timestamp,
    /// Whether its project was found by a search that ends at a git root. Earlier builds continued
    /// above it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound_by_git_root: bool,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedRecord {
    /// A counter of ended sessions, from 1.
    pub number: u64,
    /// The session's record.
    pub session: SessionRecord,
    /// The time of its end.
    pub ended: Timestamp,
    /// Whether it saved its work itself.
    pub saved: bool,
}

/// One change of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryChange {
    /// A project was written to for the first time, or was found at another place.
    ProjectSeen(ProjectRecord),
    /// A project is no longer listed. Its memory stays on disk, and its directory finds it again.
    ProjectForgotten {
        /// The project.
        id: ProjectId,
    },
    /// A project is no longer listed, and its memory is gone from disk. Write this after deleting
    /// it.
    ProjectDeleted {
        /// The project.
        id: ProjectId,
    },
    /// A memory is on disk: a project's, or the user's own. From now on it is an error if it is
    /// missing.
    MemoryStored {
        /// The project, or the reserved id.
        id: ProjectId,
    },
    /// The user made a place use another project's memory.
    Linked {
        /// The directory in which the place would keep its id.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// The project whose memory it uses. The nil id, which no project has, restores its own
        /// memory.
        id: ProjectId,
    },
    /// A session made its first write, or continues in another process.
    SessionBound(SessionRecord),
    /// A session has ended, and none of its work is staged.
    SessionEnded {
        /// The session.
        session: SessionId,
        /// The time of its end.
        time: Timestamp,
        /// Whether it saved its work itself.
        saved: bool,
    },
}

/// Everything that the daemon remembers about itself, at one journal entry. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    seq: Seq,
    ended_count: u64,
    projects: OrdMap<ProjectId, Arc<ProjectRecord>>,
    /// Projects that are no longer listed.
    forgotten: OrdMap<ProjectId, Arc<ProjectRecord>>,
    stored: OrdSet<ProjectId>,
    links: OrdMap<String, ProjectId>,
    sessions: OrdMap<SessionId, Arc<SessionRecord>>,
    ended: OrdMap<u64, Arc<EndedRecord>>,
}

impl Registry {
    /// Returns every project, by id.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<ProjectRecord>> {
        self.projects.values()
    }

    /// Returns one project.
    pub fn project(&self, id: ProjectId) -> Option<&Arc<ProjectRecord>> {
        self.projects.get(&id)
    }

    /// Returns a project, even if it is no longer listed.
    pub(crate) fn known_or_forgotten(&self, id: ProjectId) -> Option<&Arc<ProjectRecord>> {
        self.projects.get(&id).or_else(|| self.forgotten.get(&id))
    }

    /// Returns whether a project's memory, or the user's own, has been on disk.
    pub(crate) fn is_stored(&self, id: ProjectId) -> bool {
        self.stored.contains(&id)
    }

    /// Returns the project whose files are here; the one found here last if there are several.
    pub fn project_at(&self, path: &Path) -> Option<&Arc<ProjectRecord>> {
        self.projects
            .values()
            .filter(|project| project.root == path)
            .max_by_key(|project| (project.time, project.id))
    }

    /// Returns the project without an id of its own whose place is this one.
    pub(super) fn project_without_id(&self, place: &ProjectDir) -> Option<&Arc<ProjectRecord>> {
        self.projects
            .values()
            .chain(self.forgotten.values())
            .filter(|project| !project.carries_id)
            .filter(|project| place.is_still(&project.place))
            .max_by_key(|project| (project.time, project.id))
    }

    /// Returns the project whose place or files were here; the one found here last if there are
    /// several.
    pub(super) fn project_before(
        &self,
        places: [&ProjectDir; 2],
        root: &Path,
    ) -> Option<&Arc<ProjectRecord>> {
        let was_here = |project: &&Arc<ProjectRecord>| {
            places.iter().any(|place| project.place.is(place)) || project.root == root
        };
        self.projects.values().filter(was_here).max_by_key(|project| (project.time, project.id))
    }

    /// Returns the other project with a memory that was at this place before `id`; the latest one
    /// if there are several.
    pub(super) fn memory_before(&self, place: &ProjectDir, id: ProjectId) -> Option<ProjectId> {
        let others = self.projects.values().filter(|project| {
            project.id != id
                && project.place.is(place)
                && project.place.git == place.git
                && self.is_stored(project.id)
        });
        others.max_by_key(|project| (project.time, project.id)).map(|project| project.id)
    }

    /// Returns the project that a place is linked to, by the place's id directory. Returns `None`
    /// once that project is forgotten or deleted, since writes there would be listed nowhere.
    pub fn link(&self, path: &Path) -> Option<ProjectId> {
        let id = self.links.get(&path_text::encode(path)).copied()?;
        self.projects.contains_key(&id).then_some(id)
    }

    /// Returns the changes that remove every link to a project. Used when it is deleted, since
    /// another project may get its id again.
    pub(crate) fn unlink(&self, id: ProjectId) -> Vec<RegistryChange> {
        let to = self.links().filter(|(_, to)| *to == id);
        to.map(|(path, _)| RegistryChange::Linked { path, id: ProjectId(Uuid::nil()) }).collect()
    }

    /// Returns all links, as place and project.
    pub fn links(&self) -> impl Iterator<Item = (PathBuf, ProjectId)> {
        self.links.iter().map(|(path, id)| (path_text::decode(path), *id))
    }

    /// Returns the sessions that have not ended, by id.
    pub fn sessions(&self) -> impl Iterator<Item = &Arc<SessionRecord>> {
        self.sessions.values()
    }

    /// Returns a session that has not ended.
    pub fn session(&self, id: &SessionId) -> Option<&Arc<SessionRecord>> {
        self.sessions.get(id)
    }

    /// Returns the sessions that have not ended and carry this agent id. They are one conversation.
    pub fn sessions_by_agent<'a>(
        &'a self,
        agent_session: &'a str,
    ) -> impl Iterator<Item = &'a Arc<SessionRecord>> {
        self.sessions.values().filter(move |s| s.agent_session.as_deref() == Some(agent_session))
    }

    /// Returns whether a session worked in `root` while an earlier build bound it to the project
    /// `above`.
    pub(super) fn has_mixed(&self, above: &Path, root: &Path) -> bool {
        let Some(above) = self.project_at(above).map(|project| project.id) else { return false };
        let ended = self.ended.values().map(|ended| &ended.session);
        self.sessions.values().map(AsRef::as_ref).chain(ended).any(|session| {
            session.project == above
                && !session.is_bound_by_git_root
                && session.cwd.starts_with(root)
        })
    }

    /// Returns the ended sessions, oldest first; the last [`ENDED_SESSIONS_MAX`].
    pub fn ended(&self) -> Vec<&Arc<EndedRecord>> {
        let mut ended: Vec<_> = self.ended.values().collect();
        ended.sort_by_key(|session| session.number);
        ended
    }

    fn see(&mut self, project: ProjectRecord) {
        if project.stored {
            self.stored.insert(project.id);
        }
        let (here, there) = if project.forgotten {
            (&mut self.forgotten, &mut self.projects)
        } else {
            (&mut self.projects, &mut self.forgotten)
        };
        there.remove(&project.id);
        here.insert(project.id, Arc::new(ProjectRecord { stored: false, ..project }));
    }

    fn apply_one(&mut self, change: &RegistryChange) {
        match change {
            RegistryChange::ProjectSeen(project) => {
                self.see(project.clone());
            }
            RegistryChange::ProjectForgotten { id } => {
                if let Some(project) = self.projects.get(id).cloned() {
                    self.see(ProjectRecord { forgotten: true, ..ProjectRecord::clone(&project) });
                }
                self.stored.remove(id);
            }
            RegistryChange::ProjectDeleted { id } => {
                self.projects.remove(id);
                self.forgotten.remove(id);
                self.stored.remove(id);
            }
            RegistryChange::MemoryStored { id } => {
                self.stored.insert(*id);
            }
            RegistryChange::Linked { path, id } => {
                self.links.insert(path_text::encode(path), *id);
            }
            RegistryChange::SessionBound(session) => {
                self.sessions.insert(session.session.clone(), Arc::new(session.clone()));
            }
            RegistryChange::SessionEnded { session, time, saved } => {
                if let Some(record) = self.sessions.remove(session) {
                    self.ended_count += 1;
                    let ended = EndedRecord {
                        number: self.ended_count,
                        session: SessionRecord::clone(&record),
                        ended: *time,
                        saved: *saved,
                    };
                    self.ended.insert(slot(self.ended_count), Arc::new(ended));
                }
            }
        }
    }

    fn row(&self, key: &Key) -> Row {
        let value = match key {
            Key::Ended(slot) => self.ended.get(slot).map(json),
            Key::Link(path) => self.links.get(path).map(json),
            Key::Meta => Some(json(&Meta { seq: self.seq, ended: self.ended_count })),
            Key::Project(id) => self.known_or_forgotten(*id).map(json),
            Key::Session(id) => self.sessions.get(id).map(json),
            Key::Stored(id) => self.stored.get(id).map(json),
        };
        Row { key: key.to_string(), value }
    }
}

impl StateMachine for Registry {
    type Change = RegistryChange;
    /// A row as it is: there are few, and they are read in the order of their keys.
    type Part = Row;

    const NAME: &'static str = "registry";

    /// Returns `false`: a commit changes shared memory, and the registry holds none.
    fn is_commit(_: &[RegistryChange]) -> bool {
        false
    }

    fn seq(&self) -> Seq {
        self.seq
    }

    fn revision(&self) -> Revision {
        Revision(0)
    }

    fn apply(&mut self, seq: Seq, changes: &[RegistryChange]) {
        self.seq = seq;
        for change in changes {
            self.apply_one(change);
        }
    }

    fn touched_rows(&self, changes: &[RegistryChange]) -> Vec<Row> {
        let mut keys = BTreeSet::from([Key::Meta]);
        let mut endings = 0;
        for change in changes {
            match change {
                RegistryChange::ProjectSeen(project) => {
                    // The project's row no longer has what an earlier build kept there.
                    keys.extend([Key::Project(project.id), Key::Stored(project.id)]);
                }
                RegistryChange::ProjectForgotten { id } | RegistryChange::ProjectDeleted { id } => {
                    keys.extend([Key::Project(*id), Key::Stored(*id)]);
                }
                RegistryChange::MemoryStored { id } => {
                    keys.insert(Key::Stored(*id));
                }
                RegistryChange::Linked { path, .. } => {
                    keys.insert(Key::Link(path_text::encode(path)));
                }
                RegistryChange::SessionBound(session) => {
                    keys.insert(Key::Session(session.session.clone()));
                }
                RegistryChange::SessionEnded { session, .. } => {
                    keys.insert(Key::Session(session.clone()));
                    endings += 1;
                }
            }
        }
        // The ended sessions took at most this many slots, and those are the newest.
        let newest = self.ended_count.saturating_sub(endings) + 1..=self.ended_count;
        keys.extend(newest.map(|number| Key::Ended(slot(number))));
        keys.iter().map(|key| self.row(key)).collect()
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_> {
        let ended = self.ended.keys().map(|slot| Key::Ended(*slot));
        let links = self.links.keys().map(|path| Key::Link(path.clone()));
        let projects: BTreeSet<ProjectId> =
            self.projects.keys().chain(self.forgotten.keys()).copied().collect();
        let projects = projects.into_iter().map(Key::Project);
        let sessions = self.sessions.keys().map(|id| Key::Session(id.clone()));
        let stored = self.stored.iter().map(|id| Key::Stored(*id));
        let keys =
            ended.chain(links).chain([Key::Meta]).chain(projects).chain(sessions).chain(stored);
        Box::new(keys.map(|key| self.row(&key)))
    }

    fn part(key: &str, value: &str) -> Result<Row, String> {
        Ok(Row::of(key, value))
    }

    fn restore(rows: &mut dyn Iterator<Item = Row>) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        for Row { key, value } in rows {
            if let Some(value) = value {
                values.insert(key, value);
            }
        }
        if values.is_empty() {
            return Ok(Self::default());
        }
        let mut registry = Self::default();
        let mut meta = None;
        for (key, value) in &values {
            match key.split_once('/') {
                Some(("ended", _)) => {
                    let ended: EndedRecord = parse(key, value)?;
                    registry.ended.insert(slot(ended.number), Arc::new(ended));
                }
                Some(("link", path)) => {
                    registry.links.insert(path.to_owned(), parse(key, value)?);
                }
                Some(("project", _)) => {
                    registry.see(parse(key, value)?);
                }
                Some(("session", _)) => {
                    let session: SessionRecord = parse(key, value)?;
                    registry.sessions.insert(session.session.clone(), Arc::new(session));
                }
                Some(("stored", _)) => {
                    registry.stored.insert(parse(key, value)?);
                }
                None if key == META => meta = Some(parse::<Meta>(key, value)?),
                _ => return Err(format!("the registry has no row `{key}`")),
            }
        }
        let meta = meta.ok_or("the registry's row `meta` is missing")?;
        registry.seq = meta.seq;
        registry.ended_count = meta.ended;
        Ok(registry)
    }

    /// Returns nothing: the records are copies of those in the projects, so the remaining ones are
    /// kept.
    fn changes_to(&self, _: &Self) -> Vec<RegistryChange> {
        Vec::new()
    }

    /// Returns nothing: no record of the registry has versions.
    fn contradicted_by(&self, _: &Self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn idle_commit(&self) -> Option<Vec<RegistryChange>> {
        None
    }

    fn history_keys(_: &RegistryChange) -> Vec<String> {
        Vec::new()
    }
}

const META: &str = "meta";

/// The rows of the registry, in the order of their keys' text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Ended(u64),
    Link(String),
    Meta,
    Project(ProjectId),
    Session(SessionId),
    Stored(ProjectId),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(slot) => write!(f, "ended/{slot:04}"),
            Self::Link(path) => write!(f, "link/{path}"),
            Self::Meta => f.write_str(META),
            Self::Project(id) => write!(f, "project/{id}"),
            Self::Session(id) => write!(f, "session/{id}"),
            Self::Stored(id) => write!(f, "stored/{id}"),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Meta {
    seq: Seq,
    ended: u64,
}

fn slot(number: u64) -> u64 {
    number % ENDED_SESSIONS_MAX
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("rows are structs with text keys and every path as text")
}

fn parse<T: for<'de> Deserialize<'de>>(key: &str, value: &str) -> Result<T, String> {
    serde_json::from_str(value).map_err(|error| format!("the registry's row `{key}`: {error}"))
}

#[cfg(test)]
mod tests;
