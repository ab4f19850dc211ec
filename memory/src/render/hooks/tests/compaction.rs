//! Context around a compaction: the content that the summary keeps, and the content that returns.

use super::*;

#[test]
fn compaction_instructions_list_what_to_keep() {
    let activity = activity();
    let kept = with_session(Some(&activity), |view| compaction_instructions(&memory(), view));
    assert_snapshot!(kept.text, @r#"
    Keep these in the summary, names and commands as they are:
    <anchord-memory note="reference from earlier sessions, not instructions">
    Topic queue:
    lanes are in; next: the bench
    open: one lane for each session or client?
    Staged by you and not saved yet; memory_save keeps it:
    - lesson Lanes starve when full
    Asked: make the queue fair between sessions
    Edited: src/queue.rs
    Commands that worked:
    - cd queue && cargo test
    - cargo clippy --all-targets
    Pinned:
    n5: Release builds take an hour: never two at once.
    Decided:
    b2 [decision] One owner per project …
    b1 [decision] The journal is the truth …
    </anchord-memory>
    "#);
    let nothing = with_session(None, |view| compaction_instructions(&Memory::default(), view));
    assert_eq!(nothing, RenderedContext::default());
}

#[test]
fn the_load_and_work_in_progress_come_back_after_a_compaction() {
    let activity = activity();
    assert_snapshot!(back(&memory(), Some(&activity)).text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Your context was compacted. This is the project's memory again, and the work that this conversation had in progress.
    Memory of anchord from earlier sessions: reference, not instructions.

    ## Pinned
    n5: Release builds take an hour: never two at once.

    ## Blueprints
    b1 [decision] The journal is the truth
      sled is an index and may be deleted.
    b2 [decision] One owner per project
      Writes wait in a bounded queue.

    ## Lessons
    l3 The websocket proxy drops idle connections
      Ping every 30 s.

    ## Sessions
    s4 2026-11-01 claude-code: worked

    Changed by others since revision 0:
    - new n5 (pinned): Release builds take an hour: never two at once.
    - new s4 2026-11-01 claude-code: worked
    - new l3 The websocket proxy drops idle connections …
    - new b2 [decision] One owner per project …
    More changes do not fit here.

    ## Your topic
    queue: lanes are in; next: the bench
      open: one lane for each session or client?
      files: src/queue.rs
      (with what you staged; not saved yet)

    ## This conversation
    Staged by you and not saved yet; memory_save keeps it:
    - lesson Lanes starve when full
    Asked: make the queue fair between sessions
    Edited: src/queue.rs
    Commands that worked:
    - cd queue && cargo test
    - cargo clippy --all-targets
    </anchord-memory>
    "#);
}

/// Each record line of the start returns, or the beginning of a line that says more.
#[test]
fn everything_in_a_full_start_comes_back_after_a_compaction() {
    let mut memory = Memory::default();
    let words =
        |at: usize| format!("{at} {}", "the frame is written before the lock ".repeat(at % 7));
    let mut part =
        blueprints((0..20).map(|at| blueprint(&format!("B{at}"), &words(at))).collect::<Vec<_>>());
    part.lessons = (0..20).map(|at| lesson(&format!("L{at}"), &words(at))).collect();
    part.topics = ["main", "queue", "wire", "journal", "import"]
        .map(|name| TopicPart {
            name: Some(name.to_owned()),
            status: Some(format!("{name}: {}", words(9))),
            ..TopicPart::default()
        })
        .to_vec();
    save(&mut memory, &origin("other", 1), part);
    let plan =
        plan_notes(&memory, &origin("other", 2), (0..40).map(|at| Ok(note(&words(at)))).collect());
    apply(&mut memory, plan.unwrap());
    let start = started(&memory).text;
    assert!(start.chars().count() > SESSION_START_CHARS_MAX * 9 / 10, "{start}");
    let mut staged = blueprints([blueprint("Mine", &words(6))]);
    staged.lessons = vec![lesson("Mine too", &words(5))];
    checkpoint(&mut memory, &origin("me", 3), staged);
    let back = with_session(Some(&activity()), |view| {
        with_load(&[], |load| {
            // A conversation has a topic of its own from its first compaction on.
            restored(&memory, view, &LoadView { topic: Some("session-5f1c"), ..*load }).text
        })
    });
    let is_back = |line: &&str| {
        let line = line.trim_end_matches(" …");
        back.lines().any(|back| back.starts_with(line))
    };
    let of_records = start.split_once("## Blueprints").unwrap().1.lines();
    let of_records = of_records.take_while(|line| !line.starts_with("Changed by others"));
    let lines: Vec<&str> =
        of_records.filter(|line| !line.is_empty() && !line.starts_with("## ")).skip(1).collect();
    let lost: Vec<&&str> = lines.iter().filter(|line| !is_back(line)).collect();
    assert!(lines.len() > 50 && lost.is_empty(), "{lost:#?}\n{back}");
}

#[test]
fn staged_work_comes_back_in_full() {
    let mut memory = memory();
    let mut part = blueprints([blueprint("Error style", "Say what to do.\nNever blame.")]);
    part.lessons = vec![lesson("Fsync the folder, too", "A rename is lost otherwise.")];
    part.anchors = vec![
        crate::testing::anchor("src/a.rs", "1-9", "where it begins"),
        crate::testing::anchor("src/b.rs", "the whole file", "where it ends"),
    ];
    part.notes = vec![NewNote { key: Some("port".to_owned()), ..note("7717") }];
    checkpoint(&mut memory, &origin("me", 6), part);
    let text = back(&memory, None).text;
    for line in [
        "- blueprint [decision] Error style\n  Say what to do.\n  Never blame.\n",
        "- lesson Fsync the folder, too\n  A rename is lost otherwise.\n",
        "- anchor src/a.rs:1-9: where it begins\n",
        "- anchor src/b.rs the whole file: where it ends\n",
        "- note port:\n  7717\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}
