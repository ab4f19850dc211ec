//! The backup that a store makes before the first entry in a new format.

use std::io::{self, Write};
use std::path::Path;

use anchord_memory::{Seq, Timestamp};

use super::backup::{BackupError, BackupHeader, BackupWriter, of_file};
use super::disk::{Disk, DiskFile};
use super::format::{self, FORMAT};
use super::journal::Journal;
use super::{StateMachine, StoreError};

/// The prefix of a backup that was made before the journal's format changed.
const BEFORE_FORMAT: &str = "before-format-";

impl Journal {
    /// Writes a backup next to the journal if its next entry would be the first of a new format.
    pub(super) fn back_up_before_migration<M: StateMachine>(
        &self,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let is_older = self.segments.last().is_some_and(|segment| segment.format < FORMAT);
        if !is_older || self.last == Seq(0) || self.read_only.is_some() {
            return Ok(());
        }
        let (disk, dir) = (&*self.disk, directory(&self.dir));
        let path = dir.join(format!("{BEFORE_FORMAT}{FORMAT}.jsonl.gz"));
        let temporary = path.with_extension("tmp");
        let header = BackupHeader::new::<M>(String::new(), String::new(), now);
        let file = disk.create(&temporary).map_err(StoreError::io("create", &temporary))?;
        let written = self.write_all_entries::<M>(OnDisk(file), &header);
        let synced = written.and_then(|mut file| Ok(file.0.sync_data()?));
        let renamed = synced.and_then(|()| Ok(disk.rename(&temporary, &path)?));
        if let Err(error) = renamed {
            // The next attempt replaces a file that stays.
            let _ = disk.remove(&temporary);
            return Err(of_file(&temporary, error));
        }
        disk.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
        tracing::info!(path = %path.display(), "made a backup before the journal's format changes");
        Ok(())
    }

    fn write_all_entries<M: StateMachine>(
        &self,
        file: OnDisk,
        header: &BackupHeader,
    ) -> Result<OnDisk, BackupError> {
        let mut writer = BackupWriter::new(file, header)?;
        let mut line = Vec::new();
        let mut written = Ok(());
        let read = self.replay::<M::Change>(Seq(1), &mut |placed| {
            line.clear();
            format::write_entry(&placed.entry, None, &mut line);
            line.pop();
            written = writer.line(&line);
            written.is_ok()
        });
        read.map_err(|error| BackupError::Io(io::Error::other(error)))?;
        written?;
        writer.finish()
    }
}

/// Removes the backups that were made before a journal's format changed.
pub(super) fn remove_backups(disk: &dyn Disk, journal: &Path) -> Result<(), StoreError> {
    let dir = directory(journal);
    let names = disk.list(dir).map_err(StoreError::io("list", dir))?;
    for name in names.iter().filter(|name| name.starts_with(BEFORE_FORMAT)) {
        let path = dir.join(name);
        disk.remove(&path).map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

/// Returns the store's directory.
fn directory(journal: &Path) -> &Path {
    journal.parent().unwrap_or(journal)
}

/// A file on the store's disk, as a target of writing.
struct OnDisk(Box<dyn DiskFile>);

impl Write for OnDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
