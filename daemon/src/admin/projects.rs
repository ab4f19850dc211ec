//! Linking, forgetting and deleting projects.

use std::sync::Arc;

use anchord_memory::SessionId;

use super::{
    Answer, Target, bad_request, find, internal, known, reference, store_error, target, write_error,
};
use crate::api::{ErrorCode, ErrorReply, ProjectStatus, RemovedReply};
use crate::blocking::join_or_resume_panic;
use crate::project::{ClosedStore, Transition, WriteCommand};
use crate::projects::{ProjectId, ProjectRecord, Registry, RegistryChange, link};
use crate::sessions::SessionService;

/// Makes a directory use the memory of a project.
pub(crate) async fn link_directory(
    service: &SessionService,
    path: &str,
    project: &str,
) -> Answer<ProjectStatus> {
    let target = known(service, project).await?;
    let id = target.id;
    let linked = move |located| link(&located, id).map_err(|error| bad_request(&error));
    let linked = find(service, path, linked).await?;
    // Writes to a project that is not listed would be listed nowhere.
    let listed = ProjectRecord { forgotten: false, ..ProjectRecord::clone(&target) };
    let changes = vec![RegistryChange::ProjectSeen(listed), linked];
    let changes = if target.forgotten { changes } else { changes.into_iter().skip(1).collect() };
    change_registry(service, "link", move |_| changes.clone()).await?;
    super::project(service, &target.id.to_string()).await
}

/// Takes a project out of the registry; its data stays. The user's own memory can be forgotten only
/// if its data is missing.
pub(crate) async fn forget_project(
    service: &SessionService,
    project: &str,
) -> Answer<RemovedReply> {
    let Target { id, reference, .. } = target(service, project).await?;
    if id.is_personal() && service.projects.open.has_data(id).map_err(store_error)? {
        return Err(ErrorReply {
            code: ErrorCode::Refused,
            error: "your own notes are on disk, and no list has them".to_owned(),
            action: Some("`anchord forget ID` forgets one of them".to_owned()),
        });
    }
    refuse_while_live(service, id)?;
    let bytes = service.projects.open.usage(id).await.bytes;
    change_registry(service, "forget", move |_| vec![RegistryChange::ProjectForgotten { id }])
        .await?;
    Ok(RemovedReply { project: reference, bytes })
}

/// Takes a project out of the registry and off the disk.
pub(crate) async fn delete_project(
    service: &Arc<SessionService>,
    project: &str,
    confirm: &str,
) -> Answer<RemovedReply> {
    let record = known(service, project).await?;
    let id = record.id;
    if confirm != id.to_string() {
        return Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: "the confirmation is not the project's id".to_owned(),
            action: Some(format!("confirm with {id}")),
        });
    }
    refuse_while_live(service, id)?;
    let bytes = service.projects.open.usage(id).await.bytes;
    let deleting = Arc::clone(service);
    // The caller may hang up. A deletion that stops half-way would leave a listed project without
    // data.
    join_or_resume_panic(tokio::spawn(async move { delete(&deleting, id).await })).await?;
    Ok(RemovedReply { project: reference(&record), bytes })
}

async fn delete(service: &SessionService, id: ProjectId) -> Answer<()> {
    let removed = service.projects.open.close_and(id, ClosedStore::remove).await;
    removed.map_err(|error| internal(&format!("failed to delete the project's data: {error}")))?;
    let changes = move |registry: &Registry| {
        let mut changes = registry.unlink(id);
        changes.push(RegistryChange::ProjectDeleted { id });
        changes
    };
    change_registry(service, "delete", changes).await
}

pub(super) async fn change_registry(
    service: &SessionService,
    operation: &'static str,
    changes: impl Fn(&Registry) -> Vec<RegistryChange> + Send + Sync + 'static,
) -> Answer<()> {
    let decide: WriteCommand<Registry> =
        Arc::new(move |registry, _| Ok(Transition::silent(changes(registry))));
    service.projects.registry.write(None, None, operation, decide).await.map_err(write_error)?;
    Ok(())
}

/// Refuses while sessions work in the project: connected ones, and disconnected ones whose staged
/// work is not yet folded.
fn refuse_while_live(service: &SessionService, id: ProjectId) -> Answer<()> {
    let registry = service.projects.registry.snapshot();
    let bound =
        |session: &SessionId| registry.session(session).is_some_and(|record| record.project == id);
    let live = service
        .table
        .all()
        .into_iter()
        .filter(|status| {
            let session = &status.session;
            let reads = status.disconnected.is_none() && session.project_id() == Some(id);
            reads || bound(&session.id)
        })
        .count();
    if live == 0 {
        return Ok(());
    }
    let grace = service.config.sessions.grace.as_secs();
    Err(ErrorReply {
        code: ErrorCode::Refused,
        error: format!("{live} live session(s) work in this project"),
        action: Some(format!(
            "end them first; one that has ended counts for {grace} s more. `anchord status` names them"
        )),
    })
}
