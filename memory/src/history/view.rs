//! Answers about history as data. `render` words them; a program reads them as JSON.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Commit, RecordDiff};
use crate::ids::{RecordId, Revision, Timestamp, Version};
use crate::omit::is_default;
use crate::plan::UndoOutcome;

/// An answer about history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum HistoryView {
    /// A page of commits, newest first.
    Commits(CommitPage),
    /// One commit in full.
    Commit(CommitDetail),
    /// The versions of a record, newest first.
    Versions(RecordVersions),
    /// The difference between two revisions.
    Diff(RevisionDiff),
    /// A rollback, planned or done.
    Rollback(UndoOutcome),
}

impl HistoryView {
    /// Returns the records that the view names, in its order, each once.
    pub fn named(&self) -> Vec<RecordId> {
        let all: Vec<RecordId> = match self {
            Self::Commits(page) => page.commits.iter().flat_map(CommitDetail::named).collect(),
            Self::Commit(commit) => commit.named(),
            Self::Versions(versions) => {
                [versions.id].into_iter().chain(versions.others.iter().copied()).collect()
            }
            Self::Diff(diff) => diff.records.iter().map(|record| record.id).collect(),
            Self::Rollback(outcome) => outcome.records.iter().map(|record| record.id).collect(),
        };
        let mut seen = BTreeSet::new();
        all.into_iter().filter(|id| seen.insert(*id)).collect()
    }
}

/// A page of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitPage {
    /// The commits, newest first.
    pub commits: Vec<CommitDetail>,
    /// The newest commit of memory; 0 if there is none.
    pub newest: Revision,
    /// The revision at which the next page begins; `None` if there are no more commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Revision>,
}

/// A commit, with its differences if they were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitDetail {
    /// The commit in one line.
    #[serde(flatten)]
    pub commit: Commit,
    /// The records that it wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordDiff>,
    /// The number of further records.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
}

impl CommitDetail {
    /// Returns the records that the commit's lines name. Its summary may begin with one.
    fn named(&self) -> Vec<RecordId> {
        self.commit.first.into_iter().chain(self.records.iter().map(|record| record.id)).collect()
    }
}

/// The versions of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordVersions {
    /// The record.
    pub id: RecordId,
    /// The words that name it.
    pub name: String,
    /// Other forgotten records that had the same key before, if it was asked for by its key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RecordId>,
    /// The versions, newest first.
    pub versions: Vec<VersionDetail>,
    /// The version at which the next page begins; `None` if there are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// A version of a record, and its difference from the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionDetail {
    /// The version.
    pub version: Version,
    /// The commit that wrote it; `None` if it was private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The time at which it was written.
    pub time: Timestamp,
    /// The client that wrote it; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The member of the team who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The operation that wrote it.
    pub operation: String,
    /// The difference; `None` if the content was purged, or is another session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<RecordDiff>,
}

/// The difference between two revisions, as far as shared records go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionDiff {
    /// The earlier revision.
    pub from: Revision,
    /// The later revision.
    pub to: Revision,
    /// The records that differ, by kind and number.
    pub records: Vec<RecordDiff>,
    /// The number of further records.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
}
