//! Records: one unit of memory each, with an id, a version and where it came from.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::captured::Captured;
use crate::ids::{Kind, RecordId, Revision, SessionId, Timestamp, Version};
use crate::lines::LineRange;
use crate::note::{Note, Scope};
use crate::provenance::Provenance;
use crate::topic::Topic;

/// One unit of memory at one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Never changes.
    pub id: RecordId,
    /// Rises by one with each change of the body or standing.
    pub version: Version,
    /// The commit that wrote this version.
    pub revision: Revision,
    /// The version that first said what this one says; none where this one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// When and by whom the record was first written.
    pub created: Provenance,
    /// When and by whom this version was written; compaction, which writes no text, leaves it as it was.
    pub updated: Provenance,
    /// Loaded, set aside, or forgotten.
    #[serde(default, skip_serializing_if = "Standing::is_active")]
    pub standing: Standing,
    /// Words it is found by besides its text, lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Never archived by a budget, and first in a load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// The kind's own fields.
    pub body: Body,
}

/// A version, and the commit that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The record was at it then.
    pub version: Version,
    /// The project was at it then.
    pub revision: Revision,
}

impl Record {
    /// What the record is.
    pub fn kind(&self) -> Kind {
        self.id.kind
    }

    /// The note, if it is one.
    pub fn note(&self) -> Option<&Note> {
        match &self.body {
            Body::Note(note) => Some(note),
            _ => None,
        }
    }

    /// Whether it is a session row or a lesson made by rule, which nobody wrote.
    pub fn is_captured(&self) -> bool {
        match &self.body {
            Body::SessionRow(row) => row.captured.is_some(),
            Body::Lesson(lesson) => lesson.captured.is_some(),
            _ => false,
        }
    }

    /// The topic, if it is one.
    pub fn topic(&self) -> Option<&Topic> {
        match &self.body {
            Body::Topic(topic) => Some(topic),
            _ => None,
        }
    }

    /// The version that first said what this one says: it or an earlier one, of which only the standing is another.
    pub fn first_said(&self) -> Said {
        self.said.unwrap_or(Said { version: self.version, revision: self.revision })
    }

    /// Says of a version that it follows another, which may have said the same. That a record was forgotten is news.
    pub(crate) fn follow(&mut self, before: &Self) {
        let kept = |record: &Self| record.standing != Standing::Forgotten;
        let same = kept(before) && kept(self) && before.says_the_same(self);
        self.said = same.then(|| before.first_said());
    }

    /// Whether two versions differ at most in how the record stands: archived or not, shown by its summary or whole, and
    /// how often it was told.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let same_body = match (&self.body, &other.body) {
            (Body::Note(one), Body::Note(other)) => one.says_the_same(other),
            (one, other) => one == other,
        };
        same_body && (&self.tags, self.pinned) == (&other.tags, other.pinned)
    }

    /// Whether it belongs to the user and to no project.
    pub fn is_personal(&self) -> bool {
        self.id.is_personal() || self.note().is_some_and(|note| note.scope == Scope::User)
    }

    /// The session that alone sees it; `None` when the project shares it.
    pub fn owner(&self) -> Option<&SessionId> {
        self.note().and_then(|note| note.scope.session())
    }
}

/// The three ways a record can stand; purged ones are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Loaded and counted.
    #[default]
    Active,
    /// Out of load and budget, still found; active again when used.
    Archived,
    /// Out of search, in history.
    Forgotten,
}

impl Standing {
    /// Whether the record is loaded and counted.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }
}

/// The fields of each kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Kept verbatim.
    Blueprint(Blueprint),
    /// Coordinates, not code.
    Anchor(Anchor),
    /// What a failure taught.
    Lesson(Lesson),
    /// Anything else.
    Note(Note),
    /// How a thread of work stands.
    Topic(Topic),
    /// What a session did.
    SessionRow(SessionRow),
}

impl Body {
    /// The kind these fields belong to.
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

/// What a blueprint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// How the parts hang together.
    Architecture,
    /// The shape of data.
    Schema,
    /// What was decided, and why.
    Decision,
    /// How things are done here.
    Convention,
    /// What is depended on.
    Dependency,
}

impl Category {
    /// All categories, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Architecture, Self::Schema, Self::Decision, Self::Convention, Self::Dependency];
}

impl Category {
    /// The name that agents write.
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

/// The text names no category.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is none of the categories architecture, schema, decision, convention, dependency: `{0}`")]
pub struct ParseCategoryError(String);

impl FromStr for Category {
    type Err = ParseCategoryError;

    /// In any case, also by the first four letters or more, `ARCH`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_lowercase();
        Self::ALL
            .into_iter()
            .find(|category| wanted.len() >= 4 && category.name().starts_with(&wanted))
            .ok_or_else(|| ParseCategoryError(text.chars().take(40).collect()))
    }
}

/// Something settled and lasting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blueprint {
    /// What it is about.
    pub category: Category,
    /// One line; with the category it is the blueprint's identity.
    pub title: String,
    /// Verbatim, never rewritten by anchord.
    pub content: String,
    /// Kept as it is until a write says `immutable: false`.
    pub immutable: bool,
}

/// Where some code is and why it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Relative to the project's root, with forward slashes.
    pub file: String,
    /// The lines, or the text that was given instead of lines.
    pub lines: LineRange,
    /// Why they matter, one line.
    pub concept: String,
}

/// What a failure taught.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// One line; its folded form is the lesson's identity.
    pub summary: String,
    /// More, if there is more.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Files it concerns, relative to the project's root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The failure that was fixed, if the lesson was made by rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<FixedFailure>>,
}

/// A failure that the daemon saw being fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedFailure {
    /// The command that failed and later passed.
    pub command: String,
    /// The line of its output that identifies the error.
    pub error: String,
    /// Command that succeeded in between and is related to the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Number of times it was fixed.
    pub times: u32,
    /// Time of the last fix.
    pub last: Timestamp,
}

/// A session and its trail: an entry for each save, and for each end without a save.
///
/// The newest entry is in the row's own fields, where builds that do not know trails find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Counts the project's sessions, from 1: shown as `S3`.
    pub number: u64,
    /// The session itself; one row each.
    pub session: SessionId,
    /// Its first write.
    pub started: Timestamp,
    /// Its last save, or when its work was kept: the time of the newest entry.
    pub ended: Timestamp,
    /// Text of the newest entry: the agent's words, or anchord's if it was written on its behalf.
    pub summary: String,
    /// Whether the newest entry was written on the session's behalf, since it ended without a save.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// Everything noted by rule. Present only if all entries were made from it, none by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<Captured>>,
    /// Entries before the newest, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<TrailEntry>,
    /// New blueprints in this session.
    #[serde(default)]
    pub blueprints_added: u32,
    /// New anchors in this session.
    #[serde(default)]
    pub anchors_added: u32,
    /// New lessons in this session.
    #[serde(default)]
    pub lessons_added: u32,
    /// How many rows this one stands for, when old rows were folded into it; 0 for a session's own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u32,
}

/// An entry of a session row's trail before the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailEntry {
    /// Time at which it was written.
    pub time: Timestamp,
    /// The agent's words, or anchord's if it was written on the session's behalf.
    pub summary: String,
    /// Whether it was written on the session's behalf.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// Number of folded entries that this one replaces; 0 for an ordinary entry.
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

    /// Whether the session saved by itself: some entry was not written on its behalf.
    pub(crate) fn saved_itself(&self) -> bool {
        let own = |entry: &TrailEntry| !entry.on_behalf && entry.folded == 0;
        !self.on_behalf || self.earlier.iter().any(own)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
