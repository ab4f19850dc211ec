//! Which project a session works in: found at the first call that needs it, given an id at the first
//! write. A session is in the registry before its first write, so that recovery finds its work.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use anchord_memory::files::relative;
use anchord_memory::{Accesses, MAIN, Memory, Provenance, SessionId};
use anchord_proto::hello::Hello;
use anchord_proto::host;

use super::compaction::{Compacted, Touched, sum};
use super::{Session, end};
use crate::clock;
use crate::daemon::Daemon;
use crate::looks::{Hangs, look};
use crate::project::{Decide, Decided, OpenProject, WriteError, Written};
use crate::projects::{
    EstablishError, Established, FOREIGN, Located, NotAProject, Presence, ProjectFiles, ProjectId,
    Registry, RegistryChange, SessionRecord, Status, Stored, Surroundings, establish, identify,
    locate, locate_exactly,
};
use crate::store::{Call, StoreError};

/// Where a session works.
#[derive(Debug)]
pub(crate) enum Place {
    /// On this machine, where its files can be read.
    Here(Located),
    /// In a container, on another machine, or not where it was: only the project's id is believed, no file is judged.
    Foreign(ProjectId),
    /// In the user's own memory, which has no directory.
    Personal,
}

impl Place {
    /// A project that is named by its id; none that is not known. What stands where it was seen last may be another one
    /// by now, and what is remembered is there all the same. Looks at files.
    pub(crate) fn named(
        id: ProjectId,
        registry: &Registry,
        surroundings: &Surroundings,
    ) -> Option<Self> {
        let root = &registry.project(id)?.root;
        let is_it = |located: &Located| {
            identify(located, registry).is_ok_and(|resolution| resolution.id == Some(id))
        };
        let located = locate(root, true, surroundings).ok().filter(is_it);
        Some(located.map_or(Self::Foreign(id), Self::Here))
    }

    /// Returns the place for work on a memory alone, without files.
    pub(crate) fn without_files(id: ProjectId) -> Self {
        if id.is_personal() { Self::Personal } else { Self::Foreign(id) }
    }

    /// What people call the project.
    pub(crate) fn name(&self, daemon: &Daemon) -> String {
        match self {
            Self::Here(located) => located.name.clone(),
            Self::Foreign(id) => match daemon.registry.snapshot().project(*id) {
                Some(project) => project.name.clone(),
                None => id.to_string(),
            },
            Self::Personal => PERSONAL_NAME.to_owned(),
        }
    }

    /// The project's files, where they can be read.
    pub(crate) fn files(&self) -> Option<ProjectFiles> {
        match self {
            Self::Here(located) => ProjectFiles::open(&located.root).ok(),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// The root of the repository that the project is a part of.
    pub(crate) fn repository(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => located.git.as_ref().map(|git| git.root.as_path()),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// The root of the project's files, where they can be read.
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => Some(&located.root),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns a file's path relative to the project's root, as records name it. A path outside the
    /// root is normalised only, and so is every path if the root is not known.
    pub(crate) fn relative(&self, file: &str) -> String {
        let root = self.root().map(Path::to_string_lossy).unwrap_or_default();
        relative(file, &root)
    }
}

/// The name of the user's own memory for people.
pub(crate) const PERSONAL_NAME: &str = "the user's own notes";

/// Why a session has no project. The text says how to name one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BindError {
    /// The directory is none that can be a project.
    #[error(transparent)]
    NotAProject(#[from] NotAProject),
    /// The project cannot be looked at.
    #[error(transparent)]
    Unreadable(#[from] EstablishError),
    /// The project's disk does not answer.
    #[error(transparent)]
    Hangs(#[from] Hangs),
    /// Another machine or container, and no project is named.
    #[error(
        "this agent {FOREIGN} than anchord: name the project with `--project ID`; `anchord project list` shows the ids"
    )]
    Foreign,
    /// An id was named that no project has.
    #[error("no project has the id {0}; `anchord project list` shows the projects there are")]
    Unknown(ProjectId),
    /// The store cannot be opened.
    #[error("failed to open the project's memory: {0}")]
    Store(#[from] StoreError),
    /// The registry or the project did not take a write.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A session's write that is on disk.
#[derive(Clone, Debug)]
pub(crate) struct Wrote {
    /// What the caller is told.
    pub(crate) reply: Arc<str>,
    /// How long the journal took to take it in, with what follows.
    pub(crate) append: Option<Duration>,
    /// What it took to stay within the budgets of notes.
    pub(crate) compacted: Vec<Compacted>,
}

/// What a call reads.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) place: Arc<Place>,
    /// `None` as long as nothing was ever written here.
    pub(crate) project: Option<Arc<OpenProject>>,
    pub(crate) memory: Arc<Memory>,
    /// That this place is a copy or has moved, if so.
    pub(crate) remark: Option<String>,
}

impl View {
    /// How often and when records were read.
    pub(crate) fn accesses(&self) -> Accesses {
        self.project.as_ref().map(|project| project.accesses()).unwrap_or_default()
    }

    /// Those of these files that do not exist; none where the project's files cannot be seen.
    pub(crate) async fn absent(&self, files: Vec<String>) -> BTreeSet<String> {
        if files.is_empty() {
            return BTreeSet::new();
        }
        let Some(root) = self.place.root() else { return BTreeSet::new() };
        let place = Arc::clone(&self.place);
        let looking = look(root, move || {
            let Some(project) = place.files() else { return BTreeSet::new() };
            let gone = |file: &String| project.exists(file.as_ref()) == Presence::Absent;
            files.into_iter().filter(gone).collect()
        });
        looking.await.unwrap_or_default()
    }

    /// Those of a topic's active files that do not exist; of the project's own thread when none is named.
    pub(crate) async fn gone_files(&self, topic: Option<&str>) -> BTreeSet<String> {
        let record = self.memory.topic(topic.unwrap_or(MAIN));
        let topic = record.and_then(|record| record.topic());
        self.absent(topic.map(|topic| topic.files.clone()).unwrap_or_default()).await
    }
}

impl Session {
    /// The memory that the session's calls read; nothing is created.
    pub(crate) async fn view(&self, daemon: &Daemon) -> Result<View, BindError> {
        let place = self.place(daemon).await?;
        let registry = daemon.registry.snapshot();
        let known = self.project_id();
        let (id, remark) = match (place.as_ref(), known) {
            (Place::Personal, _) => (Some(ProjectId::PERSONAL), None),
            (Place::Foreign(id), _) if registry.project(*id).is_none() => {
                return Err(BindError::Unknown(*id));
            }
            (Place::Foreign(id), _) => (Some(*id), None),
            (Place::Here(_), Some(id)) if registry.project(id).is_some() => (Some(id), None),
            (Place::Here(located), _) => {
                let there = located.clone();
                let looking = look(&located.root, move || {
                    let resolution = identify(&there, &registry)?;
                    let notice = resolution.notice(&there, &registry);
                    Ok::<_, EstablishError>((resolution.id, notice))
                });
                looking.await??
            }
        };
        let project = match id {
            Some(id) => daemon.open_known(id).await?,
            None => None,
        };
        self.works_in(project.as_ref());
        let memory = project.as_ref().map(|project| project.memory()).unwrap_or_default();
        Ok(View { place, project, memory, remark })
    }

    /// Queues a write and waits until it is on disk, and then until what it took above its budget is below it.
    /// `decide` is made anew for each try.
    pub(crate) async fn write(
        &self,
        daemon: &Daemon,
        call: Option<&Call>,
        operation: &'static str,
        decide: impl Fn() -> Decide<Memory>,
    ) -> Result<Wrote, BindError> {
        let touched = Touched::default();
        let noting = || touched.noted_by(decide());
        let Written { reply, append } = self.write_alone(daemon, call, operation, noting).await?;
        let compacted = match self.project() {
            Some(project) => self.keep_to_budget(daemon, &project, &touched).await,
            None => Vec::new(),
        };
        let append = compacted.iter().fold(append, |all, more| sum(all, more.append));
        Ok(Wrote { reply, append, compacted })
    }

    /// Queues a write and waits until it is on disk, whatever becomes of a budget. The project is opened again if it
    /// was closed between.
    pub(super) async fn write_alone(
        &self,
        daemon: &Daemon,
        call: Option<&Call>,
        operation: &'static str,
        decide: impl Fn() -> Decide<Memory>,
    ) -> Result<Written, BindError> {
        let project = self.bound(daemon).await?;
        let write = |project: Arc<OpenProject>| {
            let (session, call) = (self.id.clone(), call.cloned());
            let decide = decide();
            async move { project.owner.write(Some(session), call, operation, decide).await }
        };
        let id = project.id;
        let written = match write(Arc::clone(&project)).await {
            Err(WriteError::Closed) => {
                let project = daemon.open_project(id).await?;
                self.works_in(Some(&project));
                write(project).await?
            }
            written => written?,
        };
        if !self.visits {
            end::after_write(daemon, self, id).await;
        }
        Ok(written)
    }

    /// Who writes, for records.
    pub(crate) fn provenance(&self, time: anchord_memory::Timestamp) -> Provenance {
        Provenance { session: self.id.clone(), client: self.client(), time }
    }

    /// Where the session works; the same for its whole life.
    pub(crate) async fn place(&self, daemon: &Daemon) -> Result<Arc<Place>, BindError> {
        let known = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(place) = known {
            return Ok(place);
        }
        let found = place_of(daemon, &self.hello).await?;
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(place.get_or_insert(found)))
    }

    /// The project, established and open, with this session in the registry.
    async fn bound(&self, daemon: &Daemon) -> Result<Arc<OpenProject>, BindError> {
        let mut bound = self.binding.lock().await;
        let registry = daemon.registry.snapshot();
        // Deleted meanwhile, it is made anew; its data alone would be found by nobody. Nor would what a session stages
        // that has ended meanwhile, and is not in the registry any more.
        if *bound
            && let Some(id) = self.project_id()
            && registry.project(id).is_some()
            && (self.visits || registry.session(&self.id).is_some())
        {
            let project = daemon.open_project(id).await?;
            self.works_in(Some(&project));
            return Ok(project);
        }
        let place = self.place(daemon).await?;
        let bound_before = registry.session(&self.id).map(|record| record.project);
        let id = match (place.as_ref(), bound_before) {
            // The session itself may be bound to a project.
            (Place::Personal, _) => ProjectId::PERSONAL,
            // Whatever became of the place since: its numbered lines are in that project's journal.
            (_, Some(id)) if registry.project(id).is_some() => id,
            // Deleted since the session found it; from elsewhere it cannot be made anew.
            (Place::Foreign(id), _) if registry.project(*id).is_none() => {
                return Err(BindError::Unknown(*id));
            }
            (Place::Foreign(id), _) => *id,
            (Place::Here(located), _) => {
                let (id, notice) = establish_in_registry(daemon, located.clone()).await?;
                self.remark_on(notice);
                id
            }
        };
        let project = daemon.open_project(id).await?;
        if !self.visits {
            self.register(daemon, id).await?;
            self.take_over(daemon, &project).await?;
        }
        self.works_in(Some(&project));
        *bound = true;
        Ok(project)
    }

    async fn register(&self, daemon: &Daemon, project: ProjectId) -> Result<(), BindError> {
        // One that goes on with a project of an earlier build is not found anew.
        let before = daemon.registry.snapshot().session(&self.id).cloned();
        let before = before.filter(|before| before.project == project);
        let is_bound_by_git_root = before.is_none_or(|before| before.is_bound_by_git_root);
        let record = SessionRecord {
            session: self.id.clone(),
            project,
            client: self.client().to_string(),
            agent_session: self.agent_session.as_deref().map(str::to_owned),
            instance: self.hello.instance.to_string().into(),
            pid: self.hello.pid,
            pid_start: self.hello.pid_start,
            boot: self.hello.boot.clone(),
            pidns: self.hello.pidns,
            cwd: PathBuf::from(self.hello.cwd.as_deref().unwrap_or("/")),
            first_write: clock::now(),
            is_bound_by_git_root,
        };
        let decide: Decide<Registry> = Box::new(move |registry, _| {
            // A conversation that was started again has another process: after a restart that one counts.
            let known = registry.session(&record.session).is_some_and(|known| {
                known.project == project
                    && (known.pid, known.pid_start) == (record.pid, record.pid_start)
            });
            let first_write = registry
                .session(&record.session)
                .map_or(record.first_write, |known| known.first_write);
            let record = SessionRecord { first_write, ..record };
            let changes =
                if known { Vec::new() } else { vec![RegistryChange::SessionBound(record)] };
            Ok(Decided { changes, reply: String::new() })
        });
        daemon.registry.write(Some(self.id.clone()), None, "bind", decide).await?;
        Ok(())
    }

    /// The sessions of the same conversation in this project whose process is dead: this one goes on
    /// in their place.
    pub(crate) fn predecessors(
        &self,
        registry: &Registry,
        project: ProjectId,
    ) -> Vec<Arc<SessionRecord>> {
        let Some(agent_session) = self.agent_session.as_deref() else { return Vec::new() };
        registry
            .sessions_by_agent(agent_session)
            .filter(|record| record.session != self.id && record.project == project)
            // A pid of another container says nothing here; that session has its day.
            .filter(|record| !is_foreign_process(record.pidns))
            .filter(|record| is_dead(record.pid, record.pid_start, record.boot.as_deref()))
            .cloned()
            .collect()
    }

    /// The sessions of the same conversation in this project that have ended, of those the registry still knows.
    pub(crate) fn ended_before(
        &self,
        registry: &Registry,
        project: ProjectId,
    ) -> BTreeSet<SessionId> {
        let ended = registry.ended().into_iter().map(|ended| &ended.session).filter(|record| {
            self.agent_session.is_some()
                && record.agent_session.as_deref() == self.agent_session.as_deref()
                && record.project == project
        });
        ended.map(|record| record.session.clone()).collect()
    }
}

/// Whether pids of this namespace mean other processes here.
pub(crate) fn is_foreign_process(pidns: Option<u64>) -> bool {
    pidns.zip(host::pid_namespace()).is_some_and(|(theirs, ours)| theirs != ours)
}

/// Whether the process is certainly gone: not there, another one by now, or of an earlier boot.
pub(super) fn is_dead(pid: u32, start: Option<u64>, boot: Option<&str>) -> bool {
    if let (Some(then), Some(now)) = (boot, host::boot_id())
        && then != now
    {
        return true;
    }
    host::process_alive(pid, start) == Some(false)
}

/// Whether the sender's processes are not the ones that this daemon sees: it is in a container, or on another machine.
pub(crate) fn is_elsewhere(hello: &Hello) -> bool {
    let differs = |theirs: Option<&str>, ours: Option<String>| match (theirs, ours) {
        (Some(theirs), Some(ours)) => theirs != ours,
        _ => false,
    };
    differs(hello.boot.as_deref(), host::boot_id()) || is_foreign_process(hello.pidns)
}

/// Whether neither the sender's processes nor its files are the ones that this daemon sees.
pub(super) fn is_foreign(hello: &Hello) -> bool {
    if is_elsewhere(hello) {
        return true;
    }
    match (&hello.cwd, hello.cwd_dev, hello.cwd_ino) {
        (Some(cwd), Some(dev), Some(ino)) => {
            !std::fs::metadata(cwd).is_ok_and(|seen| (seen.dev(), seen.ino()) == (dev, ino))
        }
        _ => false,
    }
}

/// Finds where a peer works, by what its hello says.
pub(super) async fn place_of(daemon: &Daemon, hello: &Arc<Hello>) -> Result<Arc<Place>, BindError> {
    let (hello, registry) = (Arc::clone(hello), daemon.registry.snapshot());
    let surroundings = daemon.surroundings.clone();
    let start = PathBuf::from(start(&hello));
    let found = look(&start, move || find(&hello, &registry, &surroundings)).await??;
    Ok(Arc::new(found))
}

fn find(
    hello: &Hello,
    registry: &Registry,
    surroundings: &Surroundings,
) -> Result<Place, BindError> {
    // Where an agent was started is no more than a directory to look from.
    let named = hello.project.as_deref().filter(|_| !hello.by_agent);
    if let Some(id) =
        named.filter(|_| !hello.exact).and_then(|named| named.parse().ok().map(ProjectId))
    {
        let place = if is_foreign(hello) {
            registry.project(id).map(|project| Place::Foreign(project.id))
        } else {
            Place::named(id, registry, surroundings)
        };
        return place.ok_or(BindError::Unknown(id));
    }
    if is_foreign(hello) {
        let known = named.and_then(|named| registry.project_at(Path::new(named)));
        return known.map(|project| Place::Foreign(project.id)).ok_or(BindError::Foreign);
    }
    if let Some(named) = named.filter(|_| hello.exact) {
        return Ok(Place::Here(locate_exactly(Path::new(named), surroundings.uid)?));
    }
    Ok(Place::Here(locate(Path::new(start(hello)), named.is_some(), surroundings)?))
}

/// Where to look for a session's project.
fn start(hello: &Hello) -> &str {
    hello.project.as_deref().or(hello.cwd.as_deref()).unwrap_or("/")
}

/// Gives a place its project id, and returns what the user should be told. The files are looked at
/// by whoever asks, since a project's disk may hang; only then is the registry written.
pub(crate) async fn establish_in_registry(
    daemon: &Daemon,
    located: Located,
) -> Result<(ProjectId, Option<String>), BindError> {
    loop {
        let registry = daemon.registry.snapshot();
        let (now, root, there) = (clock::now(), located.root.clone(), located.clone());
        let seen = registry.clone();
        let established = look(&root, move || establish(&there, &seen, now)).await??;
        if let Status::Moved { from } = &established.status {
            tracing::info!(project = %established.id, from = %from.display(), "a project moved");
        }
        let Established { id, change, stored, notice, .. } = established;
        let Some(RegistryChange::ProjectSeen(record)) = change else { return Ok((id, notice)) };
        let place_of = |registry: &Registry| registry.project(id).map(|known| known.place.clone());
        let before = place_of(&registry);
        let decided = Arc::new(OnceLock::new());
        let decision = Arc::clone(&decided);
        let decide: Decide<Registry> = Box::new(move |registry, _| {
            // Where the project cannot carry its id, another session may have been here first.
            let first = match stored {
                Stored::InRegistry { .. } | Stored::AboveRepositories { .. } => {
                    let mut projects = registry.projects();
                    let first =
                        projects.find(|known| !known.carries_id && known.place == record.place);
                    first.map(|known| known.id)
                }
                Stored::InProject | Stored::Linked => None,
            };
            // Of two directories with one id, the second is the copy.
            let is_late = first.is_none()
                && registry.project(record.id).is_some_and(|known| {
                    known.place != record.place && Some(&known.place) != before.as_ref()
                });
            decision.get_or_init(|| (!is_late).then(|| first.unwrap_or(record.id)));
            let changes = match first {
                None if !is_late => vec![RegistryChange::ProjectSeen(record)],
                _ => Vec::new(),
            };
            Ok(Decided { changes, reply: String::new() })
        });
        daemon.registry.write(None, None, "establish", decide).await?;
        if let Some(id) = decided.get().copied().unwrap_or(Some(id)) {
            return Ok((id, notice));
        }
    }
}

#[cfg(test)]
mod tests;
