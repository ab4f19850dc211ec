//! Names of topics.

use super::{HistoryLine, MAIN, TopicPart, topic_key, topic_name, topic_named_after};
use crate::testing::{checkpoint, day, origin, save};
use crate::{Memory, Staged};

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

#[test]
fn the_lines_of_one_call_keep_their_order() {
    let told = ["Wrote the parser", "Then measured: too slow", "After that replaced it by logos"];
    let lines = |texts: &[&str]| {
        let history = texts.iter().map(|text| HistoryLine::written((*text).to_owned())).collect();
        let part = TopicPart { history, ..TopicPart::default() };
        Staged { topics: vec![part], ..Staged::default() }
    };
    let stored = |memory: &Memory| -> Vec<String> {
        let topic = memory.topic(MAIN).and_then(|it| it.topic()).unwrap();
        topic.history.iter().map(|line| line.text.clone()).collect()
    };
    let mut at_once = Memory::default();
    save(&mut at_once, &origin("one", 1), lines(&told));
    assert_eq!(stored(&at_once), told);
    // Lines of a checkpoint before it stay before them, also if they are folded later.
    let mut staged = Memory::default();
    checkpoint(&mut staged, &origin("one", 1), lines(&["Began", "And planned"]));
    save(&mut staged, &origin("one", 2), lines(&told));
    assert_eq!(stored(&staged), [["Began", "And planned"].as_slice(), &told].concat());
}
