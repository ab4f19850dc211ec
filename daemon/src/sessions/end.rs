//! The end of a session: one operation for every cause, safe alongside other running work.
//!
//! First, the session leaves the table. Next, its staged work leaves the project, folded on its
//! behalf or handed to another session. Last, the session leaves the registry. Three rules keep
//! this correct while calls are still running, and when the same session comes back:
//!
//! - Acknowledged work is never left behind. A write checks, *after* it is on disk, whether its
//!   session is in the table ([`after_write`]). If it is, a later end sees the write. If it is not,
//!   the write ends the session once more. There is no third case: the table has one lock.
//!
//! - A session that came back (the same id, in the table again) is not ended by its earlier end.
//!   The writers of the project and of the registry decide whether its work is folded and its row
//!   removed. Both check the table first. A session is in the table before it stages anything, and
//!   before it asks the registry's writer for its row.
//!
//! - An end may be cut short at any await, or fail. Then a row in the registry, or staged work,
//!   remains of a session that is in no table and that nobody is ending. The sweep ends those
//!   sessions in every open project ([`left_over`]). A project that an earlier daemon left in this
//!   state is repaired when it is next opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchord_memory::{Memory, NoticeCause, Provenance, SessionId, Staged, plan_adopt, plan_keep};

use super::Session;
use super::error::BindError;
use super::service::SessionService;
use super::table::{EndGuard, SessionTable};
use crate::project::{
    BudgetKeeper, OpenProject, Operation, Transition, WriteCommand, WriteError, WriteSet,
};
use crate::projects::{ProjectId, Registry, RegistryChange, SessionRecord};
use crate::store::StoreError;

/// A session that is ending, and the project that holds its work.
#[derive(Clone, Debug)]
pub(super) struct EndingSession {
    pub(super) session: SessionId,
    pub(super) client: Arc<str>,
    pub(super) project: ProjectId,
    /// Whether some of the project's files could not be checked for changes after its last
    /// checkpoint.
    pub(super) files_unseen: bool,
    /// Whether another session continues with its work.
    handed: bool,
}

impl EndingSession {
    fn handed(record: &SessionRecord) -> Self {
        Self { handed: true, ..Self::from(record) }
    }
}

impl From<&SessionRecord> for EndingSession {
    fn from(record: &SessionRecord) -> Self {
        let (session, client) = (record.session.clone(), record.client.as_str().into());
        Self { session, client, project: record.project, files_unseen: false, handed: false }
    }
}

/// Ends a session and its subagents after its agent reported the end, or after another session
/// replaced it. Their staged work is folded now, without a grace period.
///
/// # Errors
/// Returns the first error and logs the others. All ends are tried, and the sweep retries those
/// that failed.
pub(crate) async fn keep_and_end(
    service: &SessionService,
    session: &Session,
) -> Result<(), BindError> {
    let mut outcome = Ok(());
    let subagents = service.table.subagents(&session.id);
    let ids = subagents.iter().map(|subagent| &subagent.id).chain([&session.id]);
    for id in ids {
        let ending = service.table.end(id);
        let Some(record) = service.projects.registry.snapshot().session(id).cloned() else {
            continue; // It never wrote anything.
        };
        match finish(service, &EndingSession::from(record.as_ref()), NoticeCause::Ended).await {
            Ok(had_staged) => {
                tracing::info!(session = %id, had_staged, "a session was ended by its agent");
            }
            Err(error) => {
                ending.put_back();
                tracing::warn!(session = %id, %error, "a session could not be ended");
                outcome = outcome.and(Err(error));
            }
        }
    }
    outcome
}

/// Hands a session's staged work to the session that turned out to be the same conversation, and
/// ends it.
pub(crate) async fn hand_over(
    service: &SessionService,
    from: &Session,
    to: &Session,
) -> Result<(), BindError> {
    let ending = service.table.end(&from.id);
    let Some(record) = service.projects.registry.snapshot().session(&from.id).cloned() else {
        return Ok(());
    };
    let adopted =
        to.write(service, None, Operation::staying("adopt"), adopting(&from.id, to)).await;
    finish_handed(service, ending, &record, adopted.map(drop)).await?;
    tracing::info!(session = %to.id, from = %from.id, "the same conversation by another name");
    Ok(())
}

/// Ends a session whose work was adopted. Puts it back if the adoption or the end failed.
async fn finish_handed(
    service: &SessionService,
    ending: EndGuard<'_>,
    record: &SessionRecord,
    adopted: Result<(), BindError>,
) -> Result<(), BindError> {
    let finished = match adopted {
        Ok(()) => {
            finish(service, &EndingSession::handed(record), NoticeCause::Ended).await.map(drop)
        }
        Err(error) => Err(error),
    };
    if finished.is_err() {
        ending.put_back();
    }
    finished
}

impl Session {
    /// Takes over the staged work that a dead predecessor of the same agent session left here.
    pub(super) async fn take_over(
        &self,
        service: &SessionService,
        project: &OpenProject,
    ) -> Result<(), BindError> {
        for record in self.predecessors(&service.projects.registry.snapshot(), project.id) {
            let Some(ending) = service.table.end_if_away(&record.session) else { continue };
            let decide = adopting(&record.session, self);
            let adopted = project
                .owner
                .write(Some(self.id.clone()), None, Operation::staying("adopt"), decide)
                .await;
            let adopted = adopted.map(drop).map_err(BindError::from);
            finish_handed(service, ending, &record, adopted).await?;
            tracing::info!(session = %self.id, from = %record.session, "took over staged work");
        }
        Ok(())
    }
}

fn adopting(from: &SessionId, to: &Session) -> WriteCommand<Memory> {
    let (from, to, client) = (from.clone(), to.id.clone(), to.client());
    Arc::new(move |memory, time| {
        let by = Provenance::new(to.clone(), client.clone(), time);
        let plan = plan_adopt(memory, &from, &to, &by);
        Ok(Transition::silent(plan.map(|plan| plan.changes).unwrap_or_default()))
    })
}

/// Handles a write that is on disk. If the session has ended meanwhile, ends it once more, since
/// nobody else would see its staged work.
pub(super) async fn after_write(service: &SessionService, session: &Session, project: ProjectId) {
    if service.table.holds(&session.id) {
        return;
    }
    let leaving = EndingSession {
        session: session.id.clone(),
        client: session.client(),
        project,
        files_unseen: false,
        handed: false,
    };
    match finish(service, &leaving, NoticeCause::Ended).await {
        Ok(had_staged) => {
            tracing::info!(session = %session.id, had_staged, "a call outlived its session");
        }
        // The write remains; the sweep finds it.
        Err(error) => tracing::warn!(session = %session.id, %error, "ending a session failed"),
    }
}

/// Returns the sessions whose ends were cut short, in this daemon or an earlier one.
pub(super) fn left_over(service: &SessionService) -> Vec<EndingSession> {
    let registry = service.projects.registry.snapshot();
    let mut found: BTreeMap<(ProjectId, SessionId), EndingSession> = registry
        .sessions()
        .map(|record| EndingSession::from(record.as_ref()))
        .map(|leaving| ((leaving.project, leaving.session.clone()), leaving))
        .collect();
    for project in service.projects.open.all() {
        for (session, staged) in project.memory().staged() {
            let leaving = || EndingSession {
                session: session.clone(),
                client: Arc::clone(&staged.client),
                project: project.id,
                files_unseen: false,
                handed: false,
            };
            found.entry((project.id, session.clone())).or_insert_with(leaving);
        }
    }
    let over = |leaving: &EndingSession| service.table.is_over(&leaving.session);
    found.into_values().filter(over).collect()
}

/// Performs the last steps of an end: folds the staged work, and removes the session from the
/// registry. Returns whether anything was staged.
pub(super) async fn finish(
    service: &SessionService,
    leaving: &EndingSession,
    cause: NoticeCause,
) -> Result<bool, BindError> {
    let staged = staged_in(service, leaving).await?;
    if let Some((project, _)) = &staged {
        fold(service, project, leaving, cause).await?;
    }
    let had_staged = staged.is_some();
    out_of_registry(service, leaving, !had_staged && !leaving.handed).await?;
    service.table.ended(&leaving.session);
    Ok(had_staged)
}

/// Returns a session's staged work, and the project that holds it.
///
/// # Errors
/// Also fails if the project accepts no writes, before anybody walks its files in vain.
pub(super) async fn staged_in(
    service: &SessionService,
    leaving: &EndingSession,
) -> Result<Option<(Arc<OpenProject>, Arc<Staged>)>, BindError> {
    let Some(project) = service.projects.open_known(leaving.project).await? else {
        return Ok(None); // Deleted, and its staged work with it.
    };
    let Some(staged) = project.memory().staged_by(&leaving.session).cloned() else {
        return Ok(None);
    };
    if let Some(why) = &project.owner.health().read_only {
        let why = why.clone();
        return Err(WriteError::NotSaved(Arc::new(StoreError::ReadOnly { why })).into());
    }
    Ok(Some((project, staged)))
}

/// Folds a session's staged work, unless the session has come back.
async fn fold(
    service: &SessionService,
    project: &OpenProject,
    leaving: &EndingSession,
    cause: NoticeCause,
) -> Result<(), WriteError> {
    let EndingSession { session, client, files_unseen, .. } = leaving.clone();
    let table: Arc<SessionTable> = Arc::clone(&service.table);
    let decide: WriteCommand<Memory> = Arc::new(move |memory, time| {
        let plan = if table.holds(&session) {
            None
        } else {
            let by = Provenance::new(session.clone(), client.clone(), time);
            plan_keep(memory, &session, &by, cause.clone(), files_unseen)
        };
        let changes = plan.map(|plan| plan.changes).unwrap_or_default();
        Ok(Transition::silent(changes))
    });
    let session = Some(leaving.session.clone());
    let written = project.owner.write(session, None, "keep", decide).await?;
    let (write_set, (), _) = WriteSet::split(written);
    BudgetKeeper::of_daemon(&service.config).keep(project, write_set).await;
    Ok(())
}

/// Removes a session from the registry's open ones, unless it has come back or now works elsewhere.
async fn out_of_registry(
    service: &SessionService,
    leaving: &EndingSession,
    saved: bool,
) -> Result<(), WriteError> {
    let EndingSession { session, project, .. } = leaving.clone();
    let table: Arc<SessionTable> = Arc::clone(&service.table);
    let decide: WriteCommand<Registry> = Arc::new(move |registry, time| {
        let here = registry.session(&session).is_some_and(|record| record.project == project);
        let changes = if here && !table.holds(&session) {
            vec![RegistryChange::SessionEnded { session: session.clone(), time, saved }]
        } else {
            Vec::new()
        };
        Ok(Transition::silent(changes))
    });
    service.projects.registry.write(None, None, "end", decide).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
