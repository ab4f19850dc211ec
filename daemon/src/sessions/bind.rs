//! The project that a session works in: found at the first call that needs it, and given an id at
//! the first write. A session is in the registry before its first write, so that recovery finds its
//! work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::files::relative;
use anchord_memory::{
    Accesses, Change, ItemIds, MAIN, Memory, Provenance, Record, SessionId, Timestamp, render,
};
use anchord_proto::hello::Hello;

use super::error::BindError;
use super::liveness::has_died;
use super::processes::is_foreign;
use super::service::SessionService;
use super::{Session, end};
use crate::anchors::ProjectRoots;
use crate::bounded_fs;
use crate::clock;
use crate::project::history::PastMemory;
use crate::project::{
    Compacted, OpenProject, Operation, Outcome, TeamStatus, Transition, WriteCommand, WriteError,
    WriteSet, Written, make_searchable, sum,
};
use crate::projects::{
    EstablishError, Established, Located, Presence, ProjectFiles, ProjectId, Registry,
    RegistryChange, SessionRecord, Status, Stored, Surroundings, establish, identify, locate,
    locate_exactly,
};
use crate::registry_store::RegistryStore;
use crate::store::Call;

/// The location of a session's work.
#[derive(Debug)]
pub(crate) enum SessionLocation {
    /// A project on this machine, whose files can be read.
    Here(Located),
    /// A project in a container, on another machine, or no longer at its path. Its id is trusted,
    /// but none of its files are judged.
    Foreign(ProjectId),
    /// The user's own memory, which has no directory.
    Personal,
}

impl SessionLocation {
    /// Returns the place of a project named by its id, or `None` if the id is unknown. The
    /// directory where it was last seen may hold another project by now; its memory is still
    /// readable. Reads files.
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

    /// Returns the project on this machine, if its files can be read.
    pub(crate) fn located(&self) -> Option<&Located> {
        match self {
            Self::Here(located) => Some(located),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the project's display name.
    pub(crate) fn name(&self, service: &SessionService) -> String {
        match self {
            Self::Here(located) => located.name.clone(),
            Self::Foreign(id) => match service.projects.registry.snapshot().project(*id) {
                Some(project) => project.name.clone(),
                None => id.to_string(),
            },
            Self::Personal => PERSONAL_NAME.to_owned(),
        }
    }

    /// Opens the project's files, if they can be read.
    pub(crate) fn files(&self) -> Option<ProjectFiles> {
        match self {
            Self::Here(located) => ProjectFiles::open(&located.root).ok(),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the root of the repository that the project is a part of.
    pub(crate) fn repository(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => located.git.as_ref().map(|git| git.root.as_path()),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the root of the project's files, if they can be read.
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => Some(&located.root),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns a file's path relative to the project's root, as records name it. A path outside the
    /// root, or any path if the root is unknown, is only normalised.
    pub(crate) fn relative(&self, file: &str) -> String {
        let root = self.root().map(Path::to_string_lossy).unwrap_or_default();
        relative(file, &root)
    }
}

/// The display name of the user's own memory.
pub(crate) const PERSONAL_NAME: &str = "the user's own notes";

/// A session's write that is on disk.
#[derive(Clone, Debug)]
pub(crate) struct WriteOutcome<O> {
    /// The outcome of the decision.
    pub(crate) outcome: O,
    /// The records that it wrote, at their new versions.
    pub(crate) records: Vec<Arc<Record>>,
    /// The time that the journal took for the write and for the compaction after it.
    pub(crate) append: Option<Duration>,
    /// The compactions that kept notes within their budgets.
    pub(crate) compacted: Vec<Compacted>,
}

impl<O> WriteOutcome<O> {
    /// Creates the outcome of a decision that changes nothing.
    pub(crate) fn nothing(outcome: O) -> Self {
        Self { outcome, records: Vec::new(), append: None, compacted: Vec::new() }
    }
}

/// The view that a call reads.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) place: Arc<SessionLocation>,
    /// `None` until the first write here.
    pub(crate) project: Option<Arc<OpenProject>>,
    pub(crate) memory: Arc<Memory>,
    /// Whether the database of the team that shares the memory answered, just before it was read.
    team: Option<Arc<TeamStatus>>,
    /// A remark for the user, such as that this place is a copy or has moved.
    pub(crate) remark: Option<String>,
    /// The time from which ages are counted, if the memory is an earlier one.
    past: Option<Timestamp>,
}

impl View {
    /// Words what waits for the database of the team that shares the memory, if anything does.
    pub(crate) fn team(&self) -> String {
        let Some(status) = &self.team else { return String::new() };
        let (error, refused) = (status.error.as_deref(), status.refused.as_deref());
        render::team(&self.memory, status.answered, error, refused)
    }

    /// Returns the time from which ages are counted.
    pub(crate) fn now(&self) -> Timestamp {
        self.past.unwrap_or_else(clock::now)
    }

    /// Returns the ids of the items of this memory, which has none before its first write.
    pub(crate) fn item_ids(&self) -> ItemIds {
        let project = self.project.as_ref();
        project.map_or_else(ItemIds::unsalted, |project| ItemIds::of(&project.id.to_string()))
    }

    /// Returns whether the memory is an earlier one.
    pub(crate) fn is_past(&self) -> bool {
        self.past.is_some()
    }

    /// Returns how often and when records were read.
    pub(crate) fn accesses(&self) -> Accesses {
        self.project.as_ref().map(|project| project.accesses()).unwrap_or_default()
    }

    /// Returns a view that shows the state of some records' code and files.
    pub(crate) async fn with_anchors(
        mut self,
        service: &SessionService,
        time_max: Duration,
        shown: &[Arc<Record>],
    ) -> Self {
        // An earlier memory says nothing about the code of now.
        if !self.is_past() {
            let repository = self.place.repository();
            let place = self.place.root().map(|root| ProjectRoots { root, repository });
            self.memory = service.anchors.shown(place, &self.memory, time_max, shown).await;
        }
        self
    }

    /// Returns those of these files that do not exist; none if the project's files cannot be seen.
    pub(crate) async fn absent(&self, files: Vec<String>) -> BTreeSet<String> {
        // An earlier memory says nothing about the files that are there now.
        if files.is_empty() || self.is_past() {
            return BTreeSet::new();
        }
        let Some(root) = self.place.root() else { return BTreeSet::new() };
        let place = Arc::clone(&self.place);
        let looking = bounded_fs::run(root, move || {
            let Some(project) = place.files() else { return BTreeSet::new() };
            let gone = |file: &String| project.exists(file.as_ref()) == Presence::Absent;
            files.into_iter().filter(gone).collect()
        });
        looking.await.unwrap_or_default()
    }

    /// Returns those of a topic's active files that do not exist. Without a name, uses the topic
    /// `main`.
    pub(crate) async fn gone_files(&self, topic: Option<&str>) -> BTreeSet<String> {
        let record = self.memory.topic(topic.unwrap_or(MAIN));
        let topic = record.and_then(|record| record.topic());
        self.absent(topic.map(|topic| topic.files.clone()).unwrap_or_default()).await
    }
}

impl Session {
    /// Returns the memory that the session's calls read and search. Creates nothing.
    pub(crate) async fn view(&self, service: &SessionService) -> Result<View, BindError> {
        let view = self.view_without_index(service).await?;
        make_searchable(&view.memory).await;
        Ok(view)
    }

    /// Returns the memory as [`Self::view`] does, but does not wait for its search index.
    pub(crate) async fn view_without_index(
        &self,
        service: &SessionService,
    ) -> Result<View, BindError> {
        let place = self.place(service).await?;
        if let Some(PastMemory { memory, now, .. }) = &self.past {
            // Without the project, nothing that is said here is about the present.
            let memory = Arc::clone(memory);
            let (project, team, remark, past) = (None, None, None, Some(*now));
            return Ok(View { place, project, memory, team, remark, past });
        }
        let registry = service.projects.registry.snapshot();
        let known = self.project_id();
        let (id, remark) = match (place.as_ref(), known) {
            (SessionLocation::Personal, _) => (Some(ProjectId::PERSONAL), None),
            (SessionLocation::Foreign(id), _) if registry.project(*id).is_none() => {
                return Err(BindError::Unknown(*id));
            }
            (SessionLocation::Foreign(id), _) => (Some(*id), None),
            (SessionLocation::Here(_), Some(id)) if registry.project(id).is_some() => {
                (Some(id), None)
            }
            (SessionLocation::Here(located), _) => {
                let there = located.clone();
                let looking = bounded_fs::run(&located.root, move || {
                    let resolution = identify(&there, &registry)?;
                    let notice = resolution.notice(&there, &registry);
                    Ok::<_, EstablishError>((resolution.id, notice))
                });
                looking.await??
            }
        };
        let project = match id {
            Some(id) => service.projects.open_known(id).await?,
            None => None,
        };
        if let Some(project) = &project {
            project.first_look().await;
            service.shared.before_reading(project).await;
        }
        self.works_in(project.as_ref());
        let team = project.as_ref().and_then(|project| project.owner.team());
        let memory = project.as_ref().map(|project| project.memory()).unwrap_or_default();
        Ok(View { place, project, memory, team, remark, past: None })
    }

    /// Queues a write, waits until it is on disk, and then compacts notes that exceed their budget.
    pub(crate) async fn write<O: Outcome>(
        &self,
        service: &SessionService,
        call: Option<&Call>,
        operation: impl Into<Operation>,
        command: WriteCommand<Memory, O>,
    ) -> Result<WriteOutcome<O>, BindError> {
        let written = self.write_alone(service, call, operation, command).await?;
        let records = written.changes.iter().filter_map(Change::record).cloned().collect();
        let (write_set, outcome, append) = WriteSet::split(written);
        let compacted = match self.project() {
            Some(project) => self.keep_to_budget(service, &project, write_set).await,
            None => Vec::new(),
        };
        let append = compacted.iter().fold(append, |all, more| sum(all, more.append));
        Ok(WriteOutcome { outcome, records, append, compacted })
    }

    /// Queues a write and waits until it is on disk, without compacting. Opens the project again if
    /// it was closed in between.
    pub(super) async fn write_alone<O: Outcome>(
        &self,
        service: &SessionService,
        call: Option<&Call>,
        operation: impl Into<Operation>,
        command: WriteCommand<Memory, O>,
    ) -> Result<Written<Memory, O>, BindError> {
        let operation = operation.into();
        let project = self.bound(service).await?;
        let write = |project: Arc<OpenProject>| {
            let (session, call) = (self.id.clone(), call.cloned());
            let command = Arc::clone(&command);
            async move { project.owner.write(Some(session), call, operation, command).await }
        };
        let id = project.id;
        let written = match write(Arc::clone(&project)).await {
            Err(WriteError::Closed) => {
                let project = service.projects.open_project(id).await?;
                self.works_in(Some(&project));
                write(project).await?
            }
            written => written?,
        };
        if !self.visits {
            end::after_write(service, self, id).await;
        }
        Ok(written)
    }

    /// Returns the provenance of this session's records.
    pub(crate) fn provenance(&self, time: Timestamp) -> Provenance {
        Provenance::new(self.id.clone(), self.client(), time)
    }

    /// Returns the location of the session's work, which is the same for its whole life.
    pub(crate) async fn place(
        &self,
        service: &SessionService,
    ) -> Result<Arc<SessionLocation>, BindError> {
        service.gate.pass().await?;
        let known = self.place.lock().clone();
        if let Some(place) = known {
            return Ok(place);
        }
        let found = place_of(service, &self.hello).await?;
        let mut place = self.place.lock();
        Ok(Arc::clone(place.get_or_insert(found)))
    }

    /// Returns the project, established and open, with this session in the registry.
    async fn bound(&self, service: &SessionService) -> Result<Arc<OpenProject>, BindError> {
        let mut bound = self.binding.lock().await;
        let registry = service.projects.registry.snapshot();
        // A project deleted meanwhile is established again, since nobody would find its data alone.
        // The same holds for staged work of a session that has ended and left the registry.
        if *bound
            && let Some(id) = self.project_id()
            && registry.project(id).is_some()
            && (self.visits || registry.session(&self.id).is_some())
        {
            let project = service.projects.open_project(id).await?;
            self.works_in(Some(&project));
            return Ok(project);
        }
        let place = self.place(service).await?;
        let bound_before = registry.session(&self.id).map(|record| record.project);
        let id = match (place.as_ref(), bound_before) {
            // The session itself may be bound to a project.
            (SessionLocation::Personal, _) => ProjectId::PERSONAL,
            // The binding holds even if the place has changed: the session's numbered lines are in
            // that project's journal.
            (_, Some(id)) if registry.project(id).is_some() => id,
            // The project was deleted after the session found it, and cannot be recreated from
            // elsewhere.
            (SessionLocation::Foreign(id), _) if registry.project(*id).is_none() => {
                return Err(BindError::Unknown(*id));
            }
            (SessionLocation::Foreign(id), _) => *id,
            (SessionLocation::Here(located), _) => {
                let (id, notice) =
                    establish_in_registry(&service.projects.registry, located.clone()).await?;
                self.remark_on(notice);
                id
            }
        };
        let project = service.projects.open_project(id).await?;
        if !self.visits {
            self.register(service, id).await?;
            self.take_over(service, &project).await?;
        }
        self.works_in(Some(&project));
        *bound = true;
        Ok(project)
    }

    async fn register(
        &self,
        service: &SessionService,
        project: ProjectId,
    ) -> Result<(), BindError> {
        // A session that continues with a project of an earlier build is not located again.
        let before = service.projects.registry.snapshot().session(&self.id).cloned();
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
        let decide: WriteCommand<Registry> = Arc::new(move |registry, _| {
            // A restarted conversation has another process. After a daemon restart that process
            // counts.
            let known = registry.session(&record.session).is_some_and(|known| {
                known.project == project
                    && (known.pid, known.pid_start) == (record.pid, record.pid_start)
            });
            let first_write = registry
                .session(&record.session)
                .map_or(record.first_write, |known| known.first_write);
            let record = SessionRecord { first_write, ..record.clone() };
            let changes =
                if known { Vec::new() } else { vec![RegistryChange::SessionBound(record)] };
            Ok(Transition::silent(changes))
        });
        service.projects.registry.write(Some(self.id.clone()), None, "bind", decide).await?;
        Ok(())
    }

    /// Returns this conversation's sessions in the project whose process is dead. This session
    /// continues their work.
    pub(crate) fn predecessors(
        &self,
        registry: &Registry,
        project: ProjectId,
    ) -> Vec<Arc<SessionRecord>> {
        let Some(agent_session) = self.agent_session.as_deref() else { return Vec::new() };
        registry
            .sessions_by_agent(agent_session)
            .filter(|record| record.session != self.id && record.project == project)
            .filter(|record| has_died(record))
            .cloned()
            .collect()
    }

    /// Returns this conversation's ended sessions in the project, as far as the registry still
    /// knows them.
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

/// Finds the location of a peer's work from its hello.
pub(super) async fn place_of(
    service: &SessionService,
    hello: &Arc<Hello>,
) -> Result<Arc<SessionLocation>, BindError> {
    let (hello, registry) = (Arc::clone(hello), service.projects.registry.snapshot());
    let surroundings = service.surroundings.clone();
    let start = PathBuf::from(start(&hello));
    let found = bounded_fs::run(&start, move || find(&hello, &registry, &surroundings)).await??;
    Ok(Arc::new(found))
}

fn find(
    hello: &Hello,
    registry: &Registry,
    surroundings: &Surroundings,
) -> Result<SessionLocation, BindError> {
    // The directory in which an agent was started is only where the search begins.
    let named = hello.project.as_deref().filter(|_| !hello.by_agent);
    if let Some(id) =
        named.filter(|_| !hello.exact).and_then(|named| named.parse().ok().map(ProjectId))
    {
        let place = if is_foreign(hello) {
            registry.project(id).map(|project| SessionLocation::Foreign(project.id))
        } else {
            SessionLocation::named(id, registry, surroundings)
        };
        return place.ok_or(BindError::Unknown(id));
    }
    if is_foreign(hello) {
        let known = named.and_then(|named| registry.project_at(Path::new(named)));
        return known.map(|project| SessionLocation::Foreign(project.id)).ok_or(BindError::Foreign);
    }
    if let Some(named) = named.filter(|_| hello.exact) {
        return Ok(SessionLocation::Here(locate_exactly(Path::new(named), surroundings.uid)?));
    }
    Ok(SessionLocation::Here(locate(Path::new(start(hello)), named.is_some(), surroundings)?))
}

/// Returns the directory in which to search for a session's project.
pub(super) fn start(hello: &Hello) -> &str {
    hello.project.as_deref().or(hello.cwd.as_deref()).unwrap_or("/")
}

/// Assigns a project id to a place, and returns it with a notice for the user. The caller reads the
/// files, since a project's disk may hang. Only then is the registry written.
pub(crate) async fn establish_in_registry(
    store: &RegistryStore,
    located: Located,
) -> Result<(ProjectId, Option<String>), BindError> {
    loop {
        let registry = store.snapshot();
        let (now, root, there) = (clock::now(), located.root.clone(), located.clone());
        let seen = registry.clone();
        let established = bounded_fs::run(&root, move || establish(&there, &seen, now)).await??;
        if let Status::Moved { from } = &established.status {
            tracing::info!(project = %established.id, from = %from.display(), "a project moved");
        }
        let Established { id, change, stored, notice, .. } = established;
        let Some(RegistryChange::ProjectSeen(record)) = change else { return Ok((id, notice)) };
        let place_of = |registry: &Registry| registry.project(id).map(|known| known.place.clone());
        let before = place_of(&registry);
        let decide: WriteCommand<Registry, Option<ProjectId>> = Arc::new(move |registry, _| {
            // If the project cannot carry its id, another session may have been here first.
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
            let outcome = (!is_late).then(|| first.unwrap_or(record.id));
            let changes = match first {
                None if !is_late => vec![RegistryChange::ProjectSeen(record.clone())],
                _ => Vec::new(),
            };
            Ok(Transition { changes, outcome })
        });
        let written = store.write(None, None, "establish", decide).await?;
        if let Some(id) = written.outcome {
            return Ok((id, notice));
        }
    }
}

#[cfg(test)]
mod tests;
