//! Files that a project shows, and those that it does not.

use std::os::unix::fs::symlink;

use super::super::super::layouts::Scratch;
use super::*;

fn look(root: &Path, path: &str) -> Result<Visible<String>, FileRefusal> {
    let files = ProjectFiles::open(root).unwrap();
    files.visible(Path::new(path), None, |path, file| {
        format!("{} {}", path.display(), file.bytes.len())
    })
}

fn text(root: &Path, path: &str) -> (String, String) {
    match look(root, path).unwrap() {
        Visible::File(path, file) => {
            (path.display().to_string(), String::from_utf8(file.bytes).unwrap())
        }
        Visible::Directory(..) => panic!("{path} is a directory"),
    }
}

#[test]
fn a_file_is_read_with_its_resolved_path() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("project/src/a.rs", "inside");
    symlink("src", root.join("link")).unwrap();
    assert_eq!(text(&root, "link/../link/a.rs"), ("src/a.rs".to_owned(), "inside".to_owned()));
}

#[test]
fn what_git_ignores_is_refused_also_through_a_link_and_within_a_directory() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("project/.gitignore", "*.log\nbuild/\n!kept.log\n");
    scratch.file("project/a.log", "ignored");
    scratch.file("project/kept.log", "shown");
    scratch.file("project/build/deep/a.rs", "ignored");
    scratch.file("project/sub/.gitignore", "own.txt\n");
    scratch.file("project/sub/own.txt", "ignored");
    symlink("a.log", root.join("plain.txt")).unwrap();
    for path in ["a.log", "build/deep/a.rs", "build", "sub/own.txt", "plain.txt"] {
        let error = look(&root, path).unwrap_err();
        assert!(matches!(error, FileRefusal::Ignored(_)), "{path}: {error:?}");
    }
    assert_eq!(text(&root, "kept.log").1, "shown");
}

#[test]
fn the_ignore_files_of_the_repository_apply_to_a_part_of_it() {
    let scratch = Scratch::new();
    let (repository, part) = (scratch.dir("repo"), scratch.dir("repo/part"));
    scratch.file("repo/.gitignore", "*.gen\n");
    scratch.file("repo/part/a.gen", "ignored");
    let files = ProjectFiles::open(&part).unwrap();
    let seen = files.visible(Path::new("a.gen"), Some(&repository), |_, _| ());
    assert!(matches!(seen, Err(FileRefusal::Ignored(_))));
}

#[test]
fn files_of_secrets_are_refused_by_either_name() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("project/.env", "KEY=1");
    scratch.file("project/plain", "words");
    symlink(".env", root.join("settings")).unwrap();
    symlink("plain", root.join("server.key")).unwrap();
    for path in [".env", "settings", "server.key", "./.env"] {
        let error = look(&root, path).unwrap_err();
        assert!(matches!(error, FileRefusal::Secret(_)), "{path}: {error:?}");
    }
}

#[test]
fn nothing_outside_the_project_or_under_git_is_read() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("outside", "x");
    scratch.file("project/.git/config", "x");
    symlink("../outside", root.join("out")).unwrap();
    for path in ["../outside", "out", "/etc/hosts"] {
        let error = look(&root, path).unwrap_err();
        assert!(matches!(error, FileRefusal::Outside(_)), "{path}: {error:?}");
    }
    assert!(matches!(look(&root, ".git/config"), Err(FileRefusal::UnderGit(_))));
    assert!(matches!(look(&root, "missing"), Err(FileRefusal::Missing(_))));
}

#[test]
fn of_a_file_that_is_too_long_only_the_beginning_is_read() {
    let scratch = Scratch::new();
    let path = scratch.file("big", "");
    File::options().write(true).open(&path).unwrap().set_len(PROJECT_FILE_BYTES_MAX + 1).unwrap();
    let Visible::File(_, file) = look(&scratch.path, "big").unwrap() else { panic!("a file") };
    assert!(!file.is_whole());
    assert_eq!((file.bytes.len() as u64, file.size), (HEAD_BYTES, PROJECT_FILE_BYTES_MAX + 1));
}

#[test]
fn a_directory_is_listed_by_name() {
    let scratch = Scratch::new();
    let root = scratch.dir("project");
    scratch.file("project/.gitignore", "*.log\n");
    for name in ["b.rs", "a.rs", "x.log", ".env", "sub/deep.rs"] {
        scratch.file(&format!("project/{name}"), "12345");
    }
    scratch.dir("project/.git");
    symlink("a.rs", root.join("link")).unwrap();
    let Visible::Directory(path, listing) = look(&root, ".").unwrap() else {
        panic!("a directory")
    };
    assert_eq!(path, Path::new(""));
    assert_eq!((listing.ignored, listing.is_complete), (1, true));
    let file = |text: &str| Entry::File(text.to_owned());
    let expected = [
        (".env", Entry::Secret),
        (".gitignore", file(".gitignore 6")),
        ("a.rs", file("a.rs 5")),
        ("b.rs", file("b.rs 5")),
        ("link", Entry::Link),
        ("sub", Entry::Directory),
    ];
    assert_eq!(listing.entries, expected.map(|(name, entry)| (name.to_owned(), entry)));
}

#[test]
fn a_list_reads_a_limited_number_of_bytes() {
    let scratch = Scratch::new();
    let text = "x".repeat(3 << 20);
    for name in ["a", "b", "c"] {
        scratch.file(&format!("p/{name}"), &text);
    }
    let Visible::Directory(_, listing) = look(&scratch.path, "p").unwrap() else { panic!("it is") };
    assert!(!listing.is_complete);
    assert_eq!(listing.entries[2].1, Entry::Unread(3 << 20));
}
