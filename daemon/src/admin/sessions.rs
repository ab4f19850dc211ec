//! Imports past sessions, each into the project of the directory in which it worked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::import::{PastSession, plan_import_sessions};
use anchord_memory::{Memory, SessionActivity};

use super::{Answer, bad_request, bind_error, hangs, store_error, text, write_error};
use crate::api::{
    PastSessionParams, PastSessionsLeftOut, PastSessionsParams, PastSessionsProject,
    PastSessionsReply, ProjectRef,
};
use crate::bounded_fs;
use crate::clock;
use crate::project::{Transition, WriteCommand};
use crate::projects::{Located, NotAProject, ProjectId, identify, locate};
use crate::secrets::{self, Removed};
use crate::sessions::SessionService;

/// Adds a row for each new session and updates the rows of sessions that continued. A dry run only
/// reports what that would do.
pub(crate) async fn past_sessions(
    service: &SessionService,
    params: PastSessionsParams,
) -> Answer<PastSessionsReply> {
    let mut removed = Removed::default();
    let mut by_directory: BTreeMap<String, Vec<PastSession>> = BTreeMap::new();
    for session in params.sessions {
        let cwd = session.cwd.clone();
        let past = cleaned(session, &mut removed).map_err(|error| bad_request(&error))?;
        by_directory.entry(cwd).or_default().push(past);
    }
    let mut reply = PastSessionsReply::default();
    let mut places: BTreeMap<PathBuf, (Located, Vec<PastSession>)> = BTreeMap::new();
    for (cwd, sessions) in by_directory {
        match located(service, &cwd).await? {
            Ok(located) => {
                let root = text(&located.root);
                let sessions = sessions
                    .into_iter()
                    .map(|past| PastSession { captured: past.captured.relative_to(&root), ..past });
                let place = places.entry(located.main_root()).or_insert((located, Vec::new()));
                place.1.extend(sessions);
            }
            Err(error) => reply.left_out.push(PastSessionsLeftOut {
                why: why(&error),
                sessions: u32::try_from(sessions.len()).unwrap_or(u32::MAX),
                cwd,
            }),
        }
    }
    for (root, (located, sessions)) in places {
        let (project, remark) = take_in(service, &root, located, sessions, params.dry_run).await?;
        reply.projects.push(project);
        reply.remarks.extend(remark);
    }
    if !removed.no_secrets() {
        reply.remarks.push(format!("secrets were taken out: {}", removed.kinds()));
    }
    if removed.had_injected() {
        reply.remarks.push("anchord's own injected text was taken out".to_owned());
    }
    Ok(reply)
}

/// Removes secrets from a session. The caller has done so already, but all outside input passes the
/// filter.
fn cleaned(
    session: PastSessionParams,
    removed: &mut Removed,
) -> Result<PastSession, serde_json::Error> {
    let mut captured = serde_json::to_value(&session.captured)?;
    secrets::clean_json(&mut captured, removed);
    let captured: SessionActivity = serde_json::from_value(captured)?;
    Ok(PastSession { client: secrets::clean(&session.client).into_owned(), captured })
}

async fn located(service: &SessionService, cwd: &str) -> Answer<Result<Located, NotAProject>> {
    let (start, surroundings) = (PathBuf::from(cwd), service.surroundings.clone());
    let looked = bounded_fs::run(Path::new(cwd), move || locate(&start, &surroundings));
    looked.await.map_err(hangs)
}

fn why(error: &NotAProject) -> String {
    match error {
        NotAProject::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            "is gone".to_owned()
        }
        NotAProject::Unreadable { source, .. } => format!("cannot be read: {source}"),
        NotAProject::Excluded { what, .. } => format!("is {what}, not a project"),
    }
}

async fn take_in(
    service: &SessionService,
    root: &Path,
    located: Located,
    sessions: Vec<PastSession>,
    dry_run: bool,
) -> Answer<(PastSessionsProject, Option<String>)> {
    let (registry, there) = (service.projects.registry.snapshot(), located.clone());
    let identified =
        bounded_fs::run(root, move || identify(&there, &registry).map(|found| found.id));
    let known = identified.await.map_err(hangs)?.map_err(|error| bad_request(&error))?;
    let open = match known {
        Some(id) => service.projects.open_known(id).await.map_err(store_error)?,
        None => None,
    };
    let memory = open.map(|open| open.memory().as_ref().clone()).unwrap_or_default();
    let outcome = plan_import_sessions(&memory, &sessions, clock::now()).outcome;
    let reference = |id: ProjectId| ProjectRef { id: id.to_string(), root: text(root) };
    let mut project = PastSessionsProject {
        project: known.map(reference),
        root: text(root),
        added: outcome.added,
        updated: outcome.updated,
        known: outcome.known,
        empty: outcome.empty,
    };
    if dry_run || outcome.added + outcome.updated == 0 {
        return Ok((project, None));
    }
    let established =
        crate::sessions::establish_in_registry(&service.projects.registry, located).await;
    let (id, remark) = established.map_err(bind_error)?;
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    let decide: WriteCommand<Memory> = Arc::new(move |memory, now| {
        let plan = plan_import_sessions(memory, &sessions, now);
        Ok(Transition::silent(plan.changes))
    });
    open.owner.write(None, None, "import sessions", decide).await.map_err(write_error)?;
    project.project = Some(reference(id));
    Ok((project, remark))
}

#[cfg(test)]
mod tests;
