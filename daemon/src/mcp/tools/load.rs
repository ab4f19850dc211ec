//! `memory_load`: the condensed memory, followed by notices.

use anchord_memory::render::hooks::{LoadedBefore, RenderedContext, already_loaded};
use anchord_memory::render::{self, LoadView};
use anchord_memory::{Kind, Memories, Refusal, Revision, find_topic, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::SectionParams;
use super::personal::here;
use crate::clock;
use crate::limits::ANCHORS_TIME_MAX;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::make_searchable;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// As notes, lessons
    #[schemars(with = "Option<Vec<String>>")]
    sections: Option<Vec<SectionParams>>,
    task: Option<String>,
    topic: Option<String>,
    max_tokens: Option<u32>,
    cursor: Option<String>,
    /// A revision
    since: Option<u64>,
}

impl Params {
    /// Returns whether the call requests just the start of a session, which a hook may have given
    /// already.
    fn is_plain(&self) -> bool {
        let Self { sections, task: _, topic, max_tokens: _, cursor, since } = self;
        sections.is_none() && topic.is_none() && cursor.is_none() && since.is_none()
    }
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_load",
        "Call first and after a compaction, with your task: what other sessions settled and learned.",
        Effect::Reads,
        run,
    )
    .needed_first()
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let (context, view, remark) = here(&context).await?;
    // Agents fill in every field that they know of.
    let task = params.task.as_deref().filter(|task| !task.trim().is_empty());
    if task.is_some() {
        make_searchable(&view.memory).await;
    }
    if params.is_plain()
        && let Some(injected) = context.session.injected()
    {
        let since = context.session.revision_seen().unwrap_or(injected);
        context.session.set_revision_seen(Some(view.memory.revision()));
        let before = LoadedBefore {
            injected,
            since,
            session: &context.session.id,
            reader: &context.reader(),
            task,
            now: clock::now(),
        };
        let RenderedContext { text, shown, .. } = already_loaded(&view.memory, &before);
        return Ok(ToolAnswer::from(text).with_newest(&view.memory, &shown));
    }
    let sections: Vec<Kind> = match params.sections {
        Some(sections) if !sections.is_empty() => {
            sections.into_iter().map(|section| section.0).collect()
        }
        Some(_) | None => Kind::ALL.to_vec(),
    };
    let refused = |refusal: Refusal| context.refused("load", &refusal);
    if let Some(name) = &params.topic {
        find_topic(&view.memory, name).map_err(refused)?;
    }
    let (session, sessions) = (&context.session, &context.sessions);
    let active: Vec<_> = view.memory.active_with_code().cloned().collect();
    let view = view.with_anchors(sessions, ANCHORS_TIME_MAX, &active).await;
    let loading = session.loading(sessions, &view, params.topic.as_deref()).await;
    let whole = loading.view();
    let last = match remark {
        "" => whole.last.to_owned(),
        remark => format!("{}\n{remark}", whole.last),
    };
    let load = render::load(
        &view.memory,
        &LoadView {
            sections: &sections,
            chars_max: Some(limits::ANSWER_CHARS_MAX),
            tokens_max: params.max_tokens.or(whole.tokens_max),
            task,
            cursor: params.cursor.as_deref(),
            audience: &context.audience,
            others_changed: params.since.map(Revision).or(session.revision_seen()),
            last: &last,
            ..whole
        },
    )
    .map_err(refused)?;
    context.session.set_revision_seen(Some(view.memory.revision()));
    // A notice is for the next agent: a person's load does not use it up.
    if let Some(project) = view.project.as_ref().filter(|_| !context.session.is_ephemeral()) {
        project.mark_shown(load.notices_shown);
    }
    let memories = Memories { first: &view.memory, personal: Some(loading.personal_memory()) };
    let answer = ToolAnswer {
        has_place_remark: !load.last_is_cut,
        ..ToolAnswer::from(load.text).with_newest(memories, &load.shown)
    };
    Ok(answer.truncated(load.truncated).with_rest(load.next, None))
}
