//! Memories by id: the open ones, and the registry that knows which exist.

use std::sync::Arc;

use super::{OpenProject, OpenProjects, Transition, WriteCommand};
use crate::projects::{ProjectId, Registry, RegistryChange};
use crate::registry_store::RegistryStore;
use crate::store::StoreError;

/// The registry and the open projects.
#[derive(Debug)]
pub(crate) struct ProjectService {
    pub(crate) registry: RegistryStore,
    pub(crate) open: OpenProjects,
}

impl ProjectService {
    /// Opens a project's memory or the user's own, or creates it. A memory that was on disk before
    /// and is missing is an error, never an empty memory.
    pub(crate) async fn open_project(&self, id: ProjectId) -> Result<Arc<OpenProject>, StoreError> {
        let stored = self.registry.snapshot().is_stored(id);
        if stored && !self.open.has_data(id)? {
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
