//! Ended sessions whose staged work is not folded yet. The next load shows that work anyway.
//!
//! The grace period delays folding, not visibility. A session counts as ended if it is out of the
//! table or its end is under way. It also does if its socket is closed and its process is gone. A
//! live session's staged work stays private. So does the work of a process that cannot be judged,
//! unless the daemon saw its socket close.

use std::collections::BTreeSet;
use std::time::Duration;

use anchord_memory::render::EndedSession;
use anchord_memory::{SessionId, Timestamp};
use anchord_proto::hello::Hello;

use super::processes::{is_dead, is_foreign_process};
use super::service::SessionService;
use super::table::SessionStatus;
use super::{Session, View};
use crate::{clock, limits};

/// Liveness of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The session ended this long ago. `None` if its end was not seen.
    Over(Option<Duration>),
    /// The session's socket has just closed, and its process still exists.
    Exiting,
    Live,
}

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
        while staged().any(|(session, _)| end_of(service, session) == End::Exiting)
            && clock::start() < until
        {
            tokio::time::sleep(limits::EXIT_POLL).await;
        }
        let now = clock::now();
        let ended = staged().filter_map(|(session, staged)| match end_of(service, session) {
            End::Over(since) => Some(EndedSession {
                client: staged.client.clone(),
                ended: since.map_or(staged.last, |since| before(now, since)),
                staged: staged.clone(),
            }),
            End::Exiting | End::Live => None,
        });
        ended.collect()
    }
}

fn end_of(service: &SessionService, session: &SessionId) -> End {
    let table = &service.table;
    if table.is_ending(session) {
        return End::Over(None);
    }
    match table.status(session) {
        None => End::Over(None),
        Some(status) => end_of_standing(&status),
    }
}

fn end_of_standing(status: &SessionStatus) -> End {
    let away = status.disconnected.map(|since| since.elapsed());
    let end = judge(&status.session.hello, away, status.closed_its_connection());
    // A session restored from an earlier daemon counts as away since this daemon's start, not since
    // its own end.
    if status.orphan && matches!(end, End::Over(_)) { End::Over(None) } else { end }
}

/// Judges a session by how long it has been away and whether this daemon saw its connection close.
fn judge(hello: &Hello, away: Option<Duration>, saw_it_close: bool) -> End {
    let Some(away) = away else { return End::Live };
    let is_over = if is_foreign_process(hello.pidns) {
        saw_it_close
    } else {
        is_dead(hello.pid, hello.pid_start, hello.boot.as_deref())
    };
    match is_over {
        true => End::Over(Some(away)),
        false if saw_it_close && away < limits::CLOSED_LATELY => End::Exiting,
        false => End::Live,
    }
}

fn before(now: Timestamp, since: Duration) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests;
