//! Rewriting a journal, for a purge, a repair or a restore. After a purge none of the files holds
//! the purged data. A repair and a restore keep the old files under other names.
//!
//! All segments are rewritten next to the old ones, with the next epoch, and synced. Then a file
//! that commits the rewrite, [`COMMIT`], is renamed into place. Before that nothing has happened;
//! after it everything will. The new segments take the old names. Snapshots, the index, lines that
//! were once cut off and backups of a migration are removed. The commit file goes last. Opening a
//! store finishes what a crash left, or removes what was not committed.

use std::borrow::Cow;
use std::path::Path;

use anchord_memory::{Revision, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::disk::Disk;
use super::format::{self, Crc, FORMAT, HeaderV1};
use super::index::{IndexPlace, MemIndex, TrackedIndex};
use super::journal_store::JournalStore;
use super::limits::HEADER_BYTES_MAX;
use super::segment::{self, file_name};
use super::{Entry, StateMachine, Store as _, StoreError, migration, snapshot};

/// The suffix of a segment that is not in place yet.
const NEW: &str = ".new";
/// The name of the file whose presence makes the new segments the journal.
const COMMIT: &str = "rewritten.json";

#[derive(Serialize, Deserialize)]
struct CommitV1 {
    format: u32,
    epoch: u32,
    segments: usize,
    /// Whether the old files are kept under other names, because a repair replaced them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps: bool,
}

/// The suffix of a file that a repair kept, followed by the number of the new epoch.
const KEPT: &str = ".kept-";

/// A rewritten journal that is ready to replace the old one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RewrittenJournal {
    pub(super) epoch: u32,
    pub(super) segments: u32,
}

impl<M: StateMachine> JournalStore<M> {
    /// Rewrites the journal as [`Store::rewrite`](super::Store::rewrite) says, without soft marks.
    pub(super) fn rewrite_all(
        mut self,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError> {
        if let Some(why) = &self.journal.read_only {
            return Err(StoreError::ReadOnly { why: why.clone() });
        }
        self.admit(last)?;
        let bytes = self.journal.segments.iter().map(|segment| segment.bytes).sum();
        self.journal.check_space(bytes)?;
        // The index's files are removed, so nothing may hold them open.
        self.tasks.cancel();
        self.index = TrackedIndex::new(Box::new(MemIndex::default()));
        self.journal.file = None;
        let epoch = self.journal.epoch + 1;
        let written = self.write_anew(epoch, edit, last).and_then(|()| self.commit(epoch));
        let (disk, dir) = (&*self.journal.disk, &self.journal.dir);
        if let Err(error) = written {
            // If the commit is there after all, the next open finishes the rewrite.
            if !disk.list(dir).is_ok_and(|names| names.iter().any(|name| name == COMMIT)) {
                remove_new(disk, dir);
            }
            return Err(error);
        }
        finish(disk, dir, &self.snapshots, &*self.place, None)
    }

    fn write_anew(
        &self,
        epoch: u32,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError> {
        let journal = &self.journal;
        let mut previous: Option<Crc> = None;
        let mut next = journal.segments.first().map(|segment| segment.first).unwrap_or_default();
        for segment in &journal.segments {
            let bytes = journal.read_segment(segment)?;
            let of = (journal.id, epoch);
            let store = segment::store_name(&journal.dir);
            let (number, first) = (segment.number, segment.first);
            let header = HeaderV1::new(journal.machine, store, of, number, first, previous);
            let mut lines = Vec::with_capacity(bytes.len());
            format::write_line(&header, &mut lines);
            for line in segment::lines(&bytes).skip(1) {
                let damaged = |why: String| segment.damaged(line.number, why);
                let crc = segment::check_entry(line.bytes, next).map_err(damaged)?;
                let mut entry =
                    format::read_entry(line.bytes).map_err(|fault| damaged(fault.to_string()))?;
                previous = Some(if edit(&mut entry) {
                    format::write_entry(&entry, None, &mut lines)
                } else {
                    lines.extend_from_slice(line.bytes);
                    lines.push(b'\n');
                    crc
                });
                next.0 += 1;
            }
            if segment.number == journal.last_segment() {
                if last.seq != next {
                    return Err(StoreError::OutOfOrder { last: journal.last, given: last.seq });
                }
                format::write_entry(last, None, &mut lines);
            }
            let path = journal.dir.join(file_name(segment.number) + NEW);
            write_synced(&*journal.disk, &path, &lines)?;
        }
        journal.disk.sync_dir(&journal.dir).map_err(StoreError::io("sync", &journal.dir))
    }

    fn commit(&self, epoch: u32) -> Result<(), StoreError> {
        let journal = &self.journal;
        let segments = journal.segments.len();
        let commit = CommitV1 { format: FORMAT, epoch, segments, keeps: false };
        write_commit(&*journal.disk, &journal.dir, &commit)
    }
}

fn write_commit(disk: &dyn Disk, journal: &Path, commit: &CommitV1) -> Result<(), StoreError> {
    let mut line = Vec::new();
    format::write_line(commit, &mut line);
    let path = journal.join(COMMIT);
    let temporary = path.with_extension("tmp");
    write_synced(disk, &temporary, &line)?;
    disk.rename(&temporary, &path).map_err(StoreError::io("rename", &temporary))?;
    disk.sync_dir(journal).map_err(StoreError::io("sync", journal))
}

/// Writes a new segment that is not in place yet.
pub(super) fn write_new(
    disk: &dyn Disk,
    journal: &Path,
    segment: u32,
    bytes: &[u8],
) -> Result<(), StoreError> {
    write_synced(disk, &journal.join(file_name(segment) + NEW), bytes)
}

/// Puts segments in place that were written with [`write_new`]. Keeps the old segments, snapshots
/// and index under other names.
pub(super) fn put_in_place(
    disk: &dyn Disk,
    journal: &Path,
    snapshots: &Path,
    index: &dyn IndexPlace,
    RewrittenJournal { epoch, segments }: RewrittenJournal,
) -> Result<(), StoreError> {
    disk.sync_dir(journal).map_err(StoreError::io("sync", journal))?;
    let commit = CommitV1 { format: FORMAT, epoch, segments: segments as usize, keeps: true };
    write_commit(disk, journal, &commit)?;
    finish(disk, journal, snapshots, index, Some(&commit))
}

/// Finishes a rewrite that was committed, or removes the remains of one that was not. Returns a
/// reason if nothing may be written because only a newer anchord can finish the rewrite. Its
/// segments would replace anything written now.
pub(super) fn recover(
    disk: &dyn Disk,
    journal: &Path,
    snapshots: &Path,
    index: &dyn IndexPlace,
) -> Result<Option<String>, StoreError> {
    let names = disk.list(journal).map_err(StoreError::io("list", journal))?;
    if !names.iter().any(|name| name == COMMIT) {
        if names.iter().any(|name| name.ends_with(NEW)) {
            remove_new(disk, journal);
        }
        return Ok(None);
    }
    let path = journal.join(COMMIT);
    let bytes = disk.read(&path).map_err(StoreError::io("read", &path))?;
    let damaged = |fault: format::LineFault| StoreError::Damaged {
        at: path.display().to_string(),
        why: fault.to_string(),
    };
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    format::check_line(line).map_err(damaged)?;
    let commit: CommitV1 = format::read_line(line).map_err(damaged)?;
    if commit.format > FORMAT {
        return Ok(Some(format!(
            "a newer anchord (format {}) has begun to rewrite journal/; let it finish, or update this one to write",
            commit.format
        )));
    }
    tracing::warn!(epoch = commit.epoch, "finishing a rewriting of the journal");
    finish(disk, journal, snapshots, index, Some(&commit).filter(|commit| commit.keeps))?;
    Ok(None)
}

/// Puts new segments in place. Keeps the old files if `keeping` is set (a repair), and removes them
/// otherwise.
fn finish(
    disk: &dyn Disk,
    journal: &Path,
    snapshots: &Path,
    index: &dyn IndexPlace,
    keeping: Option<&CommitV1>,
) -> Result<(), StoreError> {
    if let Some(commit) = keeping {
        keep_segments(disk, journal, commit)?;
    }
    let names = disk.list(journal).map_err(StoreError::io("list", journal))?;
    for name in &names {
        let from = journal.join(name);
        if let Some(segment) = name.strip_suffix(NEW) {
            let to = journal.join(segment);
            disk.rename(&from, &to).map_err(StoreError::io("rename", &from))?;
        } else if segment::is_temporary(name)
            || keeping.is_none()
                && (name.ends_with(".partial")
                    || name.contains(KEPT)
                    || segment::archive_number_of(name).is_some())
        {
            disk.remove(&from).map_err(StoreError::io("remove", &from))?;
        }
    }
    let taken_away = if let Some(commit) = keeping {
        let old = snapshot::list(disk, snapshots)?;
        for number in &old {
            keep(disk, snapshots, &file_name(*number), commit.epoch)?;
        }
        if !old.is_empty() {
            // Under its old name, a snapshot of another journal would speak against a restored one.
            disk.sync_dir(snapshots).map_err(StoreError::io("sync", snapshots))?;
        }
        index.set_aside()
    } else {
        snapshot::remove_all(disk, snapshots)?;
        migration::remove_backups(disk, journal)?;
        index.discard()
    };
    taken_away.map_err(|error| StoreError::Io {
        doing: "take away the index beside",
        path: journal.to_owned(),
        source: std::io::Error::other(error),
    })?;
    disk.sync_dir(journal).map_err(StoreError::io("sync", journal))?;
    let commit = journal.join(COMMIT);
    disk.remove(&commit).map_err(StoreError::io("remove", &commit))?;
    disk.sync_dir(journal).map_err(StoreError::io("sync", journal))
}

/// Renames the old segments. If a new segment is already in place, a crash came after the old one
/// was renamed.
fn keep_segments(disk: &dyn Disk, journal: &Path, commit: &CommitV1) -> Result<(), StoreError> {
    let names = disk.list(journal).map_err(StoreError::io("list", journal))?;
    for name in &names {
        // New segments are not archived before all of them are in place.
        let is_old = segment::archive_number_of(name).is_some()
            || segment::number_of(name).is_some_and(|number| {
                number as usize > commit.segments || names.contains(&(file_name(number) + NEW))
            });
        if is_old {
            keep(disk, journal, name, commit.epoch)?;
        }
    }
    disk.sync_dir(journal).map_err(StoreError::io("sync", journal))
}

fn keep(disk: &dyn Disk, dir: &Path, name: &str, epoch: u32) -> Result<(), StoreError> {
    let from = dir.join(name);
    let to = dir.join(format!("{name}{KEPT}{epoch}"));
    disk.rename(&from, &to).map_err(StoreError::io("rename", &from))
}

/// Removes new segments that were never committed and so are not part of the journal. A later call
/// removes those that cannot be removed now.
fn remove_new(disk: &dyn Disk, journal: &Path) {
    for name in disk.list(journal).unwrap_or_default() {
        let path = journal.join(&name);
        if name.ends_with(NEW)
            && let Err(error) = disk.remove(&path)
        {
            tracing::warn!(path = %path.display(), %error, "cannot remove an unfinished file");
        }
    }
}

fn write_synced(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = disk.create(path).map_err(StoreError::io("create", path))?;
    file.write_all(bytes).map_err(StoreError::io("write", path))?;
    file.sync_data().map_err(StoreError::io("sync", path))
}

/// Returns the newest epoch of the segments in a directory and of those that were kept there; 0
/// without any.
pub(super) fn newest_epoch(disk: &dyn Disk, journal: &Path) -> Result<u32, StoreError> {
    let names = disk.list(journal).map_err(StoreError::io("list", journal))?;
    let kept = names.iter().filter_map(|name| name.rsplit_once(KEPT)?.1.parse().ok());
    let mut newest = kept.max().unwrap_or(0);
    for name in names.iter().filter(|name| segment::number_of(name).is_some()) {
        let path = journal.join(name);
        let start = disk.read_at(&path, 0, HEADER_BYTES_MAX);
        let start = start.map_err(StoreError::io("read", &path))?;
        let header = segment::lines(&start).next().map(|line| segment::read_header(line.bytes));
        if let Some(Ok(segment::Header::Known(header))) = header {
            newest = newest.max(header.epoch);
        }
    }
    Ok(newest)
}

/// A writer of segments under temporary names.
pub(super) struct Output<'a> {
    disk: &'a dyn Disk,
    dir: &'a Path,
    machine: &'static str,
    journal: Uuid,
    epoch: u32,
    bytes_max: u64,
    segments: u32,
    lines: Vec<u8>,
    previous: Option<Crc>,
    next: Seq,
    revision: Revision,
}

impl<'a> Output<'a> {
    /// Begins the first segment of a journal with this id and epoch.
    pub(super) fn new(
        disk: &'a dyn Disk,
        dir: &'a Path,
        machine: &'static str,
        (journal, epoch): (Uuid, u32),
        bytes_max: u64,
    ) -> Self {
        let mut output = Self {
            disk,
            dir,
            machine,
            journal,
            epoch,
            bytes_max,
            segments: 0,
            lines: Vec::new(),
            previous: None,
            next: Seq(1),
            revision: Revision::default(),
        };
        output.begin();
        output
    }

    fn begin(&mut self) {
        self.segments += 1;
        let of = (self.journal, self.epoch);
        let store = segment::store_name(self.dir);
        let (number, first) = (self.segments, self.next);
        let header = HeaderV1::new(self.machine, store, of, number, first, self.previous);
        self.lines.clear();
        format::write_line(&header, &mut self.lines);
    }

    /// Adds the line of an entry that follows, with its newline, as it is.
    pub(super) fn line(
        &mut self,
        line: &[u8],
        crc: Crc,
        revision: Option<Revision>,
    ) -> Result<(), StoreError> {
        self.revision = revision.unwrap_or(self.revision);
        self.lines.extend_from_slice(line);
        self.wrote(crc)
    }

    /// Adds a new entry that follows.
    pub(super) fn entry<M: StateMachine>(
        &mut self,
        operation: &'static str,
        changes: Vec<M::Change>,
        time: Timestamp,
    ) -> Result<(), StoreError> {
        let is_commit = M::is_commit(&changes);
        self.revision.0 += u64::from(is_commit);
        let entry = Entry {
            seq: self.next,
            revision: is_commit.then_some(self.revision),
            time,
            session: None,
            call: None,
            operation: Cow::Borrowed(operation),
            changes,
            reply: None,
        };
        let crc = format::write_entry(&entry, None, &mut self.lines);
        self.wrote(crc)
    }

    fn wrote(&mut self, crc: Crc) -> Result<(), StoreError> {
        self.previous = Some(crc);
        self.next.0 += 1;
        if self.lines.len() as u64 >= self.bytes_max {
            self.end()?;
            self.begin();
        }
        Ok(())
    }

    /// Writes the last segment.
    pub(super) fn end(&mut self) -> Result<(), StoreError> {
        write_new(self.disk, self.dir, self.segments, &self.lines)
    }

    /// Returns what puts the segments in place.
    pub(super) fn commit(&self) -> RewrittenJournal {
        RewrittenJournal { epoch: self.epoch, segments: self.segments }
    }
}
