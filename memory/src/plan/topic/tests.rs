//! Topics that are written at once.

use super::*;
use crate::testing::{apply, origin};
use crate::{HistoryLine, Kind, Revision, SessionId, TopicDecision, TopicPart, plan_checkpoint};

fn of(part: TopicPart) -> Staged {
    Staged { topics: vec![part], ..Staged::default() }
}

fn status(status: &str) -> TopicPart {
    TopicPart { status: Some(status.to_owned()), ..TopicPart::default() }
}

fn lines(lines: &[&str]) -> TopicPart {
    let history = lines.iter().map(|line| HistoryLine::written((*line).to_owned())).collect();
    TopicPart { history, ..TopicPart::default() }
}

fn refused(memory: &Memory, part: TopicPart, expected: Option<u32>) -> String {
    plan_topic(memory, &origin("one", 2), of(part), expected.map(Version)).unwrap_err().to_string()
}

#[test]
fn a_topic_is_written_at_once_and_leaves_staged_work_alone() {
    let mut memory = Memory::default();
    let staged = plan_checkpoint(&memory, &origin("one", 1), of(status("staged"))).unwrap();
    apply(&mut memory, staged);
    let plan = plan_topic(&memory, &origin("one", 1), of(status("begun")), None).unwrap();
    assert_eq!((plan.outcome.version, plan.outcome.changed), (Version::FIRST, true));
    apply(&mut memory, plan);
    assert_eq!(memory.revision(), Revision(1));
    assert!(memory.records().all(|record| record.kind() == Kind::Topic), "there is no row");
    let topic = memory.topic("main").unwrap().topic().unwrap();
    assert_eq!((topic.status.as_str(), topic.history[0].text.as_str()), ("begun", "begun"));
    assert_eq!(topic.history[0].time, origin("one", 1).time);
    let staged = memory.staged_by(&SessionId::new("one")).unwrap();
    assert_eq!(staged.topics[0].status.as_deref(), Some("staged"));
}

#[test]
fn a_line_of_history_is_kept_whole_or_refused() {
    let mut memory = Memory::default();
    let long = "x".repeat(1_000);
    let plan = plan_topic(&memory, &origin("one", 1), of(lines(&["first", &long])), None).unwrap();
    apply(&mut memory, plan);
    let topic = memory.topic("main").unwrap().topic().unwrap();
    let told: Vec<&str> = topic.history.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(told, ["first", &long]);
    let longer = refused(&memory, lines(&["short", &format!("{long}x")]), None);
    assert_eq!(
        longer,
        "topic.history[1] has 1001 characters, 1000 are allowed; split it, or note the rest"
    );
    assert_eq!(
        refused(&memory, TopicPart::default(), None),
        "topic has nothing to write: a status, an overview, an architecture, decisions, history or files"
    );
}

#[test]
fn descriptions_are_rewritten_and_an_empty_one_changes_nothing() {
    let mut memory = Memory::default();
    let described = |overview: &str, architecture: &str| TopicPart {
        overview: Some(overview.to_owned()),
        architecture: Some(architecture.to_owned()),
        ..TopicPart::default()
    };
    for part in [described(" a cache ", "one writer\nmany readers"), described("", "two writers")] {
        let plan = plan_topic(&memory, &origin("one", 1), of(part), None).unwrap();
        apply(&mut memory, plan);
    }
    let topic = memory.topic("main").unwrap().topic().unwrap();
    assert_eq!((topic.overview.as_str(), topic.architecture.as_str()), ("a cache", "two writers"));
    assert_eq!(topic.history, []);
    assert_eq!(
        refused(&memory, described(&"x".repeat(10_001), ""), None),
        "topic.overview has 10001 characters, 10000 are allowed; keep what matters most, and note the rest"
    );
}

#[test]
fn a_statement_is_decided_once() {
    let mut memory = Memory::default();
    let statement = |text: &str| TopicPart {
        decisions: vec![TopicDecision::statement(text)],
        ..TopicPart::default()
    };
    let asked = TopicDecision { decided: None, ..TopicDecision::statement("lru it  IS.") };
    let asked = TopicPart { decisions: vec![asked], ..TopicPart::default() };
    for (day, part) in (1..).zip([statement("LRU it is."), statement("lru it is."), asked]) {
        let plan = plan_topic(&memory, &origin("one", day), of(part), None).unwrap();
        apply(&mut memory, plan);
    }
    let topic = memory.topic("main").unwrap().topic().unwrap();
    assert!(topic.decisions.len() == 1 && topic.decisions[0].is_statement(), "{topic:?}");
    assert_eq!(topic.pending().count(), 0);
}

#[test]
fn the_same_line_of_history_adds_its_files() {
    let mut memory = Memory::default();
    let line = |files: &[&str], by_rule| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let line = HistoryLine { files, by_rule, ..HistoryLine::written("Wrote it.".to_owned()) };
        TopicPart { history: vec![line], ..TopicPart::default() }
    };
    for part in [line(&["a.rs", "./b.rs"], true), line(&["a.rs", "c.rs"], false)] {
        let plan = plan_topic(&memory, &origin("one", 1), of(part), None).unwrap();
        apply(&mut memory, plan);
    }
    let topic = memory.topic("main").unwrap().topic().unwrap();
    let [line] = topic.history.as_slice() else { panic!("{topic:?}") };
    assert_eq!((line.files.join(" "), line.by_rule), ("b.rs a.rs c.rs".to_owned(), false));
}

#[test]
fn another_version_than_the_expected_one_is_refused() {
    let mut memory = Memory::default();
    let missing = refused(&memory, status("begun"), Some(2));
    assert_eq!(missing, "expected_version is 2, but there is no topic `main` yet");
    for (expected, text) in [(0, "begun"), (1, "half way")] {
        let part = of(status(text));
        let plan = plan_topic(&memory, &origin("one", 1), part, Some(Version(expected))).unwrap();
        apply(&mut memory, plan);
    }
    for stale in [0, 1, 3] {
        let part = of(status("done"));
        let expected = Some(Version(stale));
        let refusal = plan_topic(&memory, &origin("two", 2), part, expected).unwrap_err();
        assert!(matches!(refusal, Refusal::Conflict { current: 2, .. }), "{refusal:?}");
    }
    assert_eq!(memory.topic("main").unwrap().topic().unwrap().status, "half way");
}
