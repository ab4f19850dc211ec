//! The parts that hooks work with.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::state::{HookState, Patience};
use crate::blocking::run_blocking;
use crate::metrics::Metrics;
use crate::outlines::OutlineService;
use crate::projects::ProjectId;
use crate::purging::{Unfinished, asked_in};
use crate::retrieval_log;
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

    /// Forgets the texts of projects from which an earlier daemon purged something, if it died
    /// before it could.
    pub(crate) async fn forget_unfinished(&self) {
        let registry = self.sessions.projects.registry.snapshot();
        let ids = registry.projects().map(|record| record.id).chain([ProjectId::PERSONAL]);
        for id in ids {
            match self.unfinished(id).await {
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => drop(self.forget_purged(id).await),
            }
        }
    }

    /// Forgets the texts of a project from which something was purged. What was asked about it
    /// leaves the logs, and the copies of the project's rules are written again.
    ///
    /// Returns the files that may still have such a text. The next daemon tries again.
    pub(crate) async fn forget_purged(&self, project: ProjectId) -> BTreeSet<PathBuf> {
        self.state.forget_given_of(project);
        // A signature may have the purged text. Outlines are made again from the files.
        self.outlines.forget_all().await;
        let projects = &self.sessions.projects;
        let directory = projects.open.directory(project);
        let unfinished = match self.unfinished(project).await {
            Ok(unfinished) => unfinished.unwrap_or_default(),
            Err(error) => {
                tracing::error!(%project, %error, "cannot read which purges are to be forgotten");
                return BTreeSet::from([directory]);
            }
        };
        let mut failed = BTreeSet::new();
        for directory in asked_in(projects, project) {
            // Calls during the purge may have been logged.
            let ids = unfinished.ids.clone();
            if let Err(error) = projects.open.retrievals().forget(directory.clone(), ids).await {
                tracing::error!(%project, error, "what was asked during a purge may stay logged");
                failed.extend(retrieval_log::files(&directory));
            }
        }
        if let Err(files) = self.renew_copies(project, &unfinished.ids).await {
            failed.extend(files);
        }
        if failed.is_empty()
            && let Err(error) = run_blocking(move || unfinished.end(&directory)).await
        {
            tracing::warn!(%project, %error, "a purge is done, and still noted as unfinished");
        }
        failed
    }

    async fn unfinished(&self, project: ProjectId) -> io::Result<Option<Unfinished>> {
        let directory = self.sessions.projects.open.directory(project);
        run_blocking(move || Unfinished::read(&directory)).await
    }

    /// Writes the copies of a project's rules again, those of its worktrees included.
    async fn renew_copies(
        &self,
        project: ProjectId,
        gone: &BTreeSet<String>,
    ) -> Result<(), Vec<PathBuf>> {
        let Self { sessions, .. } = self;
        if project.is_personal() {
            return Ok(());
        }
        match sessions.projects.open_known(project).await {
            Ok(None) => Ok(()),
            Ok(Some(open)) => sessions.rules.renew_copies(project, &open.memory(), gone).await,
            Err(error) => {
                tracing::warn!(%project, %error, "copies of rules may have what was purged");
                Err(vec![sessions.rules.copies()])
            }
        }
    }

    /// Returns the metrics.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}
