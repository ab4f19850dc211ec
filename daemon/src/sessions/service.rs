//! The parts that sessions work with.

use std::sync::Arc;

use super::SessionTable;
use crate::config::Config;
use crate::project::ProjectService;
use crate::projects::Surroundings;

/// The sessions, and the parts below them.
#[derive(Debug)]
pub(crate) struct SessionService {
    pub(crate) projects: Arc<ProjectService>,
    pub(crate) table: Arc<SessionTable>,
    pub(crate) config: Arc<Config>,
    pub(crate) surroundings: Surroundings,
    /// Whether the daemon before this one, or the machine, ended without an orderly stop.
    pub(crate) after_crash: bool,
}
