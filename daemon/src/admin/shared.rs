//! Shares a memory through files in the project, and decides conflicts.

use std::sync::Arc;

use super::{Answer, ask, bad_request, bind_error, hangs, internal, store_error, text};
use crate::api::{ErrorCode, ErrorReply, SharedAction, SharedParams, SharedReply};
use crate::bounded_fs;
use crate::project::OpenProject;
use crate::projects::ProjectId;
use crate::sessions::{self, SessionService};
use crate::shared::{DIRECTORY, KeptSide, count_files, has_shared_files};

/// Reports or changes how a memory is shared.
pub(crate) async fn shared_files(
    service: &SessionService,
    params: SharedParams,
) -> Answer<SharedReply> {
    let asked = ask(service, &params.project).await?;
    let mut reply = SharedReply { directory: DIRECTORY.to_owned(), ..SharedReply::default() };
    let mut id = asked.id;
    if params.action == SharedAction::Share
        && let Some(located) = &asked.located
    {
        let established =
            sessions::establish_in_registry(&service.projects.registry, located.clone()).await;
        let (established, notice) = established.map_err(bind_error)?;
        (id, reply.remark) = (Some(established), notice);
    }
    let registry = service.projects.registry.snapshot();
    let record = id.and_then(|id| registry.project(id).cloned());
    let root = match (&record, &asked.located) {
        (Some(record), _) => record.root.clone(),
        (None, Some(located)) => located.main_root(),
        (None, None) => return Err(refused("only a project's memory can be shared".to_owned())),
    };
    let open = match id {
        Some(id) => opened(service, id, params.action).await?,
        None => None,
    };
    match (params.action, &open) {
        (SharedAction::Look, None) => {}
        (SharedAction::Look, Some(open)) => service.shared.look(open).await,
        (SharedAction::Share, Some(open)) if open.owner.team().is_some() => {
            let action = "`anchord team leave --keep` makes it this machine's own";
            let error = "a team shares this memory through its database already";
            return Err(ErrorReply {
                action: Some(action.to_owned()),
                ..refused(error.to_owned())
            });
        }
        (SharedAction::Share, Some(open)) => {
            let remark = service.shared.share(open).await.map_err(refused)?;
            reply.remark = reply.remark.or(remark);
        }
        (SharedAction::Unshare, Some(open)) => {
            service.shared.unshare(open).await.map_err(refused)?;
        }
        (SharedAction::KeepMemory(record), Some(open)) => {
            let resolved = service.shared.resolve(open, record, KeptSide::Memory).await;
            let file = resolved.map_err(refused)?;
            reply.remark = Some(format!("{file} has what the memory has"));
        }
        (SharedAction::KeepFile(record), Some(open)) => {
            let resolved = service.shared.resolve(open, record, KeptSide::File).await;
            let file = resolved.map_err(refused)?;
            reply.remark = Some(format!("{record} has what {file} has"));
        }
        (_, None) => return Err(refused("nothing is remembered there yet".to_owned())),
    }
    let at = root.clone();
    let looking = bounded_fs::run(&root, move || {
        let has_files = has_shared_files(&at)?;
        Ok::<_, crate::projects::MirrorError>((has_files, count_files(&at)?))
    });
    let found = looking.await.map_err(hangs)?.map_err(|error| bad_request(&error))?;
    (reply.has_files, reply.files) = found;
    reply.root = text(&root);
    if let Some(open) = &open {
        reply.project = Some(asked.reference(service, open.id));
        reply.is_on = service.shared.is_on(open.id);
        reply.records = open.memory().records().filter(|record| record.is_shared()).count();
        reply.status = service.shared.reported(open.id);
    }
    Ok(reply)
}

/// Opens the memory. Only sharing creates one.
async fn opened(
    service: &SessionService,
    id: ProjectId,
    action: SharedAction,
) -> Answer<Option<Arc<OpenProject>>> {
    if id.is_personal() {
        return Err(refused("the user's own memory is never shared".to_owned()));
    }
    if action == SharedAction::Share {
        return service.projects.open_project(id).await.map(Some).map_err(store_error);
    }
    service.projects.open_known(id).await.map_err(store_error)
}

fn refused(error: String) -> ErrorReply {
    if error.is_empty() {
        return internal("a refusal without a reason");
    }
    ErrorReply { code: ErrorCode::Refused, error, action: None }
}
