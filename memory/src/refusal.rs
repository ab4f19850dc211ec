//! The reasons why a write is refused, named after what the caller will do about them. Nothing was
//! written.

use std::fmt;

use crate::audience::{Audience, Tool};
use crate::fold::clip;
use crate::ids::{Kind, RecordId, Timestamp};

/// The refusal of a write. Its `Display` is for agents; [`Refusal::worded`] is for any reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Correct the field and send again.
    Invalid {
        /// The field: `blueprints[2].title`.
        field: String,
        /// The mistake, as the rest of a sentence.
        why: String,
    },
    /// Forget the note instead.
    EmptyNote,
    /// Set a field that records of this kind have, or write the record again.
    NotesAlone {
        /// The field that only notes have.
        field: &'static str,
        /// The record.
        id: RecordId,
    },
    /// Send less, or do first what `advice` says.
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
    Full {
        /// The kind of the records.
        kind: Kind,
        /// The unit: records, or bytes of their text.
        unit: &'static str,
        /// The number kept.
        kept: u64,
        /// The number that the write adds.
        more: u64,
        /// The number that is allowed.
        most: u64,
    },
    /// Use another id.
    NotFound {
        /// The requested id.
        id: RecordId,
        /// Similar ids of the same kind.
        nearest: Vec<RecordId>,
    },
    /// Leave it: nothing of the record is left.
    Purged {
        /// The record.
        id: RecordId,
        /// The time of the purge.
        time: Timestamp,
    },
    /// Leave the item out.
    PurgedText {
        /// The item: `lessons[2]`.
        field: String,
        /// The time at which the text was purged.
        time: Timestamp,
    },
    /// Use another key.
    NoSuchKey {
        /// The requested key.
        key: String,
        /// Similar keys.
        nearest: Vec<String>,
    },
    /// Use another name, or write the topic first.
    NoSuchTopic {
        /// The requested name.
        name: String,
        /// Names of existing topics, the last written first.
        known: Vec<String>,
        /// The number of further topics.
        more: usize,
    },
    /// Check what changed, then decide again.
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

    /// Words the refusal for its reader.
    pub fn worded(&self, audience: &Audience) -> String {
        match self {
            Self::Invalid { field, why } => format!("{field} {why}"),
            Self::EmptyNote => {
                format!("content is empty; {} takes a note away", audience.tool(Tool::Forget))
            }
            Self::NotesAlone { field, id } => {
                let noun = id.kind.noun();
                let rest = match audience {
                    Audience::Agent | Audience::Compactor => {
                        "written again with memory_checkpoint or memory_save"
                    }
                    Audience::Person(_) => "changed with `anchord edit`",
                };
                format!(
                    "{field} is of notes alone and {id} is a {noun}; of a {noun}, tags and pinned \
                     can be set here, the rest is {rest}"
                )
            }
            Self::TooLarge { what, bytes, bytes_max, advice } => {
                format!("{what} is {bytes} bytes, {bytes_max} are allowed; {advice}")
            }
            Self::Full { kind, unit, kept, more, most } => {
                let noun = kind.facts().noun_in_full;
                format!(
                    "no room for more {noun}s in this project: {kept} of {most} {unit} are used, \
                     {more} more are needed; {}",
                    making_room(*kind, audience)
                )
            }
            Self::NotFound { id, nearest } => format!("there is no record {id}{}", near(nearest)),
            Self::Purged { id, time } => {
                format!("{id} was purged on {}; its content is gone for good", time.date())
            }
            Self::PurgedText { field, time } => format!(
                "{field} says what was purged on {} and is not taken in again; leave it out",
                time.date()
            ),
            Self::NoSuchKey { key, nearest } => {
                let near = near_keys(nearest, audience);
                format!("there is no fact with the key `{key}`{near}")
            }
            Self::NoSuchTopic { name, known, more } => {
                let known = topics(known, *more, audience);
                format!("there is no topic `{name}` yet{known}")
            }
            Self::Conflict { what, expected, current, changed } => {
                format!("{what} is at {current} now, not at {expected}{}", listed(changed))
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Audience::Agent))
    }
}

impl std::error::Error for Refusal {}

/// Words what makes room for records of a kind. A session's own notes count even after it has
/// ended, and no other session can forget them.
fn making_room(kind: Kind, audience: &Audience) -> String {
    let forget = audience.tool(Tool::Forget);
    match (kind, audience) {
        (Kind::Note, Audience::Agent | Audience::Compactor) => format!(
            "{forget} records that no longer hold; a person at a shell can also `anchord forget` \
             what past sessions kept for themselves"
        ),
        (Kind::Note, Audience::Person(_)) => format!(
            "{forget} records that no longer hold, also what past sessions kept for themselves"
        ),
        _ => format!("{forget} records that no longer hold, archived ones too"),
    }
}

fn near(nearest: &[RecordId]) -> String {
    let ids: Vec<String> = nearest.iter().map(RecordId::to_string).collect();
    if ids.is_empty() { String::new() } else { format!("; near it are {}", ids.join(", ")) }
}

fn near_keys(nearest: &[String], audience: &Audience) -> String {
    let keys: Vec<String> = nearest.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        format!("; {} finds notes by their words", audience.tool(Tool::Search))
    } else {
        format!("; near it are {}", keys.join(", "))
    }
}

fn topics(known: &[String], more: usize, audience: &Audience) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match (names.is_empty(), more) {
        (true, _) => match audience {
            Audience::Agent | Audience::Compactor => {
                "; memory_checkpoint with a topic begins one".to_owned()
            }
            Audience::Person(_) => "; an agent's checkpoint with a topic begins one".to_owned(),
        },
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

#[cfg(test)]
mod tests;
