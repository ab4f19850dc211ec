//! The index: rows under keys, kept next to the journal so that an open need not read the whole
//! journal.
//!
//! An index may lag behind the journal, or be missing, at any time. It never holds half of an
//! `apply`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

use rustix::io::Errno;

use super::Row;
use super::packing::Unpacker;

/// Key prefixes of the state's rows, the reply ledger's rows and the soft marks. Indexes of older
/// builds also have history rows under `h/`, which nothing reads any more.
pub(crate) const STATE: &str = "d/";
pub(crate) const REPLIES: &str = "r/";
pub(crate) const MARKS: &str = "k/";
/// The key of the row that names the index's journal and its last entry.
pub(crate) const META: &str = "meta";

/// Whether every open reads the row of this key. An index counts these rows and sums their digests,
/// because a damaged one can return fewer or older rows without an error.
pub(crate) fn is_counted(key: &str) -> bool {
    key.starts_with(STATE) || key.starts_with(REPLIES)
}

/// The number of rows, their bytes, and a digest of them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSum {
    /// The number of rows.
    pub rows: u64,
    /// The sum of their digests.
    pub digest: u64,
    /// Bytes of their keys and texts.
    pub bytes: u64,
}

impl RowSum {
    /// Adds a row. Its key is `prefix` followed by `key`.
    pub(crate) fn add(&mut self, prefix: &str, key: &str, text: &str) {
        self.rows += 1;
        self.digest = self.digest.wrapping_add(digest(prefix, key, text));
        self.bytes += (prefix.len() + key.len() + text.len()) as u64;
    }

    /// Subtracts a row that was added before.
    pub(crate) fn remove(&mut self, key: &str, text: &str) {
        self.rows = self.rows.saturating_sub(1);
        self.digest = self.digest.wrapping_sub(digest("", key, text));
        self.bytes = self.bytes.saturating_sub((key.len() + text.len()) as u64);
    }

    /// Returns the sum of both sets of rows.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            digest: self.digest.wrapping_add(other.digest),
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Returns a row's digest: its CRC-32, spread over 64 bits so that sums of different rows differ.
/// The spreading uses the last steps of splitmix64.
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

/// An error that makes the index unusable. Nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct IndexError {
    why: String,
    passes: bool,
}

impl IndexError {
    /// Returns the error for an index whose content is not as written. It must be rebuilt.
    pub(crate) fn damaged(why: impl Into<String>) -> Self {
        Self { why: why.into(), passes: false }
    }

    /// Returns the error for a text that is not as written.
    pub(super) fn torn(key: &str) -> Self {
        Self::damaged(format!("the value of {key} is damaged"))
    }

    /// Whether a later try may work.
    pub(crate) fn passes(&self) -> bool {
        self.passes
    }
}

/// Converts an I/O error. An operating-system error passes: a full disk, no free descriptor. An
/// error that sled itself created is about the data that it read.
impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        let passes = error.raw_os_error().is_some_and(|code| {
            let code = Errno::from_raw_os_error(code);
            ![Errno::NOTDIR, Errno::ISDIR, Errno::NAMETOOLONG, Errno::LOOP].contains(&code)
        });
        Self { why: error.to_string(), passes }
    }
}

/// A text as an index keeps it.
#[derive(Clone, Debug)]
pub enum StoredText<'a> {
    /// Its bytes.
    Plain(Cow<'a, [u8]>),
    /// Its bytes, packed.
    Packed(Cow<'a, [u8]>),
}

impl StoredText<'_> {
    /// Returns the text of this key.
    pub(super) fn text<'t>(
        &'t self,
        key: &str,
        unpacker: &'t mut Unpacker,
    ) -> Result<&'t str, IndexError> {
        let text = match self {
            Self::Plain(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Packed(bytes) => unpacker.unpack(bytes),
        };
        text.ok_or_else(|| IndexError::torn(key))
    }
}

/// Rows under keys, in key order.
pub trait Index: Send + Debug {
    /// Returns the text under a key.
    fn get(&self, key: &str) -> Result<Option<String>, IndexError>;

    /// Visits every key with this prefix, without the prefix, and its text as it is kept. Another
    /// thread may unpack it.
    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError>;

    /// Visits every key with this prefix, without the prefix, and its text.
    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str)) -> Result<(), IndexError> {
        let (mut unpacker, mut whole) = (Unpacker::new(), Ok(()));
        self.scan_stored(prefix, &mut |key, stored| match stored.text(key, &mut unpacker) {
            Ok(text) => visit(key, text),
            Err(error) => whole = Err(error),
        })?;
        whole
    }

    /// Writes and removes rows, all or none. No key may occur twice.
    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError>;

    /// Checks that the rows that every open reads are as written. These are the state's and the
    /// reply ledger's.
    fn check(&mut self, read: RowSum) -> Result<(), IndexError>;

    /// Hands the applied rows to the operating system.
    fn flush(&mut self) -> Result<(), IndexError>;

    /// Returns the size on disk, in bytes.
    fn bytes(&self) -> u64;

    /// Returns the sum of the rows that every open reads, once [`Index::check`] has seen them.
    fn sum(&self) -> RowSum;

    /// Returns another handle, for reading while this one is written.
    fn reader(&self) -> Box<dyn Index>;
}

/// The location of an index.
pub trait IndexPlace: Send + Sync + Debug {
    /// Opens the existing index, or an empty one.
    fn open(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Removes the index, which must not be open, and any index set aside.
    fn discard(&self) -> Result<(), IndexError>;

    /// Keeps the index, which must not be open, under another name. Replaces an index that was set
    /// aside before.
    fn set_aside(&self) -> Result<(), IndexError>;

    /// Opens an empty index next to the existing one. Replaces an unfinished copy.
    fn begin_copy(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Makes the copy, which must not be open, durable. May take long.
    fn sync_copy(&self) -> Result<(), IndexError>;

    /// Replaces the index with the synced copy. Neither may be open. After an error the next
    /// [`IndexPlace::open`] finds the old index.
    fn take_copy(&self) -> Result<(), IndexError>;

    /// Opens the copy that was taken. The replaced index stays until [`IndexPlace::end_copy`].
    fn open_copy(&self) -> Result<Box<dyn Index>, IndexError>;

    /// Removes the index that a copy has replaced. May take long.
    fn end_copy(&self) -> Result<(), IndexError>;
}

/// An index that can record what is written to it while a copy is made.
#[derive(Debug)]
pub(super) struct TrackedIndex {
    index: Box<dyn Index>,
    changes: Option<BTreeMap<String, Option<String>>>,
}

impl TrackedIndex {
    pub(super) fn new(index: Box<dyn Index>) -> Self {
        Self { index, changes: None }
    }

    /// Starts recording writes.
    pub(super) fn begin_changes(&mut self) {
        self.changes = Some(BTreeMap::new());
    }

    /// Returns the newest value of each row written since [`Self::begin_changes`], and stops
    /// recording.
    pub(super) fn take_changes(&mut self) -> Vec<Row> {
        let changes = self.changes.take().unwrap_or_default();
        changes.into_iter().map(|(key, value)| Row { key, value }).collect()
    }
}

impl Index for TrackedIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        self.index.get(key)
    }

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        self.index.scan_stored(prefix, visit)
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

/// An index that stays as it is: writes go to memory.
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

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        self.kept.scan_stored(prefix, visit)
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

/// An index only in memory: a stand-in while no other works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemIndex {
    rows: BTreeMap<String, String>,
}

impl Index for MemIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        Ok(self.rows.get(key).cloned())
    }

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        for (key, value) in self.rows.range(prefix.to_owned()..) {
            let Some(rest) = key.strip_prefix(prefix) else { break };
            visit(rest, StoredText::Plain(Cow::Borrowed(value.as_bytes())));
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
