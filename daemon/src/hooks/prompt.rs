//! Answers a prompt with others' changes, with what memory has about it, and with texts that
//! waited. Those are texts that the client could not carry at an action. A subagent's task counts
//! as its prompt if the client reports it as one.

use std::iter;

use anchord_memory::render::hooks::{PromptContext, RenderedContext, prompt_context};

use super::response::HookResponse;
use super::{HookCall, HookError};
use crate::{budgets, clock};

pub(super) async fn submitted(
    call: &HookCall<'_>,
    prompt: &str,
) -> Result<HookResponse, HookError> {
    // No person writes a subagent's task, and news is only for the conversation.
    let is_task = call.envelope.agent.is_some();
    if !is_task {
        call.note();
    }
    let view = call.session.searchable_view(&call.service.sessions).await?;
    let revision = view.memory.revision();
    let given = call.in_context(&view.memory);
    let (since, waiting) = call.with_context(|conversation| {
        if !is_task {
            conversation.asked = Some(prompt.to_owned());
        }
        (conversation.revision_known, std::mem::take(&mut conversation.waiting))
    });
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    let skipped = settings.subagent_skip.as_deref().unwrap_or_default();
    if call.envelope.agent.as_ref().is_some_and(|agent| skipped.contains(&agent.agent_type)) {
        return Ok(HookResponse::default());
    }
    let context = prompt_context(
        &view.memory,
        &PromptContext {
            reader: &call.session.reader(&call.service.sessions),
            session: &call.session.id,
            prompt: settings.prompt_recall.unwrap_or(true).then_some(prompt),
            since,
            given: &given,
            now: clock::now(),
        },
    );
    // What did not fit is still news to a load.
    let seen = call.session.revision_seen();
    let is_behind = seen.zip(since).is_some_and(|(seen, since)| seen < since);
    if !is_task && !is_behind {
        let seen = if context.truncated { seen.or(since) } else { Some(revision) };
        call.session.set_revision_seen(seen);
    }
    call.with_context(|conversation| {
        if !is_task {
            conversation.revision_known = Some(revision);
        }
        conversation.given.extend(context.whole.iter().copied());
    });
    let waiting = waiting.into_iter().map(|waiting| waiting.context);
    Ok(HookResponse::context(joined(iter::once(context).chain(waiting))))
}

/// Joins framed texts into one.
fn joined(contexts: impl IntoIterator<Item = RenderedContext>) -> RenderedContext {
    contexts.into_iter().fold(RenderedContext::default(), |mut all, context| {
        all.text.push_str(&context.text);
        all.shown.extend(context.shown);
        all.whole.extend(context.whole);
        all.truncated |= context.truncated;
        all
    })
}
