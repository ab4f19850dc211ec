//! What the daemon itself remembers: projects and their places, links, and the sessions that have
//! written. Kept in the daemon's own store, one journal entry for each change.
//!
//! A session stands here from its first write until it has ended, so the sessions that have not ended
//! name the projects that may hold staged work. Those that ended stay in a ring of
//! [`ENDED_SESSIONS_MAX`] slots: one more overwrites the oldest, row and all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::ENDED_SESSIONS_MAX;
use crate::store::{Machine, Row};

pub(super) mod path_text;

/// A project's name for life, wherever it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectId(pub Uuid);

impl ProjectId {
    /// The reserved id of the user's own memory. No directory can claim it: an id file with this id
    /// is ignored.
    pub const PERSONAL: Self = Self(Uuid::max());

    /// Whether this is the user's own memory, which is not a project.
    pub fn is_personal(self) -> bool {
        self == Self::PERSONAL
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The directory that makes a project what it is: git's common directory, which all worktrees
/// share, or without git the project's own. An id that is found in another directory is a copy's,
/// unless the directory was moved: then it has the same device and inode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Canonical.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The device of `path`; 0 where it was not recorded.
    #[serde(default)]
    pub dev: u64,
    /// The inode of `path`; 0 where it was not recorded.
    #[serde(default)]
    pub ino: u64,
    /// Whether `path` is git's common directory.
    pub git: bool,
    /// The initialised part of the repository, relative to its root.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::optional")]
    pub part: Option<PathBuf>,
}

impl Place {
    /// Whether both have the same name.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.path == other.path && self.part == other.part
    }

    /// Whether this is the recorded directory, where it was recorded. The device does not count:
    /// file systems without one of their own get another at each start of the machine.
    pub(super) fn is_still(&self, recorded: &Self) -> bool {
        self.is(recorded) && [0, self.ino].contains(&recorded.ino)
    }

    /// Whether this is the recorded directory, wherever it is now.
    pub(super) fn is_same_directory(&self, recorded: &Self) -> bool {
        self.part == recorded.part
            && self.ino != 0
            && (self.dev, self.ino) == (recorded.dev, recorded.ino)
    }
}

/// A project that has been written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRecord {
    /// Its id.
    pub id: ProjectId,
    /// What people call it: the name of its directory.
    pub name: String,
    /// Where its files are; of several worktrees, the main one.
    #[serde(with = "path_text")]
    pub root: PathBuf,
    /// Where its id is kept, or would be.
    pub place: Place,
    /// Whether the id is kept there; else the place's path and inode are all there is to know it by.
    pub carries_id: bool,
    /// When it was last found at a new place.
    pub time: Timestamp,
    /// Read from records of earlier builds, which kept [`RegistryChange::MemoryStored`] here.
    #[serde(default, skip_serializing)]
    pub stored: bool,
}

/// A session that has written, and the process it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The session.
    pub session: SessionId,
    /// The project it writes to.
    pub project: ProjectId,
    /// The agent, as it names itself.
    pub client: String,
    /// The agent's own id of the conversation, where it has told one.
    pub agent_session: Option<String>,
    /// The shim's random id, under which its writes are numbered.
    pub instance: Arc<str>,
    /// The shim's process.
    pub pid: u32,
    /// When that process started, in clock ticks since boot; with the pid it names one process.
    pub pid_start: Option<u64>,
    /// The boot on which the pid means something.
    pub boot: Option<String>,
    /// The PID namespace in which it does.
    pub pidns: Option<u64>,
    /// The working directory.
    #[serde(with = "path_text")]
    pub cwd: PathBuf,
    /// The session's first write.
    pub first_write: Timestamp,
    /// Whether its project was found by a search that ends at a git root. Earlier builds went on
    /// above.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound_by_git_root: bool,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedSession {
    /// Counts the sessions that ended, from 1.
    pub number: u64,
    /// What was known of it.
    pub session: SessionRecord,
    /// When it ended.
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
    /// A project is no longer listed; its memory stays on disk and is found again by its id.
    ProjectForgotten {
        /// The project.
        id: ProjectId,
    },
    /// A project is no longer listed and its memory is gone from disk: write this after deleting it.
    ProjectDeleted {
        /// The project.
        id: ProjectId,
    },
    /// A memory is on disk: a project's, or the user's own. It is an error from now on if it is
    /// missing.
    MemoryStored {
        /// The memory.
        id: ProjectId,
    },
    /// A place uses another project's memory, because the user said so.
    Linked {
        /// The directory in which the place would keep its id.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// Whose memory it uses; its own again with the nil id, which no project has.
        id: ProjectId,
    },
    /// A session made its first write, or goes on in another process.
    SessionBound(SessionRecord),
    /// A session is gone and none of its work is staged.
    SessionEnded {
        /// The session.
        session: SessionId,
        /// When.
        time: Timestamp,
        /// Whether it saved its work itself.
        saved: bool,
    },
}

/// Everything the daemon remembers about itself, at one journal entry. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    seq: Seq,
    ended_count: u64,
    projects: OrdMap<ProjectId, Arc<ProjectRecord>>,
    stored: OrdSet<ProjectId>,
    links: OrdMap<String, ProjectId>,
    sessions: OrdMap<SessionId, Arc<SessionRecord>>,
    ended: OrdMap<u64, Arc<EndedSession>>,
}

impl Registry {
    /// Every project, by id.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<ProjectRecord>> {
        self.projects.values()
    }

    /// One project.
    pub fn project(&self, id: ProjectId) -> Option<&Arc<ProjectRecord>> {
        self.projects.get(&id)
    }

    /// Whether a project's memory, or the user's own, has been on disk.
    pub(crate) fn is_stored(&self, id: ProjectId) -> bool {
        self.stored.contains(&id)
    }

    /// The project whose files are here; of several, the one found here last.
    pub fn project_at(&self, path: &Path) -> Option<&Arc<ProjectRecord>> {
        self.projects
            .values()
            .filter(|project| project.root == path)
            .max_by_key(|project| (project.time, project.id))
    }

    /// The project without an id of its own whose place is this one.
    pub(super) fn project_without_id(&self, place: &Place) -> Option<&Arc<ProjectRecord>> {
        self.projects
            .values()
            .filter(|project| !project.carries_id)
            .filter(|project| place.is_still(&project.place))
            .max_by_key(|project| (project.time, project.id))
    }

    /// The project that was seen at one of these places or had its files here; of several, the one
    /// that was found there last.
    pub(super) fn project_before(
        &self,
        places: [&Place; 2],
        root: &Path,
    ) -> Option<&Arc<ProjectRecord>> {
        let was_here = |project: &&Arc<ProjectRecord>| {
            places.iter().any(|place| project.place.is(place)) || project.root == root
        };
        self.projects.values().filter(was_here).max_by_key(|project| (project.time, project.id))
    }

    /// The project to which the place that would keep its id here was linked; none once that is forgotten or deleted,
    /// since what was written there would be listed nowhere.
    pub fn link(&self, path: &Path) -> Option<ProjectId> {
        let id = self.links.get(&path_text::encode(path)).copied()?;
        self.projects.contains_key(&id).then_some(id)
    }

    /// What takes every link to a project away, for when it is deleted: another may have its id again.
    pub(crate) fn unlink(&self, id: ProjectId) -> Vec<RegistryChange> {
        let to = self.links().filter(|(_, to)| *to == id);
        to.map(|(path, _)| RegistryChange::Linked { path, id: ProjectId(Uuid::nil()) }).collect()
    }

    /// All links: place and project.
    pub fn links(&self) -> impl Iterator<Item = (PathBuf, ProjectId)> {
        self.links.iter().map(|(path, id)| (path_text::decode(path), *id))
    }

    /// Sessions that have not ended, by id.
    pub fn sessions(&self) -> impl Iterator<Item = &Arc<SessionRecord>> {
        self.sessions.values()
    }

    /// A session that has not ended.
    pub fn session(&self, id: &SessionId) -> Option<&Arc<SessionRecord>> {
        self.sessions.get(id)
    }

    /// The sessions that have not ended and carry this id of the agent's; they are one conversation.
    pub fn sessions_by_agent<'a>(
        &'a self,
        agent_session: &'a str,
    ) -> impl Iterator<Item = &'a Arc<SessionRecord>> {
        self.sessions.values().filter(move |s| s.agent_session.as_deref() == Some(agent_session))
    }

    /// Whether sessions that earlier builds bound to the project of one directory worked in another
    /// one.
    pub(super) fn has_mixed(&self, above: &Path, root: &Path) -> bool {
        let Some(above) = self.project_at(above).map(|project| project.id) else { return false };
        let ended = self.ended.values().map(|ended| &ended.session);
        self.sessions.values().map(AsRef::as_ref).chain(ended).any(|session| {
            session.project == above
                && !session.is_bound_by_git_root
                && session.cwd.starts_with(root)
        })
    }

    /// Sessions that ended, oldest first; the last [`ENDED_SESSIONS_MAX`].
    pub fn ended(&self) -> Vec<&Arc<EndedSession>> {
        let mut ended: Vec<_> = self.ended.values().collect();
        ended.sort_by_key(|session| session.number);
        ended
    }

    fn see(&mut self, project: ProjectRecord) {
        if project.stored {
            self.stored.insert(project.id);
        }
        let project = ProjectRecord { stored: false, ..project };
        self.projects.insert(project.id, Arc::new(project));
    }

    fn apply_one(&mut self, change: &RegistryChange) {
        match change {
            RegistryChange::ProjectSeen(project) => {
                self.see(project.clone());
            }
            RegistryChange::ProjectForgotten { id } | RegistryChange::ProjectDeleted { id } => {
                self.projects.remove(id);
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
                    let ended = EndedSession {
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
            Key::Project(id) => self.projects.get(id).map(json),
            Key::Session(id) => self.sessions.get(id).map(json),
            Key::Stored(id) => self.stored.get(id).map(json),
        };
        Row { key: key.to_string(), value }
    }
}

impl Machine for Registry {
    type Change = RegistryChange;

    const NAME: &'static str = "registry";

    /// Never: a commit is a change of shared memory, and the registry holds none.
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
        // No more slots were written than sessions were said to end, and those are the newest.
        let newest = self.ended_count.saturating_sub(endings) + 1..=self.ended_count;
        keys.extend(newest.map(|number| Key::Ended(slot(number))));
        keys.iter().map(|key| self.row(key)).collect()
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_> {
        let ended = self.ended.keys().map(|slot| Key::Ended(*slot));
        let links = self.links.keys().map(|path| Key::Link(path.clone()));
        let projects = self.projects.keys().map(|id| Key::Project(*id));
        let sessions = self.sessions.keys().map(|id| Key::Session(id.clone()));
        let stored = self.stored.iter().map(|id| Key::Stored(*id));
        let keys =
            ended.chain(links).chain([Key::Meta]).chain(projects).chain(sessions).chain(stored);
        Box::new(keys.map(|key| self.row(&key)))
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
                    let ended: EndedSession = parse(key, value)?;
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

    /// Its records are copies of what is in the projects: those that are left are kept.
    fn changes_to(&self, _: &Self) -> Vec<RegistryChange> {
        Vec::new()
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
