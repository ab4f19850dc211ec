//! Handles a conversation that begins, continues after its context was emptied, or gets its system
//! prompt rebuilt.

use std::sync::Arc;

use anchord_memory::lifecycle::{Answer, StartSource};
use anchord_memory::render::hooks::{last_seen, resumed, session_start};

use super::conversations::ConversationState;
use super::ready::{answer_not_shown, ready_load};
use super::response::HookResponse;
use super::{HookCall, HookError, compaction, subagent};
use crate::clock;

/// Answers a start with the framed load.
pub(super) async fn started(
    call: &HookCall<'_>,
    source: StartSource,
) -> Result<HookResponse, HookError> {
    match source {
        StartSource::Rebuilt => rebuilt(call).await,
        StartSource::Clear => {
            call.conversations().end(&call.name);
            call.conversations().with(&call.name, ConversationState::forget_given);
            Ok(loaded(call).await?.0)
        }
        StartSource::Compact => compaction::restore(call).await,
        StartSource::Resume | StartSource::Fork => resumes(call).await,
        StartSource::Startup => {
            call.conversations().with(&call.name, ConversationState::forget_given);
            Ok(loaded(call).await?.0)
        }
    }
}

/// Answers a rebuilt system prompt with the same bytes as before. Later changes come with a prompt.
async fn rebuilt(call: &HookCall<'_>) -> Result<HookResponse, HookError> {
    let agent = call.envelope.agent.as_ref();
    let before = call.conversations().with(&call.name, |conversation| {
        conversation.rebuilt.get(agent.map(|agent| agent.id.as_str()))
    });
    if let Some(before) = before {
        let text = before.to_string();
        let answer = if text.is_empty() { Answer::Nothing } else { Answer::Context(text) };
        return Ok(HookResponse { answer, ..HookResponse::default() });
    }
    let (response, is_whole) = match agent {
        Some(agent) => (subagent::started(call, agent).await?, true),
        None => loaded(call).await?,
    };
    if !is_whole {
        // The next prompt may get all of it.
        return Ok(response);
    }
    let text = match &response.answer {
        Answer::Context(text) => text.as_str(),
        Answer::Nothing | Answer::Instructions(_) | Answer::Stop { .. } => "",
    };
    call.conversations().with(&call.name, |conversation| {
        conversation.rebuilt.keep(agent.map(|agent| agent.id.clone()), Arc::from(text));
    });
    Ok(response)
}

/// Renders a load and records that the model's context has it. Returns whether the load is whole.
async fn loaded(call: &HookCall<'_>) -> Result<(HookResponse, bool), HookError> {
    // Some clients send the first prompt before the start. Then the task is known.
    let asked = call.conversations().with(&call.name, |conversation| conversation.asked.clone());
    let Some(load) = ready_load(call, asked, session_start).await? else {
        return Ok((answer_not_shown(call), false));
    };
    let is_whole = load.is_whole;
    Ok((load.answer(call), is_whole))
}

/// Answers a resumed conversation. It still has its load, so it gets only what others changed
/// since. A conversation unknown to anchord gets the load.
async fn resumes(call: &HookCall<'_>) -> Result<HookResponse, HookError> {
    let view = call.session.view(&call.service.sessions).await?;
    let known = call.conversations().with(&call.name, |conversation| {
        conversation.begin_lost_context();
        conversation.revision_known
    });
    let key = format!("{}:{}", call.name.0, call.envelope.agent_session);
    let Some(since) = known.or_else(|| last_seen(&view.memory, &call.session.id, &key)) else {
        return Ok(loaded(call).await?.0);
    };
    let revision = view.memory.revision();
    let context = resumed(&view.memory, since, &call.session.id, clock::now());
    // What did not fit is still news to a load.
    call.session.set_revision_seen(Some(if context.truncated { since } else { revision }));
    call.session.set_injected(Some(revision));
    call.conversations()
        .with(&call.name, |conversation| conversation.revision_known = Some(revision));
    Ok(HookResponse::context(context))
}
