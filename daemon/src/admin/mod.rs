//! The daemon's side of the admin interface. Each public function handles one path.

mod anchors;
mod backup;
mod export;
mod forgotten;
mod growth;
mod import;
mod join;
mod journal;
mod merge;
mod now;
mod projects;
mod purge;
mod records;
mod service;
mod sessions;
mod shared;
mod split;
mod status;
mod team;
mod tool;

pub(crate) use anchors::verify_anchors;
pub(crate) use backup::{backup_lines, restore_backup};
pub(crate) use export::export_document;
pub(crate) use growth::growth;
pub(crate) use import::import_memory;
pub(crate) use join::keep_joining;
pub(crate) use journal::{journal, rebuild, repair, verify};
pub(crate) use merge::{begin_merge, end_merge};
pub(crate) use now::{given, now};
pub(crate) use projects::{delete_project, forget_project, link_directory};
pub(crate) use purge::{purge, scan_secrets};
pub(crate) use records::records;
pub(crate) use service::AdminService;
pub(crate) use sessions::past_sessions;
pub(crate) use shared::shared_files;
pub(crate) use split::split_project;
pub(crate) use status::{project, projects, status};
pub(crate) use team::{team, team_projects};
pub(crate) use tool::{call_tool, retrievals};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::{self, ErrorCode, ErrorReply, ProjectRef, StopReply};
use crate::bounded_fs::{self, DiskTimeout};
use crate::clock;
use crate::project::{OpenProject, WriteError};
use crate::projects::{
    Located, NotAProject, ProjectId, ProjectRecord, Surroundings, identify, locate, locate_part,
    moved,
};
use crate::sessions::{
    BindError, PERSONAL_NAME, SessionService, establish_in_registry, record_move,
};
use crate::store::StoreError;

/// The answer to an admin request.
pub(crate) type Answer<T> = Result<T, ErrorReply>;

/// Starts draining.
pub(crate) fn stop(admin: &AdminService) -> StopReply {
    let sessions = u32::try_from(admin.sessions.table.connections()).unwrap_or(u32::MAX);
    admin.shutdown.start("asked by the command line");
    StopReply { pid: std::process::id(), sessions }
}

/// The project that a request names: located from a directory, by id, or both.
pub(super) struct NamedProject {
    pub(super) located: Option<Located>,
    pub(super) id: Option<ProjectId>,
}

impl NamedProject {
    pub(super) fn reference(&self, service: &SessionService, id: ProjectId) -> ProjectRef {
        if id.is_personal() {
            return Target::personal().reference;
        }
        let root = match (&self.located, service.projects.registry.snapshot().project(id)) {
            (Some(located), _) => text(&located.root),
            (None, Some(record)) => text(&record.root),
            (None, None) => String::new(),
        };
        ProjectRef { id: id.to_string(), root }
    }

    /// Gives the project an id if it has none, and remembers it. Returns the id and a notice for
    /// the user, or `None` if a request named nothing that could have one.
    pub(super) async fn establish(
        &self,
        service: &SessionService,
    ) -> Answer<Option<(ProjectId, Option<String>)>> {
        let Some(located) = &self.located else { return Ok(self.id.map(|id| (id, None))) };
        let registry = &service.projects.registry;
        let established = establish_in_registry(registry, located.clone()).await;
        established.map(Some).map_err(bind_error)
    }
}

/// The memory that a request is about.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) id: ProjectId,
    /// The name for people.
    pub(super) name: String,
    pub(super) reference: ProjectRef,
}

impl Target {
    /// Returns the user's own memory.
    fn personal() -> Self {
        let reference = ProjectRef { id: api::USER.to_owned(), root: PERSONAL_NAME.to_owned() };
        Self { id: ProjectId::PERSONAL, name: PERSONAL_NAME.to_owned(), reference }
    }

    fn project(record: &ProjectRecord) -> Self {
        Self { id: record.id, name: record.name.clone(), reference: reference(record) }
    }
}

/// Finds the memory that a request names: the user's own, or a project's that was written to.
pub(super) async fn target(service: &SessionService, project: &str) -> Answer<Target> {
    if project != api::USER {
        return Ok(Target::project(&*known(service, project).await?));
    }
    let id = ProjectId::PERSONAL;
    let stored = service.projects.registry.snapshot().is_stored(id);
    if !stored && !service.projects.open.exists(id).map_err(store_error)? {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: "the user has no notes of their own yet".to_owned(),
            action: Some("`anchord note --user` stores one".to_owned()),
        });
    }
    Ok(Target::personal())
}

pub(super) async fn ask(service: &SessionService, project: &str) -> Answer<NamedProject> {
    ask_by(service, project, locate).await
}

/// Finds the project that a directory is once it has a marker.
pub(super) async fn ask_part(service: &SessionService, project: &str) -> Answer<NamedProject> {
    ask_by(service, project, locate_part).await
}

/// A way to find the project of a directory.
type Locate = fn(&Path, &Surroundings) -> Result<Located, NotAProject>;

async fn ask_by(service: &SessionService, project: &str, by: Locate) -> Answer<NamedProject> {
    if project == api::USER {
        return Ok(NamedProject { located: None, id: Some(ProjectId::PERSONAL) });
    }
    if let Ok(id) = project.parse().map(ProjectId) {
        let known = service.projects.registry.snapshot().known_or_forgotten(id).is_some();
        return if known {
            Ok(NamedProject { located: None, id: Some(id) })
        } else {
            Err(not_found(project))
        };
    }
    let registry = service.projects.registry.snapshot();
    let looking = look_for(service, project, by, move |located| {
        if let Err(NotAProject::Excluded { path, .. }) = &located
            && let Some(known) = registry.project_at(path)
        {
            // The user has named the directory to an agent, so it is a project all the same.
            return Ok((NamedProject { located: None, id: Some(known.id) }, None));
        }
        let located = located.map_err(|error| bad_request(&error))?;
        let resolution = identify(&located, &registry).map_err(|error| bad_request(&error))?;
        let found = moved(&located, &registry, &resolution, clock::now());
        Ok((NamedProject { located: Some(located), id: resolution.id }, found))
    });
    let (named, found) = looking.await?;
    record_move(&service.projects.registry, found).await;
    Ok(named)
}

/// Returns whether a directory is the user's home.
pub(super) async fn is_home(service: &SessionService, directory: &str) -> Answer<bool> {
    look_for(service, directory, locate, |located| Ok(located.is_err_and(|error| error.is_home())))
        .await
}

/// Finds the project of a directory and passes it to `and`, which may read more of its files.
pub(super) async fn find<T: Send + 'static>(
    service: &SessionService,
    directory: &str,
    and: impl FnOnce(Located) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let found = |located: Result<_, _>| and(located.map_err(|error| bad_request(&error))?);
    look_for(service, directory, locate, found).await
}

/// Searches for the project of a directory and passes the result to `and`.
async fn look_for<T: Send + 'static>(
    service: &SessionService,
    directory: &str,
    by: Locate,
    and: impl FnOnce(Result<Located, NotAProject>) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let (directory, surroundings) = (PathBuf::from(directory), service.surroundings.clone());
    let start = directory.clone();
    let looked = bounded_fs::run(&start, move || and(by(&directory, &surroundings)));
    looked.await.map_err(hangs)?
}

pub(super) fn hangs(error: DiskTimeout) -> ErrorReply {
    ErrorReply { code: ErrorCode::Busy, error: error.to_string(), action: None }
}

/// Finds the registry's record of a project that was written to. The user's own memory has no such
/// record, so it is not found.
pub(super) async fn known(service: &SessionService, project: &str) -> Answer<Arc<ProjectRecord>> {
    if project == api::USER {
        return Err(not_found(project));
    }
    let asked = match ask(service, project).await {
        Ok(asked) => asked,
        // A directory that no longer exists may still have a project.
        Err(error) => {
            match service.projects.registry.snapshot().project_at(&PathBuf::from(project)) {
                Some(record) => return Ok(Arc::clone(record)),
                None => return Err(error),
            }
        }
    };
    let registry = service.projects.registry.snapshot();
    let record = asked.id.and_then(|id| registry.known_or_forgotten(id).cloned());
    record.ok_or_else(|| ErrorReply {
        code: ErrorCode::NotFound,
        error: format!("nothing is remembered for {project} yet"),
        action: Some("`anchord project list` shows the projects there are".to_owned()),
    })
}

pub(super) async fn opened(
    service: &SessionService,
    project: &str,
) -> Answer<(Target, Arc<OpenProject>)> {
    let target = target(service, project).await?;
    let projects = &service.projects;
    let open = match projects.open_to_read(target.id).await.map_err(store_error)? {
        Some(open) => open,
        None => projects.open_project(target.id).await.map_err(store_error)?,
    };
    Ok((target, open))
}

/// Refuses what would change this machine's copy of a team's commits alone.
pub(super) fn not_in_a_team(open: &OpenProject, what: &str) -> Answer<()> {
    if open.owner.team().is_none() { Ok(()) } else { Err(of_a_team(what)) }
}

/// Returns the refusal of an operation on a memory that a team shares.
pub(super) fn of_a_team(what: &str) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::Refused,
        error: format!("a team shares this memory, so {what} here alone would not match theirs"),
        action: Some(
            "`anchord team leave --keep` makes it this machine's own; the team's copy stays"
                .to_owned(),
        ),
    }
}

pub(super) fn reference(record: &ProjectRecord) -> ProjectRef {
    ProjectRef { id: record.id.to_string(), root: text(&record.root) }
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn bad_request(error: &dyn std::error::Error) -> ErrorReply {
    ErrorReply { code: ErrorCode::BadRequest, error: format!("failed to {error}"), action: None }
}

pub(super) fn not_found(project: &str) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::NotFound,
        error: format!("no project has the id {project}"),
        action: Some("`anchord project list` shows the projects there are".to_owned()),
    }
}

pub(super) fn internal(what: &str) -> ErrorReply {
    tracing::error!(what, "an admin request failed");
    ErrorReply { code: ErrorCode::Internal, error: what.to_owned(), action: None }
}

/// Converts the failure of a write, or of a request to a project's writer.
pub(super) fn write_error(error: WriteError) -> ErrorReply {
    let code = match &error {
        WriteError::Busy | WriteError::Closed => ErrorCode::Busy,
        WriteError::Refused(_) | WriteError::Stale => ErrorCode::Refused,
        WriteError::NotSaved(why) => return of_store(why),
        WriteError::Unreadable(_) | WriteError::Internal => ErrorCode::Internal,
    };
    ErrorReply { code, error: error.to_string(), action: None }
}

/// Converts the failure to open a project or to write to it.
pub(super) fn bind_error(error: BindError) -> ErrorReply {
    match error {
        BindError::Write(error) => write_error(error),
        BindError::Store(error) => store_error(error),
        BindError::Hangs(error) => hangs(error),
        BindError::NotJoined(_) => {
            ErrorReply { code: ErrorCode::Busy, error: error.to_string(), action: None }
        }
        BindError::NotAProject(error) => bad_request(&error),
        BindError::Unreadable(error) => bad_request(&error),
        BindError::Foreign | BindError::Unknown(_) => internal(&error.to_string()),
    }
}

pub(super) fn store_error(error: StoreError) -> ErrorReply {
    of_store(&error)
}

/// Maps a store's error to its code and the next step. No other function does this.
fn of_store(error: &StoreError) -> ErrorReply {
    let (code, action) = match error {
        // The error's text says what to do.
        StoreError::ReadOnly { .. } | StoreError::Missing { .. } | StoreError::OfAnother { .. } => {
            (ErrorCode::Damaged, None)
        }
        StoreError::Damaged { .. } | StoreError::WrongMachine { .. } => {
            (ErrorCode::Damaged, Some("`anchord journal verify` says what is damaged".to_owned()))
        }
        StoreError::ShuttingDown | StoreError::TeamBusy(_) => (ErrorCode::Busy, None),
        StoreError::TeamRefused(_) => (ErrorCode::Refused, None),
        // A full disk damages nothing, and the text says what to do.
        StoreError::NotSaved { .. }
        | StoreError::NoSpace { .. }
        | StoreError::Uncertain { .. }
        | StoreError::TooLarge { .. }
        | StoreError::HeadMoved { .. }
        | StoreError::OutOfOrder { .. }
        | StoreError::TeamAway(_)
        | StoreError::TeamSilent(_)
        | StoreError::NoCopy { .. }
        | StoreError::TeamDamaged { .. }
        | StoreError::NetworkDisk { .. }
        | StoreError::Io { .. } => (ErrorCode::Failed, None),
    };
    ErrorReply { code, error: error.to_string(), action }
}

#[cfg(test)]
mod tests;
