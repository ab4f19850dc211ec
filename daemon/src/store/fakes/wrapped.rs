//! A store with a function that runs before calls which may fail.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use anchord_memory::Seq;

use crate::store::{
    Entry, Health, LookUp, PendingFlush, ReadBack, ReadEntries, Replies, Sizes, Snapshots,
    StateMachine, Store, StoreError,
};

/// A call that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Append,
    AdvanceIndex,
    Entries,
}

type Before<S> = Box<dyn FnMut(Step, &mut S) -> Result<(), StoreError> + Send>;

/// A store with a function that runs before calls which may fail.
pub struct Wrapped<S> {
    inner: S,
    before: Before<S>,
}

impl<S: fmt::Debug> fmt::Debug for Wrapped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wrapped").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// Returns a store whose call with number `fails_at`, from 1, fails once and without effect. A
/// failing `advance_index` still does its work, because nothing depends on its outcome.
pub fn failing<S>(inner: S, fails_at: u64) -> Wrapped<S> {
    let mut calls = 0;
    let before = move |_, _: &mut S| {
        calls += 1;
        if calls != fails_at {
            return Ok(());
        }
        let source = io::Error::other(format!("call {calls} fails on purpose"));
        Err(StoreError::NotSaved { path: PathBuf::from("twin"), source })
    };
    Wrapped { inner, before: Box::new(before) }
}

/// Returns a store that panics at its first append.
pub fn panicking<S>(inner: S) -> Wrapped<S> {
    let before = |step, _: &mut S| {
        assert_ne!(step, Step::Append, "on purpose");
        Ok(())
    };
    Wrapped { inner, before: Box::new(before) }
}

/// Returns a store with a competing writer, which is faster at every third append. `compete` gives
/// the competitor's entry, or `None` if it has nothing to write.
pub fn contested<M: StateMachine, S: Store<M>>(
    inner: S,
    mut compete: impl FnMut() -> Option<Entry<M::Change>> + Send + 'static,
) -> Wrapped<S> {
    let mut appends = 0_u64;
    let before = move |step, store: &mut S| {
        appends += u64::from(step == Step::Append);
        if step != Step::Append || !appends.is_multiple_of(3) {
            return Ok(());
        }
        match compete() {
            Some(entry) => store.append(Seq(entry.seq.0 - 1), &[entry]),
            None => Ok(()),
        }
    };
    Wrapped { inner, before: Box::new(before) }
}

impl<M: StateMachine, S: Store<M>> Store<M> for Wrapped<S> {
    fn append(&mut self, expected: Seq, batch: &[Entry<M::Change>]) -> Result<(), StoreError> {
        (self.before)(Step::Append, &mut self.inner)?;
        self.inner.append(expected, batch)
    }

    fn admit(&self, entry: &Entry<M::Change>) -> Result<(), StoreError> {
        self.inner.admit(entry)
    }

    fn unsettled_bytes(&self) -> u64 {
        self.inner.unsettled_bytes()
    }

    fn advance_index(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError> {
        let outcome = (self.before)(Step::AdvanceIndex, &mut self.inner);
        self.inner.advance_index(state, replies)?;
        outcome
    }

    fn flush(&mut self) -> PendingFlush {
        self.inner.flush()
    }

    fn look_up(&self) -> LookUp<M> {
        self.inner.look_up()
    }

    fn read_back(&self) -> ReadBack<M> {
        self.inner.read_back()
    }

    fn entries(
        &mut self,
        from: Seq,
        visit: &mut dyn FnMut(&Entry<M::Change>) -> bool,
    ) -> Result<(), StoreError> {
        (self.before)(Step::Entries, &mut self.inner)?;
        self.inner.entries(from, visit)
    }

    fn reading(&self) -> ReadEntries<M> {
        self.inner.reading()
    }

    fn snapshots(&self) -> Snapshots<M> {
        self.inner.snapshots()
    }

    fn mark(&mut self, key: &str, value: Option<&str>) {
        self.inner.mark(key, value);
    }

    fn marks(&self) -> &BTreeMap<String, String> {
        self.inner.marks()
    }

    fn sizes(&self) -> Sizes {
        self.inner.sizes()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn rewrite(
        self: Box<Self>,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError> {
        Box::new(self.inner).rewrite(edit, last)
    }

    fn close(self: Box<Self>) {
        Box::new(self.inner).close();
    }
}
