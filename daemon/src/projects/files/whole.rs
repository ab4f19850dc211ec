//! Files of anchord's own in a project, by path. They are read whole. They are written or removed
//! only if they still have the bytes that the caller last saw.
//!
//! An edit between the look and the write is in the displaced file. It is then put back.

use std::path::Path;

use super::ProjectFiles;
use super::mirror::{
    FileDigest, FileRead, FileStamp, Listed, MirrorDir, MirrorError, MissingDirectory,
    displaced_name,
};
use crate::limits::PROJECT_FILE_BYTES_MAX;

impl ProjectFiles {
    /// Lists a directory, at most `entries_max` entries. Returns `None` if there is none.
    pub fn list(
        &self,
        directory: &Path,
        entries_max: usize,
    ) -> Result<Option<Vec<(String, Listed)>>, MirrorError> {
        let opened = self.mirror_dir(directory, MissingDirectory::Leave)?;
        opened.map(|dir| dir.list(entries_max)).transpose()
    }

    /// Reads a file of at most `bytes_max` bytes. Returns `None` if there is none.
    pub fn read_whole(&self, file: &Path, bytes_max: u64) -> Result<Option<FileRead>, MirrorError> {
        let Some((dir, name)) = self.parent(file, MissingDirectory::Leave)? else {
            return Ok(None);
        };
        dir.read(name, bytes_max)
    }

    /// Writes a file so that readers see the old or the new bytes. Replaces only a file that has
    /// `expected`, or creates one if that is `None`. Directories are created as needed.
    pub fn write_whole(
        &self,
        file: &Path,
        bytes: &[u8],
        expected: Option<&FileDigest>,
    ) -> Result<FileStamp, MirrorError> {
        let Some((dir, name)) = self.parent(file, MissingDirectory::Create)? else {
            return Err(MirrorError::Changed(file.display().to_string()));
        };
        let new = FileDigest::of(bytes);
        clear_displaced(&dir, name, &[Some(&new), expected])?;
        check(&dir, name, expected)?;
        place(&dir, name, bytes, expected)
    }

    /// Removes a file that has `expected`. Returns whether there was one.
    pub fn remove_whole(&self, file: &Path, expected: &FileDigest) -> Result<bool, MirrorError> {
        let Some((dir, name)) = self.parent(file, MissingDirectory::Leave)? else {
            return Ok(false);
        };
        clear_displaced(&dir, name, &[Some(expected)])?;
        if dir.stamp(name)?.is_none() {
            return Ok(false);
        }
        check(&dir, name, Some(expected))?;
        take_away(&dir, name, expected)
    }

    /// Opens the directory of a file, and returns it with the file's name.
    fn parent<'f>(
        &self,
        file: &'f Path,
        missing: MissingDirectory,
    ) -> Result<Option<(MirrorDir, &'f str)>, MirrorError> {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| MirrorError::NotPlain(file.display().to_string()))?;
        let dir = self.mirror_dir(file.parent().unwrap_or(Path::new("")), missing)?;
        Ok(dir.map(|dir| (dir, name)))
    }
}

/// Replaces a file that had `expected` a moment ago. If it no longer had, undoes that.
fn place(
    dir: &MirrorDir,
    name: &str,
    bytes: &[u8],
    expected: Option<&FileDigest>,
) -> Result<FileStamp, MirrorError> {
    let new = FileDigest::of(bytes);
    let stamp = dir.replace(name, bytes)?;
    let displaced = digest(dir.displaced(name, PROJECT_FILE_BYTES_MAX));
    match displaced {
        Ok(displaced) if displaced.as_ref() == expected => {
            dir.drop_displaced(name)?;
            return Ok(stamp);
        }
        // It was deleted meanwhile.
        Ok(None) => dir.displace(name)?,
        _ => dir.swap_back(name)?,
    }
    put_back(dir, name, &new)?;
    displaced.and(Err(changed(dir, name)))
}

/// Removes a file that had `expected` a moment ago. If it no longer had, undoes that.
fn take_away(dir: &MirrorDir, name: &str, expected: &FileDigest) -> Result<bool, MirrorError> {
    dir.displace(name)?;
    match digest(dir.displaced(name, PROJECT_FILE_BYTES_MAX)) {
        Ok(None) => Ok(false),
        Ok(Some(displaced)) if displaced == *expected => {
            dir.drop_displaced(name)?;
            Ok(true)
        }
        displaced => {
            dir.swap_back(name)?;
            displaced.and(Err(changed(dir, name)))
        }
    }
}

/// Drops a file with the digest `new` that was displaced in turn. If that was edited as well, the
/// later edit gets the name, and the earlier one stays displaced.
fn put_back(dir: &MirrorDir, name: &str, new: &FileDigest) -> Result<(), MirrorError> {
    match digest(dir.displaced(name, PROJECT_FILE_BYTES_MAX))? {
        None => Ok(()),
        Some(displaced) if displaced == *new => dir.drop_displaced(name),
        Some(_) => {
            dir.swap_back(name)?;
            Err(changed(dir, &displaced_name(name)))
        }
    }
}

/// Drops a displaced file that a crash left, if it is known. Anything else is a person's.
fn clear_displaced(
    dir: &MirrorDir,
    name: &str,
    known: &[Option<&FileDigest>],
) -> Result<(), MirrorError> {
    match digest(dir.displaced(name, PROJECT_FILE_BYTES_MAX))? {
        None => Ok(()),
        Some(displaced) if known.contains(&Some(&displaced)) => dir.drop_displaced(name),
        Some(_) => Err(changed(dir, &displaced_name(name))),
    }
}

fn check(dir: &MirrorDir, name: &str, expected: Option<&FileDigest>) -> Result<(), MirrorError> {
    let now = digest(dir.read(name, PROJECT_FILE_BYTES_MAX))?;
    if now.as_ref() == expected { Ok(()) } else { Err(changed(dir, name)) }
}

fn digest(read: Result<Option<FileRead>, MirrorError>) -> Result<Option<FileDigest>, MirrorError> {
    Ok(read?.map(|read| FileDigest::of(&read.bytes)))
}

fn changed(dir: &MirrorDir, name: &str) -> MirrorError {
    MirrorError::Changed(dir.path_of(name))
}

#[cfg(test)]
mod tests;
