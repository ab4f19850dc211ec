//! Topics: the state of a thread of work. There is one record for each name, written in parts by
//! any number of sessions.
//!
//! A conversation finds its topic again by a binding: the key of an agent's conversation, and the
//! topic's name.

mod aside;
mod merge;
mod part;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Facts, Fields, Keyed as _, Kind, MergeKey, Searched, Share, Which, accepted_one};
use crate::fold::{clip, digest, fold, one_line};
use crate::forgotten::{LEFT_OUT, beginning};
use crate::ids::{Revision, Timestamp};
use crate::limits::{
    PURGED_LINE_BYTES_MIN, TOPIC_HISTORY_CHARS_MAX, TOPIC_NAME_CHARS_MAX, TOPICS_BYTES_MAX,
    TOPICS_MAX,
};
use crate::omit::is_default;
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

use merge::absorb;

pub(crate) const FACTS: Facts = Facts {
    noun: "topic",
    plural: "topics",
    noun_in_full: "topic",
    heading: "Topics",
    letter: 't',
    limit: (TOPICS_MAX, TOPICS_BYTES_MAX),
    which: Some(Which {
        place: 3,
        line: "| how a thread of work stands, and its open questions | **topic** (status, decisions pending or decided, history, active files) |",
    }),
    share: Share::Topics,
    page_place: 4,
    file_place: 4,
    file_texts: &["status", "overview", "architecture"],
    file_times: &["status_at"],
    local_fields: &[],
};

/// The project's own topic. A part without a name belongs to it, unless another topic is bound.
pub const MAIN: &str = "main";

/// The state of a thread of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// The name in its first spelling. Its folded form identifies the topic.
    pub name: String,
    /// The status: what is done and what is next. Each write with a status overwrites it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The overview: a running description of the work. Each write with one overwrites it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub overview: String,
    /// The architecture: another running description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub architecture: String,
    /// The decisions, one for each question, the last mentioned last. If there are too many, the
    /// oldest are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<TopicDecision>,
    /// The history, oldest first. If there are too many lines, the oldest are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryLine>,
    /// The files being worked on, relative to the project's root, the last mentioned last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A question, with its decision. A decision that answers no question is a statement: its text is
/// the question and the answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicDecision {
    /// The question, on one line. Its folded form identifies it.
    pub question: String,
    /// The decision; `None` while the question is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<String>,
    /// The time at which it was asked or decided. In a part, the epoch means the time of its write.
    #[serde(default)]
    pub time: Timestamp,
}

/// An event in a thread of work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HistoryLine {
    /// The time. In a part, the epoch means the time of its write.
    #[serde(default)]
    pub time: Timestamp,
    /// The event, on one line.
    pub text: String,
    /// The client in which it happened. In a part, an empty name means its writer's.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub client: Arc<str>,
    /// The files that it is about, relative to the project's root, the last mentioned last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Whether it was recorded by rule, not written by an agent. Lines of format 6 do not tell.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_rule: bool,
}

impl HistoryLine {
    /// Creates a line of a part that is recorded by rule, clipped. Its write adds the time and
    /// client.
    pub fn new(text: &str) -> Self {
        let text = clip(&one_line(text), TOPIC_HISTORY_CHARS_MAX);
        Self { by_rule: true, ..Self::written(text) }
    }

    /// Creates a line of a part as an agent wrote it. A line that is too long is refused later.
    pub fn written(text: String) -> Self {
        Self {
            time: Timestamp::default(),
            text,
            client: Arc::from(""),
            files: Vec::new(),
            by_rule: false,
        }
    }

    /// Returns what identifies the line. Lines with the same identity are one.
    fn identity(&self) -> (Timestamp, &str, &str) {
        (self.time, &self.text, &self.client)
    }
}

impl TopicDecision {
    /// Creates a statement of a part: a decision phrased as a sentence.
    pub fn statement(text: &str) -> Self {
        let decided = Some(text.to_owned());
        Self { question: text.to_owned(), decided, time: Timestamp::default() }
    }

    /// Returns whether it is a statement.
    pub fn is_statement(&self) -> bool {
        let key = topic_key(&self.question);
        self.decided.as_deref().is_some_and(|answer| topic_key(answer) == key)
    }
}

/// One write's part of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicPart {
    /// The topic's name. If absent, it is the bound topic or the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The new status, which also becomes a line of the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The new overview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overview: Option<String>,
    /// The new description of the architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The decisions in the order in which they were mentioned. A question may occur several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<TopicDecision>,
    /// History lines to add.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryLine>,
    /// Files to add.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The revision at which the status was staged; `None` if it is not staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Revision>,
    /// A digest of the overview that was stored when this one was staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overview_before: Option<u64>,
    /// A digest of the architecture that was stored when this one was staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture_before: Option<u64>,
    /// A digest of the answer that was stored to each question as it was staged. The keys are
    /// digests of the folded questions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers_before: BTreeMap<u64, u64>,
}

impl TopicPart {
    /// Returns the topic's name, or [`MAIN`].
    pub fn topic(&self) -> &str {
        self.name.as_deref().unwrap_or(MAIN)
    }

    /// Returns whether it has nothing except perhaps a name.
    pub fn is_empty(&self) -> bool {
        self.has_history_alone() && self.history.is_empty()
    }

    /// Returns whether it has nothing except perhaps a name and lines of history.
    pub(crate) fn has_history_alone(&self) -> bool {
        self.own_texts().next().is_none() && self.decisions.is_empty() && self.files.is_empty()
    }

    /// Returns whether an agent wrote it. Lines of history alone are recorded by rule.
    pub fn is_work(&self) -> bool {
        self.history.is_empty() || !self.has_history_alone()
    }

    /// Returns the bytes of all its texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let own = self.name.iter().map(String::as_str).chain(self.own_texts());
        own.map(str::len).sum::<usize>() + lists_bytes(&self.decisions, &self.history, &self.files)
    }

    /// Returns the texts that are rewritten as a whole.
    fn own_texts(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.status, &self.overview, &self.architecture];
        texts.into_iter().filter_map(Option::as_deref)
    }

    /// Fills in missing times and clients with those of the write. The lines of one call get rising
    /// times, since lines are placed by their times.
    pub(crate) fn stamp(&mut self, origin: &Provenance) {
        let unset = Timestamp::default();
        for decision in self.decisions.iter_mut().filter(|decision| decision.time == unset) {
            decision.time = origin.time;
        }
        let mut next = origin.time;
        for line in self.history.iter_mut().filter(|line| line.time == unset) {
            line.time = next;
            next = Timestamp(next.0.saturating_add(1));
            if line.client.is_empty() {
                line.client = origin.client.clone();
            }
        }
    }

    /// Notes the descriptions and answers that are stored as this part is staged, since others may
    /// write them before it is folded.
    pub(crate) fn note_stored(&mut self, stored: Option<&Topic>) {
        let overview = stored.map_or("", |topic| topic.overview.as_str());
        let architecture = stored.map_or("", |topic| topic.architecture.as_str());
        self.overview_before = self.overview.is_some().then(|| digest(overview));
        self.architecture_before = self.architecture.is_some().then(|| digest(architecture));
        let before = |decision: &TopicDecision| {
            let key = topic_key(&decision.question);
            let stored = stored.and_then(|topic| topic.answer_to(&key)).unwrap_or_default();
            (digest(&key), digest(stored))
        };
        let answers = self.decisions.iter().filter(|decision| decision.decided.is_some());
        self.answers_before = answers.map(before).collect();
    }
}

impl Topic {
    /// Returns whether everything that it says was recorded by rule, and nothing by an agent.
    pub(crate) fn is_by_rule(&self) -> bool {
        let is_empty = |text: &String| text.is_empty();
        [&self.status, &self.overview, &self.architecture].into_iter().all(is_empty)
            && self.decisions.is_empty()
            && self.history.iter().all(|line| line.by_rule)
    }

    /// Returns the bytes of all its texts.
    pub(crate) fn text_bytes(&self) -> usize {
        self.name.len()
            + self.status.len()
            + self.overview.len()
            + self.architecture.len()
            + lists_bytes(&self.decisions, &self.history, &self.files)
    }

    /// Returns the answer to the question with this folded form.
    fn answer_to(&self, key: &str) -> Option<&str> {
        let same = |decision: &&TopicDecision| topic_key(&decision.question) == key;
        self.decisions.iter().find(same)?.decided.as_deref()
    }

    /// Returns the open questions, in the order in which they were mentioned.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &TopicDecision> {
        self.decisions.iter().filter(|decision| decision.decided.is_none())
    }

    /// Returns the history without lines that repeat the status. Of consecutive equal lines, only
    /// the last is kept.
    pub(crate) fn distinct_history(&self) -> Vec<&HistoryLine> {
        let status = HistoryLine::new(&self.status).text;
        let mut lines: Vec<&HistoryLine> = Vec::with_capacity(self.history.len());
        for line in self.history.iter().filter(|line| line.text != status) {
            if lines.last().is_some_and(|last| last.text == line.text) {
                lines.pop();
            }
            lines.push(line);
        }
        lines
    }
}

fn lists_bytes(decisions: &[TopicDecision], history: &[HistoryLine], files: &[String]) -> usize {
    let decided = |decision: &TopicDecision| decision.decided.as_ref().map_or(0, String::len);
    let names = |files: &[String]| files.iter().map(String::len).sum::<usize>();
    decisions.iter().map(|it| it.question.len() + decided(it)).sum::<usize>()
        + history.iter().map(|line| line.text.len() + names(&line.files)).sum::<usize>()
        + names(files)
}

/// Returns a topic's name in its stored form. That is one line of 1 to [`TOPIC_NAME_CHARS_MAX`]
/// letters, digits, spaces and `-_./`, which begins with a letter or digit. Case does not
/// distinguish topics.
///
/// # Errors
/// Fails if the text is not such a name, and says why.
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

/// Returns the form of a name that identifies a topic.
pub(crate) fn topic_key(name: &str) -> String {
    fold(name)
}

/// Returns the topic that an unbound conversation gets at a compaction:
/// `session-2026-11-22-ab12cd`. It has the day in UTC and the beginning of the key's SHA-256, so
/// the same conversation gets the same topic all day.
pub fn topic_named_after(key: &str, time: Timestamp) -> String {
    let digest: [u8; 32] = Sha256::digest(key).into();
    format!("session-{}-{}", time.date(), base16ct::lower::encode_string(&digest[..3]))
}

/// Returns whether [`topic_named_after`] generated a topic's name.
pub(crate) fn is_named_after_session(name: &str) -> bool {
    let shape = "session-dddd-dd-dd-xxxxxx";
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte == shape,
    };
    name.len() == shape.len() && name.bytes().zip(shape.bytes()).all(fits)
}

impl Fields for Topic {
    fn key(&self) -> Option<MergeKey> {
        Some(merge_key(&self.name))
    }

    fn text_bytes(&self) -> usize {
        self.text_bytes()
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn searched(&self) -> Searched<'_> {
        let decided = self.decisions.iter().flat_map(decision_texts);
        let history = self.history.iter().map(|line| line.text.as_str());
        let texts = [self.name.as_str(), &self.status, &self.overview, &self.architecture];
        let files: BTreeSet<&str> = all_files(&self.files, &self.history).collect();
        Searched {
            texts: texts.into_iter().chain(decided).chain(history).collect(),
            files: files.into_iter().collect(),
        }
    }

    fn own_texts(&self) -> Vec<&str> {
        let mut texts = vec![self.status.as_str(), &self.overview, &self.architecture];
        texts.extend(self.decisions.iter().flat_map(decision_texts));
        texts.extend(self.history.iter().map(|line| line.text.as_str()));
        texts
    }

    fn other_texts(&self) -> Vec<&str> {
        std::iter::once(self.name.as_str()).chain(all_files(&self.files, &self.history)).collect()
    }

    /// A topic never comes back as a whole, only its parts.
    fn tombstone_texts(&self) -> Vec<String> {
        let telling = self.own_texts().into_iter().filter(|text| self.is_telling(text));
        telling.map(str::to_owned).collect()
    }

    fn telling_bytes_min(&self) -> usize {
        PURGED_LINE_BYTES_MIN
    }

    /// A topic without a status is named by its last line of history.
    fn shorten(&mut self) -> bool {
        let last = self.history.pop();
        self.decisions = Vec::new();
        self.files = Vec::new();
        self.history = Vec::new();
        self.overview = String::new();
        self.architecture = String::new();
        match self.status.trim().lines().next().map(beginning) {
            Some(first) => self.status = format!("{first}\n{LEFT_OUT}"),
            None => self.history = last.into_iter().collect(),
        }
        true
    }

    fn prompt_text(&self) -> String {
        format!("{}. {}", self.name, self.status)
    }

    fn move_files(&mut self, _: &str, within: &dyn Fn(&str) -> Option<String>) -> bool {
        super::move_each(&mut self.files, within);
        for line in &mut self.history {
            super::move_each(&mut line.files, within);
        }
        true
    }

    /// A write also adds a line for its status, which these fields have already.
    fn accepted(&self) -> Result<Body, Refusal> {
        let written = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let part = TopicPart {
            name: Some(self.name.clone()),
            status: written(&self.status),
            overview: written(&self.overview),
            architecture: written(&self.architecture),
            decisions: self.decisions.clone(),
            history: self.history.clone(),
            files: self.files.clone(),
            ..TopicPart::default()
        };
        let mut part = accepted_one(part)?;
        let is_own = |line: &HistoryLine| self.history.iter().any(|own| own.time == line.time);
        part.history.retain(is_own);
        Ok(part.body())
    }

    /// A person may add a decision or a line without a time, or a question twice.
    fn complete(&mut self, now: Timestamp) {
        self.settle(now);
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "id": of.id.to_string(),
            "name": self.name,
            "status": self.status,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, _: &Record, whole: &str, _: Timestamp) -> String {
        format!("- {whole}")
    }
}

/// Returns the merge key of the topic with this name.
pub(crate) fn merge_key(name: &str) -> MergeKey {
    MergeKey::Text(Kind::Topic, topic_key(name).into())
}

/// Returns the texts of a decision. A statement has one.
fn decision_texts(decision: &TopicDecision) -> impl Iterator<Item = &str> {
    let answer = decision.decided.as_deref().filter(|answer| *answer != decision.question);
    std::iter::once(decision.question.as_str()).chain(answer)
}

/// Returns the files of a topic or a part: the active ones, and those of its history.
fn all_files<'a>(
    active: &'a [String],
    history: &'a [HistoryLine],
) -> impl Iterator<Item = &'a str> {
    active.iter().chain(history.iter().flat_map(|line| &line.files)).map(String::as_str)
}

/// Returns the texts in a write to a topic, except its name.
fn part_texts(part: &TopicPart) -> Vec<&str> {
    let mut texts: Vec<&str> = part.own_texts().collect();
    texts.extend(part.decisions.iter().flat_map(decision_texts));
    texts.extend(part.history.iter().map(|line| line.text.as_str()));
    texts
}

#[cfg(test)]
mod tests;
