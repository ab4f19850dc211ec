//! Spellings of paths.

use proptest::prelude::*;

use super::{is_inside, named_in, normalise, relative};

#[test]
fn one_file_has_one_spelling() {
    for (path, normal) in [
        ("src/a.rs", "src/a.rs"),
        ("./src//a.rs/", "src/a.rs"),
        (" src\\b\\..\\a.rs ", "src/a.rs"),
        (".", ""),
        ("a/../..", ".."),
        ("../../a", "../../a"),
        ("/../a", "/a"),
        ("/p/./a.rs", "/p/a.rs"),
    ] {
        assert_eq!(normalise(path), normal, "{path:?}");
    }
}

#[test]
fn absolute_paths_beneath_the_root_become_relative() {
    for (path, root, made) in [
        ("/p/src/a.rs", "/p", "src/a.rs"),
        ("/p/src/a.rs", "/p/", "src/a.rs"),
        ("/pp/a.rs", "/p", "/pp/a.rs"),
        ("/p/../q/a.rs", "/p", "/q/a.rs"),
        ("/p", "/p", "/p"),
        ("/a.rs", "/", "/a.rs"),
        ("src/a.rs", "/p", "src/a.rs"),
    ] {
        assert_eq!(relative(path, root), made, "{path:?} from {root:?}");
    }
}

#[test]
fn only_paths_beneath_the_root_are_inside() {
    for (path, inside) in [
        ("a/b", true),
        ("..a/b", true),
        ("../a", false),
        ("/a", false),
        ("", false),
        ("C:/a", false),
    ] {
        assert_eq!(is_inside(path), inside, "{path:?}");
    }
}

#[test]
fn paths_are_read_out_of_prose() {
    let text = "Writes pass `src/db.rs:42-67` (see ./docs\\store.md, Cargo.toml). Not e.g. this, \
                v1.2, https://a.example/x.rs, /etc/passwd or ../other/a.rs. Makefile is not told \
                apart from a word; src/db.rs comes once, src/auth/ is a directory. End: a.rs!";
    let found = named_in(text);
    assert_eq!(
        found,
        ["src/db.rs", "docs/store.md", "Cargo.toml", "e.g", "v1.2", "src/auth", "a.rs"]
    );
    let many: String = (0..1_000).map(|at| format!("src/{at}.rs ")).collect();
    assert_eq!(named_in(&many).len(), crate::limits::NAMED_FILES_MAX);
}

proptest! {
    #[test]
    fn normalising_again_changes_nothing(path in "[ab./\\\\ ]{0,12}") {
        let once = normalise(&path);
        prop_assert_eq!(normalise(&once), once);
    }

    #[test]
    fn a_path_that_is_inside_never_leaves_the_root(path in "[ab./\\\\]{0,12}") {
        let path = normalise(&path);
        let mut depth = 0_i32;
        for part in path.split('/') {
            depth += if part == ".." { -1 } else { 1 };
            prop_assert!(!is_inside(&path) || depth > 0, "{}", path);
        }
    }
}
