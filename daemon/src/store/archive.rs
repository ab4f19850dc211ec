//! The bytes of an archived segment: gzip, in members that can be read one by one.
//!
//! The first member holds the header, each further one some lines, and the last one nothing. Each
//! member's extra field adds data that gzip lacks, behind a checksum. It holds the member's length,
//! the length of its text, and the history keys of its entries. `zcat` returns exactly the segment.

use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::disk::Disk;
use super::format::Crc;
use super::limits::{ARCHIVE_BLOCK_BYTES, ARCHIVE_KEYS_BYTES_MAX};
use super::segment;

/// The start of a gzip member: deflate, with an extra field, no time and no system.
const MAGIC: [u8; 10] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255];
/// The name of the only subfield.
const SUBFIELD: [u8; 2] = *b"an";
/// Bytes before the keys: magic, two lengths of two bytes around the name, and the fields.
const HEAD_BYTES: usize = MAGIC.len() + 2 + 2 + 2 + FIELDS_BYTES;
/// Bytes of the fields: a checksum, the kind, and three numbers of four bytes.
const FIELDS_BYTES: usize = 4 + 1 + 4 + 4 + 4;
/// Bytes of gzip's own checksum and length at the end of a member.
const TAIL_BYTES: usize = 8;
/// Deflate's output for an empty text.
const NOTHING: [u8; 2] = [3, 0];
/// Bytes of the last member. Instead of keys its extra field has a length of eight bytes and a
/// checksum.
const END_BYTES: usize = HEAD_BYTES + 12 + NOTHING.len() + TAIL_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The member names all keys of its entries.
    Keyed = 1,
    /// The member has too many keys to name them.
    Unkeyed = 2,
    /// The last member.
    End = 3,
}

/// The header of a member.
#[derive(Clone, Copy, Debug)]
struct Head {
    kind: Kind,
    member_bytes: usize,
    plain_bytes: usize,
    keys_bytes: usize,
    keys_crc: u32,
}

/// The last member of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Size of the segment.
    pub(super) plain_bytes: u64,
    /// The checksum of its last line.
    pub(super) last: Crc,
}

impl Head {
    /// Reads a member's header. Returns `None` if it is damaged.
    fn read(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (extra, rest) = rest.split_at_checked(2)?;
        let rest = rest.strip_prefix(&SUBFIELD)?;
        let (length, rest) = rest.split_at_checked(2)?;
        let (crc, fields) = rest.split_at_checked(4)?;
        let fields = fields.get(..FIELDS_BYTES - 4)?;
        if crc32fast::hash(fields).to_le_bytes() != crc {
            return None;
        }
        let number = |at: usize| {
            let bytes = fields.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let kind = match fields.first()? {
            1 => Kind::Keyed,
            2 => Kind::Unkeyed,
            3 => Kind::End,
            _ => return None,
        };
        let subfield_bytes = usize::from(u16::from_le_bytes(length.try_into().ok()?));
        let extra_bytes = usize::from(u16::from_le_bytes(extra.try_into().ok()?));
        let keys_bytes = subfield_bytes.checked_sub(FIELDS_BYTES)?;
        let (member_bytes, plain_bytes) = (number(1)?, number(5)?);
        let is_sound = extra_bytes == subfield_bytes + 4
            && member_bytes >= HEAD_BYTES + keys_bytes + TAIL_BYTES;
        let keys_crc = u32::try_from(number(9)?).ok()?;
        is_sound.then_some(Self { kind, member_bytes, plain_bytes, keys_bytes, keys_crc })
    }

    /// Returns the bytes of the keys, or `None` if they are damaged.
    fn keys<'m>(&self, member: &'m [u8]) -> Option<&'m [u8]> {
        let keys = member.get(HEAD_BYTES..HEAD_BYTES + self.keys_bytes)?;
        (crc32fast::hash(keys) == self.keys_crc).then_some(keys)
    }

    /// Returns a member's text, or `None` if it is damaged.
    fn text(&self, member: &[u8]) -> Option<Vec<u8>> {
        let rest = member.get(HEAD_BYTES + self.keys_bytes..self.member_bytes)?;
        let (deflated, tail) = rest.split_at_checked(rest.len().checked_sub(TAIL_BYTES)?)?;
        let text = inflated(deflated, self.plain_bytes)?;
        (tail_of(&text)? == tail).then_some(text)
    }
}

/// Returns the checksum and length that end a member with this text.
fn tail_of(text: &[u8]) -> Option<[u8; TAIL_BYTES]> {
    let length = u32::try_from(text.len()).ok()?;
    let mut tail = [0; TAIL_BYTES];
    let (crc, bytes) = tail.split_at_mut(4);
    crc.copy_from_slice(&crc32fast::hash(text).to_le_bytes());
    bytes.copy_from_slice(&length.to_le_bytes());
    Some(tail)
}

fn inflated(deflated: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    // Read one byte more, to notice a text that is too long.
    let limited = io::Read::take(DeflateDecoder::new(deflated), bytes as u64 + 1);
    io::Read::read_to_end(&mut { limited }, &mut text).ok()?;
    (text.len() == bytes).then_some(text)
}

fn deflated(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Encodes one member.
fn member(kind: Kind, text: &[u8], keys: &[u8]) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::other("a block is too large for an archive");
    let body = if text.is_empty() { NOTHING.to_vec() } else { deflated(text)? };
    let member_bytes = HEAD_BYTES + keys.len() + body.len() + TAIL_BYTES;
    let mut fields = vec![kind as u8];
    for number in [member_bytes, text.len()] {
        fields.extend_from_slice(&u32::try_from(number).map_err(|_| too_large())?.to_le_bytes());
    }
    fields.extend_from_slice(&crc32fast::hash(keys).to_le_bytes());
    let length = |bytes: usize| u16::try_from(bytes).map_err(|_| too_large()).map(u16::to_le_bytes);
    let mut member = Vec::with_capacity(member_bytes);
    member.extend_from_slice(&MAGIC);
    member.extend_from_slice(&length(FIELDS_BYTES + keys.len() + 4)?);
    member.extend_from_slice(&SUBFIELD);
    member.extend_from_slice(&length(FIELDS_BYTES + keys.len())?);
    member.extend_from_slice(&crc32fast::hash(&fields).to_le_bytes());
    member.extend_from_slice(&fields);
    member.extend_from_slice(keys);
    member.extend_from_slice(&body);
    member.extend_from_slice(&tail_of(text).ok_or_else(too_large)?);
    Ok(member)
}

/// Returns the history keys of an entry's line, or the error if the line cannot be read.
type Keys<'k> = &'k dyn Fn(&[u8]) -> io::Result<Vec<String>>;

/// Encodes a segment and passes the archive to `write` piece by piece. `last` is the checksum of
/// the last line.
pub(super) fn encode(
    plain: &[u8],
    last: Crc,
    keys: Keys<'_>,
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut start = 0;
    let mut names: Vec<String> = Vec::new();
    for line in segment::lines(plain) {
        let offset = usize::try_from(line.offset).map_err(io::Error::other)?;
        let end = offset + line.bytes.len() + 1;
        if line.number > 1 {
            names.extend(keys(line.bytes)?);
        }
        if line.number > 1 && end - start < ARCHIVE_BLOCK_BYTES && end < plain.len() {
            continue;
        }
        let named = deflated(names.join("\n").as_bytes())?;
        let text = plain.get(start..end).unwrap_or_default();
        write(&if named.len() <= ARCHIVE_KEYS_BYTES_MAX {
            member(Kind::Keyed, text, &named)?
        } else {
            member(Kind::Unkeyed, text, &[])?
        })?;
        (start, names) = (end, Vec::new());
    }
    let mut end = (plain.len() as u64).to_le_bytes().to_vec();
    end.extend_from_slice(&last.0.to_le_bytes());
    write(&member(Kind::End, &[], &end)?)
}

/// Decodes an archive. A damaged member becomes one line of the same length that matches no
/// checksum, so the lines after it keep their offsets. If even the length is unknown, the line is
/// shorter.
pub(super) fn decode(archive: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = archive;
    while !rest.is_empty() {
        match Head::read(rest) {
            Some(Head { kind: Kind::End, .. }) => break,
            Some(head) => {
                match head.text(rest) {
                    Some(text) => plain.extend_from_slice(&text),
                    None => push_damaged(&mut plain, head.plain_bytes),
                }
                rest = rest.get(head.member_bytes..).unwrap_or_default();
            }
            None => {
                push_damaged(&mut plain, 0);
                let next = memchr::memmem::find_iter(rest, &MAGIC).find(|at| {
                    *at > 0 && rest.get(*at..).is_some_and(|it| Head::read(it).is_some())
                });
                rest = next.and_then(|at| rest.get(at..)).unwrap_or_default();
            }
        }
    }
    plain
}

fn push_damaged(plain: &mut Vec<u8>, bytes: usize) {
    const DAMAGED: &[u8] = b"a damaged block of the archive";
    plain.extend_from_slice(DAMAGED);
    plain.resize(plain.len() + bytes.saturating_sub(DAMAGED.len() + 1), b' ');
    plain.push(b'\n');
}

/// Whether the history keys of an archive are undamaged.
pub(super) fn has_sound_keys(archive: &[u8]) -> bool {
    let mut rest = archive;
    while let Some(head) = Head::read(rest) {
        if head.keys(rest).is_none() {
            return false;
        }
        rest = rest.get(head.member_bytes..).unwrap_or_default();
    }
    rest.is_empty()
}

/// Whether an archive holds every byte and every key of a segment. `last` is the checksum of the
/// segment's last line. Reads one block at a time.
pub(super) fn is_of(disk: &dyn Disk, path: &Path, segment: &[u8], last: Crc) -> io::Result<bool> {
    let length = disk.length(path)?;
    let (mut at, mut rest) = (0, segment);
    loop {
        let start = disk.read_at(path, at, HEAD_BYTES)?;
        let Some(head) = Head::read(&start) else { return Ok(false) };
        if head.kind == Kind::End {
            break;
        }
        let member = disk.read_at(path, at, head.member_bytes)?;
        let text = head.keys(&member).and_then(|_| head.text(&member));
        let Some(after) = text.and_then(|text| rest.strip_prefix(text.as_slice())) else {
            return Ok(false);
        };
        rest = after;
        at += head.member_bytes as u64;
    }
    let end = End { plain_bytes: segment.len() as u64, last };
    let is_end = at + END_BYTES as u64 == length;
    Ok(rest.is_empty() && is_end && read_end(disk, path, length)? == Some(end))
}

/// Reads the last member of an archive of this length. Returns `None` if it is damaged.
pub(super) fn read_end(disk: &dyn Disk, path: &Path, length: u64) -> io::Result<Option<End>> {
    let start = length.saturating_sub(END_BYTES as u64);
    let member = disk.read_at(path, start, END_BYTES)?;
    let head = Head::read(&member).filter(|head| {
        head.kind == Kind::End && head.text(&member).is_some_and(|text| text.is_empty())
    });
    let fields = head.and_then(|head| head.keys(&member)).and_then(|it| it.split_at_checked(8));
    Ok(fields.and_then(|(plain_bytes, last)| {
        let plain_bytes = u64::from_le_bytes(plain_bytes.try_into().ok()?);
        let last = Crc(u32::from_le_bytes(last.try_into().ok()?));
        Some(End { plain_bytes, last })
    }))
}

/// A block of an archive, located by its header.
#[derive(Clone, Copy)]
pub(super) struct Block<'d> {
    disk: &'d dyn Disk,
    path: &'d Path,
    head: Head,
    /// Offset of the member in the archive.
    at: u64,
    /// Offset of its text in the segment.
    pub(super) offset: u64,
}

impl Block<'_> {
    /// Returns the size of its text.
    pub(super) fn plain_bytes(&self) -> u64 {
        self.head.plain_bytes as u64
    }

    /// Whether an entry in it may have this history key.
    pub(super) fn may_have(&self, key: &str) -> io::Result<bool> {
        if self.head.kind != Kind::Keyed {
            return Ok(true);
        }
        let start = self.disk.read_at(self.path, self.at, HEAD_BYTES + self.head.keys_bytes)?;
        let keys = self.head.keys(&start).ok_or_else(damaged)?;
        let mut names = String::new();
        io::Read::read_to_string(&mut DeflateDecoder::new(keys), &mut names)?;
        Ok(names.split('\n').any(|name| name == key))
    }

    /// Reads its text.
    pub(super) fn text(&self) -> io::Result<Vec<u8>> {
        let member = self.disk.read_at(self.path, self.at, self.head.member_bytes)?;
        self.head.text(&member).ok_or_else(damaged)
    }
}

/// Returns the blocks of an archive, in order.
pub(super) fn blocks<'d>(disk: &'d dyn Disk, path: &'d Path) -> io::Result<Vec<Block<'d>>> {
    let (mut blocks, mut at, mut offset) = (Vec::new(), 0, 0);
    loop {
        let start = disk.read_at(path, at, HEAD_BYTES)?;
        let head = Head::read(&start).ok_or_else(damaged)?;
        if head.kind == Kind::End {
            return Ok(blocks);
        }
        let block = Block { disk, path, head, at, offset };
        blocks.push(block);
        at += head.member_bytes as u64;
        offset += block.plain_bytes();
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a block of the archive is damaged")
}

/// Visits the blocks of an archive in order, until `visit` returns `Some`.
pub(super) fn find_block<T>(
    disk: &dyn Disk,
    path: &Path,
    visit: &mut dyn FnMut(&Block<'_>) -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let (mut at, mut offset) = (0, 0);
    loop {
        let start = disk.read_at(path, at, HEAD_BYTES)?;
        let head = Head::read(&start).ok_or_else(damaged)?;
        if head.kind == Kind::End {
            return Ok(None);
        }
        let block = Block { disk, path, head, at, offset };
        if let Some(found) = visit(&block)? {
            return Ok(Some(found));
        }
        at += head.member_bytes as u64;
        offset += block.plain_bytes();
    }
}

/// Reads bytes of the segment, all of which must be in one block.
pub(super) fn read_at(
    disk: &dyn Disk,
    path: &Path,
    offset: u64,
    bytes: usize,
) -> io::Result<Vec<u8>> {
    let found = find_block(disk, path, &mut |block| {
        if offset >= block.offset + block.plain_bytes() {
            return Ok(None);
        }
        let text = block.text()?;
        let start = usize::try_from(offset - block.offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes).min(text.len());
        Ok(Some(text.get(start..end).unwrap_or_default().to_vec()))
    })?;
    Ok(found.unwrap_or_default())
}

/// Reads the header line from the first bytes of an archive.
pub(super) fn header_line(start: &[u8]) -> Option<Vec<u8>> {
    let mut line = Head::read(start)?.text(start)?;
    (line.pop() == Some(b'\n')).then_some(line)
}

#[cfg(test)]
mod tests;
