//! `memory_save`: folds staged work and the call's own part into shared memory, as one commit. A
//! free text goes with it, and a state that was made of an earlier one.

use anchord_memory::render::StateCall;
use anchord_memory::{Revision, SaveOutcome, WriteLimits, limits, render};

use super::brief::BriefCall;
use super::params::SaveParams;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::Reply;
use crate::sessions::SaveCall;

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_save",
        "Fold what is staged, and this, into shared memory: when a piece of work is done, and before you end.",
        Effect::Adds,
        run,
    )
    .needed_first()
}

/// Characters of an answer that are kept for what it says besides the brief.
const REMARKS_CHARS: usize = 1_500;

async fn run(context: Context, mut params: SaveParams) -> Result<ToolAnswer, ToolError> {
    let items = params.items();
    let (text, state) = (params.context.as_deref(), params.state.as_ref());
    let call = BriefCall::read(&context, "save", items.topic_name(), text, state).await?;
    if state.is_some() && call.is_refused() {
        return Err(ToolError::failed("save", call.refusal()));
    }
    let part = items.into_part(clock::now());
    let mut part = part.map_err(|refusal| ToolError::failed("save", refusal))?;
    call.add_to(&mut part);
    let save = SaveCall {
        session_summary: params.session_summary,
        expected_revision: params.expected_revision.map(Revision),
        merge: call.merge.clone(),
        limits: WriteLimits::default(),
    };
    let written = context.save(part, save).await?;
    let rest = match &written.outcome {
        Reply::Outcome(outcome) if text.is_some() || state.is_some() => {
            let notes = call.notes(&written.records);
            // The lines about the text need some room, too.
            let used = render::save(outcome).chars().count() + REMARKS_CHARS;
            let room = limits::ANSWER_CHARS_MAX.saturating_sub(used);
            call.end(&context, &notes, outcome.merge, StateCall::Save, room).await?
        }
        _ => String::new(),
    };
    context.answer(written, |outcome: &SaveOutcome| render::save(outcome) + &rest).await
}
