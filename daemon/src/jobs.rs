//! Periodic work. Stages pending activity, ends sessions that are gone, mirrors topics, moves
//! anchors and follows teams. Exchanges shared files, closes idle projects, and returns free
//! memory. Also checks that this is still the daemon of its instance.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::anchors::AnchorUpkeep;
use crate::blocking::run_blocking;
use crate::heap::{self, Heap};
use crate::hooks::{HookService, stage_silent};
use crate::instance::Instance;
use crate::limits;
use crate::metrics::Metrics;
use crate::mirror::TopicMirror;
use crate::projects::ProjectId;
use crate::sessions::{SessionService, sweep};
use crate::shutdown::Shutdown;
use crate::team_upkeep::TeamUpkeep;

/// The parts that periodic work concerns.
#[derive(Debug)]
pub(crate) struct JobService {
    pub(crate) instance: Arc<Instance>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) mirror: TopicMirror,
    pub(crate) anchors: AnchorUpkeep,
    pub(crate) teams: TeamUpkeep,
    pub(crate) shutdown: Shutdown,
}

/// Runs until the daemon stops. Waits for no project longer than [`limits::JOB_TIME_MAX`].
pub(crate) async fn run(service: JobService) {
    let JobService {
        instance,
        sessions,
        hooks,
        metrics,
        mut mirror,
        mut anchors,
        mut teams,
        shutdown,
    } = service;
    let projects = &sessions.projects;
    let mut tick = tokio::time::interval(limits::JOBS_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let stopping = shutdown.token();
    let (mut heap, mut closed) = (Heap::default(), 0);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = projects.open.teams().opened().notified() => {
                // Others' commits are heard from the start.
                teams.update().await;
                continue;
            }
            () = stopping.cancelled() => return,
        }
        if !instance.still_ours() {
            shutdown.start("the lock or the socket in the instance directory is no longer ours");
            return;
        }
        if projects.registry.is_closed() {
            shutdown.start("the daemon's own store has failed; the next daemon opens it again");
            return;
        }
        if let Err(error) = projects.registry.retry().await {
            tracing::error!(%error, "the daemon's own records cannot be opened again");
        }
        stage_silent(&hooks, limits::NOTED_STAGED_AFTER).await;
        sweep(&sessions).await;
        mirror.update().await;
        anchors.update().await;
        teams.update().await;
        sessions.shared.pass_all().await;
        let in_use: BTreeSet<ProjectId> = sessions
            .table
            .all()
            .into_iter()
            .filter(|status| status.disconnected.is_none())
            .filter_map(|status| status.session.project_id())
            .collect();
        projects.open.keep_reads().await;
        closed += projects.open.close_idle(&in_use).await as u64;
        if heap.is_due(metrics.work() + closed) {
            run_blocking(heap::trim).await;
        }
    }
}
