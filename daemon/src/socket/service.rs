//! The parts that connections work with.

use std::sync::Arc;

use anchord_memory::SessionId;
use anchord_proto::hello::{Hello, ToolSet};

use crate::admin::AdminService;
use crate::hooks::HookService;
use crate::instance::Instance;
use crate::mcp::ToolService;
use crate::metrics::Metrics;
use crate::sessions::{Connection, SessionService};
use crate::shutdown::Shutdown;

/// One service for each role, and the sessions that shims resume.
#[derive(Debug)]
pub(crate) struct SocketService {
    pub(crate) instance: Arc<Instance>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) tools: Arc<ToolService>,
    pub(crate) admin: Arc<AdminService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shutdown: Shutdown,
}

impl SocketService {
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
        let stop = self.shutdown.token().child_token();
        let id = SessionId::new(id);
        (self.sessions.table.connect(id, hello, tool_set, tools_seen, stop), token)
    }
}
