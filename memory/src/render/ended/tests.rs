//! Tests that ended sessions' work is shown in full where it fits and counted where it is cut. It
//! never exceeds its room.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::activity::SessionActivity;
use crate::kinds::note::NewNote;
use crate::lifecycle::Event;
use crate::record::Lesson;
use crate::testing::{anchor, any_part, blueprint, day, lesson, note};
use crate::{TopicDecision, TopicPart};

fn session(client: &str, on: i64, staged: Staged) -> EndedSession {
    EndedSession { client: client.into(), ended: day(on), staged: Arc::new(staged) }
}

fn said(text: &str) -> Box<SessionActivity> {
    let mut captured = SessionActivity::of("claude-code:5f1c");
    captured.saw(&Event::PromptSubmitted { prompt: "show gross prices".to_owned() }, day(1));
    captured.saw(&Event::TurnEnded { last_message: Some(text.to_owned()) }, day(1));
    Box::new(captured)
}

fn decision(question: &str, decided: Option<&str>) -> TopicDecision {
    let decided = decided.map(str::to_owned);
    TopicDecision { question: question.to_owned(), decided, time: Timestamp::default() }
}

fn work() -> Staged {
    Staged {
        summary: Some("Prices come from one place now.\nThe cart is next.".to_owned()),
        blueprints: vec![blueprint("Money is integers", "Cents, never floats.\n\nRound once.")],
        anchors: vec![anchor("src/price.rs", "10-20", "the only rounding")],
        lessons: vec![Lesson {
            files: vec!["src/price.rs".to_owned()],
            ..lesson("Round after summing", "Rounding each line lost a cent.")
        }],
        notes: vec![
            note("The demo shop runs on port 8080."),
            NewNote { private: true, ..note("my own scratch") },
        ],
        topics: vec![TopicPart {
            status: Some("cart half done".to_owned()),
            decisions: vec![
                decision("Show net prices?", None),
                decision("Which currency?", None),
                decision("which  currency?", Some("EUR")),
            ],
            ..TopicPart::default()
        }],
        captured: Some(said("Net prices are still shown; that is open.")),
        ..Staged::default()
    }
}

fn shown(sessions: &[EndedSession], chars_max: usize, tokens_max: usize) -> EndedText {
    let shown = ended(sessions, chars_max, tokens_max, &Audience::Agent);
    assert!(shown.text.chars().count() <= chars_max, "{}", shown.text);
    assert!(tokens::count(&shown.text) as usize <= tokens_max, "{}", shown.text);
    shown
}

#[test]
fn everything_is_shown_in_full_if_there_is_room() {
    let shown = shown(&[session("claude-code", 2, work())], 3_000, 1_000);
    assert_snapshot!(shown.text, @r"
    Kept from a session that ended without saving (claude-code, 2026-11-02 12:00 UTC):
    - Its last checkpoint: Prices come from one place now.
      The cart is next.
    - Said last: Net prices are still shown; that is open.
    - topic main: cart half done
      open: Show net prices?
      decided: which currency? -> EUR
    - blueprint [decision] Money is integers
      Cents, never floats.

      Round once.
    - lesson: Round after summing (src/price.rs)
      Rounding each line lost a cent.
    - anchor: src/price.rs -> 10-20 -> the only rounding
    - note: The demo shop runs on port 8080.
    ");
    assert!(!shown.truncated);
}

#[test]
fn records_that_do_not_fit_become_titles_and_then_a_count() {
    let mut staged = work();
    staged.blueprints.push(blueprint("Long", &"It goes on and on. ".repeat(200)));
    staged.notes.extend((0..60).map(|at| note(&format!("Note {at} has some words in it"))));
    let shown = shown(&[session("codex", 2, staged)], 1_200, 1_000);
    assert!(shown.truncated);
    assert_snapshot!(shown.text, @r"
    Kept from a session that ended without saving (codex, 2026-11-02 12:00 UTC):
    - Its last checkpoint: Prices come from one place now.
      The cart is next.
    - Said last: Net prices are still shown; that is open.
    - topic main: cart half done
      open: Show net prices?
      decided: which currency? -> EUR
    - blueprint [decision] Money is integers
      Cents, never floats.

      Round once.
    - blueprint [decision] Long …
    - lesson: Round after summing (src/price.rs)
      Rounding each line lost a cent.
    - anchor: src/price.rs -> 10-20 -> the only rounding
    - note: The demo shop runs on port 8080.
    - note: Note 0 has some words in it
    - note: Note 1 has some words in it
    - note: Note 2 has some words in it
    Cut to fit: 1 blueprint by title (…), 57 notes not shown. memory_search finds the rest once it is folded, usually within a minute.
    ");
}

#[test]
fn a_session_without_a_summary_shows_its_prompt() {
    let staged = Staged { captured: Some(said("Done.")), ..Staged::default() };
    assert_snapshot!(shown(&[session("", 2, staged)], 3_000, 1_000).text, @r"
    Kept from a session that ended without saving (2026-11-02 12:00 UTC):
    - Asked: show gross prices
    - Said last: Done.
    ");
}

#[test]
fn private_notes_are_not_shown() {
    let private = vec![NewNote { private: true, ..note("my own scratch") }];
    let staged = Staged { notes: private, ..Staged::default() };
    assert_eq!(shown(&[session("codex", 2, staged)], 3_000, 1_000), EndedText::default());
}

#[test]
fn the_latest_to_end_comes_first_and_the_rest_are_counted() {
    let summary = |at: i64| Staged { summary: Some(format!("step {at}")), ..Staged::default() };
    let sessions: Vec<_> = (1..=7).map(|at| session("codex", at, summary(at))).collect();
    let shown = shown(&sessions, 3_000, 1_000);
    let at = |text: &str| shown.text.find(text);
    assert!(at("step 7").is_some() && at("step 7") < at("step 6"), "{}", shown.text);
    assert!(at("step 2").is_none(), "{}", shown.text);
    assert!(shown.text.contains("2 more sessions ended without saving"), "{}", shown.text);
    assert!(shown.truncated);
}

#[test]
fn a_budget_too_small_for_anything_still_counts_the_sessions() {
    let sessions = [session("codex", 2, work())];
    let shown = shown(&sessions, 140, 60);
    assert_snapshot!(shown.text, @"1 session ended without saving. memory_search finds the work once it is folded, usually within a minute.");
    assert_eq!(self::shown(&sessions, 10, 5), EndedText { text: String::new(), truncated: true });
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded_and_every_cut_is_mentioned(
        parts in prop::collection::vec(any_part(), 0..4),
        chars_max in 0_usize..2_000,
        tokens_max in 0_usize..600,
    ) {
        let sessions: Vec<_> =
            (1..).zip(parts).map(|(on, part)| session("codex", on, part)).collect();
        let some = shown(&sessions, chars_max, tokens_max);
        let all = shown(&sessions, 100_000, 100_000);
        prop_assert!(!all.truncated);
        prop_assert_eq!(some.truncated, some.text != all.text);
        prop_assert!(some.truncated || some.text == all.text);
    }
}

#[test]
fn a_person_is_shown_commands() {
    let sessions: Vec<EndedSession> = (1..9).map(|day| session("codex", day, work())).collect();
    let person = Audience::Person(crate::Shell::default());
    let text = ended(&sessions, 1_500, 400, &person).text;
    insta::assert_snapshot!(text, @"
    Kept from a session that ended without saving (codex, 2026-11-06 12:00 UTC):
    - topic main: cart half done …
    Cut to fit: 2 lines about it not shown, 1 blueprint not shown, 1 anchor not shown, 1 lesson not shown, 1 note not shown, 1 topic by title (…). `anchord search` finds the rest once it is folded, usually within a minute.
    Kept from a session that ended without saving (codex, 2026-11-05 12:00 UTC):
    - Its last checkpoint: Prices come from one place now. …
    Cut to fit: 1 line about it by title (…), 1 line about it not shown, 1 blueprint not shown, 1 anchor not shown, 1 lesson not shown, 1 note not shown, 1 topic not shown. `anchord search` finds the rest once it is folded, usually within a minute.
    Kept from a session that ended without saving (codex, 2026-11-04 12:00 UTC):
    - Its last checkpoint: Prices come from one place now. …
    - topic main: cart half done …
    Cut to fit: 1 line about it by title (…), 1 line about it not shown, 1 blueprint not shown, 1 anchor not shown, 1 lesson not shown, 1 note not shown, 1 topic by title (…). `anchord search` finds the rest once it is folded, usually within a minute.
    5 more sessions ended without saving. `anchord search` finds the work once it is folded, usually within a minute.
    ");
}
