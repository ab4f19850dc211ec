//! Opening a journal: find its segments, check them, and remove an incomplete last line. Only the
//! last segment is read whole; of the others it reads the header and the end.
//!
//! A line of the last segment without a newline was never acknowledged. Nor was a damaged batch at
//! its end that the index does not know. Such an end is set aside and cut off. Any other difference
//! from what was written makes the journal read-only and is reported; nothing is repaired. A
//! missing journal, or a last segment without its header, has the same effect. The exception is a
//! journal that was empty: neither the index nor a snapshot proves that it had an entry.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::Seq;
use uuid::Uuid;

use super::disk::Disk;
use super::format::{BATCHES_FROM, Crc, FORMAT, HeaderV1, peek_seq};
use super::index::IndexError;
use super::journal::{Journal, Segment};
use super::limits::HEADER_BYTES_MAX;
use super::sealed::Sealed;
use super::segment::{self, Header, file_name};
use super::{StoreError, archive, snapshot};

/// A journal as opening found it.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) journal: Journal,
    /// Whether the journal is new.
    pub(crate) created: bool,
    /// The file that now holds the incomplete last line.
    pub(crate) tail_removed: Option<PathBuf>,
    /// Whether the journal has a newer format or cannot be written. The index must not be touched
    /// either.
    pub(crate) untouchable: bool,
}

/// Proof of the journal's content, from the index, which follows only synced entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    pub(crate) journal: Uuid,
    pub(crate) epoch: u32,
    /// The last entry in the index.
    pub(crate) seq: Seq,
}

/// Returns what the index proves, or the error that keeps it from being read.
pub(crate) type Prove<'p> = &'p mut dyn FnMut() -> Result<Option<Proof>, IndexError>;

/// Opens the journal in `dir`, or creates one. `hands_off` is the reason why nothing in it may be
/// touched, if there is one. `prove` is called only if the journal alone does not show what it
/// held.
pub(crate) fn open(
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    snapshots: &Path,
    machine: &'static str,
    reserve_bytes: u64,
    hands_off: Option<String>,
    prove: Prove<'_>,
) -> Result<Recovered, StoreError> {
    disk.create_dir(&dir).map_err(StoreError::io("create", &dir))?;
    let names = disk.list(&dir).map_err(StoreError::io("list", &dir))?;
    let mut numbers = segment::numbers_of(&names);
    let journal = Journal {
        disk,
        dir,
        machine,
        id: Uuid::nil(),
        epoch: 1,
        other_store: None,
        segments: Vec::new(),
        file: None,
        last: Seq(0),
        last_crc: Crc(0),
        dir_unsynced: true,
        read_only: hands_off,
        passes: false,
        reserve_bytes,
    };
    let untouchable = journal.read_only.is_some();
    let beyond = snapshot::list(&*journal.disk, snapshots)?;
    let mut opening = Opening { journal, names, tail_removed: None, untouchable };
    let (last, headless) = opening.last_segment(&mut numbers)?;
    let Some((number, bytes)) = last else {
        return opening.begin(&headless, &beyond, prove);
    };
    opening.read_headers(&numbers)?;
    opening.look_for_last(&beyond, &headless);
    let tail = opening.check_last(number, &bytes);
    opening.put_aside(&headless, (number, tail), prove)?;
    opening.check_ends()?;
    opening.make_writable();
    Ok(opening.finish(false))
}

/// Advice for a file that is missing or empty. A command would have to name the memory, which the
/// store does not know.
const RESTORE: &str =
    "put it back, restore a backup, or see what a repair of the journal can restore";

/// A segment's number and its bytes.
type LastSegment = (u32, Vec<u8>);

/// A segment at the end whose header is incomplete.
struct Headless {
    number: u32,
    bytes: Vec<u8>,
}

/// The end of the last segment, which may never have been synced.
struct Tail<'b> {
    bytes: &'b [u8],
    /// The fault in it; `None` if it is only an incomplete line.
    fault: Option<String>,
}

/// The beginning of a segment's file.
struct Start {
    path: PathBuf,
    /// The header, and perhaps lines after it.
    lines: Vec<u8>,
    /// Size of the segment, as plain lines.
    bytes: u64,
    archive_bytes: Option<u64>,
}

struct Opening {
    journal: Journal,
    names: Vec<String>,
    tail_removed: Option<PathBuf>,
    untouchable: bool,
}

/// Returns what the index proves about the content of a file.
fn proven(prove: Prove<'_>, path: &Path) -> Result<Option<Proof>, StoreError> {
    prove().map_err(|error| StoreError::Io {
        doing: "open the index, which may know what was in",
        path: path.to_owned(),
        source: io::Error::other(error),
    })
}

impl Opening {
    /// Returns the last segment that has a header, with its bytes, and the segments after it that
    /// have no header. Removes the latter from `numbers`.
    fn last_segment(
        &self,
        numbers: &mut Vec<u32>,
    ) -> Result<(Option<LastSegment>, Vec<Headless>), StoreError> {
        let mut headless = Vec::new();
        while let Some(number) = numbers.last().copied() {
            let path = self.journal.path(number);
            let bytes = if self.names.contains(&file_name(number)) {
                self.journal.disk.read(&path).map_err(StoreError::io("read", &path))?
            } else {
                let path = self.journal.dir.join(segment::archive_name(number));
                let archive = self.journal.disk.read(&path);
                archive::decode(&archive.map_err(StoreError::io("read", &path))?)
            };
            if bytes.contains(&b'\n') {
                return Ok((Some((number, bytes)), headless));
            }
            numbers.pop();
            headless.push(Headless { number, bytes });
        }
        Ok((None, headless))
    }

    /// Creates a journal, unless there was one. Sets aside a first segment without a header if it
    /// never had an entry.
    fn begin(
        mut self,
        headless: &[Headless],
        snapshots: &[u32],
        prove: Prove<'_>,
    ) -> Result<Recovered, StoreError> {
        let proof = proven(prove, &self.journal.path(1))?;
        let is = if headless.is_empty() { "is missing" } else { "is empty" };
        let what = match (proof, snapshots.last()) {
            (Some(proof), _) => format!("though the index has entries to {}", proof.seq.0),
            (None, Some(number)) => {
                format!("though there is a snapshot of it, {}", file_name(*number))
            }
            (None, None) => String::new(),
        };
        if what.is_empty() {
            self.journal.id = Uuid::new_v4();
            for segment in headless {
                self.keep_aside(segment.number, &segment.bytes, |disk, path| disk.remove(path));
            }
        } else {
            // With an id of its own it would not be the journal that the index belongs to.
            (self.journal.id, self.journal.epoch) =
                proof.map_or((Uuid::nil(), 1), |proof| (proof.journal, proof.epoch));
            let file = format!("journal/{}", file_name(1));
            self.refuse_writes(format!("{file} {is}, {what}; {RESTORE}"));
        }
        if self.journal.read_only.is_some() {
            return Ok(self.finish(false));
        }
        let bytes = self.journal.write_segment(1, Seq(1), None)?;
        self.journal.segments = vec![Segment {
            number: 1,
            format: FORMAT,
            first: Seq(1),
            previous: None,
            bytes,
            archive_bytes: None,
        }];
        self.make_writable();
        Ok(self.finish(true))
    }

    /// Sets aside an incomplete last line and segments without a header, unless the index proves
    /// that they were once complete.
    fn put_aside(
        &mut self,
        headless: &[Headless],
        (number, tail): (u32, Tail<'_>),
        prove: Prove<'_>,
    ) -> Result<(), StoreError> {
        let Tail { bytes: tail, fault } = tail;
        let last = headless.last().map_or(number, |segment| segment.number);
        // If something else is wrong too, every byte may be needed.
        if headless.is_empty() && tail.is_empty() || self.journal.read_only.is_some() {
            return Ok(());
        }
        let proof = proven(prove, &self.journal.path(last))?;
        if let Some(proof) = proof.filter(|proof| proof.seq > self.journal.last) {
            let what = match headless {
                [] => format!("ends at entry {}", self.journal.last.0),
                _ => "is empty".to_owned(),
            };
            let (file, seq) = (file_name(last), proof.seq.0);
            self.refuse_writes(fault.filter(|_| headless.is_empty()).unwrap_or_else(|| {
                format!("journal/{file} {what}, though the index has entries to {seq}; {RESTORE}")
            }));
            return Ok(());
        }
        for segment in headless {
            self.keep_aside(segment.number, &segment.bytes, |disk, path| disk.remove(path));
        }
        if headless.is_empty() {
            let complete = self.journal.last_segment_bytes();
            self.keep_aside(number, tail, |disk, path| {
                let mut file = disk.open_append(path)?;
                file.truncate(complete)?;
                file.sync_data()
            });
        } else if !tail.is_empty() {
            let why = "the line is incomplete, though a segment follows".to_owned();
            self.refuse_writes(segment::damaged(number, 0, why).to_string());
        }
        Ok(())
    }

    /// Fills in the segments, and the journal's identity from their headers.
    fn read_headers(&mut self, numbers: &[u32]) -> Result<(), StoreError> {
        let mut expected = 1;
        for number in numbers.iter().copied() {
            if number != expected {
                self.refuse_writes(format!(
                    "journal/{} is missing; {RESTORE}",
                    file_name(expected)
                ));
            }
            expected = number + 1;
            let Start { path, lines: start, bytes, archive_bytes } = self.start(number)?;
            let mut lines = segment::lines(&start);
            let line = lines.next().map(|line| line.bytes).unwrap_or_default();
            let (format, first, previous) = match segment::read_header(line) {
                Ok(Header::Known(header)) => {
                    self.check_header(&header, number, &path)?;
                    (header.format, Some(header.first), header.previous)
                }
                Ok(Header::Newer { build, format, header }) => {
                    self.untouchable = true;
                    self.refuse_writes(format!(
                        "journal/{} was written by a newer anchord ({build}, format {format}); \
                         update this one to write",
                        file_name(number)
                    ));
                    if let Some(header) = &header {
                        self.check_header(header, number, &path)?;
                    }
                    let first = header.as_ref().map(|header| header.first);
                    (format, first, header.and_then(|header| header.previous))
                }
                Err(fault) => {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    let fault = segment::damaged_in(&file, 1, fault.to_string());
                    self.refuse_writes(fault.to_string());
                    // The entries may be intact all the same.
                    (FORMAT, lines.next().and_then(|line| peek_seq(line.bytes).ok()), None)
                }
            };
            if let Some(first) = first {
                let segment = Segment { number, format, first, previous, bytes, archive_bytes };
                self.journal.segments.push(segment);
            }
        }
        if self.journal.segments.last().is_some_and(|last| last.archive_bytes.is_some()) {
            // A segment is archived only when another one follows it.
            let file = file_name(self.journal.last_segment() + 1);
            self.refuse_writes(format!("journal/{file} is missing; {RESTORE}"));
        }
        Ok(())
    }

    /// Reads the start of a segment. If both forms exist, uses the plain one unless its header is
    /// damaged.
    fn start(&self, number: u32) -> Result<Start, StoreError> {
        let (disk, path) = (&*self.journal.disk, self.journal.path(number));
        if self.names.contains(&file_name(number)) {
            let lines = disk.read_at(&path, 0, HEADER_BYTES_MAX);
            let lines = lines.map_err(StoreError::io("read", &path))?;
            let bytes = disk.length(&path).map_err(StoreError::io("measure", &path))?;
            let header = segment::lines(&lines).next();
            let is_sound = header.is_some_and(|line| segment::read_header(line.bytes).is_ok());
            if is_sound || !self.names.contains(&segment::archive_name(number)) {
                return Ok(Start { path, lines, bytes, archive_bytes: None });
            }
        }
        self.archive_start(number)
    }

    /// Reads the start of an archived segment.
    fn archive_start(&self, number: u32) -> Result<Start, StoreError> {
        let disk = &*self.journal.disk;
        let path = self.journal.dir.join(segment::archive_name(number));
        let start = disk.read_at(&path, 0, HEADER_BYTES_MAX);
        let start = start.map_err(StoreError::io("read", &path))?;
        let mut lines = archive::header_line(&start).unwrap_or_default();
        lines.push(b'\n');
        let length = disk.length(&path).map_err(StoreError::io("measure", &path))?;
        let end = archive::read_end(disk, &path, length);
        let end = end.map_err(StoreError::io("read", &path))?;
        // Without its end the archive has lost something; checking its lines reports that.
        let bytes = end.map_or(u64::MAX, |end| end.plain_bytes);
        Ok(Start { path, lines, bytes, archive_bytes: Some(length) })
    }

    /// Refuses writes if a snapshot's segment is missing. A snapshot is written after its segment
    /// begins, so acknowledged entries are missing then. The remaining segments cannot show that.
    fn look_for_last(&mut self, snapshots: &[u32], headless: &[Headless]) {
        let last = self.journal.last_segment();
        for number in snapshots.iter().copied().filter(|number| *number > last) {
            let is_there = headless.iter().any(|segment| segment.number == number);
            let is = if is_there { "is empty" } else { "is missing" };
            let file = file_name(number);
            self.refuse_writes(format!(
                "journal/{file} {is}, though there is a snapshot of it; {RESTORE}"
            ));
        }
    }

    fn check_header(
        &mut self,
        header: &HeaderV1,
        number: u32,
        path: &Path,
    ) -> Result<(), StoreError> {
        if header.machine != self.journal.machine {
            return Err(StoreError::WrongMachine {
                path: path.to_owned(),
                expected: self.journal.machine,
                found: header.machine.clone().into_owned(),
            });
        }
        if self.journal.id.is_nil() {
            self.journal.id = header.journal;
            self.journal.epoch = header.epoch;
        }
        // A segment of another journal is damage, and says nothing about this one.
        let name = segment::store_name(&self.journal.dir);
        let is_of_other = |store: &String| header.journal == self.journal.id && *store != name;
        if let Some(store) = header.store.clone().filter(is_of_other) {
            self.journal.other_store = Some(store);
        }
        let ours = header.journal == self.journal.id
            && header.epoch == self.journal.epoch
            && header.segment == number;
        if !ours {
            let why = format!(
                "the header is of segment {} of journal {} epoch {}, which is another",
                header.segment, header.journal, header.epoch
            );
            let fault = segment::damaged(number, 1, why);
            self.refuse_writes(fault.to_string());
        }
        Ok(())
    }

    /// Checks the last segment. Returns the part that may never have been synced: an incomplete
    /// last line, or a damaged batch.
    fn check_last<'b>(&mut self, number: u32, bytes: &'b [u8]) -> Tail<'b> {
        let nothing = Tail { bytes: &[], fault: None };
        let Some(segment) = self.journal.segments.last().copied() else { return nothing };
        if segment.number != number {
            return nothing;
        }
        let check = segment::check(bytes, segment.first);
        let torn = Some(segment.format)
            .filter(|format| *format >= BATCHES_FROM)
            .and_then(|_| segment::torn_batch(bytes, segment.first, &check));
        let before = (Seq(segment.first.0.saturating_sub(1)), segment.previous.unwrap_or(Crc(0)));
        (self.journal.last, self.journal.last_crc) = check.last.unwrap_or(before);
        let complete_bytes = torn.unwrap_or(check.complete_bytes);
        let mut fault =
            check.fault.map(|(line, why)| segment::damaged(number, line, why).to_string());
        if torn.is_none()
            && let Some(fault) = fault.take()
        {
            self.refuse_writes(fault);
        }
        if let Some(last) = self.journal.segments.last_mut() {
            last.bytes = complete_bytes;
        }
        let cut = usize::try_from(complete_bytes).unwrap_or(usize::MAX);
        Tail { bytes: bytes.get(cut..).unwrap_or_default(), fault }
    }

    /// Checks that each older segment ends in the line that the next one names. Their other lines
    /// are checked later, while the store is open.
    fn check_ends(&mut self) -> Result<(), StoreError> {
        for sealed in self.journal.sealed() {
            if sealed.ends_as_named()? || self.take_archive(&sealed)? {
                continue;
            }
            if let Some(fault) = sealed.check()? {
                self.refuse_writes(fault.to_string());
            }
        }
        Ok(())
    }

    /// Uses the archive instead of a segment that does not end as it should, if the archive exists
    /// and does end so.
    fn take_archive(&mut self, sealed: &Sealed) -> Result<bool, StoreError> {
        let number = sealed.segment.number;
        if sealed.segment.archive_bytes.is_some()
            || !self.names.contains(&segment::archive_name(number))
        {
            return Ok(false);
        }
        let Start { bytes, archive_bytes, .. } = self.archive_start(number)?;
        let segment = Segment { bytes, archive_bytes, ..sealed.segment };
        let is_whole = sealed.with(segment).ends_as_named()?;
        let place = self.journal.segments.iter_mut().find(|it| it.number == number && is_whole);
        Ok(place.map(|place| *place = segment).is_some())
    }

    /// Opens the last segment for appending. Data that a killed daemon wrote without a sync becomes
    /// part of the state now. It must be durable before anyone learns of it.
    fn make_writable(&mut self) {
        if self.journal.read_only.is_some() {
            return;
        }
        let path = self.journal.path(self.journal.last_segment());
        let opened = self.journal.disk.open_append(&path).and_then(|mut file| {
            file.sync_data()?;
            self.journal.disk.sync_dir(&self.journal.dir)?;
            Ok(file)
        });
        match opened {
            Ok(file) => {
                self.journal.file = Some(file);
                self.journal.dir_unsynced = false;
                self.remove_temporary();
            }
            Err(error) => {
                self.untouchable = true;
                self.journal.passes = true;
                self.refuse_writes(format!("cannot write {}: {error}", path.display()));
            }
        }
    }

    fn remove_temporary(&self) {
        for name in self.names.iter().filter(|name| segment::is_temporary(name)) {
            let path = self.journal.dir.join(name);
            if let Err(error) = self.journal.disk.remove(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove a temporary file");
            }
        }
    }

    /// Copies an incomplete end to a file of its own, then removes it with `cut`.
    fn keep_aside(
        &mut self,
        number: u32,
        tail: &[u8],
        cut: impl FnOnce(&dyn Disk, &Path) -> io::Result<()>,
    ) {
        let mut attempt = 1;
        let mut name = format!("cut-{number:06}-{attempt}.partial");
        while self.names.contains(&name) {
            attempt += 1;
            name = format!("cut-{number:06}-{attempt}.partial");
        }
        let aside = self.journal.dir.join(name);
        let disk = &*self.journal.disk;
        let done = disk.create(&aside).and_then(|mut file| {
            file.write_all(tail)?;
            file.sync_data()?;
            disk.sync_dir(&self.journal.dir)?;
            cut(disk, &self.journal.path(number))?;
            disk.sync_dir(&self.journal.dir)
        });
        match done {
            Ok(()) => self.tail_removed = Some(aside),
            Err(error) => {
                self.untouchable = true;
                self.journal.passes = true;
                self.refuse_writes(format!(
                    "cannot remove the incomplete last line of journal/{}: {error}",
                    file_name(number)
                ));
            }
        }
    }

    /// Makes the journal read-only. The first reason stays, because it is the cause.
    fn refuse_writes(&mut self, why: String) {
        self.journal.read_only.get_or_insert(why);
    }

    fn finish(self, created: bool) -> Recovered {
        Recovered {
            journal: self.journal,
            created,
            tail_removed: self.tail_removed,
            untouchable: self.untouchable,
        }
    }
}
