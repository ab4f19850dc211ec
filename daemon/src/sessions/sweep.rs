//! Finds the sessions that are gone, and folds their staged work into memory on their behalf.
//!
//! `liveness.rs` decides which sessions are gone. Nothing here touches one that may come back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::{NoticeCause, SessionId, Timestamp};
use anchord_proto::hello::{Hello, Role};
use futures::future::join_all;
use uuid::Uuid;

use super::end::{EndingSession, finish, left_over, staged_in};
use super::error::BindError;
use super::processes::is_foreign_process;
use super::service::SessionService;
use super::table::SessionStatus;
use super::{Session, SessionLocation};
use crate::bounded_fs::{self, DiskTimeout};
use crate::limits;
use crate::projects::{Changed, ProjectId, SessionRecord, identify, locate_named};

/// Restores the sessions that were open when an earlier daemon ended; they may reconnect.
pub(crate) fn recover(service: &SessionService) {
    for record in service.projects.registry.snapshot().sessions() {
        service.table.restore(restored(record));
    }
}

/// Ends the sessions that are gone, and finishes ends that were cut short. Failures are retried at
/// growing intervals: nothing is lost while it is staged.
///
/// Sessions of one project are ended one after the other, and all projects at once. A disk that
/// does not answer delays the sweep by up to [`limits::JOB_TIME_MAX`], but not the ends in other
/// projects.
pub(crate) async fn sweep(service: &SessionService) {
    let registry = service.projects.registry.snapshot();
    let mut projects: BTreeMap<Option<ProjectId>, Vec<Due>> = BTreeMap::new();
    for due in due(service) {
        let project = match &due {
            Due::Gone(gone) => registry.session(&gone.session.id).map(|record| record.project),
            Due::LeftOver(leaving) => Some(leaving.project),
        };
        projects.entry(project).or_default().push(due);
    }
    join_all(projects.into_values().map(|due| end_all(service, due))).await;
}

async fn end_all(service: &SessionService, all: Vec<Due>) {
    for due in all {
        let session = due.session();
        match due.end(service).await {
            Ok(Some(had_staged)) => tracing::info!(%session, had_staged, "a session is gone"),
            Ok(None) => {}
            Err(error) => {
                service.table.end_failed(session);
                tracing::warn!(%session, %error, "ending a session failed");
                if matches!(error, BindError::Hangs(_)) {
                    return; // The others would wait as long.
                }
            }
        }
    }
}

/// Bounds the time of an end, since the disk may not answer. An end that is cut short is repeated.
async fn in_time<T>(ending: impl Future<Output = Result<T, BindError>>) -> Result<T, BindError> {
    tokio::time::timeout(limits::JOB_TIME_MAX, ending)
        .await
        .unwrap_or(Err(BindError::Hangs(DiskTimeout)))
}

/// An end that a sweep has to perform.
enum Due {
    Gone(SessionStatus),
    LeftOver(EndingSession),
}

impl Due {
    fn session(&self) -> &SessionId {
        match self {
            Self::Gone(status) => &status.session.id,
            Self::LeftOver(leaving) => &leaving.session,
        }
    }

    /// Performs the end. Returns whether anything was staged, or `None` if there was nothing to
    /// end.
    async fn end(&self, service: &SessionService) -> Result<Option<bool>, BindError> {
        match self {
            Self::Gone(status) => end_gone(service, status).await,
            Self::LeftOver(leaving) => {
                let finish = in_time(finish(service, leaving, NoticeCause::Ended));
                Ok(Some(finish.await?))
            }
        }
    }
}

fn due(service: &SessionService) -> Vec<Due> {
    let grace = service.config.sessions.grace;
    let gone = service.table.all().into_iter().filter(|status| status.liveness().is_gone(grace));
    let all = gone.map(Due::Gone).chain(left_over(service).into_iter().map(Due::LeftOver));
    all.filter(|due| service.table.may_be_ended(due.session())).collect()
}

/// Ends a session that is gone, unless it is back or another task has ended it meanwhile.
async fn end_gone(
    service: &SessionService,
    status: &SessionStatus,
) -> Result<Option<bool>, BindError> {
    let session = &status.session;
    let Some(ending) = service.table.end_if_away(&session.id) else { return Ok(None) };
    if ending.status().is_none() {
        return Ok(None);
    }
    let Some(record) = service.projects.registry.snapshot().session(&session.id).cloned() else {
        return Ok(None); // It never wrote anything.
    };
    let kept = in_time(keep(service, status, &record)).await;
    if kept.is_err() {
        ending.put_back();
    }
    kept.map(Some)
}

/// Folds the session's staged work and states the cause. Returns whether there was any.
async fn keep(
    service: &SessionService,
    status: &SessionStatus,
    record: &SessionRecord,
) -> Result<bool, BindError> {
    let mut leaving = EndingSession::from(record);
    let Some((_, staged)) = staged_in(service, &leaving).await? else {
        return finish(service, &leaving, NoticeCause::Ended).await;
    };
    // Activity recorded by rule is kept without a notice, so nobody would read about files.
    let changed = if staged.has_work() {
        changed_files(service, &status.session, record, staged.last).await
    } else {
        None
    };
    leaving.files_unseen = changed.as_ref().is_some_and(|changed| !changed.complete);
    // A machine that crashes kills the daemon too. One that shuts down lets the daemon stop first.
    let died = status.orphan && service.after_crash;
    let cause = match changed {
        Some(changed) if !changed.files.is_empty() => {
            NoticeCause::Crashed { files: changed.files, more: changed.more }
        }
        _ if died => NoticeCause::Crashed { files: Vec::new(), more: 0 },
        _ => NoticeCause::Ended,
    };
    finish(service, &leaving, cause).await
}

/// Returns the files of the session's project that changed after its last checkpoint. Returns
/// `None` if this machine cannot see them, or if the directory is another project by now.
async fn changed_files(
    service: &SessionService,
    session: &Session,
    record: &SessionRecord,
    since: Timestamp,
) -> Option<Changed> {
    if is_foreign_process(session.hello.pidns) {
        return None;
    }
    let registry = service.projects.registry.snapshot();
    let surroundings = service.surroundings.clone();
    let project = record.project;
    let named = session.hello.project.as_deref().map(PathBuf::from);
    let root = registry.project(project).map(|known| known.root.clone());
    let starts = [named, Some(record.cwd.clone()), root];
    let looking = bounded_fs::run(&record.cwd, move || {
        let located = starts.into_iter().flatten().find_map(|start| {
            let located = locate_named(&start, &surroundings).ok()?;
            (identify(&located, &registry).ok()?.id == Some(project)).then_some(located)
        });
        let place = located.map(SessionLocation::Here);
        place.and_then(|place| Some(place.files()?.changed_since(since, place.repository())))
    });
    looking.await.unwrap_or_else(|error| {
        tracing::warn!(session = %session.id, %error, "the changed files are not known");
        Some(Changed::default())
    })
}

fn restored(record: &SessionRecord) -> Session {
    let instance = Uuid::parse_str(&record.instance).unwrap_or_default();
    let hello = Hello {
        pid_start: record.pid_start,
        boot: record.boot.clone(),
        pidns: record.pidns,
        cwd: record.cwd.to_str().map(str::to_owned),
        ..Hello::new(Role::Mcp, instance, record.pid)
    };
    let agent_session = record.agent_session.as_deref().map(Arc::from);
    let session =
        Session::new(record.session.clone(), Arc::new(hello), agent_session, record.first_write);
    session.set_client(&record.client);
    session
}

#[cfg(test)]
mod tests;
