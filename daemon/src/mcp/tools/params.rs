//! Parameters that several tools share, and what they become in the domain.

use anchord_memory::{Anchor, Blueprint, Category, Lesson, Staged};
use schemars::JsonSchema;
use serde::Deserialize;

// A doc comment here would go into the schema, and cost every session tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with category, title, content")]
pub(super) struct BlueprintParams {
    category: CategoryParams,
    title: String,
    content: String,
    /// false: may be replaced, or replaces the one stored
    #[serde(default = "yes")]
    immutable: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CategoryParams {
    Architecture,
    Schema,
    Decision,
    Convention,
    Dependency,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with file, lines, concept")]
pub(super) struct AnchorParams {
    file: String,
    /// "42-67" or "42"
    lines: String,
    /// one line
    concept: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with summary, detail, files")]
pub(super) struct LessonParams {
    /// one line
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    files: Vec<String>,
}

fn yes() -> bool {
    true
}

/// What a checkpoint or a save brings, as a part to stage.
pub(super) fn part(
    summary: Option<String>,
    blueprints: Vec<BlueprintParams>,
    anchors: Vec<AnchorParams>,
    lessons: Vec<LessonParams>,
) -> Staged {
    Staged {
        summary,
        blueprints: blueprints.into_iter().map(Blueprint::from).collect(),
        anchors: anchors.into_iter().map(Anchor::from).collect(),
        lessons: lessons.into_iter().map(Lesson::from).collect(),
        ..Staged::default()
    }
}

impl From<BlueprintParams> for Blueprint {
    fn from(params: BlueprintParams) -> Self {
        let category = match params.category {
            CategoryParams::Architecture => Category::Architecture,
            CategoryParams::Schema => Category::Schema,
            CategoryParams::Decision => Category::Decision,
            CategoryParams::Convention => Category::Convention,
            CategoryParams::Dependency => Category::Dependency,
        };
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
        Self { summary: params.summary, detail: params.detail, files: params.files }
    }
}
