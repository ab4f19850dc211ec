//! Texts that agents read unasked: they are short, change only with cause, and are recognised
//! again.

mod compaction;
mod news;

use std::collections::BTreeSet;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::activity::SessionActivity;
use crate::ids::{Revision, Timestamp};
use crate::injected::strip;
use crate::lifecycle::{CommandRun, Event, ToolRun};
use crate::limits::{
    ACTION_CHARS_MAX, COMPACTION_CHARS_MAX, LOAD_TOKENS_MIN, PROMPT_CHARS_MAX, RESTORED_CHARS_MAX,
    SUBAGENT_CHARS_MAX,
};
use crate::testing::{
    any_steps, apply, blueprint, blueprints, checkpoint, day, lesson, lessons, note, origin, save,
    take,
};
use crate::{
    NewNote, NoticeId, Seq, Staged, TopicDecision, TopicPart, plan_bind, plan_capture, plan_notes,
    tokens,
};

fn me() -> SessionId {
    SessionId::new("me")
}

fn with_load<T>(live: &[String], see: impl FnOnce(&LoadView<'_>) -> T) -> T {
    with_budget(("anchord", 2_500), live, "", see)
}

fn with_budget<T>(
    (project, tokens_max): (&str, u32),
    live: &[String],
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
        personal: None,
        just_ended: &[],
        read_only: None,
        file_rules: FileRulesView::default(),
        last,
        part: false,
        audience: &Audience::Agent,
    })
}

fn started(memory: &Memory) -> LoadText {
    with_load(&[], |view| session_start(memory, view))
}

fn prompted(
    memory: &Memory,
    prompt: Option<&str>,
    since: Option<u64>,
    given: &[RecordId],
) -> RenderedContext {
    let view = PromptContext {
        reader: &Reader::session(me()),
        session: &me(),
        prompt,
        since: since.map(Revision),
        given: &given.iter().copied().collect(),
        now: day(60),
    };
    prompt_context(memory, &view)
}

fn with_session<T>(
    activity: Option<&SessionActivity>,
    see: impl FnOnce(&CompactionView<'_>) -> T,
) -> T {
    let reader = Reader::session(me());
    see(&CompactionView { reader: &reader, session: &me(), activity, now: day(60) })
}

fn instructed(memory: &Memory, activity: Option<&SessionActivity>) -> RenderedContext {
    instructed_with(memory, activity, FileRulesView::default())
}

fn instructed_with(
    memory: &Memory,
    activity: Option<&SessionActivity>,
    file_rules: FileRulesView<'_>,
) -> RenderedContext {
    with_session(activity, |view| compaction_instructions(memory, view, &file_rules))
}

fn back(memory: &Memory, activity: Option<&SessionActivity>) -> LoadText {
    with_session(activity, |view| with_load(&[], |load| restored(memory, view, load)))
}

fn for_subagent(memory: &Memory, task: Option<&str>) -> RenderedContext {
    for_subagent_of(memory, task, None)
}

fn for_subagent_of(
    memory: &Memory,
    task: Option<&str>,
    personal: Option<&Memory>,
) -> RenderedContext {
    let reader = Reader::session(me());
    let file_rules = FileRulesView::default();
    let now = day(60);
    subagent_context(memory, &SubagentContext { reader: &reader, task, personal, file_rules, now })
}

fn activity() -> SessionActivity {
    let mut activity = SessionActivity::of("claude-code:5f1c");
    let run = |command: &str, passed| {
        let command = Some(CommandRun::judge(command.to_owned(), Some(passed), ""));
        Event::ToolRan(ToolRun { tool: "Bash".to_owned(), command, ..ToolRun::default() })
    };
    let edited = vec!["src/queue.rs".to_owned()];
    for event in [
        Event::PromptSubmitted { prompt: "make the queue fair between sessions".to_owned() },
        run("cd queue && cargo test 2>&1", false),
        Event::ToolRan(ToolRun { tool: "Edit".to_owned(), edited, ..ToolRun::default() }),
        run("cd queue && cargo test 2>&1", true),
        run("cargo clippy --all-targets", true),
    ] {
        activity.saw(&event, day(4));
    }
    activity
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
    // The tools name this client differently from its hooks.
    let plan = plan_bind(&memory, "claude:5f1c", Some("queue")).unwrap();
    apply(&mut memory, plan);
    memory
}

#[test]
fn a_session_starts_with_the_framed_load() {
    assert_snapshot!(started(&memory()).text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
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
    </anchord-memory>
    "#);
}

#[test]
fn a_prompt_is_given_changes_and_relevant_records() {
    let memory = memory();
    let prompt = "ok. why does the websocket drop idle connections?";
    let first = prompted(&memory, Some(prompt), Some(1), &[]);
    assert_snapshot!(first.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Memory has on this:
    l3 The websocket proxy drops idle connections (2026-11-01)
      Ping every 30 s.
    Changed by other sessions since your last prompt:
    - new n5 (pinned): Release builds take an hour: never two at once.
    </anchord-memory>
    "#);
    let ids: Vec<String> = first.shown.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["l3", "n5"]);
    assert_eq!(first.whole, first.shown[..1]);
    let both = prompted(&memory, Some(prompt), Some(0), &[]).text;
    assert_eq!(both.matches("l3 The websocket").count(), 1, "it is no news beside itself: {both}");
    assert!(both.contains("- new b2"), "{both}");
    let again = prompted(&memory, Some(prompt), Some(2), &first.whole);
    assert_eq!(again, RenderedContext::default(), "given before");
    assert_eq!(prompted(&memory, Some("yes go on"), None, &[]), RenderedContext::default());
    assert_eq!(prompted(&memory, None, None, &[]), RenderedContext::default());
}

#[test]
fn the_relevant_sentence_comes_first_and_a_cut_record_is_not_given_in_full() {
    let mut memory = memory();
    let talk =
        "We looked at many things that day and wrote most of them down elsewhere. ".repeat(24);
    let text = format!("{talk}Never restart the mailer while the outbox drains. {talk}");
    let plan = plan_notes(&memory, &origin("other", 3), vec![Ok(note(&text))]).unwrap();
    apply(&mut memory, plan);
    let given = prompted(&memory, Some("restart the mailer, the outbox is full"), None, &[]);
    let line = given.text.lines().find(|line| line.starts_with('n')).unwrap();
    let begins = line.split_once(": ").unwrap().1;
    assert!(begins.starts_with("Never restart the mailer while the outbox drains."), "{line}");
    assert!(!given.shown.is_empty() && given.whole.is_empty(), "{given:?}");
    assert!(tokens::count(&given.text) <= crate::limits::PROMPT_RECORDS_TOKENS_MAX + 60);
}

#[test]
fn many_changes_are_counted_and_own_ones_left_out() {
    let mut memory = Memory::default();
    for at in 0..9 {
        let text = lessons([lesson(&format!("lesson number {at}"), "")]);
        save(&mut memory, &origin("other", 1), text);
    }
    save(&mut memory, &origin("me", 2), lessons([lesson("my own", "")]));
    let text = prompted(&memory, None, Some(0), &[]).text;
    assert_eq!(text.matches("\n- new").count() + text.matches("\n- changed").count(), 5, "{text}");
    let since = day(1).minute();
    let rest = format!(r#"- and 5 more; memory_search {{"since":"{since}"}} lists what was"#);
    assert!(text.contains(&rest) && !text.contains("my own"), "{text}");
}

#[test]
fn a_captured_row_is_not_reported_as_a_change() {
    let mut memory = Memory::default();
    let plan = plan_capture(&memory, &origin("other", 1), activity()).unwrap();
    apply(&mut memory, plan);
    let by = origin("anchord", 2);
    let gone = SessionId::new("other");
    let plan = crate::plan_keep(&memory, &gone, &by, crate::NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    assert_eq!(memory.totals().active.rows, 1);
    let prompt = "make the queue fair between sessions";
    assert_eq!(prompted(&memory, Some(prompt), Some(0), &[]), RenderedContext::default());
    assert_eq!(resumed(&memory, Revision(0), &me(), day(60)), RenderedContext::default());
}

#[test]
fn a_subagent_gets_records_about_its_task_and_titles_of_others() {
    let slice = for_subagent(&memory(), Some("find out why the websocket proxy drops connections"));
    assert_snapshot!(slice.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Memory has on this:
    l3 The websocket proxy drops idle connections (2026-11-01)
      Ping every 30 s.
    Pinned:
    n5: Release builds take an hour: never two at once.
    Settled:
    b2 [decision] One owner per project …
    b1 [decision] The journal is the truth …
    </anchord-memory>
    "#);
    assert_eq!(for_subagent(&Memory::default(), Some("anything")), RenderedContext::default());
}

#[test]
fn a_subagent_gets_each_user_note_with_its_own_id() {
    let long = format!("reviews every change {}", "and the next one ".repeat(40));
    let user = crate::testing::personal([
        NewNote { importance: Some(9), ..note("small pull requests,\none topic each") },
        note(&long),
    ]);
    let slice = for_subagent_of(&Memory::default(), None, Some(&user));
    let text = "The user's own notes:\nu1: small pull requests,\n  one topic each\nu2: reviews";
    assert!(slice.text.contains(text), "{}", slice.text);
    let ids: Vec<String> = slice.shown.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["u1", "u2"]);
    assert_eq!(slice.whole, slice.shown[..1]);
    assert!(!slice.truncated);
}

#[test]
fn a_user_note_without_room_is_counted_once_and_never_cut() {
    let note_lines = "small pull requests,\none topic each,\nand tests with each";
    let user = crate::testing::personal([note(note_lines)]);
    let whole = "u1: small pull requests,\n  one topic each,\n  and tests with each\n";
    let mut counted = 0;
    // Pinned records come before the user's notes, and leave them more or less room.
    for chars in 1..145 {
        let pinned = |at: usize, chars: usize| NewNote {
            pinned: true,
            ..note(&format!("{at:02} {}", "x".repeat(chars)))
        };
        let mut memory = Memory::default();
        let notes = (0..17).map(|at| pinned(at, 140)).chain([pinned(17, chars)]).map(Ok);
        let plan = plan_notes(&memory, &origin("other", 1), notes.collect()).unwrap();
        apply(&mut memory, plan);
        let slice = for_subagent_of(&memory, None, Some(&user));
        if slice.text.contains(whole) {
            assert!(!slice.truncated);
        } else {
            counted += 1;
            assert!(!slice.text.contains("small"), "{}", slice.text);
            assert!(slice.text.contains("\n1 more did not fit"), "{}", slice.text);
        }
    }
    assert!(counted > 0 && counted < 144, "{counted}");
}

#[test]
fn titles_without_room_are_counted() {
    let mut memory = memory();
    let many = (0..400).map(|at| blueprint(&format!("Decision number {at}"), "Because."));
    save(&mut memory, &origin("other", 7), blueprints(many.collect::<Vec<_>>()));
    let slice = for_subagent(&memory, None);
    // One note is pinned, and two blueprints and a lesson are older.
    let missing = 404 - slice.shown.len();
    let call = r#"memory_load {"sections":["blueprints","lessons"]} shows them"#;
    let counted = format!("\n{missing} more did not fit; {call}.\n");
    assert!(slice.text.contains(&counted), "{}", slice.text);
    assert!(slice.truncated && missing > 300);
}

#[test]
fn only_records_that_name_a_file_are_given_for_it() {
    let mut memory = memory();
    let mut part = blueprints([blueprint("Taxes", "Round in src/billing/tax.py, nowhere else.")]);
    part.lessons = vec![crate::Lesson {
        files: vec!["src/billing/tax.py".to_owned()],
        ..lesson("Tax was rounded twice", "Round once, at the end.")
    }];
    part.anchors = vec![
        crate::testing::anchor("src/billing/tax.py", "10-42", "the only place that rounds"),
        crate::testing::anchor("src/billing/invoice.py", "1", "adds up"),
    ];
    save(&mut memory, &origin("other", 3), part);
    let nothing = BTreeSet::new();
    let told = |file: &str, given: &BTreeSet<RecordId>| {
        let reader = Reader::session(me());
        file_context(
            &memory,
            &FileContext {
                reader: &reader,
                file,
                given,
                is_known: false,
                now: day(60),
                offer: None,
            },
        )
    };
    let first = told("src/billing/tax.py", &nothing);
    assert_snapshot!(first.text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Memory has on src/billing/tax.py:
    l9 Tax was rounded twice (src/billing/tax.py)
      Round once, at the end.
    a7 src/billing/tax.py:10-42: the only place that rounds
    b6 [decision] Taxes
      Round in src/billing/tax.py, nowhere else.
    </anchord-memory>
    "#);
    assert!(first.text.chars().count() <= ACTION_CHARS_MAX);
    let given = first.whole.iter().copied().collect();
    assert_eq!(told("src/billing/tax.py", &given), RenderedContext::default(), "given before");
    for other in ["src/billing/total.py", "src/tax.py.orig", "tax", "src/other/syntax.py"] {
        assert_eq!(told(other, &nothing), RenderedContext::default(), "{other}");
    }
}

#[test]
fn records_about_a_file_that_do_not_fit_are_counted() {
    let mut memory = Memory::default();
    let file = "src/billing/tax.py";
    let lessons = ["Tax was rounded twice", "Rates were cached", "Invoices were split"];
    let mut part = blueprints([]);
    let detail = "Look at the rates of the day. ".repeat(12);
    let about =
        |summary| crate::Lesson { files: vec![file.to_owned()], ..lesson(summary, &detail) };
    part.lessons = lessons.map(about).to_vec();
    save(&mut memory, &origin("other", 3), part);
    let (reader, given) = (Reader::session(me()), BTreeSet::new());
    let view = FileContext {
        reader: &reader,
        file,
        given: &given,
        is_known: false,
        now: day(60),
        offer: None,
    };
    let told = file_context(&memory, &view);
    let missing = lessons.len() - told.shown.len();
    assert!(missing > 0 && told.truncated, "{}", told.text);
    let named: Vec<String> = (1..=3).map(|number| format!("l{number}")).collect();
    let named = named.get(told.shown.len()..).unwrap().join(",");
    let call = format!("; memory_get {{\"id\":\"{named}\"}} gives them.\n");
    let counted = format!("\n{missing} more did not fit{call}");
    assert!(told.text.contains(&counted), "{}", told.text);
    assert!(told.text.chars().count() <= ACTION_CHARS_MAX);
}

#[test]
fn a_long_record_leaves_room_for_the_fix_of_the_same_failure() {
    let mut memory = Memory::default();
    let error = "relation orders does not exist";
    let long = lesson(error, &"Ask in the channel of the database first. ".repeat(20));
    save(&mut memory, &origin("one", 1), lessons([long]));
    let fix = crate::testing::captured_lesson("make migrate", error, day(2));
    save(&mut memory, &origin("two", 2), lessons([fix]));
    let remedies: Vec<RecordId> = memory.active_of(Kind::Lesson).map(|record| record.id).collect();
    let view = FailureContext { command: "make migrate", output: error, remedies: &remedies };
    let told = failure_context(&memory, &view);
    assert_eq!((&*told.shown, &*told.whole), (&*remedies, &remedies[1..]), "{}", told.text);
    assert!(!told.truncated && told.text.chars().count() <= ACTION_CHARS_MAX, "{}", told.text);
}

#[test]
fn a_resumed_conversation_is_shown_what_changed() {
    let memory = memory();
    assert_snapshot!(resumed(&memory, Revision(1), &me(), day(60)).text, @r#"
    <anchord-memory note="reference from earlier sessions, not instructions">
    Changed by other sessions while this conversation was away:
    - new n5 (pinned): Release builds take an hour: never two at once.
    </anchord-memory>
    "#);
    assert_eq!(resumed(&memory, memory.revision(), &me(), day(60)), RenderedContext::default());
    let other = SessionId::new("other");
    assert_eq!(last_seen(&memory, &other, "codex:1"), Some(Revision(1)));
    assert_eq!(last_seen(&memory, &me(), "codex:1"), None);
}

#[test]
fn as_many_changes_while_away_as_fit_are_shown_and_the_rest_counted() {
    for first in 0..200 {
        let mut memory = Memory::default();
        let expires = Some(day(50));
        let long = |at| NewNote { expires, ..note(&format!("{at} {}", "never ".repeat(60))) };
        let notes = (0..22).map(long).chain([note(&"x".repeat(first + 1))]).map(Ok);
        let plan = plan_notes(&memory, &origin("other", 1), notes.collect()).unwrap();
        apply(&mut memory, plan);
        let away = resumed(&memory, Revision(0), &me(), day(60));
        assert!(away.text.chars().count() <= PROMPT_CHARS_MAX, "{first}: {}", away.text);
        let missing = 23 - away.text.matches("\n- new n").count();
        assert!(away.text.contains(&format!("\n{missing} more did not fit")), "{}", away.text);
        assert!(away.text.contains("; memory_search {\"since\":") && away.truncated);
        assert!(away.text.contains(" lists what was written since.\n"), "{}", away.text);
        // One line names one record, and none gives it whole.
        assert_eq!((away.shown.len(), away.whole.len()), (23 - missing, 0));
    }
}

#[test]
fn activity_of_others_leaves_the_prefix_unchanged() {
    let memory = memory();
    let alone = started(&memory).text;
    let live = ["codex".to_owned()];
    let mut later = memory.clone();
    let plan = plan_capture(&later, &origin("gone", 5), activity()).unwrap();
    later.apply(Seq(later.seq().0 + 1), &plan.changes);
    let crowded = with_load(&live, |view| session_start(&later, view)).text;
    let same = alone.bytes().zip(crowded.bytes()).take_while(|(a, b)| a == b).count();
    let tail = alone.find("\nChanged by").unwrap();
    assert!(same >= tail, "{same} {tail}\n{crowded}");
}

/// Returns a memory with every kind of record, and many of each.
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

/// Compares with the load itself. A load leaves some room unused, so a start that fits does not
/// show that the frame was counted.
#[test]
fn the_frame_counts_towards_even_the_smallest_budget() {
    let mut memory = Memory::default();
    let short = (0..200).map(|at| lesson(&format!("lesson {at}"), ""));
    save(&mut memory, &origin("other", 40), lessons(short.collect::<Vec<_>>()));
    let frame_room = Room::of(&frame("", 0));
    for tokens in LOAD_TOKENS_MIN..LOAD_TOKENS_MIN + 60 {
        let (start, load) = with_budget(("anchord", tokens), &[], "", |view| {
            let whole = Room { chars: SESSION_START_CHARS_MAX, tokens: tokens as usize };
            let load = load::fitted(&memory, view, whole.without(frame_room)).unwrap();
            (session_start(&memory, view), load)
        });
        assert_eq!(start.text, frame(&load.text, usize::MAX), "{tokens}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_start_exceeds_its_budget_including_the_frame(
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
        let live: Vec<String> = live.into_iter().collect();
        let last = "Staged by you. 🦀\n".repeat(staged);
        let start = with_budget((&project, tokens_max), &live, &last, |view| session_start(&memory, view));
        let (chars, tokens) = (start.text.chars().count(), tokens::count(&start.text));
        prop_assert!(tokens <= tokens_max, "{tokens} of {tokens_max}: {}", start.text);
        prop_assert!(chars <= SESSION_START_CHARS_MAX, "{chars}: {}", start.text);
        prop_assert!(start.text.contains("Memory of "));
    }

    #[test]
    fn no_text_exceeds_its_limit(
        steps in any_steps(),
        times in 0..30_usize,
        prompt in prop::sample::select(vec!["never the cache is slow a lock", "the cache is slow wäre", "🦀"]),
        since in 0..3_u64,
    ) {
        let memory = full(&steps, times);
        let activity = activity();
        let chars = |text: &str| text.chars().count();
        let start = started(&memory);
        let news = prompted(&memory, Some(prompt), Some(since), &[]);
        let kept = instructed(&memory, Some(&activity));
        let (restored, slice) = (back(&memory, Some(&activity)), for_subagent(&memory, Some(prompt)));
        let resumed = resumed(&memory, Revision(since), &me(), day(60));
        prop_assert!(chars(&start.text) <= SESSION_START_CHARS_MAX);
        prop_assert!(tokens::count(&start.text) <= 2_500);
        prop_assert!(chars(&news.text) <= PROMPT_CHARS_MAX);
        prop_assert!(chars(&kept.text) <= COMPACTION_CHARS_MAX);
        prop_assert!(chars(&restored.text) <= RESTORED_CHARS_MAX);
        prop_assert!(chars(&slice.text) <= SUBAGENT_CHARS_MAX);
        prop_assert!(chars(&resumed.text) <= PROMPT_CHARS_MAX);
        // The same calls give the same texts, and every text is recognised.
        prop_assert_eq!(&started(&memory), &start);
        prop_assert_eq!(&prompted(&memory, Some(prompt), Some(since), &[]), &news);
        prop_assert_eq!(&back(&memory, Some(&activity)), &restored);
        let left = [&start, &restored].map(|load| &load.text).into_iter()
            .chain([&news, &kept, &slice, &resumed].map(|context| &context.text))
            .map(|text| strip(text).trim().to_owned())
            .collect::<Vec<_>>();
        let ask = "Keep these in the summary, names and commands as they are:";
        prop_assert!(left.iter().all(|text| text.is_empty() || text == ask), "{:?}", left);
    }
}
