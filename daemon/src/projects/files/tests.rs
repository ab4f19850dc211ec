//! Tests of the sandbox: which files are read, and which traps are refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, mkfifoat, mknodat};

use super::super::layouts::Scratch;
use super::*;
use crate::limits::{CHANGED_DEPTH_MAX, CHANGED_FILES_MAX};

fn read(files: &ProjectFiles, path: &str) -> Result<Vec<String>, FileRefusal> {
    files.read_lines(Path::new(path), 1, u32::MAX).map(|excerpt| excerpt.lines)
}

fn check_refused(files: &ProjectFiles, path: &str, expected: fn(&FileRefusal) -> bool) {
    let error = read(files, path).unwrap_err();
    assert!(expected(&error), "{path}: {error:?}");
}

#[test]
fn lines_are_numbered_from_one_and_ranges_are_inclusive() {
    let scratch = Scratch::new();
    scratch.file("src/a.rs", "one\ntwo\r\nthree");
    let files = ProjectFiles::open(&scratch.path).unwrap();
    let excerpt = |first, last| files.read_lines(Path::new("./src/a.rs"), first, last).unwrap();
    assert_eq!(excerpt(2, 3).lines, ["two", "three"]);
    assert_eq!(excerpt(0, 1).lines, ["one"]);
    assert_eq!(excerpt(3, 99).lines, ["three"]);
    assert_eq!(excerpt(4, 9).lines, [""; 0]);
    assert_eq!(excerpt(3, 2).lines, [""; 0]);
    assert_eq!(excerpt(1, u32::MAX).total, 3);
}

#[test]
fn an_excerpt_has_the_modification_time_and_tolerates_invalid_utf_8() {
    let scratch = Scratch::new();
    let path = scratch.file("odd", "");
    fs::write(&path, b"caf\xe9\nend").unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_millis(1_234)).unwrap();
    let files = ProjectFiles::open(&scratch.path).unwrap();
    let excerpt = files.read_lines(Path::new("odd"), 1, 9).unwrap();
    assert_eq!(excerpt.lines, ["caf\u{fffd}", "end"]);
    assert_eq!(excerpt.modified, Timestamp(1_234));
}

#[test]
fn links_are_followed_only_inside_the_project() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("project/src/a.rs", "inside");
    scratch.file("secret", "outside");
    scratch.file("project-of-another/a.rs", "outside");
    symlink("../src/a.rs", scratch.dir("project/doc").join("relative")).unwrap();
    symlink(root.join("src"), root.join("absolute")).unwrap();
    symlink("doc/../absolute", root.join("twice")).unwrap();
    let files = ProjectFiles::open(&root).unwrap();
    for path in ["doc/relative", "absolute/a.rs", "twice/a.rs", "src/../src/a.rs"] {
        assert_eq!(read(&files, path).unwrap(), ["inside"], "{path}");
    }

    symlink("../secret", root.join("up")).unwrap();
    symlink(scratch.path.join("secret"), root.join("out")).unwrap();
    symlink("..", root.join("parent")).unwrap();
    symlink("up", root.join("chain")).unwrap();
    symlink(scratch.path.join("project-of-another"), root.join("neighbour")).unwrap();
    let absolute = scratch.path.join("secret").display().to_string();
    for path in [
        "up",
        "out",
        "parent/secret",
        "chain",
        "neighbour/a.rs",
        "../secret",
        "src/../../secret",
        "absolute/../../secret",
        &absolute,
        "/etc/passwd",
    ] {
        check_refused(&files, path, |error| matches!(error, FileRefusal::Outside(_)));
        assert_eq!(files.exists(Path::new(path)), Presence::Unknown, "{path}");
    }
}

#[test]
fn circular_links_are_refused() {
    let scratch = Scratch::new();
    symlink("b", scratch.path.join("a")).unwrap();
    symlink("a", scratch.path.join("b")).unwrap();
    let files = ProjectFiles::open(&scratch.path).unwrap();
    check_refused(&files, "a", |error| matches!(error, FileRefusal::Io { .. }));
    assert_eq!(files.exists(Path::new("a")), Presence::Unknown);
}

#[test]
fn nothing_in_git_directories_is_visible_by_any_path() {
    let scratch = Scratch::new();
    let root = scratch.repository("app");
    scratch.file("app/.git/config", "[credential]");
    scratch.file("app/sub/.git", "gitdir: elsewhere");
    symlink(".git/config", root.join("settings")).unwrap();
    symlink(".git", root.join("g")).unwrap();
    symlink(root.join(".git/config"), root.join("absolute")).unwrap();
    let files = ProjectFiles::open(&root).unwrap();
    for path in [
        ".git/config",
        ".GIT/config",
        "settings",
        "g/config",
        "absolute",
        "sub/.git",
        "sub/../.git/x",
    ] {
        check_refused(&files, path, |error| matches!(error, FileRefusal::UnderGit(_)));
        assert_eq!(files.exists(Path::new(path)), Presence::Unknown, "{path}");
    }
}

#[test]
fn only_regular_files_are_opened() {
    let scratch = Scratch::new();
    scratch.dir("dir");
    mkfifoat(CWD, scratch.path.join("pipe"), Mode::RWXU).unwrap();
    let _socket = UnixListener::bind(scratch.path.join("socket")).unwrap();
    let device = mknodat(
        CWD,
        scratch.path.join("device"),
        FileType::CharacterDevice,
        Mode::RWXU,
        rustix::fs::makedev(1, 5), // zeroes without end
    );
    let mut traps = vec!["dir", "pipe", "socket", "", "."];
    match device {
        Ok(()) => traps.push("device"),
        Err(error) => println!("skipped: no device can be made here ({error})"),
    }
    let files = ProjectFiles::open(&scratch.path).unwrap();
    for path in traps {
        check_refused(&files, path, |error| matches!(error, FileRefusal::NotAFile { .. }));
        assert_eq!(files.exists(Path::new(path)), Presence::Present, "{path}");
    }
}

#[test]
fn a_file_is_read_only_up_to_the_limit() {
    let scratch = Scratch::new();
    let file = File::create(scratch.path.join("large")).unwrap();
    let files = ProjectFiles::open(&scratch.path).unwrap();
    file.set_len(PROJECT_FILE_BYTES_MAX).unwrap();
    assert!(read(&files, "large").is_ok());
    file.set_len(PROJECT_FILE_BYTES_MAX + 1).unwrap();
    check_refused(&files, "large", |error| matches!(error, FileRefusal::TooLarge { .. }));
}

#[test]
fn a_file_counts_as_absent_only_if_that_is_certain() {
    let scratch = Scratch::new();
    scratch.file("src/a.rs", "");
    symlink("nowhere", scratch.path.join("dangling")).unwrap();
    let files = ProjectFiles::open(&scratch.path).unwrap();
    for (path, presence) in [
        ("src/a.rs", Presence::Present),
        ("src", Presence::Present),
        ("src/b.rs", Presence::Absent),
        ("src/a.rs/b", Presence::Absent),
        ("none/b.rs", Presence::Absent),
        ("dangling", Presence::Absent),
    ] {
        assert_eq!(files.exists(Path::new(path)), presence, "{path}");
    }
}

const BEFORE: Timestamp = Timestamp(0);

fn changed(root: &Path, repository: Option<&Path>) -> Changed {
    ProjectFiles::open(root).unwrap().changed_since(BEFORE, repository)
}

#[test]
fn changes_are_listed_as_git_would_see_them() {
    let scratch = Scratch::new();
    let root = scratch.repository("app");
    scratch.file("app/.gitignore", "*.log\n/target/\n!keep.log\n");
    scratch.file("app/src/.gitignore", "gen.rs\n");
    for path in [
        "src/a.rs",
        "src/gen.rs",
        "src/deep/gen.rs",
        "b.log",
        "keep.log",
        "target/out",
        "src/target/in",
        ".hidden",
        ".git/config",
        ".anchord/project-id",
        "nested/.git/HEAD",
        "nested/a.rs",
        "part/.anchord/x",
        "part/a.rs",
    ] {
        scratch.file(&format!("app/{path}"), "");
    }
    symlink("src", root.join("link")).unwrap();
    mkfifoat(CWD, root.join("pipe"), Mode::RWXU).unwrap();
    let expected =
        [".gitignore", ".hidden", "keep.log", "src/.gitignore", "src/a.rs", "src/target/in"];
    let found = changed(&root, None);
    assert_eq!(found.files, expected);
    assert_eq!((found.more, found.complete), (0, true));
}

#[test]
fn only_files_changed_afterwards_are_listed() {
    let scratch = Scratch::new();
    for (name, millis) in [("old", 999), ("same", 1_000), ("new", 1_001)] {
        let file = File::create(scratch.path.join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).unwrap();
    }
    let files = ProjectFiles::open(&scratch.path).unwrap();
    assert_eq!(files.changed_since(Timestamp(1_000), None).files, ["new"]);
}

#[test]
fn changes_beyond_the_limit_are_counted() {
    let scratch = Scratch::new();
    for number in 0..CHANGED_FILES_MAX + 7 {
        scratch.file(&format!("{number:03}"), "");
    }
    let found = changed(&scratch.path, None);
    assert_eq!((found.files.len(), found.more, found.complete), (CHANGED_FILES_MAX, 7, true));
    assert_eq!(found.files.last().unwrap(), "049");
}

#[test]
fn a_part_follows_its_repositorys_ignore_rules_too() {
    let scratch = Scratch::new();
    let root = scratch.repository("mono");
    scratch.file("mono/.gitignore", "node_modules/\n*.tmp\n");
    scratch.file("mono/packages/.gitignore", "!kept.tmp\n");
    for path in ["node_modules/x.js", "a.js", "b.tmp", "kept.tmp"] {
        scratch.file(&format!("mono/packages/api/{path}"), "");
    }
    let part = root.join("packages/api");
    assert_eq!(changed(&part, Some(&root)).files, ["a.js", "kept.tmp"]);
    assert_eq!(changed(&part, None).files.len(), 4);
}

#[test]
fn traps_among_ignore_files_and_names_are_harmless() {
    let scratch = Scratch::new();
    let root = scratch.dir("app");
    scratch.file("outside", "*\n");
    mkfifoat(CWD, root.join(".gitignore"), Mode::RWXU).unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    symlink("../../outside", root.join("sub/.gitignore")).unwrap();
    scratch.file("app/sub/seen", "");
    scratch.file("app/bad/.gitignore", "[\n{a,\nunseen\n");
    scratch.file("app/bad/unseen", "");
    scratch.file("app/two\nlines", "");
    let found = changed(&root, None);
    assert_eq!(found.files, ["bad/.gitignore", "sub/seen", "two\u{fffd}lines"]);
    assert!(found.complete);
}

#[test]
fn a_walk_that_hits_a_limit_is_marked_incomplete() {
    let scratch = Scratch::new();
    let deep = "d/".repeat(CHANGED_DEPTH_MAX + 1);
    scratch.file(&format!("{deep}file"), "");
    let found = changed(&scratch.path, None);
    assert_eq!((found.files.len(), found.complete), (0, false));
}
