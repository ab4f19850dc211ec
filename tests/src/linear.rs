//! A checker of recorded histories: whether one order of all operations explains every answer.
//!
//! An operation takes effect at one moment between its call and its answer. One without an answer
//! stays open: it takes effect at any time after its call, or never. The search is that of Wing and
//! Gong, with Lowe's memory of the states that were tried before.

use std::collections::HashSet;
use std::hash::Hash;

/// The states after which a search is given up.
const STATES: usize = 300_000;

/// A sequential specification.
pub trait Model {
    /// An operation with its recorded outcome.
    type Operation;
    /// The state that operations change.
    type State: Clone + Eq + Hash;

    /// Returns the state after an operation, or `None` if its outcome cannot happen in this state.
    fn apply(state: &Self::State, operation: &Self::Operation) -> Option<Self::State>;
}

/// A recorded operation. Times are of one clock, such as a counter that each reading increases.
#[derive(Clone, Debug)]
pub struct Event<O> {
    /// The time before the call.
    pub called: u64,
    /// The time after the answer; `None` keeps the operation open.
    pub answered: Option<u64>,
    /// The operation with its outcome.
    pub operation: O,
}

/// The reasons for which no order is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// No order explains the answers.
    NoOrder {
        /// The operations of the longest order that was found.
        longest: usize,
        /// The position in the history of an operation that does not fit after them.
        stuck: usize,
    },
    /// The search was given up after many states.
    TooHard {
        /// The operations of the longest order that was found.
        longest: usize,
        /// The position in the history of an operation that does not fit after them.
        stuck: usize,
    },
}

/// Returns an order of the history's operations, as positions in it, that explains all answers.
/// Open operations are in it if they took effect.
///
/// The search prefers the history's own order, so a likely order makes it short.
///
/// # Errors
/// Fails if there is no such order, or if the search takes too long.
pub fn explain<M: Model>(
    start: M::State,
    history: &[Event<M::Operation>],
) -> Result<Vec<usize>, Unexplained> {
    let mut search = Search::<M> {
        events: history,
        done: Done::of(history.len()),
        left: history.iter().filter(|event| event.answered.is_some()).count(),
        state: start,
        order: Vec::new(),
        seen: HashSet::new(),
    };
    let mut from = 0;
    let (mut longest, mut stuck) = (0, 0);
    while search.left > 0 {
        if search.seen.len() > STATES {
            return Err(Unexplained::TooHard { longest, stuck });
        }
        if let Some(step) = search.next(from) {
            search.take(step);
            from = 0;
            continue;
        }
        if search.order.len() >= longest {
            longest = search.order.len();
            stuck = search.due().unwrap_or_default();
        }
        match search.give_back() {
            Some(at) => from = at + 1,
            None => return Err(Unexplained::NoOrder { longest, stuck }),
        }
    }
    Ok(search.order.into_iter().map(|step| step.at).collect())
}

/// A search, and the order that it has found so far.
struct Search<'h, M: Model> {
    events: &'h [Event<M::Operation>],
    done: Done,
    /// The answered operations that are not in the order yet.
    left: usize,
    state: M::State,
    order: Vec<Step<M::State>>,
    /// The sets of operations that were in an order, with the state after them.
    seen: HashSet<(Done, M::State)>,
}

/// An operation in the order.
struct Step<S> {
    at: usize,
    /// The state before it, or after it while it is not in the order.
    state: S,
    /// Whether no other operation needs to be tried in its place.
    is_only: bool,
}

impl<M: Model> Search<'_, M> {
    /// Returns the operations that may be next: each was called before all others were answered.
    fn candidates(&self) -> impl Iterator<Item = (usize, &Event<M::Operation>)> {
        let waiting = || self.events.iter().enumerate().filter(|(at, _)| !self.done.has(*at));
        let first = waiting().filter_map(|(_, event)| event.answered).min().unwrap_or(u64::MAX);
        waiting().filter(move |(_, event)| event.called < first)
    }

    /// Finds the next operation at or after a position that leads to a new state.
    fn next(&mut self, from: usize) -> Option<Step<M::State>> {
        let mut fitting: Vec<(usize, M::State)> = self
            .candidates()
            .filter(|(at, _)| *at >= from)
            .filter_map(|(at, event)| {
                let state = M::apply(&self.state, &event.operation)?;
                // An open operation that changes nothing explains nothing.
                (event.answered.is_some() || state != self.state).then_some((at, state))
            })
            .collect();
        // One that fits and changes nothing can come first in any order.
        let neutral = fitting.iter().position(|(_, state)| *state == self.state);
        let is_only = neutral.is_some();
        if let Some(neutral) = neutral {
            fitting = vec![fitting.swap_remove(neutral)];
        }
        let found = fitting.into_iter().find(|(at, state)| {
            let mut done = self.done.clone();
            done.set(*at, true);
            self.seen.insert((done, state.clone()))
        });
        found.map(|(at, state)| Step { at, state, is_only })
    }

    fn take(&mut self, mut step: Step<M::State>) {
        std::mem::swap(&mut self.state, &mut step.state);
        self.done.set(step.at, true);
        self.left -= usize::from(self.is_answered(step.at));
        self.order.push(step);
    }

    /// Takes the last operation that others can replace out of the order. Returns where it is.
    fn give_back(&mut self) -> Option<usize> {
        loop {
            let Step { at, state, is_only } = self.order.pop()?;
            self.state = state;
            self.done.set(at, false);
            self.left += usize::from(self.is_answered(at));
            if !is_only {
                return Some(at);
            }
        }
    }

    fn is_answered(&self, at: usize) -> bool {
        self.events.get(at).is_some_and(|event| event.answered.is_some())
    }

    /// Returns where the operation is that was answered first, of those that are not in the order.
    fn due(&self) -> Option<usize> {
        let first = self.candidates().min_by_key(|(_, event)| event.answered.unwrap_or(u64::MAX));
        first.map(|(at, _)| at)
    }
}

/// A set of positions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Done(Vec<u64>);

impl Done {
    fn of(events: usize) -> Self {
        Self(vec![0; events.div_ceil(64)])
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    fn set(&mut self, at: usize, is_done: bool) {
        if let Some(word) = self.0.get_mut(at / 64) {
            let bit = 1 << (at % 64);
            *word = if is_done { *word | bit } else { *word & !bit };
        }
    }
}

#[cfg(test)]
mod tests;
