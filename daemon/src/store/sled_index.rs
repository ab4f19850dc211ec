//! The index in sled 0.34. No other file names sled.
//!
//! We met these problems in this version. A flush does not fsync, so nothing relies on it. If the
//! process is killed while opening, it can leave a half-written snapshot that fails every later
//! open. Damaged files can panic, or open with rows missing. Values over 4 KiB can go to files that
//! are never synced. The defaults are a cache of 1 GB and a thread per store. The cache checks its
//! limit only now and then.
//!
//! An error persists until the index is opened again.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Row;
use super::index::{Index, IndexError, IndexPlace, RowSum, StoredText, is_counted};
use super::limits::{
    SLED_CACHE_BYTES_MAX, SLED_LOCK_POLL, SLED_LOCK_WAIT_MAX, SLED_VALUE_BYTES_MAX,
};
use super::packing::{Packer, Unpacker};

/// The key of the sum of the counted rows: their number and their digest. Indexes of older builds
/// lack the digest. A row's key never begins with a zero byte; this key and those of the parts of
/// long values do.
const COUNT_KEY: &[u8] = b"\0count";
/// The first byte of a value. It marks a whole text or the number of its parts; either may be
/// packed.
const WHOLE: u8 = b'=';
const PARTS: u8 = b'#';
const PACKED: u8 = b'z';
const PACKED_PARTS: u8 = b'Z';

/// A directory for sled.
#[derive(Clone, Debug)]
pub struct SledPlace {
    dir: PathBuf,
}

impl SledPlace {
    /// Creates a place in `dir`. Opening it creates the directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    fn aside(&self) -> PathBuf {
        self.dir.with_extension("aside")
    }

    /// Returns the path of a copy that is not in place yet.
    fn copy(&self) -> PathBuf {
        self.dir.with_extension("copy")
    }

    /// Returns the path of the index that a copy replaces.
    fn replaced(&self) -> PathBuf {
        self.dir.with_extension("replaced")
    }

    /// Undoes a replacement that was cut short, and removes the remains of an earlier one.
    fn recover_copy(&self) -> Result<(), IndexError> {
        if is_missing(&self.dir)? && !is_missing(&self.replaced())? {
            fs::rename(self.replaced(), &self.dir)?;
        }
        self.end_copy()?;
        remove(&self.copy())
    }

    /// Opens the index in a directory, or an empty one.
    fn open_in(dir: &Path) -> Result<Box<dyn Index>, IndexError> {
        let db = Self::open_db(dir)?;
        let mut index = SledIndex { db: Some(db), rows: 0, digest: Some(0), bytes: 0 };
        (index.rows, index.digest) = index.stored_sum()?;
        Ok(Box::new(index))
    }

    fn open_db(dir: &Path) -> Result<sled::Db, IndexError> {
        let config =
            sled::Config::new().path(dir).cache_capacity(SLED_CACHE_BYTES_MAX).flush_every_ms(None);
        // A thread of an index that was closed just before may still hold the lock while it ends.
        let mut waited = Duration::ZERO;
        loop {
            match guarded(|| config.open()) {
                Err(error)
                    if waited < SLED_LOCK_WAIT_MAX
                        && error.to_string().contains("could not acquire lock") =>
                {
                    thread::sleep(SLED_LOCK_POLL);
                    waited += SLED_LOCK_POLL;
                }
                opened => return opened,
            }
        }
    }

    /// Removes the remains of an open that was killed. Finished snapshots must stay.
    fn remove_generating(&self) -> io::Result<()> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("snap.") && name.ends_with(".generating") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl IndexPlace for SledPlace {
    fn open(&self) -> Result<Box<dyn Index>, IndexError> {
        self.recover_copy()?;
        self.remove_generating()?;
        Self::open_in(&self.dir)
    }

    fn discard(&self) -> Result<(), IndexError> {
        for dir in [self.copy(), self.replaced(), self.dir.clone(), self.aside()] {
            remove(&dir)?;
        }
        Ok(())
    }

    fn set_aside(&self) -> Result<(), IndexError> {
        match fs::symlink_metadata(&self.dir) {
            // It may have been set aside already: keep that one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok(_) => remove(&self.aside())?,
        }
        Ok(fs::rename(&self.dir, self.aside())?)
    }

    fn begin_copy(&self) -> Result<Box<dyn Index>, IndexError> {
        remove(&self.copy())?;
        Self::open_in(&self.copy())
    }

    fn sync_copy(&self) -> Result<(), IndexError> {
        Ok(sync_all(&self.copy())?)
    }

    fn take_copy(&self) -> Result<(), IndexError> {
        remove(&self.replaced())?;
        fs::rename(&self.dir, self.replaced())?;
        Ok(fs::rename(self.copy(), &self.dir)?)
    }

    fn open_copy(&self) -> Result<Box<dyn Index>, IndexError> {
        Self::open_in(&self.dir)
    }

    fn end_copy(&self) -> Result<(), IndexError> {
        if is_missing(&self.replaced())? {
            return Ok(());
        }
        // Sync the new names first. Without them this is the only index after a power failure.
        if let Some(parent) = self.dir.parent() {
            fs::File::open(parent)?.sync_all()?;
        }
        remove(&self.replaced())
    }
}

fn is_missing(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        found => found.map(|_| false),
    }
}

/// Syncs the files of a directory, because sled does not.
fn sync_all(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all(&entry.path())?;
        } else {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    fs::File::open(dir)?.sync_all()
}

/// Removes a directory, or a file at its path.
fn remove(dir: &Path) -> Result<(), IndexError> {
    let removed = match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(dir),
        Ok(_) => fs::remove_file(dir),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// An open sled database.
#[derive(Debug)]
struct SledIndex {
    /// The database; `None` only during the drop.
    db: Option<sled::Db>,
    /// The number of counted rows.
    rows: u64,
    /// The digest of those rows, once it is known.
    digest: Option<u64>,
    /// Bytes of their keys and texts, once they have been read.
    bytes: u64,
}

impl SledIndex {
    fn db(&self) -> Result<&sled::Db, IndexError> {
        self.db.as_ref().ok_or_else(|| IndexError::damaged("the index is closed"))
    }

    fn stored_sum(&self) -> Result<(u64, Option<u64>), IndexError> {
        let db = self.db()?;
        let Some(bytes) = guarded(|| db.get(COUNT_KEY))? else { return Ok((0, Some(0))) };
        let number = |bytes: &[u8]| {
            bytes.try_into().map(u64::from_be_bytes).map_err(|_| IndexError::torn("count"))
        };
        match bytes.split_at_checked(8) {
            Some((rows, [])) => Ok((number(rows)?, None)),
            Some((rows, digest)) => Ok((number(rows)?, Some(number(digest)?))),
            None => Err(IndexError::torn("count")),
        }
    }

    /// Returns the text of a value, joined from its parts.
    fn stored<'v>(&self, key: &str, value: &'v [u8]) -> Result<StoredText<'v>, IndexError> {
        match value.split_first() {
            Some((&WHOLE, bytes)) => Ok(StoredText::Plain(Cow::Borrowed(bytes))),
            Some((&PACKED, bytes)) => Ok(StoredText::Packed(Cow::Borrowed(bytes))),
            Some((&PARTS, _)) => self.joined(key, value).map(Cow::Owned).map(StoredText::Plain),
            Some((&PACKED_PARTS, _)) => {
                self.joined(key, value).map(Cow::Owned).map(StoredText::Packed)
            }
            _ => Err(IndexError::torn(key)),
        }
    }

    /// Returns the joined parts of a value.
    fn joined(&self, key: &str, value: &[u8]) -> Result<Vec<u8>, IndexError> {
        let db = self.db()?;
        let mut bytes = Vec::new();
        for part in 0..part_count(value) {
            let found = guarded(|| db.get(part_key(key, part)))?;
            bytes.extend_from_slice(&found.ok_or_else(|| IndexError::torn(key))?);
        }
        Ok(bytes)
    }
}

impl Index for SledIndex {
    fn get(&self, key: &str) -> Result<Option<String>, IndexError> {
        let db = self.db()?;
        let Some(value) = guarded(|| db.get(key))? else { return Ok(None) };
        let stored = self.stored(key, &value)?;
        stored.text(key, &mut Unpacker::new()).map(|text| Some(text.to_owned()))
    }

    fn scan_stored(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str, StoredText<'_>),
    ) -> Result<(), IndexError> {
        let db = self.db()?;
        let mut rows = guarded(|| Ok(db.scan_prefix(prefix)))?;
        while let Some((key, value)) = guarded(|| rows.next().transpose())? {
            let key = std::str::from_utf8(&key).map_err(|_| IndexError::torn("a key"))?;
            let stored = self.stored(key, &value)?;
            // sled's cache has 256 parts. Each checks its limit at every 64th access to one of its
            // pages. A scan accesses a page once, so all pages of 100,000 notes would stay, in 80
            // MB. This second access makes the cache check more often.
            guarded(|| db.contains_key(key))?;
            visit(key.strip_prefix(prefix).unwrap_or(key), stored);
        }
        Ok(())
    }

    fn apply(&mut self, rows: &[Row]) -> Result<(), IndexError> {
        let db = self.db()?;
        let mut batch = sled::Batch::default();
        let (digest, bytes) = (self.digest.unwrap_or_default(), self.bytes);
        let mut sum = RowSum { rows: self.rows, digest, bytes };
        let (mut packer, mut unpacker) = (Packer::new(), Unpacker::new());
        for row in rows {
            let old = guarded(|| db.get(&row.key))?;
            let old_parts = old.as_deref().map_or(0, part_count);
            let mut new_parts = 0;
            match &row.value {
                None => batch.remove(row.key.as_bytes()),
                Some(text) => {
                    let packed = packer.pack(text);
                    let (whole, parts, bytes) = match &packed {
                        Some(packed) => (PACKED, PACKED_PARTS, packed.as_slice()),
                        None => (WHOLE, PARTS, text.as_bytes()),
                    };
                    let mut value = Vec::with_capacity(bytes.len().min(SLED_VALUE_BYTES_MAX) + 1);
                    if bytes.len() < SLED_VALUE_BYTES_MAX {
                        value.push(whole);
                        value.extend_from_slice(bytes);
                    } else {
                        for part in bytes.chunks(SLED_VALUE_BYTES_MAX) {
                            batch.insert(part_key(&row.key, new_parts), part);
                            new_parts += 1;
                        }
                        value.push(parts);
                        value.extend_from_slice(&new_parts.to_be_bytes());
                    }
                    batch.insert(row.key.as_bytes(), value);
                }
            }
            for part in new_parts..old_parts {
                batch.remove(part_key(&row.key, part));
            }
            if is_counted(&row.key) {
                if let Some(old) = &old {
                    let old = self.stored(&row.key, old)?;
                    sum.remove(&row.key, old.text(&row.key, &mut unpacker)?);
                }
                if let Some(text) = &row.value {
                    sum.add("", &row.key, text);
                }
            }
        }
        let mut stored = sum.rows.to_be_bytes().to_vec();
        if self.digest.is_some() {
            stored.extend_from_slice(&sum.digest.to_be_bytes());
        }
        batch.insert(COUNT_KEY, stored);
        guarded(|| db.apply_batch(batch))?;
        self.rows = sum.rows;
        self.digest = self.digest.map(|_| sum.digest);
        self.bytes = sum.bytes;
        Ok(())
    }

    fn check(&mut self, read: RowSum) -> Result<(), IndexError> {
        if read.rows != self.rows {
            let why = format!("it holds {} rows of {}", read.rows, self.rows);
            return Err(IndexError::damaged(why));
        }
        if self.digest.is_some_and(|digest| digest != read.digest) {
            return Err(IndexError::damaged("its rows are not those that were written"));
        }
        self.digest = Some(read.digest);
        self.bytes = read.bytes;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        let db = self.db()?;
        guarded(|| db.flush()).map(|_bytes| ())
    }

    fn bytes(&self) -> u64 {
        self.db().and_then(|db| guarded(|| db.size_on_disk())).unwrap_or(0)
    }

    fn sum(&self) -> RowSum {
        let digest = self.digest.unwrap_or_default();
        RowSum { rows: self.rows, digest, bytes: self.bytes }
    }

    fn reader(&self) -> Box<dyn Index> {
        let Self { db, rows, digest, bytes } = self;
        Box::new(Self { db: db.clone(), rows: *rows, digest: *digest, bytes: *bytes })
    }
}

impl Drop for SledIndex {
    fn drop(&mut self) {
        let db = self.db.take();
        if let Err(error) = guarded(move || {
            drop(db);
            Ok(())
        }) {
            tracing::warn!(%error, "the index could not be closed in order");
        }
    }
}

/// Calls sled and turns its panics on damaged files into errors.
fn guarded<T>(call: impl FnOnce() -> sled::Result<T>) -> Result<T, IndexError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Err(sled::Error::Io(error))) => Err(error.into()),
        Ok(outcome) => outcome.map_err(|error| IndexError::damaged(error.to_string())),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(IndexError::damaged(format!("sled panicked: {text}")))
        }
    }
}

fn part_key(key: &str, part: u32) -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend_from_slice(key.as_bytes());
    bytes.extend_from_slice(&part.to_be_bytes());
    bytes
}

fn part_count(value: &[u8]) -> u32 {
    match value.split_first() {
        Some((&(PARTS | PACKED_PARTS), count)) => count.try_into().map_or(0, u32::from_be_bytes),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
