//! Doubles, endings, and a bound on all of it.

use super::*;

fn name(session: &str) -> Name {
    ("codex", session.to_owned())
}

#[test]
fn the_same_event_of_the_same_conversation_is_a_double() {
    let threads = Threads::default();
    assert!(!threads.is_double(&name("a"), 1));
    assert!(threads.is_double(&name("a"), 1));
    assert!(!threads.is_double(&name("a"), 2));
    assert!(!threads.is_double(&name("b"), 1), "another conversation");
    threads.end(&name("a"));
    assert!(threads.is_double(&name("a"), 1), "an end may be told twice, too");
}

#[test]
fn what_was_shown_is_forgotten_with_the_context() {
    let threads = Threads::default();
    let rebuilt = |threads: &Threads| threads.with(&name("a"), |thread| thread.rebuilt.len());
    threads.with(&name("a"), |thread| thread.rebuilt.insert(String::new(), "x".into()));
    assert_eq!(rebuilt(&threads), 1);
    threads.with(&name("a"), Thread::forget_shown);
    assert_eq!(rebuilt(&threads), 0);
}

#[test]
fn the_conversation_that_was_silent_longest_makes_room() {
    let threads = Threads::default();
    for number in 0..=limits::THREADS_MAX {
        threads.with(&name(&number.to_string()), |thread| thread.told = Some(Revision(1)));
    }
    assert_eq!(threads.lock().len(), limits::THREADS_MAX);
    assert_eq!(threads.with(&name("0"), |thread| thread.told), None);
}
