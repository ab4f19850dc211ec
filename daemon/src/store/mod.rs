//! The one door to the disk: entries go in, a state comes out.
//!
//! A store keeps one journal (the truth) and an index (sled, behind or gone at any time) for one
//! state [`Machine`]: a project's memory, or the daemon's own registry. Everything above speaks
//! [`Entry`] and [`Machine`]; lines, segments, checksums, rows and versions of formats live below.
//!
//! The order of a write: [`Store::append`] (on disk when it returns), publish, reply, then
//! [`Store::settle`], which lets the index follow and rotates the journal.

use std::borrow::Cow;

use anchord_memory::{Revision, Seq, SessionId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    /// What the caller was told; kept until the shim acknowledges it.
    pub reply: Option<String>,
}

/// A line of a shim: the instance is the shim's for life, the number rises by one with each line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The shim's random id.
    pub instance: std::sync::Arc<str>,
    /// The line's number.
    pub number: u64,
    /// Every line up to this number has had its answer.
    pub acknowledged: u64,
}

/// A state that a journal's entries lead to, deterministically.
pub trait Machine: Clone + Default + Send + Sync + 'static {
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

    /// The rows that differ after an entry with these changes was applied: what the index must write.
    fn touched_rows(&self, changes: &[Self::Change]) -> Vec<Row>;

    /// The whole state as rows, in key order: a snapshot.
    fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_>;

    /// The state that rows describe.
    fn restore(rows: &mut dyn Iterator<Item = Row>) -> Result<Self, String>;

    /// Names under which this change is found again in history, such as a record's id and version.
    fn history_keys(change: &Self::Change) -> Vec<String>;
}

/// A piece of state: text under a key. `None` takes the key away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Unique within the state; ordered.
    pub key: String,
    /// JSON.
    pub value: Option<String>,
}
