//! Lines on disk, format 10: the content of a journal and a snapshot. Older formats lack the kinds
//! and fields that came later; see `docs/decisions/0006-format-2.md`, `0009-format-3.md`,
//! `0022-format-4.md`, `0024-old-segments-are-archived.md`, `0029-outcomes-are-data.md`,
//! `0036-the-brief.md`, `0046-rules-in-memory.md`, `0052-a-team-shares-a-memory.md` and
//! `0054-copies-agree-with-the-database.md`.
//!
//! Every line is a JSON object that ends in its own checksum, `,"crc":"0a1b2c3d"}`. The checksum is
//! CRC-32 (IEEE) over all bytes of the line before `,"crc":`. Lines of a newer format keep that
//! frame and the field `format`, so that an older anchord can report what it found.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{Call, Entry};

/// The format that this build writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 10;

/// The first format in which a line names its batch.
pub(crate) const BATCHES_FROM: u32 = 4;

/// The first format of a last segment that allows older segments to be archived.
pub(crate) const ARCHIVES_FROM: u32 = 5;

const CRC_KEY: &[u8] = b",\"crc\":\"";
const CRC_FRAME_BYTES: usize = CRC_KEY.len() + 8 + 2;

/// The reason why a line is not as written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    #[error("the line does not end in a checksum")]
    NoChecksum,
    #[error("the checksum is {written:08x}, the line's bytes give {computed:08x}")]
    WrongChecksum { written: u32, computed: u32 },
    #[error("the checksum is right, but the line cannot be read: {0}")]
    Unreadable(String),
}

/// The first line of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeaderV1 {
    pub(crate) format: u32,
    /// The version of the anchord that wrote the segment.
    pub(crate) build: Cow<'static, str>,
    pub(crate) machine: Cow<'static, str>,
    /// The name of the store's directory. Segments of earlier builds lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<String>,
    pub(crate) journal: Uuid,
    /// Rises when segments are rewritten. That outdates every index and snapshot.
    pub(crate) epoch: u32,
    pub(crate) segment: u32,
    /// The seq of the segment's first entry.
    pub(crate) first: Seq,
    /// The checksum of the previous segment's last entry; absent in the first segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<Crc>,
}

impl HeaderV1 {
    /// Returns the header of a new segment of a journal in an epoch.
    pub(crate) fn new(
        machine: &'static str,
        store: String,
        (journal, epoch): (Uuid, u32),
        segment: u32,
        first: Seq,
        previous: Option<Crc>,
    ) -> Self {
        Self {
            format: FORMAT,
            build: env!("CARGO_PKG_VERSION").into(),
            machine: machine.into(),
            store: Some(store),
            journal,
            epoch,
            segment,
            first,
            previous,
        }
    }
}

/// The first line of a snapshot: the state after entry `seq`, just before `segment`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotHeaderV1 {
    pub(crate) format: u32,
    pub(crate) build: Cow<'static, str>,
    pub(crate) machine: Cow<'static, str>,
    pub(crate) journal: Uuid,
    pub(crate) epoch: u32,
    pub(crate) segment: u32,
    pub(crate) seq: Seq,
    /// The checksum of that entry's line.
    pub(crate) line: Crc,
    pub(crate) revision: Revision,
}

/// A row of a snapshot, under the index's key. Rows have no checksum; the last line has one over
/// all.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SnapshotRowV1<'a> {
    #[serde(borrow)]
    pub(crate) key: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) value: &'a RawValue,
}

/// The last line of a snapshot.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotTrailerV1 {
    pub(crate) rows: u64,
    /// The checksum of all bytes of the file before this line.
    pub(crate) body: Crc,
}

/// The fields of every header, in any format.
#[derive(Debug, Deserialize)]
pub(crate) struct AnyHeader<'a> {
    pub(crate) format: u32,
    #[serde(borrow, default)]
    pub(crate) build: Cow<'a, str>,
}

/// A checksum, written as eight hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Crc(pub(crate) u32);

impl From<Crc> for String {
    fn from(crc: Crc) -> Self {
        format!("{:08x}", crc.0)
    }
}

impl TryFrom<String> for Crc {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u32::from_str_radix(&text, 16).map(Self)
    }
}

/// The first and the last entry of a batch, which is written and synced at once.
pub(crate) type Batch = (Seq, Seq);

#[derive(Serialize)]
struct EntryV1<'a, C> {
    seq: Seq,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<Batch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
    time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<u64>,
    op: &'a str,
    changes: &'a [C],
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a Value>,
}

#[derive(Deserialize)]
#[serde(bound = "C: DeserializeOwned")]
struct ReadEntryV1<C> {
    seq: Seq,
    revision: Option<Revision>,
    time: Timestamp,
    session: Option<SessionId>,
    instance: Option<Arc<str>>,
    number: Option<u64>,
    acknowledged: Option<u64>,
    op: String,
    changes: Vec<C>,
    reply: Option<Value>,
}

/// Appends an entry's line with its newline, and returns its checksum. An entry that is alone in
/// its batch does not name the batch.
pub(crate) fn write_entry<C: Serialize>(
    entry: &Entry<C>,
    batch: Option<Batch>,
    out: &mut Vec<u8>,
) -> Crc {
    write_line(&EntryV1 { batch, ..entry_line(entry) }, out)
}

/// Returns the length of an entry's line, without its newline and batch, and without building the
/// line.
pub(crate) fn entry_bytes<C: Serialize>(entry: &Entry<C>) -> usize {
    let mut counted = Counted(0);
    serde_json::to_writer(&mut counted, &entry_line(entry)).expect("disk types always serialize");
    // The checksum's frame replaces the object's closing bracket.
    counted.0 - 1 + CRC_FRAME_BYTES
}

/// A writer that only counts bytes.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn entry_line<C>(entry: &Entry<C>) -> EntryV1<'_, C> {
    let call = entry.call.as_ref();
    EntryV1 {
        seq: entry.seq,
        batch: None,
        revision: entry.revision,
        time: entry.time,
        session: entry.session.as_ref(),
        instance: call.map(|call| &*call.instance),
        number: call.map(|call| call.number),
        acknowledged: call.map(|call| call.acknowledged),
        op: &entry.operation,
        changes: &entry.changes,
        reply: entry.reply.as_ref(),
    }
}

/// Appends any object as a line that ends in its checksum.
pub(crate) fn write_line<T: Serialize>(object: &T, out: &mut Vec<u8>) -> Crc {
    let start = out.len();
    serde_json::to_writer(&mut *out, object).expect("disk types always serialize");
    out.pop();
    let crc = Crc(crc32fast::hash(out.get(start..).unwrap_or_default()));
    out.extend_from_slice(&line_end(crc));
    crc
}

/// Returns the last bytes of a line with this checksum, including the newline.
pub(crate) fn line_end(crc: Crc) -> Vec<u8> {
    let mut end = CRC_KEY.to_vec();
    end.extend_from_slice(String::from(crc).as_bytes());
    end.extend_from_slice(b"\"}\n");
    end
}

/// Checks a line, without its newline, against its checksum.
pub(crate) fn check_line(line: &[u8]) -> Result<Crc, LineFault> {
    let (body, frame) = line
        .len()
        .checked_sub(CRC_FRAME_BYTES)
        .and_then(|at| line.split_at_checked(at))
        .ok_or(LineFault::NoChecksum)?;
    let written = frame
        .strip_prefix(CRC_KEY)
        .and_then(|rest| rest.strip_suffix(b"\"}"))
        .and_then(|hex| std::str::from_utf8(hex).ok())
        .filter(|hex| hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
        .and_then(|hex| u32::from_str_radix(hex, 16).ok())
        .ok_or(LineFault::NoChecksum)?;
    let computed = crc32fast::hash(body);
    if written != computed {
        return Err(LineFault::WrongChecksum { written, computed });
    }
    Ok(Crc(written))
}

/// Reads the seq at the start of an entry's line, without reading the rest.
pub(crate) fn peek_seq(line: &[u8]) -> Result<Seq, LineFault> {
    let digits = line.strip_prefix(b"{\"seq\":").unwrap_or_default();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    digits
        .get(..end)
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .map(Seq)
        .ok_or_else(|| LineFault::Unreadable("it does not begin with a seq".to_owned()))
}

/// Reads an entry's seq and its batch from a line that passed [`check_line`].
pub(crate) fn peek_batch(line: &[u8]) -> Result<(Seq, Batch), LineFault> {
    #[derive(Deserialize)]
    struct InBatch {
        seq: Seq,
        batch: Option<Batch>,
    }
    let InBatch { seq, batch } = read_line(line)?;
    Ok((seq, batch.unwrap_or((seq, seq))))
}

/// Reads a line that passed [`check_line`].
pub(crate) fn read_line<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, LineFault> {
    serde_json::from_slice(line).map_err(|error| LineFault::Unreadable(error.to_string()))
}

/// Reads an entry from a line that passed [`check_line`].
pub(crate) fn read_entry<C: DeserializeOwned>(line: &[u8]) -> Result<Entry<C>, LineFault> {
    let line: ReadEntryV1<C> = read_line(line)?;
    let call = match (line.instance, line.number) {
        (Some(instance), Some(number)) => {
            Some(Call { instance, number, acknowledged: line.acknowledged.unwrap_or(0) })
        }
        _ => None,
    };
    Ok(Entry {
        seq: line.seq,
        revision: line.revision,
        time: line.time,
        session: line.session,
        call,
        operation: Cow::Owned(line.op),
        changes: line.changes,
        reply: line.reply,
    })
}

#[cfg(test)]
mod tests;
