//! A subagent begins: a slice of the memory, small, since there may be many.

use anchord_memory::lifecycle::{Answer, Subagent};
use anchord_memory::render::lifecycle::{SessionView, subagent_slice};

use super::{Call, HookError, context};
use crate::{budgets, clock};

pub(super) async fn started(call: &Call<'_>, agent: &Subagent) -> Result<Answer, HookError> {
    let view = call.session.view(call.daemon).await?;
    let settings = budgets::project_settings(&view.memory, &call.daemon.config);
    if settings.subagent_skip.unwrap_or_default().contains(&agent.agent_type) {
        return Ok(Answer::Nothing);
    }
    let told = subagent_slice(
        &view.memory,
        &SessionView {
            reader: &call.session.reader(call.daemon),
            session: &call.session.id,
            noted: None,
            messages: (None, None),
            now: clock::now(),
        },
    );
    Ok(context(told.text))
}
