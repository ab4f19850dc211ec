//! Ended sessions whose staged work is not folded yet. The next load shows that work anyway.
//!
//! The grace period delays folding, not visibility. A session counts as ended if it is out of the
//! table, its end is under way, or `liveness.rs` says so. A live session's staged work stays
//! private.

use std::collections::BTreeSet;
use std::time::Duration;

use anchord_memory::render::EndedSession;
use anchord_memory::{SessionId, Timestamp};

use super::liveness::SessionEnd;
use super::service::SessionService;
use super::{Session, View};
use crate::{clock, limits};

impl Session {
    /// Finds the ended sessions of this project whose work is still staged, except those of this
    /// conversation. Waits at most [`limits::EXIT_TIME_MAX`] for processes that are exiting.
    pub(super) async fn just_ended(
        &self,
        service: &SessionService,
        view: &View,
    ) -> Vec<EndedSession> {
        let Some(project) = &view.project else { return Vec::new() };
        let registry = service.projects.registry.snapshot();
        // Work of this conversation is shown as this session's own.
        let mut own: BTreeSet<SessionId> = [self.id.clone()].into();
        own.extend(self.id.parent());
        own.extend(self.predecessors(&registry, project.id).iter().map(|it| it.session.clone()));
        let staged = || view.memory.staged().filter(|(session, _)| !own.contains(session));

        let until = clock::start() + limits::EXIT_TIME_MAX;
        while staged().any(|(session, _)| end_of(service, session) == SessionEnd::Exiting)
            && clock::start() < until
        {
            tokio::time::sleep(limits::EXIT_POLL).await;
        }
        let now = clock::now();
        let ended = staged().filter_map(|(session, staged)| match end_of(service, session) {
            SessionEnd::Over(since) => Some(EndedSession {
                client: staged.client.clone(),
                ended: since.map_or(staged.last, |since| before(now, since)),
                staged: staged.clone(),
            }),
            SessionEnd::Exiting | SessionEnd::Live => None,
        });
        ended.collect()
    }
}

fn end_of(service: &SessionService, session: &SessionId) -> SessionEnd {
    let table = &service.table;
    if table.is_ending(session) {
        return SessionEnd::Over(None);
    }
    table.status(session).map_or(SessionEnd::Over(None), |status| status.liveness().end())
}

fn before(now: Timestamp, since: Duration) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests;
