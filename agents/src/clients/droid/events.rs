//! Factory Droid. Context reaches the model at a start and after a tool. A tool that failed is not
//! reported, and a run without a terminal does not report its prompt.

use anchord_memory::lifecycle::{Answer, Event, ToolUse};

use super::printed::without_exit_code;
use crate::clients::claude_code::events::write_context;
use crate::events::{Adapter, Envelope, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "CLAUDE_ENV_FILE",
        "custom_instructions",
        "cwd",
        "elapsed_time",
        "hook_event_name",
        "message_count",
        "message_id",
        "permission_mode",
        "previous_session_id",
        "prompt",
        "reason",
        "session_duration_ms",
        "session_id",
        "source",
        "stop_hook_active",
        "tool_execution_count",
        "tool_input",
        "tool_name",
        "tool_response",
        "transcript_path",
        "trigger",
    ],
    usual: |_| {},
    session: |payload| payload.session(),
    run: |_| None,
    agent: |_| None,
    read,
    asks: false,
    write,
};

/// Tools that write the file they name.
const WRITES: [&str; 2] = ["Create", "Edit"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "SessionStart" => Event::SessionStarted { source: payload.source() },
        "UserPromptSubmit" => payload.prompted(),
        "PreToolUse" => {
            let begins = payload.tool_use(&WRITES);
            Event::ToolBegins(ToolUse { takes_context: false, ..begins })
        }
        "PostToolUse" => {
            let output = payload.text("tool_response").unwrap_or_default();
            let (output, passed) = without_exit_code(output);
            let mut run = payload.tool(&WRITES, passed, output);
            if run.edited.is_empty() && run.command.is_none() {
                run.read = payload.tool_use(&[]).files;
            }
            Event::ToolRan(run)
        }
        "PreCompact" => Event::CompactionBegins { messages: None },
        "Stop" => Event::TurnEnded { last_message: None },
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
