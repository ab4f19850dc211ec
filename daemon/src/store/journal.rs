//! The journal: an append-only file of entries in segments. It is the truth.
//!
//! Once [`Journal::append`] returns `Ok`, the entries and the file names are synced. After a failed
//! write the file is cut back to the last acknowledged byte and synced. If that fails too, the
//! journal accepts no more writes. `recover.rs` opens a journal.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anchord_memory::Seq;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::disk::{Disk, DiskFile, check_space};
use super::format::{self, Crc, FORMAT, HeaderV1};
use super::limits::{BATCH_BYTES_MAX, ENTRY_BYTES_MAX};
use super::segment::{self, file_name};
use super::{Entry, StateMachine, StoreError, archive};

/// The position of an entry's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    /// Length of the line, without its newline.
    pub(crate) bytes: usize,
}

/// A file of the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) number: u32,
    /// The format of its lines, from its header.
    pub(crate) format: u32,
    /// The seq of its first entry.
    pub(crate) first: Seq,
    /// The checksum of the last entry before it.
    pub(crate) previous: Option<Crc>,
    /// Bytes of its complete lines, all synced.
    pub(crate) bytes: u64,
    /// Bytes of its archive, if only the archive exists.
    pub(crate) archive_bytes: Option<u64>,
}

impl Segment {
    /// Returns the name of its file.
    pub(crate) fn file(&self) -> String {
        match self.archive_bytes {
            Some(_) => segment::archive_name(self.number),
            None => file_name(self.number),
        }
    }

    /// Returns the error that names a bad line.
    pub(crate) fn damaged(&self, line: u64, why: String) -> StoreError {
        segment::damaged_in(&self.file(), line, why)
    }

    /// Returns the size of its file.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.archive_bytes.unwrap_or(self.bytes)
    }
}

/// The beginning of a segment, in whole lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

/// An entry with its position.
#[derive(Debug)]
pub(crate) struct Placed<C> {
    pub(crate) entry: Entry<C>,
    pub(crate) position: Position,
    pub(crate) crc: Crc,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) machine: &'static str,
    pub(super) id: Uuid,
    pub(super) epoch: u32,
    /// The store that its segments name, if they name another than this one.
    pub(super) other_store: Option<String>,
    /// In order; the last one receives the writes.
    pub(super) segments: Vec<Segment>,
    /// The last segment; `None` if nothing can be written.
    pub(super) file: Option<Box<dyn DiskFile>>,
    /// The last entry, and its line's checksum.
    pub(super) last: Seq,
    pub(super) last_crc: Crc,
    /// Whether a segment was renamed into place and the directory is not synced yet.
    pub(super) dir_unsynced: bool,
    pub(super) read_only: Option<String>,
    /// Whether the reason for `read_only` may pass: a full disk, no free descriptor.
    pub(super) passes: bool,
    pub(super) reserve_bytes: u64,
}

impl Journal {
    /// Appends entries that follow the last one, and syncs once. Returns their positions.
    ///
    /// All lines of a segment have one format. If the last segment has an older format, the next
    /// one begins first. An older anchord then learns from the header that it is too old, before it
    /// meets a line that it cannot read.
    pub(crate) fn append<C: Serialize>(
        &mut self,
        batch: &[Entry<C>],
    ) -> Result<Vec<Position>, StoreError> {
        if let Some(why) = &self.read_only {
            return Err(StoreError::ReadOnly { why: why.clone() });
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        if self.segments.last().is_some_and(|segment| segment.format < FORMAT) {
            self.rotate()?;
        }
        let Some(segment) = self.segments.last().copied() else {
            return Err(StoreError::ReadOnly { why: "the journal has no segment".to_owned() });
        };
        let bounds = match batch {
            [first, .., last] => Some((first.seq, last.seq)),
            _ => None,
        };
        let mut lines = Vec::new();
        let mut positions = Vec::with_capacity(batch.len());
        let mut crc = self.last_crc;
        let mut last = self.last;
        for entry in batch {
            if entry.seq.0 != last.0 + 1 {
                return Err(StoreError::OutOfOrder { last, given: entry.seq });
            }
            let start = lines.len();
            crc = format::write_entry(entry, bounds, &mut lines);
            let bytes = lines.len() - start - 1;
            if bytes > ENTRY_BYTES_MAX + BATCH_BYTES_MAX {
                return Err(StoreError::TooLarge { bytes, bytes_max: ENTRY_BYTES_MAX });
            }
            let offset = segment.bytes + start as u64;
            positions.push(Position { segment: segment.number, offset, bytes });
            last = entry.seq;
        }
        self.check_space(lines.len() as u64).map_err(|error| match error {
            StoreError::Io { path, source, .. } => StoreError::NotSaved { path, source },
            other => other,
        })?;
        self.write(&lines)?;

        if let Some(segment) = self.segments.last_mut() {
            segment.bytes += lines.len() as u64;
        }
        self.last = last;
        self.last_crc = crc;
        Ok(positions)
    }

    /// Ends the last segment and begins the next. If this fails, the journal continues in the old
    /// one.
    pub(crate) fn rotate(&mut self) -> Result<(), StoreError> {
        let number = self.last_segment() + 1;
        let previous = (self.last > Seq(0)).then_some(self.last_crc);
        let first = Seq(self.last.0 + 1);
        let bytes = self.write_segment(number, first, previous)?;
        // From here on the next open finds this segment, so it must be used even if a later step
        // fails.
        let archive_bytes = None;
        let segment = Segment { number, format: FORMAT, first, previous, bytes, archive_bytes };
        self.segments.push(segment);
        self.dir_unsynced = true;
        let path = self.path(number);
        match self.disk.open_append(&path) {
            Ok(file) => self.file = Some(file),
            Err(source) => {
                self.read_only = Some(format!("cannot open {}: {source}", path.display()));
                self.passes = true;
                self.file = None;
                return Err(StoreError::Io { doing: "open", path, source });
            }
        }
        self.sync_dir().map_err(StoreError::io("sync", &self.dir))
    }

    /// Writes a segment that has only a header under a temporary name and renames it into place.
    pub(super) fn write_segment(
        &self,
        number: u32,
        first: Seq,
        previous: Option<Crc>,
    ) -> Result<u64, StoreError> {
        let of = (self.id, self.epoch);
        let store = segment::store_name(&self.dir);
        let header = HeaderV1::new(self.machine, store, of, number, first, previous);
        let mut line = Vec::new();
        format::write_line(&header, &mut line);
        let path = self.path(number);
        let temporary = path.with_extension("tmp");
        let mut file =
            self.disk.create(&temporary).map_err(StoreError::io("create", &temporary))?;
        file.write_all(&line).map_err(StoreError::io("write", &temporary))?;
        file.sync_data().map_err(StoreError::io("sync", &temporary))?;
        self.disk.rename(&temporary, &path).map_err(StoreError::io("rename", &temporary))?;
        Ok(line.len() as u64)
    }

    /// Treats the segments, which are another memory's, as if they were missing. Nothing of them is
    /// shown or written.
    pub(super) fn set_apart(&mut self, id: Uuid, epoch: u32, why: String) {
        (self.id, self.epoch) = (id, epoch);
        self.segments.clear();
        self.other_store = None;
        (self.last, self.last_crc, self.file) = (Seq(0), Crc(0), None);
        self.read_only = Some(why);
    }

    /// Returns the segments that exist now, to be read while this journal continues.
    pub(crate) fn written(&self) -> Segments {
        let (disk, dir) = (Arc::clone(&self.disk), self.dir.clone());
        Segments { disk, dir, segments: self.segments.clone() }
    }

    /// Reads every entry from `from` on, checked, until `visit` returns false.
    pub(crate) fn replay<C: DeserializeOwned>(
        &self,
        from: Seq,
        visit: &mut dyn FnMut(Placed<C>) -> bool,
    ) -> Result<(), StoreError> {
        self.written().replay(from, visit)
    }

    /// See [`Segments::entry_at`].
    pub(crate) fn entry_at<C: DeserializeOwned>(
        &self,
        position: Position,
    ) -> Result<Placed<C>, StoreError> {
        self.written().entry_at(position)
    }

    /// Returns the position of the entry with this seq, if it exists.
    pub(crate) fn find(&self, seq: Seq) -> Result<Option<Position>, StoreError> {
        let after = self.segments.partition_point(|segment| segment.first <= seq);
        let Some(segment) = after.checked_sub(1).and_then(|at| self.segments.get(at)) else {
            return Ok(None);
        };
        let bytes = self.read_segment(segment)?;
        let line = segment::lines(&bytes)
            .skip(1)
            .find(|line| format::peek_seq(line.bytes).is_ok_and(|found| found == seq));
        Ok(line.map(|line| Position {
            segment: segment.number,
            offset: line.offset,
            bytes: line.bytes.len(),
        }))
    }

    /// Returns the complete lines of a segment.
    pub(crate) fn read_segment(&self, segment: &Segment) -> Result<Vec<u8>, StoreError> {
        read_segment(&*self.disk, &self.dir, segment)
    }

    /// Returns the number of the segment that receives the writes.
    pub(crate) fn last_segment(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.number)
    }

    /// Returns the size of the segment that receives the writes.
    pub(crate) fn last_segment_bytes(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.bytes)
    }

    /// Closes the journal, after one last try to undo what a failed write may have left.
    pub(crate) fn close(&mut self) {
        if self.read_only.is_some() && self.file.is_some() {
            match self.cut_back() {
                Ok(()) => tracing::info!(dir = %self.dir.display(), "cut the journal back at last"),
                Err(error) => tracing::error!(
                    dir = %self.dir.display(), %error,
                    "the journal may end in entries that were answered as outcome unknown"
                ),
            }
        }
        self.file = None;
    }

    pub(super) fn path(&self, number: u32) -> PathBuf {
        self.dir.join(file_name(number))
    }

    pub(super) fn check_space(&self, bytes: u64) -> Result<(), StoreError> {
        check_space(&*self.disk, &self.dir, bytes, self.reserve_bytes)
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        let path = self.path(self.last_segment());
        let outcome = match &mut self.file {
            Some(file) => file.write_all(lines).and_then(|()| file.sync_data()),
            None => Err(io::Error::other("the segment is not open")),
        };
        // A failed check proves nothing: the write is undone, as after a failed write.
        let is_there = outcome.and_then(|()| self.sync_dir()).and_then(|()| self.is_there(&path));
        let source = match is_there {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(self.lose_segment(&path)),
            Err(source) => source,
        };
        match self.cut_back() {
            Ok(()) => Err(StoreError::NotSaved { path, source }),
            Err(cut) => {
                self.passes = true;
                self.read_only = Some(format!(
                    "a write to {} failed ({source}) and could not be taken back ({cut}); \
                     it is tried again",
                    path.display()
                ));
                Err(StoreError::Uncertain { path, source, cut })
            }
        }
    }

    /// Whether the segment's name still refers to the open file. If it does not, the next start
    /// will not find what is written now.
    fn is_there(&self, path: &Path) -> io::Result<bool> {
        self.file.as_ref().map_or(Ok(true), |file| file.is_at(path))
    }

    /// Stops writing, because the next start would not find the segment.
    fn lose_segment(&mut self, path: &Path) -> StoreError {
        let why = format!(
            "{} was removed or replaced while the daemon ran; put it back or see what \
             a repair of the journal can restore, then run `anchord restart`",
            path.display()
        );
        self.file = None;
        self.read_only = Some(why.clone());
        StoreError::ReadOnly { why }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        let bytes = self.last_segment_bytes();
        match &mut self.file {
            Some(file) => file.truncate(bytes).and_then(|()| file.sync_data()),
            None => Err(io::Error::other("the segment is not open")),
        }
    }

    fn sync_dir(&mut self) -> io::Result<()> {
        if self.dir_unsynced {
            self.disk.sync_dir(&self.dir)?;
            self.dir_unsynced = false;
        }
        Ok(())
    }
}

/// A journal's segments at one moment.
#[derive(Debug)]
pub(crate) struct Segments {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    segments: Vec<Segment>,
}

impl Segments {
    /// Reads the entry at a position, and its checksum.
    pub(crate) fn entry_at<C: DeserializeOwned>(
        &self,
        position: Position,
    ) -> Result<Placed<C>, StoreError> {
        let Position { segment, offset, bytes } = position;
        let there = self.segments.iter().find(|there| there.number == segment);
        let is_archived = there.is_some_and(|there| there.archive_bytes.is_some());
        let line = in_either_form(
            &self.dir,
            (segment, is_archived),
            |path| self.disk.read_at(path, offset, bytes),
            |path| archive::read_at(&*self.disk, path, offset, bytes),
        )?;
        let file = there.map_or_else(|| file_name(segment), Segment::file);
        let damaged = |fault: format::LineFault| StoreError::Damaged {
            at: format!("journal/{file} byte {offset}"),
            why: fault.to_string(),
        };
        let crc = format::check_line(&line).map_err(damaged)?;
        let entry = format::read_entry(&line).map_err(damaged)?;
        Ok(Placed { entry, position, crc })
    }

    /// Returns the positions of a segment's entries by their history keys, from the end of `known`
    /// on. Also returns the prefix that is known afterwards.
    pub(crate) fn locate<M: StateMachine>(
        &self,
        segment: &Segment,
        known: Prefix,
    ) -> Result<(Prefix, Vec<(String, Position)>), StoreError> {
        let bytes = read_segment_from(&*self.disk, &self.dir, segment, known.bytes)?;
        let (mut read, mut located) = (known, Vec::new());
        for line in segment::lines(&bytes) {
            let offset = known.bytes + line.offset;
            read.lines = known.lines + line.number;
            // The first line is the header.
            if read.lines == 1 {
                continue;
            }
            let checked = format::check_line(line.bytes);
            let entry = checked.and_then(|_| format::read_entry::<M::Change>(line.bytes));
            let entry = entry.map_err(|fault| segment.damaged(read.lines, fault.to_string()))?;
            let position = Position { segment: segment.number, offset, bytes: line.bytes.len() };
            let keys = entry.changes.iter().flat_map(M::history_keys);
            located.extend(keys.map(|key| (key, position)));
        }
        read.bytes = known.bytes + bytes.len() as u64;
        if read.bytes < segment.bytes {
            let why = format!("it ends at byte {}, not {}", read.bytes, segment.bytes);
            return Err(segment.damaged(read.lines, why));
        }
        Ok((read, located))
    }

    /// Whether a segment exists as lines, not as an archive.
    pub(crate) fn is_plain(&self, number: u32) -> bool {
        let there = self.segments.iter().find(|segment| segment.number == number);
        there.is_some_and(|segment| segment.archive_bytes.is_none())
    }

    /// Returns the segments, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().rev()
    }

    /// Returns the last entry of an archived segment with this history key, if one exists.
    pub(crate) fn find_archived<M: StateMachine>(
        &self,
        number: u32,
        key: &str,
    ) -> Result<Option<Entry<M::Change>>, StoreError> {
        let path = self.dir.join(segment::archive_name(number));
        let mut found = None;
        archive::find_block(&*self.disk, &path, &mut |block| {
            if !block.may_have(key)? {
                return Ok(None);
            }
            let text = block.text()?;
            // The header is in a separate member, which has no keys.
            for line in segment::lines(&text) {
                let checked = format::check_line(line.bytes);
                let read = checked.and_then(|_| format::read_entry::<M::Change>(line.bytes));
                let entry = read.map_err(|fault| {
                    io::Error::new(io::ErrorKind::InvalidData, fault.to_string())
                })?;
                if entry.changes.iter().flat_map(M::history_keys).any(|it| it == key) {
                    found = Some(entry);
                }
            }
            Ok(None::<()>)
        })
        .map_err(|error| cannot_read(&path, error))?;
        Ok(found)
    }

    /// See [`Journal::replay`].
    pub(crate) fn replay<C: DeserializeOwned>(
        &self,
        from: Seq,
        visit: &mut dyn FnMut(Placed<C>) -> bool,
    ) -> Result<(), StoreError> {
        let start = self.segments.partition_point(|segment| segment.first <= from).max(1) - 1;
        let mut next = from;
        for segment in self.segments.iter().skip(start) {
            let bytes = read_segment(&*self.disk, &self.dir, segment)?;
            for line in segment::lines(&bytes).skip(1) {
                let damaged = |why: String| segment.damaged(line.number, why);
                let seq = match format::peek_seq(line.bytes) {
                    Ok(seq) => seq,
                    // A bad line before the first requested entry does not matter: that entry
                    // itself must come.
                    Err(_) if next == from && from > segment.first => continue,
                    Err(fault) => return Err(damaged(fault.to_string())),
                };
                if seq < from {
                    continue;
                }
                let crc = segment::check_entry(line.bytes, next).map_err(damaged)?;
                let entry =
                    format::read_entry(line.bytes).map_err(|fault| damaged(fault.to_string()))?;
                let (number, offset) = (segment.number, line.offset);
                let position = Position { segment: number, offset, bytes: line.bytes.len() };
                next = Seq(next.0 + 1);
                if !visit(Placed { entry, position, crc }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Returns the error for a file that cannot be read, or whose bytes make no sense.
pub(super) fn cannot_read(path: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::InvalidData {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        return segment::damaged_in(&file, 0, error.to_string());
    }
    StoreError::Io { doing: "read", path: path.to_owned(), source: error }
}

/// Reads a segment in the form that it had. If that file is gone, reads the other form, which may
/// have replaced it.
fn in_either_form(
    dir: &Path,
    (number, is_archived): (u32, bool),
    read_plain: impl Fn(&Path) -> io::Result<Vec<u8>>,
    read_archive: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Vec<u8>, StoreError> {
    let (plain, archive) = (dir.join(file_name(number)), dir.join(segment::archive_name(number)));
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let read = if is_archived { read_archive(&archive) } else { read_plain(&plain) };
    let other = |error| {
        let other = if is_archived { read_plain(&plain) } else { read_archive(&archive) };
        other.map_err(|other| if is_gone(&other) { error } else { other })
    };
    let read = match read {
        Err(error) if is_gone(&error) => other(error),
        read => read,
    };
    read.map_err(|error| cannot_read(if is_archived { &archive } else { &plain }, error))
}

/// Reads a segment from byte `from` on, which must be the start of a line.
fn read_segment_from(
    disk: &dyn Disk,
    dir: &Path,
    segment: &Segment,
    from: u64,
) -> Result<Vec<u8>, StoreError> {
    let rest = usize::try_from(segment.bytes.saturating_sub(from)).unwrap_or(usize::MAX);
    in_either_form(
        dir,
        (segment.number, segment.archive_bytes.is_some()),
        |path| disk.read_at(path, from, rest),
        |path| {
            let bytes = archive::decode(&disk.read(path)?);
            let start = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
            Ok(bytes.get(start..).unwrap_or_default().to_vec())
        },
    )
}

pub(super) fn read_segment(
    disk: &dyn Disk,
    dir: &Path,
    segment: &Segment,
) -> Result<Vec<u8>, StoreError> {
    let mut bytes = in_either_form(
        dir,
        (segment.number, segment.archive_bytes.is_some()),
        |path| disk.read(path),
        |path| Ok(archive::decode(&disk.read(path)?)),
    )?;
    // Bytes beyond this point were never acknowledged.
    bytes.truncate(usize::try_from(segment.bytes).unwrap_or(usize::MAX));
    Ok(bytes)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.segment, self.offset, self.bytes)
    }
}

impl FromStr for Position {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next().unwrap_or_default();
        Ok(Self { segment: part().parse()?, offset: part().parse()?, bytes: part().parse()? })
    }
}
