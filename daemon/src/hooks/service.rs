//! The parts that hooks work with.

use std::sync::Arc;

use super::state::{HookState, Patience};
use crate::metrics::Metrics;
use crate::outlines::OutlineService;
use crate::sessions::SessionService;

/// The conversations that hooks have reported, and the parts below them.
#[derive(Debug)]
pub(crate) struct HookService {
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) state: HookState,
    pub(super) outlines: Arc<OutlineService>,
    /// The time that a load may take.
    pub(super) patience: Patience,
    metrics: Arc<Metrics>,
}

impl HookService {
    pub(crate) fn new(
        sessions: Arc<SessionService>,
        outlines: Arc<OutlineService>,
        metrics: Arc<Metrics>,
        patience: Patience,
    ) -> Self {
        Self { sessions, state: HookState::default(), outlines, patience, metrics }
    }

    /// Returns the metrics.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}
