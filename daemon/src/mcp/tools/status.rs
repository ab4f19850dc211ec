//! `memory_status`: counts, revision, sizes against limits, other live sessions.

use anchord_memory::{Kind, Memory, Pool, Sizes, limit, limits, render};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::budgets::InForce;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::{Budgets, Context};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_status",
        "Counts, budget, revision, limits, what you have staged, who else is live here.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, _params: Params) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let memory = &view.memory;
    let totals = memory.totals();
    let mut lines = vec![
        format!("project: {}", view.place.name(&context.sessions)),
        format!("revision: {}", memory.revision().0),
        format!("active: {}", Kind::ALL.map(|kind| kind.count(totals.active.of(kind))).join(", ")),
        format!(
            "size: {} (a nudge above {}, oldest parts archived above {})",
            render::bytes(totals.text_bytes),
            render::bytes(limits::ACTIVE_TEXT_SOFT_BYTES_MAX),
            render::bytes(limits::ACTIVE_TEXT_HARD_BYTES_MAX)
        ),
    ];
    let budgets = Budgets::new(memory, &context.sessions.config, &context.holder());
    let reader = context.reader();
    let mut usage = |label: &str, notes: u64, pool: &Pool, in_force: &InForce| {
        let (tokens, pinned, budget) = (pool.used(memory), pool.pinned(memory), &in_force.budget);
        let used = render::percent(tokens, budget.tokens);
        let notes = Kind::Note.count(notes);
        lines.push(format!("{label}: {notes}, {tokens} tokens, {used}% of {in_force}"));
        if pinned > budget.share(budget.to) {
            lines.push(format!(
                "{label}: full of pinned notes, {pinned} tokens; unpin some, or raise the budget"
            ));
        }
    };
    usage("budget", totals.active.notes, &Pool::Project, &budgets.project);
    let own = memory.own_usage(&reader).0;
    usage("your own notes", own, &Pool::Own(reader), &budgets.session);
    let of_user = context.personal().view().await;
    if let Ok(of_user) = of_user.as_ref().map(|view| view.memory.totals())
        && of_user.kept.notes.records > 0
    {
        let (notes, tokens) = (Kind::Note.count(of_user.active.notes), of_user.note_tokens);
        lines.push(format!("the user's own notes, for every project: {notes}, {tokens} tokens"));
    }
    lines.push(format!("kept: {}; {} archived", kept(&totals.kept), totals.archived));
    let staged = context.staged(&view).unwrap_or_else(|| "nothing".to_owned());
    lines.push(format!("staged by this session: {staged}"));
    lines.push(format!("staged size: {}", staged_sizes(&context, memory)));
    let others = context.others_live(&view);
    let names: Vec<&str> = others.iter().map(|live| live.client.as_ref()).collect();
    lines.push(match names.as_slice() {
        [] => "other live sessions here: none".to_owned(),
        names => format!("other live sessions here: {} ({})", names.len(), names.join(", ")),
    });
    if let Some(why) = view.project.as_ref().and_then(|open| open.owner.health().read_only.clone())
    {
        lines.push(format!("READ-ONLY: {why}; `anchord doctor` says what to do"));
    }
    lines.extend(view.team(None).lines().map(str::to_owned));
    lines.extend(view.remark);
    Ok(ToolAnswer { has_place_remark: true, ..lines.join("\n").into() })
}

/// Returns the size of each kind against its limit. Notes come first; kinds without records are
/// left out.
fn kept(sizes: &Sizes) -> String {
    let others = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Note);
    let others = others.filter(|kind| sizes.of(*kind).records > 0);
    let line = |kind: Kind| {
        let (size, most) = (sizes.of(kind), limit(kind));
        format!(
            "{} of {}, {} of {}",
            size.records,
            kind.count(most.records),
            render::bytes(size.bytes),
            render::bytes(most.bytes)
        )
    };
    std::iter::once(Kind::Note).chain(others).map(line).collect::<Vec<_>>().join("; ")
}

/// Returns the size of this session's staged work and of all sessions' staged work, each against
/// its limit.
fn staged_sizes(context: &Context, memory: &Memory) -> String {
    let own = memory.staged_by(&context.session.id).map_or(0, |staged| staged.bytes());
    let all = memory.staged().map(|(_, staged)| staged.bytes()).sum::<usize>();
    let bytes = |bytes: usize| render::bytes(bytes as u64);
    format!(
        "{} of {} by this session, {} of {} by all",
        bytes(own),
        bytes(limits::STAGED_BYTES_MAX),
        bytes(all),
        bytes(limits::STAGED_PROJECT_BYTES_MAX)
    )
}
