//! Parameters that several tools share, and their conversion to domain types.

mod topic;

pub(super) use topic::TopicParams;

use std::borrow::Cow;
use std::{fmt, mem};

use anchord_memory::{
    Anchor, Blueprint, Category, Expires, Kind, Lesson, NewNote, Refusal, Staged, Timestamp,
    TopicPart, limits, tags_as_kept,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, Error as _, VariantAccess as _, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::mcp::input::{Lines, Object, TextOr, whole_number};

/// Returns tags in their stored form, for a search.
pub(super) fn wanted_tags(tags: &[String]) -> Vec<String> {
    tags.iter().flat_map(|text| tags_as_kept(text)).collect()
}

/// Checks the maximum number of tokens in an answer, if one is given.
pub(super) fn tokens_max(given: Option<u32>) -> Result<Option<u32>, Refusal> {
    let min = limits::ANSWER_TOKENS_MIN;
    match given {
        Some(tokens) if tokens < min => Err(Refusal::invalid("max_tokens", format!("is {tokens}"))
            .advising(format!("give {min} or more"))),
        given => Ok(given),
    }
}

/// Checks the maximum number of records in an answer.
pub(super) fn limit(given: Option<usize>, default: usize, most: usize) -> Result<usize, Refusal> {
    let limit = given.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    let advice = format!("give a number from 1 to {most}");
    Err(Refusal::invalid("limit", format!("is {limit}")).advising(advice))
}

// A doc comment here would go into the schema and cost every session tokens. So would fields that
// are only for callers who spell things their own way.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "an object with category, title, content")]
pub(super) struct BlueprintParams {
    #[schemars(with = "String")]
    category: Option<CategoryParams>,
    #[schemars(with = "String")]
    title: Option<String>,
    #[schemars(with = "String")]
    content: Option<String>,
    /// false: replaceable, or replaces
    #[serde(default = "yes")]
    immutable: bool,
    #[schemars(skip)]
    reason: Option<String>,
}

/// A category, by its name or a word that means it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoryParams(pub(super) Category);

impl<'de> Deserialize<'de> for CategoryParams {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map(Self).map_err(D::Error::custom)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with file, lines, concept")]
pub(super) struct AnchorParams {
    file: String,
    /// 42-67
    #[schemars(with = "String")]
    lines: Lines,
    concept: String,
    #[schemars(skip)]
    start_line: Option<u32>,
    #[schemars(skip)]
    end_line: Option<u32>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "an object with summary, detail, files")]
pub(super) struct LessonParams {
    #[schemars(with = "String")]
    summary: Option<String>,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    files: Vec<String>,
    #[schemars(skip)]
    problem: Option<String>,
    #[schemars(skip)]
    cause: Option<String>,
    #[schemars(skip)]
    fix: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
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

impl NoteParams {
    /// Converts to the domain's note.
    pub(super) fn into_note(self, now: Timestamp) -> Result<NewNote, Refusal> {
        let expires = expires(self.expires.as_deref(), now)?;
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
pub(super) fn expires(text: Option<&str>, now: Timestamp) -> Result<Option<Expires>, Refusal> {
    let parsed = text.map(|text| Expires::parse(text, now)).transpose();
    parsed.map_err(|error| Refusal::invalid("expires", error.to_string()))
}

// An importance, even one too far out of bounds for a `u8`.
pub(super) fn importance<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let given = Value::deserialize(from)?;
    if given.is_null() {
        return Ok(None);
    }
    let number = whole_number(&given).and_then(|number| u8::try_from(number).ok());
    let number = number.or_else(|| importance_of(&given.as_str()?.trim().to_ascii_lowercase()));
    number.map(Some).ok_or_else(|| {
        let shown: String = given.to_string().chars().take(40).collect();
        D::Error::custom(format!("is {shown}; give a number from 1 to {}", limits::IMPORTANCE_MAX))
    })
}

/// Returns the importance that a word means.
fn importance_of(word: &str) -> Option<u8> {
    match word {
        "low" | "minor" => Some(3),
        "medium" | "normal" => Some(limits::IMPORTANCE),
        "high" | "important" => Some(8),
        "critical" | "highest" => Some(limits::IMPORTANCE_MAX),
        _ => None,
    }
}

// The scope of a note: who sees it. A doc comment here would go into the schema, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScopeParams {
    Project,
    Session,
    User,
}

/// A kind, by its singular noun.
#[derive(Clone, Copy, Debug)]
pub(super) struct KindParams(pub(super) Kind);

impl<'de> Deserialize<'de> for KindParams {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_enum("KindParams", &Kind::NOUNS, Names(&Kind::NOUNS)).map(Self)
    }
}

impl JsonSchema for KindParams {
    fn schema_name() -> Cow<'static, str> {
        "KindParams".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A kind that can be asked for.",
            "type": "string",
            "enum": Kind::NOUNS,
        })
    }
}

/// A kind, by its plural noun.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionParams(pub(super) Kind);

impl<'de> Deserialize<'de> for SectionParams {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_enum("SectionParams", &Kind::PLURALS, Names(&Kind::PLURALS)).map(Self)
    }
}

/// The names of all kinds, in their order.
struct Names(&'static [&'static str]);

impl<'de> Visitor<'de> for Names {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kind")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, given: A) -> Result<Kind, A::Error> {
        let (name, unit): (String, _) = given.variant()?;
        unit.unit_variant()?;
        let kind = Kind::ALL.into_iter().zip(self.0).find(|(_, known)| **known == name);
        kind.map(|(kind, _)| kind).ok_or_else(|| A::Error::unknown_variant(&name, self.0))
    }
}

fn yes() -> bool {
    true
}

// The parameters of `memory_checkpoint`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CheckpointParams {
    summary: Option<String>,
    #[serde(default)]
    #[schemars(with = "Vec<BlueprintParams>")]
    blueprints: Vec<TextOr<BlueprintParams>>,
    #[serde(default)]
    #[schemars(with = "Vec<AnchorParams>")]
    anchors: Vec<TextOr<AnchorParams>>,
    #[serde(default)]
    #[schemars(with = "Vec<LessonParams>")]
    lessons: Vec<TextOr<LessonParams>>,
    /// As for noting
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    notes: Vec<TextOr<NoteParams>>,
    /// name, status, overview, architecture, decisions: [{question, decision} or a statement],
    /// history: [line or {text, files}], files
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    topic: Option<TopicParams>,
}

impl CheckpointParams {
    /// Returns the name of the topic, if the call gives one.
    pub(super) fn topic_name(&self) -> Option<&str> {
        self.topic.as_ref()?.name()
    }

    /// Converts to a part to stage.
    pub(super) fn into_part(self, now: Timestamp) -> Result<Staged, Refusal> {
        let note = |given| NoteParams::from(given).into_note(now).and_then(shared);
        Ok(Staged {
            summary: self.summary,
            blueprints: each("blueprints", self.blueprints, blueprint)?,
            anchors: each("anchors", self.anchors, anchor)?,
            lessons: each("lessons", self.lessons, lesson)?,
            notes: each("notes", self.notes, note)?,
            topics: self.topic.into_iter().map(TopicPart::from).collect(),
            ..Staged::default()
        })
    }
}

// The parameters of `memory_save`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SaveParams {
    /// What was done and what is open
    pub(super) session_summary: String,
    /// These five as in memory_checkpoint
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    blueprints: Vec<TextOr<BlueprintParams>>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    anchors: Vec<TextOr<AnchorParams>>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    lessons: Vec<TextOr<LessonParams>>,
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    notes: Vec<TextOr<NoteParams>>,
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    topic: Option<TopicParams>,
    pub(super) expected_revision: Option<u64>,
    /// Free text to keep and merge
    pub(super) context: Option<String>,
    // A reply that asks for it describes it; a definition would cost every session tokens.
    #[schemars(skip)]
    pub(super) state: Option<Value>,
}

impl SaveParams {
    /// Returns the part of it that a checkpoint could have staged.
    pub(super) fn items(&mut self) -> CheckpointParams {
        CheckpointParams {
            summary: None,
            blueprints: mem::take(&mut self.blueprints),
            anchors: mem::take(&mut self.anchors),
            lessons: mem::take(&mut self.lessons),
            notes: mem::take(&mut self.notes),
            topic: self.topic.take(),
        }
    }
}

/// Refuses a note with scope user, which cannot be part of a project's staged work.
fn shared(note: NewNote) -> Result<NewNote, Refusal> {
    if !note.personal {
        return Ok(note);
    }
    let advice = "store it with memory_note, which does so at once";
    Err(Refusal::invalid("scope", "is user").advising(advice))
}

/// Converts each item of a list. A refusal names its item.
pub(super) fn each<G, T>(
    list: &'static str,
    given: Vec<G>,
    convert: impl Fn(G) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let converted = given.into_iter().map(convert).enumerate();
    converted.map(|(at, item)| item.map_err(|refusal| refusal.of_item(list, at))).collect()
}

/// Returns a text unless it is blank.
fn said(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn missing(field: &'static str, advice: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::invalid(field, "is missing").advising(advice)
}

/// A text alone has to begin with its category.
fn blueprint(given: TextOr<BlueprintParams>) -> Result<Blueprint, Refusal> {
    match given {
        TextOr::Object(params) => params.into_blueprint(),
        TextOr::Text(text) => Blueprint::written(&text).ok_or_else(|| {
            let advice = "give category, title and content, or begin the text with `decision: `";
            missing("category", advice)
        }),
    }
}

/// A text alone has to begin with its file and line, as in `src/a.rs:42-67 the retry loop`.
fn anchor(given: TextOr<AnchorParams>) -> Result<Anchor, Refusal> {
    match given {
        TextOr::Object(params) => Ok(params.into_anchor()),
        TextOr::Text(text) => {
            let (place, concept) = text.trim().split_once(char::is_whitespace).unwrap_or_default();
            let (file, lines) = Lines::behind(place.trim_end_matches(':')).ok_or_else(|| {
                missing("file", "give file, lines and concept, or `src/a.rs:42-67 concept`")
            })?;
            let concept = concept.trim_start_matches(['-', '–', '—', ':', ' ']);
            Ok(Anchor::new(file.to_owned(), lines.0.into(), concept.to_owned()))
        }
    }
}

fn lesson(given: TextOr<LessonParams>) -> Result<Lesson, Refusal> {
    match given {
        TextOr::Object(params) => params.into_lesson(),
        TextOr::Text(text) => Ok(Lesson::written(&text)),
    }
}

impl From<TextOr<Self>> for NoteParams {
    fn from(given: TextOr<Self>) -> Self {
        match given {
            TextOr::Object(params) => params,
            TextOr::Text(content) => Self { content, ..Self::default() },
        }
    }
}

impl Object for BlueprintParams {
    const FIELDS: &'static [&'static str] =
        &["category", "title", "content", "immutable", "reason"];
}

impl Object for AnchorParams {
    const FIELDS: &'static [&'static str] = &["file", "lines", "concept", "start_line", "end_line"];
}

impl Object for LessonParams {
    const FIELDS: &'static [&'static str] =
        &["summary", "detail", "files", "problem", "cause", "fix"];
}

impl Object for NoteParams {
    const FIELDS: &'static [&'static str] =
        &["content", "key", "summary", "tags", "importance", "expires", "pinned", "scope"];
}

impl BlueprintParams {
    /// Converts to a blueprint. Without a title, the content's first sentence is the title.
    pub(super) fn into_blueprint(self) -> Result<Blueprint, Refusal> {
        let Self { category, title, content, immutable, reason } = self;
        let category = category.ok_or_else(|| {
            let names = Category::ALL.map(Category::name).join(", ");
            missing("category", format!("give one of {names}"))
        })?;
        let content = content.ok_or_else(|| missing("content", "say what holds"))?;
        let content = match said(reason) {
            Some(reason) => format!("{content}\nReason: {reason}"),
            None => content,
        };
        let blueprint = match said(title) {
            Some(title) => Blueprint::new(category.0, title, content),
            None => Blueprint::without_title(category.0, &content),
        };
        Ok(Blueprint { immutable, ..blueprint })
    }
}

impl AnchorParams {
    /// Converts to an anchor. The lines may also stand behind the file's name, as in `a.rs:42-67`.
    pub(super) fn into_anchor(self) -> Anchor {
        let Self { file, lines, concept, start_line, end_line } = self;
        let lines = lines.or_from(start_line, end_line);
        let (file, lines) = match Lines::behind(&file) {
            Some((file, behind)) if lines.is_whole_file() => (file.to_owned(), behind),
            _ => (file, lines),
        };
        Anchor::new(file, lines.0.into(), concept)
    }
}

impl LessonParams {
    /// Converts to a lesson. What went wrong is the summary if no other is given.
    pub(super) fn into_lesson(self) -> Result<Lesson, Refusal> {
        let Self { summary, detail, files, problem, cause, fix } = self;
        let problem = said(problem);
        let (summary, problem) = match summary {
            Some(summary) => (Some(summary), problem),
            None => (problem, None),
        };
        let cause = said(cause).map(|cause| format!("Cause: {cause}"));
        let fix = said(fix).map(|fix| format!("Fix: {fix}"));
        let parts = [problem, said(Some(detail)), cause, fix].into_iter().flatten();
        let detail = parts.collect::<Vec<String>>().join("\n");
        let lesson = match summary {
            Some(summary) => Lesson { summary, detail, ..Lesson::default() },
            None if detail.is_empty() => {
                return Err(missing("summary", "give summary and detail"));
            }
            None => Lesson::written(&detail),
        };
        Ok(Lesson { files, ..lesson })
    }
}
