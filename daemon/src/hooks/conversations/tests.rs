//! Doubled events, endings, and the bound on conversations.

use super::*;

fn name(session: &str) -> Name {
    ("codex", session.to_owned())
}

#[test]
fn a_repeated_event_of_a_conversation_is_a_duplicate() {
    let threads = Conversations::default();
    let is_double = |of: &str, digest| threads.is_double(&name(of), digest, &Event::Reset);
    assert!(!is_double("a", 1));
    assert!(is_double("a", 1));
    assert!(!is_double("a", 2));
    assert!(!is_double("b", 1), "another conversation");
    threads.end(&name("a"));
    assert!(is_double("a", 1), "an end may be told twice, too");
}

/// A quick model's turns may be shorter than the time in which an event counts as a double.
#[test]
fn the_same_event_in_the_next_turn_is_not_a_duplicate() {
    let threads = Conversations::default();
    let is_double = |digest, event: &Event| threads.is_double(&name("a"), digest, event);
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
    let threads = Conversations::default();
    let rebuilt = |threads: &Conversations| threads.with(&name("a"), |thread| thread.rebuilt.len());
    threads.with(&name("a"), |thread| thread.rebuilt.insert(String::new(), "x".into()));
    assert_eq!(rebuilt(&threads), 1);
    threads.with(&name("a"), ConversationState::forget_given);
    assert_eq!(rebuilt(&threads), 0);
}

#[test]
fn the_longest_silent_conversation_is_evicted() {
    let threads = Conversations::default();
    for number in 0..=limits::THREADS_MAX {
        threads.with(&name(&number.to_string()), |thread| thread.told = Some(Revision(1)));
    }
    assert_eq!(threads.inner.lock().len(), limits::THREADS_MAX);
    assert_eq!(threads.with(&name("0"), |thread| thread.told), None);
}
