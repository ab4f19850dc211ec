//! Claude Code. Context reaches the model as `additionalContext`. Plain text printed by
//! `PreCompact` tells the compaction what to keep. Afterwards only `SessionStart` with source
//! `compact` brings context back.

use anchord_memory::lifecycle::{Answer, Event};

use crate::events::{Adapter, Envelope, Payload, Read, hook_specific, permission_decision};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "agent_id",
        "agent_transcript_path",
        "agent_type",
        "background_tasks",
        "compact_summary",
        "context_tokens",
        "custom_instructions",
        "cwd",
        "duration_ms",
        "effort",
        "error",
        "hook_event_name",
        "is_interrupt",
        "last_assistant_message",
        "mcp_server",
        "model",
        "permission_mode",
        "prompt",
        "prompt_id",
        "reason",
        "seconds_since_last_response",
        "session_crons",
        "session_id",
        "source",
        "stop_hook_active",
        "tool_input",
        "tool_name",
        "tool_response",
        "tool_use_id",
        "transcript_path",
        "trigger",
    ],
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent: |payload| payload.agent(),
    read,
    asks: true,
    write,
};

/// Tools that write the file they name.
const WRITES: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The beginning of a prompt that the client itself submits when a background task has ended.
const NOTIFICATION: &str = "<task-notification>";

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let agent = || payload.agent().unwrap_or_default();
    let event = match name {
        "SessionStart" => Event::SessionStarted { source: payload.source() },
        "UserPromptSubmit" => {
            let prompt = payload.owned("prompt").unwrap_or_default();
            if prompt.trim_start().starts_with(NOTIFICATION) {
                return Some(Read::nothing());
            }
            Event::PromptSubmitted { prompt }
        }
        "PreToolUse" => Event::ToolBegins(payload.tool_use(&WRITES)),
        "PostToolUse" => {
            let response = payload.object("tool_response");
            // The status of a command is unknown if it runs in the background or was interrupted.
            let runs_on = payload.object("tool_input").flag("run_in_background");
            let passed = (!runs_on && !response.flag("interrupted")).then_some(true);
            let printed = ["stdout", "stderr"].map(|stream| response.text(stream).unwrap_or(""));
            Event::ToolRan(payload.tool(&WRITES, passed, &printed.join("\n")))
        }
        "PostToolUseFailure" => {
            let passed = (!payload.flag("is_interrupt")).then_some(false);
            let output = payload.text("error").unwrap_or_default();
            let mut run = payload.tool(&WRITES, passed, output);
            run.edited.clear();
            Event::ToolRan(run)
        }
        "PreCompact" => Event::CompactionBegins { messages: None },
        "PostCompact" => Event::Compacted { summary: summary(payload), messages: None },
        "Stop" => Event::TurnEnded { last_message: payload.owned("last_assistant_message") },
        "StopFailure" => Event::TurnEnded { last_message: None },
        "SubagentStart" => Event::SubagentStarted(agent()),
        // A subagent without a type writes the summary of a compaction.
        "SubagentStop" if agent().agent_type.is_empty() => return Some(Read::nothing()),
        "SubagentStop" => Event::SubagentEnded(agent()),
        "SessionEnd" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

/// Returns the summary of a compaction, without the model's reasoning before it.
fn summary(payload: Payload<'_>) -> Option<String> {
    let text = payload.text("compact_summary")?;
    let inner = text.split_once("<summary>").map_or(text, |(_, summary)| summary);
    Some(inner.split("</summary>").next().unwrap_or_default().trim().to_owned())
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Instructions(text), Event::CompactionBegins { .. }) => text.clone(),
        _ => write_context(envelope, answer),
    }
}

/// Writes context and stops for the events that have a channel for them. Other clients use the same
/// events and format.
pub(in crate::clients) fn write_context(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (
            Answer::Context(context),
            Event::SessionStarted { .. }
            | Event::PromptSubmitted { .. }
            | Event::ToolBegins(_)
            | Event::ToolRan(_)
            | Event::SubagentStarted(_),
        ) => hook_specific(envelope, context),
        (Answer::Stop { asks, reason }, Event::ToolBegins(_)) => {
            permission_decision(envelope, *asks, reason)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
