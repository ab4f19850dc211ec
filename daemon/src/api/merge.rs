//! Merging a text into a brief by a model: the two requests of the process that calls it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The text that is to be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeQuery {
    /// A directory or an id.
    pub project: String,
    /// The topic that is the brief.
    pub topic: String,
    /// Ids of the notes that have the text; none for the newest text.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The calls of providers that may be needed; 0 to only look. They count as made, until
    /// [`MergeParams`] says how many were.
    #[serde(default)]
    pub calls: u32,
}

/// The material for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeTask {
    /// The brief as a state.
    pub state: Value,
    /// The text, without secrets.
    pub text: String,
    /// Ids of the notes that have it.
    pub notes: Vec<String>,
    /// The calls that are granted.
    pub calls: u32,
}

/// The end of the calls for a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeParams {
    /// A directory or an id.
    pub project: String,
    /// The topic that is the brief.
    pub topic: String,
    /// Ids of the notes that have the text.
    pub notes: Vec<String>,
    /// The state that a model gave; `None` if none did.
    pub state: Option<Value>,
    /// The calls that were granted and not made.
    pub calls_left: u32,
}

/// The end of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum MergeReply {
    /// There was no state.
    Nothing,
    /// It was written; this is the brief's version now.
    Merged {
        /// The version.
        version: u32,
    },
    /// It lacks what must stay, so nothing was written.
    Refused {
        /// A phrase for each thing that is missing.
        missing: Vec<String>,
    },
    /// The brief was written meanwhile, so nothing was.
    Stale,
}
