//! The sequential specification of a few facts: the order that a team's history must have.

use std::collections::BTreeMap;

use anchord_tests::linear::Model;

/// A fact's key.
pub(super) type Key = &'static str;

/// A written value. Each write has its own, so a value identifies its writer.
pub(super) type Value = u32;

/// Facts under their keys, each with the values of all its versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Facts(BTreeMap<Key, Vec<Value>>);

/// A write, or the last look at a fact.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// Replaces a fact.
    Set(Key, Value),
    /// Replaces a fact that must be at a version.
    Update(Key, usize, Value),
    /// Replaces several facts in one commit.
    Save(Vec<(Key, Value)>),
    /// Makes the version before the last one the newest again.
    Rollback(Key),
    /// Takes a save back, if nothing has replaced what it wrote.
    Undo(Vec<(Key, Value)>),
    /// Reads a fact at the end.
    Read(Key, Value),
}

/// The recorded answer to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is none, or it says that the outcome is unknown.
    Open,
    /// It was done.
    Done,
    /// It was done, and the fact has this version now.
    At(usize),
    /// It was refused, since the fact has this version.
    Not(usize),
    /// It was refused, since others have replaced what is to be taken back.
    Conflict,
    /// There was nothing to take back.
    Nothing,
}

/// Facts as a [`Model`].
pub(super) struct Specification;

impl Model for Specification {
    type Operation = (Operation, Outcome);
    type State = Facts;

    fn apply(facts: &Facts, (operation, outcome): &(Operation, Outcome)) -> Option<Facts> {
        let (after, possible) = facts.after(operation);
        let is_possible = match (outcome, possible) {
            (Outcome::Open, _) | (Outcome::Done, Outcome::At(_)) => true,
            (outcome, possible) => *outcome == possible,
        };
        is_possible.then_some(after)
    }
}

impl Facts {
    /// Returns the facts after an operation, and its outcome.
    fn after(&self, operation: &Operation) -> (Self, Outcome) {
        match operation {
            Operation::Update(key, expected, _) if self.version(key) != *expected => {
                (self.clone(), Outcome::Not(self.version(key)))
            }
            Operation::Set(key, value) | Operation::Update(key, _, value) => {
                self.with(&[(key, *value)])
            }
            Operation::Save(values) => (self.with(values).0, Outcome::Done),
            Operation::Rollback(key) => match self.values(key) {
                [.., before, _] => self.with(&[(key, *before)]),
                _ => (self.clone(), Outcome::Nothing),
            },
            Operation::Undo(values) => self.without(values),
            Operation::Read(key, value) => {
                let is_so = self.values(key).last() == Some(value);
                (
                    self.clone(),
                    if is_so { Outcome::At(self.version(key)) } else { Outcome::Nothing },
                )
            }
        }
    }

    fn with(&self, values: &[(Key, Value)]) -> (Self, Outcome) {
        let (mut after, mut version) = (self.clone(), 0);
        for (key, value) in values {
            let fact = after.0.entry(key).or_default();
            fact.push(*value);
            version = fact.len();
        }
        (after, Outcome::At(version))
    }

    /// Takes values back, all or none.
    fn without(&self, values: &[(Key, Value)]) -> (Self, Outcome) {
        let mut back = Vec::new();
        for (key, written) in values {
            let all = self.values(key);
            let before = all.iter().position(|value| value == written);
            let before = before.and_then(|at| all.get(at.checked_sub(1)?)).copied();
            match all.last() {
                Some(now) if now == written => back.extend(before.map(|before| (*key, before))),
                Some(now) if Some(*now) == before => {}
                _ => return (self.clone(), Outcome::Conflict),
            }
        }
        // The row of the save's session goes back in any case.
        (self.with(&back).0, Outcome::Done)
    }

    fn version(&self, key: Key) -> usize {
        self.values(key).len()
    }

    fn values(&self, key: Key) -> &[Value] {
        self.0.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

mod tests {
    use anchord_tests::linear::{Event, Unexplained, explain};

    use super::{Facts, Operation, Outcome, Specification};
    use Operation::{Read, Rollback, Save, Set, Undo, Update};

    /// Checks operations that follow each other, after a fact `a` with the values 1 and 2.
    fn follow(operations: &[(Operation, Outcome)]) -> bool {
        let before = [1, 2].map(|value| (Set("a", value), Outcome::Done));
        let all = before.into_iter().chain(operations.iter().cloned());
        let history: Vec<_> = (0..)
            .step_by(2)
            .zip(all)
            .map(|(time, operation)| {
                let is_open = operation.1 == Outcome::Open;
                Event { called: time, answered: (!is_open).then_some(time + 1), operation }
            })
            .collect();
        match explain::<Specification>(Facts::default(), &history) {
            Ok(_) => true,
            Err(Unexplained::NoOrder { .. }) => false,
            Err(Unexplained::TooHard { .. }) => panic!("a short history is easy"),
        }
    }

    #[test]
    fn an_expected_version_must_be_there() {
        let update = |expected, value| Update("a", expected, value);
        assert!(follow(&[(update(2, 3), Outcome::At(3)), (Read("a", 3), Outcome::At(3))]));
        assert!(follow(&[(update(1, 3), Outcome::Not(2)), (Read("a", 2), Outcome::At(2))]));
        // A lost update: both replaced the same version.
        assert!(!follow(&[(update(2, 3), Outcome::At(3)), (update(2, 4), Outcome::At(3))]));
        // A refusal on a state that was over.
        assert!(!follow(&[(update(2, 3), Outcome::At(3)), (update(3, 4), Outcome::Not(2))]));
        // A write that was acknowledged and lost, and one that was applied twice.
        assert!(!follow(&[(Set("a", 3), Outcome::Done), (Read("a", 2), Outcome::At(2))]));
        assert!(!follow(&[(Set("a", 3), Outcome::At(3)), (Read("a", 3), Outcome::At(4))]));
    }

    #[test]
    fn a_rollback_makes_a_version_of_the_one_before() {
        assert!(follow(&[(Rollback("a"), Outcome::Done), (Read("a", 1), Outcome::At(3))]));
        assert!(!follow(&[(Rollback("a"), Outcome::Done), (Read("a", 1), Outcome::At(1))]));
        let twice = [(Rollback("a"), Outcome::Done), (Rollback("a"), Outcome::Done)];
        assert!(follow(&[&twice[..], &[(Read("a", 2), Outcome::At(4))]].concat()));
        assert!(!follow(&[&twice[..], &[(Read("a", 1), Outcome::At(4))]].concat()));
    }

    #[test]
    fn a_save_is_taken_back_whole_or_not_at_all() {
        let values = vec![("a", 3), ("b", 4)];
        let saved = [(Set("b", 1), Outcome::Done), (Save(values.clone()), Outcome::Done)];
        let undone = |rest: &[(Operation, Outcome)]| follow(&[&saved[..], rest].concat());
        let undo = |outcome| (Undo(values.clone()), outcome);
        let (a, b) = ((Read("a", 2), Outcome::At(4)), (Read("b", 1), Outcome::At(3)));
        assert!(undone(&[undo(Outcome::Done), a.clone(), b]));
        assert!(!undone(&[undo(Outcome::Done), a, (Read("b", 4), Outcome::At(2))]));
        let replaced = (Set("b", 5), Outcome::Done);
        assert!(undone(&[replaced.clone(), undo(Outcome::Conflict)]));
        assert!(!undone(&[replaced, undo(Outcome::Done)]));
        // A save is one commit.
        let half = [(Read("a", 3), Outcome::At(3)), (Read("b", 1), Outcome::At(1))];
        let open = [(Set("b", 1), Outcome::Done), (Save(values), Outcome::Open)];
        assert!(!follow(&[&open[..], &half].concat()));
    }
}
