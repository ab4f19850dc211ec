//! Tests of files that anchord writes into a project.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::fs::{CWD, RenameFlags, renameat_with};

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

/// Opens the directory of the file, for what happens between the look and the write.
fn directory(files: &ProjectFiles) -> MirrorDir {
    files.mirror_dir(Path::new(FILE).parent().unwrap(), MissingDirectory::Create).unwrap().unwrap()
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let listed = fs::read_dir(dir.path().join(".anchord/memory/note")).unwrap();
    listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_edit_between_the_look_and_the_write_is_put_back() {
    let (dir, files) = project();
    let (path, one) = (dir.path().join(FILE), FileDigest::of(b"one"));
    let note = directory(&files);
    fs::write(&path, "edited").unwrap();
    let error = place(&note, "a.md", b"two", Some(&one)).unwrap_err();
    assert!(matches!(error, MirrorError::Changed(_)), "{error}");
    assert_eq!((fs::read(&path).unwrap(), names(&dir)), (b"edited".to_vec(), vec!["a.md".into()]));
    assert!(place(&note, "a.md", b"two", None).is_err(), "created meanwhile");
    assert!(take_away(&note, "a.md", &one).is_err());
    assert_eq!((fs::read(&path).unwrap(), names(&dir)), (b"edited".to_vec(), vec!["a.md".into()]));
    fs::remove_file(&path).unwrap();
    assert!(place(&note, "a.md", b"two", Some(&one)).is_err(), "deleted meanwhile");
    assert_eq!(names(&dir), Vec::<String>::new());
    assert!(!take_away(&note, "a.md", &one).unwrap());
}

#[test]
fn a_file_that_a_crash_left_displaced_is_dropped_only_if_it_is_known() {
    let (dir, files) = project();
    let (path, one) = (Path::new(FILE), FileDigest::of(b"one"));
    files.write_whole(path, b"one", None).unwrap();
    directory(&files).replace("a.md", b"two").unwrap();
    files.write_whole(path, b"one", Some(&FileDigest::of(b"two"))).unwrap();
    assert_eq!(names(&dir), ["a.md"]);
    let left = dir.path().join(".anchord/memory/note/.a.md.old~");
    fs::write(&left, "a person's").unwrap();
    let error = files.write_whole(path, b"three", Some(&one)).unwrap_err();
    assert!(error.to_string().contains(".a.md.old~"), "{error}");
    assert!(files.remove_whole(path, &one).is_err());
    assert_eq!(fs::read(&left).unwrap(), b"a person's");
}

#[test]
fn no_edit_is_lost_while_somebody_keeps_replacing_the_file() {
    const EDITS: usize = 300;
    let (dir, files) = project();
    let (path, file) = (Path::new(FILE), dir.path().join(FILE));
    files.write_whole(path, b"ours", None).unwrap();
    let edited = file.clone();
    let editor = std::thread::spawn(move || {
        let replaced = (0..EDITS).map(|edit| {
            let beside = edited.with_file_name("editor");
            fs::write(&beside, format!("edit {edit}")).unwrap();
            // The file is away only for moments.
            while renameat_with(CWD, &beside, CWD, &edited, RenameFlags::EXCHANGE).is_err() {}
            fs::read_to_string(&beside).unwrap()
        });
        replaced.collect::<BTreeSet<String>>()
    });
    let mut seen = BTreeSet::new();
    while !editor.is_finished() {
        let Some(read) = files.read_whole(path, 100).unwrap() else { continue };
        let text = String::from_utf8(read.bytes.clone()).unwrap();
        match files.write_whole(path, b"ours", Some(&FileDigest::of(&read.bytes))) {
            Ok(_) => drop(seen.insert(text)),
            Err(MirrorError::Changed(path)) if path.ends_with(".old~") => {
                let left = dir.path().join(&path);
                seen.insert(fs::read_to_string(&left).unwrap());
                fs::remove_file(&left).unwrap();
            }
            Err(MirrorError::Changed(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    // What the editor replaced is its own doing.
    seen.extend(editor.join().unwrap());
    seen.insert(fs::read_to_string(&file).unwrap());
    let lost = (0..EDITS).map(|edit| format!("edit {edit}")).filter(|edit| !seen.contains(edit));
    assert_eq!(lost.collect::<Vec<_>>(), Vec::<String>::new());
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
