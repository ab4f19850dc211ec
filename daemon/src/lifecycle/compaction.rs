//! Around a compaction: what the session has becomes durable before it, and comes back after it.

use anchord_memory::lifecycle::Answer;
use anchord_memory::render::lifecycle::{SessionView, Told, compaction_instructions, restored};

use super::{Call, HookError, context};
use crate::clock;
use crate::sessions::View;

/// What is noted is staged; the summary is told what it must keep.
pub(super) async fn begins(call: &Call<'_>, messages: Option<u32>) -> Result<Answer, HookError> {
    call.stage_noted().await?;
    // What the context held goes: it may be shown again, and a load has to give all of it.
    call.session.set_injected(None);
    call.threads().with(&call.name, |thread| {
        thread.forget_shown();
        thread.messages = messages;
    });
    let view = call.session.view(call.daemon).await?;
    let Told { text, .. } = told(call, &view, compaction_instructions);
    Ok(if text.is_empty() { Answer::Nothing } else { Answer::Instructions(text) })
}

/// The client's own summary is kept as what the client said, never as fact.
pub(super) async fn ended(
    call: &Call<'_>,
    summary: Option<&str>,
    messages: Option<u32>,
) -> Result<Answer, HookError> {
    call.threads().with(&call.name, |thread| thread.rebuilt.clear());
    let _ = (summary, messages);
    Ok(Answer::Nothing)
}

/// What a compaction took comes back.
pub(super) async fn restore(call: &Call<'_>) -> Result<Answer, HookError> {
    let view = call.session.view(call.daemon).await?;
    let told = told(call, &view, restored);
    let revision = view.memory.revision();
    call.session.set_revision_seen(revision);
    call.threads().with(&call.name, |thread| {
        thread.told = Some(revision);
        thread.shown.extend(told.shown);
    });
    Ok(context(told.text))
}

fn told(
    call: &Call<'_>,
    view: &View,
    render: impl Fn(&anchord_memory::Memory, &SessionView<'_>) -> Told,
) -> Told {
    let before = call.threads().with(&call.name, |thread| thread.messages);
    let noted = call.noted();
    let reader = call.session.reader(call.daemon);
    let view_of = SessionView {
        reader: &reader,
        session: &call.session.id,
        noted: Some(&noted),
        messages: (before, None),
        now: clock::now(),
    };
    render(&view.memory, &view_of)
}
