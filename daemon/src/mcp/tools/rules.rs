//! `memory_rule_check` and `memory_rule_set`: whether an action may be done now, and proposals of
//! rules. Commands list rules, put them in force, disable them, and approve an action.

use anchord_memory::render::{self, RuleVerdict, WaitingAction};
use anchord_memory::rules::{Access, Effect as RuleEffect, Matches, Window};
use anchord_memory::{
    Audience, Expires, Memory, Provenance, RecordId, Rule, RuleAuthor, Staged, Standing, plan_rule,
    plan_rule_standing,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::rules::{IntendedAction, Pending};

/// The other name of `memory_rule_check`, which agents of another system call.
const CHECK_ALIAS: &str = "check_compliance";

#[derive(Debug, Deserialize, JsonSchema)]
struct CheckParams {
    /// In words
    action: Option<String>,
    command: Option<String>,
    /// The command's directory
    directory: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    /// Those it writes; it then only reads the others
    #[serde(default)]
    writes: Vec<String>,
    tool: Option<String>,
}

pub(super) fn check() -> ToolSpec {
    ToolSpec::new(
        "memory_rule_check",
        "May this be done now, by the project's rules? Before anything risky: deploy, delete, push, migrate.",
        Effect::Reads,
        run_check,
    )
    .also_named(CHECK_ALIAS)
}

async fn run_check(context: Context, params: CheckParams) -> Result<ToolAnswer, ToolError> {
    let CheckParams { action, command, directory, mut paths, writes, tool } = params;
    let access = if writes.is_empty() { Access::Unknown } else { Access::Read };
    paths.extend(writes.iter().cloned());
    if action.is_none() && command.is_none() && paths.is_empty() && tool.is_none() {
        return Err(ToolError::failed("check", "give an action, a command, paths or a tool"));
    }
    let view = context.view().await?;
    let relative = |paths: &[String]| paths.iter().map(|path| view.place.relative(path)).collect();
    let (paths, writes) = (relative(&paths), relative(&writes));
    let directory = directory.and_then(|directory| view.place.directory(&directory));
    let asked = IntendedAction { action, command, directory, paths, writes, access, tool };
    // A person who tries a rule needs nobody's approval.
    let by_agent = !matches!(*context.audience, Audience::Person(_));
    let asks = by_agent.then_some(&context.session.id);
    let checked = context.sessions.rules.check(&view.rule_sources(), &asked, asks).await;
    let text = render::rule_check(&RuleVerdict {
        verdict: &checked.verdict,
        approval: checked.approval.as_deref(),
        is_approved: checked.is_approved,
    });
    let ids = checked.verdict.deciding.iter().filter_map(|decided| decided.rule.parse().ok());
    let ids: Vec<RecordId> = ids.collect();
    let answer = ToolAnswer { passes: Some(checked.passes()), ..ToolAnswer::from(text) };
    Ok(answer.with_newest(&view.memory, &ids))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SetParams {
    title: String,
    /// Shown when it decides
    reason: String,
    #[schemars(with = "String")]
    effect: RuleEffect,
    /// git push --force; * is any word
    #[serde(default)]
    commands: Vec<String>,
    /// Globs of files it uses
    #[serde(default)]
    paths: Vec<String>,
    /// Globs of files it writes
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    branches: Vec<String>,
    /// Words of an action
    #[serde(default)]
    actions: Vec<String>,
    /// `{days?: ["fri"], from?: "12:00" or a date, until?, tz: "Europe/Berlin"}`
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    windows: Vec<Window>,
    expires: Option<String>,
    /// Also while the daemon is gone
    #[serde(default)]
    fail_closed: bool,
}

pub(super) fn set() -> ToolSpec {
    ToolSpec::new(
        "memory_rule_set",
        "Propose a rule that hooks enforce: allow, ask or deny what matches every given field. A person puts it in force.",
        Effect::Adds,
        run_set,
    )
}

async fn run_set(context: Context, params: SetParams) -> Result<ToolAnswer, ToolError> {
    let author = match *context.audience {
        Audience::Person(_) => RuleAuthor::Person,
        Audience::Agent | Audience::Compactor => RuleAuthor::Agent,
    };
    let expires = params::expires(params.expires.as_deref(), clock::now())
        .map_err(|refusal| context.refused("set the rule", &refusal))?;
    let rule = Rule {
        title: params.title,
        reason: params.reason,
        effect: params.effect,
        matches: Matches {
            commands: params.commands,
            paths: params.paths,
            writes: params.writes,
            tools: params.tools,
            branches: params.branches,
            actions: params.actions,
        },
        windows: params.windows,
        expires: expires.and_then(Expires::moment),
        fail_closed: params.fail_closed,
        standing: Standing::Proposed,
    };
    let plan =
        move |memory: &Memory, by: &Provenance, _| plan_rule(memory, rule.clone(), author, by);
    let answer = context.write("set the rule", Staged::default(), plan, render::rule_set).await?;
    leave_copy(&context).await?;
    Ok(answer)
}

/// Leaves a copy of the rules for hooks that do not reach the daemon.
async fn leave_copy(context: &Context) -> Result<(), ToolError> {
    let view = context.view().await?;
    context.sessions.rules.leave_copy(&view.rule_sources()).await;
    Ok(())
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListParams {
    /// Only those of the project's file
    #[serde(default)]
    only_file: bool,
}

/// `memory_rules`: lists all rules. Only commands and the dashboard have it.
pub(super) fn list() -> ToolSpec {
    ToolSpec::new("memory_rules", "List the rules.", Effect::Reads, run_list)
}

async fn run_list(context: Context, params: ListParams) -> Result<ToolAnswer, ToolError> {
    let view = context.view().await?;
    let file = context.sessions.rules.file(view.place.located()).await;
    let mut text = if params.only_file {
        render::file_rules(&file.rules)
    } else {
        render::rules(&view.memory, &file.rules, &context.audience)
    };
    if let Some(error) = &file.error {
        text.push_str(&render::rules_unreadable(error));
    }
    let ids = if params.only_file { Vec::new() } else { render::rule_ids(&view.memory) };
    Ok(ToolAnswer::from(text).with_newest(&view.memory, &ids))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StandParams {
    id: String,
    disable: bool,
}

/// `memory_rule_stand`: puts a rule in force, or disables it. Only commands have it.
pub(super) fn stand() -> ToolSpec {
    ToolSpec::new("memory_rule_stand", "Accept or disable a rule.", Effect::Adds, run_stand)
}

async fn run_stand(context: Context, params: StandParams) -> Result<ToolAnswer, ToolError> {
    let (operation, standing) = if params.disable {
        ("disable the rule", Standing::Disabled)
    } else {
        ("accept the rule", Standing::Accepted)
    };
    let id: RecordId = params.id.parse().map_err(|error| ToolError::failed(operation, error))?;
    let plan =
        move |memory: &Memory, by: &Provenance, _| plan_rule_standing(memory, id, standing, by);
    let answer = context.write(operation, Staged::default(), plan, render::rule_set).await?;
    leave_copy(&context).await?;
    Ok(answer)
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ApproveParams {
    id: Option<String>,
}

/// `memory_approve`: approves an action that a rule asks for, or lists them. Only commands have it.
pub(super) fn approve() -> ToolSpec {
    ToolSpec::new("memory_approve", "Approve an action.", Effect::Adds, run_approve)
}

async fn run_approve(context: Context, params: ApproveParams) -> Result<ToolAnswer, ToolError> {
    let pending = || -> Vec<WaitingAction> {
        let pending = context.sessions.rules.pending().into_iter();
        let waiting =
            |(id, Pending { action, root, rules, .. })| WaitingAction { id, action, root, rules };
        pending.map(waiting).collect()
    };
    let Some(id) = params.id else {
        return Ok(ToolAnswer::from(render::approvals(&pending())));
    };
    match context.sessions.rules.approve(id.trim()) {
        Some(approval) => Ok(ToolAnswer::from(render::approved(&approval.action, approval.until))),
        None => Err(ToolError::failed(
            "approve",
            format!("no action `{id}` waits\n{}", render::approvals(&pending()).trim_end()),
        )),
    }
}
