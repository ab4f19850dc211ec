//! The operating system's disk reports failed syncs. A test cannot see whether a sync reached the
//! disk. So these tests sync files that the kernel refuses to sync: a pipe, and a directory of
//! `/proc`.

use super::*;

#[test]
fn sync_data_asks_the_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    // Open both ends, so that opening one does not wait for the other.
    let _reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut pipe = RealDisk.open_append(&path).unwrap();
    assert_eq!(pipe.sync_data().unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let mut file = RealDisk.create(&dir.path().join("file")).unwrap();
    file.sync_data().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn sync_dir_asks_the_kernel() {
    let refused = RealDisk.sync_dir(Path::new("/proc/self")).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    RealDisk.sync_dir(tempfile::tempdir().unwrap().path()).unwrap();
}
