//! The current state of the daemon, its sessions and its projects.

use std::cmp::Reverse;
use std::sync::Arc;

use anchord_proto::host;
use futures::StreamExt as _;
use futures::stream;

use super::team::team_fault;
use super::{AdminService, Answer, known, opened, store_error, text};
use crate::api::{
    self, ByKind, ConnectionStatus, CountersStatus, HookEventsStatus, HookFailureStatus,
    HooksStatus, InstanceStatus, OutlinesStatus, ProjectRef, ProjectStatus, ProjectsReply,
    SessionSummary, StagedStatus, StatusReply, TeamSummary,
};
use crate::blocking::run_blocking;
use crate::bounded_fs;
use crate::clock;
use crate::limits;
use crate::metrics::{HooksSeen, Metrics, OutlinesSeen};
use crate::project::OpenProject;
use crate::projects::{ProjectId, ProjectRecord};
use crate::sessions::{Joining, PERSONAL_NAME, SessionService, is_elsewhere};
use crate::team;

/// Reports the daemon, its sessions and its projects.
pub(crate) async fn status(admin: &AdminService) -> Answer<StatusReply> {
    let (calls_ok, calls_failed) = admin.metrics.calls();
    Ok(StatusReply {
        build: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        pid_namespace: host::pid_namespace(),
        started: admin.started.0,
        uptime_ms: u64::try_from(admin.up_since.elapsed().as_millis()).unwrap_or(u64::MAX),
        instance: InstanceStatus {
            id: admin.instance.id().to_string(),
            directory: text(admin.instance.dir()),
            data: text(admin.instance.data()),
            config: text(admin.instance.config()),
            logs: text(admin.instance.logs()),
        },
        http: admin.http_state.get().cloned().unwrap_or(api::HttpState::Off),
        sessions: sessions(&admin.sessions),
        connections: connections(&admin.sessions),
        projects: all_projects(&admin.sessions).await,
        personal: personal_status(&admin.sessions).await,
        counters: CountersStatus {
            connections: admin.metrics.connections(),
            calls: calls_ok + calls_failed,
            calls_failed,
            panics: admin.metrics.panics(),
        },
        outlines: outlines(&admin.metrics),
        approvals_waiting: admin.sessions.rules.pending().len() as u64,
        hooks: hooks(&admin.metrics),
        read_only: admin.sessions.projects.registry.health().read_only.clone(),
        config_ignored: admin.sessions.config.ignored.clone(),
        joining: match admin.sessions.gate.now() {
            Joining::Done => None,
            Joining::Trying => Some("the first attempt is under way".to_owned()),
            Joining::Failed(why) => Some(why),
        },
    })
}

fn outlines(metrics: &Metrics) -> OutlinesStatus {
    let OutlinesSeen { given, cached, failed, offered, tokens_given, tokens_saved } =
        metrics.outlines();
    OutlinesStatus { given, cached, failed, offered, tokens_given, tokens_saved }
}

fn hooks(metrics: &Metrics) -> HooksStatus {
    let HooksSeen { events, doubled, skipped, latencies, last_failure } = metrics.hooks();
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
pub(crate) async fn projects(service: &SessionService) -> Answer<ProjectsReply> {
    Ok(ProjectsReply { projects: all_projects(service).await })
}

/// Reports one project, or the user's own memory. Opens it to count its records.
pub(crate) async fn project(service: &SessionService, project: &str) -> Answer<ProjectStatus> {
    if project == api::USER {
        let (target, open) = opened(service, project).await?;
        return Ok(memory_status(service, target.id, Some(open)).await);
    }
    let record = known(service, project).await?;
    let open = service.projects.open_project(record.id).await.map_err(store_error)?;
    Ok(project_status(service, &record, Some(open)).await)
}

fn connections(service: &SessionService) -> Vec<ConnectionStatus> {
    let mut connections: Vec<ConnectionStatus> = service
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

pub(super) fn sessions(service: &SessionService) -> Vec<SessionSummary> {
    let registry = service.projects.registry.snapshot();
    let mut sessions: Vec<SessionSummary> = service
        .table
        .all()
        .into_iter()
        .map(|session_status| {
            let session = &session_status.session;
            // A daemon that has just begun knows a session's project only from the registry, which
            // has every session that has staged something.
            let written_to = registry.session(&session.id).map(|record| record.project);
            let open = session
                .project()
                .or_else(|| written_to.and_then(|id| service.projects.open.get(id)));
            let staged =
                open.as_ref().and_then(|open| open.memory().staged_by(&session.id).cloned());
            let working = session.project_id().or(written_to);
            // Where a project cannot be read, no call gets as far as working in it.
            let located = || {
                let root = session.known_root()?;
                let here = registry.projects().find(|project| text(&project.root) == root);
                here.map(|project| project.id)
            };
            let project = working.or_else(located).map(|id| {
                let known = || Some(text(&registry.project(id)?.root));
                let root = session.known_root().or_else(known).unwrap_or_default();
                ProjectRef { id: id.to_string(), root }
            });
            let is_unread = working.is_none() && project.is_some();
            SessionSummary {
                id: session.id.to_string(),
                client: session.client().to_string(),
                pid: Some(session.hello.pid),
                project,
                since: session.started.0,
                last_call: session_status.last_call.0,
                connected: session_status.disconnected.is_none(),
                staged: staged
                    .map(|staged| StagedStatus {
                        items: ByKind(staged.counts()),
                        summary: staged.summary.is_some(),
                    })
                    .unwrap_or_default(),
                staged_unknown: open.is_none() && (written_to.is_some() || is_unread),
                joined: session_status.confidence.map(|confidence| confidence.name().to_owned()),
            }
        })
        .collect();
    sessions.sort_by_key(|session| session.since);
    sessions
}

/// Reports on every project, the last used first. Reads several at a time, so that a disk that
/// hangs delays only its own projects.
async fn all_projects(service: &SessionService) -> Vec<ProjectStatus> {
    let registry = service.projects.registry.snapshot();
    let of = |record: &Arc<ProjectRecord>| {
        let record = Arc::clone(record);
        async move { project_status(service, &record, service.projects.open.get(record.id)).await }
    };
    let all: Vec<_> = registry.projects().map(of).collect();
    let mut all: Vec<_> = stream::iter(all).buffered(limits::PLACES_AT_ONCE).collect().await;
    all.sort_by_key(|project| Reverse(project.last_used));
    all
}

/// Reports the user's own memory, if there is one. Opens it, because `anchord status` shows how
/// many notes it has.
async fn personal_status(service: &SessionService) -> Option<ProjectStatus> {
    match service.projects.open_known(ProjectId::PERSONAL).await {
        Ok(open) => {
            let open = open?;
            Some(memory_status(service, open.id, Some(open)).await)
        }
        Err(error) => {
            let status = memory_status(service, ProjectId::PERSONAL, None).await;
            let read_only = status.read_only.filter(|_| status.unread);
            let read_only = read_only.or_else(|| Some(error.to_string()));
            Some(ProjectStatus { read_only, ..status })
        }
    }
}

async fn project_status(
    service: &SessionService,
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
        ..memory_status(service, record.id, open).await
    }
}

/// Reports a memory as if it were the user's own. The caller adds the fields that name a project.
async fn memory_status(
    service: &SessionService,
    id: ProjectId,
    open: Option<Arc<OpenProject>>,
) -> ProjectStatus {
    let memory = open.as_ref().map(|open| open.memory());
    let read_only = open.as_ref().and_then(|open| open.owner.health().read_only.clone());
    let usage = service.projects.open.usage(id).await;
    let team = match &open {
        Some(open) => team_summary(service, open).await,
        None => None,
    };
    let totals = memory.as_ref().map(|memory| memory.totals());
    ProjectStatus {
        id: api::USER.to_owned(),
        root: String::new(),
        name: PERSONAL_NAME.to_owned(),
        exists: true,
        open: open.is_some(),
        records: totals.map(|totals| ByKind(totals.active)),
        revision: memory.as_ref().map_or(0, |memory| memory.revision().0),
        entries: memory.as_ref().map_or(0, |memory| memory.seq().0),
        bytes: usage.bytes,
        last_used: usage.written.map(|time| clock::timestamp(time).0),
        unread: usage.unread.is_some(),
        read_only: usage.unread.or(read_only),
        shared: service.shared.reported(id),
        team,
    }
}

/// Reports the team of an open memory without asking its database.
async fn team_summary(service: &SessionService, open: &OpenProject) -> Option<TeamSummary> {
    let (status, memory) = (open.owner.team()?, open.memory());
    let directory = service.projects.open.directory(open.id);
    let waiting = memory.held().count();
    let fault = team_fault(&status, waiting, clock::now());
    let (name, error) = match run_blocking(move || team::read(&directory)).await {
        Ok(config) => (config.map(|config| config.name).unwrap_or_default(), fault),
        Err(error) => (String::new(), Some(error.to_string())),
    };
    Some(TeamSummary { name, waiting, answered: status.seen().map(|time| time.0), error })
}

#[cfg(test)]
mod tests;
