//! Spellings of paths.

use proptest::prelude::*;

use super::{is_inside, normalise, relative};

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
