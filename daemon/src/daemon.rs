//! The parts of a daemon, each made of those below it. Only the layers above name this type.

use std::sync::Arc;
use std::time::Instant;

use anchord_memory::{SessionId, Timestamp};
use anchord_proto::hello::{Hello, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::api::HttpState;
use crate::clock;
use crate::config::Config;
use crate::hooks::HookService;
use crate::instance::Instance;
use crate::mcp::ToolService;
use crate::metrics::Metrics;
use crate::project::{OpenProjects, ProjectService};
use crate::projects::Surroundings;
use crate::registry_store::RegistryStore;
use crate::sessions::{Connection, SessionService, SessionTable};

/// One running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) instance: Instance,
    pub(crate) config: Arc<Config>,
    pub(crate) surroundings: Surroundings,
    pub(crate) started: Timestamp,
    pub(crate) up_since: Instant,
    pub(crate) registry: Arc<RegistryStore>,
    pub(crate) projects: Arc<OpenProjects>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) tools: Arc<ToolService>,
    pub(crate) http_state: std::sync::OnceLock<HttpState>,
    metrics: Arc<Metrics>,
    stopping: CancellationToken,
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
        let (config, metrics) = (Arc::new(config), Arc::<Metrics>::default());
        let (registry, projects) = (Arc::new(registry), Arc::new(projects));
        let memories =
            ProjectService { registry: Arc::clone(&registry), open: Arc::clone(&projects) };
        let sessions = Arc::new(SessionService {
            projects: Arc::new(memories),
            table: Arc::<SessionTable>::default(),
            config: Arc::clone(&config),
            surroundings: surroundings.clone(),
            after_crash,
        });
        Arc::new(Self {
            instance,
            config,
            surroundings,
            started: clock::now(),
            up_since: clock::start(),
            registry,
            projects,
            hooks: Arc::new(HookService::new(Arc::clone(&sessions), Arc::clone(&metrics))),
            tools: Arc::new(ToolService::new(Arc::clone(&sessions), Arc::clone(&metrics))),
            sessions,
            http_state: std::sync::OnceLock::new(),
            metrics,
            stopping: CancellationToken::new(),
        })
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
        let held = SessionId::new(format!("{id}~{}", self.tools.tools(tool_set).digest()));
        let token = self.instance.key().sign(&held, &instance);
        let stop = self.stopping.child_token();
        let id = SessionId::new(id);
        (self.sessions.table.connect(id, hello, tool_set, tools_seen, stop), token)
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
