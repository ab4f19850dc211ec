//! The reasons why a session has no project.

use crate::bounded_fs::DiskTimeout;
use crate::project::WriteError;
use crate::projects::{EstablishError, FOREIGN, NotAProject, ProjectId};
use crate::store::StoreError;

impl BindError {
    /// Returns whether the directory was read and is no project, or none that this daemon can see.
    pub(super) fn leads_nowhere(&self) -> bool {
        matches!(self, Self::NotAProject(_) | Self::Foreign | Self::Unknown(_))
    }
}

/// The reason why a session has no project. The text says how to name one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BindError {
    /// The directory cannot be a project.
    #[error("failed to {0}")]
    NotAProject(#[from] NotAProject),
    /// The project's directory cannot be read.
    #[error("failed to {0}")]
    Unreadable(#[from] EstablishError),
    /// The project's disk does not answer.
    #[error(transparent)]
    Hangs(#[from] DiskTimeout),
    /// The agent runs on another machine or in a container, and names no known project.
    #[error(
        "this agent {FOREIGN} than anchord: name the project with `--project ID`; `anchord project list` shows the ids"
    )]
    Foreign,
    /// No project has the given id.
    #[error("no project has the id {0}; `anchord project list` shows the projects there are")]
    Unknown(ProjectId),
    /// This machine is to be one of a team, and is not yet.
    #[error(
        "this machine has not joined the team's memory yet: {0}; it tries again every few seconds, \
         and until then nothing is read or stored"
    )]
    NotJoined(String),
    /// The store cannot be opened.
    #[error("failed to open the project's memory: {0}")]
    Store(#[from] StoreError),
    /// The registry or the project did not accept a write.
    #[error(transparent)]
    Write(#[from] WriteError),
}
