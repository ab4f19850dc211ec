//! The parts that tools work with.

use std::sync::Arc;

use anchord_proto::hello::ToolSet;

use super::tool::{Reach, ToolSpec};
use super::tools::{self, ToolList};
use crate::merging::MergeService;
use crate::metrics::Metrics;
use crate::outlines::OutlineService;
use crate::sessions::SessionService;
use crate::zipmem_files::ZipmemMirror;

/// The tools, and the parts below them.
#[derive(Debug)]
pub(crate) struct ToolService {
    pub(crate) sessions: Arc<SessionService>,
    metrics: Arc<Metrics>,
    /// Merges texts by a model, if that is configured.
    pub(super) merging: Arc<MergeService>,
    /// Makes outlines of files.
    pub(crate) outlines: Arc<OutlineService>,
    /// Writes zipmem's files, if that is configured.
    pub(super) zipmem: Arc<ZipmemMirror>,
    tools: [Arc<ToolList>; ToolSet::ALL.len()],
}

impl ToolService {
    pub(crate) fn new(
        sessions: Arc<SessionService>,
        metrics: Arc<Metrics>,
        merging: Arc<MergeService>,
        outlines: Arc<OutlineService>,
        zipmem: Arc<ZipmemMirror>,
    ) -> Self {
        let tools = ToolSet::ALL.map(|set| Arc::new(ToolList::new(set)));
        Self { sessions, metrics, merging, outlines, zipmem, tools }
    }

    /// Returns the tools of a set.
    pub(crate) fn tools(&self, set: ToolSet) -> Arc<ToolList> {
        let at = ToolSet::ALL.iter().position(|each| *each == set).unwrap_or_default();
        let [default, ..] = &self.tools;
        Arc::clone(self.tools.get(at).unwrap_or(default))
    }

    /// Returns a tool of the set `all`, or one that only commands have.
    pub(super) fn tool(&self, name: &str) -> Option<ToolSpec> {
        let tools = self.tools(ToolSet::All);
        tools.get(name).cloned().or_else(|| tools::of_commands(name))
    }

    /// Returns the memories that a command may use a tool on; `None` if there is no such tool.
    pub(crate) fn reach(&self, tool: &str) -> Option<Reach> {
        self.tool(tool)?.reach
    }

    /// Returns the metrics.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}
