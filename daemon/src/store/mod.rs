//! The one door to the disk: entries go in, a state comes out.
//!
//! A store keeps one journal (the truth) and an index (sled, behind or gone at any time) for one
//! state [`Machine`]: a project's memory, or the daemon's own registry. Everything above speaks
//! [`Entry`] and [`Machine`]; lines, segments, checksums, rows and versions of formats live below and
//! are described in `docs/storage-format.md`.
//!
//! The order of a write: [`Store::append`] (on disk when it returns), publish, reply, and for some writes
//! together [`Store::advance_index`], which lets the index follow and rotates the journal.
//!
//! A store takes no lock: its caller holds the daemon's.

mod archive;
mod disk;
mod error;
mod format;
mod history;
mod index;
mod journal;
mod journal_store;
pub mod limits;
mod open;
mod packing;
mod place;
mod project;
mod recover;
mod repair;
mod replies;
mod rewrite;
mod sealed;
mod segment;
mod sled_index;
mod snapshot;
mod upkeep;
mod work;

#[cfg(any(test, feature = "test-hooks"))]
pub mod fakes;
#[cfg(any(test, feature = "test-hooks"))]
mod sim_disk;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use disk::{Disk, DiskFile, RealDisk};
pub use error::StoreError;
pub use index::{Index, IndexError, IndexPlace, MemIndex, RowSum};
pub use journal_store::{JournalStore, discard_index};
pub use open::Options;
pub use place::refuse_network_fs;
pub use repair::{Range as RepairRange, RepairPlan, plan_repair, repair};
pub use replies::{Answer, Replies};
#[cfg(any(test, feature = "test-hooks"))]
pub use sim_disk::{Fault, Random, SimDisk};
pub use sled_index::SledPlace;
pub use upkeep::Upkeep;

/// One acknowledged change: a line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<C> {
    /// Without gaps, from 1.
    pub seq: Seq,
    /// The commit's number, if shared memory changed.
    pub revision: Option<Revision>,
    /// When it was accepted.
    pub time: Timestamp,
    /// The session that wrote, if one did.
    pub session: Option<SessionId>,
    /// The shim's line that asked for it, if one did.
    pub call: Option<Call>,
    /// What was asked, for people who read the journal: `checkpoint`, `save`, `forget`.
    pub operation: Cow<'static, str>,
    /// What changed, in order.
    pub changes: Vec<C>,
    /// What the caller was told; kept until the shim acknowledges it. There if and only if `call` is:
    /// one line of a shim is one entry, so that no crash can keep half of it.
    pub reply: Option<String>,
}

/// A line of a shim: the instance is the shim's for life, the number rises by one with each line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The shim's random id.
    pub instance: Arc<str>,
    /// The line's number.
    pub number: u64,
    /// Every line up to this number has had its answer.
    pub acknowledged: u64,
}

/// A state that a journal's entries lead to, deterministically.
pub trait StateMachine: Clone + Default + Send + Sync + 'static {
    /// What an entry can change.
    type Change: Clone
        + std::fmt::Debug
        + PartialEq
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;

    /// The name in file headers, so that one kind of journal is never opened as another.
    const NAME: &'static str;

    /// Whether these changes make their entry a commit.
    fn is_commit(changes: &[Self::Change]) -> bool;

    /// The last entry applied.
    fn seq(&self) -> Seq;

    /// The commits applied.
    fn revision(&self) -> Revision;

    /// Applies one entry's changes.
    fn apply(&mut self, seq: Seq, changes: &[Self::Change]);

    /// The rows these changes may have altered, as they stand in this state, which may be some entries
    /// further on; a row that is not there (any more) has no value.
    fn touched_rows(&self, changes: &[Self::Change]) -> Vec<Row>;

    /// The whole state as rows, no key twice, in the same order for the same state.
    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_>;

    /// The state that rows describe.
    fn restore(rows: &mut dyn Iterator<Item = Row>) -> Result<Self, String>;

    /// Names under which this change is found again in history, such as a record's id and version.
    fn history_keys(change: &Self::Change) -> Vec<String>;

    /// The changes that make this state hold what another holds. Only a repair asks.
    fn changes_to(&self, target: &Self) -> Vec<Self::Change>;

    /// Changes that make a commit and leave everything as it is, if there are any.
    fn idle_commit(&self) -> Option<Vec<Self::Change>>;
}

/// A piece of state: text under a key. `None` takes the key away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Unique within the state; ordered.
    pub key: String,
    /// JSON.
    pub value: Option<String>,
}

impl Row {
    /// One that is there.
    pub(crate) fn of(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), value: Some(value.to_owned()) }
    }
}

/// Reads every entry from a number on, in order, until the visitor says false.
pub type Reading<M> = Box<
    dyn Fn(
            Seq,
            &mut dyn FnMut(&Entry<<M as StateMachine>::Change>) -> bool,
        ) -> Result<(), StoreError>
        + Send,
>;

/// Finds the newest entry whose change has a history key (see [`Machine::history_keys`]).
pub type LookUp<M> = Arc<
    dyn Fn(&str) -> Result<Option<Entry<<M as StateMachine>::Change>>, StoreError> + Send + Sync,
>;

/// A snapshot, read to be compared with the entries.
#[derive(Debug)]
pub struct CheckedSnapshot<M> {
    /// `snapshot/000002.jsonl`.
    pub file: String,
    /// The state that it holds, or why there is nothing to compare.
    pub state: Result<M, Uncheckable>,
}

/// The reason why a snapshot cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncheckable {
    /// It is not what was written.
    Damaged(String),
    /// The disk did not give it now, which says nothing of what it holds.
    Unread(String),
}

/// Reads the snapshots there are.
pub type Snapshots<M> = Box<dyn Fn() -> Vec<CheckedSnapshot<M>> + Send>;

/// Keeps what it is given: the daemon's only way to write.
///
/// Calls come in this order: `append`, once or more, then `advance_index` with the state after them, any number of times;
/// `close` at the end. The other calls come anywhere.
pub trait Store<M: StateMachine>: Send {
    /// Appends entries that follow the last one without a gap, as one group with one sync.
    ///
    /// When this is `Ok` they are on disk. When it is an error nothing of them is acknowledged, and
    /// either the journal was cut back to what was before and synced, so that they never appear again,
    /// or it is [`StoreError::Uncertain`] and the store is read-only from now on.
    fn append(&mut self, batch: &[Entry<M::Change>]) -> Result<(), StoreError>;

    /// Whether an entry would be taken as it is. One that is not may not go into a batch, since
    /// [`Store::append`] refuses the whole of it.
    fn admit(&self, entry: &Entry<M::Change>) -> Result<(), StoreError>;

    /// Bytes of what was appended since the last [`Store::advance_index`].
    fn unsettled_bytes(&self) -> u64;

    /// Lets the index follow what was appended since the last call; when a segment is full, begins the
    /// next one with a snapshot of `state` (if there is room for one) and lets `replies` forget shims that
    /// are long gone.
    ///
    /// `state` and `replies` stand at the last appended entry. An error is for the log: what was
    /// appended stays promised, and a later call tries again.
    fn advance_index(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError>;

    /// Writes what may be written late: soft marks, then the index's own buffers. Begins and ends
    /// tasks on the store's files, which run on a thread. To be called off the hot path, every few
    /// seconds. Says what is left, which another call does: each takes a bounded time.
    fn flush(&mut self) -> PendingFlush;

    /// Finds earlier versions among the entries that are on disk when it is called, on any thread
    /// while this store goes on. Asked for once, it serves as long as the store is open.
    fn look_up(&self) -> LookUp<M>;

    /// Finds the newest entry whose change has this history key.
    fn history(&self, key: &str) -> Result<Option<Entry<M::Change>>, StoreError> {
        self.look_up()(key)
    }

    /// Every entry from `from` on, checked and in order, until `visit` says false.
    fn entries(
        &mut self,
        from: Seq,
        visit: &mut dyn FnMut(&Entry<M::Change>) -> bool,
    ) -> Result<(), StoreError> {
        self.reading()(from, visit)
    }

    /// The entries that are there now, for another thread to read while this store goes on. Where a purge changes the
    /// entries meanwhile, reading fails or gives them as they were or are.
    fn reading(&self) -> Reading<M>;

    /// The snapshots that are there now, for another thread to read.
    fn snapshots(&self) -> Snapshots<M>;

    /// Remembers something that may be lost, such as what a session has seen. Not journalled, written
    /// at the next [`Store::flush`]. `None` forgets it.
    fn mark(&mut self, key: &str, value: Option<&str>);

    /// The soft marks.
    fn marks(&self) -> &BTreeMap<String, String>;

    /// What the store takes up.
    fn sizes(&self) -> Sizes;

    /// What is wrong with the store, if anything.
    fn health(&self) -> Health;

    /// Flushes and lets go of the files.
    fn close(self: Box<Self>);
}

/// What is left to write late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingFlush {
    /// All is written.
    Nothing,
    /// Soft marks, which take a moment each time.
    Marks,
    /// A task on the store's files: its outcome, or its turn.
    Upkeep,
}

/// What a store takes up on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Entries ever appended.
    pub entries: u64,
    /// Journal segments.
    pub segments: u32,
    /// Bytes of all segments.
    pub journal_bytes: u64,
    /// Bytes of the snapshots that are kept.
    pub snapshot_bytes: u64,
    /// Bytes of the index; it can be deleted.
    pub index_bytes: u64,
    /// Bytes of the rows that it holds of the state.
    pub state_bytes: u64,
}

/// What is wrong with a store; nothing, normally.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Why nothing can be written.
    pub read_only: Option<String>,
    /// Opening the store again may end that.
    pub passes: bool,
    /// Why the index is out of use until the next open. Costs memory and time, loses nothing.
    pub index: Option<String>,
}

/// A store that was opened, and all that is to be known about how.
#[derive(Debug)]
pub struct Opened<M, S> {
    /// Takes what comes next.
    pub store: S,
    /// The state after the last entry.
    pub state: M,
    /// The replies that shims may still ask for again.
    pub replies: Replies,
    /// What opening found and did.
    pub report: OpenReport,
}

/// What opening found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpenReport {
    /// There was nothing before.
    pub created: bool,
    /// Why the index was rebuilt, if it was.
    pub rebuilt: Option<String>,
    /// Where an incomplete last line was put, if there was one.
    pub tail_removed: Option<PathBuf>,
    /// Why nothing can be written, if nothing can.
    pub read_only: Option<String>,
    /// The last entry.
    pub entries: u64,
    /// Entries applied one by one, since the index or the snapshot was older.
    pub replayed: u64,
}

impl OpenReport {
    /// Tells the log what somebody has to know; `what` was opened.
    pub(crate) fn log(&self, what: &str) {
        if let Some(why) = &self.rebuilt {
            tracing::warn!(what, why, entries = self.entries, "rebuilt the index");
        }
        if let Some(kept) = &self.tail_removed {
            tracing::warn!(what, kept = %kept.display(), "removed an incomplete last line");
        }
        if let Some(why) = &self.read_only {
            tracing::error!(what, why, "opened read-only");
        }
    }
}
