//! Staged work: what a session has checkpointed but not saved. Durable, and private to it.

use serde::{Deserialize, Serialize};

use crate::ids::Timestamp;
use crate::record::{Anchor, Blueprint, Lesson};

/// One session's staged work, or one checkpoint's part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    /// How the work stood at the last checkpoint that said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// In the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blueprints: Vec<Blueprint>,
    /// Merged as in memory: overlapping ranges of one file are one anchor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// Merged as in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<Lesson>,
    /// The first checkpoint.
    pub first: Timestamp,
    /// The last checkpoint.
    pub last: Timestamp,
    /// The client that staged it, for the row written on the session's behalf.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: std::sync::Arc<str>,
}
