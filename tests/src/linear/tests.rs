//! Histories of a register with compare-and-set, good ones and bad ones.

use super::{Event, Model, Unexplained, explain};

/// A register that counts its writes.
struct Register;

/// An operation on it, with its outcome.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Write(u32),
    Read(u32),
    /// Writes the second value over the first, if it is there.
    Swap(u32, u32),
    /// Finds another value than the first.
    NoSwap(u32),
}

use Operation::{NoSwap, Read, Swap, Write};

impl Model for Register {
    type Operation = Operation;
    type State = u32;

    fn apply(state: &u32, operation: &Operation) -> Option<u32> {
        match *operation {
            Write(value) => Some(value),
            Read(value) => (value == *state).then_some(value),
            Swap(before, after) => (before == *state).then_some(after),
            NoSwap(before) => (before != *state).then_some(*state),
        }
    }
}

fn done(called: u64, answered: u64, operation: Operation) -> Event<Operation> {
    Event { called, answered: Some(answered), operation }
}

fn open(called: u64, operation: Operation) -> Event<Operation> {
    Event { called, answered: None, operation }
}

fn accepted(history: &[Event<Operation>]) -> Vec<usize> {
    explain::<Register>(0, history).unwrap()
}

fn stuck(history: &[Event<Operation>]) -> usize {
    match explain::<Register>(0, history) {
        Err(Unexplained::NoOrder { stuck, .. }) => stuck,
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_at_the_same_time_may_have_any_order() {
    assert!(accepted(&[]).is_empty());
    let history = [done(0, 9, Write(1)), done(1, 8, Write(2)), done(2, 3, Read(2))];
    assert_eq!(accepted(&history), [0, 1, 2]);
    // The first write is read after the second, so it came later.
    let history = [
        done(0, 9, Write(1)),
        done(1, 8, Write(2)),
        done(2, 3, Read(2)),
        done(4, 5, Read(1)),
        done(10, 11, Read(1)),
    ];
    assert_eq!(accepted(&history), [1, 2, 0, 3, 4]);
}

#[test]
fn a_stale_read_is_rejected() {
    let history = [done(0, 1, Write(1)), done(2, 3, Write(2)), done(4, 5, Read(1))];
    assert_eq!(stuck(&history), 2);
    // Two reads that saw two concurrent writes in different orders.
    let history = [
        done(0, 9, Write(1)),
        done(1, 8, Write(2)),
        done(2, 3, Read(1)),
        done(4, 5, Read(2)),
        done(6, 7, Read(1)),
    ];
    assert_eq!(stuck(&history), 4);
}

#[test]
fn a_lost_update_is_rejected() {
    let both = [done(0, 5, Swap(0, 1)), done(1, 6, Swap(0, 2)), done(7, 8, Read(2))];
    stuck(&both);
    let one = [done(0, 5, Swap(0, 1)), done(1, 6, NoSwap(0)), done(7, 8, Read(1))];
    assert_eq!(accepted(&one), [0, 1, 2]);
    // A refusal needs another value, too.
    stuck(&[done(0, 1, NoSwap(0))]);
    stuck(&[done(0, 1, Write(1)), done(2, 3, Read(0))]);
}

#[test]
fn an_open_operation_takes_effect_later_or_never_and_once() {
    let write = open(0, Write(1));
    for reads in [
        vec![done(1, 2, Read(0)), done(3, 4, Read(0))],
        vec![done(1, 2, Read(0)), done(3, 4, Read(1))],
        vec![done(1, 2, Read(1)), done(3, 4, Read(1))],
    ] {
        accepted(&[vec![write.clone()], reads].concat());
    }
    let back = [write.clone(), done(1, 2, Read(1)), done(3, 4, Read(0))];
    assert_eq!(stuck(&back), 2);
    let twice = [
        write.clone(),
        done(1, 2, Read(1)),
        done(3, 4, Write(2)),
        done(5, 6, Read(2)),
        done(7, 8, Read(1)),
    ];
    assert_eq!(stuck(&twice), 4);
    // Not before its call.
    assert_eq!(stuck(&[open(3, Write(1)), done(1, 2, Read(1))]), 1);
    // One that never took effect is not in the order.
    assert_eq!(accepted(&[open(0, Swap(7, 8)), done(1, 2, Read(0))]), [1]);
}

#[test]
fn a_search_through_many_orders_ends() {
    // Writes at once, of which reads then see each, and more that stay open.
    let writes = (1..=6).map(|value| done(u64::from(value), 100, Write(value)));
    let unknown = (11..=14).map(|value| open(u64::from(value), Write(value)));
    let reads = (1..=6_u64).map(|at| {
        let value = u32::try_from(7 - at).unwrap();
        done(20 + 2 * at, 21 + 2 * at, Read(value))
    });
    let mut history: Vec<Event<Operation>> = writes.chain(unknown).chain(reads).collect();
    accepted(&history);
    history.extend([done(200, 201, Read(1)), done(202, 203, Read(7))]);
    assert_eq!(stuck(&history), history.len() - 1);
}
