//! History as values: commits, the versions of a record, and their differences.
//!
//! The journal has them; its reader hands them over as [`StoredCommit`]s and [`StoredVersion`]s.
//! Everything here works on any kind of record. `plan/undo.rs` plans what takes a commit back.

mod diff;
mod merge;
mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use diff::{DiffLine, FieldDiff, LineChange, RecordDiff, diff};
pub(crate) use merge::{Content, apply_change, take_back};
pub use view::{
    CommitDetail, CommitPage, HistoryView, RecordVersions, RevisionDiff, VersionDetail,
};

use crate::change::{Change, Copied, Team};
use crate::fold::{clip, join_lines, one_line};
use crate::ids::{Kind, RecordId, Revision, SessionId, Timestamp, Version};
use crate::import::{EXPORTED, MERGED};
use crate::limits::{NAME_CHARS_MAX, TITLE_CHARS_MAX};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Body, Record, RecordState};

/// The numbers and the origin of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitHead {
    /// The commit's number.
    pub revision: Revision,
    /// The time at which it was accepted.
    pub time: Timestamp,
    /// The session that wrote it; `None` if nobody's session did, as for an import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The operation: `save`, `note`, `undo`.
    pub operation: String,
}

/// A commit as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCommit {
    /// Its numbers and origin.
    pub head: CommitHead,
    /// Its changes, in order.
    pub changes: Vec<Change>,
}

/// An earlier version of a record as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    /// The revision of the entry that wrote it; `None` if the entry is private.
    pub revision: Option<Revision>,
    /// The time of that entry.
    pub time: Timestamp,
    /// The session of that entry.
    pub session: Option<SessionId>,
    /// The operation of that entry.
    pub operation: String,
    /// The end of that entry, if it is the copy of a team's.
    pub copied: Option<Copied>,
    /// The content.
    pub content: VersionContent,
}

impl StoredVersion {
    /// Returns the member of the team who wrote the entry of this version. `by` is the author that
    /// the record names, and `own` this machine's member.
    pub fn member<'a>(
        &'a self,
        by: Option<&'a Provenance>,
        own: Option<&'a Arc<str>>,
    ) -> Option<&'a Arc<str>> {
        member(self.copied.as_ref(), by, own)
    }
}

/// Returns the member of the team who wrote an entry that ends with `copied`. For another machine's
/// entry, the database has checked the name. This machine sent the others.
fn member<'a>(
    copied: Option<&'a Copied>,
    by: Option<&'a Provenance>,
    own: Option<&'a Arc<str>>,
) -> Option<&'a Arc<str>> {
    let checked = copied.and_then(|copied| copied.member.as_ref());
    let named = by.and_then(|by| by.member.as_ref());
    checked.or(named).or(own.filter(|_| copied.is_some()))
}

/// The content of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub enum VersionContent {
    /// The whole record.
    Whole(Arc<Record>),
    /// Its content was purged at this time.
    Purged(Timestamp),
}

impl VersionContent {
    /// Returns the record, unless it was purged.
    pub fn record(&self) -> Option<&Arc<Record>> {
        match self {
            Self::Whole(record) => Some(record),
            Self::Purged(_) => None,
        }
    }
}

/// A commit in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its numbers and origin.
    #[serde(flatten)]
    pub head: CommitHead,
    /// The client that wrote it; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The member of the team who wrote it. For another machine's commit, the database has checked
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The work in one line: a session's own summary, or the first record.
    pub summary: String,
    /// The record with which the summary begins, if it names one.
    #[serde(skip)]
    pub first: Option<RecordId>,
    /// The numbers of records.
    pub counts: CommitCounts,
    /// The records that it purged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purged: Vec<RecordId>,
}

/// The number of records that a commit wrote, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitCounts {
    /// New records.
    pub added: u64,
    /// Records with new content.
    pub changed: u64,
    /// Records that were archived.
    pub archived: u64,
    /// Records that became active again, or are shown by their summary.
    pub activated: u64,
    /// Forgotten records.
    pub forgotten: u64,
    /// Records that it purged, or whose content was purged since.
    pub purged: u64,
}

impl Commit {
    /// Adds the records that it purged. An entry of a purge does not name them.
    #[must_use]
    pub fn with_purged(mut self, purged: Vec<RecordId>) -> Self {
        self.counts.purged += purged.len() as u64;
        Self { purged, ..self }
    }

    /// Returns its numbers without the records that it purged itself.
    pub fn counts_beside_purged(&self) -> CommitCounts {
        let purged = self.counts.purged.saturating_sub(self.purged.len() as u64);
        CommitCounts { purged, ..self.counts }
    }
}

impl CommitCounts {
    /// Counts one change.
    fn count(&mut self, change: &Change) {
        let count = match change {
            Change::Put(record) if record.version == Version::FIRST => &mut self.added,
            Change::Put(record) => match record.state {
                RecordState::Forgotten => &mut self.forgotten,
                _ if record.content_version.is_none() => &mut self.changed,
                RecordState::Archived => &mut self.archived,
                RecordState::Active => &mut self.activated,
            },
            Change::Purged(_) => &mut self.purged,
            _ => return,
        };
        *count += 1;
    }

    /// Returns the numbers with their words, in the order in which they are shown.
    pub fn named(&self) -> [(u64, &'static str); 6] {
        [
            (self.added, "added"),
            (self.changed, "changed"),
            (self.archived, "archived"),
            (self.activated, "activated"),
            (self.forgotten, "forgotten"),
            (self.purged, "purged since"),
        ]
    }
}

impl StoredCommit {
    /// Returns the records that the commit wrote and the reader sees, in order.
    pub fn records<'a>(&'a self, reader: &'a Reader) -> impl Iterator<Item = &'a Arc<Record>> {
        self.changes.iter().filter_map(Change::record).filter(|record| reader.sees(record))
    }

    /// Describes the commit in one line, for a reader.
    pub fn described(&self, reader: &Reader) -> Commit {
        self.described_in_team(reader, None)
    }

    /// Describes the commit like [`Self::described`]. `own` is this machine's member of the team,
    /// who made the commits that it sent to the team's journal.
    pub fn described_in_team(&self, reader: &Reader, own: Option<&Arc<str>>) -> Commit {
        let mut counts = CommitCounts::default();
        let seen = |change: &&Change| match change {
            Change::Purged(purged) => !purged.private,
            change => change.record().is_some_and(|record| reader.sees(record)),
        };
        self.changes.iter().filter(seen).for_each(|change| counts.count(change));
        let is_by =
            |record: &&Arc<Record>| Some(&record.updated.session) == self.head.session.as_ref();
        let is_now =
            |record: &&Arc<Record>| record.updated.time == self.head.time || record.is_taken_back();
        // A save that waited for a team's database is older than its commit.
        let by = self.records(reader).filter(is_by).find(is_now);
        let by = by.or_else(|| self.records(reader).find(is_by)).map(|record| &record.updated);
        let member = member(self.copied(), by, own);
        let (summary, first) = self.summary(reader, member);
        Commit {
            head: self.head.clone(),
            client: by.map(|by| by.client.to_string()).unwrap_or_default(),
            member: member.map(ToString::to_string),
            summary,
            first,
            counts,
            purged: Vec::new(),
        }
    }

    /// Returns the records that the commit purged, which only the memory knows.
    pub fn purged(&self, memory: &Memory) -> Vec<RecordId> {
        let time = self.changes.iter().find_map(|change| match change {
            Change::Tombstones { time, .. } => Some(*time),
            _ => None,
        });
        let all = memory.all_purged().filter(|purged| Some(purged.time) == time);
        all.map(|purged| purged.id).collect()
    }

    /// Returns its end, if it is the copy of a team's commit.
    fn copied(&self) -> Option<&Copied> {
        self.changes.iter().find_map(Change::copied)
    }

    /// Returns the session's own words, or else the first record that was written, with its id.
    fn summary(&self, reader: &Reader, member: Option<&Arc<str>>) -> (String, Option<RecordId>) {
        let imported = self.changes.iter().find_map(|change| match change {
            Change::Imported { source, undone: false, .. } if source == EXPORTED => {
                Some(self.of_export(member))
            }
            Change::Imported { source, undone: false, .. } => Some(format!("import of {source}")),
            _ => None,
        });
        if let Some(imported) = imported {
            return (imported, None);
        }
        let row = self.records(reader).find_map(|record| match &record.body {
            Body::SessionRow(row) if record.content_version.is_none() => Some(&row.summary),
            _ => None,
        });
        // A rollback writes rows of other sessions.
        let row = row.filter(|_| !["undo", "restore"].contains(&self.head.operation.as_str()));
        if let Some(row) = row.filter(|summary| !summary.trim().is_empty()) {
            return (clip(&join_lines(row), TITLE_CHARS_MAX), None);
        }
        match self.records(reader).next() {
            Some(first) => (format!("{} {}", first.id, name(first)), Some(first.id)),
            None => (self.other(), None),
        }
    }

    /// Words the import of an export, which the memory of a machine that joins a team is.
    fn of_export(&self, member: Option<&Arc<str>>) -> String {
        if self.head.operation != MERGED {
            return "import of an export".to_owned();
        }
        let member = member.map(|member| clip(&one_line(member), NAME_CHARS_MAX));
        let member = member.as_deref().unwrap_or("a member");
        format!("merged from {member}'s memory of this project")
    }

    /// Words a commit without a record that the reader sees.
    fn other(&self) -> String {
        let words = self.changes.iter().find_map(|change| match change {
            Change::Notify(_) => Some("a notice"),
            Change::Team(Team { project: Some(_), .. }) => Some("a team shares the memory"),
            Change::Team(_) => Some("a team no longer shares the memory"),
            Change::Configure { .. } => Some("the project's settings"),
            Change::Imported { .. } => Some("an import was taken back"),
            Change::Purged(_) => Some("its records are gone"),
            Change::Tombstones { .. } => Some("a purge"),
            _ => None,
        });
        words.unwrap_or("a session's own work").to_owned()
    }

    /// Returns whether the commit wrote a record of one of these kinds, all if empty, that is about
    /// this file, if one is given.
    pub fn concerns(&self, reader: &Reader, kinds: &[Kind], file: Option<&str>) -> bool {
        if kinds.is_empty() && file.is_none() {
            return true;
        }
        self.records(reader).any(|record| {
            let is_of_kind = kinds.is_empty() || kinds.contains(&record.kind());
            is_of_kind && file.is_none_or(|file| is_about(record, file))
        })
    }
}

/// Returns whether a record names a file: by its whole path, or by the end of it.
fn is_about(record: &Record, file: &str) -> bool {
    let names = |known: &&str| {
        let rest = known.strip_suffix(file);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    record.body.fields().searched().files.iter().any(names)
}

/// Returns the words that name a record, on one line.
pub(crate) fn name(record: &Record) -> String {
    let words = match &record.body {
        Body::Note(note) if note.summary.is_empty() => {
            let key = note.key.iter().map(|key| format!("{key}: ")).collect::<String>();
            key + &note.content
        }
        Body::SessionRow(row) => join_lines(&row.summary),
        body => body.fields().name(),
    };
    clip(&one_line(&words), NAME_CHARS_MAX)
}

/// The versions of records that a reader of the journal is asked for.
pub type WantedVersions = std::collections::BTreeSet<(RecordId, Version)>;

/// The versions that the journal had. One that is missing is not there.
pub type Versions = std::collections::BTreeMap<(RecordId, Version), StoredVersion>;

#[cfg(test)]
mod tests;
