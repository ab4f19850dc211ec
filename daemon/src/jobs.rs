//! Periodic work: stages pending activity, ends sessions that are gone, closes idle projects, and
//! returns free memory. Also checks that this is still the daemon of its instance.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::blocking::run_blocking;
use crate::daemon::Daemon;
use crate::heap::{self, Heap};
use crate::projects::ProjectId;
use crate::{hooks, limits, sessions};

/// Runs until the daemon stops. Waits for no project longer than [`limits::JOB_TIME_MAX`].
pub(crate) async fn run(daemon: Arc<Daemon>) {
    let mut tick = tokio::time::interval(limits::JOBS_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let stopping = daemon.stopping();
    let (mut heap, mut closed) = (Heap::default(), 0);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = stopping.cancelled() => return,
        }
        if !daemon.instance.still_ours() {
            daemon.stop("the lock or the socket in the instance directory is no longer ours");
            return;
        }
        if daemon.registry.is_closed() {
            daemon.stop("the daemon's own store has failed; the next daemon opens it again");
            return;
        }
        if let Err(error) = daemon.registry.retry().await {
            tracing::error!(%error, "the daemon's own records cannot be opened again");
        }
        hooks::stage_silent(&daemon.hooks, limits::NOTED_STAGED_AFTER).await;
        sessions::sweep(&daemon.sessions).await;
        let in_use: BTreeSet<ProjectId> = daemon
            .sessions
            .table
            .all()
            .into_iter()
            .filter(|status| status.disconnected.is_none())
            .filter_map(|status| status.session.project_id())
            .collect();
        daemon.projects.keep_reads().await;
        closed += daemon.projects.close_idle(&in_use).await as u64;
        if heap.is_due(daemon.metrics().work() + closed) {
            run_blocking(heap::trim).await;
        }
    }
}
