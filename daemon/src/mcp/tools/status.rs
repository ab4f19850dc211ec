//! `memory_status`: counts, revision, sizes against limits, who else is here.

use anchord_memory::{Kind, limits, render};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::budgets::InForce;
use crate::mcp::context::{Budgets, Context};
use crate::mcp::tool::{Effect, ToolError, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

/// The tool.
pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_status",
        "Counts, budget, revision, limits, what you have staged, who else is live here.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, _params: Params) -> Result<String, ToolError> {
    let view = context.view().await?;
    let memory = &view.memory;
    let totals = memory.totals();
    let mut lines = vec![
        format!("project: {}", view.place.name(&context.daemon)),
        format!("revision: {}", memory.revision().0),
        format!("active: {}", Kind::ALL.map(|kind| kind.count(totals.of(kind))).join(", ")),
        format!(
            "size: {} (a nudge above {}, oldest parts archived above {})",
            render::bytes(totals.rendered_bytes),
            render::bytes(limits::RENDERED_SOFT_BYTES_MAX),
            render::bytes(limits::RENDERED_HARD_BYTES_MAX)
        ),
    ];
    let budgets = Budgets::new(memory, &context.daemon.config, &context.holder());
    let usage = |label: &str, (notes, tokens): (u64, u64), in_force: &InForce| {
        let used = render::percent(tokens, in_force.budget.tokens);
        let notes = Kind::Note.count(notes);
        format!("{label}: {notes}, {tokens} tokens, {used}% of {in_force}")
    };
    lines.push(usage("budget", (totals.notes, totals.note_tokens), &budgets.project));
    lines.push(usage("your own notes", memory.own_usage(&context.reader()), &budgets.session));
    lines.push(format!(
        "kept: {} of {} notes, {} of {}; {} archived",
        totals.notes_kept,
        limits::NOTES_MAX,
        render::bytes(totals.note_bytes),
        render::bytes(limits::NOTES_BYTES_MAX),
        totals.archived,
    ));
    let staged = context.staged(&view).unwrap_or_else(|| "nothing".to_owned());
    lines.push(format!("staged by this session: {staged}"));
    let others = context.others_live(&view);
    let names: Vec<&str> = others.iter().map(|live| live.client.as_ref()).collect();
    lines.push(match names.as_slice() {
        [] => "other live sessions here: none".to_owned(),
        names => format!("other live sessions here: {} ({})", names.len(), names.join(", ")),
    });
    if let Some(why) = view.project.as_ref().and_then(|open| open.owner.health().read_only.clone())
    {
        lines.push(format!("READ-ONLY: {why}"));
    }
    lines.extend(view.remark);
    Ok(lines.join("\n"))
}
