//! `memory_compact`: brings notes down to a share of their budget now, or shows what that would do.

use std::sync::Arc;

use anchord_memory::{CompactionOutcome, Memory, Pool, RecordId, render};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::ScopeParams;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// Share of the budget, 0 to 1
    target_usage: Option<f64>,
    /// Show the plan alone
    #[serde(default)]
    dry_run: bool,
    /// session: your own notes
    scope: Option<ScopeParams>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_compact",
        "Bring notes down to a share of their budget: summaries stand for texts, near duplicates are folded, what is \
         least worth keeping is archived. Nothing is lost; what is used comes back.",
        Effect::Adds,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let context = match params.scope {
        Some(ScopeParams::User) => context.personal(),
        Some(ScopeParams::Project | ScopeParams::Session) | None => context,
    };
    let view = context.view().await?;
    let pool = match params.scope {
        Some(ScopeParams::Session) => Pool::Own(context.reader()),
        Some(ScopeParams::Project | ScopeParams::User) | None => Pool::Project,
    };
    let percent = match params.target_usage {
        None => context.session.in_force(&context.sessions, &view.memory, &pool).budget.to,
        Some(share) => percent(share).ok_or_else(|| {
            let why = format!("target_usage is {share}; give a number from 0 to 1");
            ToolError::failed("compact", why)
        })?,
    };
    let plan = context.compaction(&view, pool, percent).await;
    // Without a project there is nothing to write. In a project a repeated call must get its first
    // reply.
    if params.dry_run || view.project.is_none() {
        let now = clock::now();
        let shown = render::compaction_plan(&view.memory, &plan, now, &context.audience);
        return Ok(ToolAnswer { plan: Some(Arc::new(plan)), ..shown.into() });
    }
    let touched: Vec<RecordId> =
        plan.promote.keys().chain(plan.fold.keys()).chain(plan.archive.keys()).copied().collect();
    let words = |memory: &Memory, outcome: &CompactionOutcome, now| {
        render::compaction(memory, outcome, now, &context.audience)
    };
    let answer = context.compact(plan, words).await?;
    Ok(answer.with_newest(&context.view().await?.memory, &touched))
}

/// Converts a share to whole percent.
fn percent(share: f64) -> Option<u8> {
    let percent = (share * 100.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    (0.0..=100.0).contains(&percent).then_some(percent as u8)
}
