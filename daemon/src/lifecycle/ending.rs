//! A turn, a conversation or its context is over.

use anchord_memory::lifecycle::Answer;

use super::{Call, HookError};
use crate::sessions;

/// What was noted of the turn is staged.
pub(super) async fn turn(call: &Call<'_>) -> Result<Answer, HookError> {
    call.note();
    call.stage_noted().await?;
    Ok(Answer::Nothing)
}

/// What the session staged is folded into memory, and the session is over. A later event or call begins again.
pub(super) async fn session(call: &Call<'_>) -> Result<Answer, HookError> {
    let staged = call.stage_noted().await;
    call.threads().end(&call.name);
    // What cannot be staged must not keep what is.
    sessions::keep_and_end(call.daemon, &call.session).await?;
    staged?;
    Ok(Answer::Nothing)
}
