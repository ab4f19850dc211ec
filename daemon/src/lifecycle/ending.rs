//! A turn, a conversation or its context is over.

use super::{Call, HookError, Said};
use crate::sessions;

/// What was noted of the turn is staged.
pub(super) async fn turn(call: &Call<'_>) -> Result<Said, HookError> {
    call.note();
    call.stage_noted().await?;
    Ok(Said::default())
}

/// What the session staged is folded into memory, and the session is over. A later event or call begins again.
pub(super) async fn session(call: &Call<'_>) -> Result<Said, HookError> {
    let _announced = call.daemon.sessions().announce_end(&call.session.id);
    let asked = call.noted_so_far().await;
    let mut staged = call.stage_noted().await;
    if let Some(asked) = asked {
        staged = staged.and(call.stage_history(Some(asked), false).await);
    }
    call.threads().end(&call.name);
    // What cannot be staged must not keep back what is.
    sessions::keep_and_end(call.daemon, &call.session).await?;
    staged?;
    Ok(Said::default())
}

impl Call<'_> {
    /// The line that a topic's history gets of a session that ends: what it was asked.
    async fn noted_so_far(&self) -> Option<String> {
        let view = self.session.view(self.daemon).await.ok()?;
        let staged = view.memory.staged_by(&self.session.id);
        let mut noted =
            staged.and_then(|staged| staged.captured.as_deref().cloned()).unwrap_or_default();
        noted.absorb(&self.noted());
        let summary = noted.row_summary();
        summary.lines().next().map(|asked| format!("Session ended. {asked}"))
    }
}
