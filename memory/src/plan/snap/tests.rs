//! Checkpoints of snap-memory, and what its users see of them.

use super::*;
use crate::Kind;
use crate::render::snap_memory::{list, read, saved};
use crate::testing::{apply, origin};

const KEY: &str = "openclaw:agent:main:a";

fn of(topic: &str) -> SnapCheckpoint {
    SnapCheckpoint { topic: topic.to_owned(), ..SnapCheckpoint::default() }
}

fn snap(memory: &mut Memory, on: i64, checkpoint: &SnapCheckpoint) -> String {
    let plan = plan_snap(memory, &origin("one", on), KEY, checkpoint).unwrap();
    saved(&apply(memory, plan))
}

#[test]
fn a_checkpoint_commits_the_topic_alone_and_reads_as_the_file() {
    let mut memory = Memory::default();
    let checkpoint = SnapCheckpoint {
        status: Some("half way".to_owned()),
        decisions: vec!["2026-10-20: LRU".to_owned(), "2026-10-20: LRU".to_owned()],
        line: Some("Began the reader".to_owned()),
        ..of("cache")
    };
    assert_eq!(snap(&mut memory, 1, &checkpoint), "✅ Context saved: context-cache.md");
    let more = SnapCheckpoint {
        status: Some("  ".to_owned()),
        decisions: vec!["  lru".to_owned(), "Warm at start".to_owned()],
        ..of("Cache")
    };
    snap(&mut memory, 2, &more);
    assert!(memory.records().all(|record| record.kind() == Kind::Topic), "there is no row");
    assert_eq!((memory.revision().0, memory.staged().count()), (2, 0));
    let topic = memory.topic("cache").unwrap().topic().unwrap();
    assert_eq!(topic.pending().count(), 0, "a statement is not an open question");
    insta::assert_snapshot!(read(&memory, "cache").unwrap(), @r"
    # cache

    ## Meta
    - **created**: 2026-11-01
    - **updated**: 2026-11-02

    ## Current Status
    half way

    ## Key Decisions
    - 2026-10-20: LRU
    - 2026-11-02: Warm at start

    ## History
    - 2026-11-01: Context created
    - 2026-11-01: Began the reader
    ");
}

#[test]
fn a_checkpoint_binds_the_conversation_even_if_another_topic_was_bound() {
    let mut memory = Memory::default();
    for (topic, bound) in [("one", "one"), ("two", "two"), ("ONE", "one")] {
        snap(&mut memory, 1, &of(topic));
        assert_eq!(memory.bound(KEY), Some(bound));
    }
    assert_eq!(memory.revision().0, 2, "a checkpoint without content only binds");
    let bound = plan_bind(&memory, "codex:b", Some("one")).unwrap();
    apply(&mut memory, bound);
    assert_eq!(
        list(&memory),
        "Context snaps:\n- context-one.md (bound: 2 sessions)\n- context-two.md"
    );
    assert_eq!(list(&Memory::default()), "No context snap files found.");
}

#[test]
fn any_text_is_a_name_and_is_shown_as_it_was_given() {
    let mut memory = Memory::default();
    let long = "a very long name ".repeat(10);
    let names = ["fix: login", "fix; login", "fix- login", "x/../../a", long.trim()];
    for name in names {
        let file = format!("context-{name}.md");
        assert_eq!(snap(&mut memory, 1, &of(name)), format!("✅ Context saved: {file}"));
        let again = SnapCheckpoint { status: Some(format!("of {name}")), ..of(name) };
        snap(&mut memory, 2, &again);
        assert!(list(&memory).contains(&file), "{}", list(&memory));
    }
    assert_eq!(memory.topics().count(), names.len());
    for name in names {
        let text = read(&memory, name).unwrap();
        assert!(text.starts_with(&format!("# {name}\n")), "{text}");
        assert!(text.contains(&format!("\nof {name}\n")), "{text}");
    }
    assert_eq!(read(&memory, "fix! login"), None);
}

#[test]
fn a_name_or_a_line_without_measure_is_refused_and_writes_nothing() {
    let memory = Memory::default();
    let refused = |checkpoint: &SnapCheckpoint| {
        plan_snap(&memory, &origin("one", 1), KEY, checkpoint).unwrap_err().to_string()
    };
    assert_eq!(refused(&of(&"n".repeat(201))), "topic has 201 characters; 1 to 200 are allowed");
    let line = SnapCheckpoint { line: Some("x".repeat(1_001)), ..of("cache") };
    assert_eq!(
        refused(&line),
        "topic.history[1] has 1001 characters, 1000 are allowed; split it, or note the rest"
    );
}

#[test]
fn an_earlier_status_stays_a_line_of_the_history() {
    let mut memory = Memory::default();
    for (on, status) in [(1, "begun"), (2, "half way"), (3, "done")] {
        snap(&mut memory, on, &SnapCheckpoint { status: Some(status.to_owned()), ..of("cache") });
    }
    let text = read(&memory, "cache").unwrap();
    assert!(text.contains(": begun\n") && text.contains(": half way\n"), "{text}");
    assert!(text.contains("## Current Status\ndone\n"), "{text}");
}
