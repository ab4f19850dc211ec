//! GitHub Copilot CLI. Its payloads do not name their event, so their fields tell it. Context
//! reaches the model after a start, a prompt, and before and after a tool.

use anchord_memory::lifecycle::{Answer, Event};
use serde_json::{Map, Value, json};

use super::printed::without_exit_code;
use crate::events::{Adapter, Envelope, Payload, Read, normalise_input};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &[
        "cwd",
        "initialPrompt",
        "prompt",
        "reason",
        "sessionId",
        "source",
        "stopReason",
        "stop_hook_active",
        "timestamp",
        "toolArgs",
        "toolName",
        "toolResult",
        "transcriptPath",
    ],
    usual,
    session: |payload| payload.session(),
    run: |_| None,
    agent: |_| None,
    read,
    asks: true,
    write,
};

/// The fields that most clients name otherwise.
const RENAMED: [(&str, &str); 4] = [
    ("sessionId", "session_id"),
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("toolResult", "tool_response"),
];

fn usual(payload: &mut Map<String, Value>) {
    let name = event(payload);
    for (own, usual) in RENAMED {
        if let Some(value) = payload.remove(own) {
            payload.insert(usual.to_owned(), value);
        }
    }
    normalise_input(payload);
    let input = payload.get_mut("tool_input").and_then(Value::as_object_mut);
    if let Some((input, path)) =
        input.and_then(|input| input.remove("path").map(|path| (input, path)))
    {
        input.insert("file_path".to_owned(), path);
    }
    if let Some(name) = name {
        payload.insert("hook_event_name".to_owned(), json!(name));
    }
}

/// Recognises an event by the fields that it alone has.
fn event(payload: &Map<String, Value>) -> Option<&'static str> {
    const TELLING: [(&str, &str); 7] = [
        ("initialPrompt", "sessionStart"),
        ("source", "sessionStart"),
        ("toolResult", "postToolUse"),
        ("toolName", "preToolUse"),
        ("prompt", "userPromptSubmitted"),
        ("stopReason", "agentStop"),
        ("reason", "sessionEnd"),
    ];
    TELLING.iter().find(|(field, _)| payload.contains_key(*field)).map(|(_, name)| *name)
}

/// Tools that write the file they name.
const WRITES: [&str; 2] = ["create", "edit"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let event = match name {
        "sessionStart" => Event::SessionStarted { source: payload.source() },
        "userPromptSubmitted" => payload.prompted(),
        "preToolUse" => Event::ToolBegins(payload.tool_use(&WRITES)),
        "postToolUse" => {
            let result = payload.object("tool_response");
            let output = result.text("textResultForLlm").unwrap_or_default();
            let (output, code) = without_exit_code(output);
            let passed = result.text("resultType") == Some("success") && code == 0;
            let mut run = payload.tool(&WRITES, Some(passed), output);
            if !passed {
                run.edited.clear();
            }
            Event::ToolRan(run)
        }
        "agentStop" => Event::TurnEnded { last_message: None },
        "sessionEnd" => Event::SessionEnded,
        _ => return None,
    };
    Some(Read::event(event))
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (
            Answer::Context(context),
            Event::SessionStarted { .. }
            | Event::PromptSubmitted { .. }
            | Event::ToolBegins(_)
            | Event::ToolRan(_),
        ) => json!({ "additionalContext": context }).to_string(),
        (Answer::Stop { asks, reason }, Event::ToolBegins(_)) => json!({
            "permissionDecision": if *asks { "ask" } else { "deny" },
            "permissionDecisionReason": reason,
        })
        .to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
