//! A conversation begins, goes on after its context was emptied, or has its system prompt built again.

use std::sync::Arc;

use anchord_memory::lifecycle::{Answer, StartSource};
use anchord_memory::render::{self, lifecycle::Told};

use super::{Call, HookError, Said, compaction, subagent};

/// The load, framed.
pub(super) async fn started(call: &Call<'_>, source: StartSource) -> Result<Said, HookError> {
    match source {
        StartSource::Rebuilt => rebuilt(call).await,
        StartSource::Clear => {
            call.threads().end(&call.name);
            loaded(call).await
        }
        StartSource::Compact => compaction::restore(call).await,
        StartSource::Startup | StartSource::Resume | StartSource::Fork => loaded(call).await,
    }
}

/// A prompt that is built again gets the bytes that it got before: what changed since is told with a prompt.
async fn rebuilt(call: &Call<'_>) -> Result<Said, HookError> {
    let of = call.envelope.agent.as_ref().map(|agent| agent.id.clone()).unwrap_or_default();
    let before = call.threads().with(&call.name, |thread| thread.rebuilt.get(&of).cloned());
    if let Some(before) = before {
        let text = before.to_string();
        let answer = if text.is_empty() { Answer::Nothing } else { Answer::Context(text) };
        return Ok(Said { answer, shown: None });
    }
    let said = match &call.envelope.agent {
        Some(agent) => subagent::started(call, agent).await?,
        None => loaded(call).await?,
    };
    let text = match &said.answer {
        Answer::Context(text) => text.as_str(),
        Answer::Nothing | Answer::Instructions(_) => "",
    };
    call.threads().with(&call.name, |thread| thread.rebuilt.insert(of, Arc::from(text)));
    Ok(said)
}

/// What the model's context has then is not told again.
async fn loaded(call: &Call<'_>) -> Result<Said, HookError> {
    let view = call.session.view(call.daemon).await?;
    let loading = call.session.loading(call.daemon, &view, None).await;
    let load = render::lifecycle::session_start(&view.memory, &loading.view());
    let revision = view.memory.revision();
    call.session.set_revision_seen(Some(revision));
    call.session.set_injected(Some(revision));
    call.threads().with(&call.name, |thread| {
        thread.told = Some(revision);
        thread.shown.extend(load.shown.iter().copied());
    });
    let mut said =
        Said::context(Told { text: load.text, shown: load.shown, truncated: load.truncated });
    if let Some(shown) = &mut said.shown {
        shown.notices = load.notices_shown;
    }
    Ok(said)
}
