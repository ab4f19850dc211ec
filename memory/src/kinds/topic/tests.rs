//! Names of topics.

use super::{topic_key, topic_name, topic_named_after};
use crate::testing::day;

#[test]
fn names_are_one_short_line() {
    assert_eq!(topic_name("  Cache\n warm-up/2 v1.0_b ").unwrap(), "Cache warm-up/2 v1.0_b");
    assert_eq!(topic_name("Überblick").unwrap(), "Überblick");
    assert_eq!(topic_key("Cache  Warm"), topic_key("cache warm"));
    let refused = |name: &str| topic_name(name).unwrap_err().to_string();
    insta::assert_snapshot!(refused(" "), @"topic name is empty; leave it out for the project's own thread, `main`");
    insta::assert_snapshot!(refused("a;b"), @"topic name has `;` in it; use letters, digits, spaces and - _ . /");
    insta::assert_snapshot!(refused("../x"), @"topic name has to begin with a letter or digit");
    insta::assert_snapshot!(refused(&"x".repeat(61)), @"topic name has 61 characters, 60 are allowed");
}

#[test]
fn a_thread_without_a_topic_gets_the_same_one_all_day() {
    let name = topic_named_after("codex:0199-a", day(22));
    assert_eq!(name, topic_named_after("codex:0199-a", day(22)));
    assert_ne!(name, topic_named_after("codex:0199-b", day(22)));
    insta::assert_snapshot!(name, @"session-2026-11-22-30b259");
    assert_eq!(topic_name(&name), Ok(name));
}
