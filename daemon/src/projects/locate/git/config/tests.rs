//! Configurations as git writes them and as people do.

use std::path::Path;

use super::*;

fn check(config: &str, expected: Option<&str>) {
    assert_eq!(core_worktree(config.as_bytes()).as_deref(), expected.map(Path::new), "{config}");
}

#[test]
fn config_as_git_writes_it_is_read() {
    check("[core]\n\tbare = false\n\tworktree = ../../../lib\n", Some("../../../lib"));
    check("[core]\n\tworktree = \"/a;b # c\"\n", Some("/a;b # c"));
    check("[core]\n\tworktree = /a\\\\b\\\"c\n", Some("/a\\b\"c"));
    check("[core]\n\tworktree = /old\n[core]\n\tworktree = /new\n", Some("/new"));
}

#[test]
fn config_as_people_write_it_is_read() {
    check("[CORE] WorkTree=/a b  ; a comment", Some("/a b"));
    check("# worktree = /c\n[ core ]\r\n  worktree = /a\r\n", Some("/a"));
}

#[test]
fn other_settings_are_not_mistaken_for_worktree() {
    for config in [
        "",
        "worktree = /a",
        "[core]\nworktree\n",
        "[core]\nworktree =\n",
        "[core]\nworktree = \"/a\n",
        "[core]\nworktree = /a\\q\n",
        "[core]\n# worktree = /a\n",
        "[core \"sub\"]\nworktree = /a\n",
        "[core]\n[branch \"x]core\"]\nworktree = /a\n",
        "[core]\nname = a\\\nworktree = /a\n",
    ] {
        check(config, None);
    }
}
