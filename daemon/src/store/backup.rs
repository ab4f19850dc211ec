//! A backup: the entries of one journal in one file, which can be checked and restored anywhere.
//!
//! The file is gzip. Its lines are a header, the entries from the first one on, and a trailer. Each
//! line ends in its checksum. The trailer has the number of entries and a checksum of all lines. A
//! file without it is incomplete.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;

use anchord_memory::{Seq, Timestamp};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::format::{self, Crc, FORMAT};
use super::limits::{BATCH_BYTES_MAX, ENTRY_BYTES_MAX};
use super::{Entry, StateMachine, StoreError, segment};

/// The version of the file's form.
const BACKUP_FORMAT: u32 = 1;

/// The first line of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupHeader {
    /// The version of the file's form.
    backup: u32,
    /// The newest journal format that its entries may have.
    format: u32,
    /// The anchord that made it.
    pub build: String,
    /// The kind of the journal.
    machine: String,
    /// The project's id, or `user` for the user's own memory. Empty if the store made the backup.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The project's directory or name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// The time at which it was made.
    pub made: Timestamp,
}

impl BackupHeader {
    /// Creates the header of a backup that begins now.
    pub fn new<M: StateMachine>(project: String, root: String, made: Timestamp) -> Self {
        let build = env!("CARGO_PKG_VERSION").to_owned();
        let machine = M::NAME.to_owned();
        Self { backup: BACKUP_FORMAT, format: FORMAT, build, machine, project, root, made }
    }
}

/// The last line of a backup.
#[derive(Serialize, Deserialize)]
struct TrailerV1 {
    entries: u64,
    /// The checksum of all lines before this one.
    body: Crc,
}

/// The reason why a backup cannot be written, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Update anchord to use it.
    #[error("a newer anchord ({0}) made it; update this one to read it")]
    Newer(String),
    /// The file is something else.
    #[error("it is not an anchord backup")]
    NotABackup,
    /// The content is not what was written.
    #[error("line {line}: {why}")]
    Damaged {
        /// The line's number in the unpacked file.
        line: u64,
        /// The kind of damage.
        why: String,
    },
}

impl BackupError {
    /// Whether the backup is damaged or of a newer format. Otherwise it could not be read now, or
    /// is another kind of file.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Newer(_) | Self::Damaged { .. })
    }
}

/// Writes a backup.
#[derive(Debug)]
pub struct BackupWriter<W: Write> {
    out: GzEncoder<W>,
    body: crc32fast::Hasher,
    entries: u64,
}

impl<W: Write> BackupWriter<W> {
    /// Begins a backup.
    pub fn new(out: W, header: &BackupHeader) -> Result<Self, BackupError> {
        let out = GzEncoder::new(out, Compression::fast());
        let mut writer = Self { out, body: crc32fast::Hasher::new(), entries: 0 };
        let mut line = Vec::new();
        format::write_line(header, &mut line);
        writer.write(&line)?;
        Ok(writer)
    }

    /// Adds the line of the next entry, without its newline. Fails if it is damaged or another
    /// entry's.
    pub fn line(&mut self, line: &[u8]) -> Result<(), BackupError> {
        let damaged = |why| BackupError::Damaged { line: self.entries + 2, why };
        segment::check_entry(line, Seq(self.entries + 1)).map_err(damaged)?;
        self.write(line)?;
        self.write(b"\n")?;
        self.entries += 1;
        Ok(())
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Ends the backup and returns what it was written to.
    pub fn finish(mut self) -> Result<W, BackupError> {
        let mut line = Vec::new();
        let trailer = TrailerV1 { entries: self.entries, body: Crc(self.body.clone().finalize()) };
        format::write_line(&trailer, &mut line);
        self.out.write_all(&line)?;
        Ok(self.out.finish()?)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        self.body.update(bytes);
        Ok(self.out.write_all(bytes)?)
    }
}

/// Appends an entry's line as a backup has it, with its newline.
pub fn backup_line<C: Serialize>(entry: &Entry<C>, out: &mut Vec<u8>) {
    format::write_entry(entry, None, out);
}

/// A function that takes an entry and its line.
pub type VisitEntry<'v, C> = &'v mut dyn FnMut(Entry<C>, &[u8]) -> Result<(), BackupError>;

/// Reads a whole backup and checks it. Passes every entry and its line, with the newline, to
/// `visit`.
///
/// The entries passed before an error may not be used: only the trailer proves that all are there.
pub fn read_backup<M: StateMachine>(
    file: impl Read,
    visit: VisitEntry<'_, M::Change>,
) -> Result<BackupHeader, BackupError> {
    let mut lines = Lines { file: BufReader::new(MultiGzDecoder::new(file)), read: 0 };
    let mut body = crc32fast::Hasher::new();
    let mut line = Vec::new();
    match lines.next(&mut line) {
        // What cannot be unpacked at all, or has no line, is another kind of file.
        Err(BackupError::Damaged { .. }) | Ok(false) => return Err(BackupError::NotABackup),
        read => read?,
    };
    let header = header_of::<M>(&line)?;
    body.update(&line);
    body.update(b"\n");
    let mut entries = 0;
    loop {
        if !lines.next(&mut line)? {
            return Err(lines.damaged("the end of the backup is missing"));
        }
        if !line.starts_with(ENTRY_START) {
            break;
        }
        let fault = |why: String| BackupError::Damaged { line: entries + 2, why };
        segment::check_entry(&line, Seq(entries + 1)).map_err(fault)?;
        let entry = read_backup_line::<M::Change>(&line).map_err(fault)?;
        line.push(b'\n');
        visit(entry, &line)?;
        body.update(&line);
        entries += 1;
    }
    let TrailerV1 { entries: written, body: whole } =
        sealed(&line).map_err(|why| BackupError::Damaged { line: lines.read, why })?;
    if written != entries || whole != Crc(body.finalize()) {
        return Err(lines.damaged("its entries are not those that it was made with"));
    }
    if lines.next(&mut line)? {
        return Err(lines.damaged("something follows the end of the backup"));
    }
    Ok(header)
}

/// The first bytes of an entry's line.
const ENTRY_START: &[u8] = b"{\"seq\":";

/// Reads an entry's line as [`backup_line`] has it, without its newline.
pub fn read_backup_line<C: DeserializeOwned>(line: &[u8]) -> Result<Entry<C>, String> {
    format::read_entry(line).map_err(|fault| fault.to_string())
}

fn sealed<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    format::check_line(line).map_err(|fault| fault.to_string())?;
    format::read_line(line).map_err(|fault| fault.to_string())
}

fn header_of<M: StateMachine>(line: &[u8]) -> Result<BackupHeader, BackupError> {
    #[derive(Deserialize)]
    struct AnyHeader {
        backup: u32,
        format: u32,
        #[serde(default)]
        build: String,
    }
    let any: AnyHeader = format::read_line(line).map_err(|_| BackupError::NotABackup)?;
    let damaged = |why| BackupError::Damaged { line: 1, why };
    if any.backup > BACKUP_FORMAT || any.format > FORMAT {
        return Err(BackupError::Newer(any.build));
    }
    let header: BackupHeader = sealed(line).map_err(damaged)?;
    if header.machine != M::NAME {
        return Err(damaged(format!("it is of the kind `{}`, not `{}`", header.machine, M::NAME)));
    }
    Ok(header)
}

/// Reads lines that may be long, but not longer than an entry can be.
struct Lines<R> {
    file: R,
    read: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, without its newline. Returns false at the end of the file.
    fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, BackupError> {
        line.clear();
        self.read += 1;
        let bytes_max = (ENTRY_BYTES_MAX + BATCH_BYTES_MAX) as u64 + 1;
        let read = self.file.by_ref().take(bytes_max).read_until(b'\n', line);
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.damaged("the file is cut off"),
            // These are what unpacking complains of.
            ErrorKind::InvalidData | ErrorKind::InvalidInput => self.damaged(&error.to_string()),
            _ => BackupError::Io(error),
        })?;
        match line.pop() {
            None => Ok(false),
            Some(b'\n') => Ok(true),
            Some(_) => Err(self.damaged("it is incomplete or too long")),
        }
    }

    fn damaged(&self, why: &str) -> BackupError {
        BackupError::Damaged { line: self.read, why: why.to_owned() }
    }
}

/// Names the file of a backup that cannot be used.
pub(super) fn of_file(path: &Path, error: BackupError) -> StoreError {
    match error {
        BackupError::Io(source) => StoreError::Io { doing: "read", path: path.to_owned(), source },
        error => StoreError::Damaged { at: path.display().to_string(), why: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
