//! Finds the session of a hook event by its conversation's name and by its directory. A
//! conversation that is continued in another project has a session of its own there. An event is
//! therefore never written to a project that it does not name.

use std::sync::Arc;

use anchord_proto::hello::Hello;

use super::conversation::project_of;
use super::error::BindError;
use super::location::{SessionLocation, place_of, start};
use super::service::SessionService;
use super::{EventSource, ResolvedSession, Session, SessionsElsewhere};

impl SessionService {
    /// Resolves an event to its session, and creates the session at its first event.
    ///
    /// # Errors
    /// Fails if the event's directory or a session's cannot be read.
    pub(crate) async fn resolve_event(
        &self,
        source: &EventSource,
    ) -> Result<ResolvedSession, BindError> {
        loop {
            let named = self.table.named(&source.agent_session);
            let elsewhere = self.elsewhere(source, &named).await?;
            let source = EventSource { elsewhere, ..source.clone() };
            // Meanwhile, another event may have begun a session of this conversation elsewhere.
            if let Some(resolved) = self.table.resolve_among(&source, &named) {
                return Ok(resolved);
            }
        }
    }

    /// Finds the sessions of an event's conversation that work in other projects.
    async fn elsewhere(
        &self,
        source: &EventSource,
        named: &[Arc<Session>],
    ) -> Result<SessionsElsewhere, BindError> {
        let registry = self.projects.registry.snapshot();
        // A session that is ending is in the registry alone.
        let plain = source.plain_id();
        let ending = registry.session(&plain).filter(|_| named.iter().all(|it| it.id != plain));
        if ending.is_none() && named.iter().all(|session| is_from(session, &source.hello)) {
            return Ok(SessionsElsewhere::default());
        }
        let hello = Arc::new(source.hello.clone());
        let place = match place_of(self, &hello).await {
            Ok(place) => Some(place),
            Err(error) if error.leads_nowhere() => None,
            Err(error) => return Err(error),
        };
        let mut found = SessionsElsewhere { place, ..SessionsElsewhere::default() };
        for session in named {
            if !self.works_here(session, &source.hello, found.place.as_deref()).await? {
                found.sessions.insert(session.id.clone());
            }
        }
        let is_taken = match (ending, &found.place) {
            (Some(record), Some(place)) => project_of(self, place).await? != Some(record.project),
            (Some(_), None) => true,
            (None, _) => found.sessions.contains(&plain),
        };
        if is_taken {
            found.mark = Some(mark(found.place.as_deref(), &source.hello));
        }
        Ok(found)
    }

    /// Returns whether a session works in the project that an event names.
    async fn works_here(
        &self,
        session: &Session,
        hello: &Hello,
        place: Option<&SessionLocation>,
    ) -> Result<bool, BindError> {
        if is_from(session, hello) {
            return Ok(true);
        }
        let Some(place) = place else {
            // An agent may enter a directory that is no project, and works on.
            return Ok(is_by(session, hello));
        };
        match session.works_at(self, place).await {
            Err(error) if error.leads_nowhere() => Ok(false),
            works => works,
        }
    }
}

/// Returns whether a session's search for its project begins where an event's does.
fn is_from(session: &Session, hello: &Hello) -> bool {
    let of = |hello: &Hello| (start(hello).to_owned(), hello.exact, hello.pidns);
    of(&session.hello) == of(hello)
}

/// Returns whether a session and an event are of the same process.
fn is_by(session: &Session, hello: &Hello) -> bool {
    (session.hello.pid, session.hello.pid_start) == (hello.pid, hello.pid_start)
}

/// Returns what distinguishes a conversation's sessions in several projects.
fn mark(place: Option<&SessionLocation>, hello: &Hello) -> String {
    let text = match place {
        Some(SessionLocation::Here(located)) => format!("{:?}", located.directory()),
        Some(SessionLocation::Foreign(id)) => id.to_string(),
        Some(SessionLocation::Personal) | None => start(hello).to_owned(),
    };
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests;
