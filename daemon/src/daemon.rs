//! The daemon's shared state, and the requests that its parts may make of it.

use std::sync::Arc;
use std::time::Instant;

use anchord_memory::{SessionId, Timestamp};
use anchord_proto::hello::{Hello, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::api::HttpState;
use crate::clock;
use crate::config::Config;
use crate::hooks::state::HookState;
use crate::instance::Instance;
use crate::mcp::ToolList;
use crate::metrics::Metrics;
use crate::project::{OpenProject, OpenProjects, Transition, WriteCommand};
use crate::projects::{ProjectId, Registry, RegistryChange, Surroundings};
use crate::registry_store::RegistryStore;
use crate::sessions::{Connection, SessionTable};
use crate::store::StoreError;

/// One running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) instance: Instance,
    pub(crate) config: Config,
    pub(crate) surroundings: Surroundings,
    pub(crate) started: Timestamp,
    pub(crate) up_since: Instant,
    pub(crate) registry: RegistryStore,
    pub(crate) projects: OpenProjects,
    /// Whether the daemon before this one, or the machine, ended without an orderly stop.
    pub(crate) after_crash: bool,
    pub(crate) http_state: std::sync::OnceLock<HttpState>,
    sessions: Arc<SessionTable>,
    hooks: HookState,
    metrics: Metrics,
    stopping: CancellationToken,
    tools: [Arc<ToolList>; ToolSet::ALL.len()],
}

/// The parts of a daemon, opened by [`crate::run`].
pub(crate) struct Parts {
    pub(crate) instance: Instance,
    pub(crate) config: Config,
    pub(crate) surroundings: Surroundings,
    pub(crate) registry: RegistryStore,
    pub(crate) projects: OpenProjects,
    pub(crate) after_crash: bool,
}

impl Daemon {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let Parts { instance, config, surroundings, registry, projects, after_crash } = parts;
        Arc::new(Self {
            instance,
            config,
            surroundings,
            started: clock::now(),
            up_since: clock::start(),
            registry,
            projects,
            after_crash,
            http_state: std::sync::OnceLock::new(),
            sessions: Arc::default(),
            hooks: HookState::default(),
            metrics: Metrics::default(),
            stopping: CancellationToken::new(),
            tools: ToolSet::ALL.map(|set| Arc::new(ToolList::new(set))),
        })
    }

    /// Opens a project's memory or the user's own, or creates it. A memory that was on disk before
    /// and is missing is an error, never an empty memory.
    pub(crate) async fn open_project(&self, id: ProjectId) -> Result<Arc<OpenProject>, StoreError> {
        let stored = self.registry.snapshot().is_stored(id);
        if stored && !self.projects.has_data(id)? {
            return Err(StoreError::Missing {
                path: self.projects.directory(id),
                personal: id.is_personal(),
            });
        }
        let open = self.projects.open(id).await?;
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
        if !self.registry.snapshot().is_stored(id) && !self.projects.exists(id)? {
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

    /// Opens a shim's connection. It resumes the session that its token names, or begins a new one.
    /// Also returns the token that the shim presents when it reconnects.
    pub(crate) fn connect(&self, hello: Hello, tool_set: ToolSet) -> (Arc<Connection>, String) {
        let instance = hello.instance.to_string();
        let resumed = hello
            .resume
            .as_ref()
            .and_then(|resume| self.instance.key().verify(&resume.token, &instance));
        // A token holds the session and the digest of the tools that its client was shown.
        let (id, tools_seen) = match resumed.as_ref().and_then(|held| held.0.rsplit_once('~')) {
            Some((id, digest)) => (id.to_owned(), Some(digest.to_owned())),
            None => (uuid::Uuid::now_v7().to_string(), None),
        };
        let held = SessionId::new(format!("{id}~{}", self.tools(tool_set).digest()));
        let token = self.instance.key().sign(&held, &instance);
        let stop = self.stopping.child_token();
        let id = SessionId::new(id);
        (self.sessions.connect(id, hello, tool_set, tools_seen, stop), token)
    }

    /// Returns the tools of a set.
    pub(crate) fn tools(&self, set: ToolSet) -> Arc<ToolList> {
        let at = ToolSet::ALL.iter().position(|each| *each == set).unwrap_or_default();
        let [default, ..] = &self.tools;
        Arc::clone(self.tools.get(at).unwrap_or(default))
    }

    /// Returns the sessions that are open or not yet gone.
    pub(crate) fn sessions(&self) -> &Arc<SessionTable> {
        &self.sessions
    }

    /// Returns the conversations that hooks have reported.
    pub(crate) fn hooks(&self) -> &HookState {
        &self.hooks
    }

    /// Returns the metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Starts draining: accepts no new connections, answers pending requests, then ends the
    /// process.
    pub(crate) fn stop(&self, why: &str) {
        if !self.stopping.is_cancelled() {
            tracing::info!(why, "stopping");
            self.stopping.cancel();
        }
    }

    /// Returns whether the daemon is draining.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Returns a token that is cancelled when the daemon starts draining.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }
}

#[cfg(test)]
mod tests;
