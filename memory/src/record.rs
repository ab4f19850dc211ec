//! Records: one unit of memory each, with an id, a version and its provenance.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::activity::SessionActivity;
use crate::ids::{Kind, RecordId, Revision, SessionId, Timestamp, Version};
use crate::lines::LineRange;
use crate::note::{Note, Scope};
use crate::provenance::Provenance;
use crate::topic::Topic;

/// One unit of memory at one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id, which never changes.
    pub id: RecordId,
    /// The version, which rises by one with each change of the body or state.
    pub version: Version,
    /// The commit that wrote this version.
    pub revision: Revision,
    /// The version that introduced the current content; `None` if it is this one.
    #[serde(default, rename = "said", skip_serializing_if = "Option::is_none")]
    pub content_version: Option<ContentVersion>,
    /// The provenance of the record's first version.
    pub created: Provenance,
    /// The provenance of this version. Compaction, which writes no text, leaves it unchanged.
    pub updated: Provenance,
    /// The state: loaded, set aside, or forgotten.
    #[serde(default, rename = "standing", skip_serializing_if = "RecordState::is_active")]
    pub state: RecordState,
    /// Additional words by which it is found, in lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is never archived by a budget, and comes first in a load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether this is the head of a forgotten record, which lacks most of its text. The whole
    /// record is in the journal, under the same version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_head: bool,
    /// The kind's own fields.
    pub body: Body,
}

/// A version, and the commit that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentVersion {
    /// The record's version.
    pub version: Version,
    /// The project's revision.
    pub revision: Revision,
}

impl Record {
    /// Returns the record's kind.
    pub fn kind(&self) -> Kind {
        self.id.kind
    }

    /// Returns the note, if it is one.
    pub fn note(&self) -> Option<&Note> {
        match &self.body {
            Body::Note(note) => Some(note),
            _ => None,
        }
    }

    /// Returns whether it is a session row or a lesson recorded by rule, which nobody wrote.
    pub fn is_captured(&self) -> bool {
        match &self.body {
            Body::SessionRow(row) => row.captured.is_some(),
            Body::Lesson(lesson) => lesson.captured.is_some(),
            _ => false,
        }
    }

    /// Returns the topic, if it is one.
    pub fn topic(&self) -> Option<&Topic> {
        match &self.body {
            Body::Topic(topic) => Some(topic),
            _ => None,
        }
    }

    /// Returns the version that introduced the current content. Versions since then changed only
    /// the record's state.
    pub fn content_version(&self) -> ContentVersion {
        self.content_version
            .unwrap_or(ContentVersion { version: self.version, revision: self.revision })
    }

    /// Sets the content version of a record that follows `before`, which may have the same content.
    /// Forgetting a record, or bringing it back, counts as new content.
    pub(crate) fn follow(&mut self, before: &Self) {
        let kept = |record: &Self| record.state != RecordState::Forgotten;
        let same = kept(before) && kept(self) && before.content_eq(self);
        self.content_version = same.then(|| before.content_version());
    }

    /// Returns whether two versions have the same content. They may differ in the record's state,
    /// in whether a summary replaces the content, and in the number of repeats.
    pub fn content_eq(&self, other: &Self) -> bool {
        let same_body = match (&self.body, &other.body) {
            (Body::Note(one), Body::Note(other)) => one.content_eq(other),
            (one, other) => one == other,
        };
        same_body && (&self.tags, self.pinned) == (&other.tags, other.pinned)
    }

    /// Returns whether it belongs to the user and not to a project.
    pub fn is_personal(&self) -> bool {
        self.id.is_personal() || self.note().is_some_and(|note| note.scope == Scope::User)
    }

    /// Returns the only session that sees it; `None` if the project shares it.
    pub fn owner(&self) -> Option<&SessionId> {
        self.note().and_then(|note| note.scope.session())
    }
}

/// The three ways a record can stand; purged ones are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// Loaded and counted.
    #[default]
    Active,
    /// Out of load and budget, still found; active again when used.
    Archived,
    /// Out of search, in history.
    Forgotten,
}

impl RecordState {
    /// Returns whether the record is loaded and counted.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }
}

/// The fields of each kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A settled statement, kept verbatim.
    Blueprint(Blueprint),
    /// Coordinates, not code.
    Anchor(Anchor),
    /// Knowledge gained from a failure.
    Lesson(Lesson),
    /// Anything else.
    Note(Note),
    /// The state of a thread of work.
    Topic(Topic),
    /// The account of a session.
    SessionRow(SessionRow),
}

impl Body {
    /// Returns the kind that these fields belong to.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Blueprint(_) => Kind::Blueprint,
            Self::Anchor(_) => Kind::Anchor,
            Self::Lesson(_) => Kind::Lesson,
            Self::Note(_) => Kind::Note,
            Self::Topic(_) => Kind::Topic,
            Self::SessionRow(_) => Kind::SessionRow,
        }
    }
}

/// The subject of a blueprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The structure of the system: its parts and how they work together.
    Architecture,
    /// The shape of data.
    Schema,
    /// A decision with its reasons.
    Decision,
    /// A convention of the project.
    Convention,
    /// A dependency.
    Dependency,
}

impl Category {
    /// All categories, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Architecture, Self::Schema, Self::Decision, Self::Convention, Self::Dependency];
}

impl Category {
    /// Returns the name that agents write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Schema => "schema",
            Self::Decision => "decision",
            Self::Convention => "convention",
            Self::Dependency => "dependency",
        }
    }
}

/// The text does not name a category.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is none of the categories architecture, schema, decision, convention, dependency: `{0}`")]
pub struct ParseCategoryError(String);

impl FromStr for Category {
    type Err = ParseCategoryError;

    /// Parses a name in any case. Its first four letters suffice: `ARCH`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_lowercase();
        Self::ALL
            .into_iter()
            .find(|category| wanted.len() >= 4 && category.name().starts_with(&wanted))
            .ok_or_else(|| ParseCategoryError(text.chars().take(40).collect()))
    }
}

/// A settled and lasting statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blueprint {
    /// The subject.
    pub category: Category,
    /// The title, on one line. With the category it identifies the blueprint.
    pub title: String,
    /// The content, verbatim. anchord never rewrites it.
    pub content: String,
    /// Whether it stays unchanged until a write says `immutable: false`.
    pub immutable: bool,
}

/// The place of some code, and why it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The file, relative to the project's root, with forward slashes.
    pub file: String,
    /// The lines, or the text that was given instead of lines.
    pub lines: LineRange,
    /// The reason why the lines matter, on one line.
    pub concept: String,
}

/// Knowledge gained from a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The summary, on one line. Its folded form identifies the lesson.
    pub summary: String,
    /// Further text, if there is any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The files that it concerns, relative to the project's root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The failure that was fixed, if the lesson was recorded by rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<FixedFailure>>,
}

/// A failure whose fix the daemon observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedFailure {
    /// The command that failed and later passed.
    pub command: String,
    /// The line of its output that identifies the error.
    pub error: String,
    /// The command that succeeded in between and is related to the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The number of times that it was fixed.
    pub times: u32,
    /// The time of the last fix.
    pub last: Timestamp,
}

/// A session and its trail: an entry for each save, and for each end without a save.
///
/// The newest entry is in the row's own fields, where builds that do not know trails find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// A running number among the project's sessions, from 1: shown as `S3`.
    pub number: u64,
    /// The session itself; one row each.
    pub session: SessionId,
    /// The time of its first write.
    pub started: Timestamp,
    /// The time of the newest entry: the last save, or the time when its work was kept.
    pub ended: Timestamp,
    /// The text of the newest entry: the agent's words, or anchord's if it was written on its
    /// behalf.
    pub summary: String,
    /// Whether the newest entry was written on the session's behalf, since it ended without a save.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// All activity recorded by rule. Present only if all entries were made from it, none by the
    /// agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<SessionActivity>>,
    /// The entries before the newest, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<TrailEntry>,
    /// The number of new blueprints in this session.
    #[serde(default)]
    pub blueprints_added: u32,
    /// The number of new anchors in this session.
    #[serde(default)]
    pub anchors_added: u32,
    /// The number of new lessons in this session.
    #[serde(default)]
    pub lessons_added: u32,
    /// The number of old rows folded into this one; 0 for a session's own row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u32,
}

/// An entry of a session row's trail before the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailEntry {
    /// The time at which it was written.
    pub time: Timestamp,
    /// The agent's words, or anchord's if it was written on the session's behalf.
    pub summary: String,
    /// Whether it was written on the session's behalf.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// The number of folded entries that this one replaces; 0 for an ordinary entry.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u32,
}

impl SessionRow {
    /// Yields the text of every entry, the newest first.
    pub fn summaries(&self) -> impl Iterator<Item = &str> {
        let earlier = self.earlier.iter().rev().map(|entry| entry.summary.as_str());
        std::iter::once(self.summary.as_str()).chain(earlier)
    }

    /// Counts the entries before the newest, including folded ones.
    pub fn earlier_count(&self) -> u32 {
        let count = |sum: u32, entry: &TrailEntry| sum.saturating_add(entry.folded.max(1));
        self.earlier.iter().fold(0, count)
    }

    /// Returns the newest entry as a trail entry.
    pub(crate) fn newest(&self) -> TrailEntry {
        TrailEntry {
            time: self.ended,
            summary: self.summary.clone(),
            on_behalf: self.on_behalf,
            folded: 0,
        }
    }

    /// Returns whether the session saved on its own: some entry was not written on its behalf.
    pub(crate) fn saved_itself(&self) -> bool {
        let own = |entry: &TrailEntry| !entry.on_behalf && entry.folded == 0;
        !self.on_behalf || self.earlier.iter().any(own)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
