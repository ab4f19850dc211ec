//! The commands that command lines run.

use super::read;

fn commands(line: &str) -> Vec<String> {
    read(line).invocations.iter().map(super::Invocation::text).collect()
}

#[test]
fn a_line_is_read_part_by_part() {
    assert_eq!(commands("a b && c; d | e"), ["a b", "c", "d", "e"]);
    assert_eq!(commands("(a); { b; }; if c; then d; else e; fi"), ["a", "b", "c", "d", "e"]);
    assert_eq!(commands("g\"i\"t 'p'ush \\-f"), ["git push -f"]);
    assert_eq!(commands("g=git; $g push"), ["git push"]);
    assert!(commands("bash -lc 'git push --force'").contains(&"git push --force".to_owned()));
    assert_eq!(
        commands("f() { git \"$@\"; }; f push --force"),
        ["f push --force", "git push --force"]
    );
}
