//! Restoring a store from a backup.

use std::fs::File;
use std::io;
use std::path::Path;

use uuid::Uuid;

use super::backup::{BackupError, of_file, read_backup};
use super::disk::check_space;
use super::rewrite::{self, Output};
use super::{Options, StateMachine, StoreError, format};

/// Makes the entries of a backup the journal of a closed store, which may be new. Keeps the files
/// that are there under other names. The caller holds the daemon's lock.
pub(super) fn restore<M: StateMachine>(
    dir: &Path,
    options: &Options,
    backup: &Path,
) -> Result<(), StoreError> {
    let disk = &*options.disk;
    let (journal_dir, snapshots) = (dir.join("journal"), dir.join("snapshot"));
    let file = File::open(backup).map_err(StoreError::io("read", backup))?;
    disk.create_dir(&journal_dir).map_err(StoreError::io("create", &journal_dir))?;
    let epoch = rewrite::newest_epoch(disk, &journal_dir)? + 1;
    // A journal of its own: no index or snapshot that is left can be taken for one of it.
    let of = (Uuid::new_v4(), epoch);
    let mut output = Output::new(disk, &journal_dir, M::NAME, of, options.segment_bytes_max);
    let mut failed = None;
    let read = read_backup::<M>(file, &mut |entry, line| {
        let crc = format::check_line(line.trim_ascii_end());
        let crc = crc.map_err(|fault| BackupError::Io(io::Error::other(fault.to_string())))?;
        let room = check_space(disk, dir, line.len() as u64, options.reserve_bytes);
        room.and_then(|()| output.line(line, crc, entry.revision)).map_err(|error| {
            let text = error.to_string();
            failed = Some(error);
            BackupError::Io(io::Error::other(text))
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    read.map_err(|error| of_file(backup, error))?;
    output.end()?;
    rewrite::put_in_place(disk, &journal_dir, &snapshots, &*options.index, output.commit())
}
