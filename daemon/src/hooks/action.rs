//! Answers a tool that the agent is about to use or has used, with what memory has on its files or
//! on its failure.

use std::sync::Arc;

use anchord_memory::defuse;
use anchord_memory::lifecycle::{Answer, CommandOutcome, CommandRun, ToolRun, ToolUse};
use anchord_memory::render::hooks::{
    FailureContext, FileContext, OutlineOffer, failure_context, file_context,
};
use anchord_memory::render::{RuleVerdict, rule_stop};
use anchord_memory::rules::{Access, Effect};
use anchord_memory::{FailureView, Record, remedies};
use anchord_proto::hello::ToolSet;

use super::response::{DeliveredCheck, HookResponse};
use super::{Arrival, HookCall, HookError, subagent};
use crate::outlines::FilesOf;
use crate::rules::{self, IntendedAction};
use crate::sessions::View;
use crate::{budgets, clock, limits};

/// Stops a tool that a rule stops. Otherwise returns what memory has on the call's files. Records
/// which subagent makes the call, and the task that the call starts a subagent with.
pub(super) async fn begins(
    call: &HookCall<'_>,
    begins: &ToolUse,
    arrival: &Arrival<'_>,
) -> Result<HookResponse, HookError> {
    let Some(Check { stop, logged }) = checked(call, begins, arrival).await? else {
        return passes(call, begins, arrival).await;
    };
    let response = match stop {
        Some(answer) => HookResponse { answer, ..HookResponse::default() },
        None => passes(call, begins, arrival).await?,
    };
    Ok(HookResponse { check: Some(logged), ..response })
}

/// Handles a tool that no rule stops.
async fn passes(
    call: &HookCall<'_>,
    begins: &ToolUse,
    arrival: &Arrival<'_>,
) -> Result<HookResponse, HookError> {
    if arrival.is_double {
        return Ok(HookResponse::default());
    }
    if begins.is_run {
        call.note();
    }
    if !begins.call.is_empty() {
        subagent::calls(call, &begins.call);
    }
    if let Some(task) = &begins.task {
        call.conversations().expect_task(&call.name, task.clone());
    }
    if !begins.takes_context {
        return Ok(HookResponse::default());
    }
    let outlines = if begins.reads_whole { Outlines::Offer } else { Outlines::Withhold };
    about_files(call, &begins.files, outlines).await
}

/// A check of a tool against rules.
struct Check {
    /// The answer that stops the tool, if a rule does.
    stop: Option<Answer>,
    /// The check for the log.
    logged: Box<DeliveredCheck>,
}

/// Checks a tool against the rules; `None` if there are no rules. Some clients ask nobody by
/// themselves. There, a tool to ask about is denied, with the command by which a person approves
/// it.
async fn checked(
    call: &HookCall<'_>,
    begins: &ToolUse,
    arrival: &Arrival<'_>,
) -> Result<Option<Check>, HookError> {
    let started = clock::start();
    let view = call.session.view(&call.service.sessions).await?;
    let writes: Vec<String> = begins.writes.iter().map(|file| view.place.relative(file)).collect();
    let read = begins.files.iter().map(|file| view.place.relative(file));
    let read: Vec<String> = read.filter(|file| !writes.contains(file)).collect();
    let paths = [writes.clone(), read].concat();
    let tool = Some(begins.tool.clone()).filter(|tool| !tool.is_empty());
    let access = if begins.only_reads { Access::Read } else { Access::Unknown };
    let command = begins.command.clone();
    let directory = begins.directory.as_deref().and_then(|it| view.place.directory(it));
    let asked = IntendedAction { action: None, command, directory, paths, writes, access, tool };
    let rules = &call.service.sessions.rules;
    // A client that asks in its own prompt needs no approval here.
    let asks = (!arrival.asks).then_some(&call.session.id);
    let checked = rules.check(&view.rule_sources(), &asked, asks).await;
    if !checked.has_rules {
        return Ok(None);
    }
    let verdict = RuleVerdict {
        verdict: &checked.verdict,
        approval: checked.approval.as_deref(),
        is_approved: checked.is_approved,
    };
    let reason = if checked.passes() { String::new() } else { rule_stop(&verdict) };
    let reason = defuse::defuse(&reason).into_owned();
    let session = Arc::clone(&call.session);
    let (line, took) = (rules::logged(&asked, &checked), started.elapsed());
    let envelope = call.envelope;
    let logged = Box::new(DeliveredCheck {
        session,
        line,
        took,
        event: ((envelope.client, envelope.agent_session.clone()), arrival.digest),
        is_double: arrival.is_double,
    });
    let asks = checked.verdict.effect == Effect::Ask && arrival.asks;
    let stop = (!checked.passes()).then_some(Answer::Stop { asks, reason });
    Ok(Some(Check { stop, logged }))
}

/// Records a tool's run. Returns what helps after a failed command. Otherwise returns what memory
/// has on files that the client reports only after the tool.
pub(super) async fn ran(call: &HookCall<'_>, run: &ToolRun) -> Result<HookResponse, HookError> {
    call.note();
    if let Some(CommandRun { command, .. }) = &run.command {
        let place = call.session.place(&call.service.sessions).await?;
        call.service.sessions.rules.ran(place.located(), command);
    }
    if let Some(CommandRun { command, outcome: CommandOutcome::Failed { output } }) = &run.command {
        return failed(call, command, output).await;
    }
    let files: Vec<String> = run.read.iter().chain(&run.edited).cloned().collect();
    about_files(call, &files, Outlines::Withhold).await
}

/// Returns what was learned from this failure before. No record is given twice.
async fn failed(
    call: &HookCall<'_>,
    command: &str,
    output: &str,
) -> Result<HookResponse, HookError> {
    let view = call.session.searchable_view(&call.service.sessions).await?;
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    if !settings.prompt_recall.unwrap_or(true) {
        return Ok(HookResponse::default());
    }
    let mut given = call.in_context(&view.memory);
    call.with_context(|conversation| given.extend(conversation.remedies.iter().copied()));
    let of = FailureView {
        reader: &call.session.reader(&call.service.sessions),
        command,
        output,
        given: &given,
        now: clock::now(),
    };
    let remedies = remedies(&view.memory, &of);
    let failure = FailureContext { command, output, remedies: &remedies };
    let context = failure_context(&view.memory, &failure);
    call.with_context(|conversation| {
        conversation.given.extend(context.whole.iter().copied());
        conversation.remedies.extend(context.shown.iter().copied());
    });
    Ok(HookResponse::context(context))
}

/// Whether to offer the outlines of long files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outlines {
    /// The files are about to be read whole.
    Offer,
    Withhold,
}

/// Returns what memory has on the first new file on which it has something. Each file is looked up
/// once for a context. Offers outlines of long files if asked to. Such a file need not be new: a
/// part of it may have been read before.
async fn about_files(
    call: &HookCall<'_>,
    files: &[String],
    outlines: Outlines,
) -> Result<HookResponse, HookError> {
    let is_new =
        |file: &String| call.with_context(|conversation| !conversation.files.contains(file));
    let may_offer = |file: &String| {
        outlines == Outlines::Offer
            && call.with_context(|conversation| !conversation.offered.contains(file))
    };
    let due = files.iter().filter(|file| is_new(file) || may_offer(file));
    let due: Vec<&String> = due.take(limits::ACTION_FILES_MAX).collect();
    if due.is_empty() {
        return Ok(HookResponse::default());
    }
    let view = call.session.searchable_view(&call.service.sessions).await?;
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    if !settings.prompt_recall.unwrap_or(true) {
        return Ok(HookResponse::default());
    }
    let sessions = &call.service.sessions;
    for file in due {
        let is_known = !is_new(file);
        call.with_context(|conversation| {
            if conversation.files.len() < limits::FILES_LOOKED_UP_MAX {
                conversation.files.insert(file.clone());
            }
        });
        let given = call.in_context(&view.memory);
        let offer = if may_offer(file) { offer(call, &view, file).await } else { None };
        if offer.is_some() {
            call.with_context(|conversation| conversation.offer(file));
        }
        let relative = view.place.relative(file);
        let folder = relative.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_near = |record: &&Arc<Record>| match record.anchor() {
            Some(anchor) => anchor.file.rsplit_once('/').map_or("", |(folder, _)| folder) == folder,
            None => record.body.seen_files().is_some_and(|seen| seen.has(&relative)),
        };
        let near: Vec<_> = view.memory.active_with_code().filter(is_near).cloned().collect();
        let view = view.clone().with_anchors(sessions, limits::ANCHORS_FEW_TIME_MAX, &near).await;
        let context = file_context(
            &view.memory,
            &FileContext {
                reader: &call.session.reader(&call.service.sessions),
                file: &relative,
                given: &given,
                is_known,
                now: clock::now(),
                offer,
            },
        );
        if !context.text.is_empty() {
            call.with_context(|conversation| {
                conversation.given.extend(context.whole.iter().copied());
            });
            return Ok(HookResponse::context(context));
        }
    }
    Ok(HookResponse::default())
}

/// Returns the outline of a file that the agent could read instead.
async fn offer(call: &HookCall<'_>, view: &View, file: &str) -> Option<OutlineOffer> {
    let files = FilesOf { root: view.place.root()?, repository: view.place.repository() };
    let has_tool = call.session.tool_set() == ToolSet::All;
    let offer = call.service.outlines.offer(files, file).await?;
    call.service.metrics().outline_offered();
    Some(OutlineOffer { has_tool, ..offer })
}
