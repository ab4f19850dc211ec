//! Splitting a memory in which several projects wrote.

use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// Parameters to split off what other projects wrote into a memory, or to undo a split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitParams {
    /// A directory of the project, or its id.
    pub project: String,
    /// Whether to show what would happen, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether to undo the last split of this memory instead.
    #[serde(default)]
    pub undo: bool,
}

/// The plan of a split, or its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitReply {
    /// The memory that is split.
    pub project: Option<ProjectRef>,
    /// Whether the split was carried out.
    pub applied: bool,
    /// Records that move to other projects.
    pub parts: Vec<SplitPart>,
    /// The number of records that stay because it is unknown where they were written.
    pub unknown: u32,
    /// The number of records that stay because one project began them and another one wrote them
    /// last.
    pub several: u32,
    /// The number of records that stay because they are about files outside the project in which
    /// they were written.
    pub outside: u32,
    /// The number of notes that stay because sessions kept them private.
    pub private: u32,
    /// The number of records that undoing a split restored here.
    pub restored: u32,
}

/// The records that move to one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitPart {
    /// The project's root.
    pub root: String,
    /// The number of records that move there or, once applied, have moved.
    pub records: u32,
    /// The titles of some of them, one line each.
    pub titles: Vec<String>,
    /// Once applied: the number of records that stay because the project has something else in
    /// their place.
    pub left: u32,
}
