//! The reasons why a write is refused, named after what the caller will do about them. Nothing was
//! written. `render/refusal.rs` has the words.

use std::sync::Arc;

use crate::fold::clip;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::record::Record;

/// The refusal of a write. Its `Display` is for agents; [`Refusal::worded`] is for any reader.
#[derive(Clone, Debug, PartialEq)]
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
        /// The conflicting record; `None` for memory as a whole.
        record: Option<RecordId>,
        /// The revision or version that the caller expected.
        expected: u64,
        /// The current one.
        current: u64,
        /// The records that were written in between, the newest first.
        changed: Vec<Arc<Record>>,
        /// The time of the refused write.
        time: Timestamp,
    },
}

impl Refusal {
    /// Creates a refusal of a field.
    pub(crate) fn invalid(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), why: clip(&why.into(), 300) }
    }
}
