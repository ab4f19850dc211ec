//! The outcome of an undo as data, also while it is only planned.

use serde::{Deserialize, Serialize};

use super::UndoBasis;
use crate::history::name;
use crate::ids::{RecordId, Revision, SessionId, Timestamp, Version};
use crate::limits::{CONFLICT_COMMITS_NAMED_MAX, ROLLBACK_NAMED_MAX};
use crate::omit::is_default;
use crate::record::{Record, RecordState};

/// The commits that a caller wants to take back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoTarget {
    /// The newest commits, this many.
    Last(u64),
    /// One commit.
    Commit(Revision),
    /// Every commit of a session.
    Session(SessionId),
    /// Every commit after a revision: the project as it was then.
    Project(Revision),
    /// Every later change of one record: the record as it was at a revision.
    Record(RecordId, Revision),
    /// The last changes of one record's content.
    Steps(RecordId, u64),
}

impl Default for UndoTarget {
    fn default() -> Self {
        Self::Last(1)
    }
}

/// The end of an undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoEnd {
    /// Everything is already as it was before.
    #[default]
    Nothing,
    /// Later commits are in the way, and nothing was written.
    Conflicts,
    /// The records have changed since they were read, and nothing was written.
    Moved,
    /// The plan has changes.
    Done {
        /// The revision that they make; `None` if they are all private.
        revision: Option<Revision>,
    },
}

/// The outcome of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoOutcome {
    /// The commits that were asked for.
    pub target: UndoTarget,
    /// The number of commits that are taken back.
    pub commits: u64,
    /// Some of them, newest first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub revisions: Vec<Revision>,
    /// The revision that the plan was made on.
    pub base: Revision,
    /// The end.
    pub end: UndoEnd,
    /// The records that change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub records: Vec<UndoneRecord>,
    /// The number of further records that change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
    /// The number of imports that can be made again, or count as made again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub imports: u64,
    /// The records that stay as they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: Vec<LeftRecord>,
    /// The number of further records that stay as they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left_more: u64,
    /// The later changes that are in the way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conflicts: Vec<UndoConflict>,
    /// The number of further records with such changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conflicts_more: u64,
    /// Whether the commits are purges alone, which cannot be taken back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_purges_alone: bool,
    /// The newest commit that can be taken back, if these are purges alone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub instead: Option<Revision>,
}

impl UndoOutcome {
    pub(super) fn new(basis: &UndoBasis, base: Revision) -> Self {
        Self {
            target: basis.target.clone(),
            commits: basis.revisions.len() as u64,
            revisions: basis.revisions.clone(),
            base,
            is_purges_alone: basis.is_purges_alone(),
            instead: basis.instead,
            ..Self::default()
        }
    }

    /// Keeps as many of each list as an answer names, and counts the rest.
    pub(super) fn cut(mut self) -> Self {
        self.more = cut(&mut self.records);
        self.left_more = cut(&mut self.left);
        self.conflicts_more = cut(&mut self.conflicts);
        self.revisions.truncate(ROLLBACK_NAMED_MAX);
        self
    }
}

fn cut<T>(list: &mut Vec<T>) -> u64 {
    let more = list.len().saturating_sub(ROLLBACK_NAMED_MAX);
    list.truncate(ROLLBACK_NAMED_MAX);
    more as u64
}

/// A record that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneRecord {
    /// The record.
    pub id: RecordId,
    /// The words that name it, as it will be.
    pub name: String,
    /// The change.
    pub done: Undone,
    /// Whether later changes go too, since the caller forced it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_conflict: bool,
}

/// The change of a record by an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undone {
    /// It is out of search again.
    Forgotten,
    /// It is no longer forgotten.
    Revived,
    /// It is archived again.
    Archived,
    /// It is active again.
    Activated,
    /// It is as it was at this version.
    BackTo(Version),
    /// The change is gone, and later changes of other fields stay.
    Merged,
}

impl Undone {
    pub(super) fn between(now: &Record, target: &Record, back_to: Option<Version>) -> Self {
        match (now.state, target.state) {
            (RecordState::Forgotten, RecordState::Forgotten) => {}
            (_, RecordState::Forgotten) => return Self::Forgotten,
            (RecordState::Forgotten, _) => return Self::Revived,
            _ if !now.content_eq(target) => {}
            (RecordState::Active, RecordState::Archived) => return Self::Archived,
            (RecordState::Archived, RecordState::Active) => return Self::Activated,
            _ => {}
        }
        back_to.map_or(Self::Merged, Self::BackTo)
    }
}

/// A record that stays as it is, though a commit that is taken back wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRecord {
    /// The record.
    pub id: RecordId,
    /// The words that name it; empty if nothing is left of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The reason.
    pub why: WhyLeft,
}

/// The reason why a record stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeft {
    /// Its earlier content was purged at this time.
    Purged(Timestamp),
    /// The journal lacks an earlier version.
    Missing,
    /// A private note was shared, and others have seen it.
    Shared,
}

/// Later changes of a record that are in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoConflict {
    /// The record.
    pub id: RecordId,
    /// The words that name it.
    pub name: String,
    /// The record that took its place, if another one did.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rival: Option<RecordId>,
    /// Some of the commits that changed it later, oldest first.
    pub commits: Vec<Revision>,
}

impl UndoConflict {
    pub(super) fn new(record: &Record, mut commits: Vec<Revision>) -> Self {
        commits.truncate(CONFLICT_COMMITS_NAMED_MAX);
        Self { id: record.id, name: name(record), rival: None, commits }
    }

    pub(super) fn rival(record: &Record, rival: RecordId, commits: Vec<Revision>) -> Self {
        Self { rival: Some(rival), ..Self::new(record, commits) }
    }
}
