//! Replies to writes of single records, as the journal keeps them: with each record in one line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::title;
use crate::ids::{RecordId, Timestamp, Version};
use crate::kinds::UnseenCode;
use crate::omit::is_default;
use crate::plan::{AddOutcome, Contradiction, ForgetOutcome, UpdateOutcome};
use crate::record::Record;

/// The reply to an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateReply {
    /// The record. It is a different record if a note was shared and the project already had the
    /// same.
    pub id: RecordId,
    /// Its current version.
    pub version: Version,
    /// The record in one line, as it is now.
    pub title: String,
    /// Whether nothing had to change.
    pub unchanged: bool,
}

impl UpdateReply {
    /// Words an outcome.
    pub fn of(outcome: &UpdateOutcome, now: Timestamp) -> Self {
        let UpdateOutcome { record, unchanged } = outcome;
        let (id, version, title) = (record.id, record.version, title(record, now));
        Self { id, version, title, unchanged: *unchanged }
    }
}

/// The reply to a forget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetReply {
    /// The record.
    pub id: RecordId,
    /// The record in one line, as it was before.
    pub title: String,
    /// Whether it was already forgotten, so that nothing changes.
    pub already: bool,
}

impl ForgetReply {
    /// Words an outcome.
    pub fn of(outcome: &ForgetOutcome, now: Timestamp) -> Self {
        let ForgetOutcome { record, already } = outcome;
        Self { id: record.id, title: title(record, now), already: *already }
    }
}

/// The reply to an addition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddReply {
    /// New records, one line each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub added: Vec<String>,
    /// Existing records that an added item was merged into, one line each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub merged: Vec<String>,
    /// Blueprints that contradict stored ones with the same title.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contradicts: Vec<Contradiction>,
    /// The anchors whose lines could not be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unseen: Vec<UnseenCode>,
}

impl AddReply {
    /// Words an outcome.
    pub fn of(outcome: AddOutcome, now: Timestamp) -> Self {
        let AddOutcome { added, merged, contradicts, unseen } = outcome;
        let titles =
            |records: &[Arc<Record>]| records.iter().map(|record| title(record, now)).collect();
        Self { added: titles(&added), merged: titles(&merged), contradicts, unseen }
    }
}

#[cfg(test)]
mod tests;
