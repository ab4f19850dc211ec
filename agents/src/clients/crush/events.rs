//! Crush. It reports a tool that is about to run, and nothing else. Context goes to the model with
//! the tool's output.

use anchord_memory::lifecycle::{Answer, Event};
use serde_json::{Map, Value, json};

use crate::events::{Adapter, Envelope, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &["cwd", "event", "session_id", "tool_input", "tool_name"],
    usual,
    session: |payload| payload.session(),
    run: |_| None,
    agent: |_| None,
    read,
    asks: false,
    write,
};

fn usual(payload: &mut Map<String, Value>) {
    if let Some(name) = payload.remove("event") {
        payload.insert("hook_event_name".to_owned(), name);
    }
}

/// Tools that write the file they name.
const WRITES: [&str; 3] = ["edit", "multiedit", "write"];

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    (name == "PreToolUse").then(|| Read::event(Event::ToolBegins(payload.tool_use(&WRITES))))
}

fn write(envelope: &Envelope, answer: &Answer) -> String {
    match (answer, &envelope.event) {
        (Answer::Context(context), Event::ToolBegins(_)) => {
            json!({ "context": context }).to_string()
        }
        (Answer::Stop { reason, .. }, Event::ToolBegins(_)) => {
            json!({ "decision": "deny", "reason": reason }).to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
