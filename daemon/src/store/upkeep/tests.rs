//! Stores take turns.

use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::clock;

/// Waits for a condition that another store of this process may delay.
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = clock::start();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not come");
        thread::yield_now();
    }
}

#[test]
fn a_turn_ends_when_its_outcome_is_taken_and_another_store_is_next() {
    let (mut one, mut other) = (Tasks::new(Upkeep::Thread), Tasks::new(Upkeep::Thread));
    until(|| one.take_turn());
    let (go_on, held) = mpsc::channel::<()>();
    one.begin(move |_| {
        let _ = held.recv();
        TaskOutcome::Tidied(Ok(()))
    });
    assert!(!other.take_turn(), "one runs");
    one.end_turn();
    assert!(one.outcome().is_none() && !other.take_turn(), "it still runs");
    drop(go_on);
    until(|| one.outcome().is_some());
    assert!(!other.take_turn() && one.take_turn(), "what follows is of the same turn");
    one.end_turn();
    assert!(!one.take_turn(), "another one may go first");
    until(|| other.take_turn());
    assert!(!one.take_turn());
    other.cancel();
    until(|| one.take_turn());
}

#[test]
fn a_task_that_panics_ends_its_turn() {
    let mut tasks = Tasks::new(Upkeep::Thread);
    until(|| tasks.take_turn());
    tasks.begin(|_| panic!("on purpose"));
    until(|| matches!(tasks.outcome(), Some(TaskOutcome::Panicked)));
    tasks.end_turn();
    drop(Tasks::hold_all());
}
