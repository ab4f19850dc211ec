//! The binding of a session to its project, which gets an id at the first write there. A session is
//! in the registry before its first write, so that recovery finds its work.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::SessionId;

use super::error::BindError;
use super::liveness::has_died;
use super::service::SessionService;
use super::{Session, SessionLocation};
use crate::bounded_fs;
use crate::clock;
use crate::limits::MOVE_WAIT_MAX;
use crate::project::{OpenProject, Transition, WriteCommand};
use crate::projects::{
    Established, IdPlace, Located, Move, ProjectId, Registry, RegistryChange, SessionRecord,
    Status, establish,
};
use crate::registry_store::RegistryStore;

impl Session {
    /// Returns the project, established and open, with this session in the registry.
    pub(super) async fn bound(
        &self,
        service: &SessionService,
    ) -> Result<Arc<OpenProject>, BindError> {
        let mut bound = self.binding.lock().await;
        let registry = service.projects.registry.snapshot();
        // A project deleted meanwhile is established again, since nobody would find its data alone.
        // The same holds for staged work of a session that has ended and left the registry.
        if *bound
            && let Some(id) = self.project_id()
            && registry.project(id).is_some()
            && (self.is_ephemeral || registry.session(&self.id).is_some())
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
        if !self.is_ephemeral {
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
                IdPlace::InRegistry { .. } | IdPlace::AboveRepositories { .. } => {
                    let mut projects = registry.projects();
                    let first =
                        projects.find(|known| !known.carries_id && known.place == record.place);
                    first.map(|known| known.id)
                }
                IdPlace::InProject | IdPlace::Linked => None,
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

/// Records a move that a read has found. Until that succeeds, the registry has the old path, and
/// every read tries again.
pub(crate) async fn record_move(store: &RegistryStore, found: Option<Move>) {
    let Some(Move { before, now }) = found else { return };
    let id = now.id;
    let decide: WriteCommand<Registry> = Arc::new(move |registry, _| {
        // Another call may have recorded it, or the user may have changed the project meanwhile.
        let is_as_read = registry.known_or_forgotten(id) == Some(&before);
        let changes =
            if is_as_read { vec![RegistryChange::ProjectSeen(now.clone())] } else { Vec::new() };
        Ok(Transition::silent(changes))
    });
    // A read does not depend on the registry's disk.
    match tokio::time::timeout(MOVE_WAIT_MAX, store.write(None, None, "move", decide)).await {
        Ok(Ok(_)) => tracing::info!(project = %id, "a project moved"),
        Ok(Err(error)) => tracing::warn!(project = %id, %error, "a project's move is not recorded"),
        Err(_) => tracing::warn!(project = %id, "a project's move is not recorded yet"),
    }
}

#[cfg(test)]
mod tests;
