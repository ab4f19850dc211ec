//! Handles subagents. At its start, each gets the context that its task would get as a prompt. It
//! also gets a small slice of the memory; the slice is small because there may be many subagents.
//! Its calls belong to a session of its own if the client reports them. At its end, its staged work
//! is folded into memory on its behalf.

use anchord_memory::lifecycle::Subagent;
use anchord_memory::render::hooks::{SubagentContext, subagent_context};

use super::ready::ready_file_rules;
use super::response::HookResponse;
use super::{HookCall, HookError};
use crate::projects::ProjectId;
use crate::{budgets, clock, sessions};

pub(super) async fn started(
    call: &HookCall<'_>,
    agent: &Subagent,
) -> Result<HookResponse, HookError> {
    let begin = clock::start();
    let view = call.session.searchable_view(&call.service.sessions).await?;
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    if settings.subagent_skip.unwrap_or_default().contains(&agent.agent_type) {
        return Ok(HookResponse::default());
    }
    // Unreadable notes of the user do not stop the answer. A load reports the error.
    let personal =
        call.service.sessions.projects.open_known(ProjectId::PERSONAL).await.ok().flatten();
    let personal = personal.map(|open| open.memory());
    let rules = ready_file_rules(call, &view, begin).await;
    let task = call.conversations().take_task(&call.name, &agent.agent_type);
    let context = subagent_context(
        &view.memory,
        &SubagentContext {
            reader: &call.session.reader(&call.service.sessions),
            task: task.as_ref().map(|task| task.prompt.as_str()),
            personal: personal.as_deref(),
            file_rules: rules.view(),
            now: clock::now(),
        },
    );
    call.with_context(|conversation| conversation.given.extend(context.whole.iter().copied()));
    Ok(HookResponse::context(context))
}

/// Assigns the call with this id to the subagent of the event, once the call arrives.
pub(super) fn calls(call: &HookCall<'_>, id: &str) {
    if let Some(agent) = &call.envelope.agent {
        call.service.sessions.table.expect_call(&call.session, &agent.id, id);
    }
}

pub(super) async fn ended(
    call: &HookCall<'_>,
    agent: &Subagent,
) -> Result<HookResponse, HookError> {
    if let Some(session) = call.service.sessions.table.subagent(&call.session, &agent.id) {
        sessions::keep_and_end(&call.service.sessions, &session).await?;
    }
    Ok(HookResponse::default())
}
