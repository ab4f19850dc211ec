//! The disk operations that the journal and the snapshots need. Tests substitute a failing disk.
//!
//! Nothing is durable until it is synced: bytes by [`DiskFile::sync_data`], names by
//! [`Disk::sync_dir`].

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::StoreError;

/// A disk.
pub trait Disk: Send + Sync + Debug {
    /// Creates a directory and its parents, durably. An existing one is fine.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Returns the names in a directory, in no order; none if the directory does not exist.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Creates an empty file, replacing any existing one.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file for appending.
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Reads at most `bytes_max` bytes from `offset` on.
    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>>;
    /// Returns a file's length in bytes.
    fn length(&self, path: &Path) -> io::Result<u64>;
    /// Renames a file within one directory, replacing any existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Returns the free bytes of the disk that holds `dir`.
    fn free_space(&self, dir: &Path) -> io::Result<u64>;
}

/// Fails if a write of `bytes` bytes below `dir` would not leave `reserve_bytes` free.
pub(super) fn check_space(
    disk: &dyn Disk,
    dir: &Path,
    bytes: u64,
    reserve_bytes: u64,
) -> Result<(), StoreError> {
    let needed_bytes = bytes.saturating_add(reserve_bytes);
    let free_bytes = disk.free_space(dir).map_err(StoreError::io("ask for space in", dir))?;
    if free_bytes < needed_bytes {
        return Err(StoreError::NoSpace { path: dir.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}

/// A file that is only written at its end.
pub trait DiskFile: Send + Debug {
    /// Appends bytes. After an error any part may have been written.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes all written bytes and the length durable.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Cuts the file to this many bytes. Not durable until synced.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Whether a path still leads to this file. It may have been removed or replaced meanwhile.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// The operating system's disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        if dir.is_dir() {
            return Ok(());
        }
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.create_dir(parent)?;
        }
        match fs::DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        match dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.sync_dir(parent),
            _ => Ok(()),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not valid text is not one of ours.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        // Open for appending, because after a truncation the next write belongs at the new end.
        let emptied =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        drop(emptied);
        self.open_append(path)
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().append(true).open(path)?))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        let space = rustix::fs::statvfs(dir)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }
}

impl DiskFile for File {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(self, bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let own = self.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => {
                Ok(own.nlink() > 0 && (own.dev(), own.ino()) == (there.dev(), there.ino()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
