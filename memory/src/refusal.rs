//! Why a write is refused, named after what the caller will do about it. Nothing was written.

use crate::fold::clip;
use crate::ids::{RecordId, Timestamp};

/// A write that memory does not take as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Correct the field and send again.
    #[error("{field} {why}")]
    Invalid {
        /// Where it is: `blueprints[2].title`.
        field: String,
        /// What is wrong with it, as the rest of a sentence.
        why: String,
    },
    /// Send less, or do first what `advice` says.
    #[error("{what} is {bytes} bytes, {bytes_max} are allowed; {advice}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        bytes_max: usize,
        /// What to do about it.
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
        /// Counts records or bytes of their text.
        unit: &'static str,
        /// Number kept.
        kept: u64,
        /// Number that the write adds.
        more: u64,
        /// Number that is allowed.
        most: u64,
        /// Advice for the caller.
        advice: &'static str,
    },
    /// Use another id.
    #[error("there is no record {id}{}", near(.nearest))]
    NotFound {
        /// The id that was asked for.
        id: RecordId,
        /// Ids of the same kind that come near it.
        nearest: Vec<RecordId>,
    },
    /// Leave it: nothing of the record is left.
    #[error("{id} was purged on {}; its content is gone for good", .time.date())]
    Purged {
        /// The record.
        id: RecordId,
        /// When.
        time: Timestamp,
    },
    /// Leave the item out.
    #[error(
        "{field} says what was purged on {} and is not taken in again; leave it out",
        .time.date()
    )]
    PurgedText {
        /// Where it is: `lessons[2]`.
        field: String,
        /// When the text was purged.
        time: Timestamp,
    },
    /// Use another key.
    #[error("there is no fact with the key `{key}`{}", near_keys(.nearest))]
    NoSuchKey {
        /// The key that was asked for.
        key: String,
        /// Keys that come near it.
        nearest: Vec<String>,
    },
    /// Use another name, or write the topic first.
    #[error("there is no topic `{name}` yet{}", topics(.known, *.more))]
    NoSuchTopic {
        /// The name that was asked for.
        name: String,
        /// Names of topics that there are, the last written first.
        known: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// Look at what changed, then decide again.
    #[error("{what} is at {current} now, not at {expected}{}", listed(.changed))]
    Conflict {
        /// `memory` or the record's id.
        what: String,
        /// The revision or version the caller had in mind.
        expected: u64,
        /// The one it is at.
        current: u64,
        /// What changed in between, one line each.
        changed: Vec<String>,
    },
}

impl Refusal {
    /// A field that cannot be taken as it is.
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
