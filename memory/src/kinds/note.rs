//! Notes: anything else worth keeping. With a key a note is a fact, replaced in place and
//! versioned.

mod detect;
mod expiry;
mod intake;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Facts, Fields, MergeKey, Searched, Share, Which, accepted_one};
use crate::fold::{clip, names_path};
use crate::forgotten::{beginning, shorten};
use crate::ids::{Revision, SessionId, Timestamp};
use crate::limits::{FORGOTTEN_BYTES_MAX, IMPORTANCE, NOTES_BYTES_MAX, NOTES_MAX};
use crate::omit::is_default;
use crate::record::{Body, Record};
use crate::refusal::Refusal;
use crate::tokens;

pub(crate) use detect::auto_tags;
pub use detect::detect;
pub use expiry::{Expires, ParseExpiryError};
pub(crate) use intake::{
    accept_note, accept_tags, content_fits, key_line, summary_text, valid_importance,
};
pub use intake::{tag_as_kept, tags_as_kept};

pub(crate) const FACTS: Facts = Facts {
    noun: "note",
    plural: "notes",
    noun_in_full: "note",
    heading: "Notes",
    letter: 'n',
    limit: (NOTES_MAX, NOTES_BYTES_MAX),
    which: Some(Which {
        place: 4,
        line: "| anything else worth having again; with a key it is a fact, replaced in place and versioned | **note** |",
    }),
    share: Share::Facts,
    page_place: 2,
    file_place: 3,
    file_texts: &["content"],
    file_times: &[],
    local_fields: &["condensed", "content_type", "repeats", "scope", "summary_tokens", "tokens"],
};

/// Anything worth keeping that fits no other kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The content, verbatim.
    pub content: String,
    /// The text shown instead of the content when room is short; empty if nobody wrote one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The key that makes the note a fact: a later write with the same key replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The importance, from 1 to 10.
    pub importance: u8,
    /// The detected type of the content.
    #[serde(default)]
    pub content_type: ContentType,
    /// Tokens of the content.
    #[serde(default)]
    pub tokens: u32,
    /// Tokens of the summary.
    #[serde(default, skip_serializing_if = "is_default")]
    pub summary_tokens: u32,
    /// The note's readers.
    #[serde(default, skip_serializing_if = "Scope::is_project")]
    pub scope: Scope,
    /// The time from which it is marked as expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The number of times that the same note was written again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeats: u32,
    /// Whether the summary replaces the content, to save budget. The content is available by the
    /// id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub condensed: bool,
    /// The digest of the file that the key names, at the time when the note was written. The note
    /// is that file's summary while the file has this digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_digest: Option<String>,
}

impl Note {
    /// Returns the budget tokens that it takes while it is active.
    pub fn budget_tokens(&self) -> u32 {
        if self.condensed { self.summary_tokens } else { self.tokens }
    }

    /// Returns the bytes that count towards the limit on notes.
    pub fn text_bytes(&self) -> usize {
        self.content.len() + self.summary.len()
    }

    /// Returns whether the note has expired.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        has_ended(self.expires, now)
    }

    /// Returns whether two notes have the same texts and attributes. The number of repeats, and
    /// whether a summary replaces the content, do not count.
    pub(crate) fn content_eq(&self, other: &Self) -> bool {
        (&self.content, &self.summary, &self.key) == (&other.content, &other.summary, &other.key)
            && (self.importance, &self.scope, self.expires)
                == (other.importance, &other.scope, other.expires)
            && self.file_digest == other.file_digest
    }

    /// Sets the content, with its type and token count.
    pub(crate) fn set_content(&mut self, content: String) {
        self.content_type = detect(&content);
        self.tokens = tokens::count(&content);
        self.content = content;
        self.condensed = false;
    }

    /// Sets the summary, with its token count.
    pub(crate) fn set_summary(&mut self, summary: String) {
        self.summary_tokens = tokens::count(&summary);
        self.condensed = self.condensed && !summary.is_empty();
        self.summary = summary;
    }
}

/// The readers of a note.
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
    /// Returns the only session that sees the note, if it is private.
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

/// The type of a note's content, which decides how long it stays fresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentType {
    /// An error report.
    Error,
    /// Source text.
    Code,
    /// A decision.
    Decision,
    /// The output of a command.
    ToolOutput,
    /// Anything else.
    #[default]
    Prose,
}

impl ContentType {
    /// Returns the name that agents see, which is also the tag.
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

/// A note as an agent sends it.
#[expect(clippy::struct_excessive_bools, reason = "each is given by itself, and stands so on disk")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewNote {
    /// The content, verbatim; may not be blank.
    pub content: String,
    /// See [`Note::summary`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// See [`Note::key`](field@Note::key).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The tags. If there are none, some are found in the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The importance, from 1 to 10; [`IMPORTANCE`] if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<u8>,
    /// See [`Note::expires`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Whether the note was explicitly said not to expire, which cancels an earlier expiry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasts: bool,
    /// See [`Record::pinned`](crate::Record::pinned).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether only the writing session sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Whether it belongs to the user, in every project. Such a note is never staged; it goes
    /// straight into the user's own store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub personal: bool,
    /// The number of times that the same note was staged again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeats: u32,
    /// See [`Note::file_digest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_digest: Option<String>,
    /// The revision at which a fact was staged. `None` if it is not staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Revision>,
}

/// Returns whether an expiry has passed.
fn has_ended(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires.is_some_and(|expires| expires <= now)
}

impl NewNote {
    /// Returns whether the note has expired, like [`Note::is_expired`].
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        has_ended(self.expires, now)
    }

    /// Returns the bytes that count towards limits.
    pub fn text_bytes(&self) -> usize {
        self.content.len() + self.summary.len()
    }

    /// Returns the note's future scope.
    pub(crate) fn scope(&self, session: &SessionId) -> Scope {
        match (self.personal, self.private) {
            (true, _) => Scope::User,
            (false, true) => Scope::Session(session.clone()),
            (false, false) => Scope::Project,
        }
    }

    /// Returns the note that it becomes if there is none to merge with.
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
            file_digest: self.file_digest.clone(),
        }
    }

    /// Returns its tags, or tags found in the content if it has none.
    pub(crate) fn tags(&self) -> Vec<String> {
        if self.tags.is_empty() { auto_tags(&self.content) } else { self.tags.clone() }
    }
}

impl Fields for Note {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::note(&self.scope, self.key.as_deref(), &self.content))
    }

    fn text_bytes(&self) -> usize {
        self.text_bytes() + self.key.as_ref().map_or(0, String::len)
    }

    fn name(&self) -> String {
        format!("{} {}", self.key.as_deref().unwrap_or_default(), self.summary)
    }

    fn secret_name(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn order(&self) -> String {
        clip(&self.content, 100)
    }

    fn searched(&self) -> Searched<'_> {
        let key = self.key.as_deref().unwrap_or_default();
        Searched { texts: vec![key, &self.summary, &self.content], files: Vec::new() }
    }

    fn concerns(&self, file: &str) -> bool {
        names_path(&self.content, file)
    }

    fn file_text(&self) -> String {
        format!("{} {}", self.summary, self.content)
    }

    fn own_texts(&self) -> Vec<&str> {
        vec![&self.content, &self.summary]
    }

    fn other_texts(&self) -> Vec<&str> {
        self.key.as_deref().into_iter().collect()
    }

    fn tombstone_texts(&self) -> Vec<String> {
        self.telling(self.content.clone())
    }

    fn shorten(&mut self) -> bool {
        shorten(&mut self.content);
        if self.summary.len() > FORGOTTEN_BYTES_MAX {
            self.summary = beginning(&self.summary);
        }
        true
    }

    fn prompt_text(&self) -> String {
        self.error_text()
    }

    fn error_text(&self) -> String {
        let key = self.key.as_deref().unwrap_or_default();
        format!("{key} {} {}", self.summary, self.content)
    }

    fn content_type(&self) -> ContentType {
        self.content_type
    }

    fn worth_bytes(&self) -> usize {
        self.content.len()
    }

    fn complete(&mut self, _: Timestamp) {
        self.content_type = detect(&self.content);
        self.tokens = tokens::count(&self.content);
        self.set_summary(self.summary.clone());
    }

    fn accepted(&self) -> Result<Body, Refusal> {
        let accepted = accepted_one(NewNote {
            content: self.content.clone(),
            summary: self.summary.clone(),
            key: self.key.clone(),
            importance: Some(self.importance),
            ..NewNote::default()
        })?;
        let mut note = Self { key: accepted.key, ..self.clone() };
        note.set_summary(accepted.summary);
        Ok(Body::Note(note))
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "id": of.id.to_string(),
            "key": self.key,
            "content": self.content,
            "summary": self.summary,
            "tags": of.tags,
            "importance": self.importance,
            "pinned": of.pinned,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, _: &Record, whole: &str, now: Timestamp) -> String {
        let expired = if self.is_expired(now) { "[EXPIRED] " } else { "" };
        format!("- {expired}{whole}")
    }
}

impl Note {
    /// Merges the note's next version. A fact is replaced, except for a pin and an importance that
    /// the new version leaves out.
    ///
    /// A repeated content gains what the new version adds. It keeps its expiry, unless the new
    /// version sets or cancels it, or `sent` is after it.
    pub(crate) fn rewrite(
        &mut self,
        new: &NewNote,
        tags: &mut Vec<String>,
        pinned: &mut bool,
        sent: Timestamp,
    ) {
        let is_fact = self.key.is_some();
        if is_fact || !new.tags.is_empty() {
            *tags = new.tags();
        }
        if is_fact || !new.summary.is_empty() {
            self.set_summary(new.summary.clone());
        }
        if !is_fact {
            self.repeats = self.repeats.saturating_add(new.repeats).saturating_add(1);
        }
        self.set_content(new.content.clone());
        self.file_digest.clone_from(&new.file_digest);
        self.importance = new.importance.unwrap_or(self.importance);
        let over = is_fact || new.lasts || self.is_expired(sent);
        self.expires = new.expires.or(self.expires.filter(|_| !over));
        *pinned |= new.pinned;
    }
}

impl NewNote {
    /// Merges like [`Note::rewrite`], for a note that is not in memory yet.
    pub(crate) fn unite(&mut self, later: &Self, sent: Timestamp) {
        let is_fact = self.key.is_some();
        if is_fact || !later.tags.is_empty() {
            self.tags.clone_from(&later.tags);
        }
        if is_fact || !later.summary.is_empty() {
            self.summary.clone_from(&later.summary);
        }
        if !is_fact {
            self.repeats = self.repeats.saturating_add(later.repeats).saturating_add(1);
        }
        self.content.clone_from(&later.content);
        self.file_digest.clone_from(&later.file_digest);
        self.importance = later.importance.or(self.importance);
        let over = later.lasts || self.is_expired(sent);
        self.lasts = later.lasts || (!is_fact && (self.lasts || over) && later.expires.is_none());
        self.expires = later.expires.or(self.expires.filter(|_| !is_fact && !over));
        self.pinned |= later.pinned;
        self.staged = later.staged;
    }
}

impl NewNote {
    /// Returns the bytes that it adds to the stored notes, unless it merges.
    pub(crate) fn record_bytes(&self) -> usize {
        let tags = self.tags.iter().map(String::len).sum::<usize>();
        self.text_bytes() + self.key.as_ref().map_or(0, String::len) + tags
    }
}

#[cfg(test)]
impl crate::testing::Sample for NewNote {
    fn any() -> proptest::prelude::BoxedStrategy<Self> {
        use proptest::prelude::*;

        use crate::testing::{day, words};

        let key = prop::option::of(prop::sample::select(vec!["build", "port"]));
        let tags = prop::collection::vec(prop::sample::select(vec!["auth", "db"]), 0..2);
        let importance = prop::option::of(1_u8..=10);
        // Absent, never, or a day.
        let expiry = prop::option::of(prop::option::of(5_i64..8));
        (words(), key, tags, importance, any::<bool>(), expiry)
            .prop_map(|(content, key, tags, importance, pinned, expiry)| NewNote {
                key: key.map(str::to_owned),
                tags: tags.into_iter().map(str::to_owned).collect(),
                importance,
                // Any condition will do that is sometimes true and sometimes false.
                private: content.len() % 3 == 0,
                pinned,
                expires: expiry.flatten().map(day),
                lasts: expiry == Some(None),
                content,
                ..NewNote::default()
            })
            .boxed()
    }

    fn of_size(name: &str, bytes: usize) -> Self {
        Self { content: format!("{name} {}", "x".repeat(bytes)), ..Self::default() }
    }
}
