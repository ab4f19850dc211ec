//! The end of sessions: staged work of those that are gone is folded into memory on their behalf.
//!
//! Gone means: the socket is closed, the grace is over, and the process does not exist. A process that
//! cannot be judged (another container) has a day. Nothing here touches a session that may come back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{
    Memory, NoticeCause, Provenance, SessionId, Staged, Timestamp, plan_adopt, plan_keep,
};
use anchord_proto::hello::{Hello, Role};
use uuid::Uuid;

use super::bind::{BindError, blocking, is_dead, is_foreign_process};
use super::compaction::{Touched, keep_to_budget};
use super::table::Standing;
use super::{Place, Session};
use crate::daemon::Daemon;
use crate::limits;
use crate::project::{Decide, Decided, OpenProject, WriteError};
use crate::projects::{Changed, Registry, RegistryChange, SessionRecord, identify, locate};

/// Puts the sessions back that were open when an earlier daemon ended; they may reconnect.
pub(crate) fn recover(daemon: &Daemon) {
    for record in daemon.registry.snapshot().sessions() {
        daemon.sessions().restore(restored(record));
    }
}

/// Ends the sessions that are gone.
pub(crate) async fn sweep(daemon: &Arc<Daemon>) {
    for standing in daemon.sessions().all() {
        let away = standing.disconnected.map(|since| since.elapsed());
        if !is_gone(&standing.session.hello, away, daemon.config.sessions.grace) {
            continue;
        }
        if let Err(error) = end_gone(daemon, &standing).await {
            // The next sweep tries again: nothing is lost while it is staged.
            tracing::warn!(session = %standing.session.id, %error, "ending a session failed");
        }
    }
}

/// Whether a session that has been away for so long, if it is, will not come back.
fn is_gone(hello: &Hello, away: Option<Duration>, grace: Duration) -> bool {
    let Some(away) = away.filter(|away| *away >= grace) else { return false };
    if is_foreign_process(hello.pidns) {
        return away >= limits::FOREIGN_GRACE;
    }
    is_dead(hello.pid, hello.pid_start, hello.boot.as_deref())
}

async fn end_gone(daemon: &Arc<Daemon>, standing: &Standing) -> Result<(), BindError> {
    let session = &standing.session;
    let registered = daemon.registry.snapshot().session(&session.id).cloned();
    let Some(record) = registered else {
        // It never wrote anything.
        daemon.sessions().remove_if_away(&session.id);
        return Ok(());
    };
    if !daemon.sessions().remove_if_away(&session.id) {
        return Ok(());
    }
    let kept = keep(daemon, standing, &record).await;
    if kept.is_err() {
        daemon.sessions().put_back(standing);
    }
    let had_staged = kept?;
    end(daemon, &record.session, !had_staged).await?;
    tracing::info!(session = %record.session, had_staged, "a session is gone");
    Ok(())
}

/// Ends a session that its agent says is over, or that another one has taken the place of, and its subagents': what
/// they staged is folded now, and nobody waits for a grace.
///
/// # Errors
/// The first one; the others are logged. All are tried, and those that could not be ended are left to the sweep.
pub(crate) async fn keep_and_end(daemon: &Daemon, session: &Session) -> Result<(), BindError> {
    let mut outcome = Ok(());
    let subagents = daemon.sessions().subagents(&session.id);
    let ids = subagents.iter().map(|subagent| &subagent.id).chain([&session.id]);
    for id in ids {
        let standing = daemon.sessions().end(id);
        let Err(error) = keep_and_end_one(daemon, id).await else { continue };
        if let Some(standing) = standing {
            daemon.sessions().put_back(&standing);
        }
        tracing::warn!(session = %id, %error, "a session could not be ended");
        outcome = outcome.and(Err(error));
    }
    outcome
}

async fn keep_and_end_one(daemon: &Daemon, id: &SessionId) -> Result<(), BindError> {
    let Some(record) = daemon.registry.snapshot().session(id).cloned() else {
        return Ok(()); // It never wrote anything.
    };
    let had_staged = match staged_in(daemon, &record).await? {
        Some((project, _)) => {
            fold(daemon, &project, &record, NoticeCause::Ended).await?;
            true
        }
        None => false,
    };
    end(daemon, &record.session, !had_staged).await?;
    tracing::info!(session = %record.session, had_staged, "a session was ended by its agent");
    Ok(())
}

/// Hands what a session staged to the one that turned out to be the same conversation, and ends it.
pub(crate) async fn hand_over(
    daemon: &Daemon,
    from: &Session,
    to: &Session,
) -> Result<(), BindError> {
    let standing = daemon.sessions().end(&from.id);
    let Some(record) = daemon.registry.snapshot().session(&from.id).cloned() else {
        return Ok(());
    };
    let handed = hand_over_staged(daemon, &record, from, to).await;
    if let (Err(_), Some(standing)) = (&handed, standing) {
        daemon.sessions().put_back(&standing);
    }
    handed
}

async fn hand_over_staged(
    daemon: &Daemon,
    record: &SessionRecord,
    from: &Session,
    to: &Session,
) -> Result<(), BindError> {
    let adopted = from.id.clone();
    to.write(daemon, None, "adopt", || {
        let (from, to, client) = (adopted.clone(), to.id.clone(), to.client());
        Box::new(move |memory, time| {
            let by = Provenance { session: to.clone(), client, time };
            let changes = plan_adopt(memory, &from, &to, &by).map(|plan| plan.changes);
            Ok(Decided { changes: changes.unwrap_or_default(), reply: String::new() })
        })
    })
    .await?;
    end(daemon, &record.session, false).await?;
    tracing::info!(session = %to.id, from = %from.id, "the same conversation by another name");
    Ok(())
}

/// What a session has staged, and the project in which it has.
async fn staged_in(
    daemon: &Daemon,
    record: &SessionRecord,
) -> Result<Option<(Arc<OpenProject>, Arc<Staged>)>, BindError> {
    if !daemon.projects.exists(record.project) {
        return Ok(None); // Deleted, and its staged work with it.
    }
    let project = daemon.projects.open(record.project).await?;
    let staged = project.memory().staged_by(&record.session).cloned();
    Ok(staged.map(|staged| (project, staged)))
}

/// Folds what a session left staged.
async fn fold(
    daemon: &Daemon,
    project: &Arc<OpenProject>,
    record: &SessionRecord,
    cause: NoticeCause,
) -> Result<(), BindError> {
    let (session, client) = (record.session.clone(), record.client.as_str().into());
    let decide: Decide<Memory> = Box::new(move |memory, time| {
        let by = Provenance { session, client, time };
        let plan = plan_keep(memory, &by.session, &by, cause);
        Ok(Decided {
            changes: plan.map(|plan| plan.changes).unwrap_or_default(),
            reply: String::new(),
        })
    });
    let touched = Touched::default();
    let decide = touched.noted_by(decide);
    project.owner.write(Some(record.session.clone()), None, "keep", decide).await?;
    keep_to_budget(daemon, project, &touched.ids()).await;
    Ok(())
}

/// Folds what the session left staged. Returns whether there was anything.
async fn keep(
    daemon: &Arc<Daemon>,
    standing: &Standing,
    record: &SessionRecord,
) -> Result<bool, BindError> {
    let Some((project, staged)) = staged_in(daemon, record).await? else { return Ok(false) };
    let since = staged.last;
    // What was noted by rule is kept without a notice, so nobody would read of files.
    let changed = if staged.has_work() {
        changed_files(daemon, &standing.session, record, since).await
    } else {
        None
    };
    let died = standing.orphan && (daemon.after_crash || machine_died(record));
    let cause = match changed {
        Some(changed) if !changed.files.is_empty() => {
            NoticeCause::Crashed { files: changed.files, more: changed.more }
        }
        _ if died => NoticeCause::Crashed { files: Vec::new(), more: 0 },
        _ => NoticeCause::Ended,
    };
    fold(daemon, &project, record, cause).await?;
    Ok(true)
}

/// The files of the session's project that changed after its last checkpoint; none where they cannot be
/// seen, or where its directory is another project by now.
async fn changed_files(
    daemon: &Daemon,
    session: &Session,
    record: &SessionRecord,
    since: Timestamp,
) -> Option<Changed> {
    if is_foreign_process(session.hello.pidns) {
        return None;
    }
    let registry = daemon.registry.snapshot();
    let surroundings = daemon.surroundings.clone();
    let project = record.project;
    let named = session.hello.project.as_deref().map(PathBuf::from);
    let root = registry.project(project).map(|known| known.root.clone());
    let starts = [named, Some(record.cwd.clone()), root];
    blocking(move || {
        let located = starts.into_iter().flatten().find_map(|start| {
            let located = locate(&start, true, &surroundings).ok()?;
            (identify(&located, &registry).ok()?.id == Some(project)).then_some(located)
        });
        let place = located.map(Place::Here);
        Ok(place.and_then(|place| Some(place.files()?.changed_since(since, place.repository()))))
    })
    .await
    .unwrap_or_else(|error| {
        tracing::warn!(session = %session.id, %error, "the changed files are not known");
        None
    })
}

/// Takes a session out of the registry's open ones.
pub(super) async fn end(daemon: &Daemon, id: &SessionId, saved: bool) -> Result<(), WriteError> {
    let session = id.clone();
    let decide: Decide<Registry> = Box::new(move |registry, time| {
        let changes = match registry.session(&session) {
            Some(_) => vec![RegistryChange::SessionEnded { session, time, saved }],
            None => Vec::new(),
        };
        Ok(Decided { changes, reply: String::new() })
    });
    daemon.registry.write(None, None, "end", decide).await?;
    Ok(())
}

fn machine_died(record: &SessionRecord) -> bool {
    record.boot.is_some() && record.boot != anchord_proto::host::boot_id()
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
