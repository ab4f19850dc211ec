//! A conversation begins, goes on after its context was emptied, or has its system prompt built again.

use std::sync::Arc;

use anchord_memory::lifecycle::{Answer, StartSource};
use anchord_memory::render::LoadText;

use super::{Call, HookError, compaction, context, subagent, words};
use crate::sessions::View;

/// The load, framed.
pub(super) async fn started(call: &Call<'_>, source: StartSource) -> Result<Answer, HookError> {
    match source {
        StartSource::Rebuilt => rebuilt(call).await,
        StartSource::Clear => {
            call.threads().end(&call.name);
            loaded(call).await.map(context)
        }
        StartSource::Compact => compaction::restore(call).await,
        StartSource::Startup | StartSource::Resume | StartSource::Fork => {
            loaded(call).await.map(context)
        }
    }
}

/// A prompt that is built again gets the bytes that it got before: what changed since is told with a prompt.
async fn rebuilt(call: &Call<'_>) -> Result<Answer, HookError> {
    let of = call.envelope.agent.as_ref().map(|agent| agent.id.clone()).unwrap_or_default();
    let before = call.threads().with(&call.name, |thread| thread.rebuilt.get(&of).cloned());
    if let Some(before) = before {
        return Ok(context(before.to_string()));
    }
    let text = match &call.envelope.agent {
        Some(agent) => match subagent::started(call, agent).await? {
            Answer::Context(text) => text,
            Answer::Nothing | Answer::Instructions(_) => String::new(),
        },
        None => loaded(call).await?,
    };
    call.threads().with(&call.name, |thread| {
        thread.rebuilt.insert(of, Arc::from(text.as_str()));
    });
    Ok(context(text))
}

async fn loaded(call: &Call<'_>) -> Result<String, HookError> {
    let view = call.session.view(call.daemon).await?;
    let load = words::session_start(call, &view).await;
    let text = load.text.clone();
    mark(call, &view, load);
    Ok(text)
}

/// What the model's context has now is not told again.
fn mark(call: &Call<'_>, view: &View, load: LoadText) {
    let revision = view.memory.revision();
    call.session.set_revision_seen(revision);
    call.session.set_injected(Some(revision));
    if let Some(project) = &view.project {
        project.mark_shown(load.notices_shown);
    }
    call.threads().with(&call.name, |thread| {
        thread.told = Some(revision);
        thread.shown.extend(load.shown);
    });
}
