//! The forms of infinite-context's replies.

use std::collections::BTreeSet;

use super::*;
use crate::testing::{apply, day, origin};
use crate::{HistoryLine, MAIN, Memory, Staged, TopicDecision, TopicPart, plan_topic};

fn brief() -> Brief {
    let mut memory = Memory::default();
    let asked = |question: &str, answer: Option<&str>| TopicDecision {
        question: question.to_owned(),
        decided: answer.map(str::to_owned),
        time: day(1),
    };
    let part = TopicPart {
        status: Some("measure it\nthen ship".to_owned()),
        overview: Some("A cache.".to_owned()),
        architecture: Some("One writer.\n\nMany readers.".to_owned()),
        decisions: vec![
            asked("LRU or LFU?", Some("LRU")),
            asked("Which port?", None),
            TopicDecision::statement("Sockets, not ports."),
        ],
        history: vec![
            HistoryLine {
                files: vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()],
                ..HistoryLine::written("wrote the queue".to_owned())
            },
            HistoryLine::new("context compacted"),
        ],
        files: vec!["src/a.rs".to_owned(), "src/gone.rs".to_owned()],
        ..TopicPart::default()
    };
    let part = Staged { topics: vec![part], ..Staged::default() };
    let plan = plan_topic(&memory, &origin("one", 2), part, None).unwrap();
    apply(&mut memory, plan);
    let gone = BTreeSet::from(["src/gone.rs".to_owned()]);
    Brief::of("0199-a", memory.topic(MAIN).map(|record| &**record), gone)
}

#[test]
fn a_brief_resumes_in_its_form() {
    insta::assert_snapshot!(resume(&brief()), @"
    # Project Context Resume

    ## Overview
    A cache.

    ## Architecture
    One writer.

    Many readers.

    ## Current Task
    measure it
    then ship

    ## Active Files
    - src/a.rs

    ## Recent Changes
    - 2026-11-02 12:00:00 UTC: wrote the queue (src/a.rs, src/b.rs)

    ## Decisions
    - [decided] LRU or LFU?: LRU
    - [pending] Which port?
    - [decided] Sockets, not ports.

    Version 1, last checkpoint 2026-11-02 12:00:00 UTC
    ");
    let empty = Brief::of("", None, BTreeSet::new());
    insta::assert_snapshot!(resume(&empty), @"
    # Project Context Resume

    Version 0, no checkpoint yet
    ");
}

#[test]
fn a_status_has_its_form() {
    let checkpoints = [5, 3]
        .map(|version| Checkpointed { version: Version(version), time: day(i64::from(version)) });
    let view = StatusView {
        last_access: Some(day(3)),
        tokens: 24_690,
        checkpoints: &checkpoints,
        checkpoints_total: 2,
        live: vec!["codex"],
    };
    insta::assert_snapshot!(status(&brief(), &view), @"
    # Project State Status

    Session ID: 0199-a
    Version: 1
    Last Checkpoint: 2026-11-02 12:00:00 UTC
    Last Access: 2026-11-03 12:00:00 UTC
    Token Budget Used: 24,690 / 200,000 (12.3%)

    Active Files: 1
      - src/a.rs

    Active Decisions: 3
      - [decided] LRU or LFU?
      - [pending] Which port?
      - [decided] Sockets, not ports.

    Checkpoint History: 2 versions available
      0. v5 - 2026-11-05 12:00:00 UTC
      1. v3 - 2026-11-03 12:00:00 UTC

    Live Sessions: codex
    ");
    let empty = Brief::of("", None, BTreeSet::new());
    insta::assert_snapshot!(status(&empty, &StatusView::default()), @"
    # Project State Status

    Session ID: (none yet)
    Version: 0
    Last Checkpoint: never
    Last Access: never
    Token Budget Used: 0 / 200,000 (0.0%)

    Active Files: 0

    Active Decisions: 0

    Checkpoint History: 0 versions available
    ");
}

#[test]
fn replies_are_those_of_the_original() {
    let to = Checkpointed { version: Version(3), time: day(3) };
    insta::assert_snapshot!(rolled_back(to, Version(7)), @"
    Rolled back to version 3 (2026-11-03 12:00:00 UTC)
    now version 7
    ");
    assert_eq!(too_far(2, 5), "Only 2 checkpoints available. Cannot rollback 5 steps.\n");
    assert_eq!(checkpoint(Version(4)), "Checkpoint saved successfully (version 4)\n");
}
