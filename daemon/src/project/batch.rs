//! A batch of decisions, each made on the ones before it, and the callers that wait for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Revision, Seq};

use super::write::{Write, WriteError};
use crate::store::{Entry, LineState, Replies, StateMachine, Store, StoreError};
use crate::{clock, limits};

/// Writes decided but not yet on disk.
pub(super) struct Batch<M: StateMachine> {
    pub(super) head: M,
    pub(super) entries: Vec<Entry<M::Change>>,
    pub(super) waiting: Vec<Waiting<M>>,
    by_call: HashMap<(Arc<str>, u64), usize>,
}

/// A decision that may depend on writes of this batch. It is reported only when they are on disk,
/// a refusal too.
pub(super) struct Waiting<M: StateMachine> {
    pub(super) write: Write<M>,
    /// Repetitions of the call in this batch.
    pub(super) repeats: Vec<Write<M>>,
    /// The index of its entry, which is `None` if it changes nothing.
    pub(super) decided: Result<Option<usize>, WriteError>,
}

impl<M: StateMachine> Waiting<M> {
    pub(super) fn all(self) -> impl Iterator<Item = Write<M>> {
        std::iter::once(self.write).chain(self.repeats)
    }
}

impl<M: StateMachine> Batch<M> {
    pub(super) fn new(head: M) -> Self {
        Self { head, entries: Vec::new(), waiting: Vec::new(), by_call: HashMap::new() }
    }

    /// Returns its writes, undecided, in their order.
    pub(super) fn writes(self) -> Vec<Write<M>> {
        self.waiting.into_iter().flat_map(Waiting::all).collect()
    }

    /// Returns the time until the first of its callers is told to try again, but at least `min`.
    pub(super) fn time_left(&self, min: Duration) -> Duration {
        let writes =
            self.waiting.iter().flat_map(|it| std::iter::once(&it.write).chain(&it.repeats));
        let waited = writes.map(Write::waited).max().unwrap_or_default();
        limits::TEAM_WAIT_MAX.saturating_sub(waited).max(min)
    }

    /// Reports that nothing of the batch was written.
    pub(super) fn fail(self, error: StoreError) {
        tracing::error!(%error, entries = self.entries.len(), "append failed; the batch is not saved");
        let error = Arc::new(error);
        for write in self.writes() {
            write.command.fail(WriteError::NotSaved(Arc::clone(&error)));
        }
    }

    /// Makes the decisions again, in the same order, on a later state.
    pub(super) fn again(self, head: M, replies: &Replies, store: &dyn Store<M>) -> Self {
        let mut batch = Self::new(head);
        for write in self.writes() {
            batch.decide(write, replies, store);
        }
        batch
    }

    /// Decides a write on what the batch has decided so far.
    pub(super) fn decide(&mut self, write: Write<M>, replies: &Replies, store: &dyn Store<M>) {
        self.decide_unless(write, replies, store, |_, _| false);
    }

    /// Decides a write. Returns it undecided if `must_wait` holds for its changes. A refusal has no
    /// changes.
    pub(super) fn decide_unless(
        &mut self,
        write: Write<M>,
        replies: &Replies,
        store: &dyn Store<M>,
        must_wait: impl Fn(&Write<M>, &[M::Change]) -> bool,
    ) -> Option<Write<M>> {
        let mut write = self.answer_repeated(write, replies)?;
        let time = clock::now();
        let decided = write.command.decide(&self.head, time).and_then(|changes| {
            let reply = write.call.is_some().then(|| write.command.stored()).transpose()?;
            Ok((changes, reply))
        });
        let (changes, reply) = match decided {
            Ok(decided) => decided,
            Err(WriteError::Refused(_)) if must_wait(&write, &[]) => return Some(write),
            Err(error) => {
                self.wait(write, Err(error));
                return None;
            }
        };
        if must_wait(&write, &changes) {
            return Some(write);
        }
        if changes.is_empty() {
            self.wait(write, Ok(None));
            return None;
        }
        let entry = Entry {
            seq: Seq(self.head.seq().0 + 1),
            revision: M::is_commit(&changes).then(|| Revision(self.head.revision().0 + 1)),
            time,
            session: write.session.clone(),
            call: write.call.clone(),
            operation: write.operation.name().into(),
            changes,
            reply,
        };
        if let Err(error) = store.admit(&entry) {
            // The entry fails alone. In the batch it would make everyone else's writes fail too.
            self.wait(write, Err(WriteError::NotSaved(Arc::new(error))));
            return None;
        }
        self.head.apply(entry.seq, &entry.changes);
        if let Some(call) = &entry.call {
            self.by_call.insert((Arc::clone(&call.instance), call.number), self.waiting.len());
        }
        let at = self.entries.len();
        self.entries.push(entry);
        self.wait(write, Ok(Some(at)));
        None
    }

    /// Answers a line that was sent before. Returns a write whose line is new.
    fn answer_repeated(&mut self, write: Write<M>, replies: &Replies) -> Option<Write<M>> {
        let Some(call) = &write.call else { return Some(write) };
        match replies.lookup(call) {
            LineState::Fresh => {}
            LineState::Answered(stored) => {
                write.command.repeat(&stored);
                return None;
            }
            LineState::Stale => {
                write.command.fail(WriteError::Stale);
                return None;
            }
        }
        let at = self.by_call.get(&(Arc::clone(&call.instance), call.number));
        // The same line came twice in one batch: both get the outcome of the one write.
        if let Some(waiting) = at.and_then(|&index| self.waiting.get_mut(index)) {
            waiting.repeats.push(write);
            return None;
        }
        Some(write)
    }

    fn wait(&mut self, write: Write<M>, decided: Result<Option<usize>, WriteError>) {
        self.waiting.push(Waiting { write, repeats: Vec::new(), decided });
    }
}
