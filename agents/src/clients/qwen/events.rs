//! Qwen Code. Context about a file reaches the model only after the tool. A prompt is reported
//! again after each tool, without its text.

use anchord_memory::lifecycle::{Answer, Event, ToolUse};

use crate::clients::claude_code::events::write_context;
use crate::events::{Adapter, Envelope, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "background_tasks",
        "context_limit",
        "context_usage",
        "crons",
        "cwd",
        "duration_ms",
        "error",
        "hook_event_name",
        "input_tokens",
        "is_interrupt",
        "last_assistant_message",
        "model",
        "permission_mode",
        "prompt",
        "prompt_id",
        "reason",
        "session_id",
        "source",
        "stop_hook_active",
        "submitted_prompt",
        "timestamp",
        "tool_call_id",
        "tool_input",
        "tool_name",
        "tool_response",
        "tool_use_id",
        "transcript_path",
    ],
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent: |payload| payload.agent(),
    read,
    asks: false,
    write,
};

/// Tools that write the file they name.
const WRITES: [&str; 3] = ["write_file", "edit", "notebook_edit"];
/// Tools that read the file they name.
const READS: [&str; 1] = ["read_file"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "SessionStart" => Event::SessionStarted { source: payload.source() },
        "UserPromptSubmit" => match payload.owned("prompt") {
            Some(prompt) => Event::PromptSubmitted { prompt },
            None => return Some(Read::nothing()),
        },
        "PreToolUse" => {
            let begins = payload.tool_use(&WRITES);
            Event::ToolBegins(ToolUse { takes_context: false, ..begins })
        }
        "PostToolUse" => {
            let response = payload.object("tool_response");
            let output = response.text("llmContent").unwrap_or_default();
            let mut run = payload.tool(&WRITES, Some(true), output);
            if READS.contains(&run.tool.as_str()) {
                run.read = payload.tool_use(&[]).files;
            }
            Event::ToolRan(run)
        }
        "PostToolUseFailure" => {
            let passed = (!payload.flag("is_interrupt")).then_some(false);
            let output = payload.text("error").unwrap_or_default();
            let mut run = payload.tool(&WRITES, passed, output);
            run.edited.clear();
            Event::ToolRan(run)
        }
        "Stop" => Event::TurnEnded { last_message: payload.owned("last_assistant_message") },
        "SessionEnd" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Context(_), Event::ToolBegins(_)) => String::new(),
        _ => write_context(envelope, answer),
    }
}

#[cfg(test)]
mod tests;
