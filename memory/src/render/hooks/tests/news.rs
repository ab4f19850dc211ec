//! News by others: what counts as such, and how it is worded.

use super::*;

#[test]
fn a_conversation_is_not_told_its_own_id_with_the_rows_of_its_subagents() {
    let mut memory = Memory::default();
    for parent in [me(), SessionId::new("other")] {
        let subagent = parent.subagent("a1");
        checkpoint(&mut memory, &origin(&subagent.0, 1), lessons([lesson("Loops are hot", "")]));
        let (by, ended) = (origin("anchord", 2), crate::NoticeCause::Ended);
        let plan = crate::plan_keep(&memory, &subagent, &by, ended, false).unwrap();
        apply(&mut memory, plan);
    }
    for text in [
        prompted(&memory, None, Some(0), &[]).text,
        resumed(&memory, Revision(0), &me(), day(60)).text,
    ] {
        assert!(text.contains(" (a subagent of this session, ended without"), "{text}");
        assert!(text.contains(" (subagent of other, ended without saving)"), "{text}");
        assert!(!text.contains("subagent of me"), "{text}");
    }
}

/// A conversation that is compacted is bound to a topic of its own, which says little.
#[test]
fn a_topic_made_by_rule_is_not_reported_as_a_change() {
    let mut memory = Memory::default();
    let part = |history| TopicPart {
        name: Some("session-2026-11-28-89d18b".to_owned()),
        history: vec![history],
        ..TopicPart::default()
    };
    let with = |history| Staged { topics: vec![part(history)], ..Staged::default() };
    let other = SessionId::new("other");
    let is_topic = |record: &&Record| record.kind() == Kind::Topic;
    let topics = |memory: &Memory| {
        let news = prompt::news(memory, Revision(0), &me());
        news.into_iter().filter(is_topic).count()
    };
    save(&mut memory, &origin(&other.0, 1), with(crate::HistoryLine::new("Compacted.")));
    assert_eq!((memory.totals().active.topics, topics(&memory)), (1, 0));
    let written = crate::HistoryLine::written("The queue is fair.".to_owned());
    save(&mut memory, &origin(&other.0, 2), with(written));
    assert_eq!(topics(&memory), 1);
}
