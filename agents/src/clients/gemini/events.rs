//! Gemini CLI. It reads only JSON. `PreCompress` comes before every model call, with or without a
//! compression, so it gets no answer. The client does not report that a context was compressed.

use anchord_memory::lifecycle::{Answer, Event, StartSource, ToolUse};

use super::printed::{is_failed, printed};
use crate::events::{Adapter, Envelope, Payload, Read, hook_specific};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "cwd",
        "hook_event_name",
        "mcp_context",
        "prompt",
        "prompt_response",
        "reason",
        "session_id",
        "source",
        "stop_hook_active",
        "timestamp",
        "tool_input",
        "tool_name",
        "tool_response",
        "transcript_path",
        "trigger",
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
const WRITES: [&str; 2] = ["write_file", "replace"];
/// Tools that read the file they name. Gemini CLI takes context about a file only after the tool.
const READS: [&str; 1] = ["read_file"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "SessionStart" => Event::SessionStarted {
            // Gemini CLI resumes without the first message, which held its hooks' context.
            source: match payload.source() {
                StartSource::Resume => StartSource::Startup,
                source => source,
            },
        },
        "BeforeAgent" => {
            let prompt = payload.text("prompt").unwrap_or_default();
            Event::PromptSubmitted { prompt: asked(prompt).to_owned() }
        }
        "BeforeTool" => {
            let begins = payload.tool_use(&WRITES);
            Event::ToolBegins(ToolUse { takes_context: false, ..begins })
        }
        "AfterTool" => {
            let passed = passed(payload);
            let mut run = payload.tool(&WRITES, Some(passed), &output(payload));
            if !passed {
                run.edited.clear();
            }
            if passed && READS.contains(&run.tool.as_str()) {
                run.read = payload.tool_use(&[]).files;
            }
            Event::ToolRan(run)
        }
        "AfterAgent" => Event::TurnEnded { last_message: payload.owned("prompt_response") },
        "SessionEnd" => Event::SessionEnded,
        "PreCompress" => return Some(Read::nothing()),
        _ => return None,
    };
    Some(Read::event(event))
}

/// Returns the person's text, without the session-start context that hooks put in front of it.
fn asked(prompt: &str) -> &str {
    let context = prompt.strip_prefix("<hook_context>");
    let rest = context.and_then(|rest| rest.rsplit_once("</hook_context>"));
    rest.map_or(prompt, |(_, asked)| asked.trim_start())
}

/// Returns whether a tool succeeded. A failed command has its exit code in the text for the model;
/// a failed tool has an error next to it.
fn passed(payload: Payload<'_>) -> bool {
    let response = payload.object("tool_response");
    let text = response.text("llmContent").unwrap_or_default();
    response.value("error").is_none_or(serde_json::Value::is_null) && !is_failed(text)
}

/// Returns what a command printed and its error message, without the lines that the client adds.
fn output(payload: Payload<'_>) -> String {
    let response = payload.object("tool_response");
    let printed = printed(response.text("llmContent").unwrap_or_default());
    let message = match response.value("error") {
        Some(serde_json::Value::String(message)) => Some(message.as_str()),
        _ => response.object("error").text("message"),
    };
    let lines = [Some(printed.as_str()).filter(|text| !text.is_empty()), message];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (
            Answer::Context(context),
            Event::SessionStarted { .. } | Event::PromptSubmitted { .. } | Event::ToolRan(_),
        ) => hook_specific(envelope, context),
        (Answer::Stop { reason, .. }, Event::ToolBegins(_)) => {
            serde_json::json!({"decision": "deny", "reason": reason}).to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
