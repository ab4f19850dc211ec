//! Files that only we can read, written as a whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Writes a file whole or not at all, with mode 0600. It is on disk afterwards. Only one caller may
/// write a file at a time: they share the name of its new content, with the extension `new`.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    sync_parent(path)
}

/// Removes a file if it is there. It stays removed after a crash.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_parent(path),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_and_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.json");
        replace(&path, b"a longer text").unwrap();
        replace(&path, b"short").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"short");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn new_content_goes_through_no_link() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, other) = (scratch.path().join("a.json"), scratch.path().join("other"));
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, path.with_extension("new")).unwrap();
        assert!(replace(&path, b"new").is_err());
        assert_eq!(fs::read(&other).unwrap(), b"kept");
    }
}
