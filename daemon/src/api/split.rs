//! Separating a memory in which several projects wrote.

use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// Separates what other projects wrote into a memory, or takes that back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitParams {
    /// A directory of the project, or its id.
    pub project: String,
    /// Whether to show what would happen, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether to take back the last split of this memory instead.
    #[serde(default)]
    pub undo: bool,
}

/// The plan of a split, or its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitReply {
    /// The memory that is separated.
    pub project: Option<ProjectRef>,
    /// Whether it was done.
    pub applied: bool,
    /// Records that go to other projects.
    pub parts: Vec<SplitPart>,
    /// Records that stay, since nothing tells where they were written.
    pub unknown: u32,
    /// Records that stay, since they were begun in one project and last written in another.
    pub several: u32,
    /// Records that stay, since they are about files outside the project in which they were
    /// written.
    pub outside: u32,
    /// Notes that stay, since sessions kept them for themselves.
    pub private: u32,
    /// Records that taking a split back restored here.
    pub restored: u32,
}

/// The records that go to one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitPart {
    /// The project's root.
    pub root: String,
    /// How many records go there or, once applied, went.
    pub records: u32,
    /// Some of them, one line each.
    pub titles: Vec<String>,
    /// Once applied: records that stay, since the project says something else in their place.
    pub left: u32,
}
