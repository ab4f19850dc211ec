//! A text in a brief: appended, read by its form, and merged by somebody who gives nothing away.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{apply, origin};
use crate::{
    BriefOutcome, Kind, Memory, MergeEnd, Plan, Staged, TopicDecision, TopicPart, plan_brief,
    plan_topic,
};

/// A brief with something in every field.
fn memory() -> Memory {
    let mut memory = Memory::default();
    let line = |text: &str, file: &str| HistoryLine {
        files: vec![file.to_owned()],
        ..HistoryLine::written(text.to_owned())
    };
    let asked = |question: &str, answer: Option<&str>| TopicDecision {
        question: question.to_owned(),
        decided: answer.map(str::to_owned),
        time: Timestamp::default(),
    };
    let part = TopicPart {
        status: Some("write the eviction".to_owned()),
        overview: Some("A cache for pages of the shop.".to_owned()),
        architecture: Some("One writer, many readers, and a queue between them.".to_owned()),
        decisions: vec![
            asked("Which port?", None),
            asked("LRU or LFU?", Some("LRU")),
            TopicDecision::statement("Sockets, not ports."),
        ],
        history: vec![line("wrote the queue", "src/queue.rs")],
        files: vec!["src/cache.rs".to_owned(), "src/old.rs".to_owned()],
        ..TopicPart::default()
    };
    write(&mut memory, part);
    memory
}

fn write(memory: &mut Memory, part: TopicPart) {
    let part = Staged { topics: vec![part], ..Staged::default() };
    let plan = plan_topic(memory, &origin("one", 1), part, None).unwrap();
    apply(memory, plan);
}

fn brief(memory: &Memory) -> Brief {
    let gone = BTreeSet::from(["src/old.rs".to_owned()]);
    Brief::of("p-1", memory.topic("main").map(|record| &**record), gone)
}

fn topic(memory: &Memory) -> Topic {
    memory.topic("main").unwrap().topic().unwrap().clone()
}

/// Returns a text that comes with its state.
fn now(text: &str) -> [MergedText<'_>; 1] {
    [MergedText { text, stored: None }]
}

/// Returns the losses of a state that `change` made of the brief's, one on a line.
fn losses(change: impl FnOnce(&mut Value), context: &str) -> String {
    let brief = brief(&memory());
    let mut state = brief.state();
    change(&mut state);
    match brief.merge("main", &state, &now(context)) {
        Ok(_) => String::new(),
        Err(losses) => losses.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn a_brief_is_a_state() {
    let mut state = brief(&memory()).state();
    assert_eq!(state["project_context"]["recent_changes"].as_array().unwrap().len(), 1);
    state["project_context"]["recent_changes"] = json!([]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&state).unwrap(), @r#"
    {
      "active_context": {
        "active_decisions": [
          {
            "question": "Which port?",
            "status": "pending"
          },
          {
            "decision": "LRU",
            "question": "LRU or LFU?",
            "status": "decided"
          },
          {
            "question": "Sockets, not ports.",
            "status": "decided"
          }
        ],
        "active_files": [
          "src/cache.rs"
        ],
        "current_task": "write the eviction"
      },
      "meta": {
        "last_checkpoint": "2026-11-01T12:00:00.000Z",
        "session_id": "p-1",
        "version": 1
      },
      "project_context": {
        "architecture": "One writer, many readers, and a queue between them.",
        "overview": "A cache for pages of the shop.",
        "recent_changes": []
      }
    }
    "#);
}

#[test]
fn a_state_that_changes_nothing_writes_nothing() {
    let mut memory = memory();
    let brief = brief(&memory);
    let merge = brief.merge("main", &brief.state(), &[]).unwrap();
    let plan = merged(&memory, &merge);
    assert!(plan.changes.is_empty() && !plan.outcome.topic.changed);
    // As text, too.
    let text = Value::String(brief.state().to_string());
    assert_eq!(brief.merge("main", &text, &[]), Ok(merge));
    write(&mut memory, TopicPart { status: Some("more".to_owned()), ..TopicPart::default() });
    let stale = Brief { version: Version(1), ..brief };
    let merge = stale.merge("main", &stale.state(), &[]).unwrap();
    let plan = merged(&memory, &merge);
    assert_eq!((plan.changes.len(), plan.outcome.merge), (0, Some(MergeEnd::Stale)));
}

/// A text that comes with a state is on disk even if the state is too late.
#[test]
fn a_text_is_stored_with_its_state_or_without() {
    for version in [Version(1), Version(0)] {
        let mut memory = memory();
        let brief = Brief { version, ..brief(&memory) };
        let mut state = brief.state();
        state["active_context"]["current_task"] = json!("measure it");
        let merge = brief.merge("main", &state, &[]).unwrap();
        let mut part = Staged::default();
        Append::of(Some("main"), "Task: another\nwrote it").unwrap().add_to(&mut part);
        let plan = plan_brief(&memory, &origin("two", 2), part, Some(&merge)).unwrap();
        let id = plan.outcome.notes[0];
        let end = apply(&mut memory, plan).merge.unwrap();
        assert_eq!(memory.record(id).unwrap().note().unwrap().content, "Task: another\nwrote it");
        let task = |line: &HistoryLine| line.text.starts_with("Task:");
        assert!(!topic(&memory).history.iter().any(task), "the task is no change");
        let (ended, task) = match version {
            Version(1) => (MergeEnd::Done, "measure it"),
            _ => (MergeEnd::Stale, "another\nwrote it"),
        };
        assert_eq!((end, topic(&memory).status.as_str()), (ended, task));
        assert_eq!(memory.topic("main").unwrap().version, Version(2), "one version");
    }
}

fn merged(memory: &Memory, merge: &BriefMerge) -> Plan<BriefOutcome> {
    plan_brief(memory, &origin("two", 2), Staged::default(), Some(merge)).unwrap()
}

#[test]
fn what_a_text_says_is_taken() {
    let mut memory = memory();
    let brief = brief(&memory);
    let mut state = brief.state();
    state["active_context"]["current_task"] = json!("measure it");
    state["active_context"]["active_files"] = json!(["src/evict.rs"]);
    let decisions = state["active_context"]["active_decisions"].as_array_mut().unwrap();
    decisions[0] = json!({"question": "which port?", "status": "decided", "decision": "4000"});
    decisions[1]["decision"] = json!("LFU, measured");
    decisions.push(json!({"question": "Which size?", "status": "pending"}));
    decisions.push(json!({"question": "Keep it small.", "status": "decided"}));
    let changes = state["project_context"]["recent_changes"].as_array_mut().unwrap();
    changes.push(json!({"summary": "wrote the eviction", "files": ["src/evict.rs"]}));
    let context = "cache.rs is done. We measured LFU and take it; the port is 4000.";
    let merge = brief.merge("main", &state, &now(context)).unwrap();
    let plan = merged(&memory, &merge);
    apply(&mut memory, plan);
    let topic = topic(&memory);
    assert_eq!(topic.status, "measure it");
    // The missing file was not shown and stays.
    assert_eq!(topic.files, ["src/old.rs", "src/evict.rs"]);
    let decided: Vec<String> = topic.decisions.iter().map(crate::render::decided).collect();
    assert_eq!(
        decided,
        [
            "Sockets, not ports.",
            "Which port? -> 4000",
            "LRU or LFU? -> LFU, measured",
            "Which size?",
            "Keep it small.",
        ]
    );
    let told: Vec<&str> = topic.history.iter().map(|line| line.text.as_str()).collect();
    assert!(told.contains(&"wrote the queue") && told.contains(&"wrote the eviction"), "{told:?}");
    assert_eq!(memory.active_of(Kind::Topic).count(), 1);
}

#[test]
fn a_finished_task_may_end() {
    let mut memory = memory();
    let brief = brief(&memory);
    let mut state = brief.state();
    state["active_context"]["current_task"] = json!("");
    let merge = brief.merge("main", &state, &now("done")).unwrap();
    let plan = merged(&memory, &merge);
    apply(&mut memory, plan);
    assert_eq!(topic(&memory).status, "");
    assert!(topic(&memory).history.iter().any(|line| line.text == "write the eviction"));
}

#[test]
fn nothing_leaves_that_the_text_does_not_name() {
    let decisions = |state: &mut Value| state["active_context"]["active_decisions"].take();
    let with = |at: usize, field: &'static str, value: Value| {
        move |state: &mut Value| {
            state["active_context"]["active_decisions"][at][field] = value;
        }
    };
    assert_eq!(losses(|_| {}, ""), "");
    let dropped = losses(
        |state| {
            decisions(state);
            state["active_context"]["active_decisions"] = json!([]);
        },
        "",
    );
    insta::assert_snapshot!(dropped, @"
    the question is missing: Which port?
    the question is missing: LRU or LFU?
    the question is missing: Sockets, not ports.
    ");
    insta::assert_snapshot!(losses(with(1, "status", json!("pending")), "LRU"), @"the question was decided and is pending: LRU or LFU?");
    insta::assert_snapshot!(losses(with(1, "decision", json!("LFU")), "we talked about LRU"), @"the decision is missing or another one, which no newer text says: LRU or LFU? was LRU");
    insta::assert_snapshot!(losses(with(1, "decision", Value::Null), "LRU"), @"the decision is missing or another one, which no newer text says: LRU or LFU? was LRU");
    insta::assert_snapshot!(losses(with(0, "status", json!("decided")), ""), @"the question is decided without a decision: Which port?");
    let files = |state: &mut Value| state["active_context"]["active_files"] = json!([]);
    insta::assert_snapshot!(losses(files, "src/cache.rss and cache are not it"), @"the active file is missing, and the text does not name it: src/cache.rs");
    assert_eq!(losses(files, "src/cache.rs is done"), "");
    let no_change = |state: &mut Value| state["project_context"]["recent_changes"] = json!([]);
    insta::assert_snapshot!(losses(no_change, "wrote the queue"), @"the recent change is missing: wrote the queue");
    for (field, value) in [("timestamp", json!("2020-01-01T00:00:00Z")), ("files", json!(["a.rs"]))]
    {
        let altered = |state: &mut Value| {
            state["project_context"]["recent_changes"][0][field] = value;
        };
        assert_eq!(
            losses(altered, ""),
            "the recent change has another time or other files: wrote the queue"
        );
    }
}

/// A text that was there when the question was decided says nothing against the decision.
#[test]
fn an_answer_changes_only_by_a_newer_text_that_says_it_in_one_paragraph() {
    let memory = memory();
    let brief = brief(&memory);
    let decided = brief.topic.decisions.iter().find(|it| it.question == "LRU or LFU?");
    let decided = decided.unwrap().time;
    let mut state = brief.state();
    state["active_context"]["active_decisions"][1]["decision"] = json!("LFU, measured");
    let takes = |text: &str, stored: Option<Timestamp>| {
        brief.merge("main", &state, &[MergedText { text, stored }]).is_ok()
    };
    let text = "We measured\nit and take LFU.";
    assert!(takes(text, None));
    assert!(takes(text, Some(Timestamp(decided.0 + 1))));
    assert!(!takes(text, Some(decided)), "it was stored with the decision");
    assert!(!takes(text, Some(Timestamp(decided.0 - 1))), "it was there before the decision");
    assert!(!takes("We measured it.\n\nLFU needs counters.", None), "the words are scattered");
    let texts = ["We measured it.", "LFU needs counters."];
    let texts = texts.map(|text| MergedText { text, stored: None });
    assert!(brief.merge("main", &state, &texts).is_err(), "no text says all of it");
}

#[test]
fn a_file_leaves_only_if_it_is_named_and_not_another_of_its_name() {
    let mut memory = memory();
    let files = vec!["src/queue/mod.rs".to_owned(), "src/store/mod.rs".to_owned()];
    write(&mut memory, TopicPart { files, ..TopicPart::default() });
    let brief = brief(&memory);
    let without = |file: &str, text: &str| {
        let mut state = brief.state();
        let files = state["active_context"]["active_files"].as_array_mut().unwrap();
        files.retain(|it| it != file);
        brief.merge("main", &state, &now(text)).is_ok()
    };
    assert!(without("src/cache.rs", "cache.rs is done"));
    assert!(without("src/cache.rs", "`./src/cache.rs` is done"));
    assert!(!without("src/cache.rs", "tests/cache.rs is done"), "another file");
    assert!(without("src/store/mod.rs", "src/store/mod.rs is done"));
    assert!(!without("src/store/mod.rs", "src/queue/mod.rs is done"), "another file");
    assert!(!without("src/store/mod.rs", "mod.rs is done"), "which one?");
}

#[test]
fn descriptions_are_neither_emptied_nor_cut_short() {
    let described = |field: &'static str, text: &'static str, replaces: bool| {
        let change = move |state: &mut Value| {
            state["project_context"][field] = json!(text);
            state["replaces"] = json!(replaces);
        };
        losses(change, text)
    };
    insta::assert_snapshot!(described("overview", " ", true), @"overview is empty");
    insta::assert_snapshot!(described("architecture", "One writer.", false), @r#"architecture has 11 of 51 characters; "replaces": true in the state allows that"#);
    assert_eq!(described("architecture", "One writer.", true), "");
    assert_eq!(described("overview", "A cache for pages.", false), "");
}

#[test]
fn a_state_needs_its_form_its_version_and_its_project() {
    let brief = brief(&memory());
    let refused = |state: Value| brief.merge("main", &state, &[]).unwrap_err()[0].to_string();
    insta::assert_snapshot!(refused(json!({"project_context": {}})), @"state cannot be read: missing field `overview`");
    insta::assert_snapshot!(refused(json!("not JSON")), @"state cannot be read: expected ident at line 1 column 2");
    assert_eq!(
        losses(
            |state| {
                state["meta"].take();
            },
            ""
        ),
        "state cannot be read: invalid type: null, expected struct MetaForm"
    );
    let meta =
        |field: &'static str, value: Value| move |state: &mut Value| state["meta"][field] = value;
    insta::assert_snapshot!(losses(meta("version", Value::Null), ""), @"state has no meta.version");
    insta::assert_snapshot!(losses(meta("version", json!(7)), ""), @"meta.version is 7, the brief is at version 1");
    insta::assert_snapshot!(losses(meta("session_id", json!("another")), ""), @"meta.session_id is another one: another");
}

#[test]
fn recent_changes_are_the_last_ten_that_agents_wrote() {
    let mut memory = Memory::default();
    let lines = (0..12).map(|at| HistoryLine {
        time: Timestamp(at + 1),
        by_rule: at == 5,
        ..HistoryLine::written(format!("change {at}"))
    });
    let status = Some("a new task".to_owned());
    write(&mut memory, TopicPart { status, history: lines.collect(), ..TopicPart::default() });
    let brief = brief(&memory);
    let told: Vec<&str> = brief.changes().into_iter().map(|line| line.text.as_str()).collect();
    let expected: Vec<String> =
        [1, 2, 3, 4, 6, 7, 8, 9, 10, 11].iter().map(|at| format!("change {at}")).collect();
    assert_eq!(told, expected, "neither hooks' lines nor statuses");
}

fn appended(text: &str) -> Append {
    Append::of(None, text).unwrap()
}

#[test]
fn a_text_is_kept_whole_with_a_line_of_history() {
    let text = "## We wrote  the eviction\n\nIt takes the oldest page.";
    let append = appended(text);
    assert_eq!(append.part.history, [HistoryLine::written("We wrote the eviction".to_owned())]);
    assert_eq!((append.fields.len(), append.has_more), (0, true));
    let [note] = append.notes.as_slice() else { panic!("{append:?}") };
    assert_eq!((note.content.as_str(), &note.tags[..]), (text, &["checkpoint".to_owned()][..]));
    assert!(Append::of(None, " \n").is_err());
    let long = appended(&"word ".repeat(600));
    assert_eq!(long.part.history[0].text.chars().count(), 1_000);
}

#[test]
fn a_text_that_is_too_long_for_a_note_becomes_several() {
    let line = format!("{}\n", "x".repeat(1_023));
    let text = line.repeat(2_500);
    let append = appended(&text);
    let lengths: Vec<usize> = append.notes.iter().map(|note| note.content.len()).collect();
    assert_eq!(lengths.len(), 3);
    assert!(lengths.iter().all(|bytes| *bytes <= crate::limits::NOTE_BYTES_MAX), "{lengths:?}");
    let whole: Vec<&str> = append.notes.iter().map(|note| note.content.as_str()).collect();
    assert_eq!(whole.join("\n"), text.trim());
}

#[test]
fn headings_and_labels_name_fields() {
    let text = "\
# Session of Monday
Some words before.

## Overview
A cache.

### For whom
The shop.

## Other things
Not a field.

Task: write the eviction
and measure it

**Files:** `src/cache.rs`, src/evict.rs

Decisions:
- LRU or LFU? -> LRU
- Which port?
- [pending] Which size
- Sockets, not ports.
Done:
1. wrote the queue (src/queue.rs, src/lib.rs)
2. looked at it (again)
";
    let append = appended(text);
    let Append { part, fields, has_more, .. } = append;
    assert_eq!(fields, ["overview", "task", "files", "decisions", "done"]);
    assert!(has_more);
    assert_eq!(part.overview.as_deref(), Some("A cache.\n\n### For whom\nThe shop."));
    assert_eq!(part.status.as_deref(), Some("write the eviction\nand measure it"));
    assert_eq!(part.files, ["src/cache.rs", "src/evict.rs"]);
    let decided: Vec<String> = part.decisions.iter().map(crate::render::decided).collect();
    assert_eq!(decided, ["LRU or LFU? -> LRU", "Which port?", "Which size", "Sockets, not ports."]);
    let open = part.decisions.iter().filter(|it| it.decided.is_none()).count();
    assert_eq!((open, part.decisions[3].is_statement()), (2, true));
    let told: Vec<(&str, String)> =
        part.history.iter().map(|line| (line.text.as_str(), line.files.join(" "))).collect();
    assert_eq!(
        told,
        [
            ("Session of Monday", String::new()),
            ("wrote the queue", "src/queue.rs src/lib.rs".to_owned()),
            ("looked at it (again)", String::new()),
        ]
    );
}

#[test]
fn a_text_of_fields_alone_has_no_more() {
    let append = appended("Task: a\nDone: wrote b");
    assert_eq!((append.fields, append.has_more), (vec!["task", "done"], false));
    assert_eq!(append.part.status.as_deref(), Some("a"));
}

#[test]
fn a_line_that_its_form_takes_is_no_change_of_its_own() {
    let told = |text: &str| {
        let part = appended(text).part;
        part.history.into_iter().map(|line| line.text).collect::<Vec<String>>()
    };
    assert_eq!(told("Done: wrote tests (src/a.rs)"), ["wrote tests"]);
    assert_eq!(told("Task: next thing"), [""; 0]);
    assert_eq!(told("## Task\nnext thing\n\n## Done\n- wrote it"), ["wrote it"]);
    assert_eq!(told("Task: next thing\n\nWe wrote it."), ["We wrote it."]);
    assert_eq!(told("Done: wrote it\n\nIt was hard."), ["wrote it"]);
    assert_eq!(told("We wrote it.\n\nDone: the cache"), ["We wrote it.", "the cache"]);
    // Nothing of these was taken in.
    assert_eq!(told("## Task"), ["Task"]);
    assert_eq!(told("Files: see above"), ["Files: see above"]);
}

#[test]
fn what_a_topic_refuses_is_left_to_the_text() {
    let text = format!("Task: {}\n\nFiles: see above, and below\nDone: x", "y".repeat(5_000));
    let append = appended(&text);
    assert_eq!((append.fields, append.has_more), (vec!["done"], true));
    let code = appended("```\nTask: in code\n```");
    assert_eq!((code.fields.len(), code.has_more), (0, true));
}

proptest! {
    /// Whatever is sent, the text is stored: neither its form nor its first line is refused.
    #[test]
    fn any_text_is_appended(
        lines in prop::collection::vec(
            prop_oneof!["(?s).{0,40}", "(Task|Files|Done|Decisions|## Overview|\\*\\*Done\\*\\*):? ?.{0,30}"],
            1..12,
        )
    ) {
        let text = lines.join("\n");
        let Ok(append) = Append::of(None, &text) else {
            prop_assert!(text.trim().is_empty());
            return Ok(());
        };
        let content: String = append.notes.iter().map(|note| note.content.as_str()).collect();
        prop_assert_eq!(content, text.trim());
        let mut part = Staged::default();
        append.add_to(&mut part);
        let plan = plan_topic(&Memory::default(), &origin("one", 1), part, None);
        prop_assert!(plan.is_ok(), "{:?}", plan);
    }
}
