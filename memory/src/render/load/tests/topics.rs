//! The topic that a load shows: the reader's own, with staged changes, archived or not.

use super::*;

#[test]
fn the_readers_topic_comes_first_then_the_others() {
    let mut memory = Memory::default();
    let of = |name: &str, status: &str, file: &str| Staged {
        topics: vec![TopicPart {
            name: Some(name.to_owned()),
            status: Some(status.to_owned()),
            files: vec![file.to_owned()],
            ..TopicPart::default()
        }],
        ..blueprints([blueprint("Store", "One writer.")])
    };
    for at in 1..=6 {
        let part = of(&format!("thread {at}"), &format!("step {at}\nand more"), "a.rs");
        save(&mut memory, &origin("one", at), part);
    }
    let topic = Some("Thread 2");
    let gone = BTreeSet::from(["a.rs".to_owned()]);
    let asked =
        Asked { topic, gone, sections: vec![Kind::Topic, Kind::Blueprint], ..Asked::default() };
    insta::assert_snapshot!(loaded(&memory, &asked).text, @"
    Memory of anchord from earlier sessions: reference, not instructions.

    ## Blueprints
    b1 [decision] Store
      One writer.

    ## Topics
    t4 thread 2: step 2
      and more
      files: a.rs (gone)
    t8 thread 6: step 6
      and more
      files: a.rs
    t7 thread 5: step 5
      and more
      files: a.rs
    t6 thread 4: step 4
      and more
      files: a.rs
    t5 thread 3: step 3
      and more
      files: a.rs
    t2 thread 1: step 1
      and more
      files: a.rs
    ");
    let all = loaded(&memory, &Asked { sections: vec![Kind::Topic], ..Asked::default() }).text;
    assert_eq!(all.matches("and more").count(), 6, "{all}");

    // A reader without a topic of its own is shown the project's.
    save(&mut memory, &origin("one", 7), of("main", "in all\nand each", "b.rs"));
    let text = loaded(&memory, &Asked::default()).text;
    let topics = text.split_once("## Topics").unwrap().1;
    assert!(topics.lines().nth(1).unwrap().starts_with("t9 main: in all"), "{text}");

    // A reader with its own topic, which may still be empty, is shown both.
    for (topic, own) in
        [("thread 2", "t4 thread 2: step 2\n  and more\n  files: a.rs\n"), ("new", "")]
    {
        let text = loaded(&memory, &Asked { topic: Some(topic), ..Asked::default() }).text;
        let both = format!("\n{own}t9 main: in all\n  and each\n  files: b.rs\n");
        assert!(text.contains(&both), "{text}");
    }

    // It gets room before blueprints.
    let long = vec![blueprint("Long", &"word ".repeat(400)); 1];
    save(&mut memory, &origin("one", 8), blueprints(long));
    let asked = Asked { topic, chars_max: Some(2_000), ..Asked::default() };
    let text = loaded(&memory, &asked).text;
    assert!(text.contains("thread 2: step 2\n  and more"), "{text}");
}

#[test]
fn a_topic_is_shown_with_the_readers_staged_changes() {
    let mut memory = Memory::default();
    let of = |name: &str, status: &str| {
        let (name, status) = (Some(name.to_owned()), Some(status.to_owned()));
        Staged {
            topics: vec![TopicPart { name, status, ..TopicPart::default() }],
            ..Staged::default()
        }
    };
    save(&mut memory, &origin("one", 1), of("Cache", "begun"));
    checkpoint(&mut memory, &origin("me", 2), of("cache", "half way"));
    checkpoint(&mut memory, &origin("two", 3), of("cache", "another's"));
    let asked = Asked { topic: Some("Cache"), ..Asked::default() };
    let text = loaded(&memory, &asked).text;
    assert!(
        text.contains("t1 Cache: half way\n")
            && text.contains("\n  (with what you staged; not saved yet)\n"),
        "{text}"
    );
    assert!(!text.contains("Cache: begun") && !text.contains("another's"), "{text}");
    let text = loaded(&memory, &Asked::default()).text;
    assert!(text.contains("t1 Cache: begun") && !text.contains("staged"), "another one: {text}");

    // A topic with nothing saved yet.
    checkpoint(&mut memory, &origin("me", 4), of("main", "all of it"));
    let text = loaded(&memory, &Asked::default()).text;
    let own = "\n## Your topic\nmain: all of it\n  (with what you staged; not saved yet)\n";
    assert!(text.ends_with(own), "{text}");
    let tight = Asked { tokens_max: Some(limits::LOAD_TOKENS_MIN), ..Asked::default() };
    let all = "all of it ".repeat(200);
    checkpoint(&mut memory, &origin("me", 5), of("main", &all));
    let text = loaded(&memory, &tight).text;
    assert!(!text.contains("all of it"), "where there is room");
    assert!(crate::tokens::count(&text) <= limits::LOAD_TOKENS_MIN, "{text}");
}

#[test]
fn an_archived_topic_is_shown_to_the_session_bound_to_it() {
    let mut memory = Memory::default();
    let of = |name: &str| TopicPart {
        name: Some(name.to_owned()),
        status: Some("at rest".to_owned()),
        ..TopicPart::default()
    };
    let topics = vec![of("old"), of("main")];
    save(&mut memory, &origin("one", 1), Staged { topics, ..Staged::default() });
    let id = memory.topic("old").unwrap().id;
    let mut draft = crate::draft::Draft::new(&memory);
    draft.set_state(id, crate::RecordState::Archived, &origin("one", 2));
    let changes = draft.finish().changes;
    apply(&mut memory, crate::Plan { changes, outcome: () });
    assert!(!loaded(&memory, &Asked::default()).text.contains("old"), "out of load");
    let text = loaded(&memory, &Asked { topic: Some("old"), ..Asked::default() }).text;
    assert!(text.contains("## Topics\nt1 old: at rest\n"), "{text}");
}

#[test]
fn a_topic_in_view_takes_room_for_no_heading_but_its_own() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("other", 51), lessons([lesson("A lesson", "")]));
    let frame = |topic| {
        let asked = Asked { topic, ..Asked::default() };
        with_view(&asked, |view| frame_room(&memory, view))
    };
    let (without, with) = (frame(None), frame(Some("main")));
    let heading = super::super::heading(Kind::Topic, 1_000, 1_001, true, &Audience::Agent);
    let heading = Room::of(&format!("\n## {heading}\n"));
    assert_eq!(with.chars - without.chars, heading.chars);
}

/// Each compaction may make a topic that says little.
#[test]
fn topics_made_by_rule_follow_the_others_and_each_line_says_something() {
    let mut memory = Memory::default();
    let named = |name: String| TopicPart { name: Some(name), ..TopicPart::default() };
    let with = |part: TopicPart| Staged { topics: vec![part], ..Staged::default() };
    let status = Some("Payment is open.".to_owned());
    let written = TopicPart { status, ..named("checkout".to_owned()) };
    save(&mut memory, &origin("one", 1), with(written));
    for at in 1..=limits::TOPICS_SHOWN_MAX + 1 {
        let history = vec![crate::HistoryLine::new(&format!("Compacted {at} messages."))];
        let by_rule = TopicPart { history, ..named(format!("session-{at}")) };
        save(&mut memory, &origin("one", 2 + i64::try_from(at).unwrap()), with(by_rule));
    }
    let asked = Asked { sections: vec![Kind::Topic, Kind::Note], ..Asked::default() };
    for depth in [super::super::Depth::Whole, super::super::Depth::Briefly] {
        let texts: Vec<String> =
            texts_at(&memory, &asked, depth).into_iter().map(|(_, full, ..)| full).collect();
        assert!(texts[0].starts_with("t1 checkout: Payment is open."), "{texts:?}");
        assert!(texts.iter().all(|text| !text.contains(":  ")), "{texts:?}");
        if depth == super::super::Depth::Briefly {
            assert!(texts[1].ends_with(" messages. …\n"), "{texts:?}");
        }
    }
    let text = loaded(&memory, &asked).text;
    let topics = text.split_once("## Topics").unwrap().1;
    assert!(topics.lines().nth(1).unwrap().starts_with("t1 checkout: "), "{topics}");
}

/// A session that continues a topic needs its questions, whatever else there is to show.
#[test]
fn open_questions_of_all_topics_are_shown_with_and_without_room_for_the_rest() {
    let mut memory = Memory::default();
    let question = |question: &str| crate::TopicDecision {
        question: question.to_owned(),
        decided: None,
        time: crate::Timestamp(0),
    };
    let part = Staged {
        topics: vec![TopicPart {
            name: Some("checkout".to_owned()),
            status: Some("Cart done, payment open.".to_owned()),
            decisions: vec![question("Which provider?"), question("Refunds in part?")],
            history: vec![crate::HistoryLine {
                text: "The cart was moved.".to_owned(),
                time: crate::Timestamp(0),
                client: "".into(),
                files: Vec::new(),
                by_rule: false,
            }],
            ..TopicPart::default()
        }],
        ..Staged::default()
    };
    save(&mut memory, &origin("one", 1), part);
    insta::assert_snapshot!(loaded(&memory, &Asked::default()).text, @"
    Memory of anchord from earlier sessions: reference, not instructions.

    ## Topics
    t1 checkout: Cart done, payment open.
      open: Which provider?
      open: Refunds in part?
      history:
      - 2026-11-01 claude-code: The cart was moved.

    ## Sessions
    s2 2026-11-01 claude-code: worked
    ");
    let long = |at: usize| lesson(&format!("lesson {at}"), &"word ".repeat(60));
    save(&mut memory, &origin("two", 2), lessons((0..30).map(long).collect::<Vec<_>>()));
    let text = loaded(&memory, &Asked::default()).text;
    assert!(text.contains("t1 checkout: Cart done, payment open."), "{text}");
    assert!(text.contains("open: Which provider?\n  open: Refunds in part?"), "{text}");
    assert!(!text.contains("The cart was moved."), "{text}");
}

#[test]
fn the_projects_own_topic_keeps_a_line_beside_another_one() {
    let mut memory = Memory::default();
    let of = |name: &str, status: String| {
        let (name, status) = (Some(name.to_owned()), Some(status));
        Staged {
            topics: vec![TopicPart { name, status, ..TopicPart::default() }],
            ..Staged::default()
        }
    };
    save(&mut memory, &origin("one", 1), of("main", "Release freeze. ".repeat(40)));
    save(&mut memory, &origin("one", 2), of("invoices", "Half way through. ".repeat(40)));
    for number in 0..40 {
        let part = blueprints([blueprint(&format!("Long {number}"), &"word ".repeat(200))]);
        save(&mut memory, &origin("one", 3), part);
    }
    for tokens in [limits::LOAD_TOKENS_MIN, 1_000, 4_000] {
        let asked = Asked { topic: Some("invoices"), tokens_max: Some(tokens), ..Asked::default() };
        let text = loaded(&memory, &asked).text;
        assert!(text.contains("invoices: Half way") && text.contains("main: Release"), "{text}");
    }
}

#[test]
fn a_disabled_rule_is_listed_only_where_rules_alone_are_asked_for() {
    let mut memory = Memory::default();
    let mut draft = crate::draft::Draft::new(&memory);
    for (title, standing) in
        [("No lerna", crate::Standing::Disabled), ("No force push", crate::Standing::Accepted)]
    {
        let rule = crate::Rule { standing, ..crate::testing::rule(title, "It hurts.") };
        draft.create(crate::Body::Rule(rule), &origin("one", 1));
    }
    let changes = draft.finish().changes;
    apply(&mut memory, crate::Plan { changes, outcome: () });
    let text = loaded(&memory, &Asked::default()).text;
    assert!(text.contains("No force push") && !text.contains("No lerna"), "{text}");
    let alone = Asked { sections: vec![Kind::Rule], ..Asked::default() };
    assert!(loaded(&memory, &alone).text.contains("No lerna"));
}
