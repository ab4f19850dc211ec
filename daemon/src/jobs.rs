//! Periodic work. Stages pending activity, ends sessions that are gone, mirrors topics and
//! zipmem's files, moves anchors and follows teams. Exchanges shared files, closes idle projects,
//! and returns free memory. Forgets texts that were purged on other machines. Also checks that this
//! is still the daemon of its instance.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::anchors::AnchorUpkeep;
use crate::blocking::run_blocking;
use crate::heap::{self, Heap};
use crate::hooks::{HookService, stage_silent};
use crate::instance::Instance;
use crate::limits;
use crate::metrics::Metrics;
use crate::projects::ProjectId;
use crate::sessions::{SessionService, sweep};
use crate::shutdown::Shutdown;
use crate::team_upkeep::TeamUpkeep;
use crate::topic_files::TopicMirror;
use crate::zipmem_files::ZipmemMirror;

/// The parts that periodic work concerns.
#[derive(Debug)]
pub(crate) struct JobService {
    pub(crate) instance: Arc<Instance>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) mirror: TopicMirror,
    pub(crate) zipmem: Arc<ZipmemMirror>,
    pub(crate) anchors: AnchorUpkeep,
    pub(crate) teams: TeamUpkeep,
    /// The projects from which something was purged on another machine.
    pub(crate) purged: UnboundedReceiver<ProjectId>,
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
        zipmem,
        mut anchors,
        mut teams,
        mut purged,
        shutdown,
    } = service;
    let projects = &sessions.projects;
    let mut tick = tokio::time::interval(limits::JOBS_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let stopping = shutdown.token();
    let (mut heap, mut closed) = (Heap::default(), 0);
    part(&metrics, "unfinished purges", hooks.forget_unfinished()).await;
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = projects.open.teams().opened().notified() => {
                // Others' commits are heard from the start.
                part(&metrics, "teams", teams.update()).await;
                continue;
            }
            Some(id) = purged.recv() => {
                part(&metrics, "purged texts", hooks.forget_purged(id).map(drop)).await;
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
        part(&metrics, "activity", stage_silent(&hooks, limits::NOTED_STAGED_AFTER)).await;
        part(&metrics, "sessions", sweep(&sessions)).await;
        part(&metrics, "topics", mirror.update()).await;
        part(&metrics, "zipmem's files", zipmem.update()).await;
        part(&metrics, "anchors", anchors.update()).await;
        part(&metrics, "teams", teams.update()).await;
        part(&metrics, "shared files", sessions.shared.pass_all()).await;
        let in_use: BTreeSet<ProjectId> = sessions
            .table
            .all()
            .into_iter()
            .filter(|status| status.disconnected.is_none())
            .filter_map(|status| status.session.project_id())
            .collect();
        part(&metrics, "reads", projects.open.keep_reads()).await;
        let close = async { closed += projects.open.close_idle(&in_use).await as u64 };
        part(&metrics, "idle projects", close).await;
        if heap.is_due(metrics.work() + closed) {
            part(&metrics, "heap", run_blocking(heap::trim)).await;
        }
    }
}

/// Does one part of the work. A panic ends that part alone, until the next pass.
async fn part(metrics: &Metrics, name: &'static str, work: impl Future<Output = ()>) {
    if AssertUnwindSafe(work).catch_unwind().await.is_err() {
        metrics.panicked();
        tracing::error!(name, "a part of the periodic work has failed, and is repeated later");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_that_panics_does_not_end_the_others() {
        let (metrics, mut done) = (Metrics::default(), false);
        part(&metrics, "one", async { std::panic::panic_any("it fails") }).await;
        part(&metrics, "another", async { done = true }).await;
        assert!(done);
        assert_eq!(metrics.panics(), 1);
    }
}
