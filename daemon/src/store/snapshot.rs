//! Snapshots: the state and the reply ledger at the start of a segment. With one, a rebuild reads a
//! single file and the entries after it.
//!
//! A snapshot is written under a temporary name, synced and renamed. It is used only if it belongs
//! to the entry that its segment follows. The count and checksum in its last line must also be
//! right. Otherwise the one before it is used, or the whole journal. So a bad snapshot costs only
//! time.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anchord_memory::{Revision, Seq};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::disk::Disk;
use super::format::{self, Crc, FORMAT, SnapshotHeaderV1, SnapshotRowV1, SnapshotTrailerV1};
use super::limits::SNAPSHOTS_KEPT_MAX;
use super::segment::{self, file_name};
use super::{Row, StoreError};

/// The machine, journal and entry that a snapshot belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub(crate) machine: &'static str,
    pub(crate) journal: Uuid,
    pub(crate) epoch: u32,
    /// The segment that follows it.
    pub(crate) segment: u32,
    pub(crate) seq: Seq,
    pub(crate) line: Crc,
}

/// Returns the existing snapshots, oldest first, each by the number of the segment that follows it.
pub(crate) fn list(disk: &dyn Disk, dir: &Path) -> Result<Vec<u32>, StoreError> {
    let names = disk.list(dir).map_err(StoreError::io("list", dir))?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| segment::number_of(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns the size of all snapshots.
pub(crate) fn bytes(disk: &dyn Disk, dir: &Path) -> u64 {
    let numbers = list(disk, dir).unwrap_or_default();
    numbers.iter().filter_map(|number| disk.length(&dir.join(file_name(*number))).ok()).sum()
}

/// Writes a snapshot durably. Removes an incomplete one, which would take up space that the journal
/// needs.
pub(crate) fn write(
    disk: &dyn Disk,
    dir: &Path,
    segment: u32,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let path = dir.join(file_name(segment));
    let temporary = path.with_extension("tmp");
    disk.create_dir(dir).map_err(StoreError::io("create", dir))?;
    if let Err(error) = write_as(disk, &temporary, &path, bytes) {
        if let Err(left) = disk.remove(&temporary) {
            tracing::warn!(path = %temporary.display(), error = %left, "cannot remove an unfinished snapshot");
        }
        return Err(error);
    }
    disk.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
    tidy(disk, dir)
}

fn write_as(
    disk: &dyn Disk,
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let mut file = disk.create(temporary).map_err(StoreError::io("create", temporary))?;
    file.write_all(bytes).map_err(StoreError::io("write", temporary))?;
    file.sync_data().map_err(StoreError::io("sync", temporary))?;
    disk.rename(temporary, path).map_err(StoreError::io("rename", temporary))
}

/// Removes all snapshots, including unfinished ones.
pub(crate) fn remove_all(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    let names = disk.list(dir).map_err(StoreError::io("list", dir))?;
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        let path = dir.join(name);
        disk.remove(&path).map_err(StoreError::io("remove", &path))?;
    }
    disk.sync_dir(dir).map_err(StoreError::io("sync", dir))
}

/// Removes surplus and unfinished snapshots.
pub(crate) fn tidy(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    let names = disk.list(dir).map_err(StoreError::io("list", dir))?;
    let unfinished = names.into_iter().filter(|name| segment::is_temporary(name));
    let numbers = list(disk, dir)?;
    let surplus = numbers.len().saturating_sub(SNAPSHOTS_KEPT_MAX);
    for name in numbers.into_iter().take(surplus).map(file_name).chain(unfinished) {
        let old = dir.join(name);
        disk.remove(&old).map_err(StoreError::io("remove", &old))?;
    }
    Ok(())
}

/// Reads the rows of the snapshot before a segment. The error says why it is unusable.
pub(crate) fn read(
    disk: &dyn Disk,
    dir: &Path,
    place: &SnapshotHeader,
) -> Result<Vec<Row>, String> {
    let read = read_any(disk, dir, place.segment, place.machine);
    let (of, rows) = read.map_err(|error| error.to_string())??;
    if of != *place {
        return Err("it is not of the entry that its segment follows".to_owned());
    }
    Ok(rows)
}

/// Reads the snapshot before a segment, of any journal. The inner `Err` says why it is unusable.
pub(crate) fn read_any(
    disk: &dyn Disk,
    dir: &Path,
    segment: u32,
    machine: &'static str,
) -> Result<Result<(SnapshotHeader, Vec<Row>), String>, StoreError> {
    let path: PathBuf = dir.join(file_name(segment));
    let bytes = disk.read(&path).map_err(StoreError::io("read", &path))?;
    Ok(parse(&bytes, segment, machine))
}

fn parse(
    bytes: &[u8],
    segment: u32,
    machine: &'static str,
) -> Result<(SnapshotHeader, Vec<Row>), String> {
    let mut lines: Vec<segment::Line<'_>> = segment::lines(bytes).collect();
    let last = lines.pop().ok_or("it is empty")?;
    let trailer: SnapshotTrailerV1 = read_sealed(last.bytes)?;
    let body = usize::try_from(last.offset).ok().and_then(|end| bytes.get(..end));
    if Crc(crc32fast::hash(body.unwrap_or_default())) != trailer.body {
        return Err("its checksum is wrong".to_owned());
    }
    let mut lines = lines.into_iter();
    let first = lines.next().ok_or("it has no header")?;
    let header: SnapshotHeaderV1 = read_sealed(first.bytes)?;
    if header.format > FORMAT || header.machine != machine || header.segment != segment {
        return Err("it is of another kind".to_owned());
    }
    let rows: Vec<Row> = lines
        .map(|line| {
            let row: SnapshotRowV1<'_> =
                format::read_line(line.bytes).map_err(|fault| fault.to_string())?;
            let value = Some(row.value.get().to_owned());
            Ok(Row { key: row.key.into_owned(), value })
        })
        .collect::<Result<_, String>>()?;
    if rows.len() as u64 != trailer.rows {
        return Err(format!("it has {} rows of {}", rows.len(), trailer.rows));
    }
    let SnapshotHeaderV1 { journal, epoch, seq, line, .. } = header;
    Ok((SnapshotHeader { machine, journal, epoch, segment, seq, line }, rows))
}

/// Returns the text of a snapshot.
pub(crate) fn encode(
    place: &SnapshotHeader,
    revision: Revision,
    rows: impl Iterator<Item = Row>,
) -> Result<Vec<u8>, serde_json::Error> {
    let header = SnapshotHeaderV1 {
        format: FORMAT,
        build: env!("CARGO_PKG_VERSION").into(),
        machine: place.machine.into(),
        journal: place.journal,
        epoch: place.epoch,
        segment: place.segment,
        seq: place.seq,
        line: place.line,
        revision,
    };
    let mut bytes = Vec::new();
    format::write_line(&header, &mut bytes);
    let mut count = 0;
    for row in rows {
        let Some(value) = &row.value else { continue };
        let value: &RawValue = serde_json::from_str(value)?;
        serde_json::to_writer(&mut bytes, &SnapshotRowV1 { key: Cow::Borrowed(&row.key), value })?;
        bytes.push(b'\n');
        count += 1;
    }
    let body = Crc(crc32fast::hash(&bytes));
    format::write_line(&SnapshotTrailerV1 { rows: count, body }, &mut bytes);
    Ok(bytes)
}

fn read_sealed<'a, T: serde::Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    format::check_line(line).map_err(|fault| fault.to_string())?;
    format::read_line(line).map_err(|fault| fault.to_string())
}
