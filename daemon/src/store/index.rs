//! What a store keeps beside its journal so as not to read it again: rows under keys.
//!
//! An index may be behind the journal, or gone, at any time; it may never be half of an `apply`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

use rustix::io::Errno;

use super::Row;

/// Prefixes of keys: the state's rows, the reply ledger's, soft marks. Indexes of older builds also
/// have rows of history, under `h/`, which nothing reads any more.
pub(crate) const STATE: &str = "d/";
pub(crate) const REPLIES: &str = "r/";
pub(crate) const MARKS: &str = "k/";
/// What the index is of, and how far it is.
pub(crate) const META: &str = "meta";

/// Whether a key's row is read at every open. An index counts these and sums their digests, since a
/// damaged one can come up with fewer or older rows and no error.
pub(crate) fn is_counted(key: &str) -> bool {
    key.starts_with(STATE) || key.starts_with(REPLIES)
}

/// The number of rows and their bytes, and a digest of them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSum {
    /// How many.
    pub rows: u64,
    /// The sum of their digests.
    pub digest: u64,
    /// Bytes of their keys and texts.
    pub bytes: u64,
}

impl RowSum {
    /// Adds a row, whose key is in two parts.
    pub(crate) fn add(&mut self, prefix: &str, key: &str, text: &str) {
        self.rows += 1;
        self.digest = self.digest.wrapping_add(digest(prefix, key, text));
        self.bytes += (prefix.len() + key.len() + text.len()) as u64;
    }

    /// Takes a row away that was added before.
    pub(crate) fn remove(&mut self, key: &str, text: &str) {
        self.rows = self.rows.saturating_sub(1);
        self.digest = self.digest.wrapping_sub(digest("", key, text));
        self.bytes = self.bytes.saturating_sub((key.len() + text.len()) as u64);
    }

    /// Adds the rows of another sum.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            digest: self.digest.wrapping_add(other.digest),
            bytes: self.bytes + other.bytes,
        }
    }
}

/// A row's digest: its CRC-32, spread over 64 bits so that sums of different rows differ (the last
/// steps of splitmix64).
fn digest(prefix: &str, key: &str, text: &str) -> u64 {
    let mut crc = crc32fast::Hasher::new();
    for part in [prefix, key, "\0", text] {
        crc.update(part.as_bytes());
    }
    let mut mixed = u64::from(crc.finalize()) ^ ((text.len() as u64) << 32);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The index cannot be used (any more). Nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct IndexError {
    why: String,
    passes: bool,
}

impl IndexError {
    /// The index is not what was written; it has to be rebuilt.
    pub(crate) fn damaged(why: impl Into<String>) -> Self {
        Self { why: why.into(), passes: false }
    }

    /// Whether a later try may work.
    pub(crate) fn passes(&self) -> bool {
        self.passes
    }
}

/// An error of the operating system passes: a full disk, no free descriptor. One of the library's
/// own making is about what it read.
impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        let passes = error.raw_os_error().is_some_and(|code| {
            let code = Errno::from_raw_os_error(code);
            ![Errno::NOTDIR, Errno::ISDIR, Errno::NAMETOOLONG, Errno::LOOP].contains(&code)
        });
        Self { why: error.to_string(), passes }
    }
}

/// Rows under keys, in key order.
pub trait Index: Send + Debug {
    /// The text under a key.
    fn get(&self, key: &str) -> Result<Option<String>, IndexError>;

    /// Every key with this prefix, without the prefix, and its text.
    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str)) -> Result<(), IndexError>;

    /// Writes and removes rows, all or none; no key twice.
    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError>;

    /// Checks that what was read is what was written, of the rows that are read at every open (the
    /// state's and the reply ledger's).
    fn check(&mut self, read: RowSum) -> Result<(), IndexError>;

    /// Hands what was applied to the operating system.
    fn flush(&mut self) -> Result<(), IndexError>;

    /// Bytes on disk.
    fn bytes(&self) -> u64;

    /// Returns the sum of the rows that are read at an open, once [`Index::check`] has seen them.
    fn sum(&self) -> RowSum;

    /// Returns another handle, to read from while this one is written.
    fn reader(&self) -> Box<dyn Index>;
}

/// Where an index is.
pub trait IndexPlace: Send + Sync + Debug {
    /// Opens the index that is there, or an empty one.
    fn open(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Removes the index, which must not be open, and one that was set aside.
    fn discard(&self) -> Result<(), IndexError>;

    /// Keeps the index, which must not be open, under another name, in place of one that was set
    /// aside before.
    fn set_aside(&self) -> Result<(), IndexError>;

    /// Opens an empty index beside the one that is there, in place of a copy that was not finished.
    fn begin_copy(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Makes the copy durable, which must not be open. May take long.
    fn sync_copy(&self) -> Result<(), IndexError>;

    /// Puts the copy, synced, in the place of the index. Neither may be open. After an error the
    /// next [`IndexPlace::open`] finds the index that was there.
    fn take_copy(&self) -> Result<(), IndexError>;

    /// Opens the copy that was taken, and leaves what it replaced to [`IndexPlace::end_copy`].
    fn open_copy(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Removes what a copy has replaced. May take long.
    fn end_copy(&self) -> Result<(), IndexError>;
}

/// An index that can remember what is written to it, while a copy of it is made.
#[derive(Debug)]
pub(super) struct TrackedIndex {
    index: Box<dyn Index>,
    changes: Option<BTreeMap<String, Option<String>>>,
}

impl TrackedIndex {
    pub(super) fn new(index: Box<dyn Index>) -> Self {
        Self { index, changes: None }
    }

    /// Remembers what is written from now on.
    pub(super) fn begin_changes(&mut self) {
        self.changes = Some(BTreeMap::new());
    }

    /// Returns what was written since, the newest of each row, and remembers nothing more.
    pub(super) fn take_changes(&mut self) -> Vec<Row> {
        let changes = self.changes.take().unwrap_or_default();
        changes.into_iter().map(|(key, value)| Row { key, value }).collect()
    }
}

impl Index for TrackedIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        self.index.get(key)
    }

    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str)) -> Result<(), IndexError> {
        self.index.scan(prefix, visit)
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        self.index.apply(rows)?;
        if let Some(changes) = &mut self.changes {
            changes.extend(rows.iter().map(|row| (row.key.clone(), row.value.clone())));
        }
        Ok(())
    }

    fn check(&mut self, read: RowSum) -> Result<(), IndexError> {
        self.index.check(read)
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.index.flush()
    }

    fn bytes(&self) -> u64 {
        self.index.bytes()
    }

    fn sum(&self) -> RowSum {
        self.index.sum()
    }

    fn reader(&self) -> Box<dyn Index> {
        self.index.reader()
    }
}

/// An index that is kept as it is: what is written goes to memory.
#[derive(Debug)]
pub(super) struct KeptIndex {
    kept: Box<dyn Index>,
    written: MemIndex,
}

impl KeptIndex {
    pub(super) fn new(kept: Box<dyn Index>) -> Self {
        Self { kept, written: MemIndex::default() }
    }
}

impl Index for KeptIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        match self.written.get(key)? {
            Some(value) => Ok(Some(value)),
            None => self.kept.get(key),
        }
    }

    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str)) -> Result<(), IndexError> {
        self.kept.scan(prefix, visit)
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        self.written.apply(rows)
    }

    fn check(&mut self, read: RowSum) -> Result<(), IndexError> {
        self.kept.check(read)
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.kept.bytes()
    }

    fn sum(&self) -> RowSum {
        self.kept.sum()
    }

    fn reader(&self) -> Box<dyn Index> {
        self.kept.reader()
    }
}

/// An index in memory alone: a stand-in while there is no better.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemIndex {
    rows: BTreeMap<String, String>,
}

impl Index for MemIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        Ok(self.rows.get(key).cloned())
    }

    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str)) -> Result<(), IndexError> {
        for (key, value) in self.rows.range(prefix.to_owned()..) {
            let Some(rest) = key.strip_prefix(prefix) else { break };
            visit(rest, value);
        }
        Ok(())
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        for row in rows {
            match &row.value {
                Some(value) => self.rows.insert(row.key.clone(), value.clone()),
                None => self.rows.remove(&row.key),
            };
        }
        Ok(())
    }

    fn check(&mut self, _read: RowSum) -> Result<(), IndexError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn sum(&self) -> RowSum {
        let mut sum = RowSum::default();
        for (key, text) in self.rows.iter().filter(|(key, _)| is_counted(key)) {
            sum.add("", key, text);
        }
        sum
    }

    fn reader(&self) -> Box<dyn Index> {
        Box::new(self.clone())
    }
}
