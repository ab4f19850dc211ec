//! Records: one unit of memory each, with an id, a version and its provenance.

use serde::{Deserialize, Serialize};

use crate::ids::{Kind, RecordId, Revision, SessionId, ShareId, Version};
use crate::kinds::{Fields, MergeKey, Scope, SeenFiles, each_kind};
use crate::provenance::Provenance;

pub(crate) use crate::kinds::{
    Anchor, Blueprint, Category, FixedFailure, Lesson, Note, Rule, SessionRow, Topic, TrailEntry,
};

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
    /// The id under which clones share it, if it came from a shared file. Others derive theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_id: Option<ShareId>,
    /// Whether this is the head of a forgotten record, which lacks most of its text. The whole
    /// record is in the journal, under the same version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_head: bool,
    /// Whether the daemon made it and it stays on this machine, though a team shares the project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
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

    /// Returns whether nobody wrote any of its text: it is captured, or a topic made by rule.
    pub(crate) fn is_by_rule(&self) -> bool {
        self.is_captured() || self.topic().is_some_and(Topic::is_by_rule)
    }

    /// Returns whether an undo took its creation back. It is forgotten, and nobody has judged it:
    /// an undo keeps the time of the creation, while forgetting has its own.
    pub(crate) fn is_taken_back(&self) -> bool {
        self.state == RecordState::Forgotten && self.updated.time == self.created.time
    }

    /// Returns the rule, if it is one.
    pub fn rule(&self) -> Option<&Rule> {
        match &self.body {
            Body::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    /// Returns the anchor, if it is one.
    pub fn anchor(&self) -> Option<&Anchor> {
        match &self.body {
            Body::Anchor(anchor) => Some(anchor),
            _ => None,
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
            (Body::Anchor(one), Body::Anchor(other)) => one.content_eq(other),
            (Body::Lesson(one), Body::Lesson(other)) => one.content_eq(other),
            (Body::Blueprint(one), Body::Blueprint(other)) => one.content_eq(other),
            (one, other) => one == other,
        };
        same_body && (&self.tags, self.pinned) == (&other.tags, other.pinned)
    }

    /// Returns whether `other`, under the same id, cannot be this version or one that follows it.
    /// The two are then of copies that went different ways.
    pub fn contradicts(&self, other: &Self) -> bool {
        self.created != other.created
            || self.version > other.version
            || self.version == other.version && self.updated != other.updated
    }

    /// Returns whether it belongs to the user and not to a project.
    pub fn is_personal(&self) -> bool {
        self.id.is_personal() || self.note().is_some_and(|note| note.scope == Scope::User)
    }

    /// Returns whether it stays on this machine where a team shares the project: a session's own
    /// note, or a record made from recorded activity.
    pub fn is_private(&self) -> bool {
        self.private || self.owner().is_some()
    }

    /// Returns whether it must stay on this machine once a team shares the project.
    pub fn stays_here(&self) -> bool {
        self.is_private() || self.is_personal() || self.body.stays_here()
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

macro_rules! body {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        /// The fields of each kind.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Body {
            $($(#[$doc])* $kind(crate::kinds::$kind),)*
        }

        impl Body {
            /// Returns the kind that these fields belong to.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind(_) => Kind::$kind,)*
                }
            }

            pub(crate) fn fields(&self) -> &dyn Fields {
                match self {
                    $(Self::$kind(fields) => fields,)*
                }
            }

            pub(crate) fn fields_mut(&mut self) -> &mut dyn Fields {
                match self {
                    $(Self::$kind(fields) => fields,)*
                }
            }
        }
    };
}
each_kind!(body);

impl Body {
    /// Returns whether a record with these fields stays on this machine where a team shares the
    /// project. Those are a session's own notes, and what the daemon writes on its own.
    pub(crate) fn stays_here(&self) -> bool {
        match self {
            Self::Note(note) => note.scope.session().is_some(),
            Self::Lesson(lesson) => lesson.captured.is_some(),
            Self::SessionRow(row) => row.captured.is_some() || row.on_behalf,
            _ => false,
        }
    }

    /// Returns the texts that are specific to the record.
    pub fn own_texts(&self) -> Vec<&str> {
        self.fields().own_texts()
    }

    /// Returns the files that the record names, as they were when it was written; `None` for kinds
    /// that do not keep them.
    pub fn seen_files(&self) -> Option<&SeenFiles> {
        match self {
            Self::Lesson(lesson) => Some(&lesson.seen),
            Self::Blueprint(blueprint) => Some(&blueprint.seen),
            _ => None,
        }
    }

    /// Returns them to change what is shown of them.
    pub fn seen_files_mut(&mut self) -> Option<&mut SeenFiles> {
        match self {
            Self::Lesson(lesson) => Some(&mut lesson.seen),
            Self::Blueprint(blueprint) => Some(&mut blueprint.seen),
            _ => None,
        }
    }

    /// Returns the property that two merging records share; `None` if no other merges with this
    /// one.
    pub(crate) fn key(&self) -> Option<MergeKey> {
        self.fields().key()
    }
}
