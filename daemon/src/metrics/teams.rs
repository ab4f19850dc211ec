//! Counts of memories that teams share.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The memories of teams, at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TeamsSeen {
    /// Whether this machine has not joined the team of its environment yet.
    pub(crate) joining: bool,
    /// Open memories.
    pub(crate) open: usize,
    /// Those of them whose database did not answer the last call.
    pub(crate) unreachable: usize,
    /// Saves that wait for a database.
    pub(crate) waiting: usize,
}

/// The gauges.
#[derive(Debug, Default)]
pub(super) struct TeamMetrics {
    joining: Gauge,
    open: Gauge,
    unreachable: Gauge,
    waiting: Gauge,
}

impl TeamMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "team_joining",
            "1 until this machine has joined the team of its environment",
            self.joining.clone(),
        );
        registry.register("team_projects", "Open projects of teams", self.open.clone());
        registry.register(
            "team_projects_unreachable",
            "Of those, the ones whose database did not answer the last call",
            self.unreachable.clone(),
        );
        registry.register(
            "team_saves_waiting",
            "Saves that wait for a team's database",
            self.waiting.clone(),
        );
    }

    pub(super) fn show(&self, seen: TeamsSeen) {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.joining.set(seen.joining.into());
        self.open.set(count(seen.open));
        self.unreachable.set(count(seen.unreachable));
        self.waiting.set(count(seen.waiting));
    }
}
