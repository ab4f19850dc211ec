//! Conversations that calls name in `_meta`. Any client can name any of them. A call therefore gets
//! the session that hooks began for one only if the connection's own directory leads to its
//! project.

use std::sync::atomic::Ordering;

use anchord_memory::SessionId;

use super::error::BindError;
use super::location::{SessionLocation, place_of};
use super::service::SessionService;
use super::{Connection, Session};
use crate::bounded_fs;
use crate::projects::{EstablishError, ProjectId, identify};
use crate::secrets;

/// A conversation that a call names, with the session that hooks began for it.
#[derive(Clone, Debug)]
pub(crate) struct NamedConversation {
    pub(super) name: String,
    pub(super) hooks: Option<SessionId>,
    /// Whether it belongs to another project, so that the call is the connection's own.
    pub(crate) is_elsewhere: bool,
}

impl Connection {
    /// Returns the conversation of this name. Does not check whether the connection may use it.
    pub(crate) fn conversation(&self, name: &str) -> NamedConversation {
        let name = secrets::clean(name).into_owned();
        let hooks = self.table.begun_by_hooks(self, &name).map(|session| session.id.clone());
        NamedConversation { name, hooks, is_elsewhere: false }
    }

    /// Returns the conversation that a call names. If it belongs to another project, the call is
    /// answered in the connection's own session, which says so once.
    pub(crate) async fn conversation_here(
        &self,
        service: &SessionService,
        name: &str,
    ) -> Result<NamedConversation, BindError> {
        self.look_around(service, Some(&secrets::clean(name))).await?;
        let conversation = self.conversation(name);
        let Some(session) = self.table.begun_by_hooks(self, &conversation.name) else {
            return Ok(conversation);
        };
        if conversation.hooks.as_ref() == Some(&session.id)
            && self.works_with(service, &session).await?
        {
            return Ok(conversation);
        }
        let conversation = NamedConversation { is_elsewhere: true, ..conversation };
        if !self.refused_conversation.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                connection = %self.id,
                session = %session.id,
                "a call names another project's conversation"
            );
            self.session(Some(&conversation), None, None).remark_on(Some(format!(
                "The conversation `{}` that this call names works in another project. The call \
                 was answered in the project of its own directory.",
                conversation.name
            )));
        }
        Ok(conversation)
    }

    /// Returns whether this connection's own directory leads to the project that a session works
    /// in.
    async fn works_with(
        &self,
        service: &SessionService,
        session: &Session,
    ) -> Result<bool, BindError> {
        match self.place.get_or_try_init(|| place_of(service, &self.hello)).await {
            Ok(own) => session.works_at(service, own).await,
            Err(error) if error.leads_nowhere() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Finds the place of this connection's own directory, and those of a conversation's sessions,
    /// since it may work in several projects. Without a name, the conversation is the one that the
    /// connection names.
    pub(crate) async fn look_around(
        &self,
        service: &SessionService,
        name: Option<&str>,
    ) -> Result<(), BindError> {
        let Some(named) = name.or(self.hello.agent_session.as_deref()) else {
            return Ok(());
        };
        let sessions = self.table.named(named);
        if sessions.is_empty() || self.hello.project.is_some() {
            return Ok(());
        }
        let own = self.place.get_or_try_init(|| place_of(service, &self.hello)).await.map(drop);
        for session in sessions {
            if let Err(error) = session.place(service).await
                && !error.leads_nowhere()
            {
                return Err(error);
            }
        }
        own.or_else(|error| if error.leads_nowhere() { Ok(()) } else { Err(error) })
    }

    /// Returns whether its own directory is known to be another project's than a session's is.
    pub(super) fn is_apart_from(&self, session: &Session) -> bool {
        let theirs = session.place.lock().clone();
        match (self.place.get().and_then(|own| own.located()), theirs) {
            (Some(own), Some(theirs)) => theirs.located().is_some_and(|it| !own.is_with(it)),
            _ => false,
        }
    }
}

impl Session {
    /// Returns whether a place leads to the project that this session works in.
    pub(super) async fn works_at(
        &self,
        service: &SessionService,
        place: &SessionLocation,
    ) -> Result<bool, BindError> {
        let registry = service.projects.registry.snapshot();
        let bound = registry.session(&self.id).map(|record| record.project);
        if let Some(project) = bound.or_else(|| self.project_id()) {
            return Ok(project_of(service, place).await? == Some(project));
        }
        // The session has written nothing yet, so its project may have no id.
        let own = self.place(service).await?;
        Ok(match (own.as_ref(), place) {
            (SessionLocation::Here(own), SessionLocation::Here(there)) => own.is_with(there),
            (SessionLocation::Foreign(own), SessionLocation::Foreign(there)) => own == there,
            _ => false,
        })
    }
}

/// Returns the project that a place leads to, if it has an id.
pub(super) async fn project_of(
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

#[cfg(test)]
mod tests;
