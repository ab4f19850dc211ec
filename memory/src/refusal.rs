//! The reasons why a write is refused, named after what the caller will do about them. Nothing was
//! written.

use crate::fold::clip;
use crate::ids::{RecordId, Timestamp};

/// The refusal of a write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Correct the field and send again.
    #[error("{field} {why}")]
    Invalid {
        /// The field: `blueprints[2].title`.
        field: String,
        /// The mistake, as the rest of a sentence.
        why: String,
    },
    /// Send less, or do first what `advice` says.
    #[error("{what} is {bytes} bytes, {bytes_max} are allowed; {advice}")]
    TooLarge {
        /// The item that is too large.
        what: String,
        /// Its size.
        bytes: usize,
        /// The largest size allowed.
        bytes_max: usize,
        /// Advice for the caller.
        advice: &'static str,
    },
    /// Make room, then send it again.
    #[error(
        "no room for more {kinds} in this project: {kept} of {most} {unit} are used, {more} more \
         are needed; {advice}"
    )]
    Full {
        /// The kind, in the plural.
        kinds: &'static str,
        /// The unit: records, or bytes of their text.
        unit: &'static str,
        /// The number kept.
        kept: u64,
        /// The number that the write adds.
        more: u64,
        /// The number that is allowed.
        most: u64,
        /// Advice for the caller.
        advice: &'static str,
    },
    /// Use another id.
    #[error("there is no record {id}{}", near(.nearest))]
    NotFound {
        /// The requested id.
        id: RecordId,
        /// Similar ids of the same kind.
        nearest: Vec<RecordId>,
    },
    /// Leave it: nothing of the record is left.
    #[error("{id} was purged on {}; its content is gone for good", .time.date())]
    Purged {
        /// The record.
        id: RecordId,
        /// The time of the purge.
        time: Timestamp,
    },
    /// Leave the item out.
    #[error(
        "{field} says what was purged on {} and is not taken in again; leave it out",
        .time.date()
    )]
    PurgedText {
        /// The item: `lessons[2]`.
        field: String,
        /// The time at which the text was purged.
        time: Timestamp,
    },
    /// Use another key.
    #[error("there is no fact with the key `{key}`{}", near_keys(.nearest))]
    NoSuchKey {
        /// The requested key.
        key: String,
        /// Similar keys.
        nearest: Vec<String>,
    },
    /// Use another name, or write the topic first.
    #[error("there is no topic `{name}` yet{}", topics(.known, *.more))]
    NoSuchTopic {
        /// The requested name.
        name: String,
        /// Names of existing topics, the last written first.
        known: Vec<String>,
        /// The number of further topics.
        more: usize,
    },
    /// Check what changed, then decide again.
    #[error("{what} is at {current} now, not at {expected}{}", listed(.changed))]
    Conflict {
        /// The conflicting object: `memory` or the record's id.
        what: String,
        /// The revision or version that the caller expected.
        expected: u64,
        /// The current one.
        current: u64,
        /// The changes in between, one line each.
        changed: Vec<String>,
    },
}

impl Refusal {
    /// Creates a refusal of a field.
    pub(crate) fn invalid(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), why: clip(&why.into(), 300) }
    }
}

fn near(nearest: &[RecordId]) -> String {
    let ids: Vec<String> = nearest.iter().map(RecordId::to_string).collect();
    if ids.is_empty() { String::new() } else { format!("; near it are {}", ids.join(", ")) }
}

fn near_keys(nearest: &[String]) -> String {
    let keys: Vec<String> = nearest.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        "; memory_search finds notes by their words".to_owned()
    } else {
        format!("; near it are {}", keys.join(", "))
    }
}

fn topics(known: &[String], more: usize) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match (names.is_empty(), more) {
        (true, _) => "; memory_checkpoint with a topic begins one".to_owned(),
        (false, 0) => format!("; there are {}", names.join(", ")),
        (false, more) => format!("; there are {} and {more} more", names.join(", ")),
    }
}

fn listed(changed: &[String]) -> String {
    if changed.is_empty() {
        String::new()
    } else {
        format!("; nothing was written. Changed since:\n{}", changed.join("\n"))
    }
}
