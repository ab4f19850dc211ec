//! `--tools zipmem`: that system's tool names, parameters and replies over the same memory.

use std::path::{Path, PathBuf};

use anchord_memory::export::ZipmemStatus;
use anchord_memory::render::zipmem as form;
use anchord_memory::{Anchor, Blueprint, Category, Kind, Lesson, Staged, WriteLimits};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bounded_fs;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::sessions::SaveCall;

#[derive(Debug, Deserialize, JsonSchema)]
struct LoadParams {
    project_dir: Option<String>,
    /// `archived_lessons`: those that left the load to make room
    #[serde(default)]
    sections: Vec<Section>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Section {
    Blueprints,
    Anchors,
    Lessons,
    SessionLog,
    ArchivedLessons,
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CheckpointParams {
    project_dir: Option<String>,
    summary: Option<String>,
    #[serde(default)]
    blueprints: Vec<BlueprintParams>,
    #[serde(default)]
    anchors: Vec<AnchorParams>,
    #[serde(default)]
    lessons: Vec<LessonParams>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SaveParams {
    project_dir: Option<String>,
    session_summary: String,
    #[serde(default)]
    blueprints: Vec<BlueprintParams>,
    #[serde(default)]
    anchors: Vec<AnchorParams>,
    #[serde(default)]
    lessons: Vec<LessonParams>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct BlueprintParams {
    /// architecture, schema, decision, convention or dependency
    category: String,
    title: String,
    content: String,
    /// Default true: kept verbatim. false supersedes the stored one of the same category and title
    immutable: Option<bool>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AnchorParams {
    file_path: String,
    line_range: String,
    concept: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct LessonParams {
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    related_files: Vec<String>,
}

pub(super) fn specs() -> Vec<ToolSpec> {
    let specs = vec![
        ToolSpec::new(
            "zipmem_load_memory",
            "Call first in every session: the project's blueprints, file anchors, lessons and last \
             sessions.",
            Effect::Reads,
            load,
        )
        .needed_first(),
        ToolSpec::new(
            "zipmem_checkpoint",
            "Stage progress after each decision, finding or fixed failure. Survives crashes; private \
             until zipmem_save_and_compact.",
            Effect::Adds,
            checkpoint,
        )
        .needed_first(),
        ToolSpec::new(
            "zipmem_save_and_compact",
            "Fold staged work, and this, into the project's memory. Call before the session ends.",
            Effect::Adds,
            save,
        )
        .needed_first(),
    ];
    specs.into_iter().map(ToolSpec::silent_about_unknown).collect()
}

async fn load(context: Context, params: LoadParams) -> Result<ToolAnswer, ToolError> {
    same_project(&context, params.project_dir.as_deref()).await?;
    let view = context.view().await?;
    let sections = kinds(&params.sections);
    let seen = view.project.as_ref().map(|project| project.notices_shown()).unwrap_or_default();
    let name = view.place.name(&context.sessions);
    let loaded = form::load(
        &view.memory,
        &form::LoadView {
            project: &name,
            sections: &sections,
            archived_lessons: params.sections.contains(&Section::ArchivedLessons),
            notices_seen: &seen,
            now: clock::now(),
        },
    );
    context.session.set_revision_seen(Some(view.memory.revision()));
    if let Some(project) = &view.project {
        project.mark_shown(loaded.notices_shown);
    }
    context.zipmem.write(&context.session, ZipmemStatus::Active).await;
    let answer = ToolAnswer::from(loaded.text).with_newest(&view.memory, &loaded.shown);
    Ok(answer.truncated(loaded.truncated))
}

async fn checkpoint(context: Context, params: CheckpointParams) -> Result<ToolAnswer, ToolError> {
    same_project(&context, params.project_dir.as_deref()).await?;
    let part = part(params.summary, params.blueprints, params.anchors, params.lessons)?;
    let answer = context.checkpoint(part, WriteLimits::WIDE, form::checkpoint).await?;
    context.zipmem.write(&context.session, ZipmemStatus::Active).await;
    Ok(answer)
}

async fn save(context: Context, params: SaveParams) -> Result<ToolAnswer, ToolError> {
    same_project(&context, params.project_dir.as_deref()).await?;
    let part = part(None, params.blueprints, params.anchors, params.lessons)?;
    let (session_summary, limits) = (params.session_summary, WriteLimits::WIDE);
    let save = SaveCall { session_summary, limits, ..SaveCall::default() };
    let written = context.save(part, save).await?;
    context.zipmem.write(&context.session, ZipmemStatus::Closed).await;
    context.answer(written, form::save).await
}

/// Accepts a `project_dir` only if it is in the session's own project, since the daemon is no way
/// around an agent's sandbox.
async fn same_project(context: &Context, project_dir: Option<&str>) -> Result<(), ToolError> {
    // As in the original, no directory and the working directory are the project's own.
    let Some(directory) = project_dir.filter(|directory| !["", "."].contains(directory)) else {
        return Ok(());
    };
    let place = context.session.place(&context.sessions).await?;
    let named = PathBuf::from(directory);
    let canonical = move || named.canonicalize().ok();
    let named = bounded_fs::run(Path::new(directory), canonical).await.ok().flatten();
    let own = place.root();
    if named.is_some()
        && named.as_deref().zip(own).is_some_and(|(named, own)| named.starts_with(own))
    {
        return Ok(());
    }
    let own = own.map_or_else(|| "another one".to_owned(), |own| own.display().to_string());
    Err(ToolError::caller(format!(
        "project_dir {directory} is not this session's project ({own}); leave it out, or start the agent \
         there"
    )))
}

fn kinds(sections: &[Section]) -> Vec<Kind> {
    if sections.is_empty() || sections.contains(&Section::All) {
        return Kind::ALL.to_vec();
    }
    sections
        .iter()
        .filter_map(|section| match section {
            Section::Blueprints => Some(Kind::Blueprint),
            Section::Anchors => Some(Kind::Anchor),
            Section::Lessons => Some(Kind::Lesson),
            Section::SessionLog => Some(Kind::SessionRow),
            Section::ArchivedLessons | Section::All => None,
        })
        .collect()
}

fn part(
    summary: Option<String>,
    blueprints: Vec<BlueprintParams>,
    anchors: Vec<AnchorParams>,
    lessons: Vec<LessonParams>,
) -> Result<Staged, ToolError> {
    let blueprints = blueprints.into_iter().enumerate().map(|(at, params)| {
        let category: Category = params
            .category
            .parse()
            .map_err(|error| ToolError::caller(format!("blueprints[{at}].category {error}")))?;
        let immutable = params.immutable.unwrap_or(true);
        let blueprint = Blueprint::new(category, params.title, params.content);
        Ok(Blueprint { immutable, exact: true, ..blueprint })
    });
    Ok(Staged {
        summary,
        blueprints: blueprints.collect::<Result<_, ToolError>>()?,
        anchors: anchors
            .into_iter()
            .map(|params| Anchor {
                unites_adjacent: true,
                ..Anchor::new(params.file_path, params.line_range.into(), params.concept)
            })
            .collect(),
        lessons: lessons
            .into_iter()
            .map(|params| Lesson {
                summary: params.summary,
                detail: params.detail,
                files: params.related_files,
                ..Lesson::default()
            })
            .collect(),
        ..Staged::default()
    })
}

#[cfg(test)]
mod tests;
