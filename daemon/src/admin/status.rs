//! The current state of the daemon, its sessions and its projects.

use std::cmp::Reverse;
use std::sync::Arc;

use anchord_proto::host;
use futures::StreamExt as _;
use futures::stream;

use super::{Answer, known, opened, store_error, text};
use crate::api::{
    self, ConnectionStatus, CountersStatus, HookEventsStatus, HookFailureStatus, HooksStatus,
    InstanceStatus, ProjectRef, ProjectStatus, ProjectsReply, RecordsStatus, SessionStatus,
    StagedStatus, StatusReply,
};
use crate::bounded_fs;
use crate::clock;
use crate::daemon::Daemon;
use crate::limits;
use crate::metrics::HooksSeen;
use crate::project::OpenProject;
use crate::projects::{ProjectId, ProjectRecord};
use crate::sessions::{PERSONAL_NAME, is_elsewhere};

/// Reports the daemon, its sessions and its projects.
pub(crate) async fn status(daemon: &Daemon) -> Answer<StatusReply> {
    let (calls_ok, calls_failed) = daemon.metrics().calls();
    Ok(StatusReply {
        build: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        pid_namespace: host::pid_namespace(),
        started: daemon.started.0,
        uptime_ms: u64::try_from(daemon.up_since.elapsed().as_millis()).unwrap_or(u64::MAX),
        instance: InstanceStatus {
            id: daemon.instance.id().to_string(),
            directory: text(daemon.instance.dir()),
            data: text(daemon.instance.data()),
            config: text(daemon.instance.config()),
            logs: text(daemon.instance.logs()),
        },
        http: daemon.http_state.get().cloned().unwrap_or(api::HttpState::Off),
        sessions: sessions(daemon),
        connections: connections(daemon),
        projects: all_projects(daemon).await,
        personal: personal_status(daemon).await,
        counters: CountersStatus {
            connections: daemon.metrics().connections(),
            calls: calls_ok + calls_failed,
            calls_failed,
            panics: daemon.metrics().panics(),
        },
        hooks: hooks(daemon),
        read_only: daemon.registry.health().read_only.clone(),
    })
}

fn hooks(daemon: &Daemon) -> HooksStatus {
    let HooksSeen { events, doubled, skipped, latencies, last_failure } = daemon.metrics().hooks();
    let event = |((client, event), count): ((&str, String), u64)| HookEventsStatus {
        client: client.to_owned(),
        event,
        count,
    };
    HooksStatus {
        events: events.into_iter().map(event).collect(),
        doubled,
        skipped,
        p50_micros: latencies.p50_micros,
        p99_micros: latencies.p99_micros,
        last_failure: last_failure.map(|failure| HookFailureStatus {
            time: failure.time.0,
            client: failure.client.to_owned(),
            event: failure.event,
            error: failure.error,
        }),
    }
}

/// Lists every known project. Opens no memory.
pub(crate) async fn projects(daemon: &Daemon) -> Answer<ProjectsReply> {
    Ok(ProjectsReply { projects: all_projects(daemon).await })
}

/// Reports one project, or the user's own memory. Opens it to count its records.
pub(crate) async fn project(daemon: &Daemon, project: &str) -> Answer<ProjectStatus> {
    if project == api::USER {
        let (target, open) = opened(daemon, project).await?;
        return Ok(memory_status(daemon, target.id, Some(open)).await);
    }
    let record = known(daemon, project).await?;
    let open = daemon.sessions.projects.open_project(record.id).await.map_err(store_error)?;
    Ok(project_status(daemon, &record, Some(open)).await)
}

fn connections(daemon: &Daemon) -> Vec<ConnectionStatus> {
    let mut connections: Vec<ConnectionStatus> = daemon
        .sessions
        .table
        .shims()
        .iter()
        .map(|connection| {
            let hello = &connection.hello;
            ConnectionStatus {
                build: hello.build.clone(),
                pid: hello.pid,
                agent_pid: hello.agent_pid,
                elsewhere: is_elsewhere(hello),
            }
        })
        .collect();
    connections.sort_by_key(|connection| connection.pid);
    connections
}

fn sessions(daemon: &Daemon) -> Vec<SessionStatus> {
    let mut sessions: Vec<SessionStatus> = daemon
        .sessions
        .table
        .all()
        .into_iter()
        .map(|session_status| {
            let session = &session_status.session;
            let staged = session
                .project()
                .and_then(|project| project.memory().staged_by(&session.id).cloned());
            let root = session.known_root();
            SessionStatus {
                id: session.id.to_string(),
                client: session.client().to_string(),
                pid: Some(session.hello.pid),
                project: session
                    .project_id()
                    .map(|id| ProjectRef { id: id.to_string(), root: root.unwrap_or_default() }),
                since: session.started.0,
                last_call: session_status.last_call.0,
                connected: session_status.disconnected.is_none(),
                staged: staged
                    .map(|staged| {
                        let counts = staged.counts();
                        StagedStatus {
                            blueprints: counts.blueprints,
                            anchors: counts.anchors,
                            lessons: counts.lessons,
                            notes: counts.notes,
                            summary: staged.summary.is_some(),
                        }
                    })
                    .unwrap_or_default(),
                joined: session_status.confidence.map(|confidence| confidence.name().to_owned()),
            }
        })
        .collect();
    sessions.sort_by_key(|session| session.since);
    sessions
}

/// Reports on every project, the last used first. Reads several at a time, so that a disk that
/// hangs delays only its own projects.
async fn all_projects(daemon: &Daemon) -> Vec<ProjectStatus> {
    let registry = daemon.registry.snapshot();
    let of = |record: &Arc<ProjectRecord>| {
        let record = Arc::clone(record);
        async move { project_status(daemon, &record, daemon.projects.get(record.id)).await }
    };
    let all: Vec<_> = registry.projects().map(of).collect();
    let mut all: Vec<_> = stream::iter(all).buffered(limits::PLACES_AT_ONCE).collect().await;
    all.sort_by_key(|project| Reverse(project.last_used));
    all
}

/// Reports the user's own memory, if there is one. Opens it, because `anchord status` shows how
/// many notes it has.
async fn personal_status(daemon: &Daemon) -> Option<ProjectStatus> {
    match daemon.sessions.projects.open_known(ProjectId::PERSONAL).await {
        Ok(open) => {
            let open = open?;
            Some(memory_status(daemon, open.id, Some(open)).await)
        }
        Err(error) => {
            let status = memory_status(daemon, ProjectId::PERSONAL, None).await;
            Some(ProjectStatus { read_only: Some(error.to_string()), ..status })
        }
    }
}

async fn project_status(
    daemon: &Daemon,
    record: &ProjectRecord,
    open: Option<Arc<OpenProject>>,
) -> ProjectStatus {
    let root = record.root.clone();
    let exists = bounded_fs::run(&record.root, move || root.is_dir()).await.unwrap_or(false);
    ProjectStatus {
        id: record.id.to_string(),
        root: text(&record.root),
        name: record.name.clone(),
        exists,
        ..memory_status(daemon, record.id, open).await
    }
}

/// Reports a memory as if it were the user's own. The caller adds the fields that name a project.
async fn memory_status(
    daemon: &Daemon,
    id: ProjectId,
    open: Option<Arc<OpenProject>>,
) -> ProjectStatus {
    let memory = open.as_ref().map(|open| open.memory());
    let read_only = open.as_ref().and_then(|open| open.owner.health().read_only.clone());
    let usage = daemon.projects.usage(id).await;
    let totals = memory.as_ref().map(|memory| memory.totals());
    ProjectStatus {
        id: api::USER.to_owned(),
        root: String::new(),
        name: PERSONAL_NAME.to_owned(),
        exists: true,
        open: open.is_some(),
        records: totals.map(|totals| RecordsStatus {
            blueprints: totals.active.of(anchord_memory::Kind::Blueprint),
            anchors: totals.active.of(anchord_memory::Kind::Anchor),
            lessons: totals.active.of(anchord_memory::Kind::Lesson),
            notes: totals.active.of(anchord_memory::Kind::Note),
            topics: totals.active.of(anchord_memory::Kind::Topic),
            sessions: totals.active.of(anchord_memory::Kind::SessionRow),
        }),
        revision: memory.as_ref().map_or(0, |memory| memory.revision().0),
        entries: memory.as_ref().map_or(0, |memory| memory.seq().0),
        bytes: usage.bytes,
        last_used: usage.written.map(|time| clock::timestamp(time).0),
        read_only,
    }
}

#[cfg(test)]
mod tests;
