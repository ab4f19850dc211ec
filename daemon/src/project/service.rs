//! Memories by id: the open ones, and the registry that knows which exist.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;

use super::{OpenProject, OpenProjects, Transition, WriteCommand};
use crate::projects::{ProjectId, Registry, RegistryChange};
use crate::registry_store::RegistryStore;
use crate::store::StoreError;
use crate::{clock, limits};

/// The registry and the open projects.
#[derive(Debug)]
pub(crate) struct ProjectService {
    pub(crate) registry: RegistryStore,
    pub(crate) open: OpenProjects,
    /// The directories of logs that all projects share. A purge looks there too.
    pub(crate) logs: Vec<PathBuf>,
    /// Tells of projects from which something was purged on another machine.
    pub(crate) purged: UnboundedSender<ProjectId>,
}

impl ProjectService {
    /// Opens a project's memory or the user's own, or creates it. A memory that was on disk before
    /// and is missing is an error, never an empty memory.
    pub(crate) async fn open_project(&self, id: ProjectId) -> Result<Arc<OpenProject>, StoreError> {
        let stored = self.registry.snapshot().is_stored(id);
        if stored && !self.open.has_data(id)? && !self.open.has_data_after_all(id).await? {
            return Err(StoreError::Missing {
                path: self.open.directory(id),
                personal: id.is_personal(),
            });
        }
        let open = self.open.open(id).await?;
        if !stored {
            self.remember_stored(id).await;
        }
        Ok(open)
    }

    /// Opens a project's memory or the user's own, if it exists.
    pub(crate) async fn open_known(
        &self,
        id: ProjectId,
    ) -> Result<Option<Arc<OpenProject>>, StoreError> {
        if !self.registry.snapshot().is_stored(id) && !self.open.exists(id)? {
            return Ok(None);
        }
        self.open_project(id).await.map(Some)
    }

    /// Opens a memory that exists, for a read. In a team, waits for the first look at the database.
    /// If this finds a purge, waits a moment for this machine's copy to follow it. The memory is
    /// open while the two are compared, so a read waits for a long comparison no longer than that.
    /// After an attempt that failed, does not wait for the next one.
    pub(crate) async fn open_to_read(
        &self,
        id: ProjectId,
    ) -> Result<Option<Arc<OpenProject>>, StoreError> {
        let (begin, mut has_asked) = (clock::start(), false);
        while let Some(open) = self.open_known(id).await? {
            open.first_look().await;
            let is_awaited = open.begins_apart() && !self.open.has_disagreed(id);
            if !is_awaited || begin.elapsed() >= limits::TEAM_AGREE_WAIT_MAX {
                return Ok(Some(open));
            }
            if !has_asked {
                // The next pass of the periodic work would bring them into agreement later.
                self.open.teams().opened().notify_one();
                has_asked = true;
            }
            // It is closed and opened again.
            drop(open);
            tokio::time::sleep(limits::TEAM_POLL).await;
        }
        Ok(None)
    }

    /// Waits until a memory's copy no longer differs from its team's journal, at most until then.
    pub(crate) async fn followed(&self, id: ProjectId, until: Instant) -> Result<(), StoreError> {
        // The next pass of the periodic work would bring them into agreement later.
        self.open.teams().opened().notify_one();
        while clock::start() < until {
            tokio::time::sleep(limits::TEAM_POLL).await;
            if !self.open_project(id).await?.is_apart() {
                break;
            }
        }
        Ok(())
    }

    /// Records that a memory is on disk. If that fails, the next opening records it.
    async fn remember_stored(&self, id: ProjectId) {
        let decide: WriteCommand<Registry> = Arc::new(move |registry, _| {
            let known = registry.is_stored(id);
            let changes = (!known).then_some(RegistryChange::MemoryStored { id });
            Ok(Transition::silent(changes.into_iter().collect()))
        });
        if let Err(error) = self.registry.write(None, None, "stored", decide).await {
            tracing::warn!(memory = %id, %error, "failed to record that a memory is on disk");
        }
    }
}

impl OpenProject {
    /// Returns whether this machine's copy differs from its team's journal, as far as its writer
    /// knows.
    pub(crate) fn is_apart(&self) -> bool {
        self.owner.team().is_some_and(|status| status.is_apart)
    }
}

impl OpenProjects {
    /// Returns whether any of a project's memory is on disk, once nobody puts another in its place.
    async fn has_data_after_all(&self, id: ProjectId) -> Result<bool, StoreError> {
        let slot = Arc::clone(self.slots.lock().entry(id).or_default());
        let _gate = Arc::clone(&slot.gate).lock_owned().await;
        self.has_data(id)
    }

    /// Notes whether an attempt to bring a copy into agreement with its team's journal succeeded.
    pub(crate) fn note_agreement(&self, id: ProjectId, is_reached: bool) {
        if let Some(slot) = self.slots.lock().get(&id) {
            *slot.disagreed.lock() = (!is_reached).then(clock::start);
        }
    }

    /// Returns whether the last such attempt failed, a moment ago.
    fn has_disagreed(&self, id: ProjectId) -> bool {
        let slot = self.slots.lock().get(&id).cloned();
        let failed = slot.and_then(|slot| *slot.disagreed.lock());
        failed.is_some_and(|at| at.elapsed() < limits::TEAM_AGREE_UNAWAITED_FOR)
    }
}
