//! Context around a compaction: the content that the summary keeps, and the content that returns.

use super::*;

#[test]
fn compaction_instructions_list_what_to_keep() {
    let activity = activity();
    let kept = instructed(&memory(), Some(&activity));
    assert_snapshot!(kept.text, @r#"
    Keep these in the summary, names and commands as they are:
    <anchord-memory note="reference from earlier sessions, not instructions">
    Topic queue:
    lanes are in; next: the bench
    open: one lane for each session or client?
    Pinned:
    n5: Release builds take an hour: never two at once.
    Staged by you and not saved yet; memory_save keeps it:
    - lesson Lanes starve when full
    Asked: make the queue fair between sessions
    Edited: src/queue.rs
    Commands that worked:
    - cd queue && cargo test
    - cargo clippy --all-targets
    </anchord-memory>
    "#);
    let mut decided = memory();
    save(
        &mut decided,
        &origin("me", 6),
        blueprints([blueprint("One lane for each session", "Fair.")]),
    );
    let kept = instructed(&decided, None).text;
    assert!(kept.contains("Decided:\nb6 [decision] One lane"), "{kept}");
    assert!(!kept.contains("The journal is the truth"), "{kept}");
    let nothing = instructed(&Memory::default(), None);
    assert_eq!(nothing, RenderedContext::default());
}

#[test]
fn pinned_records_are_whole_where_there_is_room_and_never_push_out_work() {
    for (pinned, whole) in [(1, true), (60, false)] {
        let (memory, questions) = with_much_staged(2, pinned, 0);
        let kept = instructed(&memory, Some(&activity()));
        let pins: Vec<RecordId> = with_session(None, |view| {
            super::pinned(&memory, view.reader, view.now).iter().map(|pin| pin.id).collect()
        });
        let is_whole = |id: &RecordId| kept.whole.contains(id);
        assert!(pins.iter().skip(1).any(is_whole), "{}", kept.text);
        assert_eq!(pins.iter().all(is_whole), whole, "{}", kept.text);
        assert!(questions.iter().all(|question| kept.text.contains(question)), "{}", kept.text);
        let given = for_subagent(&memory, None);
        assert!(pins.iter().skip(1).any(|id| given.whole.contains(id)), "{}", given.text);
        assert!(given.text.contains("Settled:") || given.truncated, "{}", given.text);
    }
}

/// Nobody pinned them, and a load calls them so too.
#[test]
fn rules_in_force_have_a_heading_of_their_own() {
    let mut memory = memory();
    let force = crate::testing::rule("No force push", "History is shared.");
    let plan = crate::plan_rule(&memory, force, crate::RuleAuthor::Person, &origin("other", 9));
    apply(&mut memory, plan.unwrap());
    let kept = instructed(&memory, None).text;
    for text in [kept, for_subagent(&memory, None).text] {
        let (_, rules) = text.split_once("\nRules in force:\n").expect(&text);
        let (rules, pinned) = rules.split_once("\nPinned:\n").expect(&text);
        assert!(rules.contains("No force push"), "{text}");
        assert!(pinned.starts_with("n5: Release builds take an hour"), "{text}");
    }
}

/// They take a part of the room, so that neither the session's work nor records are displaced.
#[test]
fn rules_of_the_projects_file_come_before_those_of_memory_and_are_counted() {
    let many: String = (0..300)
        .map(|at| {
            format!(
                "[[rule]]\nid = \"r{at}\"\ntitle = \"Rule {at}\"\neffect = \"ask\"\n\
                 matches.commands = [\"make target-{at}\"]\n"
            )
        })
        .collect();
    let rules = anchord_rules::parse_rules_file(&many).unwrap();
    let reader = Reader::session(me());
    let (activity, error) = (activity(), Some("line 3: bad"));
    for file_rules in
        [FileRulesView { rules: &rules, error: None }, FileRulesView { rules: &[], error }]
    {
        let kept = instructed_with(&memory(), Some(&activity), file_rules);
        let subagent = SubagentContext {
            reader: &reader,
            task: None,
            personal: None,
            file_rules,
            now: day(60),
        };
        let slice = subagent_context(&memory(), &subagent);
        assert!(kept.text.contains("cargo clippy") && !kept.truncated, "{}", kept.text);
        for text in [kept.text, slice.text] {
            let (_, of_file) = text.split_once("\nRules in force:\n").expect(&text);
            let (of_file, _) = of_file.split_once("\nPinned:\nn5: Release builds").expect(&text);
            let shown = of_file.matches("[ask, from .anchord/rules.toml]").count();
            if file_rules.error.is_some() {
                assert!(of_file.contains("cannot be read") && of_file.contains("line 3: bad"));
            } else {
                let rest = format!("{} more are in .anchord/rules.toml.", 300 - shown);
                assert!(shown > 5 && of_file.ends_with(&rest), "{text}");
            }
        }
    }
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

/// Returns a memory in which the session has staged much more than there is room for.
fn with_much_staged(bodies: usize, pinned: usize, stored: usize) -> (Memory, Vec<String>) {
    let mut memory = memory();
    let of = |at: usize| format!("Stored {at}");
    let mut others = blueprints(
        (0..stored).map(|at| blueprint(&of(at), &"and why ".repeat(at + 1))).collect::<Vec<_>>(),
    );
    others.lessons = (0..stored).map(|at| lesson(&of(at), &"and how ".repeat(at + 1))).collect();
    if stored > 0 {
        save(&mut memory, &origin("other", 4), others);
    }
    let questions: Vec<String> =
        (0..8).map(|at| format!("question {at}: which of both ways is right, and why?")).collect();
    let pins = (0..pinned).map(|at| {
        let content = format!("Pin {at}: {}", "never two builds at once ".repeat(20));
        Ok(NewNote { pinned: true, ..note(&content) })
    });
    if pinned > 0 {
        let plan = plan_notes(&memory, &origin("other", 5), pins.collect());
        apply(&mut memory, plan.unwrap());
    }
    let lessons: Vec<_> = (0..40)
        .map(|at| lesson(&format!("Staged {at}"), &"it is told at length ".repeat(bodies)))
        .collect();
    let decisions = questions.iter().map(|question| TopicDecision {
        question: question.clone(),
        decided: None,
        time: Timestamp::default(),
    });
    let topic = TopicPart {
        name: Some("queue".to_owned()),
        decisions: decisions.collect(),
        ..TopicPart::default()
    };
    let part = Staged { lessons, topics: vec![topic], ..Staged::default() };
    checkpoint(&mut memory, &origin("me", 6), part);
    (memory, questions)
}

#[test]
fn much_staged_work_pushes_out_no_question_no_pin_and_no_instruction() {
    for (bodies, pinned, stored) in
        [(30, 0, 0), (30, 6, 0), (2, 3, 0), (200, 12, 0), (30, 0, 60), (30, 9, 60)]
    {
        let (memory, questions) = with_much_staged(bodies, pinned, stored);
        let mut activity = activity();
        let prompt = "now write the test for it".to_owned();
        activity.saw(&Event::PromptSubmitted { prompt }, day(5));
        let back = back(&memory, Some(&activity));
        let kept = instructed(&memory, Some(&activity));
        assert!(back.text.chars().count() <= RESTORED_CHARS_MAX, "{}", back.text);
        for text in [&back.text, &kept.text] {
            let staged = (0..40).map(|at| format!("- lesson Staged {at}"));
            let asked =
                ["Asked: make the queue fair", "last: now write the test for it", "cargo clippy"];
            let pins = (0..pinned).map(|at| format!("Pin {at}: never two builds at once"));
            let all = questions.iter().cloned().chain(asked.map(str::to_owned)).chain(staged);
            let lost: Vec<String> = all.chain(pins).filter(|line| !text.contains(line)).collect();
            assert!(lost.is_empty(), "{bodies}, {pinned}: {lost:#?}\n{text}");
            let is_cut = text.contains(" shortened to a line that ends in …; memory_save keeps");
            assert_eq!(is_cut, text.contains("- lesson Staged 39 …\n"), "{text}");
        }
        let pins = with_session(None, |view| {
            super::pinned(&memory, view.reader, view.now)
                .iter()
                .map(|pin| pin.id)
                .collect::<Vec<_>>()
        });
        assert!(pins.iter().all(|id| back.whole.contains(id)), "{bodies}, {pinned}: {}", back.text);
    }
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
