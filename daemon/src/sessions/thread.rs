//! Conversations that calls name in `_meta`. Any client can name any of them. A call therefore gets
//! the session that hooks began for one only if the connection's own directory leads to its
//! project.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anchord_memory::SessionId;

use super::bind::{SessionLocation, place_of};
use super::error::BindError;
use super::service::SessionService;
use super::{Connection, Session};
use crate::bounded_fs;
use crate::projects::{EstablishError, Located, ProjectId, identify};
use crate::secrets;

/// A conversation that a call names, with the session that hooks began for it.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(super) name: String,
    pub(super) hooks: Option<SessionId>,
    /// Whether it belongs to another project, so that the call is the connection's own.
    pub(super) is_elsewhere: bool,
}

impl Thread {
    /// Returns whether it belongs to another project, so that the call is the connection's own.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }
}

impl Connection {
    /// Returns the conversation of this name. Does not check whether the connection may use it.
    pub(crate) fn thread(&self, name: &str) -> Thread {
        let name = secrets::clean(name).into_owned();
        let hooks = self.table.begun_by_hooks(self, &name).map(|session| session.id.clone());
        Thread { name, hooks, is_elsewhere: false }
    }

    /// Returns the conversation that a call names. If it belongs to another project, the call is
    /// answered in the connection's own session, which says so once.
    pub(crate) async fn thread_here(
        &self,
        service: &SessionService,
        name: &str,
    ) -> Result<Thread, BindError> {
        let thread = self.thread(name);
        let Some(session) = self.table.begun_by_hooks(self, &thread.name) else {
            return Ok(thread);
        };
        if thread.hooks.as_ref() == Some(&session.id) && self.works_with(service, &session).await? {
            return Ok(thread);
        }
        let thread = Thread { is_elsewhere: true, ..thread };
        if !self.refused_thread.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                connection = %self.id,
                session = %session.id,
                "a call names another project's conversation"
            );
            self.session(Some(&thread), None, None).remark_on(Some(format!(
                "The conversation `{}` that this call names works in another project. The call \
                 was answered in the project of its own directory.",
                thread.name
            )));
        }
        Ok(thread)
    }

    /// Returns whether this connection's own directory leads to the project that a session works
    /// in.
    async fn works_with(
        &self,
        service: &SessionService,
        session: &Session,
    ) -> Result<bool, BindError> {
        let own = match self.place.get_or_try_init(|| place_of(service, &self.hello)).await {
            Ok(place) => Arc::clone(place),
            // Its directory leads to no project.
            Err(BindError::NotAProject(_) | BindError::Foreign | BindError::Unknown(_)) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let registry = service.projects.registry.snapshot();
        let bound = registry.session(&session.id).map(|record| record.project);
        if let Some(project) = bound.or_else(|| session.project_id()) {
            return Ok(self.project_of(service, &own).await? == Some(project));
        }
        // The session has written nothing yet, so its project may have no id.
        let theirs = session.place(service).await?;
        Ok(match (own.as_ref(), theirs.as_ref()) {
            (SessionLocation::Here(own), SessionLocation::Here(theirs)) => {
                directory(own) == directory(theirs)
            }
            (SessionLocation::Foreign(own), SessionLocation::Foreign(theirs)) => own == theirs,
            _ => false,
        })
    }

    async fn project_of(
        &self,
        service: &SessionService,
        place: &SessionLocation,
    ) -> Result<Option<ProjectId>, BindError> {
        match place {
            SessionLocation::Here(located) => {
                let (there, registry) = (located.clone(), service.projects.registry.snapshot());
                let looking = bounded_fs::run(&located.root, move || {
                    Ok::<_, EstablishError>(identify(&there, &registry)?.id)
                });
                Ok(looking.await??)
            }
            SessionLocation::Foreign(id) => Ok(Some(*id)),
            SessionLocation::Personal => Ok(None),
        }
    }
}

/// Returns the directory that identifies a project, with the initialised part.
fn directory(located: &Located) -> (PathBuf, Option<PathBuf>) {
    let common = located.git.as_ref().map_or(&located.root, |git| &git.common_dir);
    (common.clone(), located.part.clone())
}

#[cfg(test)]
mod tests;
