//! Tests of the form of shared files.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::kinds::topic::{HistoryLine, TopicDecision};
use crate::record::{Body, Record};
use crate::testing::{anchor, blueprint, lesson, note, origin, save};
use crate::{Kind, Memory, RecordId, ShareId, Staged, Timestamp, Topic, TopicPart};

fn memory() -> Memory {
    let mut memory = Memory::default();
    let topic = TopicPart {
        status: Some("Half done".to_owned()),
        decisions: vec![TopicDecision {
            question: "Which port?".to_owned(),
            decided: None,
            time: Timestamp::default(),
        }],
        files: vec!["src/a.rs".to_owned()],
        ..TopicPart::default()
    };
    let part = Staged {
        blueprints: vec![blueprint("Use sled", "It is fast.\n\n- and small")],
        anchors: vec![anchor("src/a.rs", "3-9", "the lock")],
        lessons: vec![lesson("Run fmt first", "CI fails otherwise.")],
        notes: vec![crate::NewNote {
            key: Some("db".to_owned()),
            tags: vec!["infra".to_owned(), "db".to_owned()],
            summary: "The database".to_owned(),
            pinned: true,
            ..note("Postgres 16")
        }],
        topics: vec![topic],
        ..Staged::default()
    };
    save(&mut memory, &origin("s1", 1), part);
    memory
}

fn record(memory: &Memory, kind: Kind) -> &Record {
    memory.records().find(|record| record.kind() == kind).unwrap()
}

#[test]
fn a_file_reads_well() {
    let memory = memory();
    let shared = memory.records().filter(|record| record.is_shared());
    let texts: Vec<String> = shared
        .map(|record| {
            let path = FileNames::path(&FileNames::id(record, "one memory"), record);
            format!("{path}\n{}", FileForm::of(record).render())
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn only_what_a_project_shares_has_a_file() {
    let mut memory = memory();
    let rows: Vec<_> = memory.records().filter(|it| it.kind() == Kind::SessionRow).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| !row.is_shared()));
    let part = Staged {
        notes: vec![crate::NewNote { private: true, ..note("mine alone") }],
        ..Staged::default()
    };
    save(&mut memory, &origin("s2", 2), part);
    let private = memory.records().find(|record| record.owner().is_some()).unwrap();
    assert!(!private.is_shared());
    let by_rule =
        crate::testing::captured_lesson("cargo test", "error[E0308]", crate::testing::day(1));
    let record = Record { body: Body::Lesson(by_rule), ..record(&memory, Kind::Lesson).clone() };
    assert!(!record.is_shared());
}

#[test]
fn two_clones_that_create_the_same_number_create_two_files() {
    let id: RecordId = "n12".parse().unwrap();
    let (one, other) = (ShareId::derive("one", id), ShareId::derive("other", id));
    assert_ne!(one, other);
    assert_eq!(one, ShareId::derive("one", id));
    assert_eq!(one.to_string().parse::<ShareId>().unwrap(), one);
}

#[test]
fn the_name_of_a_file_is_plain_whatever_the_record_is_called() {
    let memory = memory();
    let file = |title: &str| {
        let mut record = record(&memory, Kind::Blueprint).clone();
        record.body = Body::Blueprint(blueprint(title, "x"));
        FileNames::path(&ShareId::derive("m", record.id), &record)
    };
    let id = ShareId::derive("m", record(&memory, Kind::Blueprint).id);
    assert_eq!(file("../../etc/Passwd: Ünïcode?"), format!("blueprint/{id}-etc-passwd-unicode.md"));
    assert_eq!(file("決定"), format!("blueprint/{id}.md"));
    let long = file(&"long words ".repeat(50));
    assert!(long.len() < 70 && !long.contains("-.md"), "{long}");
    assert_eq!(FileNames::parse(&long), Some((Kind::Blueprint, id)));
}

#[test]
fn paths_that_are_not_of_shared_records() {
    for path in [
        "note/short-x.md",
        "row/0123456789ab.md",
        "session/0123456789ab.md",
        "0123456789ab.md",
        "note/0123456789ab.txt",
        "note/0123456789il-x.md",
        "note/sub/0123456789ab.md",
    ] {
        assert_eq!(FileNames::parse(path), None, "{path}");
    }
}

#[track_caller]
fn refused(kind: Kind, text: &str) -> FileProblem {
    FileForm::parse(kind, text.as_bytes()).unwrap_err()
}

#[test]
fn what_would_be_lost_or_misread_is_refused() {
    let unknown = |name: &str| FileProblem::UnknownField(name.to_owned());
    let note = |front: &str| format!("+++\nimportance = 5\n{front}\n+++\n\nText\n");
    assert_eq!(refused(Kind::Note, &note("colour = \"red\"")), unknown("colour"));
    assert_eq!(refused(Kind::Note, &note("scope = \"user\"")), unknown("scope"));
    let topic = "+++\nname = \"main\"\ndecisions = [{ question = \"a\", weight = 3 }]\n+++\n";
    assert_eq!(refused(Kind::Topic, topic), unknown("weight"));
    let section = "+++\nimportance = 5\n+++\n\nText\n\n<!-- anchord: more -->\n\nx\n";
    assert_eq!(refused(Kind::Note, section), unknown("more"));
    assert_eq!(refused(Kind::Note, "Text alone\n"), FileProblem::NoFrontMatter);
    assert_eq!(refused(Kind::Note, "+++\nimportance = 5\n"), FileProblem::NoFrontMatter);
    assert!(matches!(refused(Kind::Note, &note("a = [")), FileProblem::NotToml(_)));
    assert!(matches!(refused(Kind::Note, &note("tags = 3")), FileProblem::BadField(_)));
    assert!(matches!(refused(Kind::Note, &note("key = 3")), FileProblem::BadField(_)));
    assert!(matches!(refused(Kind::Note, &note("content = \"x\"")), FileProblem::BadField(_)));
    assert!(matches!(
        refused(Kind::Note, "+++\nimportance = 5000\n+++\n"),
        FileProblem::BadField(_)
    ));
    let marked = "+++\nimportance = 5\n+++\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n";
    assert_eq!(refused(Kind::Note, marked), FileProblem::Markers);
    assert_eq!(FileForm::parse(Kind::Note, b"+++\n\xff\n+++\n"), Err(FileProblem::NotText));
}

#[test]
fn an_editor_or_git_may_change_what_does_not_matter() {
    let memory = memory();
    for record in memory.records().filter(|record| record.is_shared()) {
        let form = FileForm::of(record);
        let text = form.render();
        let read = |text: &str| FileForm::parse(record.kind(), text.as_bytes()).unwrap();
        assert_eq!(read(&text.replace('\n', "\r\n")), form);
        assert_eq!(read(&format!("\u{feff}{text}")), form);
        assert_eq!(read(text.trim_end()), form);
    }
}

#[test]
fn changes_of_different_fields_merge() {
    let memory = memory();
    let base = SharedContent::of(record(&memory, Kind::Note));
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    ours.fields.insert("content".to_owned(), "Postgres 17".into());
    ours.tags.push("ours".to_owned());
    theirs.fields.insert("importance".to_owned(), 9.into());
    theirs.tags.push("theirs".to_owned());
    let merged = ours.merged(&base, &theirs).unwrap();
    assert_eq!(merged.fields["content"], "Postgres 17");
    assert_eq!(merged.fields["importance"], 9);
    assert!(["ours", "theirs", "db"].iter().all(|tag| merged.tags.contains(&(*tag).to_owned())));
    theirs.fields.insert("content".to_owned(), "MySQL".into());
    assert_eq!(ours.merged(&base, &theirs), None);
}

/// Texts with everything that a form might misread.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "+++",
        "---",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "\r",
        "\u{0}",
        "\u{1b}[31m",
        "\u{202e}",
        "\"",
        "\\",
        "'''",
        "<!-- anchord: content -->",
        "\\<!-- anchord: x -->",
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>>",
        "# Title",
        "🦀",
        "👩\u{200d}🚀",
        " ",
        "wäre",
        "x",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "${HOME}",
        "key = 1",
    ]);
    prop::collection::vec(odd, 0..8).prop_map(|parts| parts.concat())
}

fn body() -> impl Strategy<Value = Body> {
    let decision =
        (text(), prop::option::of(text()), any::<i64>()).prop_map(|(question, decided, time)| {
            TopicDecision { question, decided, time: Timestamp(time) }
        });
    let line = (text(), 0..4_000_000_000_000_i64).prop_map(|(text, time)| HistoryLine {
        time: Timestamp(time),
        ..HistoryLine::written(text)
    });
    let topic =
        (text(), text(), prop::collection::vec(decision, 0..3), prop::collection::vec(line, 0..3))
            .prop_map(|(name, status, decisions, history)| {
                Body::Topic(Topic { name, status, decisions, history, ..Topic::default() })
            });
    let note =
        (text(), text(), prop::option::of(text()), 1..=10_u8, prop::option::of(any::<i64>()))
            .prop_map(|(content, summary, key, importance, expires)| {
                let new =
                    crate::NewNote { key, summary, importance: Some(importance), ..note(&content) };
                let mut note = new.note(&crate::SessionId::new("s"));
                note.expires = expires.map(Timestamp);
                Body::Note(note)
            });
    prop_oneof![
        (text(), text()).prop_map(|(title, content)| Body::Blueprint(blueprint(&title, &content))),
        (text(), text(), text())
            .prop_map(|(file, lines, concept)| Body::Anchor(anchor(&file, &lines, &concept))),
        (text(), text(), prop::collection::vec(text(), 0..3)).prop_map(
            |(summary, detail, files)| {
                Body::Lesson(crate::Lesson { files, ..lesson(&summary, &detail) })
            }
        ),
        note,
        topic,
    ]
}

proptest! {
    #[test]
    fn a_file_has_exactly_what_is_shared(
        body in body(),
        tags in prop::collection::vec(text(), 0..3),
        pinned in any::<bool>(),
        created in any::<i64>(),
        since in prop::option::of(any::<i64>()),
    ) {
        let since = since.filter(|_| body.kind() == Kind::Topic);
        let times = since.map(|time| ("status_at".to_owned(), Timestamp(time)));
        let times = times.into_iter().collect();
        let content = SharedContent::new(&body, tags, pinned);
        let form = FileForm { created: Some(Timestamp(created)), times, content };
        let text = form.render();
        let read = FileForm::parse(body.kind(), text.as_bytes());
        prop_assert_eq!(read.as_ref(), Ok(&form), "{}", text);
        // The bytes depend on the content alone.
        prop_assert_eq!(read.unwrap().render(), text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), text in text()) {
        for kind in Kind::ALL {
            let _ = FileForm::parse(kind, &bytes);
            let _ = FileForm::parse(kind, format!("+++\n{text}\n+++\n{text}").as_bytes());
        }
    }

    #[test]
    fn a_record_gets_back_what_its_file_leaves_out(content in text()) {
        let mut memory = memory();
        let part = Staged { notes: vec![note(&format!("x{content}"))], ..Staged::default() };
        save(&mut memory, &origin("s3", 3), part);
        for record in memory.records().filter(|record| record.is_shared()) {
            let content = SharedContent::of(record);
            let body = content.body(None, Timestamp(0)).unwrap();
            prop_assert_eq!(&body, &record.body);
            let fields: Map<String, Value> = content.to_json();
            prop_assert_eq!(content.with_json(fields), content);
        }
    }
}
