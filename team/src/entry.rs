//! Entries of a journal, and the outcomes of an append.

use tokio_postgres::Row;

use crate::error::Error;
use crate::limits::{BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};

/// The columns that [`Entry::from_row`] reads, in its order. In the statement, `$1` is the project.
pub(crate) const COLUMNS: &str = "seq, member, digest, instance, number, machine, time_ms, \
    session, operation, changes, reply, \
    (SELECT m.name FROM anchord.members m WHERE m.project = $1 AND m.role_name = member)";

/// The key of an entry. It is unique in its project and never changes when an append is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The instance id of the daemon or of the shim that numbered the entry.
    pub instance: String,
    /// The number within the instance. At most `i64::MAX`.
    pub number: u64,
}

/// An entry to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The key.
    pub key: Key,
    /// The name of the machine.
    pub machine: String,
    /// The time by the machine's clock, in ms since 1970. No order depends on it.
    pub time: i64,
    /// The session that wrote it.
    pub session: Option<String>,
    /// The name of the operation.
    pub operation: String,
    /// The changes, as JSON text.
    pub changes: String,
    /// The reply to the writer, as JSON text.
    pub reply: Option<String>,
}

/// A committed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position in the journal. The first is 1, and there is no gap.
    pub seq: u64,
    /// The database role that appended it. The database sets it.
    pub member: String,
    /// The name that the project has for that role when it is read. `None` if the role has left.
    pub name: Option<String>,
    /// The digest of the journal up to this entry.
    pub digest: String,
    /// The entry as it was appended.
    pub content: NewEntry,
}

/// The end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The `seq` of the last entry, or 0.
    pub seq: u64,
    /// The digest of the last entry, or [`FIRST_DIGEST`](crate::FIRST_DIGEST).
    pub digest: String,
    /// The count of purges. Caches of an older epoch contain purged text.
    pub epoch: u64,
}

/// A place in a journal: an entry, and the digest up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The `seq` of the entry, or 0 for the beginning.
    pub seq: u64,
    /// The digest of the journal up to it. `None` if it is not known, and then it is not compared.
    pub digest: Option<String>,
}

impl From<u64> for Point {
    fn from(seq: u64) -> Self {
        Self { seq, digest: None }
    }
}

/// The part of a journal that follows a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Following {
    /// The next entries, in order, checked against the point.
    Entries {
        /// The entries; none if the point is the head.
        entries: Vec<Entry>,
        /// The count of purges.
        epoch: u64,
    },
    /// The journal does not contain the point: it ends before it, or has another digest there.
    Apart(Head),
}

/// The outcome of an append that the database answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// All of the batch is committed. Entry `i` has the `seq` `expected + 1 + i`.
    Committed {
        /// The digest of each entry.
        digests: Vec<String>,
        /// The count of purges.
        epoch: u64,
    },
    /// The head is not the expected one. Nothing was written.
    HeadMoved {
        /// The `seq` of the head.
        head: u64,
    },
    /// Entries with these keys were committed before. Nothing was written.
    Repeated(Vec<Entry>),
}

/// New texts for a committed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The position of the entry.
    pub seq: u64,
    /// The new changes, as JSON text.
    pub changes: String,
    /// The new reply, as JSON text.
    pub reply: Option<String>,
}

/// The outcome of a rewrite that the database answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// The texts are replaced, and the last entry is appended. The head has a higher epoch.
    Committed(Head),
    /// The last entry was appended before, and so the texts were replaced with it. Nothing was
    /// written.
    Repeated,
    /// The head is not the expected one. Nothing was written.
    HeadMoved {
        /// The `seq` of the head.
        head: u64,
    },
}

impl Entry {
    pub(crate) fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            seq: unsigned(row.try_get(0)?)?,
            member: row.try_get(1)?,
            name: row.try_get(11)?,
            digest: row.try_get(2)?,
            content: NewEntry {
                key: Key { instance: row.try_get(3)?, number: unsigned(row.try_get(4)?)? },
                machine: row.try_get(5)?,
                time: row.try_get(6)?,
                session: row.try_get(7)?,
                operation: row.try_get(8)?,
                changes: row.try_get(9)?,
                reply: row.try_get(10)?,
            },
        })
    }
}

/// Checks the limits of a batch before anything is sent.
pub(crate) fn check_batch(batch: &[NewEntry]) -> Result<(), Error> {
    if batch.is_empty() || batch.len() > BATCH_ENTRIES_MAX {
        return invalid(format!("a batch has 1 to {BATCH_ENTRIES_MAX} entries"));
    }
    let mut bytes = 0_usize;
    let mut keys = std::collections::HashSet::new();
    for entry in batch {
        if !keys.insert(&entry.key) {
            return invalid("two entries of the batch have the same key".to_owned());
        }
        if entry.key.instance.is_empty() {
            return invalid("the instance is empty".to_owned());
        }
        signed(entry.key.number)?;
        let session = entry.session.as_deref().unwrap_or_default();
        for name in [&*entry.key.instance, &*entry.machine, session, &*entry.operation] {
            check_text(name, NAME_BYTES_MAX)?;
        }
        let reply = entry.reply.as_deref().unwrap_or_default();
        for text in [&*entry.changes, reply] {
            check_text(text, TEXT_BYTES_MAX)?;
            bytes = bytes.saturating_add(text.len());
        }
    }
    if bytes > BATCH_BYTES_MAX {
        return invalid(format!("the batch has {bytes} bytes, the limit is {BATCH_BYTES_MAX}"));
    }
    Ok(())
}

/// Checks a text's length, and that it has no NUL, which Postgres does not store.
pub(crate) fn check_text(text: &str, bytes_max: usize) -> Result<(), Error> {
    if text.len() > bytes_max {
        return invalid(format!("a text has {} bytes, the limit is {bytes_max}", text.len()));
    }
    if text.contains('\0') { invalid("a text contains NUL".to_owned()) } else { Ok(()) }
}

/// Converts a stored number.
pub(crate) fn unsigned(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::Damaged(format!("{number} is stored as a position")))
}

/// Converts a number to store.
pub(crate) fn signed(number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| Error::Invalid(format!("{number} is too large")))
}

fn invalid<T>(what: String) -> Result<T, Error> {
    Err(Error::Invalid(what))
}
