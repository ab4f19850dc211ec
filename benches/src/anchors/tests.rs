//! A history with a known end.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::repository::Repository;
use super::{Score, measure};

const CODE: &str = "\
fn first(number: u32) -> u32 {
    let double = number * 2;
    let triple = number * 3;
    double + triple + number
}

fn second(text: &str) -> usize {
    let words = text.split(' ');
    let long = words.filter(|word| word.len() > 4);
    long.count()
}

fn third(list: &[u8]) -> u8 {
    let largest = list.iter().max();
    let smallest = list.iter().min();
    largest.copied().unwrap_or(0) - smallest.copied().unwrap_or(0)
}
";

fn git(at: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(at).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
    let output = git.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn anchors_follow_functions_that_move_change_and_go() {
    let scratch = tempfile::tempdir().unwrap();
    let at = scratch.path();
    git(at, &["init", "--quiet"]);
    let commit = |files: &[(&str, &str)]| {
        for (path, text) in files {
            fs::write(at.join(path), text).unwrap();
        }
        git(at, &["add", "--all"]);
        git(at, &["commit", "--quiet", "--message", "a"]);
    };
    commit(&[("a.rs", CODE)]);
    // All move down, and one changes.
    let changed = format!("//! Numbers.\n\n{CODE}").replace("let long", "let many");
    let changed = changed.replace("long.count", "many.count");
    commit(&[("a.rs", &changed)]);
    // One goes to another file, and one is removed.
    let (second, third) = (changed.find("fn second").unwrap(), changed.find("fn third").unwrap());
    let first = changed.find("fn first").unwrap();
    commit(&[
        ("a.rs", &format!("{}{}", &changed[..first], &changed[second..third])),
        ("b.rs", &format!("//! Others.\n\n{}", &changed[third..])),
    ]);

    let mut repository = Repository::open(at).unwrap();
    let scores = measure(&mut repository, &[1, 2], 3, 1).unwrap();
    let [(1, after_one), (2, after_two)] = scores.as_slice() else { panic!("two distances") };
    let figures = |it: &Score| (it.exists, it.right, it.wrong_lines, it.wrongly_fresh);
    assert_eq!(figures(after_one), (3, 3, 0, 0), "{:?}", after_one.wrong);
    assert_eq!(figures(after_two), (2, 2, 0, 0), "{:?}", after_two.wrong);
    assert_eq!((after_one.number, after_one.difference), (0, 3));
    assert_eq!((after_two.honest, after_two.number, after_two.difference), (1, 0, 1));
}
