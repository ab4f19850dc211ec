//! Doubled events, endings, and the bound on conversations.

use anchord_memory::{Kind, Timestamp};

use super::*;

fn name(session: &str) -> Name {
    ("codex", session.to_owned())
}

#[test]
fn a_repeated_event_of_a_conversation_is_a_duplicate() {
    let conversations = Conversations::default();
    let is_double = |of: &str, digest| conversations.is_double(&name(of), digest, &Event::Reset);
    assert!(!is_double("a", 1));
    assert!(is_double("a", 1));
    assert!(!is_double("a", 2));
    assert!(!is_double("b", 1), "another conversation");
    conversations.end(&name("a"));
    assert!(is_double("a", 1), "an end may be reported twice, too");
}

/// A quick model's turns may be shorter than the time in which an event counts as a double.
#[test]
fn the_same_event_in_the_next_turn_is_not_a_duplicate() {
    let conversations = Conversations::default();
    let is_double = |digest, event: &Event| conversations.is_double(&name("a"), digest, event);
    let prompt = Event::PromptSubmitted { prompt: "go on".to_owned() };
    let answer = Event::TurnEnded { last_message: Some("Done.".to_owned()) };
    for turn in 0..3 {
        assert!(!is_double(1, &prompt) && is_double(1, &prompt), "{turn}");
        assert!(!is_double(2, &Event::Reset) && is_double(2, &Event::Reset), "{turn}");
        assert!(!is_double(3, &answer) && is_double(3, &answer), "{turn}");
    }
}

#[test]
fn the_rebuilt_prompt_is_forgotten_with_the_context() {
    let conversations = Conversations::default();
    let rebuilt =
        || conversations.with(&name("a"), |conversation| conversation.rebuilt.get(None)).is_some();
    conversations.with(&name("a"), |conversation| conversation.rebuilt.keep(None, "x".into()));
    assert!(rebuilt());
    conversations.with(&name("a"), ConversationState::forget_given);
    assert!(!rebuilt());
}

#[test]
fn what_a_context_has_survives_the_end_of_its_conversation() {
    let conversations = Conversations::default();
    let id = |number| RecordId::new(Kind::Note, number);
    let gave = |conversation: &mut ConversationState| {
        conversation.given.extend([id(1), id(2)]);
        conversation.remedies.insert(id(3));
        let context = RenderedContext { whole: vec![id(2)], ..RenderedContext::default() };
        conversation.keep_waiting(WaitingText { context, files: Vec::new() });
    };
    let has = |of: &str| {
        conversations.with(&name(of), |conversation| {
            (conversation.given.clone(), conversation.remedies.len(), conversation.waiting.len())
        })
    };
    conversations.with(&name("a"), gave);
    conversations.end(&name("a"));
    assert_eq!(has("a"), ([id(1)].into(), 1, 0), "a text that waited is lost");

    conversations.with(&name("b"), |conversation| {
        gave(conversation);
        conversation.rebuilt.keep(None, "x".into());
    });
    conversations.end(&name("b"));
    assert_eq!(has("b"), (BTreeSet::new(), 0, 0), "its system prompt is rebuilt");
}

#[test]
fn the_longest_silent_conversation_is_evicted() {
    let conversations = Conversations::default();
    for number in 0..=limits::CONVERSATIONS_MAX {
        conversations.with(&name(&number.to_string()), |conversation| {
            conversation.revision_known = Some(Revision(1));
        });
    }
    assert_eq!(conversations.inner.lock().len(), limits::CONVERSATIONS_MAX);
    assert_eq!(conversations.with(&name("0"), |conversation| conversation.revision_known), None);
}

#[test]
fn a_step_back_makes_news_of_what_has_the_revisions_of_lost_commits() {
    let mut conversation = ConversationState::new();
    conversation.revision_known = Some(Revision(9));
    conversation.context_since = Some(Revision(3));
    conversation.given.insert(RecordId::new(Kind::Note, 8));
    let at = Timestamp(clock::now().0 + 1);
    let step_backs = [StepBack { at, to: Revision(5) }];
    conversation.step_back(&step_backs);
    assert_eq!(conversation.revision_known, Some(Revision(5)));
    assert_eq!(conversation.context_since, Some(Revision(3)));
    assert!(conversation.given.is_empty(), "another record may have the id");
    conversation.revision_known = Some(Revision(7));
    conversation.step_back(&step_backs);
    assert_eq!(conversation.revision_known, Some(Revision(7)), "it counts once");
}
