//! `memory_configure`: budgets and thresholds of the project, or of this client's private notes.

use anchord_memory::guide::CheckpointMode;
use anchord_memory::{Memory, Provenance, Settings, Staged, plan_configure};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::ScopeParams;
use crate::budgets;
use crate::config::Config;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// session: for the own notes of this client's sessions
    scope: Option<ScopeParams>,
    /// Tokens of active notes
    budget_tokens: Option<u32>,
    /// Tokens of a memory_load
    load_tokens: Option<u32>,
    auto_compact: Option<bool>,
    /// Percent of the budget
    compact_above: Option<u8>,
    /// Percent of the budget
    compact_to: Option<u8>,
    /// Project notes fade so much slower than own ones
    half_life_factor: Option<u32>,
    /// conservative, balanced or aggressive
    checkpoint_mode: Option<String>,
    /// Whether prompts get what memory has on them
    prompt_recall: Option<bool>,
    /// Types of subagents that are given nothing at their start
    subagent_skip: Option<Vec<String>>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_configure",
        "Set what is given, and show what is in force. Without parameters it only shows.",
        Effect::Adds,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let checkpoint_mode = params
        .checkpoint_mode
        .map(|mode| mode.parse::<CheckpointMode>())
        .transpose()
        .map_err(|error| ToolError::failed("configure", error))?;
    let settings = Settings {
        budget_tokens: params.budget_tokens,
        load_tokens: params.load_tokens,
        auto_compact: params.auto_compact,
        compact_above: params.compact_above,
        compact_to: params.compact_to,
        half_life_factor: params.half_life_factor,
        checkpoint_mode,
        prompt_recall: params.prompt_recall,
        subagent_skip: params.subagent_skip,
    };
    let holder = context.holder();
    if settings == Settings::default() {
        let view = context.view().await?;
        return Ok(in_force(&view.memory, &context.sessions.config, &holder).into());
    }
    let client = (params.scope == Some(ScopeParams::Session)).then(|| holder.client.clone());
    let plan = move |memory: &Memory, _: &Provenance, _| {
        let client = client.as_deref().map(|client| budgets::settings_name(memory, client));
        plan_configure(memory, client, &settings)
    };
    let written = context.commit("configure", Staged::default(), plan).await?;
    let view = context.view().await?;
    let now = in_force(&view.memory, &context.sessions.config, &holder);
    context.answer(written, |_| format!("Configured.\n{now}")).await
}

/// Lists every setting and its source.
fn in_force(memory: &Memory, config: &Config, holder: &budgets::Holder) -> String {
    let settings = budgets::project_settings(memory, config);
    let mode = settings.checkpoint_mode.unwrap_or_default().name();
    let recall = if settings.prompt_recall.unwrap_or(true) { "on" } else { "off" };
    let skipped = match settings.subagent_skip.as_deref() {
        None | Some([]) => "none".to_owned(),
        Some(types) => types.join(", "),
    };
    format!(
        "project notes: {}\nyour own notes: {}\nload: {} tokens\ncheckpoint mode: {mode}\n\
         prompt recall: {recall}\nsubagents given nothing: {skipped}\n",
        budgets::project(memory, config),
        budgets::session(memory, config, holder),
        settings.load_tokens(),
    )
}
