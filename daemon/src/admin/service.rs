//! The parts that the admin interface works with.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anchord_memory::Timestamp;

use crate::api::HttpState;
use crate::hooks::HookService;
use crate::instance::Instance;
use crate::mcp::ToolService;
use crate::merging::MergeService;
use crate::metrics::Metrics;
use crate::sessions::SessionService;
use crate::shutdown::Shutdown;

/// The daemon as a whole, and the parts below. A request that is about a project gets the sessions
/// alone.
#[derive(Debug)]
pub(crate) struct AdminService {
    pub(crate) instance: Arc<Instance>,
    pub(crate) started: Timestamp,
    pub(crate) up_since: Instant,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) tools: Arc<ToolService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) merging: Arc<MergeService>,
    pub(crate) shutdown: Shutdown,
    /// Set once the status port was tried.
    pub(crate) http_state: OnceLock<HttpState>,
}
