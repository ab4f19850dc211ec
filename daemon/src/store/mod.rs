//! The only code that touches the disk: entries go in, a state comes out.
//!
//! A store keeps one journal and one index for one [`StateMachine`]: a project's memory, or the
//! daemon's own registry. The journal is the truth. The index (sled) may lag behind it or be
//! deleted at any time. Code above this module works with [`Entry`] and [`StateMachine`] only.
//! Lines, segments, checksums, rows and format versions are internal; `docs/storage-format.md`
//! describes them.
//!
//! A write happens in this order: [`Store::append`] (on disk when it returns), publish, reply. Once
//! for several writes, [`Store::advance_index`] brings the index up to date and rotates the
//! journal.
//!
//! A store takes no lock: its caller holds the daemon's.

mod archive;
mod backup;
mod backward;
mod disk;
mod error;
mod foreign;
mod format;
mod history;
mod index;
mod journal;
mod journal_store;
pub mod limits;
mod migration;
mod network_fs;
mod open;
mod packing;
mod project;
mod read_index;
mod recover;
mod repair;
mod replies;
mod restore;
mod retry;
mod rewrite;
mod rows;
mod sealed;
mod segment;
mod sled_index;
mod snapshot;
mod stores;
mod team;
mod upkeep;
mod work;

#[cfg(any(test, feature = "test-hooks"))]
pub mod fakes;
#[cfg(any(test, feature = "test-hooks"))]
mod sim_disk;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::{Copied, CopyMark, Revision, Seq, SessionId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use backup::{
    BackupError, BackupHeader, BackupWriter, VisitEntry, backup_line, read_backup, read_backup_line,
};
pub use backward::{Head, ReadBack, Step, Visitor};
pub use disk::{Disk, DiskFile, RealDisk};
pub use error::StoreError;
pub use index::{Index, IndexError, IndexPlace, MemIndex, RowSum, StoredText};
pub use journal_store::JournalStore;
pub use network_fs::refuse_network_fs;
pub use open::Options;
pub use repair::{Range as RepairRange, RepairPlan, ReplacedContent};
pub use replies::{LineState, Replies};
#[cfg(any(test, feature = "test-hooks"))]
pub use sim_disk::{Fault, Random, SimDisk};
pub use sled_index::SledPlace;
pub use stores::{FileStores, Stores, Usage};
pub use team::{
    Arrived, Away, EntryKey, TeamAppended, TeamEntry, TeamError, TeamFault, TeamJournal, TeamPoint,
};
pub use upkeep::Upkeep;

/// One acknowledged change: a line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<C> {
    /// The entry's number. Numbers start at 1 and have no gaps.
    pub seq: Seq,
    /// The commit's number, if the entry changes shared memory.
    pub revision: Option<Revision>,
    /// The time at which the daemon accepted the entry.
    pub time: Timestamp,
    /// The session that wrote it, if any.
    pub session: Option<SessionId>,
    /// The shim's line that asked for it, if any.
    pub call: Option<Call>,
    /// The requested operation, for people who read the journal: `checkpoint`, `save`, `forget`.
    pub operation: Cow<'static, str>,
    /// The changes, in order.
    pub changes: Vec<C>,
    /// The outcome that was reported to the caller, kept until the shim acknowledges it. Present if
    /// and only if `call` is. One line of a shim is one entry, so a crash cannot keep half of it.
    /// Up to format 5 this is the text of the answer.
    pub reply: Option<Value>,
}

/// A shim's line. The instance stays the same for the shim's life; the number rises by one with
/// each line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The shim's random id.
    pub instance: Arc<str>,
    /// The line's number.
    pub number: u64,
    /// The shim has received the reply to every line up to this number.
    pub acknowledged: u64,
}

/// A state that follows deterministically from a journal's entries.
pub trait StateMachine: Clone + Default + Send + Sync + 'static {
    /// A change that an entry can make.
    type Change: Clone
        + std::fmt::Debug
        + PartialEq
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;

    /// The name in file headers. It keeps one kind of journal from being opened as another.
    const NAME: &'static str;

    /// Whether an entry with these changes is a commit.
    fn is_commit(changes: &[Self::Change]) -> bool;

    /// Returns the number of the last entry applied.
    fn seq(&self) -> Seq;

    /// Returns the number of commits applied.
    fn revision(&self) -> Revision;

    /// Applies one entry's changes.
    fn apply(&mut self, seq: Seq, changes: &[Self::Change]);

    /// Prepares for many entries at once. What only reads need is rebuilt when it is next needed.
    fn expect_many(&mut self) {}

    /// Returns the rows that these changes may have altered, with their values in this state. The
    /// state may be some entries further on. A row that no longer exists has no value.
    fn touched_rows(&self, changes: &[Self::Change]) -> Vec<Row>;

    /// Returns the whole state as rows. No key occurs twice, and equal states give the same order.
    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_>;

    /// A row that was read.
    type Part: Send;

    /// Reads a row on its own. Several threads may do so at once.
    fn part(key: &str, value: &str) -> Result<Self::Part, String>;

    /// Rebuilds the state from its rows, in any order.
    fn restore(parts: &mut dyn Iterator<Item = Self::Part>) -> Result<Self, String>;

    /// Returns the keys under which history finds this change, such as a record's id and version.
    fn history_keys(change: &Self::Change) -> Vec<String>;

    /// Returns the changes that turn this state into `target`. Only a repair needs them.
    fn changes_to(&self, target: &Self) -> Vec<Self::Change>;

    /// Returns the contents, named as history names them, that `other` has otherwise under the same
    /// name. No entry that follows the other's turns one into the other, so they are of copies that
    /// went different ways.
    fn contradicted_by(&self, other: &Self) -> BTreeSet<String>;

    /// Returns the number of contents that were purged.
    fn purges(&self) -> usize {
        0
    }

    /// Returns changes that make a commit but leave the state as it is, if such changes exist.
    fn idle_commit(&self) -> Option<Vec<Self::Change>>;

    /// Divides the changes of a commit between this machine's journal and a team's.
    fn split(changes: Vec<Self::Change>) -> Split<Self::Change> {
        Split { shared: changes, ..Split::default() }
    }

    /// Returns the key that a team's journal must know an entry by, if its changes name one.
    fn team_key(_changes: &[Self::Change]) -> Option<EntryKey> {
        None
    }

    /// Returns the changes that this machine makes when a team's entry with this key arrives.
    fn arriving(&self, _key: &EntryKey) -> Vec<Self::Change> {
        Vec::new()
    }

    /// Returns the place in a team's journal that this machine's copy reaches, if it is known.
    fn copy_mark(&self) -> Option<CopyMark> {
        None
    }

    /// Returns the change that ends the copy of a team's entry, if this machine keeps it.
    fn copied(_copied: Copied) -> Option<Self::Change> {
        None
    }

    /// Returns the last commit that this machine's copy of a team's journal has.
    fn team_point(&self) -> TeamPoint {
        TeamPoint { revision: self.revision(), mark: self.copy_mark() }
    }
}

/// The changes of a commit, divided by where they belong.
#[derive(Clone, Debug, PartialEq)]
pub struct Split<C> {
    /// This machine writes them before the team does. They only add to the state.
    pub before: Vec<C>,
    /// The team's journal has them.
    pub shared: Vec<C>,
    /// This machine writes them with its copy of the team's entry.
    pub after: Vec<C>,
}

impl<C> Default for Split<C> {
    fn default() -> Self {
        Self { before: Vec::new(), shared: Vec::new(), after: Vec::new() }
    }
}

/// A piece of state: text under a key. A value of `None` removes the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Unique within the state; ordered.
    pub key: String,
    /// JSON.
    pub value: Option<String>,
}

impl Row {
    /// Creates a row that has a value.
    pub(crate) fn of(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), value: Some(value.to_owned()) }
    }
}

/// Reads every entry from a number on, in order, until the visitor returns false.
pub type ReadEntries<M> = Box<
    dyn Fn(
            Seq,
            &mut dyn FnMut(&Entry<<M as StateMachine>::Change>) -> bool,
        ) -> Result<(), StoreError>
        + Send,
>;

/// Finds the newest entry with a change under a history key (see [`StateMachine::history_keys`]).
pub type LookUp<M> = Arc<
    dyn Fn(&str) -> Result<Option<Entry<<M as StateMachine>::Change>>, StoreError> + Send + Sync,
>;

/// A snapshot, read in order to compare it with the entries.
#[derive(Debug)]
pub struct CheckedSnapshot<M> {
    /// The file's name, such as `snapshot/000002.jsonl`.
    pub file: String,
    /// The state in the snapshot, or the reason why it cannot be compared.
    pub state: Result<M, Uncheckable>,
}

/// The reason why a snapshot cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncheckable {
    /// The content is not what was written.
    Damaged(String),
    /// The disk could not read it now. The content may still be good.
    Unread(String),
}

/// Reads all existing snapshots.
pub type Snapshots<M> = Box<dyn Fn() -> Vec<CheckedSnapshot<M>> + Send>;

/// Stores entries durably. This is the daemon's only way to write.
///
/// The caller calls `append` one or more times, then `advance_index` with the state after those
/// entries. It repeats this as often as it likes and calls `close` at the end. All other methods
/// may be called at any time.
pub trait Store<M: StateMachine>: Send {
    /// Appends entries that follow entry `expected` without a gap, as one group with one sync.
    ///
    /// Fails with [`StoreError::HeadMoved`] if `expected` is not the last entry, because another
    /// writer was faster. [`Store::entries`] then yields what it wrote.
    ///
    /// After `Ok` the entries are on disk. After an error none of them is acknowledged. Normally
    /// the journal has then been cut back to its previous end and synced, so the entries never
    /// reappear. After [`StoreError::Uncertain`] that failed too, and the store is read-only from
    /// then on.
    fn append(&mut self, expected: Seq, batch: &[Entry<M::Change>]) -> Result<(), StoreError>;

    /// Fails if the entry cannot be stored as it is. Such an entry must not go into a batch,
    /// because [`Store::append`] would refuse the whole batch.
    fn admit(&self, entry: &Entry<M::Change>) -> Result<(), StoreError>;

    /// Returns the number of bytes appended since the last [`Store::advance_index`].
    fn unsettled_bytes(&self) -> u64;

    /// Brings the index up to the last appended entry. When a segment is full, also begins the next
    /// one with a snapshot of `state`, if the disk has room. A rotation also removes long-idle
    /// shims from `replies`.
    ///
    /// `state` and `replies` must be those after the last appended entry. An error only needs
    /// logging: the appended entries stay durable, and a later call tries again.
    fn advance_index(&mut self, state: &M, replies: &mut Replies) -> Result<(), StoreError>;

    /// Writes data that can be written late: soft marks, then the index's own buffers. Also starts
    /// and finishes tasks on the store's files, which run on a thread. The caller calls it every
    /// few seconds, off the hot path. Each call takes a bounded time and returns the kind of work
    /// that is left for another call.
    fn flush(&mut self) -> PendingFlush;

    /// Returns a function that finds earlier versions among the entries on disk at the time of its
    /// call. It works on any thread while this store continues. One such function serves for as
    /// long as the store is open.
    fn look_up(&self) -> LookUp<M>;

    /// Returns a function that reads the commits on disk at the time of its call, newest first. It
    /// works on any thread for as long as the store is open, like [`Store::look_up`].
    fn read_back(&self) -> ReadBack<M>;

    /// Finds the newest entry with a change under this history key.
    fn history(&self, key: &str) -> Result<Option<Entry<M::Change>>, StoreError> {
        self.look_up()(key)
    }

    /// Visits every entry from `from` on, checked and in order, until `visit` returns false.
    fn entries(
        &mut self,
        from: Seq,
        visit: &mut dyn FnMut(&Entry<M::Change>) -> bool,
    ) -> Result<(), StoreError> {
        self.reading()(from, visit)
    }

    /// Returns a reader of the entries that exist now. Another thread can use it while this store
    /// continues. If a purge changes the entries meanwhile, reading fails or yields either their
    /// old or their new content.
    fn reading(&self) -> ReadEntries<M>;

    /// Returns a reader of the snapshots that exist now, for another thread.
    fn snapshots(&self) -> Snapshots<M>;

    /// Sets a soft mark: something that may be lost, such as what a session has seen. Marks are not
    /// journalled; the next [`Store::flush`] writes them. `None` removes the mark.
    fn mark(&mut self, key: &str, value: Option<&str>);

    /// Returns the soft marks.
    fn marks(&self) -> &BTreeMap<String, String>;

    /// Returns the store's sizes.
    fn sizes(&self) -> Sizes;

    /// Returns the store's faults, if it has any.
    fn health(&self) -> Health;

    /// Passes every entry to `edit`, which returns whether it changed the entry, and appends
    /// `last`. Entries keep their numbers. `edit` may change their content, but not whether they
    /// are commits.
    ///
    /// The store is closed afterwards. After an error the next open finds either the whole rewrite
    /// or none of it. Soft marks may be lost.
    fn rewrite(
        self: Box<Self>,
        edit: &mut dyn FnMut(&mut Entry<M::Change>) -> bool,
        last: &Entry<M::Change>,
    ) -> Result<(), StoreError>;

    /// Flushes the index and closes the files.
    fn close(self: Box<Self>);
}

/// The work that a flush leaves for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingFlush {
    /// Everything is written.
    Nothing,
    /// Soft marks, written in short batches.
    Marks,
    /// A task on the store's files that is running or waits for its turn.
    Upkeep,
}

/// The store's size on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Entries ever appended.
    pub entries: u64,
    /// Journal segments.
    pub segments: u32,
    /// Bytes of all segments.
    pub journal_bytes: u64,
    /// Bytes of the snapshots.
    pub snapshot_bytes: u64,
    /// Bytes of the index, which can be deleted.
    pub index_bytes: u64,
    /// Bytes of the state's rows in the index.
    pub state_bytes: u64,
}

/// The faults of a store; normally none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The reason why nothing can be written.
    pub read_only: Option<String>,
    /// Whether opening the store again may clear `read_only`.
    pub passes: bool,
    /// The reason why the index is out of use until it is brought up to date again. This costs
    /// memory and time but loses nothing. Meanwhile the index does not prove what was written.
    pub index: Option<String>,
}

/// A store that was just opened, with the result of opening it.
#[derive(Debug)]
pub struct Opened<M, S> {
    /// The store, ready for writes.
    pub store: S,
    /// The state after the last entry.
    pub state: M,
    /// The replies that shims may still ask for again.
    pub replies: Replies,
    /// The findings and actions of the open.
    pub report: OpenReport,
}

/// The findings and actions of an open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpenReport {
    /// Whether the store is new.
    pub created: bool,
    /// The reason why the index was rebuilt, if it was.
    pub rebuilt: Option<String>,
    /// The file to which an incomplete last line was moved, if there was one.
    pub tail_removed: Option<PathBuf>,
    /// The reason why nothing can be written, if the store is read-only.
    pub read_only: Option<String>,
    /// The number of the last entry.
    pub entries: u64,
    /// Entries applied one by one because the index or the snapshot was older.
    pub replayed: u64,
}

impl OpenReport {
    /// Logs what the user should know about the open. `what` names the store.
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
