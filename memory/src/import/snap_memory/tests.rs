//! Imports of snap-memory's folders, and the way back.

use proptest::prelude::*;

use super::*;
use crate::kinds::topic::Topic;
use crate::testing::{apply, origin};
use crate::{Record, export};

const KEY: &str = "openclaw:agent:main:a";

fn file(name: &str, text: &str) -> NamedText {
    NamedText::new(name, text)
}

fn topic_file(title: &str, updated: &str, status: &str, decisions: &str, history: &str) -> String {
    format!(
        "# {title}\n\n## Meta\n- **created**: 2026-01-02\n- **updated**: {updated}\n\n## Current Status\n{status}\n\n\
         ## Key Decisions\n{decisions}\n\n## History\n{history}\n"
    )
}

fn import(memory: &mut Memory, files: &[NamedText]) -> ImportOutcome {
    let source = parse(files).unwrap();
    let digest = format!("{files:?}");
    let plan = plan_import(memory, &source, &digest, &origin("importer", 20_000));
    apply(memory, plan)
}

fn topic<'a>(memory: &'a Memory, name: &str) -> (&'a Record, &'a Topic) {
    let record = memory.topic(name).unwrap();
    (record, record.topic().unwrap())
}

#[test]
fn a_folder_becomes_topics_and_bindings() {
    let mut memory = Memory::default();
    let text = topic_file(
        "cache",
        "2026-02-03",
        "half way",
        "- 2026-01-05: LRU\n- 2026-01-05: LRU\n- Warm\n  at start",
        "- 2026-01-02: Context created\n- 2026-01-02: Began",
    );
    let text =
        text.replace("## Current", "- **session**: agent:main:b\n- **owner**: Ada\n\n## Current");
    let files = [
        file("context-cache.md", &(text + "\n## Links\nhttps://example.org\n")),
        file(
            "context-session-map.json",
            r#"{"agent:main:a": "cache", "agent:main:c": "gone", "d": 7}"#,
        ),
        file("notes.md", "# of no topic"),
    ];
    let outcome = import(&mut memory, &files);
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    context-cache.md: owner of its Meta is left out
    1 of its bindings name no topic and are left out
    left out: 1 × a conversation that has a topic that was not brought over
    conversations that have their topic again: 2
    ");
    let (record, topic) = topic(&memory, "cache");
    assert_eq!(
        (record.created.time.date(), record.updated.time.date()),
        ("2026-01-02".to_owned(), "2026-02-03".to_owned())
    );
    assert_eq!(topic.status, "half way");
    assert_eq!(topic.pending().count(), 0);
    let decisions: Vec<&str> = topic.decisions.iter().map(|it| it.question.as_str()).collect();
    assert_eq!(decisions, ["LRU", "Warm at start"]);
    let told: Vec<(String, &str)> = topic
        .distinct_history()
        .iter()
        .map(|line| (line.time.date(), line.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [("2026-01-02".to_owned(), "Context created"), ("2026-01-02".to_owned(), "Began")]
    );
    for key in [KEY, "openclaw:agent:main:b"] {
        assert_eq!(memory.bound(key), Some("cache"));
    }
    let note = memory.records().find(|record| record.note().is_some()).unwrap();
    assert_eq!(note.note().unwrap().content, "Links\n\nhttps://example.org");
    assert_eq!(note.tags, ["cache"]);
    assert_eq!(memory.revision().0, 1, "it is one commit");
    let added = (outcome.added.topics, outcome.added.notes);
    assert_eq!((added, outcome.merged), ((1, 1), 0), "none was here");
}

#[test]
fn the_same_folder_again_changes_nothing_and_a_file_that_has_grown_adds_what_is_new() {
    let mut memory = Memory::default();
    let before = [file(
        "context-cache.md",
        &topic_file("cache", "2026-02-03", "half way", "- LRU", "- 2026-02-03: Began"),
    )];
    import(&mut memory, &before);
    assert!(import(&mut memory, &before).before.is_some());
    let grown = topic_file(
        "cache",
        "2026-02-03",
        "done",
        "- LRU\n- Warm",
        "- 2026-02-03: Began\n- 2026-02-03: Went on",
    );
    import(&mut memory, &[file("context-cache.md", &grown)]);
    let (record, topic) = topic(&memory, "cache");
    assert_eq!((topic.status.as_str(), topic.decisions.len()), ("done", 2));
    let told: Vec<&str> = topic.distinct_history().iter().map(|line| line.text.as_str()).collect();
    assert_eq!(told, ["Began", "half way", "Went on"]);
    // Another spelling of the same content brings nothing new.
    let version = record.version;
    let spaced = grown.replace("\n## ", "\n\n## ");
    import(&mut memory, &[file("context-cache.md", &spaced)]);
    assert_eq!(memory.topic("cache").unwrap().version, version);
}

/// The description here is too long for a line of the history, so it becomes a note.
#[test]
fn a_topic_that_is_here_counts_although_a_text_of_it_becomes_a_new_note() {
    let cache = |updated: &str, overview: &str| {
        let text = topic_file("cache", updated, "half way", "- LRU", "- 2026-02-03: Began");
        [file("context-cache.md", &format!("{text}\n## Overview\n{overview}\n"))]
    };
    let mut memory = Memory::default();
    import(&mut memory, &cache("2026-02-03", &"It keeps answers. ".repeat(30)));
    let outcome = import(&mut memory, &cache("2026-02-04", "It keeps all answers."));
    assert_eq!(topic(&memory, "cache").1.overview, "It keeps all answers.");
    assert_eq!((outcome.added.topics, outcome.added.notes, outcome.merged), (0, 1, 1));
}

#[test]
fn a_topic_and_a_text_that_were_forgotten_stay_so() {
    let cache = |updated: &str, more: &str| {
        let text = topic_file("cache", updated, "half way", "- LRU", "- 2026-02-03: Began");
        [file("context-cache.md", &format!("{text}\n## Ideas\nwarm it\n{more}"))]
    };
    let mut memory = Memory::default();
    import(&mut memory, &cache("2026-02-03", ""));
    let ids: Vec<_> = memory.active().map(|record| record.id).collect();
    for id in ids {
        let by = origin("one", 20_001);
        let plan = crate::plan_forget(&memory, &crate::Reader::anyone(), id, None, &by).unwrap();
        apply(&mut memory, plan);
    }
    let active = |memory: &Memory| -> Vec<String> {
        memory.active().map(|record| record.body.own_texts()[0].to_owned()).collect()
    };
    let outcome = import(&mut memory, &cache("2026-02-04", "\n## Links\nnone\n"));
    assert_eq!((outcome.added.notes, outcome.merged), (1, 2));
    assert_eq!((active(&memory), outcome.notes), (vec!["Links\n\nnone".to_owned()], vec![]));
    // Once its own file is newer, the topic is here again.
    import(&mut memory, &cache("2199-01-01", ""));
    assert_eq!(topic(&memory, "cache").1.status, "half way");
}

#[test]
fn a_newer_status_here_stays_and_the_other_is_a_line_of_the_history() {
    let mut memory = Memory::default();
    let part = TopicPart {
        name: Some("cache".to_owned()),
        status: Some("ours".to_owned()),
        ..TopicPart::default()
    };
    let part = Staged { topics: vec![part], ..Staged::default() };
    let written = crate::plan_topic(&memory, &origin("one", 19_000), part, None).unwrap();
    apply(&mut memory, written);
    apply(&mut memory, crate::plan_bind(&Memory::default(), KEY, Some("mine")).unwrap());
    import(
        &mut memory,
        &[
            file(
                "context-cache.md",
                &topic_file("cache", "2020-02-03", "theirs", "(none yet)", "(none yet)"),
            ),
            file("context-session-map.json", r#"{"agent:main:a": "cache"}"#),
        ],
    );
    let (_, topic) = topic(&memory, "cache");
    assert_eq!(topic.status, "ours");
    assert!(topic.history.iter().any(|line| line.text == "theirs"));
    assert_eq!(memory.bound(KEY), Some("mine"), "a conversation keeps its topic");
}

#[test]
fn names_become_topics_and_two_that_differ_in_case_stay_two() {
    let mut memory = Memory::default();
    let of = |title: &str, updated: &str| {
        topic_file(title, updated, &format!("of {title}"), "(none yet)", "(none yet)")
    };
    let long = "x".repeat(100);
    let files = [
        file("context-cache.md", &of("cache", "2026-02-03")),
        file("context-Cache.md", &of("Cache", "2026-02-04")),
        file("context-fix: login.md", &of("fix: login", "2026-02-03")),
        file("context-a%2Fb.md", &of("a/b", "2026-02-03")),
        file(&format!("context-{long}.md"), &of(&long, "2026-02-03")),
        file("context-other.md", &of("another title", "2026-02-03")),
    ];
    let outcome = import(&mut memory, &files);
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note == "context-other.md: its title is `another title`; its name stays")
    );
    for (name, of) in [
        ("cache", "cache"),
        ("Cache-2", "Cache"),
        ("fix- login", "fix: login"),
        ("a/b", "a/b"),
        ("other", "another title"),
    ] {
        assert_eq!(topic(&memory, name).1.status, format!("of {of}"));
    }
    let again: Vec<NamedText> =
        files.iter().map(|it| file(&it.name, &it.text.replace("of ", "still of "))).collect();
    import(&mut memory, &again);
    assert_eq!(memory.topics().count(), files.len());
    assert_eq!(topic(&memory, "Cache-2").1.status, "still of Cache");
}

#[test]
fn a_topic_of_automatic_lines_alone_is_left_out_and_named() {
    let mut memory = Memory::default();
    let lines = "- 2026-02-03: Context created\n- 2026-02-03: Auto-saved before compaction (280 messages)\n\
        - 2026-02-03: Compaction completed (280→45 messages)\n- 2026-02-03: Auto-saved before reset";
    let outcome = import(
        &mut memory,
        &[file(
            "context-session-1.md",
            &topic_file("session-1", "2026-02-03", "(no status yet)", "(none yet)", lines),
        )],
    );
    assert_eq!(
        outcome.notes,
        ["context-session-1.md has only lines that were written by rule; left out"]
    );
    assert_eq!(memory.records().count(), 0);
}

#[test]
fn what_is_too_long_for_a_topic_is_whole_in_a_note() {
    let mut memory = Memory::default();
    let (status, decision, line) = ("s".repeat(4_001), "d".repeat(1_001), "l".repeat(1_001));
    let text = topic_file(
        "cache",
        "2026-02-03",
        &status,
        &format!("- {decision}"),
        &format!("- 2026-02-03: {line}"),
    );
    import(&mut memory, &[file("context-cache.md", &text)]);
    let notes: Vec<&str> =
        memory.records().filter_map(|record| Some(record.note()?.content.as_str())).collect();
    assert_eq!(notes, [&status, &decision, &line]);
    assert_eq!(topic(&memory, "cache").1.status.chars().count(), 4_000);
}

#[test]
fn keys_that_are_too_long_are_named() {
    let mut memory = Memory::default();
    let map = format!(r#"{{"{}": "cache"}}"#, "k".repeat(201));
    let outcome = import(
        &mut memory,
        &[
            file(
                "context-cache.md",
                &topic_file("cache", "2026-02-03", "on", "(none yet)", "(none yet)"),
            ),
            file("context-session-map.json", &map),
        ],
    );
    assert_eq!(outcome.notes, ["left out: 1 × a conversation that has a key that is too long"]);
    assert_eq!(memory.bindings().count(), 0);
    assert_eq!(parse(&[file("a.md", "# a")]).unwrap_err().to_string(), "read it: it has no text");
}

fn a_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[A-Z]{1,2}",
        "[a-z]/[a-z.]{1,3}[a-z]",
        "fix[:;] [a-z]",
        "[a-z]{61,70}"
    ]
}

fn some_text() -> impl Strategy<Value = String> {
    "([a-z]{1,4} ?|-> |\\(open\\) |## |2026-01-02: ){1,4}[a-z]"
}

proptest! {
    #[test]
    fn an_export_is_imported_without_a_loss(
        topics in prop::collection::vec(
            (a_name(), some_text(), prop::collection::vec(some_text(), 0..4), prop::collection::vec(some_text(), 0..3)),
            1..4,
        ),
        bound in a_name(),
    ) {
        let mut memory = Memory::default();
        for (at, (name, status, decisions, lines)) in (19_000..).zip(topics) {
            for line in lines {
                let checkpoint = crate::SnapCheckpoint {
                    topic: name.clone(),
                    status: Some(status.clone()),
                    decisions: decisions.clone(),
                    line: Some(line),
                };
                let plan = crate::plan_snap(&memory, &origin("one", at), KEY, &checkpoint).unwrap();
                apply(&mut memory, plan);
            }
        }
        let bind = crate::SnapCheckpoint { topic: bound, ..crate::SnapCheckpoint::default() };
        let plan = crate::plan_snap(&memory, &origin("one", 19_100), KEY, &bind).unwrap();
        apply(&mut memory, plan);
        // A topic without content is left out.
        let files: Vec<NamedText> = export::snap_memory(&memory)
            .iter()
            .filter(|(name, text)| *name == SNAP_MAP || !is_automatic(&TopicFile::parse(text)))
            .map(|(name, text)| file(name, text))
            .collect();
        let mut there = Memory::default();
        import(&mut there, &files);
        let back: Vec<NamedText> =
            export::snap_memory(&there).iter().map(|(name, text)| file(name, text)).collect();
        let bound_file = crate::topic_file::snap_file(&bind.topic);
        let is_kept = files.iter().any(|file| file.name == bound_file);
        let compared = |files: Vec<NamedText>| -> Vec<NamedText> {
            files.into_iter().filter(|file| is_kept || file.name != SNAP_MAP).collect()
        };
        prop_assert_eq!(compared(back), compared(files));
    }
}
