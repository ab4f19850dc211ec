//! Repositories beneath a directory: found, absent, or impossible to tell.

use std::fs;

use super::super::layouts::{Scratch, git_directory};
use super::*;

#[test]
fn repositories_of_every_layout_are_found() {
    for layout in ["plain", "deep", "bare", "file", "dangling"] {
        let scratch = Scratch::new();
        let root = scratch.dir("work");
        scratch.file("work/docs/readme.md", "");
        scratch.repository("beside");
        fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(find_repository(&root), Nested::None, "{layout}");
        let found = match layout {
            "plain" => scratch.repository("work/app"),
            "deep" => scratch.repository("work/a/b/c/d/e/app"),
            "bare" => {
                git_directory(&scratch.dir("work/app.git"));
                root.join("app.git")
            }
            "file" => {
                scratch.file("work/tree/.git", "gitdir: /elsewhere");
                root.join("tree")
            }
            _ => {
                let dir = scratch.dir("work/linked");
                std::os::unix::fs::symlink("/nowhere", dir.join(".git")).unwrap();
                dir
            }
        };
        assert_eq!(find_repository(&root), Nested::Found(found), "{layout}");
    }
}

#[test]
fn links_are_not_followed() {
    let scratch = Scratch::new();
    let root = scratch.dir("work");
    let app = scratch.repository("app");
    std::os::unix::fs::symlink(app, root.join("app")).unwrap();
    assert_eq!(find_repository(&root), Nested::None);
}

#[test]
fn an_oversized_or_unreadable_directory_gives_an_unknown_result() {
    let scratch = Scratch::new();
    let root = scratch.dir("work");
    let many = scratch.dir("work/many");
    for name in 0..=NESTED_ENTRIES_MAX {
        fs::write(many.join(name.to_string()), "").unwrap();
    }
    scratch.repository("work/many/far/down/app");
    assert_eq!(find_repository(&root), Nested::Unknown(Unknown::TooMany));

    let gone = scratch.path.join("gone");
    assert!(matches!(find_repository(&gone), Nested::Unknown(Unknown::Unreadable { .. })));
}
