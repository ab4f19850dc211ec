//! Sealed segments, which receive no more writes: checking and archiving them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::disk::{Disk, check_space};
use super::format::{self, Crc};
use super::journal::{Journal, Segment, read_segment};
use super::segment::{self, file_name};
use super::{StateMachine, StoreError, archive};

impl Journal {
    /// Returns the sealed segments, newest first.
    pub(crate) fn sealed(&self) -> Vec<Sealed> {
        let pairs = self.segments.windows(2).rev();
        let sealed = pairs.filter_map(|pair| match pair {
            [segment, next] => Some(Sealed {
                disk: Arc::clone(&self.disk),
                dir: self.dir.clone(),
                segment: *segment,
                next: *next,
            }),
            _ => None,
        });
        sealed.collect()
    }
}

/// A segment that is followed by another one.
#[derive(Debug)]
pub(crate) struct Sealed {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    pub(crate) segment: Segment,
    next: Segment,
}

impl Sealed {
    /// Returns the segment in another form.
    pub(crate) fn with(&self, segment: Segment) -> Self {
        let (disk, dir) = (Arc::clone(&self.disk), self.dir.clone());
        Self { disk, dir, segment, next: self.next }
    }

    /// Whether it has only a header. Such a segment is smaller than its archive.
    pub(crate) fn is_empty(&self) -> bool {
        self.segment.first == self.next.first
    }

    /// Whether the file ends in the line that the next segment's header names.
    pub(crate) fn ends_as_named(&self) -> Result<bool, StoreError> {
        let Some(crc) = self.next.previous else { return Ok(false) };
        let path = self.dir.join(self.segment.file());
        if let Some(bytes) = self.segment.archive_bytes {
            let end = archive::read_end(&*self.disk, &path, bytes);
            let end = end.map_err(StoreError::io("read", &path))?;
            return Ok(end.is_some_and(|end| end.last == crc));
        }
        let named = format::line_end(crc);
        let start = self.segment.bytes.saturating_sub(named.len() as u64);
        let end = self.disk.read_at(&path, start, named.len());
        Ok(end.map_err(StoreError::io("read", &path))? == named)
    }

    /// Checks every line. Returns the first fault.
    pub(crate) fn check(&self) -> Result<Option<StoreError>, StoreError> {
        if self.segment.archive_bytes.is_none() {
            return Ok(self.check_bytes(&read_segment(&*self.disk, &self.dir, &self.segment)?));
        }
        let path = self.dir.join(self.segment.file());
        let archive = self.disk.read(&path).map_err(StoreError::io("read", &path))?;
        let fault = self.check_bytes(&archive::decode(&archive));
        let is_sound =
            fault.is_some() || archive::has_sound_keys(&archive) && self.ends_as_named()?;
        let why = "the keys or the end of the archive are damaged".to_owned();
        Ok(fault.or_else(|| (!is_sound).then(|| self.segment.damaged(0, why))))
    }

    fn check_bytes(&self, bytes: &[u8]) -> Option<StoreError> {
        let Self { segment, next, .. } = self;
        let check = segment::check(bytes, segment.first);
        let last = check.last.map_or(segment.first.0.saturating_sub(1), |(seq, _)| seq.0);
        let crc = check.last.map(|(_, crc)| crc).or(segment.previous);
        let (line, why) = if let Some(fault) = check.fault {
            fault
        } else if check.complete_bytes < bytes.len() as u64 {
            (check.lines + 1, "the line is incomplete".to_owned())
        } else if last + 1 != next.first.0 {
            (check.lines, format!("entries {} to {} are missing", last + 1, next.first.0 - 1))
        } else if crc != next.previous && next.previous.is_some() {
            (check.lines, "it is not the line that the next segment follows".to_owned())
        } else {
            return None;
        };
        Some(segment.damaged(line, why))
    }

    /// Writes the segment's archive, verifies that it has every byte, and removes the segment.
    /// Returns the archive's size, or the fault found in the segment.
    ///
    /// After an interruption or an error, the segment or its verified archive remains, or both.
    pub(crate) fn archive<M: StateMachine>(
        &self,
        reserve_bytes: u64,
        is_cancelled: &AtomicBool,
    ) -> Result<Result<u64, StoreError>, StoreError> {
        let (disk, number) = (&*self.disk, self.segment.number);
        let (plain, archive) =
            (self.dir.join(file_name(number)), self.dir.join(segment::archive_name(number)));
        let bytes = disk.read(&plain).map_err(StoreError::io("read", &plain))?;
        if let Some(fault) = self.check_bytes(&bytes) {
            return Ok(Err(fault));
        }
        let names = disk.list(&self.dir).map_err(StoreError::io("list", &self.dir))?;
        // A crash may have left the archive.
        let is_there =
            names.contains(&segment::archive_name(number)) && self.is_proven(&archive, &bytes)?;
        if !is_there {
            check_space(disk, &self.dir, self.segment.bytes, reserve_bytes)?;
            let temporary = self.dir.join(segment::archive_name(number) + ".tmp");
            let written = self.write_archive::<M>(&temporary, &bytes, is_cancelled);
            let renamed = written.and_then(|()| {
                disk.rename(&temporary, &archive).map_err(StoreError::io("rename", &temporary))
            });
            if let Err(error) = renamed {
                // The next open removes a file that stays.
                let _ = disk.remove(&temporary);
                return Err(error);
            }
        }
        disk.sync_dir(&self.dir).map_err(StoreError::io("sync", &self.dir))?;
        let length = disk.length(&archive).map_err(StoreError::io("measure", &archive))?;
        disk.remove(&plain).map_err(StoreError::io("remove", &plain))?;
        // The segment may come back after a power failure and is removed then.
        disk.sync_dir(&self.dir).map_err(StoreError::io("sync", &self.dir))?;
        Ok(Ok(length))
    }

    fn write_archive<M: StateMachine>(
        &self,
        path: &Path,
        bytes: &[u8],
        is_cancelled: &AtomicBool,
    ) -> Result<(), StoreError> {
        let keys = |line: &[u8]| {
            let entry = format::read_entry::<M::Change>(line).map_err(io::Error::other)?;
            Ok(entry.changes.iter().flat_map(M::history_keys).collect())
        };
        let last = self.next.previous.unwrap_or(Crc(0));
        let mut file = self.disk.create(path).map_err(StoreError::io("create", path))?;
        archive::encode(bytes, last, &keys, &mut |piece| {
            if is_cancelled.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            file.write_all(piece)
        })
        .and_then(|()| file.sync_data())
        .map_err(StoreError::io("write", path))?;
        if !self.is_proven(path, bytes)? {
            return Err(StoreError::Io {
                doing: "read back what was written to",
                path: path.to_owned(),
                source: io::ErrorKind::InvalidData.into(),
            });
        }
        Ok(())
    }

    /// Whether an archive, read from the disk and synced, has every byte of this segment.
    fn is_proven(&self, path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
        let synced = self.disk.open_append(path).and_then(|mut file| file.sync_data());
        synced.map_err(StoreError::io("sync", path))?;
        let Some(last) = self.next.previous else { return Ok(false) };
        archive::is_of(&*self.disk, path, bytes, last).map_err(StoreError::io("read", path))
    }
}
