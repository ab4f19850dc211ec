//! Handles the end of a turn, of a conversation or of its context.

use anchord_memory::lifecycle::Event;

use super::activity::WithoutTopic;
use super::conversations::ConversationState;
use super::response::HookResponse;
use super::{HookCall, HookError};
use crate::sessions;

/// Stages the turn's pending activity.
pub(super) async fn turn(call: &HookCall<'_>) -> Result<HookResponse, HookError> {
    call.note();
    call.stage_pending_activity().await?;
    Ok(HookResponse::default())
}

/// Folds the session's staged work into memory and ends the session. A later event or call begins
/// again.
pub(super) async fn session(call: &HookCall<'_>) -> Result<HookResponse, HookError> {
    let _announced = call.service.sessions.table.announce_end(&call.session.id);
    let asked = call.history_line().await;
    let mut staged = call.stage_pending_activity().await;
    let is_pending = staged.is_err();
    if let Some(asked) = asked {
        staged = staged.and(call.stage_history(Some(asked), WithoutTopic::Skip).await);
    }
    // Activity that cannot be staged yet stays, and is staged with a later pass.
    if !is_pending {
        call.conversations().end(&call.name);
    }
    if call.envelope.event == Event::Reset {
        call.conversations().with(&call.name, ConversationState::forget_given);
    }
    // Work that cannot be staged must not hold back the rest.
    sessions::keep_and_end(&call.service.sessions, &call.session).await?;
    staged?;
    Ok(HookResponse::default())
}

impl HookCall<'_> {
    /// Returns the history line that an ending session leaves in its topic: its first request.
    async fn history_line(&self) -> Option<String> {
        let view = self.session.view(&self.service.sessions).await.ok()?;
        let staged = view.memory.staged_by(&self.session.id);
        let mut activity =
            staged.and_then(|staged| staged.captured.as_deref().cloned()).unwrap_or_default();
        activity.absorb(&self.pending_activity());
        let summary = activity.row_summary();
        summary.lines().next().map(|asked| format!("Session ended. {asked}"))
    }
}
