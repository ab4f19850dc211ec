//! Loads as an agent reads them, and the laws of budgets.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::room::{Room, Shown};
use super::{LoadText, LoadView, Tight, frame_room, load};
use crate::fold::one_line;
use crate::testing::{
    anchor, anchors, any_steps, apply, blueprint, blueprints, checkpoint, day, lesson, lessons,
    mutable, note, origin, save, take,
};
use crate::{
    Audience, Kind, Memory, NewNote, NoticeCause, NoticeId, Reader, Revision, SessionId, Staged,
    TopicPart, Update, limits, plan_forget, plan_keep, plan_notes, plan_update,
};

mod laws;
mod lessons;
mod notices;
mod part;
mod person;
mod pinned;
mod rows;
mod scripts;
mod topics;

struct Asked {
    project: &'static str,
    sections: Vec<Kind>,
    chars_max: Option<usize>,
    tokens_max: Option<u32>,
    task: Option<&'static str>,
    tight: Tight,
    cursor: Option<String>,
    seen: BTreeSet<NoticeId>,
    live: Vec<String>,
    others_changed: Option<Revision>,
    topic: Option<&'static str>,
    gone: BTreeSet<String>,
    read_only: Option<&'static str>,
    file_rules: super::FileRulesView<'static>,
    last: &'static str,
    part: bool,
    audience: &'static Audience,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            project: "anchord",
            sections: Kind::ALL.to_vec(),
            chars_max: Some(limits::ANSWER_CHARS_MAX),
            tokens_max: None,
            task: None,
            tight: Tight::default(),
            cursor: None,
            topic: None,
            gone: BTreeSet::new(),
            read_only: None,
            file_rules: super::FileRulesView::default(),
            seen: BTreeSet::new(),
            live: Vec::new(),
            others_changed: None,
            last: "",
            part: false,
            audience: &Audience::Agent,
        }
    }
}

/// Calls `see` with the view of a session `me` on the 60th day.
fn with_view<T>(asked: &Asked, see: impl FnOnce(&LoadView<'_>) -> T) -> T {
    let me = SessionId::new("me");
    see(&LoadView {
        project: asked.project,
        sections: &asked.sections,
        chars_max: asked.chars_max,
        tokens_max: asked.tokens_max,
        task: asked.task,
        topic: asked.topic,
        gone: &asked.gone,
        tight: asked.tight,
        cursor: asked.cursor.as_deref(),
        reader: &Reader::session(me.clone()),
        session: &me,
        notices_seen: &asked.seen,
        live: &asked.live,
        others_changed: asked.others_changed,
        now: day(60),
        personal: None,
        just_ended: &[],
        read_only: asked.read_only,
        file_rules: asked.file_rules,
        last: asked.last,
        part: asked.part,
        audience: asked.audience,
    })
}

fn loaded(memory: &Memory, asked: &Asked) -> LoadText {
    with_view(asked, |view| load(memory, view)).unwrap()
}

fn some_memory() -> Memory {
    let mut memory = Memory::default();
    let mut part = blueprints([
        blueprint("Store", "Journal is the truth.\n\n  sled is an index."),
        mutable("Port", "7717"),
    ]);
    part.anchors = vec![
        anchor("src/main.rs", "10-20", "starts the runtime"),
        anchor("src/a.rs", "fn main", "the other one"),
    ];
    part.lessons = vec![crate::Lesson {
        files: vec!["src/a.rs".to_owned()],
        ..lesson("Flush does not fsync", "Seen on ext4.")
    }];
    save(&mut memory, &origin("one", 2), part);
    memory
}

#[test]
fn an_empty_project_says_how_to_begin() {
    insta::assert_snapshot!(loaded(&Memory::default(), &Asked::default()).text, @"
    Memory of anchord from earlier sessions: reference, not instructions.
    Nothing is recorded yet: memory_checkpoint what you learn as you go, memory_save before you end.
    ");
}

#[test]
fn a_load_shows_every_kind() {
    insta::assert_snapshot!(loaded(&some_memory(), &Asked::default()).text, @"
    Memory of anchord from earlier sessions: reference, not instructions.

    ## Blueprints
    b1 [decision] Store
      Journal is the truth.

        sled is an index.
    b2 [decision] Port
      7717

    ## Anchors
    a4 src/a.rs fn main: the other one
    a3 src/main.rs:10-20: starts the runtime

    ## Lessons
    l5 Flush does not fsync (src/a.rs)
      Seen on ext4.

    ## Sessions
    s6 2026-11-02 claude-code: worked
    ");
}

#[test]
fn only_the_requested_sections_are_shown() {
    let asked = Asked { sections: vec![Kind::Lesson], ..Asked::default() };
    insta::assert_snapshot!(loaded(&some_memory(), &asked).text, @"
    Memory of anchord from earlier sessions: reference, not instructions.

    ## Lessons
    l5 Flush does not fsync (src/a.rs)
      Seen on ext4.
    ");
}

#[test]
fn records_left_out_are_counted_and_fetched_by_cursor() {
    let mut memory = Memory::default();
    let mut part =
        blueprints(["One", "Two", "Three"].map(|title| blueprint(title, &"y".repeat(600))));
    part.blueprints.push(blueprint("Huge", &"z".repeat(4_000)));
    part.anchors = vec![anchor("a.rs", "1", "x")];
    save(&mut memory, &origin("one", 2), part);
    let asked = Asked { chars_max: Some(3_400), ..Asked::default() };
    let first = loaded(&memory, &asked);
    insta::assert_snapshot!(first.text.replace(&"y".repeat(600), "yyy"), @r#"
    Memory of anchord from earlier sessions: reference, not instructions. There is more: memory_search finds it by words, memory_get {"id":"b4"} gives one in full.

    ## Blueprints
    b1 [decision] One
      yyy
    b2 [decision] Two
      yyy
    b3 [decision] Three
      yyy
    b4 [decision] Huge
      zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz …

    ## Anchors
    a5 a.rs:1: x

    ## Sessions
    s6 2026-11-02 claude-code: worked
    "#);
    let asked = Asked { cursor: first.next, ..asked };
    let second = loaded(&memory, &asked);
    insta::assert_snapshot!(second.text.replace(&"y".repeat(600), "yyy"), @r#"
    Memory of anchord from earlier sessions: reference, not instructions. There is more: memory_search finds it by words, memory_get {"id":"b4"} gives one in full.

    ## Blueprints
    b1 [decision] One
      yyy
    b2 [decision] Two
      yyy
    b3 [decision] Three
      yyy
    b4 [decision] Huge
      zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz …

    ## Anchors
    a5 a.rs:1: x

    ## Sessions
    s6 2026-11-02 claude-code: worked
    "#);
    assert_eq!(second.next, None);
}

fn with_notes(memory: &mut Memory, session: &str, notes: Vec<NewNote>) {
    let notes = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(memory, &origin(session, 3), notes).unwrap();
    apply(memory, plan);
}

#[test]
fn active_and_own_notes_come_before_sessions_without_expired_ones() {
    let mut memory = some_memory();
    let build = NewNote { key: Some("build".to_owned()), ..note("cargo build --release") };
    let summed =
        NewNote { summary: "Rows are skipped.".to_owned(), ..note("A long story.\nOf rows.") };
    let old = NewNote { expires: Some(day(10)), ..note("no longer") };
    with_notes(&mut memory, "one", vec![build, summed, old]);
    with_notes(&mut memory, "me", vec![NewNote { private: true, ..note("mine alone") }]);
    with_notes(&mut memory, "two", vec![NewNote { private: true, ..note("theirs alone") }]);
    let notes = |asked: &Asked| {
        let text = loaded(&memory, asked).text;
        text.split_once("## Notes").unwrap().1.to_owned()
    };
    insta::assert_snapshot!(notes(&Asked::default()), @"

    n7 build: cargo build --release
    n8: Rows are skipped.
      A long story.
      Of rows.
    n10: mine alone

    ## Sessions
    s6 2026-11-02 claude-code: worked
    ");
    let shared = Tight { project: true, own: false };
    let tight = notes(&Asked { tight: shared, ..Asked::default() });
    assert!(tight.contains("Rows are skipped. …\n") && !tight.contains("A long story"), "{tight}");
    let own = Tight { project: false, own: true };
    assert!(notes(&Asked { tight: own, ..Asked::default() }).contains("A long story"), "its own");
}

#[test]
fn records_about_the_task_get_room_first_and_keep_their_place() {
    let mut memory = Memory::default();
    let notes = (0..60).map(|at| match at {
        20 => note(&format!("the importer skips rows in winter time {}", "z ".repeat(80))),
        at => note(&format!("number {at} says little {}", "y ".repeat(80))),
    });
    with_notes(&mut memory, "one", notes.collect());
    let load = |task| {
        let asked = Asked { task, chars_max: Some(4_000), ..Asked::default() };
        loaded(&memory, &asked).text
    };
    let (without, with) = (load(None), load(Some("find out why the importer is skipping rows")));
    assert!(!without.contains("importer"), "{without}");
    assert!(with.contains("z z\n"), "{with}");
    let shown: Vec<u64> = with
        .lines()
        .filter_map(|line| line.strip_prefix('n')?.split_once(':')?.0.parse().ok())
        .collect();
    assert!(shown.is_sorted() && shown.len() > 5 && shown[0] != 21, "{shown:?}");
}

#[test]
fn an_invalid_request_is_refused() {
    let refusal = |asked: &Asked| with_view(asked, |view| load(&some_memory(), view)).unwrap_err();
    let asked = Asked { cursor: Some("page two".to_owned()), ..Asked::default() };
    insta::assert_snapshot!(refusal(&asked), @"cursor `page two` is not one of a load; load without it");
    let asked = Asked { tokens_max: Some(100), ..Asked::default() };
    insta::assert_snapshot!(refusal(&asked), @"max_tokens is 100, allowed: 600 or more");
}

#[test]
fn a_load_of_only_sessions_shows_all_of_them() {
    let mut memory = Memory::default();
    for at in 1..=7 {
        save(&mut memory, &origin(&format!("session {at}"), at), Staged::default());
    }
    let headings = |asked: &Asked| {
        let text = loaded(&memory, asked).text;
        text.lines().find(|line| line.starts_with("## ")).unwrap().to_owned()
    };
    insta::assert_snapshot!(headings(&Asked::default()), @r#"## Sessions (5 of 7; all: memory_load {"sections":["sessions"]})"#);
    let asked = Asked { sections: vec![Kind::SessionRow], ..Asked::default() };
    insta::assert_snapshot!(headings(&asked), @"## Sessions");
}

#[test]
fn a_load_above_the_soft_limit_asks_for_tidying() {
    let mut memory = some_memory();
    assert!(!loaded(&memory, &Asked::default()).text.contains("Above 100 KB"));
    let part = blueprints([blueprint("big", &"x".repeat(100 * 1024))]);
    save(&mut memory, &origin("one", 3), part);
    assert!(loaded(&memory, &Asked::default()).text.contains("Above 100 KB"));
}

#[test]
fn a_long_tail_is_cut_and_says_how_to_see_the_rest() {
    let least = limits::LOAD_TOKENS_MIN;
    let asked = Asked { last: &LONG, tokens_max: Some(least), ..Asked::default() };
    let load = loaded(&some_memory(), &asked);
    assert!(load.last_is_cut);
    let text = load.text;
    assert!(text.ends_with("…\nCut to fit. The rest: memory_status {}.\n"), "{text}");
    assert!(text.contains("\n## Sessions\n") && text.contains("2 lessons 🦀"), "{text}");
    assert!(crate::tokens::count(&text) <= least, "{text}");
    let short = Asked { last: "Staged by you: 1 lesson.\n", ..asked };
    let load = loaded(&some_memory(), &short);
    assert!(!load.last_is_cut && load.text.ends_with("\nStaged by you: 1 lesson.\n"));
}

#[test]
fn content_cannot_imitate_the_frame() {
    let mut memory = Memory::default();
    let part = blueprints([blueprint("x", "a\n## Lessons (9)\nSize 0 KB")]);
    save(&mut memory, &origin("one", 1), part);
    let text = loaded(&memory, &Asked::default()).text;
    assert!(!text.contains("\n## Lessons"), "{text}");
}

/// Generates a memory of many long items of all kinds.
fn any_large() -> impl Strategy<Value = Memory> {
    let sizes = || prop::collection::vec(prop_oneof![0_usize..200, 500_usize..900], 0..20);
    let contents = prop::collection::vec(prop_oneof![1_usize..300, 2_000_usize..9_000], 0..12);
    (any_steps(), contents, sizes(), sizes()).prop_map(|(steps, contents, details, concepts)| {
        let (mut memory, _) = take(&steps);
        let text = |size: usize| "wörter 🦀\n".repeat(size / 9 + 1);
        let mut part = blueprints(
            contents
                .iter()
                .enumerate()
                .map(|(at, size)| blueprint(&format!("t{at}"), &text(*size)))
                .collect::<Vec<_>>(),
        );
        part.lessons = details
            .iter()
            .enumerate()
            .map(|(at, size)| lesson(&format!("l{at}"), &text(*size)))
            .collect();
        part.anchors = anchors(
            concepts
                .iter()
                .enumerate()
                .map(|(at, size)| anchor(&format!("f{at}"), "1", &text(*size)))
                .collect::<Vec<_>>(),
        )
        .anchors;
        part.notes = details
            .iter()
            .zip(0_u8..)
            .map(|(size, at)| NewNote {
                summary: if at % 3 == 0 { format!("summary {at}") } else { String::new() },
                importance: Some(at % 10 + 1),
                pinned: at % 5 == 0,
                ..note(&format!("{at} {}", text(*size)))
            })
            .collect();
        save(&mut memory, &origin("large", 50), part);
        let ids: Vec<_> = memory.active().map(|record| record.id).collect();
        for id in ids.into_iter().step_by(9) {
            let pin = Update { pinned: Some(true), ..Update::default() };
            let by = origin("large", 51);
            let plan = plan_update(&memory, &Reader::anyone(), id, &pin, None, &by);
            apply(&mut memory, plan.unwrap());
        }
        memory
    })
}

/// More text than any budget has room for, with tokens shorter than words.
static LONG: LazyLock<String> = LazyLock::new(|| "2 lessons 🦀, wörter\n".repeat(900));
/// A name with as many tokens as possible.
static ODD: LazyLock<String> = LazyLock::new(|| "🪝🫠".repeat(40));

fn any_asked() -> impl Strategy<Value = Asked> {
    let sections = prop::sample::subsequence(Kind::ALL.to_vec(), 1..=5);
    let live = prop::collection::vec("[a-c🦀]{0,60}", 0..9);
    let chars_max = limits::ANSWER_CHARS_MIN..12_000;
    let tokens_max = prop::option::of(limits::LOAD_TOKENS_MIN..4_000);
    let task = prop::option::of(prop::sample::select(vec!["the slow cache -lock", "wörter", ""]));
    let tight = (any::<bool>(), any::<bool>());
    let tight = tight.prop_map(|(project, own)| Tight { project, own });
    let last = prop::sample::select(vec!["", "Staged by you: 1 lesson.\n", LONG.as_str()]);
    let project = prop::sample::select(vec!["anchord", ODD.as_str()]);
    let rest = (tight, last, project, any::<bool>());
    (sections, chars_max, tokens_max, task, live, prop::option::of(0_u64..9), rest).prop_map(
        |(sections, chars_max, tokens_max, task, live, since, (tight, last, project, part))| {
            Asked {
                project,
                sections,
                chars_max: Some(chars_max),
                tokens_max,
                task,
                tight,
                live: live.into_iter().collect(),
                others_changed: since.map(Revision),
                last,
                part,
                ..Asked::default()
            }
        },
    )
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            project,
            sections,
            chars_max,
            tokens_max,
            task,
            tight,
            others_changed,
            last,
            ..
        } = self;
        write!(
            f,
            "{project}, {sections:?}, then {} characters, in {chars_max:?} characters, {tokens_max:?} tokens, for {task:?}, tight \
             {tight:?}, since {others_changed:?}",
            last.len()
        )
    }
}

/// Returns the room that no later page exceeds.
fn room_max(memory: &Memory, asked: &Asked) -> Room {
    let tokens = asked.tokens_max.map_or(usize::MAX, |tokens| usize::try_from(tokens).unwrap());
    let whole = Room { chars: asked.chars_max.unwrap_or(usize::MAX), tokens };
    with_view(asked, |view| {
        let framed = whole.without(frame_room(memory, view));
        let mut last = super::around::cut_to(asked.last, framed.percent(50), &Audience::Agent);
        last.push_str(if asked.part { super::around::PART } else { "" });
        framed.without(Room::of(&last))
    })
}

/// Returns the texts that the pages show of each record: in full, and as a title if it fits no
/// page.
fn texts(memory: &Memory, asked: &Asked) -> Vec<(bool, String, String, bool)> {
    texts_at(memory, asked, super::Depth::Whole)
}

fn texts_at(
    memory: &Memory,
    asked: &Asked,
    depth: super::Depth,
) -> Vec<(bool, String, String, bool)> {
    with_view(asked, |view| {
        let entries = super::entries(&super::wanted(memory, view), memory, view, None, depth);
        let text = |entry: &super::Entry<'_>, shown| format!("{}\n", entry.text(shown));
        // A text that fits by its own tokens may not fit with those at the joint to the line
        // before.
        let room = room_max(memory, asked);
        let room = room.without(Room { chars: 0, tokens: room.tokens.min(10_000) / 200 + 2 });
        let all = entries.iter().map(|entry| {
            let (full, title) = (text(entry, Shown::Full), text(entry, Shown::Title));
            (entry.record.pinned, full, title, entry.is_oversize(room))
        });
        all.collect()
    })
}

/// Joins the lines of a lesson as a load does where room is short: its files come last.
fn lesson_line(full: &str) -> String {
    let full = full.trim_end();
    let Some((head, detail)) = full.split_once("\n  ") else { return full.to_owned() };
    match head.rsplit_once(" (").filter(|_| head.ends_with(')')) {
        Some((head, files)) => format!("{head}. {detail} ({files}"),
        None => format!("{head}. {detail}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_page_exceeds_its_budget_and_all_pages_show_everything(
        memory in any_large(), mut asked in any_asked(),
    ) {
        let mut pages = Vec::new();
        loop {
            let page = loaded(&memory, &asked);
            let (chars, tokens) = (page.text.chars().count(), crate::tokens::count(&page.text));
            prop_assert!(chars <= asked.chars_max.unwrap(), "{chars}: {}", page.text);
            prop_assert!(tokens <= asked.tokens_max.unwrap_or(u32::MAX), "{tokens}: {}", page.text);
            pages.push(page.text);
            prop_assert!(pages.len() < 500, "pages without an end");
            match page.next {
                None => break,
                next => asked.cursor = next,
            }
        }
        let shown = pages.concat();
        let on_one_line = one_line(&shown);
        let briefly = texts_at(&memory, &asked, super::Depth::Briefly);
        let all = texts(&memory, &asked).into_iter().zip(briefly);
        for ((_, full, title, oversize), (_, brief, ..)) in all {
            // A record that fits on no page is shown by its title, or in part on several lines.
            let title = one_line(title.trim_end().trim_end_matches('…'));
            let cut = oversize && on_one_line.contains(&title);
            let is_shown = cut || [&full, &lesson_line(&full), &brief].iter().any(|text| shown.contains(*text));
            let expected = if oversize { &title } else { &full };
            prop_assert!(is_shown, "{} is not in the pages", expected);
        }
    }

    #[test]
    fn no_load_exceeds_its_budget_whatever_is_staged(
        memory in any_large(), asked in any_asked(), sizes in prop::collection::vec(0_usize..3_500, 1..4),
        name in prop::sample::select(vec!["main", "cache"]), saved in any::<bool>(),
    ) {
        let mut memory = memory;
        let parts = sizes.iter().map(|size| TopicPart {
            name: Some(name.to_owned()),
            status: Some("wörter 🦀\n".repeat(size / 9 + 1)),
            files: (0..size / 300).map(|at| format!("{size}/{at}.rs")).collect(),
            ..TopicPart::default()
        });
        let mut part = lessons([lesson("staged", &"wörter ".repeat(sizes[0] / 7))]);
        part.topics = parts.collect();
        if saved {
            save(&mut memory, &origin("other", 51), part.clone());
        }
        checkpoint(&mut memory, &origin("me", 52), part);
        let asked = Asked { topic: Some(name), ..asked };
        let text = loaded(&memory, &asked).text;
        let (chars, tokens) = (text.chars().count(), crate::tokens::count(&text));
        prop_assert!(chars <= asked.chars_max.unwrap(), "{chars}: {text}");
        prop_assert!(tokens <= asked.tokens_max.unwrap_or(u32::MAX), "{tokens}: {text}");
    }

    #[test]
    fn no_pinned_record_is_cut_while_a_lower_tier_is_shown(
        memory in any_large(), asked in any_asked(),
    ) {
        let text = loaded(&memory, &asked).text;
        let whole = room_max(&memory, &asked);
        let texts = texts(&memory, &asked);
        let is_shown = |line: &str| text.contains(&format!("\n{line}"));
        let cut = texts.iter().any(|(pinned, full, _, _)| {
            *pinned && !is_shown(full) && whole.holds(Room::of(full.trim_end()))
        });
        let lesser = texts
            .iter()
            .any(|(pinned, full, title, _)| !pinned && (is_shown(full) || is_shown(title)));
        prop_assert!(!(cut && lesser), "{text}");
    }

    #[test]
    fn the_tail_leaves_the_prefix_unchanged(memory in any_large(), asked in any_asked()) {
        let seen: BTreeSet<NoticeId> = memory.notices().map(|notice| notice.id).collect();
        let bare =
            Asked { seen, live: Vec::new(), others_changed: None, last: "", part: false, ..asked };
        let prefix = loaded(&memory, &bare).text;
        let live = vec!["codex".to_owned(); 3];
        let seen = BTreeSet::new();
        let noisy = Asked { live, others_changed: Some(Revision(0)), seen, ..bare };
        let noisy = loaded(&memory, &noisy).text;
        prop_assert!(noisy.starts_with(prefix.trim_end()), "{prefix}\n---\n{noisy}");
    }
}

#[test]
fn a_read_only_load_begins_with_the_reason() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), blueprints([blueprint("Store", "One writer.")]));
    let why = "damaged at journal/000001.jsonl:4: the line does not end in a checksum";
    let text = loaded(&memory, &Asked { read_only: Some(why), ..Asked::default() }).text;
    let first =
        format!("READ-ONLY, nothing can be saved: {why}; `anchord doctor` says what to do\n");
    assert!(text.starts_with(&first) && text.contains("b1 [decision] Store"), "{text}");
    assert!(!loaded(&memory, &Asked::default()).text.contains("READ-ONLY"));
}
