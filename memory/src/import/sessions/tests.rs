//! One row for each conversation, however often it is imported.

use super::*;
use crate::lifecycle::{Event, ToolRun};
use crate::testing::{apply, day, origin, save};
use crate::{Memory, NoticeCause, Reader, Staged, plan_capture, plan_forget, plan_keep};

fn past(key: &str, on: i64, prompt: &str) -> PastSession {
    let mut captured = SessionActivity::of(key);
    captured.saw(&Event::PromptSubmitted { prompt: prompt.to_owned() }, day(on));
    captured.saw(&Event::TurnEnded { last_message: Some("done".to_owned()) }, day(on));
    PastSession { client: "claude-code".to_owned(), captured }
}

fn import(memory: &mut Memory, sessions: &[PastSession]) -> (u32, u32, u32) {
    let plan = plan_import_sessions(memory, sessions, day(40));
    let PastOutcome { added, updated, known, empty } = apply(memory, plan);
    assert_eq!(updated, 0);
    (added, known, empty)
}

fn rows(memory: &Memory) -> Vec<(String, u64, Timestamp)> {
    let row = |record: &std::sync::Arc<Record>| match &record.body {
        Body::SessionRow(row) => Some((row.session.to_string(), row.number, row.ended)),
        _ => None,
    };
    memory.records().filter_map(row).collect()
}

#[test]
fn rows_are_imported_once_in_order_of_time() {
    let mut memory = Memory::default();
    let sessions = [past("claude-code:b", 2, "second"), past("claude-code:a", 1, "first")];
    assert_eq!(import(&mut memory, &sessions), (2, 0, 0));
    let expected =
        [("claude-code:a".to_owned(), 1, day(1)), ("claude-code:b".to_owned(), 2, day(2))];
    assert_eq!(rows(&memory), expected);
    let before = memory.clone();
    assert_eq!(import(&mut memory, &sessions), (0, 2, 0));
    assert_eq!(rows(&memory), rows(&before));
    let id = memory.records().next().unwrap().id;
    let plan = plan_forget(&memory, &Reader::anyone(), id, None, &origin("me", 9)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(import(&mut memory, &sessions), (0, 2, 0), "a forgotten one stays forgotten");
}

#[test]
fn a_session_recorded_by_hooks_is_already_known() {
    let mut memory = Memory::default();
    let noted = past("claude-code:a", 1, "first");
    let by = origin("a session of its own id", 1);
    let plan = plan_capture(&memory, &by, noted.captured.clone()).unwrap();
    apply(&mut memory, plan);
    assert_eq!(import(&mut memory, std::slice::from_ref(&noted)), (0, 1, 0), "still staged");
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    assert_eq!(import(&mut memory, &[noted]), (0, 1, 0));

    let mut alone = past("claude-code:alone", 1, "first");
    let by = origin("claude-code:alone", 2);
    let plan = plan_capture(&memory, &by, alone.captured.clone()).unwrap();
    apply(&mut memory, plan);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    alone.captured.saw(&Event::TurnEnded { last_message: Some("bye".to_owned()) }, day(3));
    assert_eq!(import(&mut memory, &[alone]), (0, 1, 0), "hooks go on with it");
}

#[test]
fn a_session_that_saved_is_already_known() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("over mcp", 3), Staged::default());
    let saved = |on| {
        let mut past = past(&format!("claude-code:{on}"), on, "asked");
        let tool = "mcp__anchord__memory_save".to_owned();
        past.captured.saw(&Event::ToolRan(ToolRun { tool, ..ToolRun::default() }), day(on));
        past
    };
    assert_eq!(
        import(&mut memory, &[saved(3), saved(4), past("claude-code:x", 3, "other")]),
        (2, 1, 0)
    );
    let codex = PastSession { client: "codex".to_owned(), ..saved(3) };
    let codex = PastSession {
        captured: {
            let mut c = codex.captured;
            c.absorb(&SessionActivity::of("codex:3"));
            c
        },
        ..codex
    };
    assert_eq!(import(&mut memory, &[codex]), (1, 0, 0), "another client's");
}

#[test]
fn empty_sessions_are_left_out_and_future_times_become_now() {
    let mut memory = Memory::default();
    let empty =
        PastSession { client: "codex".to_owned(), captured: SessionActivity::of("codex:1") };
    assert_eq!(import(&mut memory, &[empty, past("claude-code:z", 99, "later")]), (1, 0, 1));
    assert_eq!(rows(&memory)[0].2, day(40));
}

#[test]
fn a_session_that_continued_has_its_row_updated_once() {
    let mut memory = Memory::default();
    let first = past("claude-code:a", 1, "first");
    assert_eq!(import(&mut memory, std::slice::from_ref(&first)), (1, 0, 0));
    let mut grown = first.clone();
    let edit = ToolRun { edited: vec!["src/a.rs".to_owned()], ..ToolRun::default() };
    grown.captured.saw(&Event::ToolRan(edit), day(2));
    let both = [grown.clone(), first.clone()];
    let plan = plan_import_sessions(&memory, &both, day(40));
    let outcome = PastOutcome { updated: 1, known: 1, ..PastOutcome::default() };
    assert_eq!(apply(&mut memory, plan), outcome, "of two copies the longer one counts");
    assert_eq!(rows(&memory), [("claude-code:a".to_owned(), 1, day(2))], "the same row");
    let Body::SessionRow(row) = &memory.records().next().unwrap().body else { panic!() };
    assert!(row.summary.contains("Edited: src/a.rs") && row.started == day(1), "{row:?}");
    let revision = memory.revision();
    for same in [&grown, &first] {
        assert_eq!(import(&mut memory, std::slice::from_ref(same)), (0, 1, 0));
        assert_eq!(memory.revision(), revision, "the same again, or less, changes nothing");
    }
    let id = memory.records().next().unwrap().id;
    let plan = plan_forget(&memory, &Reader::anyone(), id, None, &origin("me", 9)).unwrap();
    apply(&mut memory, plan);
    grown.captured.saw(&Event::TurnEnded { last_message: Some("more".to_owned()) }, day(3));
    assert_eq!(import(&mut memory, &[grown]), (0, 1, 0), "a forgotten one stays forgotten");
}
