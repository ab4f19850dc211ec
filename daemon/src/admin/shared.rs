//! Shares a memory through files in the project, and decides conflicts.

use std::sync::Arc;

use super::{Answer, ask, bad_request, hangs, internal, store_error, text};
use crate::api::{ErrorCode, ErrorReply, SharedAction, SharedParams, SharedReply};
use crate::bounded_fs;
use crate::project::OpenProject;
use crate::projects::{Located, ProjectId};
use crate::sessions::SessionService;
use crate::shared::{DIRECTORY, KeptSide, count_files, has_shared_files, is_lost};

/// Reports or changes how a memory is shared.
pub(crate) async fn shared_files(
    service: &SessionService,
    params: SharedParams,
) -> Answer<SharedReply> {
    let asked = ask(service, &params.project).await?;
    let mut reply = SharedReply { directory: DIRECTORY.to_owned(), ..SharedReply::default() };
    let mut id = asked.id;
    if params.action == SharedAction::Share
        && let Some((established, notice)) = asked.establish(service).await?
    {
        (id, reply.remark) = (Some(established), notice);
    }
    let registry = service.projects.registry.snapshot();
    let record = id.and_then(|id| registry.project(id).cloned());
    let mut here = None;
    if let (Some(record), Some(located)) = (&record, &asked.located)
        && is_lost(record, located).await
    {
        here = Some(located);
        let is_over = !record.shared || params.action == SharedAction::Share;
        reply.lost = (!is_over).then(|| text(&record.root));
    }
    let root = match (&record, &asked.located) {
        (Some(record), _) if here.is_none() => record.root.clone(),
        (_, Some(located)) => located.main_root(),
        (_, None) => return Err(refused("only a project's memory can be shared".to_owned())),
    };
    let open = match id {
        Some(id) => opened(service, id, params.action).await?,
        None => None,
    };
    match &open {
        Some(open) => {
            let remark = act(service, open, params.action, here).await?;
            reply.remark = reply.remark.or(remark);
        }
        None if params.action == SharedAction::Look => {}
        None => return Err(refused("nothing is remembered there yet".to_owned())),
    }
    let at = root.clone();
    let looking = bounded_fs::run(&root, move || {
        if matches!(at.try_exists(), Ok(false)) {
            return Ok((false, 0));
        }
        let has_files = has_shared_files(&at)?;
        Ok::<_, crate::projects::MirrorError>((has_files, count_files(&at)?))
    });
    let found = looking.await.map_err(hangs)?.map_err(|error| bad_request(&error))?;
    (reply.has_files, reply.files) = found;
    reply.root = text(&root);
    if let Some(open) = &open {
        reply.project = Some(asked.reference(service, open.id));
        reply.is_on = service.shared.is_on(open.id);
        reply.was_on = service.shared.was_on(open.id);
        reply.records = open.memory().records().filter(|record| record.is_shared()).count();
        reply.status = service.shared.reported(open.id);
    }
    Ok(reply)
}

/// Carries an action out. `here` is the worktree to share in, if the one before is gone. Returns a
/// remark for the user.
async fn act(
    service: &SessionService,
    open: &Arc<OpenProject>,
    action: SharedAction,
    here: Option<&Located>,
) -> Answer<Option<String>> {
    let shared = &service.shared;
    match action {
        SharedAction::Look => {
            shared.look(open).await;
            Ok(None)
        }
        SharedAction::Share if open.owner.team().is_some() => Err(ErrorReply {
            action: Some("`anchord team leave --keep` makes it this machine's own".to_owned()),
            ..refused("a team shares this memory through its database already".to_owned())
        }),
        SharedAction::Share => shared.share(open, here).await.map_err(refused),
        SharedAction::Unshare => shared.unshare(open).await.map(|()| None).map_err(refused),
        SharedAction::KeepMemory(record) => {
            let resolved = shared.resolve(open, record, KeptSide::Memory).await;
            resolved.map(|file| Some(format!("{file} has what the memory has"))).map_err(refused)
        }
        SharedAction::KeepFile(record) => {
            let resolved = shared.resolve(open, record, KeptSide::File).await;
            resolved.map(|file| Some(format!("{record} has what {file} has"))).map_err(refused)
        }
    }
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
