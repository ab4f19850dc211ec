//! What the command line asks of a daemon. Each function is one path of the admin interface.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::{Memory, Provenance, Seq, SessionId, export, import};

use crate::{clock, limits};
use crate::daemon::Daemon;
use crate::http::api::{
    CountersStatus, ErrorCode, ErrorReply, ExportDocument, ExportFormat, ImportCounts,
    ImportParams, ImportReply, ImportSource, IndexState, InstanceStatus, JournalLine, LoadReply,
    Problem, ProjectRef, ProjectStatus, ProjectsReply, RebuildReply, RecordsStatus, RemovedReply,
    SessionStatus, StagedStatus, StatusReply, StopReply, VerifyReply,
};
use crate::project::{Decide, Decided, OpenProject, WriteError, unwound};
use crate::projects::{
    Located, ProjectId, ProjectRecord, Registry, RegistryChange, identify, link, locate,
};
use crate::store::{Machine, StoreError, discard_index};

/// The answer to an admin request.
pub(crate) type Answer<T> = Result<T, ErrorReply>;

/// Which project a request is about.
struct Asked {
    located: Option<Located>,
    id: Option<ProjectId>,
}

/// The daemon, its sessions and projects.
pub(crate) async fn status(daemon: &Daemon) -> Answer<StatusReply> {
    let (calls_ok, calls_failed) = daemon.metrics().calls();
    let mut projects = Vec::new();
    for record in daemon.registry.snapshot().projects() {
        projects.push(project_status(daemon, record, daemon.projects.get(record.id)).await);
    }
    projects.sort_by_key(|project| std::cmp::Reverse(project.last_used));
    Ok(StatusReply {
        build: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started: daemon.started.0,
        uptime_ms: u64::try_from(daemon.up_since.elapsed().as_millis()).unwrap_or(u64::MAX),
        instance: InstanceStatus {
            id: daemon.instance.id().to_string(),
            directory: text(daemon.instance.dir()),
            data: text(daemon.instance.data()),
            config: text(daemon.instance.config()),
            logs: text(daemon.instance.logs()),
        },
        http: daemon.http_state.get().cloned().unwrap_or(crate::http::HttpState::Off),
        sessions: sessions(daemon),
        projects,
        counters: CountersStatus {
            connections: daemon.metrics().connections(),
            calls: calls_ok + calls_failed,
            calls_failed,
            panics: daemon.metrics().panics(),
        },
    })
}

/// What an agent would get at its start; no notice counts as shown.
pub(crate) async fn load(daemon: &Daemon, project: &str) -> Answer<LoadReply> {
    let asked = ask(daemon, project)?;
    let name = asked.name(daemon);
    let Some(id) = asked.id.filter(|id| daemon.projects.exists(*id)) else {
        let text = crate::mcp::load_text(&Memory::default(), &name, None);
        return Ok(LoadReply { project: None, text });
    };
    let open = daemon.projects.open(id).await.map_err(store_error)?;
    let text = crate::mcp::load_text(&open.memory(), &name, Some(&open));
    Ok(LoadReply { project: Some(asked.reference(daemon, id)), text })
}

/// Every project that is known.
pub(crate) async fn projects(daemon: &Daemon) -> Answer<ProjectsReply> {
    Ok(ProjectsReply { projects: status(daemon).await?.projects })
}

/// One project, opened so that its records are counted.
pub(crate) async fn project(daemon: &Daemon, project: &str) -> Answer<ProjectStatus> {
    let (record, open) = opened(daemon, project).await?;
    Ok(project_status(daemon, &record, Some(open)).await)
}

/// Makes a directory use the memory of a project.
pub(crate) async fn link_directory(
    daemon: &Daemon,
    path: &str,
    project: &str,
) -> Answer<ProjectStatus> {
    let located = find(daemon, Path::new(path))?;
    let target = known(daemon, project)?;
    let change = link(&located, target.id).map_err(|error| bad_request(&error))?;
    change_registry(daemon, "link", move |_| vec![change]).await?;
    self::project(daemon, &target.id.to_string()).await
}

/// Takes a project out of the registry; its data stays.
pub(crate) async fn forget_project(daemon: &Daemon, project: &str) -> Answer<RemovedReply> {
    let record = known(daemon, project)?;
    refuse_while_live(daemon, record.id)?;
    let id = record.id;
    let bytes = directory_bytes(&daemon.projects.directory(id));
    change_registry(daemon, "forget", move |_| vec![RegistryChange::ProjectForgotten { id }])
        .await?;
    Ok(RemovedReply { project: reference(&record), bytes })
}

/// Takes a project out of the registry and off the disk.
pub(crate) async fn delete_project(
    daemon: &Daemon,
    project: &str,
    confirm: &str,
) -> Answer<RemovedReply> {
    let record = known(daemon, project)?;
    let id = record.id;
    if confirm != id.to_string() {
        return Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: "the confirmation is not the project's id".to_owned(),
            action: Some(format!("confirm with {id}")),
        });
    }
    refuse_while_live(daemon, id)?;
    let bytes = directory_bytes(&daemon.projects.directory(id));
    let removed =
        daemon.projects.close_and(id, |directory| std::fs::remove_dir_all(directory)).await;
    if let Err(error) = removed
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(internal(&format!("failed to delete the project's data: {error}")));
    }
    change_registry(daemon, "delete", move |_| vec![RegistryChange::ProjectDeleted { id }]).await?;
    Ok(RemovedReply { project: reference(&record), bytes })
}

/// Journal lines for people.
pub(crate) async fn journal(
    daemon: &Daemon,
    project: &str,
    from: u64,
    limit: u32,
) -> Answer<Vec<JournalLine>> {
    let (_, open) = opened(daemon, project).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(limits::JOURNAL_PAGE_ENTRIES_MAX);
    let read = open
        .owner
        .ask(move |store, _| {
            let mut lines = Vec::new();
            let result = store.entries(Seq(from), &mut |entry| {
                let changes = entry
                    .changes
                    .iter()
                    .map(|change| serde_json::to_value(change).unwrap_or_default())
                    .collect();
                lines.push(JournalLine {
                    seq: entry.seq.0,
                    revision: entry.revision.map(|revision| revision.0),
                    time: entry.time.0,
                    session: entry.session.as_ref().map(SessionId::to_string),
                    op: entry.operation.to_string(),
                    changes,
                });
                lines.len() < limit
            });
            result.map(|()| lines)
        })
        .await
        .map_err(write_error)?;
    read.map_err(store_error)
}

/// Reads a whole journal and checks it.
pub(crate) async fn verify(daemon: &Daemon, project: &str) -> Answer<VerifyReply> {
    let (record, open) = opened(daemon, project).await?;
    let (read, sizes, health, replayed, state) = open
        .owner
        .ask(|store, state| {
            let mut replayed = Memory::default();
            let read = store.entries(Seq(1), &mut |entry| {
                replayed.apply(entry.seq, &entry.changes);
                true
            });
            (read, store.sizes(), store.health(), replayed, state.clone())
        })
        .await
        .map_err(write_error)?;
    let mut problems = Vec::new();
    if let Err(error) = &read {
        let (file, line) = place_of(error);
        problems.push(Problem { file, line, what: error.to_string() });
    } else if replayed != state {
        let what = "the entries do not lead to the memory that is served".to_owned();
        problems.push(Problem { file: String::new(), line: 0, what });
    }
    if let Some(why) = health.read_only {
        problems.push(Problem { file: String::new(), line: 0, what: why });
    }
    let index = match health.index {
        Some(reason) => IndexState::OutOfUse { reason },
        None => IndexState::InUse,
    };
    Ok(VerifyReply {
        project: reference(&record),
        segments: sizes.segments,
        entries: sizes.entries,
        bytes: sizes.journal_bytes,
        index,
        problems,
    })
}

/// Makes the index anew from snapshot and journal.
pub(crate) async fn rebuild(daemon: &Daemon, project: &str) -> Answer<RebuildReply> {
    let record = known(daemon, project)?;
    let started = clock::start();
    let discarded = daemon.projects.close_and(record.id, discard_index).await;
    discarded.map_err(|error| internal(&error.to_string()))?;
    let open = daemon.projects.open(record.id).await.map_err(store_error)?;
    Ok(RebuildReply {
        project: reference(&record),
        entries: open.report.entries,
        rows: u64::try_from(open.memory().rows().count()).unwrap_or(u64::MAX),
        took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// A project's memory as a document.
pub(crate) async fn export_document(
    daemon: &Daemon,
    project: &str,
    format: ExportFormat,
) -> Answer<String> {
    let (record, open) = opened(daemon, project).await?;
    let memory = open.memory();
    let json = match format {
        ExportFormat::Markdown => return Ok(export::markdown(&memory, &record.name)),
        ExportFormat::Zipmem => export::zipmem_state(&memory, &record.name, clock::now()),
        ExportFormat::Json => {
            let document = ExportDocument {
                format: 1,
                project: reference(&record),
                revision: memory.revision().0,
                records: memory.records().map(|record| record.as_ref().clone()).collect(),
                staged: memory
                    .staged()
                    .map(|(session, staged)| (session.clone(), staged.as_ref().clone()))
                    .collect(),
            };
            serde_json::to_value(document).map_err(|error| internal(&error.to_string()))?
        }
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| internal(&error.to_string()))?;
    Ok(text + "\n")
}

/// Takes in another system's memory, or shows what that would do.
pub(crate) async fn import_memory(daemon: &Daemon, params: ImportParams) -> Answer<ImportReply> {
    let ImportSource::Zipmem = params.source;
    let zipmem = import::parse(&params.state, params.session.as_deref())
        .map_err(|error| bad_request(&error))?;
    let digest = digest(&params);
    let asked = ask(daemon, &params.project)?;
    let by = Provenance {
        session: SessionId::new(format!("import-{}", uuid::Uuid::now_v7())),
        client: "anchord import".into(),
        time: clock::now(),
    };
    let existing = match asked.id.filter(|id| daemon.projects.exists(*id)) {
        Some(id) => Some(daemon.projects.open(id).await.map_err(store_error)?),
        None => None,
    };
    let memory = existing.as_ref().map(|open| open.memory()).unwrap_or_default();
    let planned = import::plan_import(&memory, &zipmem, &digest, &by);
    let counts =
        |found: usize, new| ImportCounts { found: found.try_into().unwrap_or(u32::MAX), new };
    let outcome = &planned.outcome;
    let mut reply = ImportReply {
        project: asked.id.map(|id| asked.reference(daemon, id)),
        applied: false,
        already: outcome.before.is_some(),
        revision: None,
        blueprints: counts(zipmem.blueprints.len(), outcome.added.blueprints),
        anchors: counts(zipmem.anchors.len(), outcome.added.anchors),
        lessons: counts(zipmem.lessons.len(), outcome.added.lessons),
        sessions: counts(zipmem.rows.len(), outcome.sessions),
        merged: outcome.merged,
        remarks: remarks(outcome),
    };
    if params.dry_run || reply.already {
        return Ok(reply);
    }
    let id = match (&asked.located, asked.id) {
        (Some(located), _) => establish_project(daemon, located.clone()).await?,
        (None, Some(id)) => id,
        (None, None) => return Err(not_found(&params.project)),
    };
    let open = daemon.projects.open(id).await.map_err(store_error)?;
    let decide: Decide<Memory> = Box::new(move |memory, now| {
        let by = Provenance { time: now, ..by };
        let plan = import::plan_import(memory, &zipmem, &digest, &by);
        Ok(Decided { changes: plan.changes, reply: String::new() })
    });
    open.owner.write(None, None, "import", decide).await.map_err(write_error)?;
    reply.applied = true;
    reply.revision = Some(open.memory().revision().0);
    reply.project = Some(asked.reference(daemon, id));
    Ok(reply)
}

/// Begins to drain.
pub(crate) fn stop(daemon: &Daemon) -> StopReply {
    let sessions = u32::try_from(daemon.sessions().connections()).unwrap_or(u32::MAX);
    daemon.stop("asked by the command line");
    StopReply { pid: std::process::id(), sessions }
}

impl Asked {
    fn name(&self, daemon: &Daemon) -> String {
        let known = self.id.and_then(|id| daemon.registry.snapshot().project(id).cloned());
        match (&self.located, known) {
            (Some(located), _) => located.name.clone(),
            (None, Some(record)) => record.name.clone(),
            (None, None) => String::new(),
        }
    }

    fn reference(&self, daemon: &Daemon, id: ProjectId) -> ProjectRef {
        let root = match (&self.located, daemon.registry.snapshot().project(id)) {
            (Some(located), _) => text(&located.root),
            (None, Some(record)) => text(&record.root),
            (None, None) => String::new(),
        };
        ProjectRef { id: id.to_string(), root }
    }
}

fn ask(daemon: &Daemon, project: &str) -> Answer<Asked> {
    if let Ok(id) = project.parse().map(ProjectId) {
        let known = daemon.registry.snapshot().project(id).is_some();
        return if known {
            Ok(Asked { located: None, id: Some(id) })
        } else {
            Err(not_found(project))
        };
    }
    let located = find(daemon, Path::new(project))?;
    let resolution =
        identify(&located, &daemon.registry.snapshot()).map_err(|error| bad_request(&error))?;
    Ok(Asked { located: Some(located), id: resolution.id })
}

fn find(daemon: &Daemon, directory: &Path) -> Answer<Located> {
    locate(directory, false, &daemon.surroundings).map_err(|error| bad_request(&error))
}

/// The registry's record of a project that was written to.
fn known(daemon: &Daemon, project: &str) -> Answer<Arc<ProjectRecord>> {
    let asked = match ask(daemon, project) {
        Ok(asked) => asked,
        // A directory that is gone may still have a project.
        Err(error) => match daemon.registry.snapshot().project_at(&PathBuf::from(project)) {
            Some(record) => return Ok(Arc::clone(record)),
            None => return Err(error),
        },
    };
    let registry = daemon.registry.snapshot();
    let record = asked.id.and_then(|id| registry.project(id).cloned());
    record.ok_or_else(|| ErrorReply {
        code: ErrorCode::NotFound,
        error: format!("nothing is remembered for {project} yet"),
        action: Some("`anchord project list` shows the projects there are".to_owned()),
    })
}

async fn opened(daemon: &Daemon, project: &str) -> Answer<(Arc<ProjectRecord>, Arc<OpenProject>)> {
    let record = known(daemon, project)?;
    let open = daemon.projects.open(record.id).await.map_err(store_error)?;
    Ok((record, open))
}

async fn establish_project(daemon: &Daemon, located: Located) -> Answer<ProjectId> {
    crate::sessions::establish_in_registry(daemon, located)
        .await
        .map_err(|error| internal(&error.to_string()))
}

async fn change_registry(
    daemon: &Daemon,
    operation: &'static str,
    changes: impl FnOnce(&Registry) -> Vec<RegistryChange> + Send + 'static,
) -> Answer<()> {
    let decide: Decide<Registry> = Box::new(move |registry, _| {
        Ok(Decided { changes: changes(registry), reply: String::new() })
    });
    daemon.registry.write(None, None, operation, decide).await.map_err(write_error)?;
    Ok(())
}

/// Refuses while sessions work in the project: connected ones, and those away whose staged work is not
/// folded yet.
fn refuse_while_live(daemon: &Daemon, id: ProjectId) -> Answer<()> {
    let registry = daemon.registry.snapshot();
    let bound = |session: &SessionId| {
        registry.session(session).is_some_and(|record| record.project == id)
    };
    let live = daemon
        .sessions()
        .all()
        .into_iter()
        .filter(|standing| {
            let session = &standing.session;
            let reads = standing.disconnected.is_none()
                && session.project().is_some_and(|project| project.id == id);
            reads || bound(&session.id)
        })
        .count();
    if live == 0 {
        return Ok(());
    }
    let grace = daemon.config.sessions.grace.as_secs();
    Err(ErrorReply {
        code: ErrorCode::Refused,
        error: format!("{live} session(s) work in this project"),
        action: Some(format!(
            "end them first; one that has ended counts for {grace} s more. `anchord status` names them"
        )),
    })
}

fn sessions(daemon: &Daemon) -> Vec<SessionStatus> {
    let mut sessions: Vec<SessionStatus> = daemon
        .sessions()
        .all()
        .into_iter()
        .map(|standing| {
            let session = &standing.session;
            let project = session.project();
            let staged = project
                .as_ref()
                .and_then(|project| project.memory().staged_by(&session.id).cloned());
            let root = session.known_root();
            SessionStatus {
                id: session.id.to_string(),
                client: session.client().to_string(),
                pid: Some(session.hello.pid),
                project: project.map(|project| ProjectRef {
                    id: project.id.to_string(),
                    root: root.unwrap_or_default(),
                }),
                since: session.started.0,
                last_call: standing.last_call.0,
                connected: standing.disconnected.is_none(),
                staged: staged
                    .map(|staged| {
                        let counts = staged.counts();
                        StagedStatus {
                            blueprints: counts.blueprints,
                            anchors: counts.anchors,
                            lessons: counts.lessons,
                            summary: staged.summary.is_some(),
                        }
                    })
                    .unwrap_or_default(),
            }
        })
        .collect();
    sessions.sort_by_key(|session| session.since);
    sessions
}

async fn project_status(
    daemon: &Daemon,
    record: &ProjectRecord,
    open: Option<Arc<OpenProject>>,
) -> ProjectStatus {
    let directory = daemon.projects.directory(record.id);
    let memory = open.as_ref().map(|open| open.memory());
    let read_only = open.as_ref().and_then(|open| open.owner.health().read_only.clone());
    let looked_at = (record.root.clone(), directory);
    let (exists, bytes, last_used) = unwound(tokio::task::spawn_blocking(move || {
        let (root, directory) = looked_at;
        (root.is_dir(), directory_bytes(&directory), modified(&directory.join("journal")))
    }))
    .await;
    let totals = memory.as_ref().map(|memory| memory.totals());
    ProjectStatus {
        id: record.id.to_string(),
        root: text(&record.root),
        name: record.name.clone(),
        exists,
        open: open.is_some(),
        records: totals.map(|totals| RecordsStatus {
            blueprints: totals.of(anchord_memory::Kind::Blueprint),
            anchors: totals.of(anchord_memory::Kind::Anchor),
            lessons: totals.of(anchord_memory::Kind::Lesson),
            sessions: totals.of(anchord_memory::Kind::SessionRow),
        }),
        revision: memory.as_ref().map_or(0, |memory| memory.revision().0),
        entries: memory.as_ref().map_or(0, |memory| memory.seq().0),
        bytes,
        last_used,
        read_only,
    }
}

fn reference(record: &ProjectRecord) -> ProjectRef {
    ProjectRef { id: record.id.to_string(), root: text(&record.root) }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// When the newest file of a directory was written, in milliseconds since the epoch.
fn modified(directory: &Path) -> Option<i64> {
    std::fs::read_dir(directory)
        .ok()?
        .filter_map(|file| file.ok()?.metadata().ok()?.modified().ok())
        .max()
        .map(|time| clock::timestamp(time).0)
}

fn directory_bytes(directory: &Path) -> u64 {
    let Ok(files) = std::fs::read_dir(directory) else { return 0 };
    files
        .filter_map(Result::ok)
        .map(|file| match file.metadata() {
            Ok(metadata) if metadata.is_dir() => directory_bytes(&file.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// What of the source needs a word: what stayed as it was here, and what could not be used.
fn remarks(outcome: &import::ImportOutcome) -> Vec<String> {
    let kept = outcome
        .kept
        .iter()
        .map(|kept| format!("blueprint \"{}\" is immutable here and stays as it is", kept.title));
    kept.chain(outcome.notes.iter().cloned()).collect()
}

/// File and line of a damaged journal line, `journal/000001.jsonl:17`.
fn place_of(error: &StoreError) -> (String, u64) {
    match error {
        StoreError::Damaged { at, .. } => match at.rsplit_once(':') {
            Some((file, line)) => (file.to_owned(), line.parse().unwrap_or_default()),
            None => (at.clone(), 0),
        },
        _ => (String::new(), 0),
    }
}

fn digest(params: &ImportParams) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    hasher.update(params.state.as_bytes());
    hasher.update([0]);
    hasher.update(params.session.as_deref().unwrap_or_default().as_bytes());
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bad_request(error: &dyn std::error::Error) -> ErrorReply {
    ErrorReply { code: ErrorCode::BadRequest, error: format!("failed to {error}"), action: None }
}

fn not_found(project: &str) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::NotFound,
        error: format!("no project has the id {project}"),
        action: Some("`anchord project list` shows the projects there are".to_owned()),
    }
}

fn internal(what: &str) -> ErrorReply {
    tracing::error!(what, "an admin request failed");
    ErrorReply { code: ErrorCode::Internal, error: what.to_owned(), action: None }
}

fn write_error(error: WriteError) -> ErrorReply {
    let code = match &error {
        WriteError::Busy | WriteError::Closed => ErrorCode::Busy,
        WriteError::Refused(_) | WriteError::Stale => ErrorCode::Refused,
        WriteError::NotSaved(_) => ErrorCode::Damaged,
        WriteError::Internal => ErrorCode::Internal,
    };
    ErrorReply { code, error: error.to_string(), action: None }
}

fn store_error(error: StoreError) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::Damaged,
        error: error.to_string(),
        action: Some("`anchord journal verify` says what is damaged".to_owned()),
    }
}
