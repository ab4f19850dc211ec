//! Tests of the workspace mark. Its effect on a search is tested in `locate`.

use std::fs;

use super::super::layouts::{STRANGER, Scratch};
use super::*;

#[test]
fn a_workspace_is_marked_once_and_git_does_not_see_it() {
    let scratch = Scratch::new();
    let uid = scratch.surroundings().uid;
    let root = scratch.dir("work");
    assert_eq!(read(&root, uid).unwrap(), Mark::None);
    assert!(mark(&root, uid).unwrap());
    assert!(!mark(&root, uid).unwrap());
    assert_eq!(read(&root, uid).unwrap(), Mark::Valid);
    assert_eq!(fs::read_to_string(root.join(".anchord/.gitignore")).unwrap(), "*\n");
    assert_eq!(read(&root, STRANGER).unwrap(), Mark::None);
    assert!(mark(&root, STRANGER).is_err(), "a stranger's marker is left alone");

    assert!(unmark(&root).unwrap());
    assert!(!unmark(&root).unwrap());
    assert_eq!(read(&root, uid).unwrap(), Mark::None);
    assert!(!unmark(&scratch.dir("other")).unwrap());
}

#[test]
fn an_invalid_mark_is_stale() {
    let scratch = Scratch::new();
    let uid = scratch.surroundings().uid;
    for text in ["", "0\n", "noise", "-1"] {
        scratch.file("work/.anchord/workspace", text);
        assert_eq!(read(&scratch.path.join("work"), uid).unwrap(), Mark::Stale, "{text}");
    }
    let root = scratch.dir("pipe");
    let pipe = scratch.dir("pipe/.anchord").join("workspace");
    rustix::fs::mkfifoat(CWD, pipe, Mode::RWXU).unwrap();
    assert_eq!(read(&root, uid).unwrap(), Mark::None);
}
