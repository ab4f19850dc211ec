//! Checking anchors: whether their code is where they say.

use anchord_memory::RecordId;
use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// The anchors to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorsParams {
    /// A directory or an id.
    pub project: String,
    /// Whether to move the anchors whose code was found elsewhere.
    #[serde(default)]
    pub fix: bool,
}

/// A project's anchors and where their code is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorsReply {
    /// The project; `None` if nothing is remembered there yet.
    pub project: Option<ProjectRef>,
    /// The anchors, by id.
    pub anchors: Vec<CheckedAnchor>,
}

/// An anchor, and where its code is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedAnchor {
    /// The id.
    pub id: RecordId,
    /// The state of its code.
    pub state: CodeState,
    /// The file that has the code, relative to the project's root; the stored one if it is not
    /// known.
    pub file: String,
    /// The lines of the code, as `3-8`, or the text that is stored instead.
    pub lines: String,
    /// The reason why the code matters.
    pub concept: String,
    /// The share of the lines that is new or gone, in percent; 0 unless the code changed.
    #[serde(default)]
    pub percent: u8,
    /// The file and the lines that were stored, if the code is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<AnchorPlace>,
    /// Whether this request moved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
}

/// A file and lines in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorPlace {
    /// The file, relative to the project's root.
    pub file: String,
    /// The lines, as `3-8`.
    pub lines: String,
}

/// The state of an anchor's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeState {
    /// The code is where the anchor says.
    Fresh,
    /// The code is elsewhere.
    Moved,
    /// The code is there, with changes.
    Changed,
    /// The code was not found.
    Gone,
    /// The anchor has no fingerprint, so nothing can be said.
    NoFingerprint,
    /// The code was not looked for in time, or it is not certain where it is. Readers also use this
    /// for states that they do not know.
    #[serde(other)]
    Unchecked,
}

impl CheckedAnchor {
    /// Returns whether nothing is left to do: the code is where the anchor says, or it cannot be
    /// known.
    pub fn is_right(&self) -> bool {
        self.fixed || matches!(self.state, CodeState::Fresh | CodeState::NoFingerprint)
    }
}
