//! Makes a session's work durable before a compaction and restores its context afterwards.

use anchord_memory::Reader;
use anchord_memory::SessionActivity;
use anchord_memory::render::hooks::{CompactionView, compaction_instructions, restored};

use super::activity::WithoutTopic;
use super::conversations::ConversationState;
use super::ready::{answer_not_shown, ready_file_rules, ready_load};
use super::response::HookResponse;
use super::{HookCall, HookError};
use crate::{clock, secrets};

/// Stages pending activity. Binds a conversation without a topic to a new one, since it is long.
/// Returns what the summary must keep.
pub(super) async fn begins(
    call: &HookCall<'_>,
    messages: Option<u32>,
) -> Result<HookResponse, HookError> {
    let begin = clock::start();
    let staged = async {
        call.stage_pending_activity().await?;
        call.stage_history(None, WithoutTopic::Bind).await
    };
    // A memory that takes no writes still says what the summary must keep.
    if let Err(error) = staged.await {
        tracing::warn!(error = %error, "what was done before a compaction is not staged");
    }
    // The context is about to be emptied. Its records may be shown again, and a load has to give
    // everything.
    call.session.set_injected(None);
    call.conversations().with(&call.name, |conversation| {
        conversation.forget_given();
        conversation.messages = messages;
    });
    let view = call.session.view(&call.service.sessions).await?;
    let (activity, reader) = (call.pending_activity(), call.session.reader(&call.service.sessions));
    let rules = ready_file_rules(call, &view, begin).await;
    let conversation = conversation(call, &activity, &reader);
    let context = compaction_instructions(&view.memory, &conversation, &rules.view());
    Ok(HookResponse::instructions(context))
}

/// Records the client's own summary as the client's statement, never as fact.
pub(super) async fn ended(
    call: &HookCall<'_>,
    summary: Option<&str>,
    messages: Option<u32>,
) -> Result<HookResponse, HookError> {
    let before = call.conversations().with(&call.name, |conversation| {
        conversation.rebuilt.clear();
        conversation.messages.take()
    });
    let counts = match (before, messages) {
        (Some(before), Some(after)) => format!(" {before}→{after} messages"),
        (None, Some(after)) => format!(" to {after} messages"),
        (_, None) => String::new(),
    };
    let quoted = match summary.map(secrets::keepable) {
        Some(summary) if !summary.trim().is_empty() => {
            format!(", in the client's words: {}", summary.trim())
        }
        _ => String::new(),
    };
    if !(counts.is_empty() && quoted.is_empty()) {
        call.stage_history(Some(format!("Compacted{counts}{quoted}")), WithoutTopic::Bind).await?;
    }
    Ok(HookResponse::default())
}

/// Restores what a compaction removed: the load, and the conversation's work in progress.
pub(super) async fn restore(call: &HookCall<'_>) -> Result<HookResponse, HookError> {
    // Some clients report a compaction only afterwards, so nothing was forgotten at its beginning.
    call.conversations().with(&call.name, ConversationState::forget_given);
    let (activity, reader) = (call.pending_activity(), call.session.reader(&call.service.sessions));
    let session = call.session.id.clone();
    let load = ready_load(call, None, move |memory, load| {
        let activity = Some(&activity);
        let view =
            CompactionView { reader: &reader, session: &session, activity, now: clock::now() };
        restored(memory, &view, load)
    });
    Ok(match load.await? {
        Some(load) => load.answer(call),
        None => answer_not_shown(call),
    })
}

fn conversation<'a>(
    call: &'a HookCall<'_>,
    activity: &'a SessionActivity,
    reader: &'a Reader,
) -> CompactionView<'a> {
    CompactionView {
        reader,
        session: &call.session.id,
        activity: Some(activity),
        now: clock::now(),
    }
}
