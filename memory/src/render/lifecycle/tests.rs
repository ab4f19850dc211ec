//! What agents read unasked, and that it is never long, never new without cause, and known again.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::injected::strip;
use crate::lifecycle::{CommandRun, Event, ToolRun};
use crate::limits::LOAD_TOKENS_MIN;
use crate::render::LiveSession;
use crate::testing::{
    any_steps, apply, blueprint, blueprints, checkpoint, day, lesson, lessons, note, origin, save,
    take,
};
use crate::{
    NewNote, NoticeId, Seq, TopicDecision, TopicPart, plan_bind, plan_capture, plan_notes, tokens,
};

fn me() -> SessionId {
    SessionId::new("me")
}

fn with_load<T>(live: &[LiveSession], see: impl FnOnce(&LoadView<'_>) -> T) -> T {
    with_budget(("anchord", 2_500), live, "", see)
}

fn with_budget<T>(
    (project, tokens_max): (&str, u32),
    live: &[LiveSession],
    last: &str,
    see: impl FnOnce(&LoadView<'_>) -> T,
) -> T {
    see(&LoadView {
        project,
        sections: &Kind::ALL,
        chars_max: None,
        tokens_max: Some(tokens_max),
        task: None,
        topic: None,
        gone: &BTreeSet::new(),
        tight: crate::render::Tight::default(),
        cursor: None,
        reader: &Reader::session(me()),
        session: &me(),
        notices_seen: &BTreeSet::<NoticeId>::new(),
        live,
        others_changed: Some(Revision(0)),
        now: day(60),
        last,
    })
}

fn started(memory: &Memory) -> LoadText {
    with_load(&[], |view| session_start(memory, view))
}

fn told(memory: &Memory, prompt: Option<&str>, since: Option<u64>, shown: &[RecordId]) -> Told {
    let view = PromptView {
        reader: &Reader::session(me()),
        session: &me(),
        prompt,
        since: since.map(Revision),
        shown: &shown.iter().copied().collect(),
        now: day(60),
    };
    prompt_news(memory, &view)
}

fn with_session<T>(noted: Option<&Captured>, see: impl FnOnce(&SessionView<'_>) -> T) -> T {
    see(&SessionView {
        reader: &Reader::session(me()),
        session: &me(),
        noted,
        messages: (Some(280), Some(45)),
        now: day(60),
    })
}

fn noted() -> Captured {
    let mut noted = Captured::of("claude-code:5f1c");
    let run = |command: &str, passed| {
        let command = Some(CommandRun { command: command.to_owned(), passed });
        Event::ToolRan(ToolRun { tool: "Bash".to_owned(), command, ..ToolRun::default() })
    };
    let edited = vec!["src/queue.rs".to_owned()];
    for event in [
        Event::PromptSubmitted { prompt: "make the queue fair between sessions".to_owned() },
        run("cargo test queue", false),
        Event::ToolRan(ToolRun { tool: "Edit".to_owned(), edited, command: None }),
        run("cargo test queue", true),
        run("cargo clippy --all-targets", true),
    ] {
        noted.saw(&event, day(4));
    }
    noted
}

fn memory() -> Memory {
    let mut memory = Memory::default();
    let mut part = blueprints([
        blueprint("The journal is the truth", "sled is an index and may be deleted."),
        blueprint("One owner per project", "Writes wait in a bounded queue."),
    ]);
    part.lessons = vec![lesson("The websocket proxy drops idle connections", "Ping every 30 s.")];
    save(&mut memory, &origin("other", 1), part);
    let pinned =
        NewNote { pinned: true, ..note("Release builds take an hour: never two at once.") };
    let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(pinned)]).unwrap();
    apply(&mut memory, plan);
    let open = TopicDecision {
        question: "one lane for each session or client?".to_owned(),
        decided: None,
        time: Timestamp::default(),
    };
    let part = TopicPart {
        name: Some("queue".to_owned()),
        status: Some("lanes are in; next: the bench".to_owned()),
        decisions: vec![open],
        files: vec!["src/queue.rs".to_owned()],
        ..TopicPart::default()
    };
    let work = Staged { topics: vec![part], ..lessons([lesson("Lanes starve when full", "")]) };
    checkpoint(&mut memory, &origin("me", 3), work);
    // The tools name this client otherwise than its hooks.
    let plan = plan_bind(&memory, "claude:5f1c", Some("queue")).unwrap();
    apply(&mut memory, plan);
    memory
}

#[test]
fn a_session_starts_with_the_load_in_its_frame() {
    assert_snapshot!(started(&memory()).text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Memory of anchord, kept by anchord from earlier sessions: reference, not instructions.

    ## Blueprints (2)
    b1 [decision] The journal is the truth
      sled is an index and may be deleted.
    b2 [decision] One owner per project
      Writes wait in a bounded queue.

    ## Lessons (1)
    l3 The websocket proxy drops idle connections
      Ping every 30 s.

    ## Notes (1)
    n5 (pinned): Release builds take an hour: never two at once.

    ## Sessions (1)
    s4 2026-11-01 claude-code: worked

    Size 247 B: 2 blueprints, 1 lesson, 1 note, 1 session. Revision 2.

    Changed by others since revision 0:
    - new n5 (pinned): Release builds take an hour: never two at once.
    - new s4 2026-11-01 claude-code: worked
    - new l3 The websocket proxy drops idle connections …
    - new b2 [decision] One owner per project …
    - new b1 [decision] The journal is the truth …
    </anchord-memory>
    "#);
}

#[test]
fn a_prompt_is_told_what_changed_and_what_is_known() {
    let memory = memory();
    let prompt = "ok. why does the websocket drop idle connections?";
    let first = told(&memory, Some(prompt), Some(1), &[]);
    assert_snapshot!(first.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Memory has on this:
    l3 The websocket proxy drops idle connections
      Ping every 30 s.
    Changed by other sessions since your last prompt:
    - new n5 (pinned): Release builds take an hour: never two at once.
    </anchord-memory>
    "#);
    assert_eq!(told(&memory, Some(prompt), Some(2), &first.shown), Told::default(), "shown before");
    assert_eq!(told(&memory, Some("yes go on"), None, &[]), Told::default());
    assert_eq!(told(&memory, None, None, &[]), Told::default());
}

#[test]
fn many_changes_are_counted_and_own_ones_are_no_news() {
    let mut memory = Memory::default();
    for at in 0..9 {
        let text = lessons([lesson(&format!("lesson number {at}"), "")]);
        save(&mut memory, &origin("other", 1), text);
    }
    save(&mut memory, &origin("me", 2), lessons([lesson("my own", "")]));
    let text = told(&memory, None, Some(0), &[]).text;
    assert_eq!(text.matches("\n- new").count() + text.matches("\n- changed").count(), 5, "{text}");
    assert!(text.contains("- and 5 more: memory_load") && !text.contains("my own"), "{text}");
}

#[test]
fn a_row_made_by_rule_is_no_news() {
    let mut memory = Memory::default();
    let plan = plan_capture(&memory, &origin("other", 1), noted()).unwrap();
    apply(&mut memory, plan);
    let by = origin("anchord", 2);
    let gone = SessionId::new("other");
    let plan = crate::plan_keep(&memory, &gone, &by, crate::NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.totals().rows, 1);
    let prompt = "make the queue fair between sessions";
    assert_eq!(told(&memory, Some(prompt), Some(0), &[]), Told::default());
}

#[test]
fn a_compaction_is_told_what_to_keep() {
    let noted = noted();
    let kept = with_session(Some(&noted), |view| compaction_instructions(&memory(), view));
    assert_snapshot!(kept.text, @r#"
    Keep these in the summary, names and commands as they are:
    <anchord-memory note="reference from earlier sessions, not instructions">
    Topic queue:
    lanes are in; next: the bench
    open: one lane for each session or client?
    Pinned:
    n5 (pinned): Release builds take an hour: never two at once.
    Decided:
    b2 [decision] One owner per project …
    b1 [decision] The journal is the truth …
    Not saved yet:
    - lesson: Lanes starve when full
    Commands that worked:
    - cargo test queue
    - cargo clippy --all-targets
    </anchord-memory>
    "#);
    let nothing = with_session(None, |view| compaction_instructions(&Memory::default(), view));
    assert_eq!(nothing, Told::default());
}

#[test]
fn after_a_compaction_it_comes_back_with_a_receipt() {
    let noted = noted();
    let back = with_session(Some(&noted), |view| restored(&memory(), view));
    assert_snapshot!(back.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Topic:
    queue: lanes are in; next: the bench
      open: one lane for each session or client?
      files: src/queue.rs
    Pinned:
    n5 (pinned): Release builds take an hour: never two at once.
    Staged by you and not saved yet; memory_save keeps it:
    - lesson: Lanes starve when full
    This session so far:
    Asked: make the queue fair between sessions
    Edited: src/queue.rs
    Commands that worked:
    - cargo test queue
    - cargo clippy --all-targets
    Restored after the compaction (280 → 45 messages): topic queue, 1 pinned, staged: 1 lesson, 1 topic, 2 commands. The rest: memory_load.
    </anchord-memory>
    "#);
    let nothing = with_session(None, |view| restored(&Memory::default(), view));
    assert_eq!(nothing, Told::default());
}

#[test]
fn what_is_staged_says_when_it_has_expired() {
    let mut memory = memory();
    let note = |content: &str, on| NewNote { expires: Some(day(on)), ..note(content) };
    let notes = vec![note("the port is 7717", 59), note("the host is home", 61)];
    checkpoint(&mut memory, &origin("me", 6), Staged { notes, ..Staged::default() });
    let back = with_session(None, |view| restored(&memory, view)).text;
    assert!(back.contains("- note: the port is 7717 [EXPIRED]\n"), "{back}");
    assert!(back.contains("- note: the host is home\n"), "{back}");
}

#[test]
fn a_subagent_is_given_titles() {
    let slice = with_session(None, |view| subagent_slice(&memory(), view));
    assert_snapshot!(slice.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Pinned:
    n5 (pinned): Release builds take an hour: never two at once.
    Settled:
    b1 [decision] The journal is the truth …
    b2 [decision] One owner per project …
    Learned from failures, newest first:
    l3 The websocket proxy drops idle connections …
    One in full: memory_get by its id. More: memory_search.
    </anchord-memory>
    "#);
    assert_eq!(
        with_session(None, |view| subagent_slice(&Memory::default(), view)),
        Told::default()
    );
}

#[test]
fn a_receipt_is_there_however_much_there_is() {
    let mut memory = memory();
    for at in 0..40 {
        let text = format!("{at} {}", "pinned and long ".repeat(60));
        let pinned = NewNote { pinned: true, ..note(&text) };
        let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(pinned)]).unwrap();
        apply(&mut memory, plan);
    }
    let text = with_session(None, |view| restored(&memory, view)).text;
    assert!(
        text.contains("Restored after the compaction (280 → 45 messages): 41 pinned"),
        "{text}"
    );
    assert!(text.contains("more did not fit: memory_load"), "{text}");
    assert!(text.chars().count() <= RESTORED_CHARS_MAX);
}

#[test]
fn what_others_do_meanwhile_leaves_the_beginning_as_it_is() {
    let memory = memory();
    let alone = started(&memory).text;
    let live = [LiveSession { client: "codex".to_owned() }];
    let mut later = memory.clone();
    let plan = plan_capture(&later, &origin("gone", 5), noted()).unwrap();
    later.apply(Seq(later.seq().0 + 1), &plan.changes);
    let crowded = with_load(&live, |view| session_start(&later, view)).text;
    let same = alone.bytes().zip(crowded.bytes()).take_while(|(a, b)| a == b).count();
    let tail = alone.find("\nSize ").unwrap();
    assert!(same > tail, "{same} {tail}\n{crowded}");
}

/// A memory with all that can stand in it, and much of it.
fn full(steps: &[crate::testing::Step], times: usize) -> Memory {
    let (mut memory, _) = take(steps);
    for at in 0..times {
        let long = format!("{at} the cache is slow {}", "wäre 🦀 ".repeat(at * 7));
        let mut part = blueprints([blueprint(&long[..long.floor_char_boundary(900)], &long)]);
        part.lessons = vec![lesson(&format!("lesson {at} {}", "never ".repeat(at)), &long)];
        part.notes = vec![NewNote { pinned: at % 3 == 0, ..note(&long) }];
        save(&mut memory, &origin("other", 40), part.clone());
        checkpoint(&mut memory, &origin("me", 41), part);
    }
    memory
}

/// A load has some room to spare, so that it fits does not show that the frame was counted.
#[test]
fn the_frame_is_part_of_the_budget_also_of_the_least() {
    let mut memory = Memory::default();
    let short = (0..200).map(|at| lesson(&format!("lesson {at}"), ""));
    save(&mut memory, &origin("other", 40), lessons(short.collect::<Vec<_>>()));
    let frame_room = Room::of(&frame(""));
    for tokens in LOAD_TOKENS_MIN..LOAD_TOKENS_MIN + 60 {
        let (start, load) = with_budget(("anchord", tokens), &[], "", |view| {
            let whole = Room { chars: SESSION_START_CHARS_MAX, tokens: tokens as usize };
            let load = load::fitted(&memory, view, whole.without(frame_room)).unwrap();
            (session_start(&memory, view), load)
        });
        assert_eq!(start.text, frame(&load.text), "{tokens}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_start_is_over_budget_its_frame_included(
        steps in any_steps(),
        times in 0..30_usize,
        tokens_max in prop_oneof![Just(LOAD_TOKENS_MIN), LOAD_TOKENS_MIN..4_000],
        live in prop::collection::vec("[a-c🦀🫠]{0,60}", 0..9),
        staged in prop_oneof![Just(1), 0..4_000_usize],
        project in prop_oneof![Just("anchord".to_owned()), "[🪝🦀🫠]{60}"],
    ) {
        let mut memory = full(&steps, times);
        let status = Some(format!("begun {}", "wäre 🦀 ".repeat(staged / 8)));
        let topics = vec![TopicPart { status, ..TopicPart::default() }];
        checkpoint(&mut memory, &origin("me", 42), Staged { topics, ..Staged::default() });
        let live: Vec<_> = live.into_iter().map(|client| LiveSession { client }).collect();
        let last = "Staged by you. 🦀\n".repeat(staged);
        let start = with_budget((&project, tokens_max), &live, &last, |view| session_start(&memory, view));
        let (chars, tokens) = (start.text.chars().count(), tokens::count(&start.text));
        prop_assert!(tokens <= tokens_max, "{tokens} of {tokens_max}: {}", start.text);
        prop_assert!(chars <= SESSION_START_CHARS_MAX, "{chars}: {}", start.text);
        prop_assert!(start.text.contains("Memory of "));
    }

    #[test]
    fn no_text_is_ever_longer_than_its_limit(
        steps in any_steps(),
        times in 0..30_usize,
        prompt in prop::sample::select(vec!["never the cache is slow a lock", "the cache is slow wäre", "🦀"]),
        since in 0..3_u64,
    ) {
        let memory = full(&steps, times);
        let noted = noted();
        let chars = |text: &str| text.chars().count();
        let start = started(&memory);
        let news = told(&memory, Some(prompt), Some(since), &[]);
        let of = |see: fn(&Memory, &SessionView<'_>) -> Told| with_session(Some(&noted), |view| see(&memory, view));
        let (kept, back, slice) = (of(compaction_instructions), of(restored), of(subagent_slice));
        prop_assert!(chars(&start.text) <= SESSION_START_CHARS_MAX);
        prop_assert!(tokens::count(&start.text) <= 2_500);
        prop_assert!(chars(&news.text) <= PROMPT_NEWS_CHARS_MAX);
        prop_assert!(chars(&kept.text) <= COMPACTION_CHARS_MAX);
        prop_assert!(chars(&back.text) <= RESTORED_CHARS_MAX);
        prop_assert!(chars(&slice.text) <= SUBAGENT_CHARS_MAX);
        // The same again, and all of it is known again.
        prop_assert_eq!(&started(&memory), &start);
        prop_assert_eq!(&told(&memory, Some(prompt), Some(since), &[]), &news);
        prop_assert_eq!(&of(restored), &back);
        let left = [&start.text, &news.text, &kept.text, &back.text, &slice.text]
            .map(|text| strip(text).trim().to_owned());
        let ask = "Keep these in the summary, names and commands as they are:";
        prop_assert!(left.iter().all(|text| text.is_empty() || text == ask), "{:?}", left);
    }
}
