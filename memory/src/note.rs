//! Notes: anything else worth having again. With a key a note is a fact, replaced in place and versioned.

mod detect;
mod expiry;
mod intake;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, Timestamp};
use crate::limits::IMPORTANCE;
use crate::tokens;

pub use detect::{auto_tags, detect};
pub use expiry::{Expires, ParseExpiryError};
pub use intake::tag_as_kept;
pub(crate) use intake::{
    accept_note, accept_tags, content_fits, key_line, summary_text, valid_importance,
};

/// Anything worth having again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Verbatim.
    pub content: String,
    /// What stands for the content when room is short; empty when nobody wrote one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Makes it a fact: a later write with the key replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// From 1 to 10.
    pub importance: u8,
    /// What the content looks like.
    pub content_type: ContentType,
    /// Tokens of the content.
    pub tokens: u32,
    /// Tokens of the summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub summary_tokens: u32,
    /// Who sees it.
    #[serde(default, skip_serializing_if = "Scope::is_project")]
    pub scope: Scope,
    /// From then on it is marked as expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// How often the same was written again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u32,
    /// Its summary stands for it, to save budget; the content is there by its id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub condensed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Note {
    /// Tokens it takes of the budget while it is active.
    pub fn budget_tokens(&self) -> u32 {
        if self.condensed { self.summary_tokens } else { self.tokens }
    }

    /// Bytes that count towards the limit on notes.
    pub fn text_bytes(&self) -> usize {
        self.content.len() + self.summary.len()
    }

    /// Whether it says of itself that it no longer holds.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        has_ended(self.expires, now)
    }

    /// Whether two notes have the same texts and the same to say of them. How often they were told, and whether a summary
    /// stands for the content, is none of it.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        (&self.content, &self.summary, &self.key) == (&other.content, &other.summary, &other.key)
            && (self.importance, &self.scope, self.expires)
                == (other.importance, &other.scope, other.expires)
    }

    /// Puts a text in the place of the content, with what follows from it.
    pub(crate) fn set_content(&mut self, content: String) {
        self.content_type = detect(&content);
        self.tokens = tokens::count(&content);
        self.content = content;
        self.condensed = false;
    }

    /// Puts a text in the place of the summary.
    pub(crate) fn set_summary(&mut self, summary: String) {
        self.summary_tokens = tokens::count(&summary);
        self.condensed = self.condensed && !summary.is_empty();
        self.summary = summary;
    }
}

/// Who sees a note.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every session of the project.
    #[default]
    Project,
    /// This session alone.
    Session(SessionId),
    /// Every session of the user, in every project. The note is in the user's own store.
    User,
}

impl Scope {
    /// The session that alone sees it.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Project | Self::User => None,
            Self::Session(session) => Some(session),
        }
    }

    fn is_project(&self) -> bool {
        matches!(self, Self::Project)
    }
}

/// What a note's content looks like, which decides how long it stays fresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentType {
    /// Something went wrong.
    Error,
    /// Source text.
    Code,
    /// What was decided.
    Decision,
    /// What a command printed.
    ToolOutput,
    /// Anything else.
    #[default]
    Prose,
}

impl ContentType {
    /// The name that agents see; also the tag.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Code => "code",
            Self::Decision => "decision",
            Self::ToolOutput => "tool-output",
            Self::Prose => "prose",
        }
    }
}

/// A note as an agent gives it.
#[expect(clippy::struct_excessive_bools, reason = "each is given by itself, and stands so on disk")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewNote {
    /// Verbatim; may not be blank.
    pub content: String,
    /// See [`Note::summary`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// See [`Note::key`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When none are given, some are found in the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// From 1 to 10; [`IMPORTANCE`] when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<u8>,
    /// See [`Note::expires`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// It was said not to expire, which an earlier telling may have said otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasts: bool,
    /// See [`Record::pinned`](crate::Record::pinned).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// For the session that writes alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Belongs to the user, in every project. Such a note is never staged; it goes straight into
    /// the user's own store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub personal: bool,
    /// How often the same was staged again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u32,
}

/// Whether what ends at a time, or never, has ended.
fn has_ended(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires.is_some_and(|expires| expires <= now)
}

impl NewNote {
    /// As [`Note::is_expired`].
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        has_ended(self.expires, now)
    }

    /// Bytes that count towards limits.
    pub fn text_bytes(&self) -> usize {
        self.content.len() + self.summary.len()
    }

    /// Who will see it.
    pub(crate) fn scope(&self, session: &SessionId) -> Scope {
        match (self.personal, self.private) {
            (true, _) => Scope::User,
            (false, true) => Scope::Session(session.clone()),
            (false, false) => Scope::Project,
        }
    }

    /// The note that it becomes when there is none to merge with.
    pub(crate) fn note(&self, session: &SessionId) -> Note {
        Note {
            content: self.content.clone(),
            summary: self.summary.clone(),
            key: self.key.clone(),
            importance: self.importance.unwrap_or(IMPORTANCE),
            content_type: detect(&self.content),
            tokens: tokens::count(&self.content),
            summary_tokens: tokens::count(&self.summary),
            scope: self.scope(session),
            expires: self.expires,
            repeats: self.repeats,
            condensed: false,
        }
    }

    /// Its tags, found in the content when none were given.
    pub(crate) fn tags(&self) -> Vec<String> {
        if self.tags.is_empty() { auto_tags(&self.content) } else { self.tags.clone() }
    }
}
