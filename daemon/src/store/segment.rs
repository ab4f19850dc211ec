//! One file of the journal: its name, its lines, and the check that they are as written.

use std::collections::BTreeSet;
use std::path::Path;

use anchord_memory::Seq;

use super::StoreError;
use super::format::{self, AnyHeader, Crc, FORMAT, HeaderV1, LineFault};

/// The suffix of an archive's name.
const ARCHIVE: &str = ".gz";

/// A line of a segment, without its newline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line's number. The header is line 1.
    pub(crate) number: u64,
    /// The offset of its first byte.
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
}

/// The result of checking every line of a segment.
#[derive(Debug)]
pub(crate) struct Check {
    /// The last entry before any fault, if one exists.
    pub(crate) last: Option<(Seq, Crc)>,
    /// Complete lines, including the header.
    pub(crate) lines: u64,
    /// The end of the last complete line. Bytes beyond it are an incomplete line.
    pub(crate) complete_bytes: u64,
    /// The first bad line.
    pub(crate) fault: Option<(u64, String)>,
}

/// Returns a segment's file name, such as `000001.jsonl`.
pub(crate) fn file_name(number: u32) -> String {
    format!("{number:06}.jsonl")
}

/// Returns an archived segment's file name, such as `000001.jsonl.gz`.
pub(crate) fn archive_name(number: u32) -> String {
    file_name(number) + ARCHIVE
}

/// Returns the number in an archive's file name; `None` for any other file.
pub(crate) fn archive_number_of(name: &str) -> Option<u32> {
    number_of(name.strip_suffix(ARCHIVE)?)
}

/// Returns the numbers of a directory's segments in either form, in order.
pub(crate) fn numbers_of(names: &[String]) -> Vec<u32> {
    let number = |name: &String| number_of(name).or_else(|| archive_number_of(name));
    let numbers: BTreeSet<u32> = names.iter().filter_map(number).collect();
    numbers.into_iter().collect()
}

/// Returns the number in a segment's file name; `None` for any other file.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".jsonl")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

/// Returns the name of the store that the directory of a journal belongs to.
pub(crate) fn store_name(journal_dir: &Path) -> String {
    let name = journal_dir.parent().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Whether a file was never finished. A finished file gets another name.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_suffix(".tmp").is_some()
}

/// Returns the error that names a bad line.
pub(crate) fn damaged(segment: u32, line: u64, why: String) -> StoreError {
    damaged_in(&file_name(segment), line, why)
}

/// Returns the error that names a bad line of a file.
pub(crate) fn damaged_in(file: &str, line: u64, why: String) -> StoreError {
    StoreError::Damaged { at: format!("journal/{file}:{line}"), why }
}

/// Returns the complete lines of a file.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let ends = memchr::memchr_iter(b'\n', bytes);
    let mut start = 0;
    ends.zip(1..).filter_map(move |(end, number)| {
        let line =
            bytes.get(start..end).map(|line| Line { number, offset: start as u64, bytes: line });
        start = end + 1;
        line
    })
}

/// A segment's header, and whether a newer anchord wrote it.
#[derive(Debug)]
pub(crate) enum Header {
    /// The header has a format that this build knows.
    Known(HeaderV1),
    /// The header has a newer format. `header` is set if it can be read as a known one.
    Newer { build: String, format: u32, header: Option<HeaderV1> },
}

/// Reads a segment's first line.
pub(crate) fn read_header(line: &[u8]) -> Result<Header, LineFault> {
    format::check_line(line)?;
    let any: AnyHeader<'_> = format::read_line(line)?;
    if any.format > FORMAT {
        let header = format::read_line(line).ok();
        return Ok(Header::Newer { build: any.build.into_owned(), format: any.format, header });
    }
    format::read_line(line).map(Header::Known)
}

/// Checks every line: its checksum, and that entries follow each other from `first` on.
pub(crate) fn check(bytes: &[u8], first: Seq) -> Check {
    let mut check = Check { last: None, lines: 0, complete_bytes: 0, fault: None };
    let mut next = first;
    for line in lines(bytes) {
        check.lines = line.number;
        check.complete_bytes = line.offset + line.bytes.len() as u64 + 1;
        if line.number == 1 || check.fault.is_some() {
            continue;
        }
        match check_entry(line.bytes, next) {
            Ok(crc) => {
                check.last = Some((next, crc));
                next = Seq(next.0 + 1);
            }
            Err(fault) => check.fault = Some((line.number, fault)),
        }
    }
    check
}

/// Returns the offset at which a segment's damage begins, if all of it can be one batch that was
/// never synced. That is so if every good line from there on belongs to that batch. `first` is the
/// seq of the segment's first entry.
pub(crate) fn torn_batch(bytes: &[u8], first: Seq, check: &Check) -> Option<u64> {
    let (number, _) = check.fault.as_ref()?;
    let next = check.last.map_or(first, |(last, _)| Seq(last.0 + 1));
    let is_of_it = |line: &Line<'_>| {
        let batch = format::check_line(line.bytes).map(|_| format::peek_batch(line.bytes));
        match batch {
            Err(_) => true,
            Ok(batch) => batch.is_ok_and(|(seq, (first, _))| first <= next && next <= seq),
        }
    };
    let mut damaged = lines(bytes).filter(|line| line.number >= *number).peekable();
    let offset = damaged.peek()?.offset;
    damaged.all(|line| is_of_it(&line)).then_some(offset)
}

/// Checks the line of one entry, which must have the seq `expected`.
pub(crate) fn check_entry(line: &[u8], expected: Seq) -> Result<Crc, String> {
    let crc = format::check_line(line).map_err(|fault| fault.to_string())?;
    let seq = format::peek_seq(line).map_err(|fault| fault.to_string())?;
    if seq != expected {
        return Err(format!("entry {} stands where entry {} belongs", seq.0, expected.0));
    }
    Ok(crc)
}
