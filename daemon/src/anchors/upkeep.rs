//! Moves anchors to where their code is now, in the background. Reads never commit.
//!
//! Anchors of a memory that is shared, through git or with a team, stay as they are. The code is
//! elsewhere in other clones, and each would move them back. Reads show where it is all the same.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::{AnchorMove, AnchorState, Memory, RecordId, plan_upkeep};

use super::{AnchorService, CheckedCode, ProjectRoots};
use crate::limits::{ANCHORS_EVERY, ANCHORS_UPKEEP_TIME_MAX};
use crate::project::{OpenProject, ProjectService, WriteCommand};
use crate::projects::ProjectId;
use crate::{clock, limits};

/// The operation in history.
pub(crate) const OPERATION: &str = "anchor upkeep";

/// The upkeep of the open projects.
#[derive(Debug)]
pub(crate) struct AnchorUpkeep {
    projects: Arc<ProjectService>,
    anchors: Arc<AnchorService>,
    /// The time of each project's last check.
    checked: HashMap<ProjectId, std::time::Instant>,
}

impl AnchorUpkeep {
    pub(crate) fn new(projects: Arc<ProjectService>, anchors: Arc<AnchorService>) -> Self {
        Self { projects, anchors, checked: HashMap::new() }
    }

    /// Looks at the anchors of each open project now and then, and commits those that moved.
    pub(crate) async fn update(&mut self) {
        let open = self.projects.open.all();
        self.checked.retain(|id, _| open.iter().any(|project| project.id == *id));
        for project in open.iter().filter(|project| !project.id.is_personal()) {
            let last = self.checked.get(&project.id);
            if last.is_some_and(|last| last.elapsed() < ANCHORS_EVERY) {
                continue;
            }
            self.checked.insert(project.id, clock::start());
            let registry = self.projects.registry.snapshot();
            let is_shared = project.owner.team().is_some();
            let record = registry.project(project.id).filter(|it| !it.shared && !is_shared);
            let Some(record) = record else { continue };
            let root = record.root.clone();
            let upkeep = upkeep(&self.anchors, project, root);
            match tokio::time::timeout(limits::JOB_TIME_MAX, upkeep).await {
                Ok(Ok(moved)) if moved.is_empty() => {}
                Ok(Ok(moved)) => {
                    tracing::info!(project = %project.id, moved = moved.len(), "anchors moved");
                }
                Ok(Err(error)) => {
                    tracing::warn!(project = %project.id, error, "anchors were not moved");
                }
                Err(_elapsed) => {
                    tracing::warn!(project = %project.id, "anchors were not checked in time");
                }
            }
        }
    }
}

async fn upkeep(
    anchors: &AnchorService,
    project: &OpenProject,
    root: PathBuf,
) -> Result<Vec<RecordId>, String> {
    let memory = project.memory();
    let place = ProjectRoots { root: &root, repository: None };
    let seen = anchors.all(place, &memory, ANCHORS_UPKEEP_TIME_MAX).await;
    if project.owner.health().read_only.is_some() {
        return Ok(Vec::new());
    }
    keep(project, &seen).await
}

/// Commits the moves among the states that were seen. Returns the anchors that moved; one that was
/// written meanwhile stays.
pub(crate) async fn keep(
    project: &OpenProject,
    seen: &[CheckedCode],
) -> Result<Vec<RecordId>, String> {
    let moves: Arc<[AnchorMove]> = seen.iter().filter_map(moved).collect();
    if moves.is_empty() {
        return Ok(Vec::new());
    }
    let command: WriteCommand<Memory, Vec<RecordId>> =
        Arc::new(move |memory, _| Ok(plan_upkeep(memory, &moves).into()));
    let written = project.owner.write(None, None, OPERATION, command).await;
    written.map(|written| written.outcome).map_err(|error| error.to_string())
}

fn moved(seen: &CheckedCode) -> Option<AnchorMove> {
    let AnchorState::Moved { .. } = seen.state else { return None };
    Some(AnchorMove {
        id: seen.id,
        version: seen.version,
        file: seen.file.clone(),
        lines: seen.lines.clone(),
        print: seen.print.clone()?,
    })
}
