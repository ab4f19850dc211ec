//! Tests of files that anchord writes into a project.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn project() -> (tempfile::TempDir, ProjectFiles) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    (dir, ProjectFiles::open(&root).unwrap())
}

const FILE: &str = ".anchord/memory/note/a.md";

#[test]
fn a_file_is_written_read_replaced_and_removed() {
    let (dir, files) = project();
    let path = Path::new(FILE);
    assert_eq!(files.read_whole(path, 10).unwrap(), None);
    assert_eq!(files.list(Path::new(".anchord/memory"), 10).unwrap(), None);
    let stamp = files.write_whole(path, b"one", None).unwrap();
    let read = files.read_whole(path, 10).unwrap().unwrap();
    assert_eq!((read.bytes.as_slice(), read.stamp), (b"one".as_slice(), stamp));
    let listed = files.list(Path::new(".anchord/memory/note"), 10).unwrap().unwrap();
    assert_eq!(listed, [("a.md".to_owned(), Listed::File(stamp))]);
    let one = FileDigest::of(b"one");
    files.write_whole(path, b"two", Some(&one)).unwrap();
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), b"two");
    assert!(files.remove_whole(path, &FileDigest::of(b"two")).unwrap());
    assert!(!files.remove_whole(path, &one).unwrap());
    let left = fs::read_dir(dir.path().join(".anchord/memory/note")).unwrap().count();
    assert_eq!(left, 0, "no temporary file is left");
}

#[test]
fn an_edit_meanwhile_is_never_overwritten_or_removed() {
    let (dir, files) = project();
    let path = Path::new(FILE);
    files.write_whole(path, b"one", None).unwrap();
    fs::write(dir.path().join(FILE), "edited").unwrap();
    let one = FileDigest::of(b"one");
    let changed = |error| assert!(matches!(error, MirrorError::Changed(_)), "{error}");
    changed(files.write_whole(path, b"two", Some(&one)).unwrap_err());
    changed(files.write_whole(path, b"two", None).unwrap_err());
    changed(files.remove_whole(path, &one).unwrap_err());
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), b"edited");
    fs::remove_file(dir.path().join(FILE)).unwrap();
    assert!(files.write_whole(path, b"two", Some(&one)).is_err(), "it was removed on purpose");
}

#[test]
fn no_link_is_followed_and_git_is_not_entered() {
    let (dir, files) = project();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), dir.path().join(".anchord")).unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    for path in [FILE, ".git/a.md", ".GIT/a.md", "../a.md", "/tmp/a.md"] {
        let error = files.write_whole(Path::new(path), b"x", None).unwrap_err();
        assert!(matches!(error, MirrorError::NotPlain(_)), "{path}: {error}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    fs::remove_file(dir.path().join(".anchord")).unwrap();
    files.write_whole(Path::new(FILE), b"x", None).unwrap();
    fs::write(outside.path().join("secret"), "s").unwrap();
    let link = dir.path().join(".anchord/memory/note/b.md");
    symlink(outside.path().join("secret"), &link).unwrap();
    let path = Path::new(".anchord/memory/note/b.md");
    assert!(matches!(files.read_whole(path, 10), Err(MirrorError::NotPlain(_))));
    let listed = files.list(Path::new(".anchord/memory/note"), 10).unwrap().unwrap();
    assert!(listed.contains(&("b.md".to_owned(), Listed::Other)));
}

#[test]
fn sizes_and_numbers_are_bounded() {
    let (_dir, files) = project();
    for name in ["a", "b", "c"] {
        let path = format!(".anchord/memory/note/{name}.md");
        files.write_whole(Path::new(&path), b"12345678", None).unwrap();
    }
    let too_large = files.read_whole(Path::new(FILE), 7);
    assert!(matches!(too_large, Err(MirrorError::TooLarge { .. })));
    let too_many = files.list(Path::new(".anchord/memory/note"), 2);
    assert!(matches!(too_many, Err(MirrorError::TooLarge { .. })));
}

#[test]
fn new_files_are_as_readable_as_the_project() {
    let (dir, files) = project();
    for (root, file) in [(0o755, 0o644), (0o700, 0o600)] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(root)).unwrap();
        let path = format!("made-{root:o}/a.md");
        files.write_whole(Path::new(&path), b"x", None).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir.path().join(&path)), file);
        assert_eq!(mode(dir.path().join(&path).parent().unwrap()), root);
    }
}
