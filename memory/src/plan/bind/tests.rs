//! Conversations and their topics.

use super::{in_conversation, plan_bind};
use crate::limits::BINDINGS_MAX;
use crate::testing::{apply, checkpoint, day, origin, save};
use crate::{
    Body, Counts, Memory, Revision, SessionId, Staged, Timestamp, Topic, TopicDecision, TopicPart,
    plan_checkpoint, plan_forget,
};

fn topic(name: Option<&str>, status: &str) -> TopicPart {
    TopicPart {
        name: name.map(str::to_owned),
        status: Some(status.to_owned()),
        ..TopicPart::default()
    }
}

fn of(parts: impl Into<Vec<TopicPart>>) -> Staged {
    Staged { topics: parts.into(), ..Staged::default() }
}

fn question(question: &str, decided: Option<&str>) -> TopicDecision {
    TopicDecision {
        question: question.to_owned(),
        decided: decided.map(str::to_owned),
        time: Timestamp::default(),
    }
}

fn stored(memory: &Memory, name: &str) -> Topic {
    memory.topic(name).unwrap().topic().unwrap().clone()
}

#[test]
fn the_first_topic_that_a_thread_names_is_bound_to_it() {
    let mut memory = Memory::default();
    let (part, bound) =
        in_conversation(&memory, "codex:1", of([topic(Some("Cache"), "begun")])).unwrap();
    let mut plan = plan_checkpoint(&memory, &origin("one", 1), part).unwrap();
    assert_eq!(plan.outcome.pending, Counts { topics: 1, ..Counts::default() });
    plan.changes.extend(bound);
    apply(&mut memory, plan);
    assert_eq!(memory.bound("codex:1"), Some("Cache"));
    assert_eq!((memory.revision(), memory.topics().count()), (Revision(0), 0), "it is private");

    // Tomorrow's run of the conversation names no topic. The other topic that it names stays
    // another's.
    let parts = of([topic(None, "half way"), topic(Some("wire"), "asked for")]);
    let (part, bound) = in_conversation(&memory, "codex:1", parts).unwrap();
    assert_eq!(bound, []);
    save(&mut memory, &origin("two", 2), part);
    assert_eq!(stored(&memory, "cache").status, "half way");
    assert_eq!(stored(&memory, "WIRE").status, "asked for");

    // A conversation without a topic writes to the project's own.
    let (part, bound) = in_conversation(&memory, "codex:2", of([topic(None, "reviewed")])).unwrap();
    assert_eq!(bound, []);
    save(&mut memory, &origin("three", 3), part);
    assert_eq!(stored(&memory, "main").status, "reviewed");
}

#[test]
fn a_binding_can_be_changed_and_removed() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), of([topic(Some("Cache"), "begun")]));
    let outcome = plan_bind(&memory, "k", Some("cache")).unwrap();
    let outcome = apply(&mut memory, outcome);
    assert_eq!((outcome.topic.as_deref(), outcome.known), (Some("Cache"), true));
    assert_eq!(plan_bind(&memory, "k", Some("CACHE")).unwrap().changes, []);
    let outcome = plan_bind(&memory, "k", None).unwrap();
    let outcome = apply(&mut memory, outcome);
    assert_eq!((outcome.before.as_deref(), memory.bound("k")), (Some("Cache"), None));
    assert!(plan_bind(&memory, "k", Some("a:b")).is_err());
    assert_eq!(memory.revision(), Revision(1), "bindings are no commits");
}

#[test]
fn the_oldest_of_too_many_bindings_is_dropped() {
    let mut memory = Memory::default();
    for at in (0..=BINDINGS_MAX).rev() {
        let plan = plan_bind(&memory, &format!("k{at}"), Some("main")).unwrap();
        apply(&mut memory, plan);
    }
    assert_eq!(memory.bindings().count(), BINDINGS_MAX);
    assert_eq!(memory.bound(&format!("k{BINDINGS_MAX}")), None);
    assert_eq!(memory.bound("k0"), Some("main"));
}

/// Neither overwrites what only the other has written, whoever saves first.
#[test]
fn two_sessions_share_a_topic() {
    let mut memory = Memory::default();
    let say = |status: &str, decisions: Vec<TopicDecision>, file: &str| {
        let files = vec![file.to_owned()];
        of([TopicPart { decisions, files, ..topic(Some("cache"), status) }])
    };
    let early = say("warming works", vec![question("LRU?", None), question("Size?", None)], "a.rs");
    checkpoint(&mut memory, &origin("one", 1), early);
    save(
        &mut memory,
        &origin("two", 2),
        say("eviction", vec![question("lru?", Some("yes"))], "b.rs"),
    );
    save(
        &mut memory,
        &origin("one", 3),
        say("both work", vec![question("Size?", Some("64"))], "c.rs"),
    );

    let topic = stored(&memory, "cache");
    assert_eq!(topic.status, "both work");
    let decided: Vec<_> =
        topic.decisions.iter().map(|it| (&*it.question, it.decided.as_deref(), it.time)).collect();
    let expected = [("LRU?", Some("yes"), day(2)), ("Size?", Some("64"), day(3))];
    assert_eq!(decided, expected, "a question does not undo the other's decision");
    let told: Vec<&str> = topic.history.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(told, ["warming works", "eviction", "both work"], "in the order of time");
    assert_eq!(topic.files, ["b.rs", "a.rs", "c.rs"]);
    assert_eq!(memory.topics().count(), 1);
}

#[test]
fn a_staged_topic_is_visible_only_to_its_session() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), of([topic(Some("Cache"), "begun")]));
    checkpoint(&mut memory, &origin("two", 2), of([topic(Some("cache"), "half way")]));
    let seen = |session: &str| memory.topic_as_staged("cache", &SessionId::new(session));
    assert_eq!(seen("two").unwrap().status, "half way");
    assert_eq!(seen("one").unwrap().status, "begun");
    assert_eq!(memory.topic_as_staged("wire", &SessionId::new("two")), None);
}

#[test]
fn a_topic_keeps_its_latest_decisions_and_history() {
    let mut memory = Memory::default();
    for at in 0..crate::limits::TOPIC_DECISIONS_MAX + 5 {
        let decisions = vec![question(&format!("q{at}"), Some("yes"))];
        let part = TopicPart { decisions, ..topic(None, &format!("step {at}")) };
        save(&mut memory, &origin("one", i64::try_from(at).unwrap()), of([part]));
    }
    let topic = stored(&memory, "main");
    assert_eq!(topic.decisions.len(), crate::limits::TOPIC_DECISIONS_MAX);
    assert_eq!(topic.decisions[0].question, "q5");
    assert_eq!(topic.history[0].text, "step 5");
}

#[test]
fn a_forgotten_topic_starts_afresh() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), of([topic(None, "old")]));
    let id = memory.topic("main").unwrap().id;
    let reader = crate::Reader::anyone();
    let plan = plan_forget(&memory, &reader, id, None, &origin("one", 2)).unwrap();
    apply(&mut memory, plan);
    assert_eq!((memory.topic("main"), memory.topics().count()), (None, 0));
    save(&mut memory, &origin("one", 3), of([topic(None, "new")]));
    let Body::Topic(topic) = &memory.topic("main").unwrap().body else { panic!("no topic") };
    assert_eq!((topic.status.as_str(), topic.history.len()), ("new", 1));
}

#[test]
fn refusals_name_the_field() {
    let memory = Memory::default();
    let refused = |part: TopicPart| {
        plan_checkpoint(&memory, &origin("one", 1), of([part])).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(topic(Some("a!"), "x")), @"topic name has `!` in it; use letters, digits, spaces and - _ . /");
    insta::assert_snapshot!(refused(topic(None, &"x".repeat(4_001))), @"topic.status has 4001 characters, 4000 are allowed; say where it stands, and note the rest");
    let decisions = vec![question("a", None), question(" ", None)];
    insta::assert_snapshot!(refused(TopicPart { decisions, ..topic(None, "x") }), @"topic.decisions[1].question is empty");
    let files = vec!["./".to_owned()];
    insta::assert_snapshot!(refused(TopicPart { files, ..topic(None, "x") }), @"topic.files names no file");
    insta::assert_snapshot!(refused(TopicPart::default()), @"checkpoint has nothing in it; give a summary or any of these: blueprints, anchors, lessons, notes, topic");
}
