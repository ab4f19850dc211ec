//! One session is one row, however its events are grouped.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::injected::frame;
use crate::limits;
use crate::testing::{anchor, anchors, apply, checkpoint, day, origin, save};
use crate::{
    Body, Change, Kind, Memory, NoticeCause, Record, RetentionParts, SessionId, SessionRow,
    plan_capture, plan_keep,
};

fn prompt(text: &str) -> Event {
    Event::PromptSubmitted { prompt: text.to_owned() }
}

fn edit(file: &str) -> Event {
    let edited = vec![file.to_owned()];
    Event::ToolRan(ToolRun { tool: "Edit".to_owned(), edited, ..ToolRun::default() })
}

fn ran(command: &str, passed: bool) -> Event {
    let command = Some(CommandRun::judge(command.to_owned(), Some(passed), ""));
    Event::ToolRan(ToolRun { tool: "Bash".to_owned(), command, ..ToolRun::default() })
}

/// A command that failed with an output.
fn broke(command: &str, output: &str) -> Event {
    let command = Some(CommandRun::judge(command.to_owned(), Some(false), output));
    Event::ToolRan(ToolRun { tool: "Bash".to_owned(), command, ..ToolRun::default() })
}

fn said(text: &str) -> Event {
    Event::TurnEnded { last_message: Some(text.to_owned()) }
}

fn captured(events: &[Event]) -> SessionActivity {
    let mut captured = SessionActivity::of("claude-code:5f1c");
    for (event, at) in events.iter().zip(0..) {
        captured.saw(event, Timestamp(day(1).0 + at));
    }
    captured
}

/// Stages each batch for a session.
fn stage(memory: &mut Memory, session: &str, on: i64, batches: &[SessionActivity]) {
    for batch in batches {
        if let Some(plan) = plan_capture(memory, &origin(session, on), batch.clone()) {
            apply(memory, plan);
        }
    }
}

fn keep(memory: &mut Memory, session: &str, on: i64) {
    let session = SessionId::new(session);
    if let Some(plan) =
        plan_keep(memory, &session, &origin("anchord", on), NoticeCause::Ended, false)
    {
        apply(memory, plan);
    }
}

fn rows(memory: &Memory) -> Vec<(&Record, &SessionRow)> {
    let row = |record: &'_ std::sync::Arc<Record>| match &record.body {
        Body::SessionRow(_) => true,
        _ => panic!("{record:?}"),
    };
    let records = memory.active_of(Kind::SessionRow).filter(|record| row(record));
    records
        .filter_map(|record| match &record.body {
            Body::SessionRow(row) => Some((&**record, row)),
            _ => None,
        })
        .collect()
}

fn a_session() -> Vec<Event> {
    vec![
        Event::SessionStarted { source: crate::lifecycle::StartSource::Startup },
        prompt("fix the\n  flaky login test"),
        ran("ls -la", true),
        ran("cd /src/app && cargo test login 2>&1", false),
        edit("/src/app/src/auth.rs"),
        edit("/src/app/src/login.rs"),
        ran("cargo test  login", true),
        ran("cargo clippy", true),
        said("Fixed: the test raced with the clock."),
        prompt("thanks"),
        said("Anything else?\n\nI am here."),
    ]
}

#[test]
fn a_session_that_saved_nothing_leaves_a_captured_row() {
    let mut memory = Memory::default();
    stage(&mut memory, "one", 1, &[captured(&a_session()).relative_to("/src/app")]);
    assert_eq!(memory.revision().0, 0, "private until the session is gone");
    keep(&mut memory, "one", 2);
    let (record, row) = rows(&memory)[0];
    assert_snapshot!(row.summary, @r"
    Asked: fix the flaky login test (2 prompts); last: thanks
    Edited: src/auth.rs, src/login.rs
    Failed, then passed: `cargo test login`
    Said last: Anything else?

    I am here.
    ");
    assert!(record.is_captured() && row.on_behalf);
    assert_eq!((row.started, row.ended), (Timestamp(day(1).0 + 1), Timestamp(day(1).0 + 10)));
    assert_snapshot!(crate::render::title(record, day(9)), @"s1 2026-11-01 claude-code (captured): Asked: fix the flaky login test (2 prompts); last: thanks …");
    assert_eq!(memory.notices().count(), 0, "there is nothing to look at again");
    assert_eq!(memory.staged().count(), 0);
}

#[test]
fn a_row_that_the_agent_saved_is_kept_as_it_is() {
    let mut memory = Memory::default();
    let batch = captured(&a_session());
    stage(&mut memory, "one", 1, std::slice::from_ref(&batch));
    save(&mut memory, &origin("one", 2), anchors([anchor("a.rs", "1", "x")]));
    assert_eq!(rows(&memory)[0].1.summary, "worked");
    // Activity recorded before the save and staged after it belongs to the turn that the agent
    // saved.
    let mut late = batch;
    late.saw(&said("Saved, and that is all."), day(3));
    stage(&mut memory, "one", 3, &[late]);
    let revision = memory.revision();
    keep(&mut memory, "one", 3);
    let (record, row) = rows(&memory)[0];
    assert!(!record.is_captured() && !row.on_behalf);
    assert_eq!((row.summary.as_str(), rows(&memory).len()), ("worked", 1));
    assert_eq!((memory.revision(), memory.staged().count()), (revision, 0));
}

#[test]
fn a_session_that_continues_after_saving_leaves_its_last_message() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), anchors([anchor("a.rs", "1", "x")]));
    let went_on = |events: &[Event], on: i64| {
        let mut noted = SessionActivity::of("claude-code:5f1c");
        for event in events {
            noted.saw(event, day(on));
        }
        noted
    };
    let open = "Gross prices are shown; net prices are still to do.";
    let events = [prompt("show gross prices"), edit("price.rs"), said(open)];
    stage(&mut memory, "one", 2, &[went_on(&events, 2)]);
    keep(&mut memory, "one", 3);
    let (record, row) = rows(&memory)[0];
    assert!(!record.is_captured(), "the agent wrote an entry");
    assert_snapshot!(crate::render::item::full(record), @r"
    s2 2026-11-02 claude-code (after its last save): Asked: show gross prices
      Edited: price.rs
      Said last: Gross prices are shown; net prices are still to do.
      Earlier, 2026-11-01 12:00 UTC: worked
    ");
    assert_snapshot!(crate::render::item::title(record), @"s2 2026-11-02 claude-code (after its last save): Asked: show gross prices … (+1 earlier)");
    assert_eq!((row.ended, row.anchors_added), (day(2), 1));

    // A message that only repeats the last one does not make an entry.
    stage(&mut memory, "one", 4, &[went_on(&[prompt("go on"), said(&open.to_lowercase())], 4)]);
    keep(&mut memory, "one", 5);
    assert_eq!(rows(&memory)[0].1.earlier_count(), 1);
    stage(&mut memory, "one", 6, &[went_on(&[prompt("go on"), said("Net prices, too.")], 6)]);
    keep(&mut memory, "one", 7);
    let (_, row) = rows(&memory)[0];
    assert_eq!(
        (&*row.summary, row.earlier_count()),
        ("Asked: go on\nSaid last: Net prices, too.", 2)
    );
}

#[test]
fn staged_work_is_kept_with_the_last_message() {
    let mut memory = Memory::default();
    let summary = Some("Prices come from one place.".to_owned());
    let part = crate::Staged { summary, ..anchors([anchor("a.rs", "1", "x")]) };
    checkpoint(&mut memory, &origin("one", 1), part);
    let open = "Net prices are still shown; that is open.";
    let noted = captured(&[prompt("show gross prices"), edit("price.rs"), said(open)]);
    stage(&mut memory, "one", 1, &[noted]);
    keep(&mut memory, "one", 2);
    let (record, row) = rows(&memory).into_iter().next().unwrap();
    assert_snapshot!(row.summary, @r"
    Prices come from one place.
    Staged 1 anchor.
    Said last: Net prices are still shown; that is open.
    ");
    assert!(!record.is_captured() && row.on_behalf);
}

#[test]
fn a_message_already_in_the_last_checkpoint_is_not_repeated() {
    let mut memory = Memory::default();
    let part = crate::Staged {
        summary: Some("All done.\nNothing is open.".to_owned()),
        ..crate::Staged::default()
    };
    checkpoint(&mut memory, &origin("one", 1), part);
    stage(
        &mut memory,
        "one",
        1,
        &[captured(&[prompt("finish"), said("All done. Nothing is open.")])],
    );
    keep(&mut memory, "one", 2);
    assert_eq!(rows(&memory)[0].1.summary, "All done.\nNothing is open.");
}

#[test]
fn staged_work_without_a_summary_gets_a_generated_one() {
    let mut memory = Memory::default();
    checkpoint(&mut memory, &origin("one", 1), anchors([anchor("a.rs", "1", "x")]));
    stage(&mut memory, "one", 1, &[captured(&a_session())]);
    keep(&mut memory, "one", 2);
    assert_snapshot!(rows(&memory)[0].1.summary, @r"
    Asked: fix the flaky login test (2 prompts); last: thanks
    Edited: /src/app/src/auth.rs, /src/app/src/login.rs
    Failed, then passed: `cargo test login`
    Staged 1 anchor.
    Said last: Anything else?

    I am here.
    ");
    assert_eq!(memory.notices().count(), 1);
}

#[test]
fn a_session_without_prompts_or_edits_leaves_no_row() {
    let mut memory = Memory::default();
    let events = [ran("cargo test", false), ran("cargo test", true), said("ready"), prompt(" \n")];
    stage(&mut memory, "one", 1, &[captured(&events)]);
    keep(&mut memory, "one", 2);
    assert_eq!((rows(&memory).len(), memory.staged().count()), (0, 0));
    assert_eq!(memory.revision().0, 0);
}

#[test]
fn a_client_command_is_not_a_prompt() {
    for steers in ["/clear", " /model opus", "/compact keep the parser", "/mcp", "/plugin:go "] {
        let captured = captured(&[prompt(steers), said("Set.")]);
        assert_eq!((captured.prompts(), captured.leaves_row()), (0, false), "{steers}");
    }
    for asks in ["/review the parser", "/a:b c", "/home/u/x is gone", "//", "/2", "/clearly wrong"]
    {
        assert!(captured(&[prompt("/clear"), prompt(asks)]).leaves_row(), "{asks}");
    }
    let captured = captured(&[prompt("/clear"), prompt("/review the parser")]);
    assert_eq!(captured.row_summary(), "Asked: /review the parser");
    assert!(self::captured(&[prompt("/deploy"), edit("a.rs")]).leaves_row(), "a file was written");
}

#[test]
fn a_conversation_that_continues_after_its_row_was_written_keeps_one_row() {
    let mut memory = Memory::default();
    let events = a_session();
    let (before, after) = events.split_at(5);
    stage(&mut memory, "one", 1, &[captured(before)]);
    keep(&mut memory, "one", 2);
    stage(&mut memory, "one", 3, &[captured(after)]);
    keep(&mut memory, "one", 4);
    assert_eq!(rows(&memory).len(), 1);
    let mut whole = captured(before);
    whole.absorb(&captured(after));
    assert_eq!(rows(&memory)[0].1.captured.as_deref(), Some(&whole.clone().without_trace()));
    assert!(whole.row_summary().contains("Failed, then passed: `cargo test login`"));
}

#[test]
fn a_command_before_a_pipe_does_not_count_as_passed() {
    let noted = captured(&[ran("make check", false), ran("make check | tail -5", true)]);
    assert_eq!((noted.fixed().count(), noted.worked().len()), (0, 0));
    let noted = captured(&[ran("make check", true), ran("make check", false)]);
    assert_eq!(noted.fixed().count(), 0, "it fails now");
}

#[test]
fn a_withheld_file_appears_in_no_step_and_no_later_fix() {
    let failed = "error[E0425]: cannot find value `cfg`\n --> src/withheld.rs:3:1";
    let events = [
        broke("cargo build", failed),
        edit("src/kept.rs"),
        edit("src/withheld/plan.rs"),
        ran("make assets", true),
        edit("src/withheld/last.rs"),
    ];
    let mut noted = captured(&events).without(|text| text.contains("withheld"));
    let json = serde_json::to_string(&noted).unwrap();
    assert!(!json.contains("withheld"), "{json}");
    noted.absorb(&captured(&[ran("cargo build", true)]));
    let files: Vec<&[String]> = noted.fixes().iter().map(|fix| &*fix.files).collect();
    assert_eq!(files, [["src/kept.rs"]]);
    // A name that occurs only in a step is one of the texts that a purge reads.
    let noted = captured(&[broke("cargo build", failed)]);
    assert!(noted.texts().any(|text| text == "withheld.rs"));
}

#[test]
fn activity_is_bounded_and_has_no_secrets_or_injected_text() {
    let long = "wäre 🦀 ".repeat(40_000);
    let key = "ghp_0123456789abcdefABCDEF0123456789abcd";
    let shown = frame("b1 [decision] Store", usize::MAX);
    let mut events = vec![
        prompt(&format!("{shown}use {key} here {long}")),
        said(&format!("{long}{shown}")),
        ran(&format!("curl -H 'Authorization: Bearer {key}' {long}"), false),
    ];
    events.extend((0..200).map(|at| edit(&format!("src/{at}.rs"))));
    events.extend((0..200).map(|at| ran(&format!("make {at} {key}"), at % 2 == 0)));
    let noted = captured(&events);
    let json = serde_json::to_string(&noted).unwrap();
    assert!(!json.contains(key) && !json.contains("[decision]"), "{json}");
    assert!(json.len() < 40_000, "{}", json.len());
    let summary = noted.row_summary();
    assert!(summary.contains("src/199.rs and more"), "{summary}");
    assert!(summary.chars().count() < 4_000);
}

#[test]
fn a_long_prompt_and_message_are_cut_after_a_word() {
    // With seven characters a word, each limit falls within one.
    let long = |word: &str| format!("{word} ").repeat(400);
    let events = [prompt(&long("lagoon")), prompt(&long("pebble")), said(&long("urchin"))];
    let summary = captured(&events).row_summary();
    for end in ["lagoon… (2 prompts)", "pebble…", "urchin…"] {
        assert!(summary.contains(end), "{summary}");
    }
}

#[test]
fn purged_text_is_not_recorded_again() {
    let mut memory = Memory::default();
    let purged = crate::Tombstones::default();
    assert!(purged.of("x").is_none());
    let digests = {
        use sha2::{Digest, Sha256};
        let text = "salt\0the planted prompt";
        vec![base16ct::lower::encode_string(&Sha256::digest(text))]
    };
    let change = Change::Tombstones { salt: "salt".to_owned(), digests, time: day(1) };
    memory.apply(crate::Seq(1), &[change]);
    stage(&mut memory, "one", 1, &[captured(&[prompt("the planted prompt"), edit("a.rs")])]);
    keep(&mut memory, "one", 2);
    assert_eq!(rows(&memory)[0].1.summary, "Edited: a.rs");
}

#[test]
fn captured_rows_rank_and_are_listed_behind_written_ones() {
    let mut memory = Memory::default();
    for on in 1..=5 {
        save(&mut memory, &origin(&format!("saved {on}"), on), crate::Staged::default());
    }
    for on in 6..=9 {
        let session = format!("noted {on}");
        let mut noted = SessionActivity::of("");
        noted.saw(&prompt("worked"), day(on));
        stage(&mut memory, &session, on, &[noted]);
        keep(&mut memory, &session, on);
    }
    let shown = crate::render::newest_rows(&memory, limits::ROWS_SHOWN_MAX);
    let captured: Vec<bool> = shown.iter().map(|row| row.is_captured()).collect();
    assert_eq!(captured, [true, true, false, false, false]);
    let prior = |record: &Record| {
        RetentionParts::of(record, &crate::Accesses::default(), day(9), 1).prior(record)
    };
    let (noted, written) = (prior(shown[0]), prior(shown[2]));
    assert!(noted <= 0.5 && written >= 0.9, "{noted} {written}");
}

fn any_event() -> impl Strategy<Value = Event> {
    let file = (0..40_u8).prop_map(|at| edit(&format!("src/{at}.rs")));
    let run = (0..70_u8, any::<bool>()).prop_map(|(at, passed)| ran(&format!("make {at}"), passed));
    let few = (0..5_u8, 0..3_u8, any::<bool>()).prop_map(|(at, thing, passed)| {
        if passed {
            return ran(&format!("make {at} && tool add thing{thing}"), true);
        }
        broke(&format!("make {at}"), &format!("error: cannot find thing{thing} in 0x{at}"))
    });
    prop_oneof![
        1 => "[a-c \n]{0,6}".prop_map(|text| prompt(&text)),
        2 => file,
        4 => run,
        4 => few,
        1 => "[a-c \n]{0,6}".prop_map(|text| said(&text)),
        1 => Just(Event::TurnEnded { last_message: None }),
        1 => Just(Event::Reset),
    ]
}

proptest! {
    #[test]
    fn splitting_activity_into_batches_changes_nothing(
        events in prop::collection::vec(any_event(), 0..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| cut.index(events.len() + 1)).collect();
        cuts.extend([0, events.len()]);
        cuts.sort_unstable();
        let times: Vec<Timestamp> = (0..).map(|at| Timestamp(day(1).0 + at)).take(events.len()).collect();
        let batches: Vec<SessionActivity> = cuts
            .windows(2)
            .map(|cut| {
                let mut batch = SessionActivity::of("codex:1");
                for at in cut[0]..cut[1] {
                    batch.saw(&events[at], times[at]);
                }
                batch
            })
            .collect();
        let mut at_once = SessionActivity::of("codex:1");
        events.iter().zip(&times).for_each(|(event, time)| at_once.saw(event, *time));
        let mut added = SessionActivity::default();
        for batch in &batches {
            added.absorb(batch);
        }
        prop_assert_eq!(&added, &at_once);

        let (mut one, mut many) = (Memory::default(), Memory::default());
        stage(&mut one, "one", 1, &[at_once]);
        stage(&mut many, "one", 1, &batches);
        keep(&mut one, "one", 2);
        keep(&mut many, "one", 2);
        let rows = |memory: &Memory| memory.records().cloned().collect::<Vec<_>>();
        prop_assert_eq!(rows(&one), rows(&many));
        let lessons = one.active_of(Kind::Lesson).count();
        prop_assert!(lessons <= limits::CAPTURED_FIXES_MAX, "{} lessons", lessons);
    }
}
