//! Cursor. Context reaches the model at a start and after a tool, and not with a prompt. A
//! conversation has its own id, and the project is the first of its workspace's roots.

use anchord_memory::lifecycle::{Answer, Event, StartSource, ToolUse};
use serde_json::{Map, Value, json};

use super::WRITES;
use crate::events::{Adapter, Envelope, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "attachments",
        "composer_mode",
        "conversation_id",
        "cursor_version",
        "cwd",
        "duration",
        "generation_id",
        "hook_event_name",
        "is_background_agent",
        "loop_count",
        "model",
        "prompt",
        "reason",
        "session_id",
        "status",
        "tool_input",
        "tool_name",
        "tool_output",
        "tool_use_id",
        "transcript_path",
        "user_email",
        "workspace_roots",
    ],
    usual,
    session: |payload| payload.session(),
    run: |_| None,
    agent: |_| None,
    read,
    asks: false,
    write,
};

fn usual(payload: &mut Map<String, Value>) {
    let first = payload.get("workspace_roots").and_then(|roots| roots.get(0)).cloned();
    let named = [("session_id", payload.get("conversation_id").cloned()), ("cwd", first)];
    for (usual, value) in named {
        if let (Some(value), None) = (value, payload.get(usual)) {
            payload.insert(usual.to_owned(), value);
        }
    }
}

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "sessionStart" => Event::SessionStarted { source: StartSource::Startup },
        "beforeSubmitPrompt" => payload.prompted(),
        "preToolUse" => {
            let begins = payload.tool_use(&WRITES);
            Event::ToolBegins(ToolUse { takes_context: false, ..begins })
        }
        "postToolUse" => {
            let output = payload.text("tool_output").unwrap_or_default();
            let mut run = payload.tool(&WRITES, None, output);
            if run.edited.is_empty() && run.command.is_none() {
                run.read = payload.tool_use(&[]).files;
            }
            Event::ToolRan(run)
        }
        "stop" => Event::TurnEnded { last_message: None },
        "sessionEnd" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Context(context), Event::SessionStarted { .. } | Event::ToolRan(_)) => {
            json!({ "additional_context": context }).to_string()
        }
        (Answer::Stop { reason, .. }, Event::ToolBegins(_)) => {
            json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
                .to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
