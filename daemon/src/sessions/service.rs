//! The parts that sessions work with.

use std::sync::Arc;

use super::{SessionTable, TeamGate};
use crate::anchors::AnchorService;
use crate::config::Config;
use crate::project::ProjectService;
use crate::projects::Surroundings;
use crate::rules::RuleService;
use crate::shared::SharedService;

/// The sessions, and the parts below them.
#[derive(Debug)]
pub(crate) struct SessionService {
    pub(crate) projects: Arc<ProjectService>,
    pub(crate) table: Arc<SessionTable>,
    pub(crate) config: Arc<Config>,
    pub(crate) surroundings: Surroundings,
    pub(crate) shared: Arc<SharedService>,
    pub(crate) anchors: Arc<AnchorService>,
    pub(crate) rules: RuleService,
    pub(crate) gate: TeamGate,
    /// Whether the daemon before this one, or the machine, ended without an orderly stop.
    pub(crate) after_crash: bool,
}
