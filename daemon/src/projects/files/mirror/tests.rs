//! Files that the daemon writes and people edit.

use std::fs;
use std::os::unix::fs::symlink;

use std::io::Write as _;

use super::*;

fn dir(root: &Path) -> MirrorDir {
    let files = ProjectFiles::open(root).unwrap();
    files.mirror_dir(Path::new(".anchord/topics"), MissingDirectory::Create).unwrap().unwrap()
}

#[test]
fn what_a_replacement_displaces_is_kept_until_it_was_seen() {
    let root = tempfile::tempdir().unwrap();
    let dir = dir(root.path());
    let path = root.path().join(".anchord/topics/a.md");
    let stamp = dir.replace("a.md", b"one").unwrap();
    assert_eq!(dir.stamp("a.md").unwrap(), Some(stamp));
    assert_eq!(dir.displaced("a.md", 100).unwrap(), None);
    fs::write(&path, "edited").unwrap();
    assert_ne!(dir.stamp("a.md").unwrap(), Some(stamp));
    dir.replace("a.md", b"two").unwrap();
    assert_eq!(dir.displaced("a.md", 100).unwrap().unwrap().bytes, b"edited");
    assert!(dir.replace("a.md", b"three").is_err(), "what was displaced is not overwritten");
    dir.drop_displaced("a.md").unwrap();
    dir.replace("a.md", b"three").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three");
    let listed = dir.list(10).unwrap();
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [".a.md.old~", "a.md"]);
}

#[test]
fn a_writer_that_has_the_file_open_writes_into_what_was_displaced() {
    let root = tempfile::tempdir().unwrap();
    let dir = dir(root.path());
    dir.replace("a.md", b"one\n").unwrap();
    let path = root.path().join(".anchord/topics/a.md");
    let mut editor = fs::OpenOptions::new().append(true).open(path).unwrap();
    dir.replace("a.md", b"two\n").unwrap();
    editor.write_all(b"edited\n").unwrap();
    assert_eq!(dir.displaced("a.md", 100).unwrap().unwrap().bytes, b"one\nedited\n");
}

#[test]
fn links_are_not_followed_and_git_is_not_entered() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.md"), "theirs").unwrap();
    let files = ProjectFiles::open(root.path()).unwrap();
    assert!(files.mirror_dir(Path::new(".git/topics"), MissingDirectory::Create).is_err());
    assert!(files.mirror_dir(Path::new("../topics"), MissingDirectory::Create).is_err());
    assert!(files.mirror_dir(Path::new("none"), MissingDirectory::Leave).unwrap().is_none());
    symlink(outside.path(), root.path().join("linked")).unwrap();
    assert!(files.mirror_dir(Path::new("linked"), MissingDirectory::Create).is_err());
    let dir = dir(root.path());
    symlink(outside.path().join("a.md"), root.path().join(".anchord/topics/a.md")).unwrap();
    assert!(dir.read("a.md", 100).is_err());
    dir.replace("a.md", b"ours").unwrap();
    assert_eq!(fs::read(outside.path().join("a.md")).unwrap(), b"theirs");
    assert_eq!(dir.read("a.md", 100).unwrap().unwrap().bytes, b"ours");
}
