//! Answers a tool that the agent is about to use or has used, with what memory has on its files or
//! on its failure.

use anchord_memory::lifecycle::{CommandOutcome, CommandRun, ToolRun, ToolUse};
use anchord_memory::render::hooks::{FailureContext, FileContext, failure_context, file_context};
use anchord_memory::{FailureView, remedies};

use super::{Call, HookError, HookResponse, subagent};
use crate::{budgets, clock, limits};

/// Records which subagent makes the call, and the task that the call starts a subagent with.
/// Returns what memory has on the call's files.
pub(super) async fn begins(call: &Call<'_>, begins: &ToolUse) -> Result<HookResponse, HookError> {
    if !begins.call.is_empty() {
        subagent::calls(call, &begins.call);
    }
    if let Some(task) = &begins.task {
        call.threads().expect_task(&call.name, task.clone());
    }
    about_files(call, &begins.files).await
}

/// Records a tool's run. Returns what helps after a failed command. Otherwise returns what memory
/// has on files that the client reports only after the tool.
pub(super) async fn ran(call: &Call<'_>, run: &ToolRun) -> Result<HookResponse, HookError> {
    call.note();
    if let Some(CommandRun { command, outcome: CommandOutcome::Failed { output } }) = &run.command {
        return failed(call, command, output).await;
    }
    let files: Vec<String> = run.read.iter().chain(&run.edited).cloned().collect();
    about_files(call, &files).await
}

/// Returns what was learned from this failure before. No record is given twice.
async fn failed(call: &Call<'_>, command: &str, output: &str) -> Result<HookResponse, HookError> {
    let view = call.session.view(&call.service.sessions).await?;
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    if !settings.prompt_recall.unwrap_or(true) {
        return Ok(HookResponse::default());
    }
    let given = call.with_context(|thread| thread.given.union(&thread.remedies).copied().collect());
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
    call.with_context(|thread| {
        thread.given.extend(context.whole.iter().copied());
        thread.remedies.extend(context.shown.iter().copied());
    });
    Ok(HookResponse::context(context))
}

/// Returns what memory has on the first new file on which it has something. Each file is looked up
/// once for a context.
async fn about_files(call: &Call<'_>, files: &[String]) -> Result<HookResponse, HookError> {
    let new = |file: &&String| call.with_context(|thread| !thread.files.contains(*file));
    if !files.iter().any(|file| new(&file)) {
        return Ok(HookResponse::default());
    }
    let view = call.session.view(&call.service.sessions).await?;
    let settings = budgets::project_settings(&view.memory, &call.service.sessions.config);
    if !settings.prompt_recall.unwrap_or(true) {
        return Ok(HookResponse::default());
    }
    for file in files.iter().filter(new).take(limits::ACTION_FILES_MAX) {
        let given = call.with_context(|thread| {
            if thread.files.len() < limits::FILES_TOLD_MAX {
                thread.files.insert(file.clone());
            }
            thread.given.clone()
        });
        let context = file_context(
            &view.memory,
            &FileContext {
                reader: &call.session.reader(&call.service.sessions),
                file: &view.place.relative(file),
                given: &given,
                now: clock::now(),
            },
        );
        if !context.text.is_empty() {
            call.with_context(|thread| thread.given.extend(context.whole.iter().copied()));
            return Ok(HookResponse::context(context));
        }
    }
    Ok(HookResponse::default())
}
