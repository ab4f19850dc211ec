//! Parameters that several tools share, and their conversion to domain types.

use anchord_memory::{
    Anchor, Blueprint, Category, Expires, Kind, Lesson, NewNote, Refusal, Staged, Timestamp,
    TopicDecision, TopicPart, limits, tag_as_kept,
};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::mcp::input::whole_number;

/// Returns tags in their stored form, for a search.
pub(super) fn wanted_tags(tags: &[String]) -> Vec<String> {
    tags.iter().map(|tag| tag_as_kept(tag)).filter(|tag| !tag.is_empty()).collect()
}

/// Checks the maximum number of tokens in an answer, if one is given.
pub(super) fn tokens_max(given: Option<u32>) -> Result<Option<u32>, Refusal> {
    let min = limits::ANSWER_TOKENS_MIN;
    match given {
        Some(tokens) if tokens < min => Err(Refusal::Invalid {
            field: "max_tokens".to_owned(),
            why: format!("is {tokens}; give {min} or more"),
        }),
        given => Ok(given),
    }
}

/// Checks the maximum number of records in an answer.
pub(super) fn limit(given: Option<usize>, default: usize, most: usize) -> Result<usize, Refusal> {
    let limit = given.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    let why = format!("is {limit}; give a number from 1 to {most}");
    Err(Refusal::Invalid { field: "limit".to_owned(), why })
}

// A doc comment here would go into the schema and cost every session tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with category, title, content")]
pub(super) struct BlueprintParams {
    #[schemars(with = "String")]
    category: CategoryParams,
    title: String,
    content: String,
    /// false: replaceable, or replaces
    #[serde(default = "yes")]
    immutable: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CategoryParams {
    Architecture,
    Schema,
    Decision,
    Convention,
    Dependency,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with file, lines, concept")]
pub(super) struct AnchorParams {
    file: String,
    /// 42-67
    lines: String,
    concept: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with summary, detail, files")]
pub(super) struct LessonParams {
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with content and, if need be, key, summary, tags")]
pub(super) struct NoteParams {
    pub(super) content: String,
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) summary: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default, deserialize_with = "importance")]
    #[schemars(with = "Option<u8>")]
    pub(super) importance: Option<u8>,
    #[serde(default)]
    pub(super) expires: Option<String>,
    #[serde(default)]
    pub(super) pinned: bool,
    #[serde(default)]
    pub(super) scope: Option<ScopeParams>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with name, status, decisions, files")]
pub(super) struct TopicParams {
    name: Option<String>,
    status: Option<String>,
    #[serde(default)]
    decisions: Vec<DecisionParams>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with question and, once there is one, decision")]
struct DecisionParams {
    question: String,
    decision: Option<String>,
}

impl From<TopicParams> for TopicPart {
    fn from(params: TopicParams) -> Self {
        let decisions = params.decisions.into_iter().map(|told| TopicDecision {
            question: told.question,
            decided: told.decision,
            time: Timestamp::default(),
        });
        Self {
            name: params.name,
            status: params.status,
            decisions: decisions.collect(),
            history: Vec::new(),
            files: params.files,
        }
    }
}

impl NoteParams {
    /// Converts to the domain's note. `field` is its place in the call.
    pub(super) fn into_note(self, field: &str, now: Timestamp) -> Result<NewNote, Refusal> {
        let expires = expires(self.expires.as_deref(), field, now)?;
        Ok(NewNote {
            content: self.content,
            summary: self.summary,
            key: self.key,
            tags: self.tags,
            importance: self.importance,
            expires: expires.and_then(Expires::moment),
            lasts: expires == Some(Expires::Never),
            pinned: self.pinned,
            private: self.scope == Some(ScopeParams::Session),
            personal: self.scope == Some(ScopeParams::User),
            ..NewNote::default()
        })
    }
}

/// Parses a note's expiry, if one is given.
pub(super) fn expires(
    text: Option<&str>,
    field: &str,
    now: Timestamp,
) -> Result<Option<Expires>, Refusal> {
    let parsed = text.map(|text| Expires::parse(text, now)).transpose();
    parsed.map_err(|error| Refusal::Invalid {
        field: format!("{field}expires"),
        why: error.to_string(),
    })
}

// An importance, even one too far out of bounds for a `u8`.
pub(super) fn importance<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let given = Value::deserialize(from)?;
    if given.is_null() {
        return Ok(None);
    }
    let number = whole_number(&given).and_then(|number| u8::try_from(number).ok());
    number.map(Some).ok_or_else(|| {
        let shown: String = given.to_string().chars().take(40).collect();
        D::Error::custom(format!("is {shown}; give a number from 1 to {}", limits::IMPORTANCE_MAX))
    })
}

// The scope of a note: who sees it. A doc comment here would go into the schema, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScopeParams {
    Project,
    Session,
    User,
}

/// A kind that can be asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindParams {
    Blueprint,
    Anchor,
    Lesson,
    Note,
    Topic,
    Session,
}

impl From<KindParams> for Kind {
    fn from(kind: KindParams) -> Self {
        match kind {
            KindParams::Blueprint => Self::Blueprint,
            KindParams::Anchor => Self::Anchor,
            KindParams::Lesson => Self::Lesson,
            KindParams::Note => Self::Note,
            KindParams::Topic => Self::Topic,
            KindParams::Session => Self::SessionRow,
        }
    }
}

fn yes() -> bool {
    true
}

/// Converts the contents of a checkpoint or a save to a part to stage.
pub(super) fn part(
    summary: Option<String>,
    blueprints: Vec<BlueprintParams>,
    anchors: Vec<AnchorParams>,
    lessons: Vec<LessonParams>,
    notes: Vec<NoteParams>,
    topic: Option<TopicParams>,
    now: Timestamp,
) -> Result<Staged, Refusal> {
    let notes = notes
        .into_iter()
        .enumerate()
        .map(|(at, note)| shared(note.into_note(&format!("notes[{at}]."), now)?, at))
        .collect::<Result<_, Refusal>>()?;
    Ok(Staged {
        summary,
        blueprints: blueprints.into_iter().map(Blueprint::from).collect(),
        anchors: anchors.into_iter().map(Anchor::from).collect(),
        lessons: lessons.into_iter().map(Lesson::from).collect(),
        notes,
        topics: topic.into_iter().map(TopicPart::from).collect(),
        ..Staged::default()
    })
}

/// Refuses a note with scope user, which cannot be part of a project's staged work.
fn shared(note: NewNote, at: usize) -> Result<NewNote, Refusal> {
    if !note.personal {
        return Ok(note);
    }
    let why = "is user; store it with memory_note, which does so at once".to_owned();
    Err(Refusal::Invalid { field: format!("notes[{at}].scope"), why })
}

impl From<CategoryParams> for Category {
    fn from(category: CategoryParams) -> Self {
        match category {
            CategoryParams::Architecture => Self::Architecture,
            CategoryParams::Schema => Self::Schema,
            CategoryParams::Decision => Self::Decision,
            CategoryParams::Convention => Self::Convention,
            CategoryParams::Dependency => Self::Dependency,
        }
    }
}

impl From<BlueprintParams> for Blueprint {
    fn from(params: BlueprintParams) -> Self {
        let category = params.category.into();
        Self { category, title: params.title, content: params.content, immutable: params.immutable }
    }
}

impl From<AnchorParams> for Anchor {
    fn from(params: AnchorParams) -> Self {
        Self { file: params.file, lines: params.lines.into(), concept: params.concept }
    }
}

impl From<LessonParams> for Lesson {
    fn from(params: LessonParams) -> Self {
        let LessonParams { summary, detail, files, .. } = params;
        Self { summary, detail, files, captured: None }
    }
}
