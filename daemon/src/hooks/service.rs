//! The parts that hooks work with.

use std::sync::Arc;

use super::state::{HookState, Patience};
use crate::bounded_fs;
use crate::metrics::Metrics;
use crate::outlines::OutlineService;
use crate::projects::{ProjectId, identify, locate};
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

    /// Forgets the texts of a project from which something was purged. The copies of its rules,
    /// which may have a purged one, are written again.
    pub(crate) async fn forget_purged(&self, project: ProjectId) {
        self.state.forget_given_of(project);
        // A signature may have the purged text. Outlines are made again from the files.
        self.outlines.forget_all().await;
        if project.is_personal() {
            return;
        }
        if let Err(error) = self.leave_rules(project).await {
            tracing::warn!(%project, error, "copies of rules were not written again after a purge");
        }
    }

    /// Writes the copies of a project's rules again, those of its worktrees included.
    async fn leave_rules(&self, project: ProjectId) -> Result<(), String> {
        let sessions = &self.sessions;
        let roots = sessions.rules.copied_roots().await.map_err(|error| error.to_string())?;
        let open =
            sessions.projects.open_known(project).await.map_err(|error| error.to_string())?;
        let Some(open) = open else { return Ok(()) };
        for root in roots {
            let (registry, at) = (sessions.projects.registry.snapshot(), root.clone());
            let surroundings = sessions.surroundings.clone();
            let looking = move || {
                let located = locate(&at, &surroundings).map_err(|error| error.to_string())?;
                let found = identify(&located, &registry).map_err(|error| error.to_string())?;
                Ok((found.id == Some(project)).then_some(located))
            };
            let looked = bounded_fs::run(&root, looking).await;
            match looked.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(None) => {}
                Ok(located) => sessions.rules.leave_copy(&open.memory(), located.as_ref()).await,
                Err(error) => tracing::warn!(
                    root = %root.display(),
                    error,
                    "the copy of the rules of a directory may have what was purged"
                ),
            }
        }
        Ok(())
    }

    /// Returns the metrics.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}
