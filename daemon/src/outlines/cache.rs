//! Outlines on disk, by the digest of the file's content: a cache, which may be deleted at any
//! time.
//!
//! A file has a checksum on its first line and an outline as JSON on the second. It is replaced
//! whole. One that cannot be read is logged, removed and rebuilt. The directory is bounded; the
//! outlines used longest ago are removed first.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchord_outline::{Language, Outline};
use parking_lot::Mutex;
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

use crate::limits::{OUTLINE_BYTES_MAX, OUTLINES_BYTES_MAX, OUTLINES_MAX};

/// The number of the format and of the rules that make outlines. An outline of another number is
/// made again.
const FORMAT: &str = "v3";

/// The name under which an outline is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    /// Creates the key of a content that is outlined in a language, or as plain text.
    pub(super) fn new(digest: &str, language: Option<&Language>) -> Self {
        Self(format!("{digest}-{}", language.map_or("text", |language| language.id)))
    }
}

/// The kept outlines.
#[derive(Debug)]
pub(super) struct Cache {
    directory: PathBuf,
    /// The size of the directory; `None` until it was counted.
    usage: Mutex<Option<Usage>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    outlines: usize,
    bytes: u64,
}

impl Usage {
    fn is_over(self) -> bool {
        self.outlines > OUTLINES_MAX || self.bytes > OUTLINES_BYTES_MAX
    }
}

impl Cache {
    /// Creates the cache in a directory, which need not exist.
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, usage: Mutex::default() }
    }

    /// Returns an outline, and marks it as used.
    pub(super) fn get(&self, key: &Key) -> Option<Outline> {
        let path = self.path(key);
        match read(&path) {
            Ok(outline) => Some(outline),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "could not read the cache of outlines; it is made again");
                // If it cannot be removed, it is replaced.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps an outline. A failure is logged: the outline is made again next time.
    pub(super) fn put(&self, key: &Key, outline: &Outline) {
        let path = self.path(key);
        match write(&path, outline) {
            Ok(bytes) => self.grew(bytes),
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "could not keep an outline");
            }
        }
    }

    /// Removes all outlines.
    pub(super) fn clear(&self) {
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::error!(%error, directory = %self.directory.display(), "could not remove the cache of outlines");
            }
            _ => {}
        }
        self.set_usage(None);
    }

    /// Returns the file of an outline. Few are in one directory.
    fn path(&self, key: &Key) -> PathBuf {
        let folder = key.0.get(..2).unwrap_or("00");
        self.directory.join(FORMAT).join(folder).join(&key.0)
    }

    /// Counts a new outline, and makes room if there are too many.
    fn grew(&self, bytes: u64) {
        let known = *self.usage.lock();
        let usage = if let Some(Usage { outlines, bytes: before }) = known {
            Usage { outlines: outlines + 1, bytes: before + bytes }
        } else {
            self.remove_other_formats();
            sum(&self.files())
        };
        let usage = if usage.is_over() { self.make_room() } else { usage };
        self.set_usage(Some(usage));
    }

    fn set_usage(&self, usage: Option<Usage>) {
        *self.usage.lock() = usage;
    }

    /// Removes the outlines used longest ago, down to three quarters of the limits.
    fn make_room(&self) -> Usage {
        let mut files = self.files();
        files.sort_by_key(|file| file.used);
        let mut usage = sum(&files);
        for file in &files {
            if usage.outlines * 4 <= OUTLINES_MAX * 3 && usage.bytes * 4 <= OUTLINES_BYTES_MAX * 3 {
                break;
            }
            match fs::remove_file(&file.path) {
                Ok(()) => {
                    usage.outlines -= 1;
                    usage.bytes -= file.bytes;
                }
                Err(error) => tracing::warn!(%error, "could not remove an outline"),
            }
        }
        usage
    }

    fn files(&self) -> Vec<Kept> {
        let files =
            entries(&self.directory.join(FORMAT)).flat_map(|folder| entries(&folder.path()));
        let kept = files.filter_map(|file| {
            let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
            let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some(Kept { path: file.path(), used, bytes: meta.len() })
        });
        kept.collect()
    }

    fn remove_other_formats(&self) {
        let others = entries(&self.directory).filter(|entry| {
            ![FORMAT, super::SEEN_DIRECTORY].iter().any(|name| entry.file_name() == *name)
        });
        for entry in others {
            if let Err(error) = fs::remove_dir_all(entry.path()) {
                tracing::warn!(%error, "could not remove outlines of another format");
            }
        }
    }
}

/// An outline's file.
struct Kept {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

fn sum(files: &[Kept]) -> Usage {
    Usage { outlines: files.len(), bytes: files.iter().map(|file| file.bytes).sum() }
}

fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

fn read(path: &Path) -> io::Result<Outline> {
    let file = File::open(path)?;
    let mut text = String::new();
    (&file).take(OUTLINE_BYTES_MAX + 1).read_to_string(&mut text)?;
    let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let (sum, json) = text.split_once('\n').ok_or_else(|| damaged("it is cut short"))?;
    if sum != checksum(json) {
        return Err(damaged("its checksum is wrong"));
    }
    let outline = serde_json::from_str(json).map_err(|error| damaged(&error.to_string()))?;
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    // At worst the outline is removed too early.
    let _ = rustix::fs::futimens(&file, &Timestamps { last_access: omit, last_modification: now });
    Ok(outline)
}

fn write(path: &Path, outline: &Outline) -> io::Result<u64> {
    let json = serde_json::to_string(outline)?;
    let text = format!("{}\n{json}", checksum(&json));
    let bytes = text.len() as u64;
    if bytes > OUTLINE_BYTES_MAX {
        return Err(io::Error::other(format!("it has {bytes} bytes")));
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", uuid::Uuid::new_v4()));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // It may not even have been created.
        let _ = fs::remove_file(&temporary);
    }
    written.map(|()| bytes)
}

fn checksum(json: &str) -> String {
    format!("{:08x}", crc32fast::hash(json.as_bytes()))
}

#[cfg(test)]
mod tests;
