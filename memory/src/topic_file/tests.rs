//! The form of a topic's file, both ways, and the names of files.

use proptest::prelude::*;

use super::*;
use unicode_normalization::UnicodeNormalization;

use crate::fold::fold;
use crate::kinds::topic::topic_name;
use crate::limits::{TOPIC_FILE_STEM_BYTES_MAX, TOPIC_NAME_CHARS_MAX};

fn day(text: &str) -> Timestamp {
    Timestamp::parse_day(text).unwrap()
}

fn statement(on: Option<&str>, text: &str) -> DecisionItem {
    DecisionItem { day: on.map(day), decision: Decision::Statement(text.to_owned()) }
}

fn line(on: Option<&str>, text: &str) -> HistoryItem {
    HistoryItem { day: on.map(day), text: text.to_owned() }
}

fn cache() -> TopicFile {
    TopicFile {
        title: "cache".to_owned(),
        created: Some(day("2026-11-20")),
        updated: Some(day("2026-11-22")),
        status: Some("half way\n\n- the reader is done".to_owned()),
        decisions: vec![
            statement(Some("2026-11-21"), "LRU, since scans are rare."),
            DecisionItem {
                day: Some(day("2026-11-21")),
                decision: Decision::Open("How large?".to_owned()),
            },
            DecisionItem {
                day: Some(day("2026-11-22")),
                decision: Decision::Decided("Warm it?".to_owned(), "At start".to_owned()),
            },
        ],
        history: vec![line(Some("2026-11-20"), "Context created")],
        ..TopicFile::default()
    }
}

#[test]
fn a_file_has_the_sections_of_snap_memory() {
    insta::assert_snapshot!(cache().render(), @r"
    # cache

    ## Meta
    - **created**: 2026-11-20
    - **updated**: 2026-11-22

    ## Current Status
    half way

    - the reader is done

    ## Key Decisions
    - 2026-11-21: LRU, since scans are rare.
    - 2026-11-21: (open) How large?
    - 2026-11-22: (decided) Warm it? -> At start

    ## History
    - 2026-11-20: Context created
    ");
    let empty = TopicFile { title: "new".to_owned(), ..TopicFile::default() };
    insta::assert_snapshot!(empty.render(), @r"
    # new

    ## Meta

    ## Current Status
    (no status yet)

    ## Key Decisions
    (none yet)

    ## History
    (none yet)
    ");
    assert_eq!(TopicFile::parse(&empty.render()), empty);
}

#[test]
fn a_file_of_a_person_loses_nothing() {
    let text = "\u{feff}# cache\r\n\r\nRead this first.\r\n\r\n## Meta\r\n- **created**: 2026-11-20\r\n\
        - **owner**: Ada\r\na loose line\r\n\r\n## Current Status\r\nhalf way\r\n# not a title\r\n\
        ### Part\r\n\r\n## History of the bug\r\nIt began in May.\r\n\r\n## Key Decisions\r\n\
        2026-11-21: LRU\r\n- 2026-11-22: many\r\n  lines\r\n\r\nand a paragraph\r\n* starred\r\n\r\n\
        ## Notes\r\nAsk Ines.\r\n\r\n## history\r\n- no day\r\n\r\n## Key Decisions\r\n- another\r\n";
    let file = TopicFile::parse(text);
    let section =
        |heading: &str, text: &str| Section { heading: heading.to_owned(), text: text.to_owned() };
    assert_eq!(
        file,
        TopicFile {
            title: "cache".to_owned(),
            created: Some(day("2026-11-20")),
            updated: None,
            meta: vec![("owner".to_owned(), "Ada".to_owned())],
            overview: None,
            architecture: None,
            status: Some("half way\n# not a title\n### Part".to_owned()),
            decisions: vec![
                statement(Some("2026-11-21"), "LRU"),
                statement(Some("2026-11-22"), "many lines and a paragraph"),
                statement(None, "starred"),
                statement(None, "another"),
            ],
            history: vec![line(None, "no day")],
            others: vec![
                section("", "Read this first."),
                section("", "a loose line"),
                section("History of the bug", "It began in May."),
                section("Notes", "Ask Ines."),
            ],
        }
    );
}

#[test]
fn descriptions_have_sections_of_their_own() {
    let topic = Topic {
        overview: "A cache.\n\n## For whom\nThe shop.\n".to_owned(),
        architecture: "One writer.".to_owned(),
        ..Topic::default()
    };
    let file = TopicFile { status: None, decisions: Vec::new(), ..cache() };
    let text = file.clone().with_descriptions(&topic).render();
    insta::assert_snapshot!(text, @r"
    # cache

    ## Meta
    - **created**: 2026-11-20
    - **updated**: 2026-11-22

    ## Overview
    A cache.

    \## For whom
    The shop.

    ## Architecture
    One writer.

    ## Current Status
    (no status yet)

    ## Key Decisions
    (none yet)

    ## History
    - 2026-11-20: Context created
    ");
    let read = TopicFile::parse(&text);
    assert_eq!(read.overview.as_deref(), Some("A cache.\n\n## For whom\nThe shop."));
    assert_eq!(file.with_descriptions(&Topic::default()).overview, None);
    // Two sections are one text, and an empty one says nothing.
    let twice = TopicFile::parse("## Overview\na\n## overview\nb\n## Architecture\n\n");
    assert_eq!((twice.overview.as_deref(), twice.architecture), (Some("a\n\nb"), None));
}

/// The older of two descriptions is a line of history, and a note if it is longer than that.
#[test]
fn the_newer_description_stays_and_the_other_is_history() {
    let by = crate::testing::origin("one", 1);
    let here = Topic { overview: "theirs".to_owned(), ..Topic::default() };
    let long = "mine, ".repeat(100) + "mine";
    let added = |mine: &str, here: &Topic, written_here: WrittenHere| {
        let file = TopicFile { overview: Some(mine.to_owned()), ..TopicFile::default() };
        let (part, rest) = file.additions("cache", Some(here), written_here, &by);
        let told: Vec<String> = part.history.iter().map(|line| line.text.clone()).collect();
        (part.overview, told, rest)
    };
    let none: [&str; 0] = [];
    let (overview, told, rest) = added("theirs", &here, WrittenHere::all(true));
    assert_eq!((overview, told.len(), rest.len()), (None, 0, 0), "it is the same");
    let (overview, told, rest) = added("mine", &here, WrittenHere::default());
    assert_eq!(overview.as_deref(), Some("mine"));
    assert_eq!((told, rest.len()), (none.map(str::to_owned).to_vec(), 0), "nobody else wrote");
    let (overview, told, rest) = added("mine", &here, WrittenHere::all(false));
    assert_eq!(overview.as_deref(), Some("mine"));
    assert_eq!((told, rest.len()), (vec!["Overview: theirs".to_owned()], 0));
    let (overview, told, rest) = added("mine", &here, WrittenHere::all(true));
    assert_eq!((overview, told, rest.len()), (None, vec!["Overview: mine".to_owned()], 0));
    let (overview, told, rest) = added(&long, &here, WrittenHere::all(true));
    assert_eq!((overview, told.len()), (None, 1));
    assert_eq!(rest, [format!("Overview\n\n{long}")], "all of it is kept");
    // Once it is in the history, it is not said again.
    let known = Topic { history: vec![HistoryLine::new("Overview: mine")], ..here.clone() };
    let (overview, told, rest) = added("mine", &known, WrittenHere::all(true));
    assert_eq!((overview, told.len(), rest.len()), (None, 0, 0));
    // What is too long for a topic is whole in the rest.
    let huge = "x".repeat(20_000);
    let (overview, _, rest) = added(&huge, &here, WrittenHere::default());
    assert_eq!(overview.map(|text| text.chars().count()), Some(10_000));
    assert_eq!(rest, [format!("Overview\n\n{huge}")]);
}

#[test]
fn quoted_context_is_left_out_and_the_files_own_sections_stay() {
    let quoted = "\n\n## Topic Context (auto-injected by snap-memory)\nReference only.\n\n# cache\n\n\
        ## Meta\n- **created**: 2026-01-01\n\n## Current Status\nold\n\n## Key Decisions\n- old\n\n## History\n- old";
    let of = |status: &str, decision: &str, line: &str| {
        format!(
            "# cache\n\n## Meta\n- **created**: 2026-11-20\n\n## Current Status\n{status}\n\n## Key Decisions\n\
             - {decision}\n\n## History\n- {line}\n"
        )
    };
    let plain = TopicFile::parse(&of("half way", "LRU", "began"));
    let in_status = of(&format!("half way{quoted}"), "LRU", "began");
    let in_decision = of("half way", &format!("LRU{quoted}"), "began");
    let in_line = of("half way", "LRU", &format!("began{quoted}"));
    for text in [in_status, in_decision, in_line] {
        assert_eq!(TopicFile::parse(&text), plain, "{text}");
    }
}

#[test]
fn an_item_may_begin_with_its_day() {
    assert_eq!(
        dated(" 2026-11-22:  chose\n LRU "),
        (Some(day("2026-11-22")), "chose LRU".to_owned())
    );
    for text in ["2026-13-40: no day", "chose: LRU", "1969-01-01: before all", "2026-11-22:", "a"] {
        assert_eq!(dated(text), (None, text.to_owned()));
    }
}

#[test]
fn names_that_would_leave_the_folder_are_encoded() {
    for (topic, file) in [
        ("cache", "context-cache.md"),
        ("Fix Login_2.1", "context-Fix Login_2.1.md"),
        ("a/../../b", "context-a%2F.%2E%2F.%2E%2Fb.md"),
        ("x..", "context-x.%2E.md"),
        ("über", "context-über.md"),
        ("fix: 50 %", "context-fix%3A 50 %25.md"),
    ] {
        assert_eq!(snap_file(topic), file);
        assert_eq!(given_name(file, topic), Some(topic));
    }
    assert_eq!(given_name("context-a%2Fb.md", "another title"), Some("a%2Fb"));
    assert_eq!(given_name("notes.md", "notes"), None);
    // A file system may take the second name of each pair for the first.
    for (one, other) in
        [("strasse", "straße"), ("οδοσ", "ΟΔΟΣ"), ("각", "\u{1100}\u{1161}\u{11a8}")]
    {
        assert_ne!(file_stem(one), file_stem(other));
        assert!(file_stem(other).contains('~'), "{}", file_stem(other));
    }
}

#[test]
fn names_of_snap_memory_become_names_of_topics() {
    for (given, topic) in [
        ("cache", "cache"),
        ("fix: login", "fix- login"),
        ("../../etc", "etc"),
        ("存一下", "存一下"),
        ("#42 {x}", "42 -x-"),
    ] {
        assert_eq!(snap_topic(given), topic);
    }
    let long = snap_topic(&"a b".repeat(40));
    assert_eq!(long.chars().count(), TOPIC_NAME_CHARS_MAX);
    assert!(long.starts_with("a ba ba b"), "{long}");
    assert!(snap_topic("!?").starts_with("topic-"), "{}", snap_topic("!?"));
}

/// Generates texts of one line with the characters that mean something in a file.
fn one_liner() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-zä#*(-]{1,3}",
        Just("->".to_owned()),
        Just("\\->".to_owned()),
        Just("(open)".to_owned()),
        Just("\\(decided)".to_owned()),
        Just("(none".to_owned()),
        Just("##".to_owned()),
        Just("2026-01-02:".to_owned()),
        Just("\\2026-01-02:".to_owned()),
    ];
    prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

fn many_lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        one_liner(),
        Just(String::new()),
        Just(NO_STATUS.to_owned()),
        Just(format!("\\{NO_STATUS}")),
        Just("## History".to_owned()),
        Just("\\## Meta".to_owned()),
        Just("## Overview".to_owned()),
        Just("# title".to_owned()),
        Just("- **created**: 2026-01-01".to_owned()),
    ];
    let text =
        prop::collection::vec(line, 1..5).prop_map(|lines| lines.join("\n").trim().to_owned());
    text.prop_filter("a text is not empty", |text| !text.is_empty())
}

fn a_day() -> impl Strategy<Value = Option<Timestamp>> {
    prop::option::of((1_i64..40_000).prop_map(|day| Timestamp(day * Timestamp::DAY_MILLIS)))
}

fn a_file() -> impl Strategy<Value = TopicFile> {
    let decision = prop_oneof![
        one_liner().prop_map(Decision::Statement),
        one_liner().prop_map(Decision::Open),
        (one_liner(), one_liner())
            .prop_map(|(question, answer)| Decision::Decided(question, answer)),
    ];
    let decision = (a_day(), decision).prop_map(|(day, decision)| DecisionItem { day, decision });
    let told = (a_day(), one_liner()).prop_map(|(day, text)| HistoryItem { day, text });
    let heading = prop_oneof![Just(String::new()), "[A-Z][a-z]{2,4} [a-z]{1,3}"];
    let section = (heading, many_lines()).prop_map(|(heading, text)| Section { heading, text });
    (
        ("[a-z][a-z /.]{0,8}[a-z]", a_day(), a_day()),
        (
            prop::option::of(many_lines()),
            prop::option::of(many_lines()),
            prop::option::of(many_lines()),
        ),
        prop::collection::vec(decision, 0..4),
        prop::collection::vec(told, 0..4),
        prop::collection::vec(section, 0..3),
    )
        .prop_map(|((title, created, updated), texts, decisions, history, others)| {
            let (overview, architecture, status) = texts;
            TopicFile {
                title: crate::fold::one_line(&title),
                created,
                updated,
                meta: Vec::new(),
                overview,
                architecture,
                status,
                decisions,
                history,
                others,
            }
        })
}

fn a_topic() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        "[aAßsSkKſé ./_-]{1,12}",
        "\\PC{1,70}",
        "[\u{ac00}-\u{ac01}\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a8}]{1,60}"
    ];
    name.prop_filter_map("it is a topic's name", |name| topic_name(&name).ok())
}

proptest! {
    #[test]
    fn a_file_reads_back_as_it_was_rendered(file in a_file()) {
        let text = file.render();
        prop_assert_eq!(TopicFile::parse(&text), file, "{}", text);
    }

    #[test]
    fn any_text_is_a_file_that_reads_back(text in "(\\PC|\n|# |## |- |## History\n){0,60}") {
        let file = TopicFile::parse(&text);
        prop_assert_eq!(TopicFile::parse(&file.render()), file);
    }

    #[test]
    fn a_file_name_is_one_short_component(topic in "\\PC{0,80}") {
        let stem = file_stem(&topic);
        prop_assert!(!stem.is_empty() && stem.len() <= TOPIC_FILE_STEM_BYTES_MAX, "{}", stem);
        prop_assert!(!stem.contains('/') && !stem.contains("..") && !stem.starts_with('.'), "{}", stem);
    }

    #[test]
    fn topics_have_different_files(one in a_topic(), other in a_topic()) {
        // A file system that ignores case and the spelling of accents compares like this.
        let folded = |name: &str| {
            let upper: String = name.nfc().flat_map(char::to_uppercase).collect();
            upper.nfc().collect::<String>()
        };
        prop_assume!(fold(&one) != fold(&other));
        prop_assert_ne!(folded(&file_stem(&one)), folded(&file_stem(&other)));
    }

    #[test]
    fn every_given_name_has_a_topic(given in "\\PC{1,120}") {
        let topic = snap_topic(&given);
        prop_assert_eq!(topic_name(&topic).ok(), Some(topic.clone()));
        prop_assert!(topic_name(&distinct(&topic, &given)).is_ok());
    }
}
