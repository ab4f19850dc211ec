//! Topics: how a thread of work stands. One record for each name, written a part at a time by any number of sessions.
//!
//! A thread finds its topic again by a binding: the key of an agent's conversation, and the topic's name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::fold::{clip, fold, one_line};
use crate::ids::Timestamp;
use crate::limits::{TOPIC_HISTORY_CHARS_MAX, TOPIC_NAME_CHARS_MAX};
use crate::provenance::Provenance;
use crate::refusal::Refusal;

/// The project's own thread: what a part without a name is of, where no topic is bound.
pub const MAIN: &str = "main";

/// How a thread of work stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// As it was first spelt; its folded form is the topic's identity.
    pub name: String,
    /// What is done and what is next, overwritten by each write that says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// By question, the one mentioned last at the end; the oldest go when there are too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<TopicDecision>,
    /// What happened, oldest first; the oldest go when there are too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryLine>,
    /// Files being worked on, relative to the project's root, the one mentioned last at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A question, and what was decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicDecision {
    /// One line; its folded form tells it from others.
    pub question: String,
    /// `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<String>,
    /// When it was asked, or decided. The epoch in a part: the time of its write.
    #[serde(default)]
    pub time: Timestamp,
}

/// Something that happened in a thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HistoryLine {
    /// When. The epoch in a part: the time of its write.
    #[serde(default)]
    pub time: Timestamp,
    /// One line.
    pub text: String,
    /// The client it happened in; empty in a part: its writer's.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
}

impl HistoryLine {
    /// A line of a part, clipped: its write gives it time and client.
    pub fn new(text: &str) -> Self {
        let text = clip(&one_line(text), TOPIC_HISTORY_CHARS_MAX);
        Self { time: Timestamp::default(), text, client: Arc::from("") }
    }
}

/// What one write says of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicPart {
    /// The topic; the project's own thread, or the bound topic, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Replaces the status; each status is a line of the history as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// In the order in which they were mentioned; one question may stand here several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<TopicDecision>,
    /// To be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryLine>,
    /// To be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl TopicPart {
    /// The name of the topic that it is of.
    pub fn topic(&self) -> &str {
        self.name.as_deref().unwrap_or(MAIN)
    }

    /// Whether it says nothing but, perhaps, a name.
    pub fn is_empty(&self) -> bool {
        self.status.is_none()
            && self.decisions.is_empty()
            && self.history.is_empty()
            && self.files.is_empty()
    }

    /// Whether an agent said something of it: lines of history alone are noted by rule.
    pub fn is_work(&self) -> bool {
        self.history.is_empty()
            || self.status.is_some()
            || !self.decisions.is_empty()
            || !self.files.is_empty()
    }

    /// Bytes of all its texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let own =
            self.name.as_ref().map_or(0, String::len) + self.status.as_ref().map_or(0, String::len);
        own + lists_bytes(&self.decisions, &self.history, &self.files)
    }

    /// Gives what has no time or client yet those of its write.
    pub(crate) fn stamp(&mut self, origin: &Provenance) {
        let unset = Timestamp::default();
        for decision in self.decisions.iter_mut().filter(|decision| decision.time == unset) {
            decision.time = origin.time;
        }
        for line in self.history.iter_mut().filter(|line| line.time == unset) {
            line.time = origin.time;
            if line.client.is_empty() {
                line.client = origin.client.clone();
            }
        }
    }
}

impl Topic {
    /// Bytes of all its texts.
    pub(crate) fn text_bytes(&self) -> usize {
        self.name.len()
            + self.status.len()
            + lists_bytes(&self.decisions, &self.history, &self.files)
    }

    /// The questions that are open, in the order in which they were mentioned.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &TopicDecision> {
        self.decisions.iter().filter(|decision| decision.decided.is_none())
    }
}

fn lists_bytes(decisions: &[TopicDecision], history: &[HistoryLine], files: &[String]) -> usize {
    let decided = |decision: &TopicDecision| decision.decided.as_ref().map_or(0, String::len);
    decisions.iter().map(|it| it.question.len() + decided(it)).sum::<usize>()
        + history.iter().map(|line| line.text.len()).sum::<usize>()
        + files.iter().map(String::len).sum::<usize>()
}

/// A topic's name as it is kept: one line of 1 to [`TOPIC_NAME_CHARS_MAX`] letters, digits, spaces and `-_./`, that
/// begins with a letter or digit. Case does not tell topics apart.
///
/// # Errors
/// When it is none, with what is wrong.
pub fn topic_name(name: &str) -> Result<String, Refusal> {
    let name = one_line(name);
    let chars = name.chars().count();
    let refused = |why: String| Err(Refusal::invalid("topic name", why));
    if name.is_empty() {
        return refused("is empty; leave it out for the project's own thread, `main`".to_owned());
    }
    if chars > TOPIC_NAME_CHARS_MAX {
        return refused(format!("has {chars} characters, {TOPIC_NAME_CHARS_MAX} are allowed"));
    }
    let odd = |c: &char| !c.is_alphanumeric() && !matches!(c, ' ' | '-' | '_' | '.' | '/');
    if let Some(odd) = name.chars().find(odd) {
        return refused(format!("has `{odd}` in it; use letters, digits, spaces and - _ . /"));
    }
    if !name.starts_with(char::is_alphanumeric) {
        return refused("has to begin with a letter or digit".to_owned());
    }
    Ok(name)
}

/// What tells topics apart.
pub(crate) fn topic_key(name: &str) -> String {
    fold(name)
}

/// The topic that a thread without one gets at a compaction: `session-2026-11-22-ab12cd`, the day in UTC and the
/// beginning of the key's SHA-256, so that the same thread on the same day gets the same.
pub fn topic_named_after(key: &str, time: Timestamp) -> String {
    let digest: String =
        Sha256::digest(key.as_bytes()).iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    format!("session-{}-{digest}", time.date())
}

/// Whether a topic has a name that [`topic_named_after`] gives.
pub(crate) fn is_named_after_session(name: &str) -> bool {
    let shape = "session-dddd-dd-dd-xxxxxx";
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte == shape,
    };
    name.len() == shape.len() && name.bytes().zip(shape.bytes()).all(fits)
}

#[cfg(test)]
mod tests;
